//! FS-08 and FS-09: shares of accounts from nodes, partitions and their owners.

use std::collections::BTreeSet;

use gridtally::fairshare::shares::{
    AccountShares, NodeOwnership, ShareBasis, ShareNode, SharePartition, SharePartitionKind, ShareProblem,
};
use gridtally::time::DaySpan;

const CORE_E6: i128 = 1_000_000;

/// A site of FASRC's kind: 2 public Broadwell nodes, one node of `lab_a`, one of `lab_a` and `lab_b`, all of them in the requeue
/// partition.
struct Site {
    nodes: Vec<ShareNode>,
    partitions: Vec<SharePartition>,
    ownerships: Vec<NodeOwnership>,
    accounts: BTreeSet<String>,
}

fn node(name: &str, cores: i128) -> ShareNode {
    ShareNode {
        node: name.to_owned(),
        cpu_tres_e6: cores * CORE_E6,
        days: DaySpan::default(),
    }
}

fn partition(name: &str, kind: SharePartitionKind, nodes: &[&str]) -> SharePartition {
    SharePartition {
        partition: name.to_owned(),
        kind,
        nodes: nodes.iter().map(|node| (*node).to_owned()).collect(),
    }
}

fn owner(node: &str, account: &str, weight: u32) -> NodeOwnership {
    NodeOwnership {
        node: node.to_owned(),
        account: account.to_owned(),
        weight,
        days: DaySpan::default(),
    }
}

impl Site {
    fn new() -> Self {
        Self {
            nodes: vec![node("pub1", 32), node("pub2", 32), node("own1", 40), node("both1", 30)],
            partitions: vec![
                partition("general", SharePartitionKind::Public, &["pub1", "pub2"]),
                partition("test", SharePartitionKind::Public, &["pub2"]),
                partition(
                    "serial_requeue",
                    SharePartitionKind::Requeue,
                    &["pub1", "pub2", "own1", "both1"],
                ),
                partition("lab_a", SharePartitionKind::Owned, &["own1"]),
            ],
            ownerships: vec![
                owner("own1", "lab_a", 5),
                owner("both1", "lab_b", 1),
                owner("both1", "lab_a", 2),
            ],
            accounts: ["lab_a", "lab_b", "lab_c"].map(str::to_owned).into(),
        }
    }

    fn basis(&self) -> ShareBasis<'_> {
        ShareBasis {
            nodes: &self.nodes,
            partitions: &self.partitions,
            ownerships: &self.ownerships,
            accounts: &self.accounts,
        }
    }

    fn of(&self, account: &str) -> AccountShares {
        self.basis().shares(0).unwrap().accounts[account]
    }
}

#[test]
fn fs_08_shares_are_the_sum_of_a_gratis_a_lab_and_a_communal_part() {
    let site = Site::new();
    let of_a = site.of("lab_a");
    assert_eq!(
        of_a.gratis_e6, 21_333_333,
        "64 cores among three accounts; pub2 counts once"
    );
    assert_eq!((of_a.lab_e6, of_a.communal_e6), (40 * CORE_E6, 20 * CORE_E6));
    assert_eq!(of_a.total_e6(), 81_333_333);
    let of_b = site.of("lab_b");
    assert_eq!(
        (of_b.gratis_e6, of_b.lab_e6, of_b.communal_e6),
        (21_333_333, 0, 10 * CORE_E6)
    );
    assert_eq!(site.of("lab_c").total_e6(), 21_333_333);
    assert_eq!(site.basis().shares(0).unwrap().gratis_rest_e6, 1);
}

#[test]
fn fs_09_shares_do_not_depend_on_the_partitions_of_owned_nodes() {
    let mut site = Site::new();
    let before = site.basis().shares(0).unwrap();
    site.partitions.truncate(2);
    assert_eq!(site.basis().shares(0).unwrap(), before);
    site.partitions
        .push(partition("all", SharePartitionKind::Owned, &["own1", "both1", "pub1"]));
    assert_eq!(site.basis().shares(0).unwrap(), before);
}

#[test]
fn purchases_count_on_their_days() {
    let mut site = Site::new();
    site.ownerships[0].days = DaySpan {
        from: Some(10),
        to: Some(20),
    };
    let lab_e6 = |site: &Site, day| site.basis().shares(day).unwrap().accounts["lab_a"].lab_e6;
    assert_eq!(
        [9, 10, 20, 21].map(|day| lab_e6(&site, day)),
        [0, 40 * CORE_E6, 40 * CORE_E6, 0]
    );
    // An owner that leaves makes a communal node one of a lab.
    site.ownerships[1].days.to = Some(20);
    assert_eq!(lab_e6(&site, 21), 30 * CORE_E6);
    // What is gone grants nothing, even where it is still listed as owned.
    site.nodes[3].days.to = Some(20);
    assert_eq!(lab_e6(&site, 21), 0);
}

#[test]
fn parts_of_a_node_add_up_to_the_node() {
    let mut site = Site::new();
    site.nodes[3].cpu_tres_e6 = 10_000_001;
    site.ownerships.push(owner("both1", "lab_c", 4));
    let shares = site.basis().shares(0).unwrap();
    let communal: i128 = shares.accounts.values().map(|of| of.communal_e6).sum();
    assert_eq!(communal, 10_000_001);
    site.ownerships.reverse();
    assert_eq!(site.basis().shares(0).unwrap(), shares);
}

#[test]
fn every_mistake_of_a_site_is_reported() {
    let mut site = Site::new();
    site.nodes.push(node("pub1", 1));
    site.partitions
        .push(partition("more", SharePartitionKind::Public, &["gone1"]));
    site.ownerships.push(owner("gone2", "lab_a", 1));
    site.ownerships.push(owner("own1", "lab_x", 1));
    site.ownerships.push(owner("own1", "lab_a", 1));
    site.ownerships.push(owner("own1", "lab_b", 0));
    let problems = site.basis().shares(0).unwrap_err();
    assert_eq!(
        problems,
        [
            ShareProblem::NodeTwice("pub1".to_owned()),
            ShareProblem::UnlistedOwnedNode {
                row: 3,
                node: "gone2".to_owned()
            },
            ShareProblem::UnlistedOwner {
                row: 4,
                account: "lab_x".to_owned()
            },
            ShareProblem::OwnedTwice {
                row: 5,
                node: "own1".to_owned()
            },
            ShareProblem::NoPart { row: 6 },
            ShareProblem::UnlistedNode {
                partition: "more".to_owned(),
                node: "gone1".to_owned()
            },
        ]
    );
    let mut empty = Site::new();
    empty.accounts.clear();
    empty.ownerships.clear();
    assert_eq!(empty.basis().shares(0).unwrap_err(), [ShareProblem::NoAccounts]);
}

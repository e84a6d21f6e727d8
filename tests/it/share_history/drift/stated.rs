//! What listings of shares state: with how many digits, and of which associations.

use std::fmt::Write as _;

use super::{DriftScene, NO_DECAY, Row, TREE, jobs, row, sshare};

/// A listing as `scontrol show assoc_mgr` prints it, of what `report sshare --long --parsable` has.
fn assoc_mgr(parsable: &str) -> String {
    let two = |cell: &str| format!("{:.2}", cell.parse::<f64>().unwrap_or_default());
    let mut text = "Current Association Manager state\n\nAssociation Records\n\n".to_owned();
    for (nth, line) in parsable.lines().skip(1).enumerate() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let (account, user) = (cells[0], cells[1]);
        let number = if user.is_empty() { "" } else { "(7)" };
        let above = match (account, user) {
            ("root", _) | (_, "ann" | "bob" | "cid") => "",
            _ => "root(1)",
        };
        let shares = if cells[2].is_empty() { "1" } else { cells[2] };
        let (norm_shares, factor, effective) = (two(cells[3]), two(cells[7]), two(cells[6]));
        let _ = writeln!(
            text,
            "ClusterName=oak Account={account} UserName={user}{number} Partition= Priority=0 ID={nth} \
             SharesRaw/Norm/Level/Factor={shares}/{norm_shares}/40/{factor} \
             UsageRaw/Norm/Efctv={}.00/{}/{effective} ParentAccount={above} Lft={nth} DefAssoc=No",
            cells[4],
            two(cells[5]),
        );
    }
    text
}

#[track_caller]
fn counter<'a>(rows: &'a [Row], name: &str, counter: &str) -> &'a Row {
    let found = rows.iter().find(|row| row.name == name && row.counter == counter);
    found.unwrap_or_else(|| panic!("{name} has no {counter} in {rows:#?}"))
}

#[test]
fn fractions_of_the_association_manager_have_two_digits() {
    let scene = DriftScene::new(&jobs(), NO_DECAY);
    let command = [
        "report",
        "sshare",
        "lake",
        "--users",
        "--long",
        "--parsable",
        "--at",
        "2026-03-11T00:00:00Z",
    ];
    let (computed, _) = scene.scene.done(&command);
    let text = assoc_mgr(&computed);
    assert!(text.contains("=2/0.67/40/"), "{text}");
    scene.scene.write("sshare-2026-03-11.txt", &text);
    let rows = scene.drift(&["--long"]);
    assert!(rows.iter().all(|row| row.cause == "agrees"), "{rows:#?}");
    counter(&rows, "lab/ann", "NormShares");
    counter(&rows, "lab/ann", "EffectvUsage");
    // A hundredth more is another share.
    let changed = text.replace("=2/0.67/40/", "=2/0.68/40/");
    scene.scene.write("sshare-2026-03-11.txt", &changed);
    let rows = scene.drift(&["--long"]);
    assert_eq!(counter(&rows, "lab/ann", "NormShares").cause, "follows");
    // Where sshare lists the same instant, its six digits count.
    let sshare = computed.replace("|ann|2|0.666667|", "|ann|2|0.670000|");
    assert_ne!(sshare, computed);
    scene.scene.write("sshare-2026-03-11.txt", &text);
    scene.scene.write("sshare-b-2026-03-11.txt", &sshare);
    let rows = scene.drift(&["--long"]);
    assert_eq!(counter(&rows, "lab/ann", "NormShares").cause, "follows", "{rows:#?}");
    assert_eq!(counter(&rows, "lab/bob", "NormShares").cause, "agrees", "{rows:#?}");
}

#[test]
fn a_row_without_a_partition_is_of_the_only_association_of_its_user() {
    let tree = TREE.replace("lab||bob||1", "lab||bob|cpu|1");
    let scene = DriftScene::of_listing(&tree, &jobs(), NO_DECAY);
    scene.states("2026-03-11", &scene.computed("2026-03-11", &[]));
    let rows = scene.drift(&[]);
    assert_eq!(rows.len(), 6, "{rows:#?}");
    assert!(rows.iter().all(|row| row.cause == "agrees"), "{rows:#?}");
}

#[test]
fn rows_of_several_associations_without_partitions_are_not_compared() {
    let tree = TREE.replace("lab||bob||1", "lab||bob|cpu|1\nlab||bob|gpu|1");
    let scene = DriftScene::of_listing(&tree, &jobs(), NO_DECAY);
    let counters = scene.computed("2026-03-11", &[]);
    let text = sshare(&counters, 900_000) + "  lab|bob|1|900000\n";
    scene.scene.write("sshare-2026-03-11.txt", &text);
    let rows = scene.drift(&[]);
    let of_bob: Vec<&Row> = rows.iter().filter(|row| row.name == "lab/bob").collect();
    assert_eq!(of_bob.len(), 2, "{rows:#?}");
    assert!(of_bob.iter().all(|row| row.cause == "not_compared"), "{rows:#?}");
    let lab = row(&rows, "lab/");
    assert_eq!(lab.cause, "not_compared", "{rows:#?}");
    assert!(lab.evidence.contains("does not state users in it"), "{lab:?}");
    assert_eq!(row(&rows, "lab/ann").cause, "agrees");
    // Nor where both rows are equal.
    let text = sshare(&counters, 0);
    let of_bob = text.lines().find(|line| line.contains("|bob|")).unwrap();
    scene.scene.write("sshare-2026-03-11.txt", &format!("{text}{of_bob}\n"));
    let rows = scene.drift(&[]);
    let of_bob = rows.iter().filter(|row| row.name == "lab/bob");
    let evidence: Vec<&str> = of_bob.map(|row| row.evidence.as_str()).collect();
    assert_eq!(evidence, ["the listing does not state it"; 2], "{rows:#?}");
}

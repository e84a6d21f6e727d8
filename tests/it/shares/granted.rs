//! What accounts are granted on a day, and when it changes.

use gridtally::diagnostics::Problems;
use gridtally::reference::cpu_tres::CpuTresTable;
use gridtally::reference::written_tables::written_tables;

use super::{Site, USUAL};

#[test]
fn fs_01_the_preset_of_the_tables_has_the_tres_of_the_page() {
    let preset = written_tables()
        .into_iter()
        .find(|table| table.title == "CPU TRES of cores")
        .unwrap();
    let mut problems = Problems::default();
    let table = CpuTresTable::read(preset.example.as_bytes(), "tres.csv", &mut problems);
    problems.finish().unwrap();
    for (feature, tres_e6) in [
        ("abudhabi", 250_000),
        ("nehalem", 250_000),
        ("sandybridge", 500_000),
        ("ivybridge", 500_000),
        ("haswell", 1_000_000),
        ("broadwell", 1_000_000),
        ("skylake", 1_200_000),
    ] {
        assert_eq!(table.of_core_e6("n1", &["ib", feature], 0), Some(tres_e6), "{feature}");
    }
    assert_eq!(table.of_core_e6("n1", &["ib"], 0), None);
}

#[test]
fn the_first_row_of_tres_that_matches_counts_on_its_days() {
    let text = "feature,nodes,tres_per_core,valid_from,valid_to\n\
                ,n[1-2],3,1970-01-02,1970-01-04\nfast,,2,,\n*,,0.000001,,\n";
    let mut problems = Problems::default();
    let table = CpuTresTable::read(text.as_bytes(), "tres.csv", &mut problems);
    problems.finish().unwrap();
    let of = |node, day| table.of_core_e6(node, &["fast"], day).unwrap();
    assert_eq!(
        [0, 1, 2, 3].map(|day| of("n2", day)),
        [2_000_000, 3_000_000, 3_000_000, 2_000_000]
    );
    assert_eq!(of("n3", 1), 2_000_000);
    assert_eq!(table.of_core_e6("n3", &[], 1), Some(1));
    assert_eq!(table.changes().into_iter().collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn fs_08_shares_are_gratis_plus_lab_plus_communal() {
    let accounts = Site::new().accounts(USUAL);
    let of = |account: &str| accounts[account][2..].join(" ");
    // Public: 2 x 32 Broadwell cores and 64 of Abu Dhabi at 0.25, among three accounts.
    assert_eq!(of("lab_a"), "26.666666 48.000000 8.000000 82.666666 83 35 48");
    assert_eq!(of("lab_b"), "26.666666 0.000000 8.000000 34.666666 35 parent ");
    assert_eq!(of("lab_c"), "26.666666 0.000000 8.000000 34.666666 35 27 8");
    // What is above others has their sum, rounded by itself.
    assert_eq!(of("bio"), "53.333332 48.000000 16.000000 117.333332 117 100 17");
    assert_eq!(accounts.len(), 4, "staff is left as it is, and root has no shares");
}

#[test]
fn fs_08_requeue_partitions_grant_nothing_and_a_node_of_two_public_partitions_counts_once() {
    let site = Site::new();
    let usual = site.accounts(USUAL);
    let without = USUAL.replace("--requeue serial_requeue", "");
    assert_eq!(site.accounts(&without), usual);
    let requeue = site.stderr(&without);
    assert!(
        requeue.contains("neither public, requeue nor owned, so that they grant nothing: serial_requeue"),
        "{requeue}"
    );
    // All nodes are in it: 80 public, 24 of the school, 48 of lab_a.
    let public = USUAL.replace("--requeue", "--public");
    assert_eq!(
        site.accounts(&public)["lab_c"][2],
        "50.666666",
        "a node of both partitions counts once"
    );
    let words = site.stderr(&public);
    assert!(
        words.contains("public and owned, so that they count for both: h01, s01"),
        "{words}"
    );
    let none = site.accounts("--except staff --on 2026-08-01");
    assert_eq!(none["lab_c"][2..6].join(" "), "0.000000 0.000000 8.000000 8.000000");
}

#[test]
fn fs_09_shares_do_not_depend_on_how_nodes_are_named_or_in_which_partitions_they_are() {
    let site = Site::new();
    let usual = site.report(USUAL);
    let owners = site.read("owners.csv");
    site.write("owners.csv", &owners.replace(",,school,", ",h01,,"));
    assert_eq!(site.report(USUAL), usual);
    site.write("owners.csv", &owners.replace(",s01,,", ",,lab_a,"));
    assert_eq!(site.report(USUAL), usual);
}

#[test]
fn whole_shares_are_rounded_once_and_never_to_zero_where_something_is_granted() {
    let site = Site::new();
    let fine = site.accounts(&format!("{USUAL} --shares-per-tres 1000"));
    assert_eq!(
        ["bio", "lab_a", "lab_b", "lab_c"].map(|of| fine[of][6].as_str()),
        ["117333", "82667", "34667", "34667"]
    );
    site.write("tres.csv", "feature,tres_per_core\n,0.001\n");
    let small = site.accounts(USUAL);
    assert_eq!(small["lab_c"][5..7].join(" "), "0.050666 1");
    site.write("tres.csv", "feature,tres_per_core\n,0\n");
    assert_eq!(site.accounts(USUAL)["lab_c"][6], "0");
    let words = site.stderr(USUAL);
    assert!(
        words.contains("granted nothing, so that their shares are 0: bio, lab_a, lab_b, lab_c"),
        "{words}"
    );
}

#[test]
fn purchases_and_listings_change_shares_on_their_days() {
    let site = Site::new();
    let options = "--public shared --requeue serial_requeue --except staff --format csv";
    let days = |span: &str| {
        let text = site.report(&format!("{options} {span}"));
        let days = text.lines().skip(1).map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{} {} {}", cells[0], cells[1], cells[6])
        });
        days.collect::<Vec<_>>()
    };
    let all = [
        "2026-01-01 bio 77",
        "2026-01-01 lab_a 35",
        "2026-01-01 lab_b 43",
        "2026-01-01 lab_c 27",
        "2026-05-01 bio 69",
        "2026-05-01 lab_b 35",
        "2026-05-01 lab_c 35",
        "2026-07-10 bio 117",
        "2026-07-10 lab_a 83",
    ];
    assert_eq!(days("--from 2026-01 --to 2026-12"), all);
    assert_eq!(days("--from 2026-01-01"), all, "a history ends with the last change");
    assert_eq!(days("--from 2026-01-01 --to 2026-04-30"), all[..4]);
    assert_eq!(days("--from 2026-06-30 --to 2026-07-10")[4..], all[7..]);
    // Each day of the history is the report of that day.
    for (day, shares) in [("2026-04-30", "43"), ("2026-05-01", "35")] {
        let of_day = site.accounts(&USUAL.replace("2026-08-01", day));
        assert_eq!(of_day["lab_b"][6], shares, "{day}");
    }
    // The node of July was owned before it was listed.
    let words = site.stderr(&format!("{options} --from 2026-07-01 --to 2026-07-09"));
    assert!(
        words.contains("owned and not listed for 2026-07-01, so that they grant nothing: s01"),
        "{words}"
    );
}

#[test]
fn a_day_before_every_listing_takes_the_first_one_and_reports_it() {
    let site = Site::new();
    let early = USUAL.replace("2026-08-01", "2025-12-31");
    assert_eq!(
        site.accounts(&early)["lab_a"][2..7].join(" "),
        "26.666666 0.000000 0.000000 26.666666 27"
    );
    let words = site.stderr(&early);
    for noun in ["nodes", "partitions", "associations"] {
        let remark = format!("the first listing of {noun} is of 2026-01-10T04:00:00Z; it is assumed for 2025-12-31");
        assert!(words.contains(&remark), "{words}");
    }
    assert!(!site.stderr(USUAL).contains("assumed"));
}

//! Accounts that were deleted: their usage stays in the accounts above them.

use super::{DumpJob, E6, HEAD, NO_DECAY, Scene, fairshare, listing};

/// `temp` in an account.
fn with_temp(above: &str) -> String {
    format!("{LABS}temp|{above}|||5\ntemp||dan||1\n")
}

const LABS: &str = "root||||1\nlab|root|||30\ninst|root|||10\nlab||ann||2\ninst||cid||1\n";

/// It was in `inst`, then in `lab`, then it was deleted with its user.
#[test]
fn usage_of_a_deleted_account_counts_in_the_account_it_was_last_in() {
    let scene = Scene::new(&[(
        "jobs-1.txt",
        &super::dump(&[
            DumpJob::new(1, "temp", "dan", "2026-03-01T00:00:00", 3_600, 2),
            DumpJob::new(2, "lab", "ann", "2026-03-02T00:00:00", 3_600, 1),
            DumpJob::new(3, "lab", "ann", "2026-03-05T00:00:00", 3_600, 1),
            DumpJob::new(4, "gone", "eve", "2026-03-01T00:00:00", 3_600, 4),
        ]),
    )]);
    let head = HEAD.replace("as_of = \"2026-01-01\"", "as_of = \"path\"");
    let pipeline = format!("{head}{}", fairshare("oak", NO_DECAY));
    let list = |date: &str, rows: &str| scene.write(&format!("shares-{date}.txt"), &listing("oak", rows));
    list("2026-02-01", &with_temp("inst"));
    scene.run(&pipeline);
    list("2026-03-03", &with_temp("lab"));
    scene.run(&pipeline);
    list("2026-03-04", LABS);
    scene.run(&pipeline);
    let usage = |date: &str, name: &str| scene.row(date, name).unwrap().usage_e6 / E6;
    let of_day = |date: &str| ["root", "inst", "lab"].map(|name| usage(date, name));
    assert_eq!(of_day("2026-03-02"), [10_800, 7_200, 3_600]);
    assert_eq!(of_day("2026-03-03"), [10_800, 0, 10_800]);
    assert_eq!(of_day("2026-03-04"), [10_800, 0, 10_800]);
    assert_eq!(of_day("2026-03-05"), [14_400, 0, 14_400]);
    let deleted = scene.row("2026-03-04", "temp/dan").unwrap();
    assert!(!deleted.is_listed && deleted.factor_e9.is_none());
    assert_eq!(deleted.parent_account.as_deref(), Some("lab"));
    assert!(scene.row("2026-03-04", "temp").is_none());
    // What no listing ever had counts for no one.
    assert_eq!(scene.row("2026-03-04", "gone/eve").unwrap().parent_account, None);
    // The same in one go, and at an instant.
    scene.run_into(&pipeline, "once", None);
    assert!(scene.bytes("lake") == scene.bytes("once"));
    let command = ["report", "sshare", "lake", "--parsable", "--at", "2026-03-06T00:00:00Z"];
    let (printed, _) = scene.done(&command);
    let of = |name: &str| {
        let line = printed
            .lines()
            .find(|line| line.trim_start().starts_with(name))
            .unwrap();
        line.split('|').nth(4).unwrap().to_owned()
    };
    assert_eq!([of("root|"), of("lab|"), of("inst|")], ["14400", "14400", "0"]);
}

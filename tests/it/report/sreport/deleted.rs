//! Accounts that were deleted in Slurm's tables.

use gridtally::report::sreport::answer::SreportKind;

use super::{Job, MARCH, TREE, ask, hold, inventory, lake};
use crate::report::scene::Scene;

/// The newest listing does not have `yew`: its usage is in the accounts it was in by the listing before.
#[test]
fn usage_of_a_deleted_account_is_in_those_above_it() {
    let scene = Scene::new();
    scene.write("before.txt", TREE);
    let lines = TREE.lines().filter(|line| !line.contains("|yew|"));
    let without: Vec<&str> = lines.collect();
    scene.write("tree.txt", &(without.join("\n") + "\n"));
    let before = inventory("before").replace("as_of = 2026-03-20", "as_of = 2026-03-15");
    let jobs = [
        Job::new(1, ("ann", "fir"), MARCH, "billing=2,cpu=2,node=1"),
        Job::new(2, ("ann", "yew"), MARCH, "billing=3,cpu=3,node=1"),
        Job::new(3, ("ann", "ash"), MARCH, "billing=1,cpu=1,node=1"),
    ];
    let lake = lake(&scene, &jobs, "", &(before + &inventory("tree")));
    let found = ask(&lake, SreportKind::AccountUtilization, |_| {});
    let expected = [
        ("oak|yew|cpu", "10800"),
        ("oak|fir|cpu", "7200"),
        ("oak|wood|cpu", "18000"),
        ("oak|root|cpu", "18000"),
    ];
    hold(&found, &expected);
    // An account that no listing ever had is still named.
    assert_eq!(found.notes.len(), 1, "{:#?}", found.notes);
    let note = &found.notes[0];
    assert!(
        note.contains("no listing of associations states the account above ash:"),
        "{note}"
    );
}

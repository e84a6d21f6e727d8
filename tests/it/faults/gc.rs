//! `gc` whose n-th call fails, or that is killed before it, for every n: no snapshot that is left has lost a byte, and the
//! next `gc` removes what this one left.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use gridtally::audit::verify::verify;
use gridtally::store::Store;
use gridtally::store::snapshots::{SnapshotName, names};

use super::shim::{Fault, calls, library, load};
use super::{Files, as_now, as_of, run_of, words};
use crate::snapshots::Nights;

/// Nights of the lake.
const NIGHTS: usize = 5;

/// Every so many calls.
const STRIDE: usize = 19;

fn open(here: &Path) -> Store {
    Store::open_existing(here.join("lake").to_str().unwrap()).unwrap()
}

/// The snapshots of a lake, each with its files as they are kept.
fn kept(here: &Path) -> Vec<(SnapshotName, Files)> {
    let store = open(here);
    let all = names(&store).unwrap().into_iter();
    all.map(|name| (name.clone(), as_of(&store, name))).collect()
}

#[test]
fn a_gc_that_fails_at_any_call_loses_no_snapshot() {
    if library().is_none() {
        return;
    }
    let stride = std::env::var("GRIDTALLY_FAULT_STRIDE").map_or(STRIDE, |text| text.parse().unwrap());
    let nights = Nights::new();
    let base = nights.path("base");
    fs::create_dir(&base).unwrap();
    fs::rename(nights.path("p.toml"), base.join("p.toml")).unwrap();
    let done = |here: &Path, args: &[&str]| {
        let output = run_of(here, args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", words(&output));
    };
    for nth in 0..NIGHTS {
        nights.arrive(nth * 9);
        super::copy(&nights.path("dumps"), &base);
        done(&base, &["run", "p.toml"]);
    }
    done(&base, &["tag", "lake", "second", "--as-of", "2"]);
    let (all, now) = (kept(&base), as_now(&open(&base)));
    let here = nights.path("here");
    let collect = |fault: Fault, number: usize| {
        drop(fs::remove_dir_all(&here));
        super::copy(&base, &here);
        let mut command = run_of(&here, &["gc", "lake", "--keep", "nights=1"]);
        load(&mut command, &here, fault, number);
        command.output().unwrap()
    };
    let whole = collect(Fault::Count, 0);
    assert!(whole.status.success(), "{}", words(&whole));
    let wanted = kept(&here);
    assert_eq!(wanted.len(), 2, "the newest, and the one with a tag");
    let meant = calls(&here);
    let mut fault_n = 0;
    for fault in [Fault::Once, Fault::Kill] {
        for call in meant.iter().step_by(stride) {
            let output = collect(fault, call.number);
            fault_n += 1;
            let what = format!(
                "{fault:?} {}: {} {}\n{}",
                call.number,
                call.name,
                call.path,
                words(&output)
            );
            let left = kept(&here);
            assert!(left.iter().all(|one| all.contains(one)), "another snapshot: {what}");
            assert!(
                wanted.iter().all(|one| left.contains(one)),
                "a snapshot is lost: {what}"
            );
            assert_eq!(as_now(&open(&here)), now, "{what}");
            if fault == Fault::Once {
                assert!(matches!(output.status.code(), Some(0 | 74)), "{what}");
            }
            done(&here, &["gc", "lake", "--keep", "nights=1"]);
            assert_eq!(kept(&here), wanted, "{what}");
            let files = wanted.iter().flat_map(|(_, files)| files);
            let files: BTreeSet<_> = files.filter(|(path, _)| *path != "manifest.json").collect();
            assert_eq!(
                open(&here).list(".gridtally/kept").unwrap().len(),
                files.len(),
                "{what}"
            );
            let findings = verify(here.join("lake").to_str().unwrap()).unwrap().findings;
            assert!(findings.is_empty(), "{findings:#?}: {what}");
        }
    }
    eprintln!("{fault_n} faults of a gc of {} calls", meant.len());
}

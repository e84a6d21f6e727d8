//! `verify` concurrently with a run: a commit under way is not damage.

use gridtally::store::{Publication, Store};

use super::{Nights, jobs};

#[test]
fn verify_in_addition_to_a_run_reports_no_damage() {
    let nights = Nights::new("", "");
    nights.write("dumps/a.txt", &jobs(1, 3));
    assert_eq!(nights.run(&[]).0, 0);
    let verify = |wait: &str| {
        let output = nights.gridtally(&["verify", "lake", "--wait", wait]);
        let reported = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(reported).unwrap())
    };
    let store = Store::open(nights.folder().join("lake").to_str().unwrap()).unwrap();
    let publication = Publication::begin(&store).unwrap();
    let mut staged = publication.stage("usage/x.parquet", "usage", 1).unwrap();
    std::io::Write::write_all(&mut staged, b"half a file").unwrap();
    publication.add(staged.finish(0).unwrap()).unwrap();
    let (code, reported) = verify("5");
    assert_eq!(code, Some(0), "{reported}");
    assert!(
        reported.contains("a run holds the lake") && reported.contains(": sound"),
        "{reported}"
    );
    // Between the first move and the last, a published file differs from the manifest.
    let moved = nights.folder().join("lake/gridtally.sql");
    let ledger = nights.folder().join("lake/ledger/ledger.parquet");
    let before = std::fs::read(&ledger).unwrap();
    std::fs::copy(&moved, &ledger).unwrap();
    let (code, reported) = verify("1");
    assert_eq!(code, Some(75), "{reported}");
    assert!(
        reported.contains("a run is publishing") && !reported.contains("NOT sound"),
        "{reported}"
    );
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| verify("30"));
        std::thread::sleep(std::time::Duration::from_millis(600));
        std::fs::write(&ledger, &before).unwrap();
        let (code, reported) = waiting.join().unwrap();
        assert_eq!(code, Some(0), "{reported}");
    });
    // With nobody there it is damage.
    drop(publication);
    std::fs::copy(&moved, &ledger).unwrap();
    let (code, reported) = verify("5");
    assert_eq!(code, Some(65), "{reported}");
    assert!(reported.contains("NOT sound"), "{reported}");
}

//! Windows of more than any site has, as many as there may be: what the sums of their month cannot take is refused by line.

use std::fmt::Write as _;

use super::{DUMPS, HEADER, Scene, assert_same_files, lake, pipeline, policy, rejects, row, sum};

/// Reservations had no room: some 900 000 of the largest ended the run.
#[test]
fn reservations_that_the_sums_of_a_month_cannot_take_are_refused_by_line() {
    let (vast_n, plain_n) = (14_500_u64, 5_u64);
    let window = |name: &str, end: &str, nodes: u64, cores: u64| {
        format!(
            "ReservationName={name} StartTime=2026-03-10T00:00:00 EndTime={end} Nodes=f1 NodeCnt={nodes} CoreCnt={cores} \
             PartitionName=batch Flags= TRES=cpu={cores} Users=ada Accounts=phys State=ACTIVE\n"
        )
    };
    let listing = |from: u64, until: u64| {
        let mut listing = String::new();
        for nth in from..until {
            listing += &window(&format!("v{nth}"), "2026-03-11T03:46:40", 1, 100_000_000);
        }
        for nth in 0..plain_n {
            listing += &window(&format!("p{from}-{nth}"), "2026-03-10T01:00:00", 2, 8);
        }
        listing
    };
    let nights = |at_once: bool| {
        let scene = Scene::new();
        scene.write("dumps/a.txt", HEADER.to_owned() + &row(1, &[]));
        let mut more =
            "[[inventory]]\nname = \"machine\"\npaths = [\"resv/*.txt\"]\nsite = \"S\"\ncluster = \"frontier\"\n\
                        timezone = \"UTC\"\nas_of = \"path\"\n"
                .to_owned();
        let _ = writeln!(
            more,
            "[[charge]]\npolicies = [{:?}]",
            policy("olcf-frontier-reservation.toml")
        );
        let pipeline = pipeline(&format!("{DUMPS}\nsite = \"S\"\nvo = {{ value = \"v\" }}"), &more);
        let middle = vast_n / 2;
        for (night, from, until) in [(1, 0, middle), (2, middle, vast_n)] {
            scene.write(&format!("resv/2026-03-1{night}.txt"), listing(from, until));
            if !at_once {
                scene.run(&pipeline);
            }
        }
        let report = at_once.then(|| scene.run(&pipeline));
        (scene, report)
    };
    let (scene, report) = nights(true);
    // Seconds, and these by core and by node; one besides.
    let refused_n = vast_n - (1_u64 << 57) / (100_000 * (100_000_000 + 1 + 1) + 1);
    let reasons = report.unwrap().reasons;
    assert_eq!(
        (
            reasons.get("rejected/reservation_sum_limit"),
            reasons.get("accepted/inventory"),
        ),
        (Some(&refused_n), Some(&(vast_n + 2 * plain_n - refused_n)))
    );
    let refused = rejects(&scene);
    assert_eq!(u64::try_from(refused.len()).unwrap(), refused_n);
    assert!(
        refused
            .iter()
            .all(|(path, line, reason)| path.contains("resv/2026-03-1")
                && *line > 0
                && reason == "reservation_sum_limit"),
        "{:?}",
        refused[0]
    );
    let charged = i128::from(vast_n + 2 * plain_n - refused_n);
    assert_eq!(sum(&scene, "charges", "job_n"), charged);
    let (whole, nightly) = (lake(&scene.path("lake")), lake(&nights(false).0.path("lake")));
    assert_same_files(&whole, &nightly);
}

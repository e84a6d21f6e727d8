//! Reservations in Slurm's tables.

use gridtally::report::sreport::answer::SreportKind;

use super::{Job, TREE, ask, hold, inventory, lake};
use crate::report::scene::Scene;

/// Idle reserved time goes, hour by hour, in equal parts to the associations that may use a reservation; a job in it
/// counts as if it held all of it.
#[test]
fn idle_reserved_time_is_handed_to_those_who_may_use_it() {
    let scene = Scene::new();
    scene.write("tree.txt", TREE);
    scene.write(
        "reservations.txt",
        "ReservationName=people StartTime=2026-03-10T00:00:00 EndTime=2026-03-10T02:00:00 Duration=02:00:00 Nodes=n1 NodeCnt=1 \
         CoreCnt=8 Features=(null) PartitionName=(null) Flags=SPEC_NODES TRES=cpu=8 Users=ann,bea Accounts=(null) State=INACTIVE\n\
         ReservationName=project StartTime=2026-03-11T00:30:00 EndTime=2026-03-11T01:00:00 Duration=00:30:00 Nodes=n1 NodeCnt=1 \
         CoreCnt=8 Features=(null) PartitionName=(null) Flags=SPEC_NODES TRES=cpu=8 Users=(null) Accounts=yew,-fir State=INACTIVE\n\
         ReservationName=plan StartTime=2026-03-25T00:00:00 EndTime=2026-03-25T01:00:00 Duration=01:00:00 Nodes=n1 NodeCnt=1 \
         CoreCnt=8 Features=(null) PartitionName=(null) Flags=SPEC_NODES TRES=cpu=8 Users=(null) Accounts=yew State=INACTIVE\n\
         ReservationName=repair StartTime=2026-03-12T00:00:00 EndTime=2026-03-12T01:00:00 Duration=01:00:00 Nodes=n2 NodeCnt=1 \
         CoreCnt=8 Features=(null) PartitionName=(null) Flags=MAINT,SPEC_NODES TRES=cpu=8 Users=root Accounts=(null) State=INACTIVE\n",
    );
    scene.write(
        "events.txt",
        "Cluster|NodeName|Cluster Nodes|TimeStart|TimeEnd|State|Reason|User|TRES\n\
         oak||n[1-2]|2026-03-01T00:00:00|2026-04-01T00:00:00||Cluster Registered TRES||billing=16,cpu=16,node=2\n\
         oak|n2||2026-03-12T00:30:00|2026-03-12T01:30:00|DOWN|power|root|billing=8,cpu=8\n\
         oak|n1||2026-03-15T00:00:00|2026-03-15T00:00:10|DRAIN|disk|root|billing=8,cpu=8\n",
    );
    let job = |id, who, reservation, span| Job {
        reservation,
        ..Job::new(id, who, span, "billing=2,cpu=2,node=1")
    };
    let half_hour = ("2026-03-10T00:00:00", "2026-03-10T00:30:00");
    let jobs = [
        job(1, ("ann", "fir"), "people", half_hour),
        job(2, ("bea", "fir"), "", half_hour),
        job(
            3,
            ("bea", "fir"),
            "gone",
            ("2026-03-16T00:00:00", "2026-03-16T01:00:00"),
        ),
    ];
    let rest = ["tree", "reservations", "events"].map(inventory).concat();
    let lake = lake(&scene, &jobs, "", &rest);

    // First hour: 8 * 3600 less 8 * 1800, for three associations: 4800 each. Second hour: 9600 each.
    let by_user = ask(&lake, SreportKind::AccountUtilizationByUser, |_| {});
    let expected = [
        ("oak|fir|ann|cpu", "18000"),
        ("oak|fir|bea|cpu", "25200"),
        ("oak|yew|ann|cpu", "14400"),
        ("oak|fir||cpu", "43200"),
        // Half of half an hour: what is denied is counted as one who may, and given nothing.
        ("oak|yew||cpu", "21600"),
        ("oak|wood||cpu", "64800"),
        ("oak|root|root|cpu", "28800"),
        ("oak|root||cpu", "93600"),
    ];
    hold(&by_user, &expected);
    let notes = [
        "79200 core seconds of idle reserved time are handed to those who might have used it, as Slurm does",
        "reservations gone: no listing describes them (add scontrol show reservation under [[inventory]]); idle time in them, \
         which Slurm hands to those who may use it, is not in these numbers",
    ];
    assert_eq!(by_user.notes, notes);
    let without = ask(&lake, SreportKind::AccountUtilization, |_| {});
    hold(&without, &[("oak|fir|cpu", "43200"), ("oak|root|cpu", "93600")]);

    // Windows are allocated as a whole, those of maintenance planned down; nodes that are down are not reserved.
    let utilization = ask(&lake, SreportKind::Utilization, |_| {});
    let row: Vec<String> = utilization.table.rows[0].iter().map(ToString::to_string).collect();
    let allocated = 8 * 7200 + 8 * 1800 + 2 * 1800 + 2 * 3600;
    let (down, planned_down) = (8 * 1800 + 80, 8 * 3600);
    let reported = 16 * 31 * 86_400;
    let left = reported - allocated - down - planned_down;
    let expected = ["oak", "cpu"]
        .map(str::to_owned)
        .into_iter()
        .chain([allocated, down, planned_down].map(|n| n.to_string()))
        .chain([String::new(), String::new(), left.to_string(), reported.to_string()]);
    assert_eq!(row, expected.collect::<Vec<_>>());
}

//! Slurm's tables on clusters of our own: how sreport rounds, what corrections and idle reservations do, what is unknown.

mod corrected;
mod deleted;
mod planned;
mod real;
mod reserved;
mod suspended;

use std::collections::BTreeMap;

use gridtally::report::lake::{Lake, Selection};
use gridtally::report::sreport::answer::{SreportAnswer, SreportKind, SreportRequest};
use gridtally::report::sreport::{SreportPeriod, TimeUnit, answer};
use gridtally::time::DaySpan;

use super::scene::Scene;

/// A line of a dump.
struct Job {
    id: u32,
    who: (&'static str, &'static str),
    reservation: &'static str,
    span: (&'static str, &'static str),
    tres: &'static str,
}

impl Job {
    fn new(id: u32, who: (&'static str, &'static str), span: (&'static str, &'static str), tres: &'static str) -> Self {
        Self {
            id,
            who,
            reservation: "",
            span,
            tres,
        }
    }

    fn line(&self) -> String {
        let time = |text: &str| text.parse::<jiff::civil::DateTime>().unwrap();
        let elapsed_s = time(self.span.0).duration_until(time(self.span.1)).as_secs();
        let cores = self.tres.split(',').find_map(|part| part.strip_prefix("cpu=")).unwrap();
        format!(
            "{id}|oak|{user}|{account}|{resv}|COMPLETED|{start}|{start}|{end}|{elapsed_s}|{cores}|{tres}\n",
            id = self.id,
            user = self.who.0,
            account = self.who.1,
            resv = self.reservation,
            start = self.span.0,
            end = self.span.1,
            tres = self.tres,
        )
    }
}

/// A lake of these jobs in UTC, with further settings of the pipeline.
fn lake(scene: &Scene, jobs: &[Job], pipeline: &str, rest: &str) -> Lake {
    let lines: String = jobs.iter().map(Job::line).collect();
    scene.write(
        "jobs.txt",
        &format!(
            "JobIDRaw|Cluster|User|Account|Reservation|State|Submit|Start|End|ElapsedRaw|NCPUS|AllocTRES\n{lines}"
        ),
    );
    scene.write(
        "oak.toml",
        &format!(
            "[pipeline]\nname = \"oak\"\noutput = \"oak\"\ncalendar_timezone = \"UTC\"\n{pipeline}\n\
             [[source]]\nname = \"oak\"\nformat = \"sacct\"\npaths = [\"jobs.txt\"]\nsite = \"OAK\"\ntimezone = \"UTC\"\nvo = {{ value = \"v\" }}\n{rest}"
        ),
    );
    scene.run("oak")
}

/// A table of March, in seconds.
fn ask(lake: &Lake, kind: SreportKind, change: impl FnOnce(&mut SreportRequest)) -> SreportAnswer {
    let month = Some("2026-03".parse().unwrap());
    let selection = Selection {
        days: DaySpan::of_months(month, month),
        ..Selection::default()
    };
    let period = SreportPeriod::of_days(&selection, &lake.zone().unwrap());
    let mut request = SreportRequest::new(kind, selection, period);
    request.unit = TimeUnit::Seconds;
    change(&mut request);
    answer(lake, &request).unwrap()
}

/// The last cell of every line, by the others.
fn used(answer: &SreportAnswer) -> BTreeMap<String, String> {
    let rows = answer.table.rows.iter().map(|row| {
        let mut cells: Vec<String> = row.iter().map(ToString::to_string).collect();
        let last = cells.pop().unwrap();
        (cells.join("|"), last)
    });
    rows.collect()
}

fn hold(answer: &SreportAnswer, expected: &[(&str, &str)]) {
    let found = used(answer);
    for (line, value) in expected {
        assert_eq!(found.get(*line).map(String::as_str), Some(*value), "{line}: {found:#?}");
    }
}

const MARCH: (&str, &str) = ("2026-03-10T00:00:00", "2026-03-10T01:00:00");

#[test]
fn halves_are_rounded_to_the_even_neighbour() {
    let scene = Scene::new();
    let until = |end: &'static str| ("2026-03-10T00:00:00", end);
    let jobs = [
        Job::new(
            1,
            ("ann", "fir"),
            until("2026-03-10T00:00:30"),
            "billing=1,cpu=1,node=1",
        ),
        Job::new(
            2,
            ("bea", "fir"),
            until("2026-03-10T00:01:30"),
            "billing=1,cpu=1,node=1",
        ),
        Job::new(
            3,
            ("cas", "fir"),
            until("2026-03-10T00:02:30"),
            "billing=1,cpu=1,node=1",
        ),
        Job::new(
            4,
            ("dan", "fir"),
            until("2026-03-10T00:02:31"),
            "billing=1,cpu=1,node=1",
        ),
        Job::new(
            5,
            ("eve", "yew"),
            until("2026-03-10T01:30:00"),
            "billing=1,cpu=3,node=1",
        ),
        Job::new(
            6,
            ("fay", "yew"),
            until("2026-03-10T00:30:00"),
            "billing=1,cpu=1,node=1",
        ),
    ];
    let lake = lake(&scene, &jobs, "", "");
    let of = |unit| {
        ask(&lake, SreportKind::AccountUtilizationByUser, |request| {
            request.unit = unit;
        })
    };
    let minutes = [
        ("oak|fir|ann|cpu", "0"),
        ("oak|fir|bea|cpu", "2"),
        ("oak|fir|cas|cpu", "2"),
        ("oak|fir|dan|cpu", "3"),
    ];
    hold(&of(TimeUnit::Minutes), &minutes);
    // 4.5 and 0.5 hours.
    hold(
        &of(TimeUnit::Hours),
        &[("oak|yew|eve|cpu", "4"), ("oak|yew|fay|cpu", "0")],
    );
}

/// Shares are rounded as the doubles of sreport are: exact halves to even, what is not exact as it lies.
#[test]
fn percentages_are_rounded_as_sreport_prints_them() {
    let scene = Scene::new();
    let jobs = [
        Job::new(
            1,
            ("ann", "fir"),
            ("2026-03-10T00:00:00", "2026-03-10T00:00:01"),
            "billing=1,cpu=1,node=1",
        ),
        Job::new(
            2,
            ("bea", "fir"),
            ("2026-03-10T00:00:00", "2026-03-10T00:00:03"),
            "billing=1,cpu=1,node=1",
        ),
    ];
    scene.write(
        "events.txt",
        "Cluster|NodeName|Cluster Nodes|TimeStart|TimeEnd|State|Reason|User|TRES\n\
         oak||n[1-2]|2026-03-10T00:00:00|2026-03-10T00:13:20||Cluster Registered TRES||billing=1,cpu=1,node=2\n",
    );
    let events = "[[inventory]]\nname = \"events\"\npaths = [\"events.txt\"]\ntimezone = \"UTC\"\nas_of = 2026-04-01\n";
    let lake = lake(&scene, &jobs, "", events);
    let found = ask(&lake, SreportKind::AccountUtilizationByUser, |request| {
        request.unit = TimeUnit::Percent;
    });
    // 0.125 and 0.375 of a hundred; of nodes no share is known.
    let expected = [
        ("oak|fir|ann|cpu", "0.12"),
        ("oak|fir|bea|cpu", "0.38"),
        ("oak|fir||cpu", "0.50"),
        ("oak|fir||node", ""),
    ];
    hold(&found, &expected);
}

const TREE: &str = "Cluster|Account|ParentName|User|Partition|Share\n\
                    oak|root||||1\noak|root|root|root||1\noak|wood|root|||1\noak|fir|wood|||1\noak|yew|wood|||1\n\
                    oak|fir|fir|ann||1\noak|yew|yew|ann||1\noak|fir|fir|bea||1\n";

fn inventory(name: &str) -> String {
    format!(
        "[[inventory]]\nname = \"{name}\"\npaths = [\"{name}.txt\"]\ntimezone = \"UTC\"\ncluster = \"oak\"\nas_of = 2026-03-20\n"
    )
}

#[test]
fn a_listing_without_parents_is_reported_with_what_names_them() {
    let command = "sacctmgr -P show assoc format=Cluster,Account,ParentName,User,Partition,Share,DefaultQOS,QOS,GrpTRES,GrpTRESMins";
    let jobs = || [Job::new(1, ("ann", "fir"), MARCH, "billing=2,cpu=2,node=1")];
    let plain = "Cluster|Account|User|Partition|Share\noak|root|||1\noak|fir|||1\noak|fir|ann||1\n";
    for (listing, why) in [
        (None, Some("no listing of associations states")),
        (
            Some(plain),
            Some("the listing of associations names no parents and so does not state"),
        ),
        (Some(TREE), None),
        // As older releases head the column.
        (Some(&*TREE.replace("ParentName", "Par Name")), None),
    ] {
        let scene = Scene::new();
        let rest = listing.map(|listing| {
            scene.write("tree.txt", listing);
            inventory("tree")
        });
        let lake = lake(&scene, &jobs(), "", &rest.unwrap_or_default());
        let found = ask(&lake, SreportKind::AccountUtilization, |_| {});
        if let Some(why) = why {
            assert_eq!(found.notes.len(), 1, "{:#?}", found.notes);
            let is_stated = found.notes[0].contains(why) && found.notes[0].contains(command);
            assert!(is_stated, "{:#?}", found.notes);
        } else {
            assert!(found.notes.is_empty(), "{:#?}", found.notes);
            hold(&found, &[("oak|wood|cpu", "7200"), ("oak|root|cpu", "7200")]);
        }
        // `inspect` reports it before anything is run.
        if listing.is_some() {
            let inspected = gridtally(&scene, &["inspect", "tree.txt"]);
            let is_stated = inspected.contains("no account names the one above it") && inspected.contains(command);
            assert_eq!(is_stated, why.is_some(), "{inspected}");
        }
    }
}

/// Tables that name people are printed on request, and by sreport's own names as well.
#[test]
fn people_are_named_only_when_requested() {
    let scene = Scene::new();
    let jobs = [Job::new(1, ("ann", "fir"), MARCH, "billing=2,cpu=2,node=1")];
    lake(&scene, &jobs, "", "");
    for table in [
        "top-usage",
        "UserTopUsage",
        "AccountUtilizationByUser",
        "user-utilization-by-account",
    ] {
        let refused = gridtally(&scene, &["report", "sreport", "oak", table]);
        assert!(
            refused.contains("this table names people: request it with --users"),
            "{refused}"
        );
        assert!(!refused.contains("ann"), "{refused}");
        let reported = gridtally(&scene, &["report", "sreport", "oak", table, "--users"]);
        assert!(reported.contains("ann"), "{reported}");
    }
    for table in ["account-utilization", "SizesByAccount"] {
        let reported = gridtally(&scene, &["report", "sreport", "oak", table]);
        assert!(reported.contains("fir") && !reported.contains("ann"), "{reported}");
    }
    let open = gridtally(&scene, &["report", "sreport", "oak", "ClusterUtilization"]);
    assert!(open.contains("give --from and --to"), "{open}");
    let odd = gridtally(
        &scene,
        &[
            "report",
            "sreport",
            "oak",
            "--start",
            "2026-03-10T00:30",
            "--end",
            "2026-03-10T01:00",
        ],
    );
    assert!(odd.contains("no whole hour"), "{odd}");
    let odd = gridtally(&scene, &["report", "sreport", "oak", "--tres", "gpu"]);
    assert!(
        odd.contains("cpu, mem, node, billing, gres/gpu and gres/gpu:TYPE"),
        "{odd}"
    );
}

/// What the program prints, on stdout and on stderr.
fn gridtally(scene: &Scene, args: &[&str]) -> String {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_gridtally"))
        .args(args)
        .current_dir(scene.path("."))
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    text(output.stdout) + &text(output.stderr)
}

#[test]
fn typed_gpus_and_memory_have_lines_of_their_own() {
    let scene = Scene::new();
    let jobs = [
        Job::new(
            1,
            ("ann", "fir"),
            MARCH,
            "billing=2,cpu=2,gres/gpu:a100=2,gres/gpu:t4=1,gres/gpu=3,mem=3G,node=1",
        ),
        Job::new(2, ("bea", "yew"), MARCH, "billing=2,cpu=2,mem=512M,node=1"),
    ];
    let lake = lake(&scene, &jobs, "", "");
    for kind in [SreportKind::AccountUtilization, SreportKind::AccountUtilizationByUser] {
        let found = used(&ask(&lake, kind, |_| {}));
        let of = |account: &str, tres: &str| {
            let user = if kind == SreportKind::AccountUtilization {
                ""
            } else {
                "|"
            };
            found[&format!("oak|{account}{user}|{tres}")].clone()
        };
        assert_eq!(of("fir", "gres/gpu:a100"), "7200");
        assert_eq!(of("fir", "gres/gpu:t4"), "3600");
        assert_eq!(of("fir", "gres/gpu"), "10800");
        assert_eq!(of("fir", "mem"), (3 * 1024 * 3600).to_string());
        assert_eq!(of("yew", "gres/gpu:a100"), "0");
        assert_eq!(of("yew", "mem"), (512 * 3600).to_string());
    }
    let only = ask(&lake, SreportKind::TopUsage, |request| {
        request.tres = std::iter::once("gres/gpu:t4".to_owned()).collect();
        request.top_n = 1;
    });
    assert_eq!(
        used(&only).into_iter().collect::<Vec<_>>(),
        [("oak|ann|fir|gres/gpu:t4".to_owned(), "3600".to_owned())]
    );
}

/// Messages of APEL contain neither GPUs nor billing: a zero would be invented. Slurm records them.
#[test]
fn what_nothing_states_is_empty() {
    let scene = Scene::new();
    scene.write(
        "in/1.msg",
        "APEL-individual-job-message: v0.3\nSite: S\nSubmitHost: h\nMachineName: m\nLocalJobId: 1\nWallDuration: 3600\n\
         CpuDuration: 60\nStartTime: 1773100800\nEndTime: 1773104400\nProcessors: 2\nNodeCount: 1\n\
         ServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n\
         Site: S\nSubmitHost: h\nMachineName: m\nLocalJobId: 2\nWallDuration: 3600\nCpuDuration: 60\n\
         StartTime: 1773100800\nEndTime: 1773104400\nServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n",
    );
    let apel = "[[source]]\nname = \"apel\"\nformat = \"apel\"\npaths = [\"in\"]\n";
    let jobs = [Job::new(7, ("ann", "fir"), MARCH, "billing=4,cpu=4,node=1")];
    let lake = lake(&scene, &jobs, "", apel);
    let expected = [
        ("m||billing", ""),
        ("m||cpu", "7200"),
        ("m||gres/gpu", ""),
        ("m||mem", ""),
        ("m||node", "3600"),
        ("oak|fir|billing", "14400"),
        ("oak|fir|cpu", "14400"),
        ("oak|fir|gres/gpu", "0"),
        ("oak|fir|node", "3600"),
    ];
    let accounts = ask(&lake, SreportKind::AccountUtilization, |_| {});
    hold(&accounts, &expected);
    let unstated = "cluster \"m\": 1 jobs whose cpu is unknown are not in its lines";
    assert!(
        accounts.notes.iter().any(|note| note == unstated),
        "{:#?}",
        accounts.notes
    );
    let by_user = ask(&lake, SreportKind::AccountUtilizationByUser, |_| {});
    let expected = [
        ("m|||gres/gpu", ""),
        ("m|||cpu", "7200"),
        ("oak|fir|ann|gres/gpu", "0"),
        ("oak|fir||billing", "14400"),
    ];
    hold(&by_user, &expected);
}

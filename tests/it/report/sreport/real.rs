//! Slurm's tables against those of real clusters, to the printed digit.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use gridtally::report::lake::{Lake, Selection};
use gridtally::report::sreport::answer::{SreportKind, SreportRequest};
use gridtally::report::sreport::{SreportPeriod, TimeUnit, answer};
use gridtally::report::table::Table;
use gridtally::time::Zone;

use crate::report::scene::Scene;
use crate::support::collect::shared;

/// A cluster whose listings are shared.
struct Cluster {
    folder: &'static str,
    dump: &'static str,
    zone: &'static str,
    period: (&'static str, &'static str),
}

const CLUSTERS: [Cluster; 2] = [
    Cluster {
        folder: "24.11-history",
        dump: "sacct_months_D_P.txt.xz",
        zone: "Europe/Zurich",
        period: ("2026-10-01T00:00", "2026-11-01T00:00"),
    },
    Cluster {
        folder: "22.05",
        dump: "sacct_all_D_P.txt.xz",
        zone: "UTC",
        period: ("2026-11-21T01:00", "2026-11-21T02:00"),
    },
];

/// The lake of a cluster: by end, which must not matter.
fn lake(scene: &Scene, folder: &Path, cluster: &Cluster) -> Lake {
    let path = |name: &str| folder.join(name);
    let mut text = format!(
        "[pipeline]\nname = \"zoo\"\noutput = \"zoo\"\ncalendar_timezone = \"{zone}\"\nattribution = \"by-end\"\nmax_rejected = 1.0\n\
         [[source]]\nname = \"zoo\"\nformat = \"sacct\"\npaths = [{dump:?}]\nsite = \"ZOO\"\ntimezone = \"{zone}\"\n",
        zone = cluster.zone,
        dump = path(cluster.dump).to_str().unwrap(),
    );
    for (name, file) in [("tree", "sacctmgr_dump.cfg"), ("events", "sacctmgr_event_P.txt")] {
        let _ = write!(
            text,
            "[[inventory]]\nname = \"{name}\"\npaths = [{:?}]\nas_of = 2026-11-22\ntimezone = \"{}\"\n",
            path(file).to_str().unwrap(),
            cluster.zone
        );
    }
    scene.write("zoo.toml", &text);
    scene.run("zoo")
}

fn ask(lake: &Lake, zone: &str, period: (&str, &str), change: impl FnOnce(&mut SreportRequest)) -> Table {
    let zone = Zone::named(zone).unwrap();
    let period = SreportPeriod::between(period.0, period.1, &zone).unwrap();
    let mut request = SreportRequest::new(SreportKind::AccountUtilizationByUser, Selection::default(), period);
    request.unit = TimeUnit::Seconds;
    change(&mut request);
    answer(lake, &request).unwrap().table
}

/// What sreport printed: rows by the names of their columns, without the last column of several of one name.
fn theirs(path: &Path) -> Vec<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().filter(|line| line.contains('|'));
    let header: Vec<&str> = lines.next().unwrap().split('|').collect();
    let row = |line: &str| {
        let cells = line.split('|').map(|cell| cell.trim().to_owned());
        header.iter().map(|name| (*name).to_owned()).zip(cells).collect()
    };
    lines.map(row).collect()
}

/// Our rows by the names of their columns; an amount and its percentage as sreport prints them, `5(0.02%)`.
fn ours(table: &Table) -> Vec<BTreeMap<String, String>> {
    let rows = table.rows.iter().map(|row| {
        let mut cells: BTreeMap<String, String> = BTreeMap::new();
        for (column, cell) in table.columns.iter().zip(row) {
            let text = if column.unit == "%" {
                format!("{cell}%")
            } else {
                cell.to_string()
            };
            match column.name.strip_suffix(" %").and_then(|name| cells.get_mut(name)) {
                Some(amount) => *amount = format!("{amount}({text})"),
                None => {
                    cells.insert(column.name.clone(), text);
                }
            }
        }
        cells
    });
    rows.collect()
}

/// Resources that no job records, and sreport prints as zero.
const UNREPORTED: [&str; 6] = ["energy", "fs/disk", "vmem", "pages", "gres/gpumem", "gres/gpuutil"];

/// Compares every printed cell of `values` with ours of the same key; returns their number.
fn compare(file: &Path, ours: &[BTreeMap<String, String>], keys: &[&str], values: &[&str]) -> usize {
    let reported = theirs(file);
    let reported: Vec<_> = (reported.iter())
        .filter(|row| {
            row.get("TRES Name")
                .is_none_or(|tres| !UNREPORTED.contains(&tres.as_str()))
        })
        .collect();
    let key = |row: &BTreeMap<String, String>| -> Vec<String> { keys.iter().map(|name| row[*name].clone()).collect() };
    let mut by_key: BTreeMap<Vec<String>, &BTreeMap<String, String>> = BTreeMap::new();
    for row in ours {
        assert!(by_key.insert(key(row), row).is_none(), "{row:?}");
    }
    let mut compared = 0;
    for row in &reported {
        let own = by_key
            .get(&key(row))
            .unwrap_or_else(|| panic!("{}: {row:?}", file.display()));
        for value in values.iter().filter(|value| row.contains_key(**value)) {
            assert_eq!(own[*value], row[*value], "{}: {value} of {row:?}", file.display());
            compared += 1;
        }
    }
    compared
}

#[test]
fn every_value_of_sreport_is_ours_to_the_printed_digit() {
    let test = "every_value_of_sreport_is_ours_to_the_printed_digit";
    let Some(root) = shared(test, "data/slurm") else { return };
    for cluster in &CLUSTERS {
        let folder = root.join(cluster.folder);
        let scene = Scene::new();
        let lake = lake(&scene, &folder, cluster);
        let file = |name: &str| folder.join(format!("sreport_{name}.txt"));
        let ask = |change: &dyn Fn(&mut SreportRequest)| ours(&ask(&lake, cluster.zone, cluster.period, change));
        let account = ["Cluster", "Account", "Login", "TRES Name"];
        let mut compared = 0;
        for (name, unit) in [
            ("acct_util_by_user", TimeUnit::Seconds),
            ("acct_minutes", TimeUnit::Minutes),
            ("acct_hours", TimeUnit::Hours),
            ("acct_percent", TimeUnit::Percent),
            ("acct_secper", TimeUnit::SecondsPercent),
            ("acct_hourper", TimeUnit::HoursPercent),
        ] {
            let table = ask(&|request| request.unit = unit);
            compared += compare(&file(name), &table, &account, &["Used"]);
            if unit == TimeUnit::Seconds {
                let reported = theirs(&file(name));
                let reported = reported
                    .iter()
                    .filter(|row| !UNREPORTED.contains(&row["TRES Name"].as_str()));
                assert_eq!(reported.count(), table.len(), "no other lines");
            }
        }
        // Without users, the same lines of accounts.
        let table = ask(&|request| request.kind = SreportKind::AccountUtilization);
        let with_login: Vec<_> = table
            .into_iter()
            .map(|mut row| {
                row.insert("Login".to_owned(), String::new());
                row
            })
            .collect();
        let by_user = theirs(&file("acct_util_by_user"));
        let accounts = by_user
            .iter()
            .filter(|row| row["Login"].is_empty() && !UNREPORTED.contains(&row["TRES Name"].as_str()));
        assert_eq!(accounts.clone().count(), with_login.len());
        for row in accounts {
            let own = with_login
                .iter()
                .find(|own| account.iter().all(|name| own[*name] == row[*name]));
            assert_eq!(own.unwrap()["Used"], row["Used"], "{row:?}");
        }
        for (name, kind) in [
            ("user_top", SreportKind::TopUsage),
            ("user_util_by_acct", SreportKind::UserUtilizationByAccount),
        ] {
            let table = ask(&|request| request.kind = kind);
            compared += compare(
                &file(name),
                &table,
                &["Cluster", "Login", "Account", "TRES Name"],
                &["Used"],
            );
            // In the same order.
            let order = |rows: &[BTreeMap<String, String>]| -> Vec<String> {
                let cores = rows.iter().filter(|row| row["TRES Name"] == "cpu");
                cores
                    .map(|row| format!("{} {}", row["Login"], row["Account"]))
                    .collect()
            };
            assert_eq!(order(&table), order(&theirs(&file(name))), "{name}");
        }
        let columns = [
            "0-1 CPUs",
            "2-3 CPUs",
            "4-7 CPUs",
            "8-15 CPUs",
            "16-31 CPUs",
            ">= 32 CPUs",
            "Total Count",
            "% of cluster",
        ];
        for (name, is_job_count) in [("sizes_by_acct", false), ("sizes_by_acct_printcount", true)] {
            let table = ask(&|request| {
                request.kind = SreportKind::SizesByAccount;
                request.edges = vec![2, 4, 8, 16, 32];
                request.is_job_count = is_job_count;
            });
            compared += compare(&file(name), &table, &["Cluster", "Account"], &columns);
        }
        assert!(compared > 400, "{}: {compared}", cluster.folder);
    }
}

#[test]
fn what_became_of_a_cluster_is_what_sreport_prints() {
    let test = "what_became_of_a_cluster_is_what_sreport_prints";
    let Some(root) = shared(test, "data/slurm") else { return };
    for cluster in &CLUSTERS {
        let folder = root.join(cluster.folder);
        let scene = Scene::new();
        let lake = lake(&scene, &folder, cluster);
        let reported = theirs(&folder.join("sreport_cluster_utilization.txt"));
        let table = ours(&ask(&lake, cluster.zone, cluster.period, |request| {
            request.kind = SreportKind::Utilization;
        }));
        for row in reported
            .iter()
            .filter(|row| !UNREPORTED.contains(&row["TRES Name"].as_str()))
        {
            let own = table.iter().find(|own| own["TRES Name"] == row["TRES Name"]).unwrap();
            for value in ["Allocated", "Down", "Idle", "Planned", "Reported"] {
                assert_eq!(own[value], row[value], "{value} of {row:?}");
            }
            let number = |value: &str| row[value].parse::<i64>().unwrap();
            assert_eq!(
                own["Idle or Planned"],
                (number("Idle") + number("Planned")).to_string(),
                "{row:?}"
            );
        }
    }
}

#[test]
fn the_day_on_which_clocks_are_turned_back_is_sreports() {
    let test = "the_day_on_which_clocks_are_turned_back_is_sreports";
    let Some(root) = shared(test, "data/slurm") else { return };
    let cluster = &CLUSTERS[0];
    let folder = root.join(cluster.folder);
    let scene = Scene::new();
    let lake = lake(&scene, &folder, cluster);
    let day = ("2026-10-25T00:00", "2026-10-26T00:00");
    let table = ours(&ask(&lake, cluster.zone, day, |_| {}));
    let file = folder.join("sreport_dstday_acct_util_by_user.txt");
    let keys = ["Cluster", "Account", "Login", "TRES Name"];
    assert!(compare(&file, &table, &keys, &["Used"]) > 50);
    let table = ours(&ask(&lake, cluster.zone, day, |request| {
        request.kind = SreportKind::Utilization;
    }));
    let file = folder.join("sreport_dstday_cluster_utilization.txt");
    assert_eq!(
        compare(
            &file,
            &table,
            &["Cluster", "TRES Name"],
            &["Allocated", "Down", "Idle", "Planned", "Reported"]
        ),
        30
    );
}

/// The human form: hours and percentages of the registered cores; a cluster registered for a part of the period reports
/// so much of it.
#[test]
fn the_shares_of_a_cluster_are_sreports() {
    let Some(root) = shared("the_shares_of_a_cluster_are_sreports", "data/slurm") else {
        return;
    };
    for cluster in &CLUSTERS {
        let folder = root.join(cluster.folder);
        let scene = Scene::new();
        let lake = lake(&scene, &folder, cluster);
        let table = ours(&ask(&lake, cluster.zone, cluster.period, |request| {
            request.kind = SreportKind::Utilization;
            request.unit = TimeUnit::HoursPercent;
        }));
        let cores = table.iter().find(|row| row["TRES Name"] == "cpu").unwrap();
        let text = std::fs::read_to_string(folder.join("sreport_cluster_utilization_human.txt")).unwrap();
        let printed: Vec<&str> = text.lines().last().unwrap().split_whitespace().collect();
        assert_eq!([&*cores["Allocated"], &*cores["Reported"]], [printed[1], printed[6]]);
    }
}

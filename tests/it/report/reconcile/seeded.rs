//! Seeded differences between two lakes that hold single jobs.

use std::collections::BTreeMap;

use gridtally::report::lake::Selection;
use gridtally::report::reconcile::amount::Amount;
use gridtally::report::reconcile::compare::{ReconcileComparison, compare};
use gridtally::report::reconcile::difference_cause::Cause;
use gridtally::report::reconcile::usage_source::UsageSource;
use gridtally::report::render::objects;
use gridtally::report::work_scale::WorkScale;

use super::super::scene::Scene;
use super::seeds::SEEDS;
use super::world::{APRIL, Dump, MARCH, World};

/// Jobs of each cause over all cells.
fn causes(comparison: &ReconcileComparison) -> BTreeMap<Cause, i128> {
    let mut found = BTreeMap::new();
    for share in comparison.differences.iter().flat_map(|one| &one.shares) {
        *found.entry(share.cause).or_default() += share.job_n;
    }
    found
}

/// What causes make of each cell is its difference.
fn assert_adds_up(comparison: &ReconcileComparison, name: &str) {
    for one in &comparison.differences {
        let sum = one
            .shares
            .iter()
            .fold(Amount::default(), |sum, share| sum.plus(share.amount));
        let is = one.b.minus(one.a);
        let times = |amount: Amount| (amount.job_n, amount.wall_s, amount.core_wall_s, amount.cpu_ms);
        assert_eq!(times(sum), times(is), "{name}: {one:?}");
        assert!(
            one.shares.iter().all(|share| !share.evidence.is_empty()),
            "{name}: {one:?}"
        );
    }
}

#[test]
fn seeded_differences_are_named_with_their_numbers() {
    let scene = Scene::new();
    let mut wrong = Vec::new();
    // Most differences are planted in B alone: A is made once for each dump.
    let mut plain: BTreeMap<Dump, UsageSource> = BTreeMap::new();
    for (nth, seed) in SEEDS.iter().enumerate() {
        let (mut a, mut b) = (World::new(seed.dump), World::new(seed.dump));
        let expected = (seed.plant)(&mut a, &mut b).into_iter().collect();
        let own;
        let a = if a == World::new(seed.dump) {
            let name = format!("a-{:?}", seed.dump);
            plain.entry(seed.dump).or_insert_with(|| a.side(&scene, &name))
        } else {
            own = a.side(&scene, &format!("a{nth}"));
            &own
        };
        let b = b.side(&scene, &format!("b{nth}"));
        let comparison = compare(a, &b, 0).unwrap();
        assert_adds_up(&comparison, seed.name);
        let found = causes(&comparison);
        if found != expected {
            wrong.push(format!(
                "{}: {found:?} for {expected:?}\n{:#?}",
                seed.name, comparison.differences
            ));
        }
    }
    assert!(SEEDS.len() >= 21);
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        SEEDS.len(),
        wrong.join("\n")
    );
}

/// A row for each cause, in every format.
#[test]
fn tables_have_a_row_for_each_cause() {
    let scene = Scene::new();
    let mut b = World::new(Dump::Apel);
    b.lose(|job| job.id == "403003");
    for job in b.of("NORD", MARCH) {
        job.level = 1700;
    }
    let a = World::new(Dump::Apel).side(&scene, "a");
    let table = compare(&a, &b.side(&scene, "b"), 0).unwrap().table();
    let rows: Vec<serde_json::Value> = objects(&table)
        .unwrap()
        .iter()
        .map(|row| serde_json::from_str(row).unwrap())
        .collect();
    let of_kelp: Vec<_> = rows.iter().filter(|row| row["vo"] == "kelp").collect();
    let words: Vec<_> = of_kelp.iter().map(|row| row["cause"].as_str().unwrap()).collect();
    assert_eq!(words, ["missing_jobs", "other_factor"]);
    let sum = |name: &str| of_kelp.iter().filter_map(|row| row[name].as_i64()).sum::<i64>();
    for name in ["job_n", "wall_s", "core_wall_s", "cpu_s", "wall_work_s", "cpu_work_s"] {
        let more = sum(&format!("{name}_more"));
        assert_eq!(more, sum(&format!("{name}_b")) - sum(&format!("{name}_a")), "{name}");
    }
    assert_eq!(of_kelp[1]["job_n_a"], serde_json::Value::Null);
}

/// A folder of XML records against the lake of the same jobs, and with one record less.
#[test]
fn a_folder_of_xml_records_is_a_side() {
    let scene = Scene::new();
    let world = World::new(Dump::Apel);
    let a = world.side(&scene, "a");
    let records = |is_left_out: fn(&str) -> bool| -> String {
        let records = world.jobs.iter().filter(|job| !is_left_out(&job.id)).map(|job| {
            format!(
                "<UsageRecord><JobIdentity><LocalJobId>{}</LocalJobId></JobIdentity><UserIdentity><Group>{}</Group>\
                 </UserIdentity><Infrastructure type=\"grid\"/><WallDuration>PT{}S</WallDuration>\
                 <CpuDuration usageType=\"all\">PT{}S</CpuDuration><ServiceLevel type=\"{}\">{}</ServiceLevel>\
                 <Processors>{}</Processors><NodeCount>1</NodeCount><StartTime>{}</StartTime><EndTime>{}</EndTime>\
                 <MachineName>lrms</MachineName><SubmitHost>ce</SubmitHost><Site>{}</Site></UsageRecord>\n",
                job.id,
                job.vo,
                job.wall,
                job.cpu,
                job.benchmark,
                job.level / 100,
                job.cores,
                jiff::Timestamp::from_second(job.start).unwrap(),
                jiff::Timestamp::from_second(job.end.unwrap()).unwrap(),
                job.site
            )
        });
        let records: String = records.collect();
        format!(
            "<?xml version=\"1.0\"?>\n<UsageRecords xmlns=\"http://eu-emi.eu/namespaces/2012/11/computerecord\">\n{records}\
             </UsageRecords>\n"
        )
    };
    let open = |folder: &str| {
        let path = scene.path(folder);
        UsageSource::open(path.to_str().unwrap(), None, &Selection::default(), WorkScale::Hs23).unwrap()
    };
    scene.write("all/car.xml", &records(|_| false));
    let same = compare(&a, &open("all"), 0).unwrap();
    assert!(
        same.compared_n > 10 && same.differences.is_empty(),
        "{:?}",
        same.differences.first()
    );
    scene.write("less/car.xml", &records(|id| id == "403003"));
    let less = compare(&a, &open("less"), 0).unwrap();
    assert_eq!(causes(&less), BTreeMap::from([(Cause::MissingJobs, 1)]));
    // What is not a job is reported.
    scene.write("odd/car.xml", &records(|_| false).replacen("<Site>NORD</Site>", "", 1));
    let odd = compare(&a, &open("odd"), 0).unwrap();
    assert!(
        odd.notes[0].contains("car.xml: 1 records were refused"),
        "{:?}",
        odd.notes
    );
    assert_eq!(causes(&odd), BTreeMap::from([(Cause::MissingJobs, 1)]));
}

/// The factor of a month that was not requested is looked up; usage cut by other rules is reported.
#[test]
fn the_command_looks_beyond_the_months_it_is_requested() {
    let scene = Scene::new();
    World::new(Dump::Apel).lake(&scene, "a");
    let mut b = World::new(Dump::Apel);
    for job in b.of("NORD", APRIL) {
        job.level = 1000;
    }
    b.lake(&scene, "b");
    let file = std::fs::read_to_string(scene.path("b.toml")).unwrap();
    scene.write(
        "b.toml",
        &file
            .replace("\"by-end\"", "\"prorated\"")
            .replace("\"UTC\"", "\"Europe/Zurich\""),
    );
    scene.run("b");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_gridtally"));
    command
        .current_dir(scene.path(""))
        .args(["reconcile", "a", "b", "--from", "2026-04", "--format", "csv"]);
    let output = command.output().unwrap();
    let (table, words) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert_eq!(
        table.lines().filter(|line| line.contains(",stale_factor,")).count(),
        3,
        "{table}"
    );
    assert!(
        words.contains("usage of A is by-end, in months of UTC; that of B prorated"),
        "{words}"
    );
}

/// A value of a benchmark that is not compared is not a difference, and is reported.
#[test]
fn work_in_another_benchmark_is_not_passed_over_in_silence() {
    let scene = Scene::new();
    let with = |hs06: &str| {
        let mut world = World::new(Dump::Slurm);
        let head = "site,benchmark,value_per_core,valid_from,valid_to";
        world.benchmarks = Some(format!(
            "{head}\nNORD,hs23,13.5,2020-01-01,\nNORD,hs06,{hs06},2020-01-01,\n"
        ));
        world
    };
    let (a, b) = (with("10").side(&scene, "a"), with("11").side(&scene, "b"));
    let comparison = compare(&a, &b, 0).unwrap();
    assert_eq!(comparison.differences, []);
    // Two months of three VOs.
    let [note] = comparison.notes.as_slice() else {
        panic!("{:?}", comparison.notes)
    };
    assert!(note.starts_with("work in hs06 differs in 6 of those"), "{note}");
}

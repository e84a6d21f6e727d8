//! A correction of one month means that month of the lake's calendar, also in reports that count in months of UTC.

use std::collections::BTreeMap;

use gridtally::audit::explain::explain;
use gridtally::compat::{self, PeerDimension, PeerMode, PeerReportQuestion};
use gridtally::reference::site_rename::SiteRenames;
use gridtally::report::apel::MessageKind;
use gridtally::report::apel::users::Users;
use gridtally::report::federation::{gather, site_vo_month, sums_by};
use gridtally::report::lake::{Lake, Selection};
use gridtally::report::publication::message_record::MessageRecord;
use gridtally::report::reconcile::compare::compare;
use gridtally::report::reconcile::difference_cause::Cause;
use gridtally::report::reconcile::usage_source::UsageSource;
use gridtally::report::table::Table;
use gridtally::report::work_scale::WorkScale;
use gridtally::report::{gracc, greendigit};
use gridtally::schema::batch::{int, text, word_or_empty};

use super::scene::{Scene, texts};

/// Two jobs of a cluster in Zurich: the first ended in July there and in June in UTC, the second in August and in July.
const JOBS: &str = "\
JobIDRaw|JobID|Cluster|Account|User|Partition|Submit|Start|End|ElapsedRaw|State|AllocCPUS|NNodes|NodeList|AllocTRES|TotalCPU|ConsumedEnergyRaw
1|1|c|a|ana|cpu|2025-07-01T00:10:00|2025-07-01T00:15:00|2025-07-01T01:15:00|3600|COMPLETED|1|1|n1|cpu=1,node=1|00:30:00|3600
2|2|c|a|ana|cpu|2025-08-01T00:10:00|2025-08-01T00:15:00|2025-08-01T00:45:00|1800|COMPLETED|1|1|n1|cpu=1,node=1|00:15:00|1800
";

/// Jobs by VO and UTC month.
type Counts = BTreeMap<(String, String), i128>;

fn counts(of: &[(&str, &str)]) -> Counts {
    let jobs = of
        .iter()
        .map(|(vo, month)| (((*vo).to_owned(), (*month).to_owned()), 1));
    jobs.collect()
}

fn lake(scene: &Scene, name: &str, correction: &str, attribution: &str) -> Lake {
    scene.write("jobs.txt", JOBS);
    of_jobs(scene, name, correction, attribution)
}

/// A lake of the jobs that were written.
fn of_jobs(scene: &Scene, name: &str, correction: &str, attribution: &str) -> Lake {
    scene.write(
        "bm.csv",
        "site,benchmark,value_per_core,valid_from,valid_to\nS,hs23,10,,\n",
    );
    scene.write("types.csv", "site,node_type,cores\n*,x,4\n");
    scene.write(
        &format!("{name}.csv"),
        &format!("id,action,site,month,to_vo,author,reason,date\n{correction}"),
    );
    scene.write(
        &format!("{name}.toml"),
        &format!(
            "[pipeline]\nname = \"p\"\noutput = \"{name}\"\ncalendar_timezone = \"Europe/Zurich\"\n\
             attribution = \"{attribution}\"\ncorrections = \"{name}.csv\"\n\
             [[source]]\nname = \"s\"\nformat = \"sacct\"\npaths = [\"jobs.txt\"]\nsite = \"S\"\n\
             timezone = \"Europe/Zurich\"\nvo = {{ value = \"v\" }}\ninfrastructure = \"grid\"\n\
             [normalise]\nbenchmarks = \"bm.csv\"\nmissing = \"null\"\n\
             [energy]\nnodes = \"types.csv\"\nshared = \"allocated_cores\"\n"
        ),
    );
    scene.run(name)
}

/// The rows of a table by their VO and month, which are columns of it.
fn of_table(table: &Table, vo: &str, end: &str, job_n: Option<&str>, into: &mut Counts) {
    let place = |name: &str| table.columns.iter().position(|column| column.name == name).unwrap();
    for row in &table.rows {
        let text = |name: &str| row[place(name)].to_string();
        let n = job_n.map_or(1, |name| text(name).parse().unwrap());
        *into.entry((text(vo), text(end)[..7].to_owned())).or_default() += n;
    }
}

/// What each report counts.
fn reported(scene: &Scene, name: &str, lake: &Lake) -> Vec<(&'static str, Counts)> {
    let everything = Selection::default();
    let usage = gather(lake, &everything).unwrap();
    let sums = sums_by(&usage.groups, WorkScale::Hs23, site_vo_month).unwrap();
    let federations = sums
        .into_iter()
        .map(|((_, vo, month), sums)| ((vo, month.to_string()), sums.job_n));

    let mut documents = Counts::new();
    let (table, _) = gracc::table(lake, &everything, &Users::Keep).unwrap();
    of_table(&table, "VOName", "EndTime", Some("Njobs"), &mut documents);

    let mut jobs = Counts::new();
    greendigit::export(lake, &everything, &mut |table| {
        of_table(table, "owner", "event_end_timestamp", None, &mut jobs);
        Ok(())
    })
    .unwrap();

    let question = PeerReportQuestion {
        mode: PeerMode::Native,
        site_values: None,
        by: Some(vec![PeerDimension::parse("vo").unwrap()]),
        selection: &everything,
        renames: &SiteRenames::default(),
    };
    let work = compat::report(scene.path(name).to_str().unwrap(), &question).unwrap();
    let work = work.cells.iter().map(|cell| {
        let vo = cell.dimensions[0].clone().unwrap();
        let job_n = cell.measure("job_n").unwrap().parse().unwrap();
        ((vo, cell.month.to_string()), job_n)
    });

    let mut found = vec![
        ("egi, wlcg, osg", federations.collect()),
        ("gracc", documents),
        ("greendigit", jobs),
        ("work", work.collect()),
    ];
    for (kind, report) in [
        (MessageKind::JobV04, "apel, jobs"),
        (MessageKind::SummaryV02, "apel, summaries"),
    ] {
        let folder = format!("{name}-{report}");
        scene.send(lake, kind, &folder);
        let mut messages = Counts::new();
        for text in texts(&scene.path(&folder)) {
            for record in MessageRecord::read(&text).unwrap() {
                let month = record.month().unwrap().to_string();
                *messages.entry((record.vo().to_owned(), month)).or_default() += i128::from(record.job_n());
            }
        }
        found.push((report, messages));
    }
    found
}

#[test]
fn a_void_of_a_month_takes_the_jobs_that_count_in_it_in_the_lake() {
    let scene = Scene::new();
    for attribution in ["by-end", "prorated"] {
        let name = format!("void-{attribution}");
        let corrected = lake(&scene, &name, "C1,void,S,2025-07,,A,wrong,2025-12-01\n", attribution);
        for (report, found) in reported(&scene, &name, &corrected) {
            assert_eq!(found, counts(&[("v", "2025-07")]), "{report}, {attribution}");
        }
    }
}

#[test]
fn a_remap_of_a_month_moves_the_jobs_that_count_in_it_in_the_lake() {
    let scene = Scene::new();
    let corrected = lake(&scene, "remap", "C1,remap,S,2025-07,w,A,wrong,2025-12-01\n", "by-end");
    for (report, found) in reported(&scene, "remap", &corrected) {
        assert_eq!(found, counts(&[("w", "2025-06"), ("v", "2025-07")]), "{report}");
    }
}

/// Accounts are compared job by job as well: the one job that was taken out is the difference.
#[test]
fn a_job_that_was_taken_out_is_the_difference_to_a_lake_that_has_it() {
    let scene = Scene::new();
    let sides = [("a", "C1,void,S,2025-07,,A,wrong,2025-12-01\n"), ("b", "")];
    let [a, b] = sides.map(|(name, correction)| {
        let lake = lake(&scene, name, correction, "by-end");
        UsageSource::of_lake(lake, None, &Selection::default(), WorkScale::Hs23).unwrap()
    });
    let found = compare(&a, &b, 0).unwrap();
    let [one] = found.differences.as_slice() else {
        panic!("{:?}", found.differences)
    };
    let [share] = one.shares.as_slice() else {
        panic!("{one:?}")
    };
    assert_eq!(
        (one.month.to_string().as_str(), share.cause, share.job_n),
        ("2025-06", Cause::Correction, 1)
    );
}

/// A page of a job names what each correction took of it and gave: the pages of all jobs add up to `usage`.
#[test]
fn the_pages_of_all_jobs_add_up_to_usage_with_its_corrections() {
    let scene = Scene::new();
    let over_the_end = "3|3|c|a|ana|cpu|2025-07-31T23:00:00|2025-07-31T23:00:00|2025-08-01T01:00:00|7200|COMPLETED|1|1|n1|\
                        cpu=1,node=1|01:00:00|7200\n";
    scene.write("jobs.txt", &format!("{JOBS}{over_the_end}"));
    let corrections = "C1,void,S,2025-07,,A,wrong,2025-12-01\nC2,remap,S,,w,B,moved,2025-12-02\n";
    for attribution in ["by-end", "prorated"] {
        let lake = of_jobs(&scene, attribution, corrections, attribution);
        // Jobs and seconds by file and correction.
        let mut held: BTreeMap<(String, String), (i64, i64)> = BTreeMap::new();
        for file in lake.manifest.dataset("usage") {
            for batch in lake.batches(&file.path, None).unwrap() {
                let batch = batch.unwrap();
                let id = text(&batch, "correction_id").unwrap();
                let (jobs, wall) = (int(&batch, "job_n").unwrap(), int(&batch, "wall_s").unwrap());
                for row in 0..batch.num_rows() {
                    let sum = held
                        .entry((file.path.clone(), word_or_empty(id, row).to_owned()))
                        .or_default();
                    *sum = (sum.0 + jobs.value(row), sum.1 + wall.value(row));
                }
            }
        }
        let mut explained: BTreeMap<(String, String), (i64, i64)> = BTreeMap::new();
        let mut add = |cell: &str, id: &str, job_n: i64, wall_s: i64| {
            let sum = explained.entry((cell.to_owned(), id.to_owned())).or_default();
            *sum = (sum.0 + job_n, sum.1 + wall_s);
        };
        let out = scene.path(attribution);
        for job in ["1", "2", "3"] {
            for page in explain(out.to_str().unwrap(), job, &scene.path("")).unwrap() {
                for used in &page.usage {
                    add(&used.cell, "", i64::from(used.is_counted), used.wall_s);
                    for entry in &used.corrections {
                        add(&entry.cell, &entry.correction_id, entry.job_n, entry.wall_s);
                    }
                }
            }
        }
        assert_eq!(explained, held, "{attribution}");
    }
    let pages = explain(scene.path("by-end").to_str().unwrap(), "1", &scene.path("")).unwrap();
    let page = pages.first().unwrap().text();
    for expected in [
        "\nUsage: all of it in one period, as recorded, and what corrections took and gave\n",
        "1800000 ms CPU, counted here as recorded -> usage/site=S/vo=v/",
        "\n    correction C1 (void by A: wrong): taken from v, a: -3600 s wall, -3600 core s, -1800000 ms CPU, counted here no longer -> \
         usage/site=S/vo=v/",
    ] {
        assert!(page.contains(expected), "{expected} is not in\n{page}");
    }
}

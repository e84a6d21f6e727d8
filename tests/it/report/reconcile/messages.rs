//! A lake with single jobs against messages that know sums alone, made of another lake with seeded differences.

use std::collections::BTreeMap;

use gridtally::report::apel::MessageKind;
use gridtally::report::lake::Selection;
use gridtally::report::publication::message_record::MessageRecord;
use gridtally::report::reconcile::compare::compare;
use gridtally::report::reconcile::difference_cause::Cause;
use gridtally::report::reconcile::usage_source::UsageSource;
use gridtally::report::work_scale::WorkScale;

use super::super::scene::Scene;
use super::world::{Dump, MARCH, SeedJob, World};

type Plant = fn(&mut World) -> Vec<(Cause, i128)>;

fn n_of(jobs: impl Iterator<Item = SeedJob>) -> i128 {
    i128::try_from(jobs.count()).unwrap()
}

#[test]
fn the_least_set_of_causes_explains_sums() {
    let seeds: [(&str, Plant); 7] = [
        ("nothing", |_| Vec::new()),
        ("a file lost", |b| {
            let n = b.lose(|job| job.file == "nord-03-1");
            vec![(Cause::MissingPart, n)]
        }),
        ("a file lost and the factor doubled", |b| {
            let n = b.lose(|job| job.file == "nord-03-1");
            b.of("NORD", MARCH).for_each(|job| job.level *= 2);
            let left = n_of(b.of("NORD", MARCH).map(|job| job.clone()));
            vec![(Cause::MissingPart, n), (Cause::OtherFactor, left)]
        }),
        ("wall times cores sent as CPU", |b| {
            b.of("SUED", MARCH).for_each(|job| job.cpu = job.wall * job.cores);
            vec![(Cause::CpuFromWall, n_of(b.of("SUED", MARCH).map(|job| job.clone())))]
        }),
        ("all of a month twice", |b| {
            let copies: Vec<SeedJob> = b
                .of("SUED", MARCH)
                .map(|job| SeedJob {
                    id: format!("x{}", job.id),
                    ..job.clone()
                })
                .collect();
            let n = n_of(copies.iter().cloned());
            b.jobs.extend(copies);
            vec![(Cause::DoubleCounting, n)]
        }),
        ("a VO into another", |b| {
            let mut n = 0;
            for job in b.of("SUED", MARCH).filter(|job| job.vo == "reef") {
                (job.vo, n) = ("kelp", n + 1);
            }
            vec![(Cause::OtherName, 2 * n)]
        }),
        ("a VO into another and another factor", |b| {
            let mut n = 0;
            for job in b.of("SUED", MARCH) {
                if job.vo == "reef" {
                    (job.vo, n) = ("kelp", n + 1);
                }
                job.level = 1430;
            }
            // The cell of the other VO and the one that took it in.
            let scaled = n_of(b.of("SUED", MARCH).map(|job| job.clone()));
            vec![(Cause::OtherName, 2 * n), (Cause::OtherFactor, scaled)]
        }),
    ];
    let scene = Scene::new();
    let a = World::new(Dump::Apel).side(&scene, "a");
    for (nth, (name, plant)) in seeds.into_iter().enumerate() {
        let mut b = World::new(Dump::Apel);
        let expected: BTreeMap<Cause, i128> = plant(&mut b).into_iter().collect();
        let folder = format!("messages{nth}");
        scene.send(&b.lake(&scene, &format!("b{nth}")), MessageKind::SummaryV02, &folder);
        let path = scene.path(&folder);
        let b = UsageSource::open(path.to_str().unwrap(), None, &Selection::default(), WorkScale::Hs23).unwrap();
        let comparison = compare(&a, &b, 0).unwrap();
        let mut found = BTreeMap::new();
        for share in comparison.differences.iter().flat_map(|one| &one.shares) {
            *found.entry(share.cause).or_default() += share.job_n;
        }
        assert_eq!(found, expected, "{name}: {:#?}", comparison.differences);
    }
}

/// Dictionaries of benchmarks are read by the benchmark in which work is compared, as the server picks it.
#[test]
fn a_lake_agrees_with_the_messages_made_of_it() {
    let scene = Scene::new();
    let mut world = World::new(Dump::Slurm);
    world.benchmarks = Some(
        "site,benchmark,value_per_core,valid_from,valid_to\nSUED,hs06,11,2020-01-01,\nNORD,hs06,10,2020-01-01,\n\
         NORD,hs23,13.5,2020-01-01,\n"
            .to_owned(),
    );
    let lake = world.lake(&scene, "lake");
    let kinds = MessageKind::ALL.into_iter().filter(|kind| *kind != MessageKind::Sync);
    for kind in kinds {
        scene.send(&lake, kind, kind.as_str());
        for scale in [WorkScale::Hs23, WorkScale::Hs06] {
            // Of a message with one benchmark HEPSPEC06 is not known where there is another.
            if scale == WorkScale::Hs06 && !kind.has_dictionary() {
                continue;
            }
            let open = |path: &str| {
                let path = scene.path(path);
                UsageSource::open(path.to_str().unwrap(), None, &Selection::default(), scale).unwrap()
            };
            let comparison = compare(&open("lake"), &open(kind.as_str()), 0).unwrap();
            assert!(comparison.compared_n > 10);
            assert_eq!(comparison.differences, [], "{kind:?} {scale:?}");
        }
    }
}

/// A row rounds its CPU time to seconds: work may be off by half a second of each at the factor, which is no other factor.
#[test]
fn work_of_cpu_time_that_is_rounded_is_the_same() {
    let side = |cpu: [[i64; 2]; 2]| {
        let rows = cpu.iter().zip(["ann", "bob"]).map(|([cpu_s, work_s], user)| {
            format!(
                "Site: S\nMonth: 10\nYear: 2026\nGlobalUserName: {user}\nVO: v\nInfrastructure: grid\nSubmitHost: ce\n\
                 NodeCount: 1\nProcessors: 1\nEarliestEndTime: 1791849600\nLatestEndTime: 1791849600\nWallDuration: 1000\n\
                 CpuDuration: {cpu_s}\nNormalisedWallDuration: 14063\nNormalisedCpuDuration: {work_s}\nNumberOfJobs: 1\n%%\n"
            )
        });
        let text = "APEL-summary-job-message: v0.3\n".to_owned() + &rows.collect::<String>();
        let records = MessageRecord::read(&text).unwrap();
        UsageSource::of_messages(&records, &Selection::default(), WorkScale::Hs06).unwrap()
    };
    let rounded = [[100, 1406], [101, 1420]];
    let comparison = compare(&side([[99, 1392], [101, 1420]]), &side(rounded), 0).unwrap();
    assert_eq!(
        (comparison.compared_n, comparison.differences.len()),
        (1, 0),
        "{comparison:?}"
    );
    // More than that is not rounding.
    let comparison = compare(&side([[99, 1380], [101, 1420]]), &side(rounded), 0).unwrap();
    assert_eq!(comparison.differences.len(), 1, "{comparison:?}");
}

//! Differences that are seeded between two lakes, and what each cause must come to.

use std::fmt::Write as _;

use gridtally::report::reconcile::difference_cause::Cause;

use super::world::{APRIL, Dump, HOUR, MARCH, SeedJob, World};

/// Causes and the jobs of each, over all cells.
pub(super) type Expected = Vec<(Cause, i128)>;

/// A difference: its name, what is changed in B (or in both), and what must be found.
pub(super) struct Seed {
    pub(super) name: &'static str,
    pub(super) dump: Dump,
    pub(super) plant: fn(&mut World, &mut World) -> Expected,
}

fn count<'j>(jobs: impl Iterator<Item = &'j mut SeedJob>, mut change: impl FnMut(&mut SeedJob) -> bool) -> i128 {
    jobs.fold(0, |n, job| n + i128::from(change(job)))
}

/// Changes every job, and counts them.
fn each<'j>(jobs: impl Iterator<Item = &'j mut SeedJob>, mut change: impl FnMut(&mut SeedJob)) -> i128 {
    count(jobs, |job| {
        change(job);
        true
    })
}

fn ends_on(job: &SeedJob, site: &str, day: i64) -> bool {
    job.site == site && job.end.is_some_and(|end| (end - MARCH) / 86_400 == day)
}

fn is_one_of(job: &SeedJob, ids: &[&str]) -> bool {
    ids.contains(&job.id.as_str())
}

macro_rules! seeds {
    ($($name:literal, $dump:ident: $plant:expr;)+) => {
        pub(super) const SEEDS: &[Seed] = &[$(Seed { name: $name, dump: Dump::$dump, plant: $plant },)+];
    };
}

seeds! {
    "three jobs here and there", Apel: |_, b| {
        let n = b.lose(|job| is_one_of(job, &["403003", "403021", "504010"]));
        vec![(Cause::MissingJobs, n)]
    };
    "jobs that A lacks", Apel: |a, _| {
        let n = a.lose(|job| is_one_of(job, &["403003", "403021", "504010"]));
        vec![(Cause::MissingJobs, n)]
    };
    "a day of a site", Apel: |_, b| {
        let n = b.lose(|job| ends_on(job, "NORD", 10));
        vec![(Cause::MissingDay, n)]
    };
    "a file of ten days", Apel: |_, b| {
        let n = b.lose(|job| job.file == "nord-03-1");
        vec![(Cause::MissingPart, n)]
    };
    "a file cut off within a day", Apel: |_, b| {
        let n = b.lose(|job| job.file == "sued-03-1" && job.id.as_str() > "503030");
        vec![(Cause::MissingPart, n)]
    };
    "a month of a site", Apel: |_, b| {
        let n = b.lose(|job| job.is_of("SUED", APRIL));
        vec![(Cause::MissingPart, n)]
    };
    "five jobs twice under other ids", Apel: |_, b| {
        let copies: Vec<SeedJob> = b.of("NORD", MARCH).skip(7).step_by(9).take(5).map(|job| SeedJob {
            id: format!("again-{}", job.id),
            file: "again".to_owned(),
            ..job.clone()
        }).collect();
        b.jobs.extend(copies);
        vec![(Cause::DoubleCounting, 5)]
    };
    "ten jobs twice, an hour apart", Apel: |_, b| {
        let copies: Vec<SeedJob> = b.of("SUED", APRIL).take(10).map(|job| SeedJob {
            start: job.start + HOUR,
            end: job.end.map(|end| end + HOUR),
            file: "other-zone".to_owned(),
            ..job.clone()
        }).collect();
        b.jobs.extend(copies);
        vec![(Cause::DoubleCounting, 10)]
    };
    "a whole site twice under another name", Apel: |_, b| {
        let copies: Vec<SeedJob> = b.of("SUED", MARCH).map(|job| SeedJob {
            site: "SUED-NEW",
            file: "renamed".to_owned(),
            ..job.clone()
        }).collect();
        let n = i128::try_from(copies.len()).unwrap();
        b.jobs.extend(copies);
        vec![(Cause::DoubleCounting, n)]
    };
    "jobs lost and the factor doubled", Apel: |_, b| {
        let lost = b.lose(|job| is_one_of(job, &["503001", "503030", "504044", "504007"]));
        let n = each(b.of_site("SUED"), |job| job.level *= 2);
        vec![(Cause::MissingJobs, lost), (Cause::OtherFactor, n)]
    };
    "a factor of the month before", Apel: |_, b| {
        let n = each(b.of("NORD", APRIL), |job| job.level = 1000);
        vec![(Cause::StaleFactor, n)]
    };
    "a factor that B changed", Apel: |a, b| {
        for world in [a, &mut *b] {
            each(world.of("NORD", APRIL), |job| job.level = 1000);
        }
        let n = each(b.of("NORD", APRIL), |job| job.level = 1500);
        vec![(Cause::OtherFactor, n)]
    };
    "a factor per job", Apel: |_, b| {
        let mut nth = 0;
        let n = each(b.of("NORD", MARCH), |job| {
            nth += 1;
            job.level += nth * 7;
        });
        vec![(Cause::OtherFactor, n)]
    };
    "SI00 that was named HEPSPEC06", Apel: |_, b| {
        let n = each(b.of("SUED", MARCH), |job| job.level *= 250);
        vec![(Cause::By250, n)]
    };
    "another benchmark", Apel: |_, b| {
        let n = each(b.of("SUED", MARCH), |job| {
            job.benchmark = "HEPscore23";
            job.level = 1330;
        });
        vec![(Cause::OtherBenchmark, n)]
    };
    "CPU times cores", Apel: |_, b| {
        let n = count(b.of_site("SUED"), |job| {
            job.cpu *= job.cores;
            job.cores > 1
        });
        vec![(Cause::CpuTimesCores, n)]
    };
    "CPU per core", Apel: |_, b| {
        let n = count(b.of_site("SUED"), |job| {
            job.cpu /= job.cores;
            job.cores > 1
        });
        vec![(Cause::CpuPerCore, n)]
    };
    "wall times cores sent as CPU", Apel: |_, b| {
        let n = each(b.of("NORD", APRIL), |job| job.cpu = job.wall * job.cores);
        vec![(Cause::CpuFromWall, n)]
    };
    "CPU in hours", Apel: |_, b| {
        let n = each(b.of("NORD", APRIL), |job| job.cpu = (job.cpu + 1800) / 3600);
        vec![(Cause::HoursOrSeconds, n)]
    };
    "CPU in milliseconds", Apel: |_, b| {
        let n = each(b.of("NORD", APRIL), |job| job.cpu *= 1000);
        vec![(Cause::MillisecondsOrSeconds, n)]
    };
    "CPU a twentieth short", Apel: |_, b| {
        let n = each(b.of("NORD", APRIL), |job| job.cpu = job.cpu * 95 / 100);
        vec![(Cause::OtherCpu, n)]
    };
    "wall times cores", Apel: |_, b| {
        let n = count(b.of("SUED", APRIL), |job| {
            job.wall *= job.cores;
            job.cores > 1
        });
        vec![(Cause::WallTimesCores, n)]
    };
    "wall in minutes", Apel: |_, b| {
        let n = each(b.of("SUED", APRIL), |job| job.wall = (job.wall + 30) / 60);
        vec![(Cause::MinutesOrSeconds, n)]
    };
    "one core for all", Apel: |_, b| {
        let n = count(b.of("SUED", APRIL), |job| {
            let is_several = job.cores > 1;
            job.cores = 1;
            is_several
        });
        vec![(Cause::OtherCores, n)]
    };
    "a clock an hour ahead", Apel: |_, b| {
        each(b.of_site("SUED"), |job| {
            job.start += HOUR;
            job.end = job.end.map(|end| end + HOUR);
        });
        // The last job of either month, out of one and into the next.
        vec![(Cause::MonthBoundary, 4)]
    };
    "a VO under a new name", Apel: |_, b| {
        let n = count(b.of("SUED", MARCH), |job| {
            let is_reef = job.vo == "reef";
            job.vo = if is_reef { "riff" } else { job.vo };
            is_reef
        });
        vec![(Cause::OtherName, 2 * n)]
    };
    "a VO into another that is there", Apel: |_, b| {
        let n = count(b.of("SUED", MARCH), |job| {
            let is_reef = job.vo == "reef" && job.id.as_str() < "503040";
            job.vo = if is_reef { "kelp" } else { job.vo };
            is_reef
        });
        vec![(Cause::OtherName, 2 * n)]
    };
    "a site under a new name", Apel: |_, b| {
        let n = each(b.of_site("SUED"), |job| job.site = "SUED-WEST");
        vec![(Cause::OtherName, 2 * n)]
    };
    "a site under the name of another", Apel: |_, b| {
        let n = each(b.of_site("SUED"), |job| job.site = "NORD");
        vec![(Cause::OtherName, 2 * n)]
    };
    "a VO in capitals", Apel: |_, b| {
        let n = count(b.of("SUED", MARCH), |job| {
            let is_kelp = job.vo == "kelp";
            job.vo = if is_kelp { "KELP" } else { job.vo };
            is_kelp
        });
        vec![(Cause::CaseOfNames, n)]
    };
    "voided", Apel: |_, b| {
        b.sign("C1,void,NORD,2026-03,atoll");
        let n = count(b.of("NORD", MARCH), |job| job.vo == "atoll");
        vec![(Cause::Correction, n)]
    };
    "moved by a correction", Apel: |_, b| {
        b.sign("C1,remap,NORD,2026-03,reef,,,atoll");
        let n = count(b.of("NORD", MARCH), |job| job.vo == "reef");
        vec![(Cause::Correction, 2 * n)]
    };
    "added by a correction", Apel: |_, b| {
        b.sign("C1,add,NORD,2026-03,kelp,x,,,,9,36000,72000,50000000");
        vec![(Cause::Correction, 9)]
    };
    "payloads counted as jobs", Gracc: |_, b| {
        let n = count(b.of_site("SUED"), |job| std::mem::take(&mut job.is_payload));
        vec![(Cause::OtherView, n)]
    };
    "a dump of before the end", Slurm: |_, b| {
        let n = count(b.of("NORD", MARCH), |job| {
            let is_late = job.end.is_some_and(|end| end > APRIL - 3 * 86_400);
            if is_late {
                (job.end, job.wall, job.cpu) = (None, job.wall / 2, 0);
            }
            is_late
        });
        vec![(Cause::OtherVersion, n)]
    };
    "a version that ended sooner", Slurm: |_, b| {
        let n = each(b.of("SUED", MARCH).take(6), |job| {
            job.end = job.end.map(|end| end - 600);
            (job.wall, job.cpu) = (job.wall - 600, job.cpu - 300);
        });
        vec![(Cause::OtherVersion, n)]
    };
    "a day of a Slurm dump", Slurm: |_, b| {
        let n = b.lose(|job| ends_on(job, "SUED", 4));
        vec![(Cause::MissingDay, n)]
    };
    "a dump taken in another zone", Slurm: |_, b| {
        each(b.of_site("NORD"), |job| {
            job.start += 2 * HOUR;
            job.end = job.end.map(|end| end + 2 * HOUR);
        });
        vec![(Cause::MonthBoundary, 4)]
    };
    "a row of benchmarks that B lacks", Slurm: |a, b| {
        let head = "site,benchmark,value_per_core,valid_from,valid_to\nSUED,hs06,11,2020-01-01,\n";
        a.benchmarks = Some(format!("{head}NORD,hs06,10,2020-01-01,2026-04-01\nNORD,hs06,12,2026-04-01,\n"));
        b.benchmarks = Some(format!("{head}NORD,hs06,10,2020-01-01,\n"));
        let n = each(b.of("NORD", APRIL), |_| {});
        vec![(Cause::StaleFactor, n)]
    };
    "a site without benchmarks", Slurm: |a, b| {
        let head = "site,benchmark,value_per_core,valid_from,valid_to\nSUED,hs06,11,2020-01-01,\n";
        a.benchmarks = Some(format!("{head}NORD,hs06,10,2020-01-01,\n"));
        b.benchmarks = Some(head.to_owned());
        let n = each(b.of_site("NORD"), |_| {});
        vec![(Cause::MissingFactor, n)]
    };
    "summaries in place of jobs", Apel: |_, b| {
        b.overlap = "summaries";
        let mut text = String::from("APEL-summary-job-message: v0.2\n");
        let mut of_april = 0;
        for (vo, more) in [("kelp", 0), ("reef", 500), ("atoll", 0)] {
            let jobs: Vec<SeedJob> = b.of("SUED", APRIL).filter(|job| job.vo == vo).map(|job| job.clone()).collect();
            of_april += jobs.len();
            let sum = |of: fn(&SeedJob) -> i64| jobs.iter().map(of).sum::<i64>();
            let _ = write!(
                text,
                "Site: SUED\nMonth: 4\nYear: 2026\nVO: {vo}\nInfrastructureType: grid\nServiceLevelType: HEPSPEC\n\
                 ServiceLevel: 11.0\nNodeCount: 1\nProcessors: 1\nWallDuration: {}\nCpuDuration: {}\nNumberOfJobs: {}\n%%\n",
                sum(|job| job.wall) + more,
                sum(|job| job.cpu),
                jobs.len()
            );
        }
        b.messages.insert("sum.msg".to_owned(), text);
        vec![(Cause::SummariesForJobs, i128::try_from(of_april).unwrap())]
    };
    "four causes in one cell", Apel: |_, b| {
        let lost = b.lose(|job| is_one_of(job, &["403003", "403033"]));
        b.sign("C1,add,NORD,2026-03,kelp,x,,,,3,36000,72000,50000000");
        let jobs = || |job: &&mut SeedJob| job.vo == "kelp";
        let cpu = each(b.of("NORD", MARCH).filter(jobs()), |job| job.cpu = job.wall * job.cores);
        let factor = each(b.of("NORD", MARCH).filter(jobs()), |job| job.level = 1700);
        vec![
            (Cause::MissingJobs, lost),
            (Cause::Correction, 3),
            (Cause::CpuFromWall, cpu),
            (Cause::OtherFactor, factor),
        ]
    };
    "a day lost, a job lost, a VO renamed into another", Apel: |_, b| {
        let day = b.lose(|job| ends_on(job, "NORD", 10));
        let one = b.lose(|job| is_one_of(job, &["403051"]));
        let n = count(b.of("NORD", MARCH), |job| {
            let is_reef = job.vo == "reef";
            job.vo = if is_reef { "atoll" } else { job.vo };
            is_reef
        });
        vec![(Cause::MissingDay, day), (Cause::MissingJobs, one), (Cause::OtherName, 2 * n)]
    };
}

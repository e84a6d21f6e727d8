//! Jobs of a batch system and the logs of its CE: one record of two lines, whatever came when.

use std::collections::BTreeMap;
use std::fs;

use gridtally::run::RunOptions;

use super::scene::{Pipeline, Scene, Source, assert_same, shuffle};
use super::tables::{all, text};

/// Unix second of 2024-03-01T00:00:00Z.
const MARCH: i64 = 1_709_251_200;
const DAY: i64 = 86_400;

/// A job of the batch system that ended so many seconds into March.
fn job(id: u32, end: i64) -> String {
    let (start, end) = (MARCH + end - 3600, MARCH + end);
    format!(
        "03/01/2024 00:00:00;E;{id}.lrms;user=u{id} group=local jobname=j queue=q ctime={start} etime={start} \
         start={start} exec_host=n1/0-3 end={end} Exit_status=0 resources_used.cput=02:00:00 \
         resources_used.mem=10kb resources_used.vmem=20kb resources_used.walltime=01:00:00\n"
    )
}

/// A line of the CE so many seconds into March.
fn line(id: u32, at: i64, vo: &str) -> String {
    let time = jiff::Timestamp::from_second(MARCH + at).unwrap().to_string();
    let time = time.trim_end_matches('Z').replace('T', " ");
    format!(
        "\"timestamp={time}\" \"userDN=/DC=org/CN=User {id}\" \"userFQAN=/{vo}/uk/Role=production\" \
         \"userFQAN=/other\" \"ceID=ce.example.org:8443/q\" \"jobID=CE{id}at{at}\" \"lrmsID={id}.lrms\" \
         \"localUser=1\"\n"
    )
}

/// The logs of three nights; the CE's first and the batch system's second of the same night.
pub(super) fn scene() -> (Scene, Vec<String>, Vec<String>) {
    let nights = [
        (
            // 1 is known twice, 9 never ends.
            [
                line(1, 10, "atlas"),
                line(1, 10, "atlas"),
                line(2, 20, "cms"),
                line(9, 30, "atlas"),
            ]
            .concat(),
            [job(1, 4000), job(5, 5000)].concat(),
        ),
        (
            // 4 was handed over again: what counts is the last time before it ended.
            [line(4, DAY, "atlas"), line(4, DAY + 500, "cms")].concat(),
            [job(2, DAY + 4000), job(4, DAY + 8000)].concat(),
        ),
        (
            // Its clock was ahead by hours; and one whose number the batch system gave out long before.
            [line(6, 2 * DAY + 9000, "lhcb"), line(7, -40 * DAY, "atlas")].concat(),
            [job(6, 2 * DAY + 4000), job(7, 2 * DAY + 5000)].concat(),
        ),
    ];
    let scene = Scene::empty();
    let (mut ce, mut batch) = (Vec::new(), Vec::new());
    for (nth, (lines, jobs)) in nights.iter().enumerate() {
        ce.push(format!("data/blahp.log-{nth}"));
        batch.push(format!("data/pbs-{nth}"));
        scene.write(&ce[nth], lines.as_bytes());
        scene.write(&batch[nth], jobs.as_bytes());
    }
    (scene, ce, batch)
}

pub(super) fn pipeline(ce: &[String], batch: &[String]) -> Pipeline {
    Pipeline::of(Source {
        name: "site",
        paths: batch.to_vec(),
        keys: format!("format = \"pbs\"\nsite = \"FELL\"\nblah = {ce:?}\n"),
    })
}

/// job -> (infrastructure, VO, role, CE's job id)
fn identities(scene: &Scene, out: &str) -> BTreeMap<String, [Option<String>; 4]> {
    let records = all(&scene.path(out), "records");
    let of = |row| {
        let identity = ["infrastructure", "vo", "vo_role", "global_job_id"].map(|name| text(&records, name, row));
        (text(&records, "job_id", row).unwrap(), identity)
    };
    (0..records.num_rows()).map(of).collect()
}

#[test]
fn two_logs_make_one_record() {
    let (scene, ce, batch) = scene();
    let report = scene.run(&pipeline(&ce, &batch), "lake");
    let grid = |vo: &str, id: &str| {
        let word = |text: &str| Some(text.to_owned());
        [word("grid"), word(vo), word("Role=production"), word(id)]
    };
    let local = || [Some("local".to_owned()), None, None, None];
    let expected: BTreeMap<String, [Option<String>; 4]> = [
        ("1.lrms", grid("atlas", "CE1at10")),
        ("2.lrms", grid("cms", "CE2at20")),
        ("4.lrms", grid("cms", "CE4at86900")),
        ("5.lrms", local()),
        ("6.lrms", grid("lhcb", "CE6at181800")),
        ("7.lrms", local()),
    ]
    .map(|(id, identity)| (id.to_owned(), identity))
    .into();
    assert_eq!(identities(&scene, "lake"), expected);
    // Four lines were used; the second of 1, the first of 4, that of 9 and that of the other 7 were not.
    let reasons: BTreeMap<&str, u64> = report.reasons.iter().map(|(reason, n)| (reason.as_str(), *n)).collect();
    assert_eq!(
        reasons,
        [
            ("accepted/job", 6),
            ("out_of_scope/grid_identity", 4),
            ("out_of_scope/grid_identity_unused", 4),
        ]
        .into()
    );
    assert_eq!(scene.findings("lake"), []);
    let records = all(&scene.path("lake"), "records");
    assert_eq!(text(&records, "global_user", 0).as_deref(), Some("/DC=org/CN=User 1"));
    assert_eq!(text(&records, "user", 0).as_deref(), Some("u1"));
    assert_eq!(
        text(&records, "submit_host", 0).as_deref(),
        Some("ce.example.org:8443/q")
    );
    // Nothing new, nothing done.
    let again = scene.run(&pipeline(&ce, &batch), "lake");
    assert_eq!(again.files_read_n, 0);
    assert_eq!(again.reasons, report.reasons);
}

#[test]
fn the_order_of_nights_and_files_does_not_matter() {
    let (scene, ce, batch) = scene();
    scene.run(&pipeline(&ce, &batch), "at-once");
    let expected = scene.lake("at-once");
    for night in 1..=3 {
        scene.run(&pipeline(&ce[..night], &batch[..night]), "nightly");
    }
    assert_same(&scene.lake("nightly"), &expected, "night by night");
    // Every log on a night of its own, in orders in which the CE's come long before or long after the jobs.
    for seed in 0..6 {
        let mut order: Vec<(bool, String)> = Vec::new();
        order.extend(ce.iter().map(|path| (true, path.clone())));
        order.extend(batch.iter().map(|path| (false, path.clone())));
        shuffle(&mut order, seed);
        let out = format!("shuffled-{seed}");
        for n in 1..=order.len() {
            let of = |is_ce| -> Vec<String> {
                let some = order[..n].iter().filter(|log| log.0 == is_ce);
                some.map(|log| log.1.clone()).collect()
            };
            // A source must have some file, and an empty list of CE logs is none at all.
            if !(of(true).is_empty() || of(false).is_empty()) {
                scene.run(&pipeline(&of(true), &of(false)), &out);
            }
        }
        assert_same(&scene.lake(&out), &expected, &format!("{order:?}"));
        assert_eq!(scene.findings(&out), []);
    }
}

/// A log of the CE that comes a night late costs the logs that hold a version of its jobs, and no others.
#[test]
fn a_late_line_costs_the_files_of_its_jobs_alone() {
    let (scene, ce, mut batch) = scene();
    // The third day repeats the row of job 1 of the first day, with more columns.
    let copy = job(1, 4000).replace("resources_used.mem=10kb ", "resources_used.mem=11kb ");
    batch.push("data/pbs-3".to_owned());
    scene.write(&batch[3], [copy, job(8, 2 * DAY + 6000)].concat().as_bytes());
    scene.run(&pipeline(&ce, &batch), "at-once");
    let expected = scene.lake("at-once");
    for (late, again_n) in [(0, 3), (1, 1), (2, 1)] {
        let out = format!("late-{late}");
        let mut before = ce.clone();
        before.remove(late);
        scene.run(&pipeline(&before, &batch), &out);
        let report = scene.run(&pipeline(&ce, &batch), &out);
        // The CE's log itself, and those with its jobs: of the first night's 1 and 2 these are three.
        assert_eq!(report.files_read_n, 1 + again_n, "{late}");
        assert_same(&scene.lake(&out), &expected, &out);
        assert_eq!(scene.findings(&out), []);
        assert_eq!(scene.run(&pipeline(&ce, &batch), &out).files_read_n, 0);
    }
}

/// Lines that name neither host nor job of the CE: the late one decides all the same, and another one with
/// the same costs nothing.
#[test]
fn a_late_line_counts_whatever_it_leaves_open() {
    let (scene, ..) = scene();
    let bare = |vo: &str, at: i64, dn: &str| {
        let line = line(1, at, vo).replace("CN=User 1\"", &format!("CN={dn}\""));
        let without = |line: String, key: &str| {
            let from = line.find(&format!("\"{key}=")).unwrap();
            let until = from + line[from + 1..].find('"').unwrap() + 3;
            format!("{}{}", &line[..from], &line[until..])
        };
        without(without(line, "ceID"), "jobID")
    };
    let batch = vec!["data/pbs-x".to_owned()];
    scene.write(&batch[0], [job(1, 4000), job(5, 5000)].concat().as_bytes());
    let first = [line(1, 10, "atlas"), bare("atlas", 10, "a"), bare("atlas", 10, "a")];
    let later = [bare("cms", 500, "a"), bare("cms", 500, "a"), bare("atlas", 500, "b")];
    for (nth, (first, later)) in first.into_iter().zip(later).enumerate() {
        let ce = [format!("data/ce-{nth}-0"), format!("data/ce-{nth}-1")];
        scene.write(&ce[0], first.as_bytes());
        scene.write(&ce[1], later.as_bytes());
        let (at_once, nightly) = (format!("bare-{nth}"), format!("bare-{nth}-nightly"));
        scene.run(&pipeline(&ce, &batch), &at_once);
        scene.run(&pipeline(&ce[..1], &batch), &nightly);
        let report = scene.run(&pipeline(&ce, &batch), &nightly);
        assert_eq!(report.files_read_n, 2, "{nth}");
        assert_same(&scene.lake(&nightly), &scene.lake(&at_once), &nightly);
        // The same row again, and later: nothing to be rebuilt.
        let more = format!("data/ce-{nth}-2");
        scene.write(&more, later.replace("00:08:20", "00:08:21").as_bytes());
        let report = scene.run(&pipeline(&[&ce[..], &[more]].concat(), &batch), &nightly);
        assert_eq!(report.files_read_n, 1, "{nth}");
    }
}

/// A log of the CE that comes when the jobs' own log is gone changes nothing, until that is back.
#[test]
fn what_cannot_be_completed_now_is_remembered() {
    let (scene, ce, batch) = scene();
    scene.run(&pipeline(&ce, &batch), "at-once");
    scene.run(&pipeline(&ce[1..], &batch), "lake");
    assert_eq!(identities(&scene, "lake")["1.lrms"][0].as_deref(), Some("local"));
    let (old, away) = (scene.path(&batch[0]), scene.path("away"));
    fs::rename(&old, &away).unwrap();
    scene.run(&pipeline(&ce, &batch[1..]), "lake");
    assert_eq!(identities(&scene, "lake")["1.lrms"][0].as_deref(), Some("local"));
    assert_eq!(scene.findings("lake"), []);
    fs::rename(&away, &old).unwrap();
    scene.run(&pipeline(&ce, &batch), "lake");
    assert_same(&scene.lake("lake"), &scene.lake("at-once"), "back");
}

#[test]
fn threads_and_memory_do_not_matter() {
    let (scene, ce, batch) = scene();
    scene.run(&pipeline(&ce, &batch), "lake");
    for (threads, memory) in [(1, None), (4, Some(1))] {
        let options = RunOptions {
            threads: Some(threads),
            memory_byte_n: memory,
            ..RunOptions::default()
        };
        let out = format!("threads-{threads}");
        scene.run_with(&pipeline(&ce, &batch), &out, options);
        assert_same(&scene.lake(&out), &scene.lake("lake"), &out);
    }
}

#[test]
fn blah_completes_batch_logs_and_nothing_else() {
    let (scene, ce, _) = scene();
    let wrong = Pipeline::of(Source {
        name: "ce",
        paths: ce.clone(),
        keys: format!("format = \"blah\"\nblah = {ce:?}\n"),
    });
    let Err(why) = scene.try_run(&wrong, "lake", RunOptions::default()) else {
        panic!("a mistake is taken");
    };
    assert!(why.to_string().contains("blah does nothing for blah"), "{why}");
    // Alone they hold no usage: every line is counted, none is a job.
    let alone = Pipeline::of(Source {
        name: "ce",
        paths: ce,
        keys: "format = \"blah\"\n".to_owned(),
    });
    let report = scene.run(&alone, "lake");
    assert_eq!(report.reasons.get("out_of_scope/grid_identity"), Some(&8));
}

const PSEUDONYMS: &str =
    "[privacy]\nglobal_user = \"pseudonym\"\nuser = \"drop\"\nrotate = \"month\"\nkey = { file = \"key\" }\n";

/// A late line counts by what would be written of it: under another pseudonym, or another VO by the rule; and what is
/// not written of it costs nothing.
#[test]
fn a_late_line_counts_by_what_becomes_of_it() {
    let (scene, ..) = scene();
    scene.write("key", b"a key that only the accounting office knows\n");
    scene.write("data/apart.csv", b"vo,to_vo\natlas,ATLAS\ncms,CMS\n");
    scene.write("data/alike.csv", b"vo,to_vo\natlas,LHC\ncms,LHC\n");
    scene.write(
        "data/users.csv",
        b"user,vo,to_vo\nu1,atlas,ATLAS\nu1,cms,CMS\n*,*,other\n",
    );
    scene.write("data/subjects.csv", b"global_user,to_vo\n/DC=org/CN=a,A\n*,other\n");
    let batch = vec!["data/pbs-x".to_owned()];
    scene.write(&batch[0], [job(1, 4000), job(5, 5000)].concat().as_bytes());
    // A VO and no more, and no id of the CE.
    let bare = |vo: &str, at: i64, dn: &str| {
        let line = line(1, at, vo).replace(&format!("/{vo}/uk/Role=production"), vo);
        line.replace("CN=User 1\"", &format!("CN={dn}\""))
            .replace(&format!(" \"jobID=CE1at{at}\""), "")
    };
    let first = bare("atlas", 10, "a");
    let (other_user, other_vo) = (bare("atlas", 500, "b"), bare("cms", 500, "a"));
    let drops = "[privacy]\nglobal_user = \"drop\"\nuser = \"drop\"\n";
    let table = |name: &str| format!("vo = {{ table = \"data/{name}.csv\" }}\n");
    // Another VOMS name is another record, whatever the VO is made of.
    let cases = [
        (PSEUDONYMS.to_owned(), &other_user, true),
        (PSEUDONYMS.to_owned(), &other_vo, true),
        (drops.to_owned(), &other_user, false),
        (table("apart"), &other_vo, true),
        (table("alike"), &other_vo, true),
        (table("apart") + PSEUDONYMS, &other_vo, true),
        (table("subjects") + drops, &other_user, true),
        (table("subjects") + drops, &other_vo, true),
        (table("users") + drops, &other_vo, true),
        ("vo = { column = \"vo\" }\n".to_owned(), &other_vo, true),
        ("vo = { column = \"account\" }\n".to_owned(), &other_vo, true),
        ("vo = { value = \"v\" }\n".to_owned(), &other_vo, true),
    ];
    for (nth, (keys, later, is_late)) in cases.into_iter().enumerate() {
        let ce = [format!("data/ce-{nth}-0"), format!("data/ce-{nth}-1")];
        scene.write(&ce[0], first.as_bytes());
        scene.write(&ce[1], later.as_bytes());
        let with = |ce: &[String]| {
            let mut pipeline = pipeline(ce, &batch);
            pipeline.sources[0].keys += &keys;
            pipeline
        };
        let (at_once, nightly) = (format!("fate-{nth}"), format!("fate-{nth}-nightly"));
        scene.run(&with(&ce), &at_once);
        scene.run(&with(&ce[..1]), &nightly);
        let report = scene.run(&with(&ce), &nightly);
        assert_eq!(report.files_read_n, if is_late { 2 } else { 1 }, "{keys}{later}");
        assert_same(&scene.lake(&nightly), &scene.lake(&at_once), &format!("{keys}{later}"));
        assert_eq!(scene.findings(&nightly), []);
        // The same row again, and later: nothing to be rebuilt.
        let more = format!("data/ce-{nth}-2");
        scene.write(&more, later.replace("00:08:20", "00:08:21").as_bytes());
        let report = scene.run(&with(&[&ce[..], &[more]].concat()), &nightly);
        assert_eq!(report.files_read_n, 1, "{keys}{later}");
    }
    // What decides is withheld, and the log of before is gone: the VOMS name shows that the record is another.
    let mut pipeline = pipeline(&["data/ce-8-0".to_owned()], &batch);
    pipeline.sources[0].keys += &(table("users") + drops);
    scene.run(&pipeline, "gone");
    pipeline.sources[0].keys = pipeline.sources[0].keys.replace("ce-8-0", "ce-8-1");
    let report = scene.run(&pipeline, "gone");
    assert_eq!(report.files_read_n, 2);
}

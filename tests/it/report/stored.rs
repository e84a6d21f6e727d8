//! What is sent is what the server holds: every kind of message, loaded into a model of the server.

use std::collections::BTreeMap;
use std::process::Command;

use gridtally::report::apel::MessageKind;
use gridtally::report::apel::check::message;
use gridtally::report::apel::publish::{ApelRequest, Published, publish};
use gridtally::report::apel::users::Users;
use gridtally::report::lake::Lake;
use gridtally::report::publication::message_record::MessageRecord;

use super::corrected::lake as sample;
use super::scene::Scene;
use super::server::Server;
use crate::support::collect::shared;

/// Sums by site and month.
pub(super) type Totals = BTreeMap<(String, String), [i128; 3]>;

pub(super) fn publish_all(lake: &Lake, kind: MessageKind) -> (Published, Vec<String>) {
    let mut texts = Vec::new();
    let request = ApelRequest {
        kinds: vec![kind],
        users: Users::Keep,
        batch_records: 7,
        is_leaving_out: true,
        ..ApelRequest::default()
    };
    let published = publish(lake, &request, &mut |_, _, _, _, text| {
        texts.push(text);
        Ok(())
    })
    .unwrap();
    (published, texts)
}

fn stored(texts: &[String]) -> Server {
    let mut server = Server::default();
    for text in texts {
        server.load(text).unwrap();
    }
    server.summarise();
    server
}

pub(super) fn sent(published: &Published) -> Totals {
    let mut totals = Totals::new();
    for ((_, site, month), sent) in &published.sent {
        let sums = totals.entry((site.clone(), month.to_string())).or_default();
        for (sum, more) in sums.iter_mut().zip([sent.job_n, sent.wall_s, sent.cpu_s]) {
            *sum += i128::from(more);
        }
    }
    totals.retain(|_, sums| *sums != [0; 3]);
    totals
}

/// The server holds what was sent, in every kind.
fn holds_all(lake: &Lake) {
    let mut of_jobs: Option<i128> = None;
    for kind in MessageKind::ALL {
        let (published, texts) = publish_all(lake, kind);
        let server = stored(&texts);
        let sent = sent(&published);
        assert!(!sent.is_empty());
        if kind == MessageKind::Sync {
            let counted: BTreeMap<_, i128> = sent.iter().map(|(place, sums)| (place.clone(), sums[0])).collect();
            assert_eq!(server.counted(), counted);
            continue;
        }
        assert_eq!(server.totals(), sent, "{}", kind.as_str());
        let job_n = sent.values().map(|sums| sums[0]).sum::<i128>();
        assert_eq!(*of_jobs.get_or_insert(job_n), job_n, "{}", kind.as_str());
    }
}

/// HS06 is known of some jobs of a group, or ends within the month: the server counts all of them by HS23.
#[test]
fn no_job_of_the_sample_is_lost_on_the_server() {
    let scene = Scene::new();
    holds_all(&sample(&scene, ""));
}

#[test]
fn no_golden_job_is_lost_on_the_server() {
    let Some(folder) = shared("no_golden_job_is_lost_on_the_server", "data/apel/golden/messages") else {
        return;
    };
    let scene = Scene::new();
    let files = [
        "0001-job-v0.3-grid.msg",
        "0002-job-v0.4-dict.msg",
        "0003-job-v0.3-local.msg",
    ]
    .map(|name| folder.join(name));
    let files: Vec<_> = files.iter().map(std::path::PathBuf::as_path).collect();
    holds_all(&scene.of_messages("lake", &files));
}

const SACCT: &str = "JobIDRaw|JobID|Cluster|Submit|Start|End|ElapsedRaw|State|NCPUS|NNodes|AllocTRES|TotalCPU|Account|User|Partition\n\
    1|1|alp|2026-03-01T10:00:00|2026-03-01T11:00:00|2026-03-01T12:00:00|3600|COMPLETED|2|1|cpu=2|01:00:00|reef|anna|main\n\
    2|2|alp|2026-03-01T10:00:00|2026-03-20T11:00:00|2026-03-20T12:00:00|3600|COMPLETED|2|1|cpu=2|01:00:00|reef|anna|main\n\
    3|3|alp|2026-03-01T10:00:00|2026-03-20T11:00:00|2026-03-20T12:00:00|3600|COMPLETED|2|1|cpu=2|01:00:00|réef|anna|main\n\
    1|1|bow|2026-03-01T10:00:00|2026-03-01T11:00:00|2026-03-01T12:00:00|3600|COMPLETED|2|1|cpu=2|01:00:00|kelp|anna|main\n";

/// A lake of jobs whose HS06 ends in mid-month; one VO is spelled with an accent, and one job number is used by two clusters
/// at once.
fn awkward(scene: &Scene) -> Lake {
    scene.write("dump.txt", SACCT);
    scene.write(
        "b.csv",
        "site,cluster,benchmark,value_per_core,valid_from,valid_to\nALP,,hs06,10.5,,2026-03-10\nALP,,hs23,12,,\n",
    );
    let source = "format = \"sacct\"\npaths = [\"dump.txt\"]\nsite = \"ALP\"\ntimezone = \"UTC\"\nvo = { column = \"account\" }\n";
    scene.lake(
        "alp",
        source,
        "[normalise]\nbenchmarks = \"b.csv\"\nmissing = \"null\"\n",
    )
}

#[test]
fn rows_of_one_key_on_the_server_are_added_up() {
    let scene = Scene::new();
    let lake = awkward(&scene);
    for kind in [
        MessageKind::SummaryV02,
        MessageKind::SummaryV04,
        MessageKind::NormalisedV03,
        MessageKind::NormalisedV04,
    ] {
        let (published, texts) = publish_all(&lake, kind);
        let reported: Vec<MessageRecord> = texts
            .iter()
            .flat_map(|text| MessageRecord::read(text).unwrap())
            .collect();
        let of_reef: Vec<&MessageRecord> = reported.iter().filter(|reported| reported.vo() == "reef").collect();
        let [reef] = of_reef.as_slice() else {
            panic!("{}: {reported:#?}", kind.as_str())
        };
        assert_eq!(reef.job_n(), 3, "{}", kind.as_str());
        // A field known of some of the jobs only is reported for none.
        let text = reef.text();
        assert!(!text.contains("HEPSPEC") && text.contains("HEPscore23"), "{text}");
        assert_eq!(stored(&texts).totals(), sent(&published));
    }
}

/// The key of a job is its site, number and end: of two clusters' jobs the server would keep one.
#[test]
fn jobs_of_one_key_on_the_server_are_refused_before_they_are_sent() {
    let scene = Scene::new();
    let lake = awkward(&scene);
    for kind in [MessageKind::JobV03, MessageKind::JobV04] {
        let request = ApelRequest {
            kinds: vec![kind],
            batch_records: 10,
            ..ApelRequest::default()
        };
        let error = publish(&lake, &request, &mut |_, _, _, _, _| Ok(()))
            .unwrap_err()
            .to_string();
        assert!(error.contains("1 same_key"), "{error}");
        let (published, texts) = publish_all(&lake, kind);
        assert_eq!(stored(&texts).job_totals(), sent(&published));
        assert!(published.left_out_lines().iter().any(|line| line.contains("same_key")));
    }
}

fn normalised(vo: &str, work: &str, job_n: i64) -> String {
    format!(
        "Site: REEF\nMonth: 3\nYear: 2026\nVO: {vo}\nNodeCount: 1\nProcessors: 8\nWallDuration: 10\nCpuDuration: 10\n\
         NormalisedWallDuration: {work}\nNormalisedCpuDuration: {work}\nNumberOfJobs: {job_n}\n%%\n"
    )
}

fn check(scene: &Scene, folder: &str) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_gridtally"))
        .args(["report", "check-apel", "--format", "csv"])
        .arg(scene.path(folder))
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code().unwrap(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn check_apel_finds_records_that_replace_one_another() {
    let header = MessageKind::NormalisedV04.header();
    let scene = Scene::new();
    let (old, new) = ("{HEPSPEC: 9, HEPscore23: 10}", "{HEPscore23: 10}");
    // In one message and in two; by the benchmark and by letters.
    scene.write(
        "one/1",
        &format!(
            "{header}\n{}{}",
            normalised("kelp", old, 119),
            normalised("kelp", new, 405)
        ),
    );
    scene.write("two/1", &format!("{header}\n{}", normalised("kelp", old, 119)));
    scene.write("two/2", &format!("{header}\n{}", normalised("Kelp", old, 405)));
    for folder in ["one", "two"] {
        let (code, table, people) = check(&scene, folder);
        assert_eq!(code, 65, "{table}{people}");
        assert!(
            table.contains("/1,1,replaced,") && table.contains("405 jobs for 119"),
            "{table}"
        );
        assert!(
            people.contains("NormalisedSummaries: the server would hold 405 of 524 jobs"),
            "{people}"
        );
        assert!(people.contains("1 replaced by others"), "{people}");
    }
    // Nothing is lost where a later message repeats the same key unchanged.
    scene.write("again/1", &format!("{header}\n{}", normalised("kelp", old, 119)));
    scene.write("again/2", &format!("{header}\n{}", normalised("kelp", old, 120)));
    let (code, table, people) = check(&scene, "again");
    assert_eq!(code, 0, "{table}{people}");
    assert!(table.contains("/1,1,republished,"), "{table}");
    // Numbers of jobs are texts: 7 and 007 are two.
    let job = |id: &str| {
        format!(
            "Site: S\nLocalJobId: {id}\nWallDuration: 1\nCpuDuration: 1\nStartTime: 1772366400\nEndTime: 1772366401\n\
             ServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n"
        )
    };
    scene.write(
        "jobs/1",
        &format!("APEL-individual-job-message: v0.3\n{}{}", job("7"), job("007")),
    );
    assert_eq!(
        message(&std::fs::read_to_string(scene.path("jobs/1")).unwrap(), None),
        []
    );
    assert_eq!(check(&scene, "jobs").0, 0);
    scene.write(
        "jobs/2",
        &format!("APEL-individual-job-message: v0.3\n{}{}", job("a7"), job("A7")),
    );
    let (code, table, _) = check(&scene, "jobs");
    assert!(code == 65 && table.contains("/2,1,replaced,"), "{table}");
}

/// What the messages of the sample state as VOMS name, by job.
fn stated_voms_names() -> BTreeMap<String, String> {
    let files = crate::generator::sample::files();
    let messages = files.iter().filter(|(path, _)| path.starts_with("bay/apel/"));
    let texts = messages.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned());
    let mut names = BTreeMap::new();
    for record in texts.collect::<Vec<_>>().iter().flat_map(|text| text.split("%%")) {
        let word = |key: &str| {
            record
                .lines()
                .find_map(|line| line.strip_prefix(key))
                .map(str::to_owned)
        };
        if let Some((id, fqan)) = word("LocalJobId: ").zip(word("FQAN: ")) {
            names.insert(id, fqan);
        }
    }
    names
}

/// A VOMS name is sent as it was received, capabilities and further names included, and not of a VO that was corrected.
#[test]
fn jobs_send_their_voms_names_as_received() {
    let scene = Scene::new();
    let lake = sample(
        &scene,
        "C1,remap,BAY/GRID,2026-04,seabird,,,drift,,,,,,,E. Office,moved for a month,2026-05-02\n",
    );
    let stated = stated_voms_names();
    assert!(stated.values().any(|name| name.contains(';')) && stated.len() > 200);
    for kind in [MessageKind::JobV03, MessageKind::JobV04] {
        let (_, texts) = publish_all(&lake, kind);
        let (mut named, mut corrected) = (0, 0);
        for reported in texts.iter().flat_map(|text| MessageRecord::read(text).unwrap()) {
            let id = reported.word("LocalJobId").unwrap();
            let own = Some(id).filter(|_| reported.word("Site") == Some("BAY/GRID"));
            let own = own.and_then(|id| stated.get(id)).map(String::as_str);
            if reported.word("VO") == Some("drift") {
                assert_eq!(reported.word("FQAN"), None);
                corrected += 1;
            } else {
                assert_eq!(reported.word("FQAN"), own, "{reported:?}");
                named += usize::from(own.is_some());
            }
        }
        assert!(named > 100 && corrected > 10, "{named} {corrected}");
        let drift = stored(&texts);
        let drift = drift.jobs.values().filter(|row| row["VO"] == "drift").count();
        assert_eq!(drift, corrected);
    }
}

/// A name that no message can carry is left out, and its job is not.
#[test]
fn a_voms_name_that_cannot_be_sent_costs_no_job() {
    let scene = Scene::new();
    let long = format!("/kelp/{}", "k".repeat(300));
    let jobs: Vec<String> = ["/kelp/Role=pilot/Capability=100%%", &long, "/kelp/Role=pilot/Capability=NULL"]
        .iter()
        .zip(1..)
        .map(|(fqan, id)| {
            format!(
                "{{\"GlobalJobId\":\"ce#{id}\",\"JobStatus\":4,\"Owner\":\"a\",\"JobStartDate\":1772366400,\
                 \"EnteredCurrentStatus\":1772370000,\"RemoteWallClockTime\":3600,\"RemoteUserCpu\":60,\"RemoteSysCpu\":1,\
                 \"RequestCpus\":1,\"x509UserProxyFirstFQAN\":\"{fqan}\"}}\n"
            )
        })
        .collect();
    scene.write("jobs.json", &jobs.concat());
    scene.write(
        "lake.toml",
        "[pipeline]\nname = \"lake\"\noutput = \"lake\"\n\
         [[source]]\nname = \"s\"\nformat = \"htcondor\"\npaths = [\"jobs.json\"]\nsite = \"FELL\"\n\
         [normalise]\nbenchmarks = \"benchmarks.csv\"\nmissing = \"null\"\n",
    );
    scene.write(
        "benchmarks.csv",
        "site,valid_from,valid_to,benchmark,value_per_core\nFELL,2026-01-01,,hs23,10\n",
    );
    let lake = scene.run("lake");
    let (published, texts) = publish_all(&lake, MessageKind::JobV04);
    assert_eq!(published.left_out_lines(), [""; 0]);
    let reported: Vec<MessageRecord> = texts
        .iter()
        .flat_map(|text| MessageRecord::read(text).unwrap())
        .collect();
    let names: Vec<_> = reported
        .iter()
        .map(|reported| (reported.word("VO"), reported.word("FQAN")))
        .collect();
    let expected = [None, None, Some("/kelp/Role=pilot/Capability=NULL")].map(|name| (Some("kelp"), name));
    assert_eq!(names.len(), 3);
    assert!(expected.iter().all(|row| names.contains(row)), "{names:?}");
}

/// Additions of corrections have no benchmark: messages cannot express them, and their hours are reported.
#[test]
fn hours_that_corrections_add_are_reported_when_they_are_left_out() {
    let scene = Scene::new();
    let lake = sample(
        &scene,
        "C4,add,ALP-T2,2026-02,reef,a,,,,12,3600,28800,1800000,,E. Office,log lost,2026-04-03\n\
         C5,add,BAY/GRID,2026-02,kelp,a,,,,0,,7200,,,E. Office,wall time unknown,2026-04-03\n",
    );
    for kind in MessageKind::ALL {
        let (published, _) = publish_all(&lake, kind);
        let lines = published.left_out_lines().join("\n");
        for stated in [
            "12 jobs left out: added_by_correction (correction C4 of ALP-T2 2026-02: wall hours 1, core hours 8, CPU hours 0.5)",
            "0 jobs left out: added_by_correction (correction C5 of BAY/GRID 2026-02: wall hours unknown, core hours 2, CPU hours \
             unknown)",
        ] {
            assert!(lines.contains(stated), "{}: {lines}", kind.as_str());
        }
        let strict = ApelRequest {
            kinds: vec![kind],
            batch_records: 100,
            ..ApelRequest::default()
        };
        let error = publish(&lake, &strict, &mut |_, _, _, _, _| Ok(()))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("12 added_by_correction (correction C4 of ALP-T2"),
            "{error}"
        );
    }
}

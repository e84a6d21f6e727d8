//! Names of people in every output: withheld from exports unless requested, and nowhere where
//! `[privacy]` withholds them.

use std::process::{Command, Output};

use super::scene::Scene;

/// Names as people bear them: a local user and group of Slurm, a subject and a local user of the grid.
const NAMES: [&str; 5] = ["wendeline", "quarkgroup", "Wendeline Quark", "wquark", "thesis-of-w"];

const SACCT: &str = "\
Cluster|JobIDRaw|JobID|JobName|Partition|Account|Group|User|Submit|Start|End|ElapsedRaw|State|NNodes|NCPUS|AllocTRES|TotalCPU
c1|1|1|thesis-of-w|cpu|firn|quarkgroup|wendeline|2026-01-10T10:00:00|2026-01-10T10:00:00|2026-01-10T11:00:00|3600|COMPLETED|1|4|cpu=4,mem=8G,node=1|01:00:00
c1|2|2|thesis-of-w|cpu|firn|quarkgroup|wendeline|2026-01-11T10:00:00|2026-01-11T10:00:00|2026-01-11T11:00:00|much|COMPLETED|1|4|cpu=4,mem=8G,node=1|01:00:00
c1|3|3|thesis-of-w|cpu|firn|quarkgroup|wendeline|2026-01-12T10:00:00|2026-01-12T10:00:00|2026-01-12T11:00:00|3600|COMPLETED
";

const JOBS: &str = "APEL-individual-job-message: v0.3
Site: GRID-A
SubmitHost: ce.example:8443/x
LocalJobId: 77
LocalUserId: wquark
GlobalUserName: /DC=example/CN=Wendeline Quark
VO: firn
WallDuration: 3600
CpuDuration: 1800
Processors: 1
StartTime: 1768050000
EndTime: 1768053600
InfrastructureDescription: APEL-CREAM-PBS
InfrastructureType: grid
ServiceLevelType: HEPSPEC
ServiceLevel: 10
%%
";

const SUMMARIES: &str = "APEL-summary-job-message: v0.2
Site: GRID-B
Month: 1
Year: 2026
GlobalUserName: /DC=example/CN=Wendeline Quark
VO: firn
SubmitHost: ce.example
InfrastructureType: grid
ServiceLevelType: HEPSPEC
ServiceLevel: 10
NodeCount: 1
Processors: 1
EarliestEndTime: 1768050000
LatestEndTime: 1768053600
WallDuration: 3600
CpuDuration: 1800
NumberOfJobs: 3
%%
";

const PRIVACY: &str = "[privacy]\nglobal_user = \"pseudonym\"\nuser = \"pseudonym\"\nuser_group = \"drop\"\njob_name = \"drop\"\n\
                       rotate = \"year\"\nkey = { file = \"key\" }\n";

fn scene() -> Scene {
    let scene = Scene::new();
    scene.write("in/sacct.txt", SACCT);
    scene.write("in/jobs.msg", JOBS);
    scene.write("in/summaries.msg", SUMMARIES);
    scene.write(
        "in/assoc.txt",
        "Cluster|Account|User|Share|ParentName\nc1|root|||\nc1|firn|||root\nc1|firn|wendeline|1|\n",
    );
    scene.write("key", "a key that only the accounting office knows\n");
    scene.write(
        "cores.toml",
        "id = \"cores\"\nversion = \"1\"\ntitle = \"cores\"\nsource = \"invented\"\npool = \"usd\"\nunit = \"usd\"\n\
         formula = \"cores * 0.03 * seconds / 3600\"\n[[example]]\nname = \"one\"\nin = { cores = 2, hours = 2 }\nexpect = 0.12\n",
    );
    scene.write(
        "granted.csv",
        "project,account,policy,amount,valid_from,valid_to\nfirn,firn,cores,1000,2026-01-01,2027-01-01\n",
    );
    for (name, privacy) in [("open", ""), ("closed", PRIVACY)] {
        let text = format!(
            "[pipeline]\nname = \"p\"\noutput = \"{name}\"\nmax_rejected = 1.0\nattribution = \"by-end\"\n\
             [[source]]\nname = \"s\"\nformat = \"sacct\"\npaths = [\"in/sacct.txt\"]\nsite = \"A\"\ntimezone = \"UTC\"\n\
             vo = {{ value = \"firn\" }}\n\
             [[source]]\nname = \"g\"\nformat = \"apel\"\npaths = [\"in/*.msg\"]\n\
             [[inventory]]\nname = \"m\"\npaths = [\"in/assoc.txt\"]\nas_of = 2026-01-01\n\
             [[charge]]\npolicies = [\"cores.toml\"]\n{privacy}"
        );
        scene.write(&format!("{name}.toml"), &text);
    }
    scene
}

fn gridtally(scene: &Scene, command: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gridtally"))
        .current_dir(scene.path(""))
        .args(command.split_whitespace())
        .output()
        .unwrap()
}

/// The names in what a command prints, on both streams; it must succeed, or an answer about it proves nothing.
fn names(scene: &Scene, command: &str) -> Vec<&'static str> {
    let output = gridtally(scene, command);
    let text = [&output.stdout[..], &output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert!(output.status.success(), "{command}\n{text}");
    NAMES.into_iter().filter(|name| text.contains(name)).collect()
}

/// The exports, and the option that names people where there is one.
const REPORTED: [(&str, &str); 24] = [
    ("report apel LAKE --message job-v0.3 --leave-out", "--users keep"),
    ("report apel LAKE --message job-v0.4 --leave-out", "--users keep"),
    ("report apel LAKE --message summary-v0.2 --leave-out", "--users keep"),
    ("report apel LAKE --message summary-v0.4 --leave-out", "--users keep"),
    ("report apel LAKE --message normalised-v0.3 --leave-out", "--users keep"),
    ("report apel LAKE --message sync --leave-out", ""),
    ("report gracc LAKE", "--users keep"),
    ("report gracc LAKE --format csv", "--users keep"),
    ("report egi LAKE", ""),
    ("report wlcg LAKE", ""),
    ("report osg LAKE --format html", ""),
    ("report sreport LAKE", "--users"),
    ("report focus LAKE", ""),
    ("report balance LAKE --allocations granted.csv --on 2026-02-01", ""),
    ("report completeness LAKE", ""),
    ("report check-apel in/jobs.msg", ""),
    ("publication list LAKE", ""),
    ("reconcile LAKE in/summaries.msg", ""),
    ("summaries LAKE", ""),
    ("work LAKE --as apel", ""),
    ("verify LAKE", ""),
    ("inspect in/sacct.txt in/jobs.msg in/summaries.msg in/assoc.txt", ""),
    ("explain LAKE usage/site=A/vo=firn/allocation_year=2026", ""),
    ("explain LAKE charges/site=A/vo=firn/allocation_year=2026", ""),
];

/// What shows those who run the pipeline what the lake holds.
const SHOWN: [&str; 5] = [
    "explain LAKE 1 --inputs .",
    "explain LAKE 77 --inputs .",
    "explain LAKE 1 --inputs . --format json",
    "rejects LAKE",
    "rejects LAKE --format json",
];

#[test]
fn people_are_named_only_where_it_is_requested() {
    let scene = scene();
    for lake in ["open", "closed"] {
        let of = |command: &str| command.replace("LAKE", lake);
        let run = names(&scene, &format!("run {lake}.toml --report json"));
        assert!(lake == "open" || run.is_empty(), "{run:?}");
        for (command, option) in REPORTED {
            let command = of(command);
            assert_eq!(names(&scene, &command), [""; 0], "{command}");
            if !option.is_empty() {
                let asked = format!("{command} {option}");
                let named = names(&scene, &asked);
                assert_eq!(named.is_empty(), lake == "closed", "{asked}: {named:?}");
            }
        }
        for command in SHOWN.map(of) {
            assert_eq!(names(&scene, &command).is_empty(), lake == "closed", "{command}");
        }
        // What is sent, the book of it, and the page of a board.
        for (kind, format) in [("apel --message job-v0.3 --leave-out", "apel"), ("gracc", "gracc")] {
            let command = format!("report {kind} --receiver r-{format} --out sent-{lake}-{format}");
            let command = command.replacen(&format!("report {format}"), &format!("report {format} {lake}"), 1);
            assert_eq!(names(&scene, &command), [""; 0], "{command}");
        }
        assert_eq!(names(&scene, &format!("publication list {lake}")), [""; 0]);
        for site in ["A", "GRID-A", "GRID-B"] {
            let folder = format!("page-{lake}-{site}");
            assert_eq!(
                names(&scene, &format!("report site {lake} --site {site} --out {folder}")),
                [""; 0]
            );
            nobody(&scene, &folder);
        }
        nobody(&scene, &format!("sent-{lake}-apel"));
        nobody(&scene, &format!("sent-{lake}-gracc"));
        nobody(&scene, &format!("{lake}/publication"));
        nobody(&scene, &format!("{lake}/publication_job"));
    }
    nobody(&scene, "closed");
    // Withheld and unknown subjects are distinguished.
    let documents = gridtally(&scene, "report gracc open").stdout;
    let documents = String::from_utf8(documents).unwrap();
    assert!(
        documents.contains("\"DN\": \"withheld\"") && documents.contains("\"DN\": \"N/A\""),
        "{documents}"
    );
    // The portals warn the users themselves: their file names them by purpose.
    let warned = "report balance open --allocations granted.csv --on 2026-02-01 --for ondemand";
    assert_eq!(names(&scene, warned), ["wendeline"]);
}

/// No file below a folder holds a name, not even in a column of Parquet that is not packed.
fn nobody(scene: &Scene, folder: &str) {
    let mut folders = vec![scene.path(folder)];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            seen += 1;
            let bytes = std::fs::read(&path).unwrap();
            for name in NAMES {
                assert!(
                    memchr::memmem::find(&bytes, name.as_bytes()).is_none(),
                    "{name} in {}",
                    path.display()
                );
            }
        }
    }
    assert!(seen > 0, "{folder} holds no file");
}

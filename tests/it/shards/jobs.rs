//! What is submitted to batch systems: played by scripts that do what these do.

use gridtally::submit::calls::ProgramCalls;
use gridtally::submit::condor;
use gridtally::submit::controller::ArrayLimits;
use gridtally::submit::shell::quoted;
use gridtally::submit::slurm::{SlurmSettings, arrays, job_id, merge, ranges};

use super::scene::Site;
use crate::promises::scene::assert_same;

fn calls(shard_n: u32) -> ProgramCalls {
    ProgramCalls {
        program: "/opt/grid tally".to_owned(),
        pipeline: "/etc/it's.toml".to_owned(),
        shard_folder: "/data/$x".to_owned(),
        maps: vec!["/a=/b".to_owned()],
        out: Some("/lake".to_owned()),
        max_memory: None,
        name: "the zoo".to_owned(),
        shard_n,
    }
}

#[test]
fn numbers_are_listed_as_slurm_lists_them() {
    assert_eq!(ranges(&[]), "");
    assert_eq!(ranges(&[7]), "7");
    assert_eq!(ranges(&[1, 2, 3, 7, 9, 10]), "1-3,7,9-10");
    assert_eq!(job_id("117\n").unwrap(), "117");
    assert_eq!(job_id("sbatch: note\n117;zoo\n").unwrap(), "117");
    assert!(job_id("").is_err());
    assert!(job_id("Submitted batch job").is_err());
}

#[test]
fn an_array_has_no_index_and_no_more_tasks_than_slurm_allows() {
    let config = "MaxArraySize            = 11\nSchedulerParameters     = bf_interval=5,max_array_tasks=4\n";
    let limits = ArrayLimits::parse(config).unwrap();
    assert_eq!((limits.index_most, limits.task_n), (10, 4));
    assert_eq!(ArrayLimits::parse("").unwrap().index_most, 1000);
    assert!(ArrayLimits::parse("MaxArraySize = 0").is_err());
    let shards: Vec<u32> = (1..=25).collect();
    let settings = SlurmSettings {
        running_most: Some(3),
        ..SlurmSettings::default()
    };
    let all = arrays(&calls(25), &shards, limits, &settings);
    let mut read = Vec::new();
    for array in &all {
        let line = |start: &str| {
            array
                .script
                .lines()
                .find_map(|line| line.strip_prefix(start))
                .unwrap()
                .to_owned()
        };
        let indexes = line("#SBATCH --array=");
        let (indexes, most) = indexes.split_once('%').unwrap();
        assert_eq!(most, "3");
        let offset = line("shard=").replace("${SLURM_ARRAY_TASK_ID}", "0");
        let offset: u32 = offset
            .trim_start_matches("$((")
            .split(' ')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        let (first, last) = indexes.split_once('-').unwrap_or((indexes, indexes));
        let indexes = first.parse::<u32>().unwrap()..=last.parse().unwrap();
        assert!(indexes.clone().count() <= 4 && *indexes.end() <= 10, "{}", array.script);
        read.extend(indexes.map(|index| index + offset));
    }
    assert_eq!(read, shards);
    let plain = arrays(
        &calls(64),
        &[3, 7, 64],
        ArrayLimits::parse("").unwrap(),
        &SlurmSettings::default(),
    );
    assert_eq!(plain.len(), 1);
    assert!(
        plain[0].script.contains("#SBATCH --array=3,7,64\n"),
        "{}",
        plain[0].script
    );
    let merge = merge(&calls(64), &["5".to_owned(), "6".to_owned()], &SlurmSettings::default());
    assert!(
        merge.words.contains(&"--dependency=afterok:5:6".to_owned()),
        "{merge:?}"
    );
}

#[test]
fn words_of_scripts_are_quoted() {
    assert_eq!(quoted("a b"), "'a b'");
    assert_eq!(quoted("it's"), r"'it'\''s'");
    assert_eq!(quoted(""), "''");
    let script = &arrays(
        &calls(2),
        &[1, 2],
        ArrayLimits::parse("").unwrap(),
        &SlurmSettings::default(),
    )[0]
    .script;
    let exec = script.lines().last().unwrap();
    assert_eq!(
        exec,
        r#"exec '/opt/grid tally' run '/etc/it'\''s.toml' --shard "${shard}/2" --shard-folder '/data/$x' --map /a=/b --threads "${SLURM_CPUS_PER_TASK:-1}""#
    );
    assert!(script.contains("--job-name=gridtally-the-zoo-shard\n"), "{script}");
}

#[test]
fn a_graph_has_a_node_for_each_shard_and_a_merge_behind_them() {
    let files = condor::files(&calls(9), &[2, 5], &["request_memory = 2048".to_owned()]);
    let text = |name: &str| files.iter().find(|file| file.name == name).unwrap().text.clone();
    assert_eq!(
        text("scale-out.dag"),
        "# Shards of the-zoo, and their merge\nJOB shard2 shard.sub\nVARS shard2 shard=\"2\"\nRETRY shard2 2\n\
         JOB shard5 shard.sub\nVARS shard5 shard=\"5\"\nRETRY shard5 2\nJOB merge merge.sub\nPARENT shard2 CHILD merge\n\
         PARENT shard5 CHILD merge\n"
    );
    let shard = text("shard.sub");
    assert!(shard.contains("executable = /opt/grid tally\n"), "{shard}");
    assert!(
        shard.contains(
            "arguments = \"run '/etc/it''s.toml' --shard $(shard)/9 --shard-folder /data/$(DOLLAR)x --map /a=/b\"\n"
        ),
        "{shard}"
    );
    assert!(shard.ends_with("request_memory = 2048\nqueue\n"), "{shard}");
    assert!(text("merge.sub").contains("--out /lake\"\n"), "{}", text("merge.sub"));
}

/// Plays Slurm: an array runs at once, a merge after it; tasks in `lost` do nothing.
fn slurm(site: &Site) {
    site.program(
        "scontrol",
        "echo \"$@\" >> scontrol.calls; echo 'MaxArraySize            = 5'",
    );
    site.program(
        "sbatch",
        "echo \"$@\" >> sbatch.calls\nid=$(wc -l < sbatch.calls)\ncat > job.$id\n\
         indexes=$(sed -n 's/^#SBATCH --array=//p' job.$id | tr ',' ' ')\n\
         for range in $indexes; do\n  first=${range%-*}; last=${range#*-}\n  for index in $(seq $first $last); do\n\
         if grep -qx $id:$index lost 2>/dev/null; then continue; fi\n\
         SLURM_ARRAY_TASK_ID=$index sh job.$id > out.$id.$index 2>&1 || exit 1\n  done\ndone\n\
         if [ -z \"$indexes\" ]; then sh job.$id > merge.$id 2>&1; fi\necho $id",
    );
}

#[test]
fn an_array_is_submitted_and_what_is_missing_once_more() {
    let site = Site::new(11);
    slurm(&site);
    site.sound(&["run", "zoo.toml", "--out", "whole"]);
    let plan = site.sound(&["plan", "zoo.toml", "--shards", "11"]);
    assert!(plan.starts_with("11 files in 11 shards of "), "{plan}");
    // Nothing is submitted where that is only shown.
    let shown = site.sound(&["submit", "slurm", "zoo.toml", "--dry-run"]);
    assert!(
        shown.contains("#SBATCH --array=1-4\n") && shown.contains("afterok:ARRAY1:ARRAY2:ARRAY3"),
        "{shown}"
    );
    assert!(!site.path("sbatch.calls").exists());
    // Shards 2 and 7 (index 3 of the second array) are lost.
    site.write("lost", "1:2\n2:3\n");
    let printed = site.sound(&["submit", "slurm", "zoo.toml", "--slurm-option=--partition=cpu"]);
    assert_eq!(printed, "11 shards in 3 arrays (1 2 3), merge 4\n");
    let refusal = site.text("merge.4");
    assert!(
        refusal.contains("shard 2 is missing") && refusal.contains("shard 7 is missing"),
        "{refusal}"
    );
    assert!(!site.path("lake/manifest.json").exists());
    let progress = site.sound(&["submit", "progress", "zoo.toml"]);
    assert!(
        progress.starts_with("9 of 11 shards are done: ") && progress.ends_with("missing: 2,7\n"),
        "{progress}"
    );
    let calls = site.text("sbatch.calls");
    assert_eq!(calls.lines().count(), 4);
    assert!(
        calls.lines().all(|line| line.starts_with("--parsable --partition=cpu")),
        "{calls}"
    );
    assert!(
        calls.contains("--dependency=afterok:1:2:3 --kill-on-invalid-dep=yes"),
        "{calls}"
    );
    // Only these are submitted again, with a merge.
    let printed = site.sound(&["submit", "slurm", "zoo.toml", "--missing"]);
    assert_eq!(printed, "2 shards in 2 arrays (5 6), merge 7\n");
    assert_eq!(site.text("job.5").matches("--array=2\n").count(), 1);
    assert_same(&site.lake("lake"), &site.lake("whole"), "after the second array");
    assert!(
        site.sound(&["submit", "progress", "zoo.toml", "--watch", "1"])
            .starts_with("11 of 11 shards")
    );
    // The controller was asked for its limits, once for each submission.
    assert_eq!(site.text("scontrol.calls"), "show config\n".repeat(3));
}

#[test]
fn a_batch_system_that_is_not_there_or_refuses_is_named() {
    let site = Site::new(2);
    let (code, why) = site.refused(&["submit", "slurm", "zoo.toml"]);
    assert!(code == 66 && why.contains("gridtally plan --shards N"), "{code} {why}");
    site.sound(&["plan", "zoo.toml", "--shards", "2"]);
    site.program("scontrol", "echo 'MaxArraySize = 1001'");
    site.program("sbatch", "echo 'invalid partition' >&2; exit 1");
    let (code, why) = site.refused(&["submit", "slurm", "zoo.toml"]);
    assert!(
        code == 74 && why.contains("sbatch failed") && why.contains("invalid partition"),
        "{code} {why}"
    );
    let (code, why) = site.refused(&["run", "zoo.toml", "--map", "/a=/b"]);
    assert!(code == 2 && why.contains("--shard"), "{code} {why}");
    let (code, _) = site.refused(&["run", "zoo.toml", "--shard", "3/2"]);
    assert_eq!(code, 2);
    let (code, _) = site.refused(&["run", "zoo.toml", "--shard", "1/2", "--out", "x"]);
    assert_eq!(code, 2);
}

#[test]
fn a_graph_is_written_next_to_the_list_and_given_to_dagman() {
    let site = Site::new(3);
    site.program("condor_submit_dag", "echo \"$@\" >> dag.calls; echo submitted");
    site.sound(&["plan", "zoo.toml", "--shards", "3"]);
    site.sound(&["run", "zoo.toml", "--shard", "2/3"]);
    site.sound(&["submit", "condor", "zoo.toml", "--missing", "--running-most", "5"]);
    let dag = site.path("zoo.shards/scale-out.dag");
    assert_eq!(
        site.text("dag.calls"),
        format!("-f -usedagdir -maxjobs 5 {}\n", dag.display())
    );
    let text = site.text("zoo.shards/scale-out.dag");
    assert!(
        text.contains("JOB shard1 ") && text.contains("JOB shard3 ") && !text.contains("shard2"),
        "{text}"
    );
    for name in ["shard.sub", "merge.sub"] {
        let text = site.text(&format!("zoo.shards/{name}"));
        assert!(text.contains(&format!("{}", site.path("zoo.toml").display())), "{text}");
    }
}

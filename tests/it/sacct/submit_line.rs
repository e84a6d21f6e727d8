//! The two options that are kept of the command that submitted a job.

use gridtally::record::dependency::Dependencies;
use gridtally::record::{Anomaly, Exclusivity};
use proptest::prelude::*;

use super::json::document;
use super::{only, read};
use crate::support::collect::Job;

/// A job of number `id` that was submitted by `line`.
fn job_of(id: &str, line: &str) -> Job {
    only(format!(
        "JobIDRaw|JobID|State|Start|End|ElapsedRaw|SubmitLine|NCPUS\n7|{id}|COMPLETED|10|110|100|{line}|4\n"
    ))
}

fn job(line: &str) -> Job {
    job_of("7", line)
}

/// Dependency and exclusiveness.
type Kept = (Option<&'static str>, Option<Exclusivity>);

fn kept(job: &Job) -> Kept {
    job.row
        .details
        .map_or((None, None), |details| (details.dependency, details.exclusive))
}

fn dependency(line: &str) -> Option<&'static str> {
    let job = job(line);
    assert!(!job.has(Anomaly::ValueDropped), "{line}");
    kept(&job).0
}

fn exclusive(line: &str) -> Option<Exclusivity> {
    kept(&job(line)).1
}

#[test]
fn a_dependency_is_read_in_every_spelling_of_the_option() {
    for line in [
        "sbatch --dependency=afterok:5 x.sh",
        "sbatch --dependency afterok:5 x.sh",
        "/opt/slurm/bin/sbatch -d afterok:5 x.sh",
        "sbatch -dafterok:5 x.sh",
        "sbatch -Hd afterok:5 x.sh",
        "sbatch -Qvdafterok:5 x.sh",
        "sbatch --dep=AfterOK:5 x.sh",
        "sbatch --depend afterok:5",
        "srun -n 4 -d afterok:5 hostname",
        "srun -I10 -K1 -W 5 -d afterok:5 hostname",
        "salloc -N2 -Kx -d afterok:5",
        "sbatch -W -d afterok:5 x.sh",
        "sbatch -J name --mem 4G -p long -t1:00 -d afterok:5 x.sh",
        "sbatch --parsable --requeue --export=ALL,A=1 --get-user-env=10L --dependency=afterok:5 x.sh",
        "sbatch --plugin-option=7 --dependency=afterok:5 x.sh",
        "sbatch --plugin-option --dependency=afterok:5 x.sh",
        "sbatch -d singleton -d afterok:5 x.sh",
        "sbatch --job-name -d --comment --dependency=afterok:9 -d afterok:5 x.sh",
        "sbatch --comment  -d afterok:5 x.sh",
    ] {
        assert_eq!(dependency(line), Some("afterok:5"), "{line}");
    }
}

#[test]
fn nothing_is_read_where_it_is_not_certain_to_be_an_option() {
    for line in [
        "",
        "sbatch",
        "sbatch x.sh -d afterok:5",
        "sbatch x.sh --dependency=afterok:5 --exclusive",
        "sbatch -- -d afterok:5",
        "sbatch - --dependency=afterok:5",
        "sbatch --wrap=sbatch -d afterok:5 x.sh",
        "sbatch --wrap sbatch --exclusive --dependency=afterok:5 x.sh",
        "sbatch --comment=two words -d afterok:5 x.sh",
        "sbatch --plugin-option value -d afterok:5 x.sh",
        "sbatch -Y value -d afterok:5 x.sh",
        // Deadline, dependency or delay-boot.
        "sbatch --de=afterok:5 x.sh",
        // Exclude or exclusive.
        "sbatch --excl x.sh",
        "srun --exclude n1 hostname",
        "sbatch --job-name --exclusive x.sh",
        "sbatch --output=-d -J-dafterok:5 x.sh",
        "qsub -d afterok:5 x.sh",
        "sbatch.real -d afterok:5 x.sh",
        "sbatch -d 0 x.sh",
        "sbatch --dependency= x.sh",
    ] {
        assert_eq!(kept(&job(line)), (None, None), "{line}");
    }
    // An argument of the option before it.
    assert_eq!(dependency("sbatch --comment --exclusive -d 5 x.sh"), Some("afterany:5"));
    assert_eq!(exclusive("sbatch --comment --exclusive -d 5 x.sh"), None);
    // What was read before the line became unclear counts.
    assert_eq!(dependency("sbatch -d 5 --wrap=sbatch -d 6 x.sh"), Some("afterany:5"));
}

#[test]
fn dependencies_are_kept_in_the_words_of_slurm() {
    for (stated, kept) in [
        ("5", "afterany:5"),
        ("5,6", "afterany:5:6"),
        ("afterok:1:2,afterany:3", "afterok:1:2,afterany:3"),
        ("afterok:1,afterok:2", "afterok:1:2"),
        ("afterok:1:2?AFTERNOTOK:3", "afterok:1:2?afternotok:3"),
        ("singleton", "singleton"),
        ("Singleton,after:7+10:8", "singleton,after:7+10:8"),
        ("singleton?singleton", "singleton?singleton"),
        ("aftercorr:12_3:12_*", "aftercorr:12_3:12_*"),
        ("afterburstbuffer:4294967295", "afterburstbuffer:4294967295"),
        ("expand:007", "expand:7"),
        // As slurmctld rewrites it: a delay is of the last task.
        ("afterok:1_[2-4,7]", "afterok:1_2:1_3:1_4:1_7"),
        ("after:1_[3,2]+10:4", "after:1_2:1_3+10:4"),
        ("afterany:1_[0-9:4]?afterok:5_[6]", "afterany:1_0:1_4:1_8?afterok:5_6"),
    ] {
        assert_eq!(dependency(&format!("sbatch -d {stated} x.sh")), Some(kept), "{stated}");
        assert_eq!(Dependencies::parse(kept).unwrap().to_string(), kept);
    }
}

#[test]
fn a_dependency_that_cannot_be_read_is_noted_and_its_text_is_not_kept() {
    let long = format!("afterok:{}", vec!["4294967295"; 1000].join(":"));
    for stated in [
        "afterok",
        "afterok:",
        "afterok:$JOB",
        "afterok:1:",
        "afterok:1,",
        "afterok:1,afterany:2?after:3",
        "afterok:0",
        "afterok:4294967296",
        "afterok:+5",
        "after:5+0",
        "after:5+",
        "afterok:1_",
        "afterok:1_x",
        "afterok:1_[",
        "afterok:1_[]",
        "afterok:_[1]",
        "afterok:1_[3-2]",
        "afterok:1_[1-2:0]",
        "afterok:1_[0-10000]",
        "afterok:1_[1]x",
        "afterlife:1",
        "singleton:5",
        "5:6",
        "alice",
        &long,
    ] {
        let job = job(&format!("sbatch --exclusive=user -d {stated} x.sh"));
        assert_eq!(kept(&job), (None, Some(Exclusivity::User)), "{stated}");
        assert!(job.has(Anomaly::ValueDropped), "{stated}");
    }
}

#[test]
fn exclusiveness_is_that_of_the_last_option() {
    for (options, expected) in [
        ("--exclusive", Some(Exclusivity::Node)),
        ("--exclusi", Some(Exclusivity::Node)),
        ("--exclusive=exclusive", Some(Exclusivity::Node)),
        ("--exclusive=user", Some(Exclusivity::User)),
        ("--exclusive=MCS", Some(Exclusivity::Mcs)),
        ("--exclusive=topo", Some(Exclusivity::Topology)),
        ("--exclusive=oversubscribe", Some(Exclusivity::Shared)),
        ("--oversubscribe", Some(Exclusivity::Shared)),
        ("-s", Some(Exclusivity::Shared)),
        ("-Hs --exclusive", Some(Exclusivity::Node)),
        ("--exclusive -s", Some(Exclusivity::Shared)),
        ("-N 2 -n 8", None),
    ] {
        assert_eq!(exclusive(&format!("sbatch {options} x.sh")), expected, "{options}");
    }
    // An argument is attached, or there is none: the next word is the script.
    assert_eq!(exclusive("sbatch --exclusive user -s"), Some(Exclusivity::Node));
}

#[test]
fn components_of_one_line_have_options_of_their_own() {
    let line = "sbatch -N1 --exclusive -d afterok:5 : -N2 --mem=1G x.sh";
    assert_eq!(kept(&job_of("7+1", line)), (Some("afterok:5"), None));
}

#[test]
fn a_row_with_surplus_fields_has_no_certain_line() {
    let header = "JobIDRaw|State|Start|End|ElapsedRaw|Comment|SubmitLine|NCPUS\n7|COMPLETED|10|110|100|";
    assert_eq!(
        kept(&only(format!("{header}a|sbatch --exclusive x.sh|4\n"))),
        (None, Some(Exclusivity::Node))
    );
    for rest in ["a|b|sbatch --exclusive x.sh|4", "a|sbatch --exclusive -C a|b x.sh|4"] {
        let job = only(format!("{header}{rest}\n"));
        assert_eq!(kept(&job), (None, None), "{rest}");
        assert_eq!(job.row.alloc_core_n, Some(4));
    }
}

#[test]
fn nothing_of_one_job_is_left_for_the_next() {
    let found = read(
        "JobIDRaw|State|Start|End|ElapsedRaw|SubmitLine|NCPUS\n\
         7|COMPLETED|10|110|100|sbatch --exclusive -d 5 x.sh|4\n\
         7.0|COMPLETED|10|110|100|srun -s -d 6 a.out|4\n\
         8|COMPLETED|10|110|100|sbatch x.sh|4\n\
         9|COMPLETED|10|110|100|sbatch -d 7 x.sh\n --exclusive|4\n",
    );
    let all: Vec<Kept> = found.jobs.iter().map(kept).collect();
    assert_eq!(
        all,
        [
            (Some("afterany:5"), Some(Exclusivity::Node)),
            (None, None),
            (Some("afterany:7"), None)
        ]
    );
}

#[test]
fn the_json_of_a_dump_has_the_same_line() {
    let of = |line: &str| {
        only(document(&[format!(
            r#"{{"job_id": 7, "state": {{"current": ["COMPLETED"]}}, "submit_line": {line},
                "time": {{"start": 10, "end": 110, "elapsed": 100}}}}"#
        )]))
    };
    let both = of(r#""\/usr\/bin\/sbatch --exclusive -d afterok:5 x.sh""#);
    assert_eq!(kept(&both), (Some("afterok:5"), Some(Exclusivity::Node)));
    assert_eq!(kept(&of("null")), (None, None));
    assert_eq!(kept(&of(r#""""#)), (None, None));
    assert!(of(r#""sbatch -d alice x.sh""#).has(Anomaly::ValueDropped));
}

proptest! {
    #[test]
    fn no_line_ends_the_reader_and_nothing_but_dependencies_is_kept(
        line in "(sbatch|srun|salloc)( (-d|--dependency=|--dep|-s|--exclusive|--wrap|-J|a|:|--|afterok:1|after:2\\+3|[a-z0-9:?,=_*-]{0,9})){0,8}",
    ) {
        let job = job(&line);
        if let (Some(text), _) = kept(&job) {
            let read = Dependencies::parse(text).unwrap();
            prop_assert_eq!(read.to_string(), text);
        }
    }
}

//! The batch file and the table of Slurm.

use std::process::Output;

use super::site::{Site, deployed, words_of};

/// The options of `sbatch` that the files may use, by the manual of Slurm 22.05 and later.
const OPTIONS: [&str; 11] = [
    "job-name",
    "dependency",
    "nodes",
    "ntasks",
    "cpus-per-task",
    "mem",
    "time",
    "output",
    "open-mode",
    "signal",
    "mail-type",
];

const SACCT: &str = "\
echo \"$TZ $*\" >> sacct.log
test ! -e fail || exit 1
case \"$*\" in *' -o Start')
    printf '%s\\n' Unknown 2026-02-03T04:05:06 2026-01-02T03:04:05 2099-01-01T00:00:00
    exit ;;
esac
cat dumps/sacct-1.txt";

/// The batch file, run as a node does that Slurm gives two processors and 1 GiB.
fn batch(site: &Site) -> Output {
    let file = site.place("slurm/gridtally.sbatch", "gridtally.sbatch");
    let mut command = site.command("/bin/bash");
    command
        .arg(file)
        .env("SLURM_CPUS_PER_TASK", "2")
        .env("SLURM_MEM_PER_NODE", "1024");
    command.output().unwrap()
}

#[test]
fn the_batch_file_dumps_and_runs() {
    let site = Site::new();
    site.program("sacct", SACCT);
    for status in ["published", "unchanged"] {
        let ran = batch(&site);
        assert!(ran.status.success(), "{}", words_of(&ran));
        assert!(
            words_of(&ran).contains(&format!("{{\"status\":\"{status}\"")),
            "{}",
            words_of(&ran)
        );
    }
    assert!(site.has_lake());
    let asked = site.text("sacct.log");
    let lines: Vec<&str> = asked.lines().collect();
    let [starts, dump, ..] = lines.as_slice() else {
        panic!("{asked}")
    };
    let words: Vec<&str> = starts.split(' ').collect();
    assert_eq!(words[..7], ["UTC", "-a", "-D", "-P", "-n", "-X", "-S"]);
    assert_eq!(words[8..], ["-E", "now", "-o", "Start"]);
    // Of the jobs of three days one began long before: its steps since then are in the dump.
    assert_eq!(*dump, "UTC -a -D -P -S 2026-01-02T03:04:05 -E now -o ALL");
    let dumps: Vec<_> = std::fs::read_dir(site.path("dumps")).unwrap().collect();
    assert_eq!(dumps.len(), 2, "the first dump, and the one of the day");
}

#[test]
fn a_dump_that_fails_is_not_read() {
    let site = Site::new();
    site.program("sacct", SACCT);
    std::fs::write(site.path("fail"), "").unwrap();
    assert_eq!(batch(&site).status.code(), Some(1));
    assert!(!site.has_lake(), "a run after a dump that failed");
    std::fs::remove_file(site.path("fail")).unwrap();
    assert!(batch(&site).status.success());
}

#[test]
fn the_exit_code_of_the_job_is_that_of_the_run() {
    let site = Site::new();
    site.program("sacct", SACCT);
    site.broken_dump();
    assert_eq!(batch(&site).status.code(), Some(65));
}

#[test]
fn directives_are_options_of_sbatch() {
    for (file, head) in [
        ("slurm/gridtally.sbatch", "#SBATCH --"),
        ("slurm/scrontab", "#SCRON --"),
    ] {
        let text = deployed(file);
        let directives: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix(head)).collect();
        assert!(directives.len() >= 8, "{file}");
        for directive in directives {
            let (name, value) = directive.split_once('=').unwrap();
            assert!(OPTIONS.contains(&name) && !value.is_empty(), "{file}: {directive}");
        }
        // Behind the first command Slurm reads no directive.
        let first = text.lines().position(|line| !line.starts_with('#') && !line.is_empty());
        let last = text.lines().position(|line| line.starts_with(head)).unwrap();
        assert!(last < first.unwrap(), "{file}");
    }
    let table = deployed("slurm/scrontab");
    let job = table.lines().last().unwrap();
    assert!(job.starts_with("30 3 * * * /usr/bin/gridtally run "), "{job}");
}

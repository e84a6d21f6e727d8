//! `gridtally init`: the file it writes is good, or `check` names the lines that it leaves empty.

use std::fs;
use std::path::{Path, PathBuf};

use crate::inspect::{decided, gridtally, inspect};
use crate::support::collect::shared;
use crate::support::sample::repository;

/// Folders of the sample and of the shared data, each with what `init` is given.
fn given() -> Vec<PathBuf> {
    let sample = [
        "alp/sacct-2026-01.txt",
        "alp/sacct-2026-04.txt.zst",
        "alp/nodes.csv",
        "bay/apel",
        "bay/gracc",
    ];
    let mut given: Vec<PathBuf> = sample.map(|path| repository("sample-data").join(path)).into();
    if let Some(data) = shared("init on real dumps", "data") {
        let real = ["gracc/es-dump", "apel/dirq-sample", "gracc/gratia-monthly"];
        given.extend(real.iter().map(|path| data.join(path)));
    }
    given
}

/// Writes a pipeline for a dump; its path and what was printed.
fn init(folder: &Path, dumps: &[&Path]) -> (PathBuf, String) {
    let mut args = vec!["init"];
    args.extend(dumps.iter().map(|dump| dump.to_str().unwrap()));
    let output = gridtally(folder, &args);
    assert!(
        output.status.success(),
        "{dumps:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    (folder.join("pipeline.toml"), String::from_utf8(output.stdout).unwrap())
}

fn check(folder: &Path) -> (bool, String) {
    let output = gridtally(folder, &["check", "pipeline.toml"]);
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

#[test]
fn a_written_pipeline_is_good_or_check_names_each_empty_line() {
    let mut good = 0;
    for dump in given() {
        let dir = tempfile::tempdir().unwrap();
        let (path, printed) = init(dir.path(), &[&dump]);
        let text = fs::read_to_string(&path).unwrap();
        let (is_good, reported) = check(dir.path());
        let open: Vec<&str> = printed.lines().filter(|line| line.contains(": fill in ")).collect();
        assert_eq!(is_good, open.is_empty(), "{}: {reported}\n{text}", dump.display());
        for line in &open {
            let place = line.split(": ").next().unwrap();
            assert!(reported.contains(&format!("{place}:")), "{place} is not in {reported}");
        }
        good += usize::from(is_good);
        fs::write(&path, decided(&text)).unwrap();
        let (is_good, reported) = check(dir.path());
        assert!(is_good, "{}: {reported}\n{}", dump.display(), decided(&text));
    }
    assert!(good > 0, "no dump states all that is needed");
}

#[test]
fn dumps_of_one_kind_share_a_source() {
    let dir = tempfile::tempdir().unwrap();
    for file in ["sacct-2026-01.txt", "sacct-2026-03.txt", "nodes.csv"] {
        fs::copy(repository("sample-data/alp").join(file), dir.path().join(file)).unwrap();
    }
    let names = ["sacct-2026-01.txt", "nodes.csv", "sacct-2026-03.txt"].map(Path::new);
    let (path, printed) = init(dir.path(), &names);
    let text = fs::read_to_string(path).unwrap();
    assert_eq!(text.matches("\n[[source]]\n").count(), 1, "{text}");
    assert_eq!(text.matches("\n[[inventory]]\n").count(), 1, "{text}");
    assert!(text.contains("    \"sacct-2026-03.txt\",\n]\n"), "{text}");
    assert!(printed.starts_with("pipeline.toml: 2 sources\n"), "{printed}");
}

#[test]
fn a_file_that_exists_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pipeline.toml");
    fs::write(&path, "mine").unwrap();
    let dump = repository("sample-data/alp/sacct-2026-01.txt");
    let output = gridtally(dir.path(), &["init", dump.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    let reported = String::from_utf8(output.stderr).unwrap();
    assert!(
        reported.contains("is not overwritten; --pipeline names another file"),
        "{reported}"
    );
    // The option that it names does what it states.
    let output = gridtally(
        dir.path(),
        &["init", dump.to_str().unwrap(), "--pipeline", "other.toml"],
    );
    assert!(output.status.success() && dir.path().join("other.toml").exists());
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
}

#[test]
fn files_of_no_dialect_make_no_pipeline() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("letter.txt"), "Dear all,\n").unwrap();
    let output = gridtally(dir.path(), &["init", "letter.txt"]);
    assert_eq!(output.status.code(), Some(65));
    assert!(!dir.path().join("pipeline.toml").exists());
}

#[test]
fn a_folder_of_one_kind_is_named_whole_wherever_it_is() {
    let dir = tempfile::tempdir().unwrap();
    for (from, to) in [
        ("alp/sacct-2026-01.txt", "dumps/jobs/sacct-2026-01.txt"),
        ("alp/sacct-2026-03.txt", "dumps/jobs/sacct-2026-03.txt"),
        ("alp/nodes.csv", "dumps/nodes.csv"),
        ("bay/gracc/raw-2026.01.ndjson", "dumps/grid/raw-2026.01.ndjson"),
        ("bay/gracc/raw-2026.04.ndjson", "dumps/grid/raw-2026.04.ndjson"),
    ] {
        let to = dir.path().join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(repository("sample-data").join(from), to).unwrap();
    }
    fs::write(dir.path().join("dumps/grid/letter.txt"), "Dear all,\n").unwrap();
    let (path, _) = init(dir.path(), &[Path::new("dumps/")]);
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains("name = \"jobs\"\npaths = [\"dumps/jobs\"]\n"), "{text}");
    // A letter is among the documents, so they are named one by one.
    assert!(text.contains("    \"dumps/grid/raw-2026.04.ndjson\",\n]\n"), "{text}");
    assert!(text.contains("paths = [\"dumps/nodes.csv\"]\n"), "{text}");
    assert!(
        text.contains("# not read: dumps/grid/letter.txt: no dialect with a reader is recognised\n"),
        "{text}"
    );
}

/// Folders are named however the word for them is written, and what comes into them later is read.
#[test]
fn a_folder_is_named_whole_however_its_word_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let here = fs::canonicalize(dir.path()).unwrap().join("here");
    let (dumps, beside) = (here.join("dumps"), here.with_file_name("beside"));
    for folder in [&dumps, &beside] {
        fs::create_dir_all(folder).unwrap();
        for file in ["sacct-2026-01.txt", "sacct-2026-03.txt"] {
            fs::copy(repository("sample-data/alp").join(file), folder.join(file)).unwrap();
        }
    }
    let absolute = dumps.to_str().unwrap();
    for (word, written) in [
        ("dumps", "dumps"),
        ("./dumps", "dumps"),
        ("dumps/.", "dumps"),
        ("../here/dumps//", "dumps"),
        ("../beside", "../beside"),
        (absolute, absolute),
    ] {
        let (path, _) = init(&here, &[Path::new(word)]);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(&format!("\npaths = [\"{written}\"]\n")), "{word}: {text}");
        fs::remove_file(&path).unwrap();
    }
    // The paths of a pipeline elsewhere are absolute.
    let output = gridtally(&here, &["init", "../here/dumps", "--pipeline", "../p.toml"]);
    assert!(output.status.success());
    let text = fs::read_to_string(here.with_file_name("p.toml")).unwrap();
    assert!(text.contains(&format!("\npaths = [\"{absolute}\"]\n")), "{text}");
}

/// The pipeline file, and what it publishes, are no dumps.
#[test]
fn a_folder_that_holds_the_pipeline_file_is_not_named_whole() {
    let dir = tempfile::tempdir().unwrap();
    let here = fs::canonicalize(dir.path()).unwrap().join("here");
    fs::create_dir_all(here.join("dumps/jobs")).unwrap();
    let dump = repository("sample-data/alp/sacct-2026-01.txt");
    fs::copy(&dump, here.join("dumps/jobs/sacct-2026-01.txt")).unwrap();
    fs::copy(&dump, here.join("dumps/sacct-2026-03.txt")).unwrap();
    let whole = "paths = [\"dumps\"]\n";
    for (word, pipeline, named) in [
        (".", "p.toml", whole),
        ("..", "p.toml", whole),
        ("dumps", "./p.toml", whole),
        ("dumps", "dumps/p.toml", "/here/dumps/jobs\",\n"),
        ("dumps", "dumps/p.toml", "/here/dumps/sacct-2026-03.txt\",\n"),
        ("dumps", "dumps/jobs/p.toml", "/here/dumps/jobs/sacct-2026-01.txt\",\n"),
    ] {
        let output = gridtally(&here, &["init", "--pipeline", pipeline, word]);
        assert!(
            output.status.success(),
            "{word}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let text = fs::read_to_string(here.join(pipeline)).unwrap();
        assert!(text.contains(named), "{word}, {pipeline}: {text}");
        fs::remove_file(here.join(pipeline)).unwrap();
    }
    let (path, _) = init(&here.join("dumps"), &[Path::new(".")]);
    let text = fs::read_to_string(path).unwrap();
    let named = "    \"sacct-2026-03.txt\",\n    \"jobs\",\n]\n";
    assert!(text.contains(named), "{text}");
}

#[test]
fn an_empty_cluster_has_the_clusters_of_the_jobs_next_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let jobs = "Cluster|JobIDRaw|Submit|Start|End|ElapsedRaw|State|NCPUS|Account|User\n\
                reef|7|2026-03-01T10:00:00|2026-03-01T10:00:00|2026-03-01T11:00:00|3600|COMPLETED|2|ada|ada\n";
    fs::write(dir.path().join("sacct.txt"), jobs).unwrap();
    fs::write(
        dir.path().join("nodes.txt"),
        "NodeName=n1 Arch=x86_64 CPUAlloc=0 CPUTot=4 RealMemory=16000 State=IDLE\n",
    )
    .unwrap();
    let (path, printed) = init(dir.path(), &[Path::new("sacct.txt"), Path::new("nodes.txt")]);
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains("; jobs of these dumps name \"reef\"\n"), "{text}");
    assert!(printed.contains(": fill in cluster\n"), "{printed}");
}

/// The tables behind the sources are comments: each becomes a table by taking the marks of its lines away.
#[test]
fn the_tables_that_are_comments_are_read_once_they_are_none() {
    let dir = tempfile::tempdir().unwrap();
    let sample = ["alp/sacct-2026-01.txt", "alp/nodes.csv"].map(|path| repository("sample-data").join(path));
    let (path, _) = init(dir.path(), &[&sample[0], &sample[1]]);
    let text = decided(&fs::read_to_string(&path).unwrap());
    let at = text.find("# [normalise]").unwrap();
    let uncommented: String = text[at..]
        .lines()
        .map(|line| line.trim_start_matches("# ").to_owned() + "\n")
        .collect();
    fs::write(&path, text[..at].to_owned() + &uncommented).unwrap();
    fs::copy(
        repository("sample-data/benchmarks.csv"),
        dir.path().join("benchmarks.csv"),
    )
    .unwrap();
    fs::create_dir(dir.path().join("policies")).unwrap();
    fs::copy(
        repository("pipelines/policies/slurm-tres.toml"),
        dir.path().join("policies/site.toml"),
    )
    .unwrap();
    let (is_good, reported) = check(dir.path());
    assert!(is_good, "{reported}\n{uncommented}");
}

#[test]
fn configuration_that_lists_nothing_is_no_inventory() {
    let dir = tempfile::tempdir().unwrap();
    let gres = "NodeName=gpu1 Name=gpu Type=a100 File=/dev/nvidia[0-3]\n";
    fs::write(dir.path().join("gres.conf"), gres).unwrap();
    fs::write(
        dir.path().join("slurm.conf"),
        "ClusterName=reef\nNodeName=n[1-3] CPUs=2\n",
    )
    .unwrap();
    let (path, _) = init(dir.path(), &[Path::new("gres.conf"), Path::new("slurm.conf")]);
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains("paths = [\"slurm.conf\"]\n"), "{text}");
    let settings = "# not read: gres.conf: only settings: no line names a node, a partition or an association\n";
    assert!(text.contains(settings), "{text}");
}

/// What `inspect` advises for a file stands in the pipeline file and on stderr.
#[test]
fn a_file_that_is_not_read_has_the_reason_of_inspect_next_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let dump = fs::read(repository("sample-data/alp/sacct-2026-04.txt.zst")).unwrap();
    fs::write(dir.path().join("cut.zst"), &dump[..30]).unwrap();
    for (name, text) in [
        ("ads.txt", "ClusterId = 7\nProcId = 0\n"),
        ("empty.txt", ""),
        (
            "nodes.txt",
            "NodeName=n1 Arch=x86_64 CPUAlloc=0 CPUTot=4 RealMemory=16000 State=IDLE\n",
        ),
    ] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let files = ["ads.txt", "empty.txt", "cut.zst"];
    let output = gridtally(dir.path(), &[&["init", "nodes.txt"], &files[..]].concat());
    assert!(output.status.success());
    let (text, reported) = (
        fs::read_to_string(dir.path().join("pipeline.toml")).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    for (path, report) in files.iter().zip(inspect(dir.path(), &files)) {
        let (failure, problem) = (report["failure"].as_str(), report["problems"][0].as_str());
        for reason in failure.into_iter().chain(problem) {
            let named = |line: &str| line.contains(&format!("not read: {path}: ")) && line.contains(reason);
            assert!(text.lines().any(named), "{path}: {reason}: {text}");
            assert!(reported.lines().any(named), "{path}: {reason}: {reported}");
        }
        assert!(failure.or(problem).is_some(), "{path}");
    }
    assert!(
        text.contains(
            "# not read: ads.txt: job ads of HTCondor as text are not read: dump jobs with condor_history -json\n"
        ),
        "{text}"
    );
    assert!(text.contains("# not read: empty.txt: the file is empty\n"), "{text}");
    // Where nothing is written they are on stderr alone.
    let output = gridtally(dir.path(), &["init", "empty.txt", "--pipeline", "other.toml"]);
    let reported = String::from_utf8(output.stderr).unwrap();
    assert!(
        reported.contains("not read: empty.txt: the file is empty"),
        "{reported}"
    );
}

/// A path is one value on one line, whatever characters it has: the pipeline reads the file.
#[test]
fn paths_of_any_characters_are_written_and_read() {
    let names = [
        "a\nb.txt",
        "a\r\nb.txt",
        "tab\tname",
        "bell\u{7}\u{7f}",
        "back\\slash",
        "quo\"te",
        "it's \"\"\"",
        "# = \"\"",
    ];
    for (folder, is_folder) in [("dumps", false), ("dum\n\"ps\"", true)] {
        let dir = tempfile::tempdir().unwrap();
        let dumps = dir.path().join(folder);
        fs::create_dir(&dumps).unwrap();
        for (job, name) in (1..).zip(names) {
            let jobs = format!(
                "Cluster|JobIDRaw|Submit|Start|End|ElapsedRaw|State|NCPUS|Account|User\n\
                 reef|{job}|2026-03-01T10:00:00Z|2026-03-01T10:00:00Z|2026-03-01T11:00:00Z|3600|COMPLETED|2|ada|ada\n"
            );
            fs::write(dumps.join(name), jobs).unwrap();
        }
        fs::write(
            dir.path().join("li\nsting"),
            "NodeName=n1 CPUTot=4 RealMemory=16000 State=IDLE\n",
        )
        .unwrap();
        if !is_folder {
            fs::write(dumps.join("letter\n[pipeline]"), "Dear all,\n").unwrap();
        }
        let (path, _) = init(dir.path(), &[Path::new(folder), Path::new("li\nsting")]);
        let text = fs::read_to_string(&path).unwrap();
        let written: toml::Table = text.parse().unwrap_or_else(|why| panic!("{why}: {text}"));
        let paths = |table: &str| -> Vec<String> {
            let paths = written[table][0]["paths"].as_array().unwrap();
            paths.iter().map(|path| path.as_str().unwrap().to_owned()).collect()
        };
        let mut wanted = vec![folder.to_owned()];
        if !is_folder {
            wanted = names.iter().map(|name| format!("{folder}/{name}")).collect();
            wanted.sort();
        }
        assert_eq!(paths("source"), wanted, "{text}");
        assert_eq!(paths("inventory"), ["li\nsting"], "{text}");
        fs::write(&path, decided(&text)).unwrap();
        let output = gridtally(dir.path(), &["run", "pipeline.toml"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let output = gridtally(dir.path(), &["verify", "out"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let (plan, _) = gridtally::config::Plan::load(&path).unwrap();
        let store = gridtally::store::Store::open_existing(&plan.output).unwrap();
        let manifest = gridtally::store::Manifest::load(&store).unwrap().unwrap();
        let records: u64 = manifest.dataset("records").map(|file| file.rows).sum();
        assert_eq!(records, 8, "{text}");
    }
}

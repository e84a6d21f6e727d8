//! What is wrong with an assumption is refused, with its place.

use super::{RULE, scene, table};
use crate::share_history::{Scene, pipeline};

const USAGE: i32 = 2;
const CONFIG: i32 = 78;

#[track_caller]
fn assert_refused(scene: &Scene, args: &[&str], code: i32, message: &str) {
    let output = scene.gridtally(&[&["report", "fairshare", "lake"][..], args].concat());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
    assert!(output.stdout.is_empty(), "{args:?}");
    assert!(stderr.contains(message), "{args:?}: {message} is not in {stderr}");
}

#[test]
fn what_a_file_states_wrong_is_refused_with_its_line() {
    let scene = scene(RULE);
    for (text, message) in [
        (
            "\nalgoritm = \"classic\"\n",
            "w.toml:2: unknown key \"algoritm\" in the file of a what-if, did you mean \"algorithm\"?",
        ),
        ("site = \"A\"\n", "w.toml:1: unknown key \"site\""),
        ("algorithm = \"fair\"\n", "w.toml:1: algorithm = \"fair\" is not one of"),
        ("half_life = 7\n", "w.toml:1: half_life must be a text in quotes"),
        (
            "half_life = \"7 days\"\n",
            "w.toml:1: half_life = \"7 days\" is not a duration",
        ),
        ("dampening_factor = 0\n", "dampening_factor must be at least 1"),
        (
            "[shares]\nlad = 3\n",
            "w.toml:2: the listing of associations has no account called \"lad\", did you mean \"lab\"?",
        ),
        (
            "[shares]\n\"lab/anna\" = 3\n",
            "w.toml:2: the listing of associations has no user called \"lab/anna\", did you mean \"lab/ann\"?",
        ),
        (
            "[shares]\nlab = 1.5\n",
            "w.toml:2: [shares]: lab: \"a decimal number\" is not a number of shares",
        ),
        (
            "[shares]\nlab = \"-31\"\n",
            "w.toml:2: lab: 30 -31 is not a number of shares",
        ),
        ("[shares]\nlab = \"4294967296\"\n", "is not a number of shares"),
        (
            "[shares]\n\"inst/cid\" = \"+1\"\n",
            "w.toml:2: inst/cid: +1 of parent is no number: state one",
        ),
        ("[shares]\nroot = 2\n", "w.toml:2: the root has no shares"),
        (
            "[shares]\n\"lab/\" = 2\n",
            "w.toml:2: [shares]: lab/: \"lab/\" is not the name of an account",
        ),
        (
            "[priority_weights]\nfairshare = 1\n",
            "w.toml:2: unknown key \"fairshare\" in [priority_weights]",
        ),
        (
            "usage = \"core\"\n",
            "w.toml:1: usage = \"core\" is neither \"recorded-billing\" nor a policy that the lake charged by",
        ),
        (
            "usage = \"recorded-billing\"\npolicy = \"p.toml\"\n",
            "usage and policy both state what jobs are counted by",
        ),
        ("policy = \"absent.toml\"\n", "absent.toml: cannot be read"),
        (
            "options = { a = \"b\" }\n",
            "w.toml:1: options are those of a policy, and none is named",
        ),
        ("shares_table = \"absent.csv\"\n", "absent.csv: cannot be read"),
        (
            "algorithm = classic\n",
            "w.toml:1: algorithm = classic: text needs quotes",
        ),
    ] {
        scene.write("w.toml", text);
        assert_refused(&scene, &["--what-if", "w.toml"], CONFIG, message);
    }
    assert_refused(
        &scene,
        &["--what-if", "absent.toml"],
        CONFIG,
        "absent.toml: cannot be read",
    );
    scene.write("t.csv", "account,shares\nlab,+3\nlab,4\nlad,1\nlab,many\n");
    assert_refused(
        &scene,
        &["--shares-table", "t.csv"],
        CONFIG,
        "t.csv:3: lab has a row before this one",
    );
    assert_refused(
        &scene,
        &["--shares-table", "t.csv"],
        CONFIG,
        "t.csv:5: shares: \"many\" is not a number of shares",
    );
    scene.write("t.csv", "account,shares\nlad,1\n");
    assert_refused(
        &scene,
        &["--shares-table", "t.csv"],
        CONFIG,
        "t.csv:2: the listing of associations has no account",
    );
    scene.write("t.csv", "account,share\nlab,1\n");
    assert_refused(
        &scene,
        &["--shares-table", "t.csv"],
        CONFIG,
        "unknown column \"share\" in the header, did you mean \"shares\"?",
    );
}

#[test]
fn options_that_cannot_be_are_refused() {
    let scene = scene(RULE);
    assert_refused(&scene, &[], USAGE, "nothing is assumed: state --what-if");
    assert_refused(&scene, &["--shares", "lab"], USAGE, "--shares lab: not NAME=SHARES");
    assert_refused(&scene, &["--shares", "lab=x"], USAGE, "\"x\" is not a number of shares");
    assert_refused(
        &scene,
        &["--shares", "lad=1"],
        USAGE,
        "--shares lad=1: the listing of associations has no account",
    );
    let shares = ["--shares", "lab=1"];
    let with = |args: &[&'static str]| [&shares[..], args].concat();
    assert_refused(
        &scene,
        &with(&["--table", "days"]),
        USAGE,
        "the table is of a period: state --from or --to",
    );
    assert_refused(&scene, &with(&["--format", "csv"]), USAGE, "select one by --table");
    assert_refused(&scene, &with(&["--from", "2027-01"]), USAGE, "the period has no day");
    assert_refused(
        &scene,
        &with(&["--cluster", "elm"]),
        USAGE,
        "no fairshare of that cluster",
    );
    assert_refused(&scene, &with(&["--recovery", "2"]), USAGE, "not a factor above 0");
    assert_refused(
        &scene,
        &with(&["--at", "2026-03-02T00:00:00Z", "--from", "2026-03"]),
        USAGE,
        "cannot be used with",
    );
    scene.write("w.toml", "[priority_weights]\nage = 5\n");
    assert_refused(
        &scene,
        &["--what-if", "w.toml"],
        USAGE,
        "[priority_weights] concern waiting jobs",
    );
    scene.write("w.toml", "decay = \"halving-steps\"\nhalf_life = \"05:00:00\"\n");
    assert_refused(
        &scene,
        &["--what-if", "w.toml"],
        USAGE,
        "halving steps count by whole days",
    );
}

#[test]
fn a_sign_before_a_number_is_a_change_with_and_without_quotes() {
    let scene = scene(RULE);
    for (written, after) in [
        ("40", "40"),
        ("+40", "70"),
        ("\"+40\"", "70"),
        ("-10", "20"),
        ("4_0", "40"),
    ] {
        scene.write("w.toml", &format!("[shares]\nlab = {written}\n"));
        let stated = table(&scene, "assumptions", &["--what-if", "w.toml"]);
        assert_eq!(stated[0]["after"], after, "{written}");
    }
}

#[test]
fn options_count_before_what_a_file_states() {
    let scene = scene(RULE);
    scene.write("w.toml", "half_life = \"1-00:00:00\"\n[shares]\nlab = 5\n");
    let args = ["--what-if", "w.toml", "--half-life", "3-00:00:00", "--shares", "lab=+2"];
    let stated = table(&scene, "assumptions", &args);
    let after: Vec<&str> = stated.iter().map(|row| row["after"].as_str().unwrap()).collect();
    assert_eq!(after, ["3-00:00:00", "7"]);
}

/// What `report shares` prints is a table of shares; accounts of other columns are not read.
#[test]
fn shares_after_a_purchase_come_from_report_shares() {
    let scene = scene(RULE);
    let node = "NodeName=n[1-4] CPUs=8 Boards=1 SocketsPerBoard=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=1000\n";
    scene.write(
        "slurm.conf",
        &format!("ClusterName=oak\n{node}PartitionName=shared Nodes=n[1-2]\nPartitionName=lab Nodes=n[3-4]\n"),
    );
    let machine = "[[inventory]]\nname = \"machine\"\npaths = [\"slurm.conf\"]\nsite = \"A\"\nas_of = \"2026-01-01\"\n";
    scene.run(&pipeline(RULE).replace("[[fairshare]]", &format!("{machine}[[fairshare]]")));
    scene.write("owners.csv", "account,nodes\ninst,\"n[3-4]\"\n");
    scene.write("tres.csv", "tres_per_core\n1\n");
    let (table_of_shares, _) = scene.done(&[
        "report",
        "shares",
        "lake",
        "--owners",
        "owners.csv",
        "--core-tres",
        "tres.csv",
        "--public",
        "shared",
        "--on",
        "2026-03-01",
        "--cluster",
        "oak",
        "--format",
        "csv",
    ]);
    scene.write("bought.csv", &table_of_shares);
    let stated = table(&scene, "assumptions", &["--shares-table", "bought.csv"]);
    let changed: Vec<[&str; 3]> = stated
        .iter()
        .map(|row| ["what", "before", "after"].map(|column| row[column].as_str().unwrap()))
        .collect();
    // Sixteen cores of public nodes for two accounts; sixteen that inst owns.
    assert_eq!(changed, [["shares.inst", "10", "24"], ["shares.lab", "30", "8"]]);
}

//! Mistakes of the tables and options, each with its file and line.

use super::{Site, USUAL};

/// The lines a report fails with.
fn mistakes(site: &Site, options: &str) -> String {
    let output = site.output(options);
    assert!(!output.status.success(), "{output:?}");
    assert!(output.stdout.is_empty(), "nothing is printed where something is wrong");
    String::from_utf8(output.stderr).unwrap()
}

#[track_caller]
fn assert_has(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

#[test]
fn every_mistake_of_owners_has_its_line() {
    let site = Site::new();
    site.write(
        "owners.csv",
        "account,nodes,partition,part,valid_from,valid_to\n\
         lab_aa,h01,,,,\n\
         lab_a,s0[1-3],,,,\n\
         lab_a,,scool,,,\n\
         staff,b01,,,,\n\
         root,b02,,,,\n",
    );
    assert_has(
        &mistakes(&site, USUAL),
        &[
            "owners.csv:2: account \"lab_aa\" is not in Slurm, did you mean \"lab_a\"?",
            "owners.csv:3: no listing has the nodes s02, s03",
            "owners.csv:4: no listing has a partition \"scool\", did you mean \"school\"?",
            "owners.csv:5: account \"staff\" is left as it is, and cannot own nodes",
            "owners.csv:6: account \"root\" is left as it is, and cannot own nodes",
        ],
    );
}

#[test]
fn parts_of_a_communal_purchase_must_be_the_whole() {
    let site = Site::new();
    let head = "account,nodes,partition,part,valid_from,valid_to\n";
    for (rows, line) in [
        (
            "lab_a,h01,,1/3,,\nlab_b,h01,,1/2,,\n",
            "owners.csv:3: the parts of node h01 are 5/6, not the whole, with line 2",
        ),
        (
            "lab_a,h01,,25%,,\n",
            "owners.csv:2: lab_a has 1/4 of node h01, and no other row has the rest",
        ),
        (
            "lab_a,h01,,,,\nlab_b,h01,,,,\n",
            "owners.csv:3: node h01 is owned more than once: with line 2 the parts are 2",
        ),
        (
            "lab_a,h01,,1/2,,\nlab_a,h01,,1/2,,\n",
            "owners.csv:3: lab_a owns node h01 already, by another line",
        ),
        (
            "lab_a,,school,,,\nlab_b,h01,,,,\n",
            "owners.csv:3: node h01 is owned more than once: with line 2 the parts are 2",
        ),
        (
            "lab_a,h01,,,2026-01-01,2026-03-01\nlab_b,h01,,,2026-02-01,\n",
            "owners.csv:3: node h01 is owned more than once: with line 2 the parts are 2 (since 2026-02-01)",
        ),
        (
            "lab_a,h01,,1/2,2026-01-01,\nlab_b,h01,,0.5,2026-01-01,2027-01-01\n",
            "owners.csv:2: lab_a has 1/2 of node h01, and no other row has the rest (since 2027-01-01)",
        ),
        (
            "lab_a,h01,,4/3,,\n",
            "owners.csv:2: part: \"4/3\" is not a part of a whole",
        ),
        ("lab_a,h01,,0,,\n", "owners.csv:2: part: \"0\" is not a part of a whole"),
        (
            "lab_a,h01,school,,,\n",
            "owners.csv:2: nodes and a partition are both stated",
        ),
        ("lab_a,,,,,\n", "owners.csv:2: neither nodes nor a partition is stated"),
        ("lab_a,h[01,,,,\n", "owners.csv:2: nodes: "),
        (
            "lab_a,h01,,,2026-02-01,2026-02-01\n",
            "owners.csv:2: valid_to is not after valid_from",
        ),
    ] {
        site.write("owners.csv", &format!("{head}{rows}"));
        let text = mistakes(&site, USUAL);
        assert_has(&text, &[line]);
        assert_eq!(text.matches("owners.csv:").count(), 1, "{text}");
    }
    // A list of nodes has one mistake; what adds up has none, in whatever form it is written.
    site.write(
        "owners.csv",
        &format!("{head}lab_a,\"h01,s01\",,1/3,,\nlab_b,\"h01,s01\",,1/3,,\n"),
    );
    assert_eq!(mistakes(&site, USUAL).matches("owners.csv:").count(), 1);
    site.write(
        "owners.csv",
        &format!("{head}lab_a,h01,,25%,,\nlab_b,h01,,0.25,,\nlab_c,h01,,2/4,,\n"),
    );
    let accounts = site.accounts(USUAL);
    assert_eq!(
        ["lab_a", "lab_b", "lab_c"].map(|of| accounts[of][4].as_str()),
        ["6.000000", "6.000000", "12.000000"]
    );
}

#[test]
fn nodes_without_tres_or_cores_are_named() {
    let site = Site::files();
    let nodes = site.read("july/nodes.txt");
    site.write(
        "july/nodes.txt",
        &nodes.replace("AvailableFeatures=skylake,ib", "AvailableFeatures=zen"),
    );
    site.make();
    let text = mistakes(&site, USUAL);
    assert_has(
        &text,
        &["tres.csv: no row has the TRES of nodes with features zen: s01"],
    );
    site.write("tres.csv", "feature,tres_per_core\nhaswell,-1\nskylake,1.2345678\n");
    assert_has(
        &mistakes(&site, USUAL),
        &["tres.csv:2: tres_per_core: ", "tres.csv:3: tres_per_core: "],
    );
    site.write("tres.csv", "fetaure,tres_per_core\nhaswell,1\n");
    assert_has(
        &mistakes(&site, USUAL),
        &["tres.csv:1: unknown column \"fetaure\" in the header, did you mean \"feature\"?"],
    );
}

#[test]
fn options_name_what_the_cluster_has() {
    let site = Site::new();
    for (options, line) in [
        (
            "--public shard",
            "no partition called \"shard\", did you mean \"shared\"?",
        ),
        (
            "--public shared --requeue shared",
            "partition shared is either public or a requeue partition, not both",
        ),
        (
            "--public shared --except stuff",
            "no account called \"stuff\", did you mean \"staff\"?",
        ),
        ("--cluster oakk", "no cluster called \"oakk\", did you mean \"oak\"?"),
        (
            "--inventory jully",
            "no inventory with such listings called \"jully\", did you mean \"july\"?",
        ),
        ("--minutes limits.csv", "--for"),
        ("--for sacctmgr --format csv", "cannot be used with"),
        ("--from 2026-05 --to 2026-04", "is before"),
    ] {
        assert_has(&mistakes(&site, options), &[line]);
    }
    site.write("limits.csv", "account,tres,minutes\nlab_q,cpu,5\nlab_a,cpu,5\n");
    let text = mistakes(&site, &format!("{USUAL} --minutes limits.csv --for sacctmgr"));
    assert_has(
        &text,
        &["limits.csv:2: account \"lab_q\" is not in Slurm, did you mean"],
    );
    site.write("limits.csv", "account,tres,minutes,valid_from,valid_to\nlab_a,gpu,5,,\nlab_a,cpu,x,,\nlab_a,cpu,1,,\nlab_a,cpu,2,2026-01-01,\n");
    assert_has(
        &mistakes(&site, &format!("{USUAL} --minutes limits.csv --for sacctmgr")),
        &[
            "limits.csv:2: tres: \"gpu\" is not a resource",
            "limits.csv:3: minutes: \"x\" is not a whole number",
            "limits.csv:5: overlaps line 4",
        ],
    );
}

#[test]
fn a_lake_without_listings_is_an_error_that_names_what_to_add() {
    let site = Site::files();
    for folder in ["january", "july"] {
        std::fs::remove_file(site.path().join(folder).join("associations.cfg")).unwrap();
    }
    site.make();
    assert_has(
        &mistakes(&site, "--public shared"),
        &["no listing of associations", "sacctmgr dump"],
    );
    let site = Site::files();
    for folder in ["january", "july"] {
        std::fs::remove_file(site.path().join(folder).join("nodes.txt")).unwrap();
    }
    site.make();
    assert_has(
        &mistakes(&site, "--public shared"),
        &["no listing of nodes", "scontrol show node"],
    );
}

//! `[overhead]`: what is taken and what is reported when it is wrong.

use gridtally::config::Plan;
use gridtally::config::overhead_plan::NodesFrom;
use gridtally::config::overhead_spec::bytes;
use gridtally::occupancy::{Resource, Scheme};

use super::Scene;

const HEAD: &str =
    "[pipeline]\nname = \"p\"\noutput = \"lake\"\n[[source]]\nname = \"a\"\nformat = \"apel\"\npaths = [\"in\"]\n";

fn mistakes(text: &str) -> String {
    let scene = Scene::new(&[("p.toml", &format!("{HEAD}{text}"))]);
    let error = Plan::load(&scene.path("p.toml")).unwrap_err().to_string();
    error.replace(&format!("{}/", scene.path("").display()).replace("//", "/"), "")
}

#[test]
fn everything_that_can_be_stated() {
    let text = format!(
        "{HEAD}[overhead]\nnodes = [\"nodes.txt\"]\nperiod = {{ from = \"2026-10-01\", to = 2026-11-01 }}\nbilling = \"usage-only\"\n\
         [[overhead.unit]]\nname = \"u\"\ncore = 2\nmemory = \"1.5GiB\"\ngpu = 1\ngpu_model = \"a100\"\npartition = \"gpu\"\n\
         [[overhead.unit]]\npreset = \"osg-cpu\"\n"
    );
    let scene = Scene::new(&[("p.toml", &text)]);
    let (plan, warnings) = Plan::load(&scene.path("p.toml")).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    let overhead = plan.overhead.unwrap();
    assert_eq!(
        (overhead.nodes, overhead.scheme),
        (NodesFrom::Inventory, Scheme::UsageOnly)
    );
    assert_eq!(overhead.period, Some((20_727, 20_758)));
    let model = Resource::GpuModel("a100".to_owned());
    assert_eq!(
        overhead.units[0].thresholds,
        [(Resource::Core, 2), (Resource::Memory, 3 << 29), (model, 1)]
    );
    assert_eq!(overhead.units[0].partitions, ["gpu"]);
    assert_eq!(
        (overhead.units[1].name.as_str(), overhead.units[1].thresholds.len()),
        ("osg-cpu", 2)
    );
    assert_eq!(plan.sources.last().unwrap().name, "nodes");
}

#[test]
fn a_period_before_1970_is_a_mistake() {
    let unit = "[[overhead.unit]]\nname = \"a\"\ncore = 1\n";
    for from in ["0000-01-01", "1969-12-31"] {
        let period = format!("period = {{ from = \"{from}\", to = \"2026-11-01\" }}");
        let reported = mistakes(&format!("[overhead]\nnodes = [\"nodes.txt\"]\n{period}\n{unit}"));
        assert!(
            reported.contains(&format!("from = {from} is not a day from 1970 on")),
            "{reported}"
        );
    }
}

#[test]
fn every_mistake_at_once() {
    let reported = mistakes(
        "[overhead]\nnodes = \"jobs\"\nperiod = { from = \"2026-11-01\", to = \"2026-11-01\" }\nbilling = \"fair\"\n\
         [[overhead.unit]]\nname = \"a\"\ncore = 0\nmemory = \"2 G\"\n[[overhead.unit]]\ngpu_model = \"x\"\n\
         [[overhead.unit]]\nname = \"b\"\npreset = \"osg-gpu\"\ngpu = 1\n",
    );
    for expected in [
        "p.toml:9: nodes is a list of files",
        "p.toml:10: the period is empty",
        "p.toml:11: billing = \"fair\" is not one of",
        "core must be a whole number",
        "memory = \"2 G\" is not a size",
        "gpu_model goes with gpu",
        "[[overhead.unit]] has no name",
        "a preset names its resources itself",
    ] {
        assert!(reported.contains(expected), "{expected}\n{reported}");
    }
    assert!(mistakes("[overhead]\n").contains("[overhead] has no [[overhead.unit]]"));
    let reported = mistakes("[overhead]\n[[overhead.unit]]\npreset = \"osg-cpu\"\n");
    assert!(reported.contains("[overhead] does not know the nodes"), "{reported}");
    let reported = mistakes("[overhead]\nnodes = \"from-jobs\"\n[[overhead.unit]]\nname = \"x\"\n");
    assert!(reported.contains("names no resource"), "{reported}");
    let reported =
        mistakes("[overhead]\nnodes = \"from-jobs\"\n[[overhead.unit]]\nname = \"x\"\ncore = 1\ndisk = \"20GiB\"\n");
    assert!(
        reported.contains("p.toml:13: disk cannot be part of a unit") && reported.contains("what jobs hold of it"),
        "{reported}"
    );
    let twice = "[[overhead.unit]]\npreset = \"osg-cpu\"\n";
    let reported = mistakes(&format!("[overhead]\nnodes = \"from-jobs\"\n{twice}{twice}"));
    assert!(reported.contains("two units are called \"osg-cpu\""), "{reported}");
}

#[test]
fn sizes_are_exact() {
    for (text, expected) in [
        ("2GiB", Some(2 << 30)),
        ("2 GB", Some(2_000_000_000)),
        ("512MiB", Some(512 << 20)),
        ("0.5kB", Some(500)),
        ("7B", Some(7)),
        ("0.3B", None),
        ("0GiB", None),
        ("-1GiB", None),
        ("1G", None),
        ("GiB", None),
        ("9999999999TiB", None),
    ] {
        assert_eq!(bytes(text), expected, "{text}");
    }
}

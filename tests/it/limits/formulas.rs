//! A formula is as long and as deep as a stack can bear.

use super::{DUMPS, HEADER, Scene, pipeline, row};

/// Exit code and words of a run under this formula.
fn run(formula: &str) -> (Option<i32>, String) {
    let scene = Scene::new();
    scene.write(
        "long.toml",
        format!(
            "id = \"long\"\nversion = \"1\"\ntitle = \"Long\"\nsource = \"a test\"\npool = \"cpu\"\nunit = \"point\"\n\
             formula = \"{formula}\"\n[[example]]\nname = \"none\"\nin = {{ cores = 0, seconds = 3600 }}\nexpect = 0\n"
        ),
    );
    scene.write("dumps/a.txt", HEADER.to_owned() + &row(1, &[]));
    let source = format!("{DUMPS}\nsite = \"S\"\nvo = {{ value = \"v\" }}");
    scene.write("p.toml", pipeline(&source, "[[charge]]\npolicies = [\"long.toml\"]"));
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_gridtally"))
        .args(["run", "p.toml"])
        .current_dir(scene.path("."))
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[test]
fn a_formula_too_long_or_too_deep_is_a_mistake() {
    for (formula, words) in [
        (
            vec!["cores"; 10_000].join(" + "),
            "more than 250 words, numbers and signs",
        ),
        ("- ".repeat(10_000) + "cores", "more than 250 words, numbers and signs"),
        (
            "(".repeat(41) + "cores" + &")".repeat(41),
            "more than 40 brackets within one another",
        ),
    ] {
        let (code, reported) = run(&formula);
        assert_eq!(code, Some(78), "{reported}");
        assert!(
            reported.contains(words) && reported.contains("long.toml:7"),
            "{reported}"
        );
    }
    let (code, reported) = run(&vec!["cores"; 120].join(" + "));
    assert_eq!(code, Some(0), "{reported}");
}

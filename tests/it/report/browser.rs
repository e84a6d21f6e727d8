//! The page of a site in a browser, by keyboard. Without a Chromium on the machine this is skipped, with a message.

use std::process::Command;

use serde_json::Value;

use crate::support::python::python;
use crate::support::sample::{lake, run};

/// The first Chromium there is.
fn browser() -> Option<&'static str> {
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let found = names.into_iter().find(|name| {
        let asked = Command::new(name).arg("--version").output();
        asked.is_ok_and(|output| output.status.success())
    });
    if found.is_none() {
        eprintln!("SKIPPED report::browser: there is no Chromium on this machine");
    }
    found
}

fn texts(value: &Value) -> Vec<String> {
    let all = value.as_array().unwrap().iter();
    all.map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// Tab goes through the heads of all tables; Enter sorts a table up, the space bar down, and the totals stay where they are.
#[test]
fn tables_sort_by_keyboard_and_nothing_is_fetched() {
    let Some(browser) = browser() else { return };
    let here = tempfile::tempdir().unwrap();
    let out = here.path().join("board");
    run(Command::new(env!("CARGO_BIN_EXE_gridtally"))
        .args(["report", "site"])
        .arg(lake())
        .args(["--site", "ALP-T2", "--out"])
        .arg(&out));
    // A folder for the pictures can be set.
    let kept = std::env::var_os("GRIDTALLY_SCREENSHOTS").map(std::path::PathBuf::from);
    let shots = kept.unwrap_or_else(|| here.path().join("shots"));
    std::fs::create_dir_all(&shots).unwrap();
    let page = out.join("index.html");
    let answer = python(
        include_str!("page.py"),
        &[browser, page.to_str().unwrap(), shots.to_str().unwrap()],
    );
    let reported: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(reported["stated"], Value::Array(Vec::new()), "the console stays empty");
    let asked = texts(&reported["asked"]);
    assert!(!asked.is_empty());
    for url in &asked {
        assert!(url.starts_with("file://") || url.starts_with("data:"), "{url}");
    }
    for (width, shown) in reported["widths"].as_object().unwrap() {
        assert!(
            shown.as_u64().unwrap() <= width.parse().unwrap(),
            "wider than the window: {width}: {shown}"
        );
    }
    assert_eq!(reported["pdf"], "%PDF-");
    let html = std::fs::read_to_string(&page).unwrap();
    let heads = reported["heads"].as_array().unwrap();
    assert_eq!(
        heads.len(),
        html.matches("<th scope=\"col\"").count(),
        "every head is reached"
    );
    let mut moved = 0;
    for head in heads {
        let (before, up, down) = (&head["before"], &head["up"], &head["down"]);
        let what = format!("{} of {}", head["column"], head["section"]);
        assert_eq!(
            (&up["sort"], &down["sort"]),
            (&"ascending".into(), &"descending".into()),
            "{what}"
        );
        assert_eq!((&up["sorted"], &down["sorted"]), (&1.into(), &1.into()), "{what}");
        assert_eq!(
            (&up["foot"], &down["foot"]),
            (&before["foot"], &before["foot"]),
            "{what}"
        );
        assert!(
            head["ring"].as_str().unwrap().starts_with("solid"),
            "{what}: {}",
            head["ring"]
        );
        let sorted = |state: &Value| {
            let mut rows = texts(&state["rows"]);
            rows.sort();
            rows
        };
        assert_eq!((sorted(up), sorted(down)), (sorted(before), sorted(before)), "{what}");
        moved += usize::from(up["rows"] != down["rows"]);
        let cells = |state: &Value| -> Vec<String> {
            texts(&state["cells"])
                .into_iter()
                .filter(|cell| !cell.is_empty())
                .collect()
        };
        if head["is_number"] == true {
            let numbers =
                |state: &Value| -> Vec<f64> { cells(state).iter().map(|cell| cell.parse().unwrap()).collect() };
            assert!(numbers(up).is_sorted(), "{what}: {up}");
            assert!(numbers(down).is_sorted_by(|a, b| a >= b), "{what}: {down}");
        } else {
            let mut back = cells(down);
            back.reverse();
            assert_eq!(cells(up), back, "{what}");
        }
        // What is unknown stands last either way.
        for state in [up, down] {
            let cells = texts(&state["cells"]);
            let known = cells.iter().take_while(|cell| !cell.is_empty()).count();
            assert!(cells[known..].iter().all(String::is_empty), "{what}");
        }
    }
    assert!(moved > 10, "{moved}");
    assert!(shots.join("1280.png").exists() && shots.join("480.png").exists() && shots.join("print.pdf").exists());
}

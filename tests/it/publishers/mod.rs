//! What others would have published of the same jobs: each mode against its publisher's own results, or worked by hand.

mod golden;
mod gratia;
mod modes;
mod whole;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use gridtally::audit::verify;
use gridtally::compat::{PeerCell, PeerDimension, PeerMode, PeerReportQuestion, WorkReport, report};
use gridtally::config::Plan;
use gridtally::reference::benchmark::BenchmarkTable;
use gridtally::reference::site_rename::SiteRenames;
use gridtally::report::lake::Selection;
use gridtally::run::{RunOptions, stages as pipeline};
use gridtally::runtime::progress::Silent;

/// A folder with a pipeline and the lake it made.
struct Lake {
    dir: tempfile::TempDir,
}

impl Lake {
    /// Writes `files`, and runs a pipeline of these lines.
    fn new(files: &[(&str, &str)], lines: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = dir.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let head = "[pipeline]\nname = \"p\"\noutput = \"out\"\nattribution = \"by-end\"\nmax_rejected = 1.0\n";
        let file = dir.path().join("p.toml");
        fs::write(&file, format!("{head}{lines}")).unwrap();
        let (plan, _) = Plan::load(&file).unwrap();
        pipeline::run(&plan, &RunOptions::default(), &Silent).unwrap();
        let lake = Self { dir };
        let verdict = verify::verify(&lake.out()).unwrap();
        assert!(verdict.is_sound(), "{}", verdict.text());
        lake
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn out(&self) -> String {
        self.path().join("out").to_str().unwrap().to_owned()
    }

    /// What a mode makes of it, by these columns.
    fn work(&self, mode: PeerMode, by: &str) -> WorkReport {
        self.ask(mode, by, &SiteRenames::default(), None)
    }

    fn ask(&self, mode: PeerMode, by: &str, renames: &SiteRenames, site_values: Option<&BenchmarkTable>) -> WorkReport {
        let by = match by {
            "all" => PeerDimension::all(),
            list => list
                .split(',')
                .map(|name| PeerDimension::parse(name).unwrap())
                .collect(),
        };
        let question = PeerReportQuestion {
            mode,
            site_values,
            by: Some(by),
            selection: &Selection::default(),
            renames,
        };
        report(&self.out(), &question).unwrap()
    }
}

/// A cell as its columns.
fn columns(report: &WorkReport, cell: &PeerCell) -> BTreeMap<&'static str, String> {
    let mut columns = BTreeMap::from([("site", cell.site.clone()), ("month", cell.month.to_string())]);
    for (dimension, value) in report.by.iter().zip(&cell.dimensions) {
        columns.insert(dimension.as_str(), value.clone().unwrap_or_default());
    }
    for name in [
        "job_n",
        "wall_s",
        "cpu_s",
        "core_wall_s",
        "normalised_wall_s",
        "normalised_cpu_s",
        "native_wall_s",
        "native_cpu_s",
        "native_core_wall_s",
        "wall_difference_s",
        "cpu_difference_s",
        "egi_cpu_efficiency_percent",
        "wlcg_cpu_efficiency_percent",
        "core_unknown_job_n",
        "native_unknown_job_n",
        "earliest_end_utc",
        "latest_end_utc",
    ] {
        columns.insert(name, cell.measure(name).unwrap());
    }
    columns
}

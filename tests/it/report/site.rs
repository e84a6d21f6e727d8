//! The page of a site: its numbers are the lake's, and it fetches nothing.

use std::process::Command;

use gridtally::report::lake::{Lake, Selection};
use gridtally::report::site::data::SiteData;

use crate::support::python::python;
use crate::support::sample::{lake, run};

#[test]
fn the_page_says_what_the_lake_says() {
    let here = tempfile::tempdir().unwrap();
    let out = here.path().join("board");
    for site in ["ALP-T2", "BAY/GRID"] {
        run(Command::new(env!("CARGO_BIN_EXE_gridtally"))
            .args(["report", "site"])
            .arg(lake())
            .args(["--site", site, "--out"])
            .arg(&out));
        let page = std::fs::read_to_string(out.join("index.html")).unwrap();
        let csv = std::fs::read_to_string(out.join("usage.csv")).unwrap();
        let names: Vec<_> = std::fs::read_dir(&out)
            .unwrap()
            .map(|f| f.unwrap().file_name())
            .collect();
        assert_eq!(names.len(), 2, "{names:?}");
        // DuckDB's opinion of the same lake, and of the file beside the page.
        let sql = format!(
            "import duckdb, sys\n\
             lake = duckdb.sql(f\"\"\"SELECT sum(job_n), round(sum(alloc_core_s) / 3600, 2) FROM read_parquet('{{sys.argv[1]}}/usage/**/*.parquet', \
             hive_partitioning = true) WHERE site = '{site}' AND view IN ('batch', 'summary')\"\"\").fetchall()[0]\n\
             file = duckdb.sql(f\"SELECT sum(jobs), sum(core_hours) FROM read_csv('{{sys.argv[2]}}') WHERE view IN ('batch', 'summary')\").fetchall()[0]\n\
             assert lake[0] == file[0], (lake, file)\n\
             assert abs(float(lake[1]) - float(file[1])) < 0.5, (lake, file)\n\
             print(lake[0], '%.2f' % lake[1])"
        );
        let csv_path = out.join("usage.csv");
        let answer = python(&sql, &[&lake().to_string_lossy(), &csv_path.to_string_lossy()]);
        let mut words = answer.split_whitespace();
        let (jobs, hours) = (words.next().unwrap(), words.next().unwrap());
        assert!(page.contains(&format!("<dt>jobs</dt><dd>{jobs}</dd>")), "{jobs}");
        assert!(
            page.contains(&format!("<dt>core hours</dt><dd>{hours}</dd>")),
            "{hours}"
        );
        // Each table's total is the lake's, rounded once: not a sum of rounded months.
        let totals: Vec<_> = page.split("<tfoot>").skip(1).take(2).collect();
        assert_eq!(totals.len(), 2);
        for total in totals {
            let (total, _) = total.split_once("</tfoot>").unwrap();
            assert!(total.contains(&format!(">{hours}<")), "{hours} is not in {total}");
        }
        assert!(csv.starts_with("month,vo,view,jobs,core_hours,cpu_hours,"), "{csv}");
        let page = page.replace("<link rel=\"icon\" href=\"data:,\">", "");
        for forbidden in ["http:", "https:", "src=", "@import", "url(", "<link", "NaN"] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
        assert_eq!(page.matches("<table").count(), page.matches("</table>").count());
        assert!(page.matches("<svg").count() >= 2 && page.contains("What the terms mean"));
    }
}

/// Names in a lake are not ours to trust.
#[test]
fn names_cannot_break_out_of_the_page() {
    let scene = super::scene::Scene::new();
    scene.write(
        "in/1.msg",
        "APEL-summary-job-message: v0.2\nSite: S\nMonth: 3\nYear: 2025\nVO: <script>alert(1)</script>\"'&\nNodeCount: 1\n\
         Processors: 8\nWallDuration: 3600\nCpuDuration: 7200\nNumberOfJobs: 5\nServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n",
    );
    let lake: Lake = scene.of_messages("lake", &[&scene.path("in")]);
    let data = SiteData::read(&lake, "S", &Selection::default()).unwrap();
    let page = gridtally::report::site::page::write(&data);
    assert!(!page.contains("<script>alert"), "a name became code");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;"));
    assert_eq!(data.total().job_n, 5);
    let error = SiteData::read(&lake, "T", &Selection::default()).unwrap_err();
    assert!(error.to_string().contains("it has S"), "{error}");
}

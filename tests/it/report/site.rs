//! The page of a site: its numbers are the lake's, and it fetches nothing.

use std::collections::BTreeSet;
use std::process::Command;

use gridtally::report::lake::{Lake, Selection};
use gridtally::report::site::chart::{Series, percentages, stacked};
use gridtally::report::site::data::SiteData;

use crate::support::python::python;
use crate::support::sample::{lake, run};

#[test]
fn the_page_states_what_the_lake_states() {
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
        let mut names: Vec<_> = std::fs::read_dir(&out)
            .unwrap()
            .map(|f| f.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        // Only ALP-T2 has nodes and node types. Data the lake does not have is marked as absent, and files of an earlier page do not stay next to this one.
        let expected: &[&str] = if site == "ALP-T2" {
            &["capacity.csv", "charges.csv", "index.html", "overhead.csv", "usage.csv"]
        } else {
            &["charges.csv", "index.html", "usage.csv"]
        };
        assert_eq!(names, expected);
        assert_eq!(page.matches("<p>Absent:").count(), 5 - expected.len());
        // DuckDB's opinion of the same lake, and of the file next to the page.
        let sql = format!(
            "import duckdb, sys\n\
             lake = duckdb.sql(f\"\"\"SELECT sum(job_n), round(sum(alloc_core_s) / 3600, 9) FROM read_parquet('{{sys.argv[1]}}/usage/**/*.parquet', \
             hive_partitioning = true) WHERE site = '{site}' AND view IN ('batch', 'summary')\"\"\").fetchall()[0]\n\
             file = duckdb.sql(f\"SELECT sum(jobs), sum(core_hours) FROM read_csv('{{sys.argv[2]}}') WHERE view IN ('batch', 'summary')\").fetchall()[0]\n\
             assert lake[0] == file[0], (lake, file)\n\
             assert abs(float(lake[1]) - float(file[1])) < 0.5, (lake, file)\n\
             print(lake[0], '%.9f' % lake[1])"
        );
        let csv_path = out.join("usage.csv");
        let answer = python(&sql, &[&lake().to_string_lossy(), &csv_path.to_string_lossy()]);
        let mut words = answer.split_whitespace();
        let (jobs, hours) = (words.next().unwrap(), words.next().unwrap());
        assert!(page.contains(&format!("<dt>jobs</dt><dd>{jobs}</dd>")), "{jobs}");
        assert!(
            page.contains(&format!("<dt>core hours</dt><dd title=\"{hours}\">")),
            "{hours}"
        );
        // Each table's total is the lake's, rounded once: not a sum of rounded months.
        let totals: Vec<_> = page.split("<tfoot>").skip(1).take(2).collect();
        assert_eq!(totals.len(), 2);
        for total in totals {
            let (total, _) = total.split_once("</tfoot>").unwrap();
            assert!(
                total.contains(&format!("data-v=\"{hours}\"")),
                "{hours} is not in {total}"
            );
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

/// The data next to usage, by DuckDB from the lake: capacity, charges and overhead of the page are the lake's.
#[test]
fn capacity_charges_and_overhead_are_the_lakes() {
    let scene = super::money::charged("month");
    let (lake, board) = (scene.path("lake"), scene.path("board"));
    run(Command::new(env!("CARGO_BIN_EXE_gridtally"))
        .args(["report", "site"])
        .arg(&lake)
        .args(["--site", "ALP-T2", "--from", "2026-01", "--to", "2026-04", "--out"])
        .arg(&board));
    let answer = python(
        "import duckdb, sys\n\
         lake, board = sys.argv[1:]\n\
         def one(sql): return [str(x) for x in duckdb.sql(sql).fetchall()[0]]\n\
         within = \"site = 'ALP-T2' AND month BETWEEN DATE '2026-01-01' AND DATE '2026-04-01'\"\n\
         def table(name): return f\"read_parquet('{lake}/{name}/**/*.parquet', hive_partitioning = true)\"\n\
         print(*one(f\"SELECT sum(logical_cpu_s) / 3600 FROM {table('capacity')} WHERE {within}\"))\n\
         print(*one(f\"SELECT sum(installed_core_hours) FROM '{board}/capacity.csv'\"))\n\
         print(*one(f\"SELECT sum(charge), sum(job_n)::BIGINT FROM {table('charges')} WHERE {within} AND policy = 'cores' AND view = 'batch'\"))\n\
         print(*one(f\"SELECT charge, jobs FROM '{board}/charges.csv' WHERE policy = 'cores' AND vo = '(all)'\"))\n\
         bills = \"policy LIKE 'node-share%' AND options LIKE 'unit=1core+2GiB %'\"\n\
         for pool, of in ('core', 3600), ('memory', 3600 * 2**30), ('gpu', 3600):\n\
         \x20   print(*one(f\"SELECT sum(charge) / {of}, sum(job_n)::BIGINT FROM {table('charges')} WHERE {within} AND {bills} AND pool = '{pool}' AND view = 'batch'\"))\n\
         \x20   print(*one(f\"SELECT charge, jobs FROM '{board}/charges.csv' WHERE pool = '{pool}' AND unit = {dict(core='core h', memory='GiB h', gpu='gpu h')[pool]!r} AND policy LIKE '%[unit=1core+2GiB %' AND vo = '(all)'\"))\n\
         unit = \"cluster = 'glacier'\"\n\
         print(*one(f\"SELECT sum(capacity_core_s) / 3600, round(100 * sum(overhead_core_s) / sum(capacity_core_s), 1) FROM {table('overhead')} WHERE {within} AND {unit} AND \\\"unit\\\" = '1core+2GiB'\"))\n\
         print(*one(f\"SELECT capacity, overhead FROM '{board}/overhead.csv' WHERE {unit} AND canonical_unit = '1core+2GiB'\"))",
        &[lake.to_str().unwrap(), board.to_str().unwrap()],
    );
    let numbers: Vec<Vec<f64>> = (answer.lines())
        .map(|line| line.split_whitespace().map(|word| word.parse().unwrap()).collect())
        .collect();
    assert_eq!(numbers.len(), 12, "{answer}");
    for pair in numbers.chunks(2) {
        for (lake, page) in pair[0].iter().zip(&pair[1]) {
            assert!(*lake > 0.0 && (lake - page).abs() < 0.011, "{answer}");
        }
    }
    // Files are for computation: a policy that charges in its own unit has every digit of the lake.
    let exact = |at: usize| answer.lines().nth(at).unwrap().split(' ').next().unwrap();
    assert_eq!(exact(2), exact(3), "{answer}");
    let page = std::fs::read_to_string(board.join("index.html")).unwrap();
    assert!(!page.contains("<p>Absent:") && page.contains("charges.csv</a>, with 9 decimals."));
    for name in ["capacity.csv", "charges.csv", "overhead.csv"] {
        assert!(page.contains(&format!("href=\"{name}\"")));
    }
    // Charges of two policies are never added up, and are in tables of their own.
    let charges = page
        .split("id=\"charges\"")
        .nth(1)
        .unwrap()
        .split("</section>")
        .next()
        .unwrap();
    // One policy at a time, under its display name; its pools are shown together.
    let titles: Vec<&str> = charges
        .split("<h3>")
        .skip(1)
        .map(|rest| rest.split("</h3>").next().unwrap())
        .collect();
    assert_eq!(
        titles,
        [
            "cores",
            "dollars",
            "gpus",
            "1core+2GiB, overhead-aware",
            "osg-gpu, overhead-aware",
            "slurm-tres",
            "wlcg-work"
        ]
    );
    assert_eq!(charges.matches("<table").count(), titles.len());
    assert!(
        !charges.contains("byte s<") && !charges.contains("memory_byte"),
        "{charges}"
    );
    let pools = "<th scope=\"col\" class=\"n\">core h</th><th scope=\"col\" class=\"n\">jobs</th>";
    assert_eq!(charges.matches(pools).count(), 2, "{charges}");
    assert!(
        charges.contains("Jobs without a price, which are not in these sums: "),
        "{charges}"
    );
    // A dollar has its cents, a core hour has none where there are many.
    let total = |of: &str| {
        let section = charges.split(&format!("<h3>{of}</h3>")).nth(1).unwrap();
        let foot = section.split("<tfoot>").nth(1).unwrap();
        let cell = foot.split("<td class=\"n\"").nth(1).unwrap().split('>').nth(1).unwrap();
        cell.split('<').next().unwrap().to_owned()
    };
    assert!(
        total("dollars").contains('.') && !total("cores").contains('.'),
        "{charges}"
    );
    assert!(total("cores").contains('\u{202f}'), "{charges}");
    // No part of a head is repeated, and no column is called by its suffix.
    let heads: Vec<&str> = page
        .split("<th scope=\"col\"")
        .skip(1)
        .map(|rest| rest.split("</th>").next().unwrap())
        .collect();
    for head in &heads {
        assert!(
            !head.contains("hours <span") && !head.contains(" n<") && !head.ends_with(" n"),
            "{head}"
        );
    }
    assert!(heads.iter().any(|head| head.ends_with(">days")), "{heads:?}");
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
    let page = gridtally::report::site::page::write(&data).unwrap();
    assert!(!page.contains("<script>alert"), "a name became code");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;"));
    assert_eq!(data.total().job_n, 5);
    // APEL records contain no GPUs, and page and file do not call that zero.
    assert_eq!(data.total().gpu_s, None);
    assert!(page.contains("<div><dt>GPU hours</dt><dd>unknown</dd></div>"), "{page}");
    assert_eq!(data.table().rows[0][7].to_string(), "");
    let error = SiteData::read(&lake, "T", &Selection::default()).unwrap_err();
    assert!(error.to_string().contains("it has S"), "{error}");
}

#[test]
fn a_scale_is_reported_in_numbers_that_differ() {
    for tenths in [1, 7, 33, 47, 120, 990, 4000] {
        let drawn = percentages("t", "w", &["2026-01".to_owned()], &[Some(tenths)]).unwrap();
        let words = drawn.split(['<', '>']).map(str::trim);
        let labels: Vec<&str> = words.filter(|word| word.parse::<u32>().is_ok()).collect();
        let distinct: BTreeSet<&str> = labels.iter().copied().collect();
        assert_eq!((labels.len(), distinct.len()), (6, 6), "{tenths}: {labels:?}");
    }
}

/// The only site of a lake need not be named; of several the error names them all.
#[test]
fn the_only_site_of_a_lake_is_taken() {
    let scene = super::scene::Scene::new();
    let message = |site: &str| {
        format!(
            "APEL-summary-job-message: v0.2\nSite: {site}\nMonth: 3\nYear: 2025\nVO: atlas\nNodeCount: 1\nProcessors: 8\n\
             WallDuration: 3600\nCpuDuration: 7200\nNumberOfJobs: 5\nServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n"
        )
    };
    scene.write("one/1.msg", &message("S"));
    scene.write("two/1.msg", &message("T"));
    scene.of_messages("single", &[&scene.path("one")]);
    scene.of_messages("both", &[&scene.path("one"), &scene.path("two")]);
    let page_of = |lake: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridtally"));
        command.args(["report", "site"]).arg(scene.path(lake));
        command.arg("--out").arg(scene.path("board")).output().unwrap()
    };
    let single = page_of("single");
    assert!(single.status.success(), "{}", String::from_utf8_lossy(&single.stderr));
    assert!(String::from_utf8_lossy(&single.stderr).contains("S: index.html"));
    let both = page_of("both");
    let why = String::from_utf8_lossy(&both.stderr);
    assert_eq!(both.status.code(), Some(2), "{why}");
    assert!(
        why.contains("a page is about one site: --site NAME, once; the lake has S, T"),
        "{why}"
    );
}

/// Page and file are made of the same hours, each rounded once.
#[test]
fn the_page_rounds_once() {
    let scene = super::scene::Scene::new();
    scene.write(
        "dump.txt",
        "JobIDRaw|Cluster|User|Account|Submit|Start|End|ElapsedRaw|State|NCPUS|AllocTRES|TotalCPU\n\
         1|ice|u|kelp|2026-03-01T00:00:00|2026-03-01T00:00:00|2026-03-04T00:00:00|259200|COMPLETED|1|cpu=1,node=1|51:26:53\n\
         2|ice|u|moss|2026-03-01T00:00:00|2026-03-01T00:00:00|2026-03-02T00:00:00|86400|COMPLETED|10|cpu=10,node=1|200:00:00\n\
         3|ice|u|reef|2026-03-01T00:00:00|2026-03-01T00:00:00|2026-03-01T00:00:01|1|COMPLETED|1|cpu=1,node=1|00:00:01\n",
    );
    let source =
        "format = \"sacct\"\npaths = [\"dump.txt\"]\nsite = \"S\"\ntimezone = \"UTC\"\nvo = { column = \"account\" }\n";
    let lake = scene.lake("lake", source, "");
    let data = SiteData::read(&lake, "S", &Selection::default()).unwrap();
    let cpu_hours: Vec<String> = data.table().rows.iter().map(|row| row[5].to_string()).collect();
    assert_eq!(cpu_hours, ["51.448055556", "200.000000000", "0.000277778"]);
    let page = gridtally::report::site::page::write(&data).unwrap();
    // 51.45 would become 51.5.
    for cell in [
        "data-v=\"51.448055556\">51.4</td>",
        "data-v=\"200.000000000\">200.0</td>",
        "data-v=\"0.000277778\">&lt; 0.1</td>",
    ] {
        assert!(page.contains(cell), "{cell} is not in {page}");
    }
}

/// Series of less than an hour have a height.
#[test]
fn bars_are_as_high_as_their_seconds() {
    let drawn = |seconds: i128| {
        let series = Series {
            name: "kelp".to_owned(),
            values: vec![seconds],
        };
        stacked("t", "core hours", &["2026-01".to_owned()], &[series]).unwrap()
    };
    assert_ne!(drawn(1440), drawn(0));
    // The scale ends at the next whole hour at least.
    assert_eq!(drawn(5 * 3600).matches(">5<").count(), drawn(0).matches(">5<").count());
    assert_ne!(drawn(5 * 3600), drawn(5 * 3600 + 1));
}

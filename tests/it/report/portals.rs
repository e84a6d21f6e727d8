//! What the tables of federations are called, and what they keep apart: infrastructures, VOs in other letters.

use gridtally::reference::federation_site::FederationSites;
use gridtally::reference::pledge::Pledges;
use gridtally::report::apel::MessageKind;
use gridtally::report::apel::aggregate::Aggregate;
use gridtally::report::federation::gather;
use gridtally::report::lake::Selection;
use gridtally::report::table::Cell;
use gridtally::report::vo_case::{VoCase, VoCaseOutcome};
use gridtally::report::work_scale::WorkScale;
use gridtally::report::{osg, portal};

use super::scene::Scene;

/// A table is named by the benchmark its work is in, and by how jobs are attributed to months.
#[test]
fn tables_are_named_by_the_benchmark_they_are_in() {
    let scene = Scene::new();
    let message = |level: &str| {
        format!(
            "APEL-summary-job-message: v0.4\nSite: S\nMonth: 2\nYear: 2015\nVO: reef\nSubmitHost: ce\n\
             InfrastructureType: grid\nNodeCount: 1\nProcessors: 1\nWallDuration: 3600\nCpuDuration: 3600\n\
             NumberOfJobs: 1\nServiceLevel: {{{level}}}\n%%\n"
        )
    };
    for (name, level, title, unit, word) in [
        (
            "old",
            "hepspec: 10",
            "HEPSPEC06 (no HEPscore23 is known)",
            "HS06-hours",
            "hs06",
        ),
        (
            "si2k",
            "si2k: 2500",
            "HEPSPEC06 (no HEPscore23 is known)",
            "HS06-hours",
            "hs06",
        ),
        ("new", "HEPscore23: 10", "HEPscore23", "HS23-hours", "hs23"),
    ] {
        scene.write(&format!("{name}-in/1.msg"), &message(level));
        let lake = scene.of_messages(name, &[&scene.path(&format!("{name}-in"))]);
        let groups = gather(&lake, &Selection::default()).unwrap().groups;
        let counted = "jobs whole in the UTC month of their end";
        let nothing = (FederationSites::default(), Pledges::default());
        let tables = [
            (portal::egi(&groups, WorkScale::Hs23).unwrap(), "EGI view"),
            (
                portal::export(&groups, WorkScale::Hs23, &nothing.0).unwrap(),
                "EGI portal export",
            ),
            (
                portal::wlcg(&groups, WorkScale::Hs23, &nothing.0, &nothing.1).unwrap(),
                "WLCG view",
            ),
            (
                osg::report(&groups, WorkScale::Hs23, &nothing.0, "now").unwrap(),
                "OSG federation report",
            ),
        ];
        for (table, head) in &tables {
            assert_eq!(table.title, format!("{head}, work in {title}; {counted}"));
            assert!(table.columns.iter().any(|column| column.unit == unit), "{name}: {head}");
        }
        assert_eq!(tables[1].0.rows[0][1].to_string(), word);
    }
    // Both in one selection: HS06 counts as HS23, and the title names it.
    scene.write("both-in/1.msg", &message("hepspec: 10"));
    scene.write(
        "both-in/2.msg",
        &message("HEPscore23: 10").replace("Month: 2", "Month: 3"),
    );
    let lake = scene.of_messages("both", &[&scene.path("both-in")]);
    let groups = gather(&lake, &Selection::default()).unwrap().groups;
    let table = portal::egi(&groups, WorkScale::Hs23).unwrap();
    assert!(
        table.title.contains("HEPscore23 (HS06 counts as it, one to one)"),
        "{}",
        table.title
    );
}

/// Jobs that state no infrastructure are neither grid nor local, until their source states it.
#[test]
fn unknown_infrastructure_is_neither_grid_nor_local() {
    let scene = Scene::new();
    scene.write(
        "jobs.txt",
        "JobIDRaw|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|AllocTRES|TotalCPU\n\
         7|oak|u|a|COMPLETED|2026-03-01T00:00:00|2026-03-01T00:00:00|2026-03-01T01:00:00|3600|4|cpu=4,node=1|00:10:00\n",
    );
    scene.write(
        "benchmarks.csv",
        "site,cluster,partition,nodes,benchmark,value_per_core,cores,valid_from,valid_to,recorded_at,source\nT,,,,hs23,10,,2026-01-01,,2026-01-01,measured\n",
    );
    let nothing = (FederationSites::default(), Pledges::default());
    for (name, stated, expected, is_noted) in [
        ("none", "", ["0.00", "0.00", "40.00"], true),
        ("grid", "infrastructure = \"grid\"\n", ["40.00", "0.00", "0.00"], false),
        (
            "local",
            "infrastructure = \"local\"\n",
            ["0.00", "40.00", "0.00"],
            false,
        ),
    ] {
        let source = format!(
            "format = \"sacct\"\npaths = [\"jobs.txt\"]\nsite = \"T\"\ntimezone = \"UTC\"\nvo = {{ value = \"v\" }}\n{stated}"
        );
        let lake = scene.lake(
            name,
            &source,
            "[normalise]\nbenchmarks = \"benchmarks.csv\"\nmissing = \"null\"\n",
        );
        let usage = gather(&lake, &Selection::default()).unwrap();
        let table = portal::wlcg(&usage.groups, WorkScale::Hs23, &nothing.0, &nothing.1).unwrap();
        let parts: Vec<String> = table.rows[0][10..13].iter().map(ToString::to_string).collect();
        assert_eq!(parts, expected, "{name}");
        assert_eq!(
            usage.notes.iter().any(|note| note.contains("infrastructure unknown")),
            is_noted
        );
    }
}

/// The server takes names that differ in letter case for one; a lake keeps them, and a report merges them when asked.
#[test]
fn vos_in_other_letters_are_merged_when_asked() {
    let scene = Scene::new();
    let record = |vo: &str, month: u8, n: u8| {
        format!(
            "Site: S\nMonth: {month}\nYear: 2025\nVO: {vo}\nSubmitHost: ce{n}\nInfrastructureType: grid\nNodeCount: 1\n\
             Processors: 1\nWallDuration: 3600\nCpuDuration: 3600\nNumberOfJobs: 1\nServiceLevel: {{hepspec: 10}}\n%%\n"
        )
    };
    let rows = [
        record("Reef", 2, 1),
        record("reef", 2, 2),
        record("reef", 3, 1),
        record("kelp", 2, 1),
    ];
    scene.write(
        "in/1.msg",
        &format!("APEL-summary-job-message: v0.4\n{}", rows.concat()),
    );
    let lake = scene.of_messages("lake", &[&scene.path("in")]);
    let mut groups = gather(&lake, &Selection::default()).unwrap().groups;
    let table = portal::egi(&groups, WorkScale::Hs23).unwrap();
    assert_eq!(table.rows.len(), 4);
    let case = VoCase::find(&groups);
    let note = case.note(VoCaseOutcome::KeptApart).unwrap();
    assert!(
        note.contains("Reef/reef") && note.contains(" 2 rows") && note.contains("--merge-case"),
        "{note}"
    );
    case.merge(&mut groups);
    let merged = portal::egi(&groups, WorkScale::Hs23).unwrap();
    assert_eq!(merged.rows.len(), 3);
    assert_eq!(
        merged.totals().unwrap().unwrap()[3],
        table.totals().unwrap().unwrap()[3]
    );
    assert_eq!(VoCase::find(&groups).note(VoCaseOutcome::Merged), None);
}

/// The same of single jobs, whose groups are added up by the keys of the server.
#[test]
fn vos_of_jobs_in_other_letters_are_kept_apart() {
    let scene = Scene::new();
    let record = |vo: &str, id: u8| {
        format!(
            "Site: S\nSubmitHost: ce\nMachineName: m\nQueue: q\nLocalJobId: {id}\nVO: {vo}\nWallDuration: 3600\n\
             CpuDuration: 3600\nProcessors: 1\nNodeCount: 1\nStartTime: 1739613600\nEndTime: 1739617200\n\
             InfrastructureType: grid\nServiceLevelType: HEPSPEC\nServiceLevel: 10\n%%\n"
        )
    };
    let rows = [
        record("reef", 1),
        record("Reef", 2),
        record("Reef", 3),
        record("REEF", 4),
    ];
    scene.write(
        "in/1.msg",
        &format!("APEL-individual-job-message: v0.3\n{}", rows.concat()),
    );
    let lake = scene.of_messages("lake", &[&scene.path("in")]);
    let mut groups = gather(&lake, &Selection::default()).unwrap().groups;
    let jobs = |groups: &[Aggregate]| -> Vec<(String, String)> {
        let table = portal::egi(groups, WorkScale::Hs23).unwrap();
        let cells = table.rows.iter().map(|row| (row[1].to_string(), row[3].to_string()));
        cells.collect()
    };
    let apart = [("REEF", "1"), ("Reef", "2"), ("reef", "1")];
    let owned = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(vo, n)| ((*vo).to_owned(), (*n).to_owned()))
            .collect()
    };
    assert_eq!(jobs(&groups), owned(&apart));
    let case = VoCase::find(&groups);
    assert!(
        case.note(VoCaseOutcome::KeptApart)
            .is_some_and(|note| note.contains("REEF/Reef/reef"))
    );
    case.merge(&mut groups);
    assert_eq!(jobs(&groups), owned(&[("REEF", "4")]));
    // Messages have one record of them, and report it; counts of jobs have no VO.
    for (kind, is_reported) in [(MessageKind::SummaryV02, true), (MessageKind::Sync, false)] {
        let published = scene.send(&lake, kind, kind.as_str());
        assert_eq!(published.sent.values().map(|sent| sent.record_n).sum::<i64>(), 1);
        let note = "VO names that differ in letter case alone: REEF/Reef/reef; they share a site and month in 3 rows: one \
                    record where all else is equal, under the spelling of the job that ended first, as on APEL's server";
        assert_eq!(
            published.lines(),
            if is_reported { vec![note] } else { vec![] },
            "{kind:?}"
        );
    }
}

/// CPU time that is unknown is not zero: it is empty where no job has any, and the jobs without are counted.
#[test]
fn unknown_cpu_time_is_counted() {
    let scene = Scene::new();
    let job = |id: u32, vo: &str, cpu: &str| {
        format!(
            "{{\"SiteName\":\"S\",\"ProbeName\":\"p\",\"LocalJobId\":\"{id}\",\"VOName\":\"{vo}\",\"Processors\":2,\
             \"StartTime\":\"2026-03-01T00:00:00Z\",\"EndTime\":\"2026-03-01T01:00:00Z\",\"WallDuration\":3600{cpu}}}\n"
        )
    };
    let known = ",\"CpuDuration\":3600,\"CpuDuration_user\":3600,\"CpuDuration_system\":0";
    let zero = ",\"CpuDuration\":0,\"CpuDuration_user\":0,\"CpuDuration_system\":0";
    let jobs = [
        job(1, "kelp", ""),
        job(2, "reef", known),
        job(3, "reef", ""),
        job(4, "still", zero),
    ];
    scene.write("jobs.json", &jobs.concat());
    let lake = scene.lake("lake", "format = \"gracc\"\npaths = [\"jobs.json\"]", "");
    let groups = gather(&lake, &Selection::default()).unwrap().groups;
    let nothing = (FederationSites::default(), Pledges::default());
    let tables = [
        (
            portal::egi(&groups, WorkScale::Hs23).unwrap(),
            ["sum_cpu", "cpu_efficiency_raw", "cpu_unknown_jobs"],
            [["", "", "1"], ["1.00", "25.0", "1"], ["0.00", "0.0", "0"]],
        ),
        (
            portal::wlcg(&groups, WorkScale::Hs23, &nothing.0, &nothing.1).unwrap(),
            ["cpu_time", "efficiency", "cpu_unknown_jobs"],
            [["", "", "1"], ["1.00", "25.0", "1"], ["0.00", "0.0", "0"]],
        ),
        (
            osg::report(&groups, WorkScale::Hs23, &nothing.0, "now").unwrap(),
            ["vo", "jobs", "cpu_hours"],
            [["kelp", "1", ""], ["reef", "2", "1"], ["still", "1", "0"]],
        ),
    ];
    for (table, columns, expected) in tables {
        let places = columns.map(|name| table.columns.iter().position(|column| column.name == name).unwrap());
        let cells: Vec<[String; 3]> = table
            .rows
            .iter()
            .map(|row| places.map(|at| row[at].to_string()))
            .collect();
        assert_eq!(cells, expected.map(|row| row.map(str::to_owned)), "{}", table.title);
    }
}

/// Totals are of the seconds of all rows, rounded once: not sums of rounded hours.
#[test]
fn totals_are_rounded_once() {
    let scene = Scene::new();
    let job = |n: u32| {
        format!(
            "{{\"SiteName\":\"S\",\"ProbeName\":\"p\",\"LocalJobId\":\"{n}\",\"VOName\":\"vo{n}\",\"Processors\":1,\
             \"StartTime\":\"2026-03-01T00:00:00Z\",\"EndTime\":\"2026-03-01T00:02:40Z\",\"WallDuration\":160,\
             \"CpuDuration\":120,\"CpuDuration_user\":120,\"CpuDuration_system\":0}}\n"
        )
    };
    scene.write("jobs.json", &(1..=40).map(job).collect::<String>());
    let lake = scene.lake("lake", "format = \"gracc\"\npaths = [\"jobs.json\"]", "");
    let groups = gather(&lake, &Selection::default()).unwrap().groups;
    let nothing = (FederationSites::default(), Pledges::default());
    for (table, [cpu, wall], of_row, of_all) in [
        (
            portal::egi(&groups, WorkScale::Hs23).unwrap(),
            ["sum_cpu", "sum_elapsed_processors"],
            ["0.03", "0.04"],
            ["1.33", "1.78"],
        ),
        (
            portal::export(&groups, WorkScale::Hs23, &nothing.0).unwrap(),
            ["raw_cpu_time", "raw_wc_time"],
            ["0.03", "0.04"],
            ["1.33", "1.78"],
        ),
        (
            portal::wlcg(&groups, WorkScale::Hs23, &nothing.0, &nothing.1).unwrap(),
            ["cpu_time", "wallclock_time"],
            ["0.03", "0.04"],
            ["1.33", "1.78"],
        ),
        (
            osg::report(&groups, WorkScale::Hs23, &nothing.0, "now").unwrap(),
            ["cpu_hours", "wall_hours"],
            ["0", "0"],
            ["1", "2"],
        ),
    ] {
        let place = |name: &str| table.columns.iter().position(|column| column.name == name).unwrap();
        let totals = table.totals().unwrap().unwrap();
        let shown = |row: &[Cell]| [cpu, wall].map(|name| row[place(name)].to_string());
        assert_eq!(shown(&table.rows[0]), of_row, "{}", table.title);
        assert_eq!(shown(&totals), of_all, "{}", table.title);
        assert_eq!(totals[0], Cell::text("total"));
        // What has no total has none.
        let others = table.columns.iter().zip(&totals).skip(1);
        for (column, total) in others.filter(|(column, _)| !column.kind.is_sum()) {
            assert_eq!(*total, Cell::Empty, "{}", column.name);
        }
    }
}

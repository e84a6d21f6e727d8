//! Reference tables: validity, precedence, and how mistakes are reported.

use gridtally::diagnostics::Problems;
use gridtally::record::JobRow;
use gridtally::reference::decimal::ten_thousandths;
use gridtally::reference::vo::VoTable;

#[test]
fn decimals_are_read_without_a_float() {
    assert_eq!(ten_thousandths("10"), Ok(100_000));
    assert_eq!(ten_thousandths("9.8765"), Ok(98_765));
    assert_eq!(ten_thousandths("0.000100"), Ok(1));
    for wrong in [
        "",
        ".",
        "1.",
        ".5",
        "-1",
        "1e3",
        "1,5",
        "0",
        "0.00001",
        "99999999999999999999",
        "nan",
    ] {
        assert!(ten_thousandths(wrong).is_err(), "{wrong}");
    }
}

fn vo_table(text: &str) -> VoTable {
    let mut problems = Problems::default();
    let table = VoTable::read(text.as_bytes(), "vo.csv", &mut problems);
    problems.finish().unwrap();
    table
}

#[test]
fn the_first_matching_row_names_the_vo() {
    let table = vo_table("account,vo\na,ATLAS\nb,CMS\n*,other\na,never\n");
    let of = |account| {
        let row = JobRow {
            account,
            ..JobRow::default()
        };
        table.lookup(&row).map(str::to_owned)
    };
    assert_eq!(of(Some("a")).as_deref(), Some("ATLAS"));
    assert_eq!(of(Some("b")).as_deref(), Some("CMS"));
    assert_eq!(of(Some("z")).as_deref(), Some("other"));
    assert_eq!(of(None).as_deref(), Some("other"));

    let table = vo_table("vo,partition,to_vo\n,grid,wlcg\natlas,,ATLAS\natlas,gpu,never\n");
    let of = |vo, partition| {
        let row = JobRow {
            vo,
            partition,
            ..JobRow::default()
        };
        table.lookup(&row).map(str::to_owned)
    };
    assert_eq!(of(Some("atlas"), Some("grid")).as_deref(), Some("wlcg"));
    assert_eq!(of(Some("atlas"), Some("gpu")).as_deref(), Some("ATLAS"));
    assert_eq!(of(Some("cms"), Some("gpu")), None);

    let table = vo_table("global_user,vo\n/DC=org/CN=Robot: fit,fit\n");
    let of = |global_user| {
        let row = JobRow {
            global_user: Some(global_user),
            ..JobRow::default()
        };
        table.lookup(&row).map(str::to_owned)
    };
    assert_eq!(of("/DC=org/CN=Robot: fit").as_deref(), Some("fit"));
    assert_eq!(of("/DC=org/CN=Pat"), None);
}

#[test]
fn a_vo_table_without_a_result_is_refused() {
    for (text, wanted) in [
        ("account,user\na,b\n", "names no result"),
        ("vo\na\n", "no column to match"),
        ("acount,vo\na,b\n", "did you mean \"account\"?"),
        ("account,vo\na,\n", "vo.csv:2: the row names no VO"),
    ] {
        let mut problems = Problems::default();
        VoTable::read(text.as_bytes(), "vo.csv", &mut problems);
        let error = problems.finish().unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
}

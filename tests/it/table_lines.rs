//! Mistakes in tables that people write are reported with the line they are on, whatever comments, empty lines and line ends
//! precede it.

use gridtally::diagnostics::Problems;
use gridtally::reference::benchmark::BenchmarkTable;

const HEADER: &str = "site,benchmark,value_per_core,valid_from,valid_to";

/// What is wrong with a table.
fn mistakes(table: &[u8]) -> String {
    let mut problems = Problems::default();
    BenchmarkTable::read(table, "bm.csv", None, &mut problems);
    problems.finish().unwrap_err().to_string()
}

#[test]
fn a_mistake_is_on_the_line_an_editor_shows() {
    for (table, line) in [
        ("HEADER\nS,hs23,x,,\n", 2),
        ("HEADER\n# one\n# two\nS,hs23,x,,\n", 4),
        ("HEADER\n\n\nS,hs23,x,,\n", 4),
        ("HEADER\n\n# one\n\nS,hs23,x,,\n", 5),
        ("# one\n\n# two\nHEADER\nT,hs23,1,,\n# three\nS,hs23,x,,", 7),
        ("HEADER\r\nS,hs23,x,,\r\n", 2),
        ("HEADER\r\n\r\nS,hs23,x,,\r\n", 3),
        ("HEADER\r\nT,hs23,1,,\r\n# one\r\n\r\nS,hs23,x,,\r\n", 5),
        ("HEADER\rT,hs23,1,,\r\rS,hs23,x,,\r", 4),
        ("\u{feff}# one\nHEADER\n# two\nS,hs23,x,,\n", 4),
        // A cell over two lines, before the mistake and in it: its row begins where it begins.
        ("HEADER\n\"T\n\",hs23,1,,\n# one\nS,hs23,x,,\n", 5),
        ("HEADER\n# one\n\"S\n\",hs23,x,,\n", 3),
        // Too few cells.
        ("HEADER\n# one\nS,hs23\n", 3),
    ] {
        let reported = mistakes(table.replace("HEADER", HEADER).as_bytes());
        let expected = format!("bm.csv:{line}: ");
        assert!(
            reported.lines().any(|mistake| mistake.starts_with(&expected)) && reported.lines().count() == 1,
            "{table:?} is not wrong in line {line}: {reported}"
        );
    }
}

#[test]
fn a_mistake_of_the_header_is_on_its_line() {
    for (table, expected) in [
        (
            "# one\n\nsite,benchmark,value_per_cor\n",
            "bm.csv:3: the header has no column",
        ),
        (
            "# one\nHEADER,colour\n",
            "bm.csv:2: unknown column \"colour\" in the header",
        ),
        (
            "# one\nHEADER,site\n",
            "bm.csv:2: the column \"site\" occurs twice in the header",
        ),
        (
            "# one\nsite;benchmark;value_per_core\n",
            "bm.csv:2: the columns are separated by semicolons",
        ),
    ] {
        let reported = mistakes(table.replace("HEADER", HEADER).as_bytes());
        assert!(
            reported.lines().any(|mistake| mistake.starts_with(expected)),
            "{expected} is not in\n{reported}"
        );
    }
}

#[test]
fn lines_that_a_mistake_names_are_those_of_the_rows() {
    let table = format!("{HEADER}\n# one\nS,hs23,10,,\n# two\n\nS,hs23,11,,\n");
    let reported = mistakes(table.as_bytes());
    assert!(
        reported.starts_with("bm.csv:6: ") && reported.contains("line 3"),
        "{reported}"
    );
}

#[test]
fn a_cell_that_is_no_text_is_named_by_its_line_and_place() {
    let mut table = format!("{HEADER}\n# one\n").into_bytes();
    table.extend_from_slice(b"S,hs\xff23,10,,\n");
    assert_eq!(mistakes(&table), "bm.csv:3: cell 2 is not in UTF-8");
}

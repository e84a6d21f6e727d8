//! The page of the tables people write is what their readers take: examples are read, columns that must be there are
//! missed, others are as documented.

use gridtally::diagnostics::Problems;
use gridtally::ledger::Reason;
use gridtally::reference::written_tables::{OtherColumns, TableCheck, WrittenTable, written_tables};
use gridtally::sources::inventory::InventoryKind;

use crate::inventory::read_as;

/// The tables a pipeline or a command names, each with what reads it.
fn tables() -> Vec<(WrittenTable, TableCheck)> {
    let tables = written_tables().into_iter();
    tables
        .filter_map(|table| table.check.map(|check| (table, check)))
        .collect()
}

fn mistakes(check: TableCheck, text: &str) -> String {
    let mut problems = Problems::default();
    check(text.as_bytes(), "table.csv", &mut problems);
    problems.finish().err().map(|why| why.to_string()).unwrap_or_default()
}

/// A table without one of its columns.
fn without(text: &str, column: &str) -> String {
    let header = text.lines().next().unwrap();
    let nth = header.split(',').position(|name| name == column).unwrap();
    let lines = text.lines().map(|line| {
        let cells = line.split(',').enumerate().filter(|(at, _)| *at != nth);
        cells.map(|(_, cell)| cell).collect::<Vec<_>>().join(",") + "\n"
    });
    lines.collect()
}

#[test]
fn examples_of_tables_are_taken_and_need_the_columns_that_are_required() {
    let mut needed = 0;
    for (table, check) in tables() {
        assert_eq!(mistakes(check, table.example), "", "{}", table.title);
        for column in table.columns.iter().filter(|column| column.is_required) {
            let reported = mistakes(check, &without(table.example, column.name));
            assert!(
                reported.contains(column.name),
                "{} without {}: {reported}",
                table.title,
                column.name
            );
            needed += 1;
        }
    }
    assert!(needed > 30, "{needed} columns");
}

#[test]
fn tables_take_every_column_of_the_page_and_others_as_it_states() {
    for (table, check) in tables() {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        let reported = mistakes(check, &format!("{}\n", names.join(",")));
        assert!(!reported.contains("column"), "{}: {reported}", table.title);
        let reported = mistakes(check, &format!("{},zz\n", names.join(",")));
        let is_refused = reported.contains("unknown column \"zz\"");
        assert_eq!(
            is_refused,
            table.others == OtherColumns::Refused,
            "{}: {reported}",
            table.title
        );
    }
}

#[test]
fn listings_of_a_sites_own_are_read_as_the_page_states() {
    let listings: Vec<WrittenTable> = written_tables()
        .into_iter()
        .filter(|table| table.check.is_none())
        .collect();
    assert_eq!(listings.len(), 2);
    for (table, kind) in listings.iter().zip([InventoryKind::Csv, InventoryKind::CsvReservation]) {
        let reasons = |text: &str| read_as(kind, text.as_bytes(), None).reasons();
        assert_eq!(reasons(table.example), Vec::<Reason>::new(), "{}", table.title);
        for column in table.columns.iter().filter(|column| column.is_required) {
            assert!(
                !reasons(&without(table.example, column.name)).is_empty(),
                "{} without {}",
                table.title,
                column.name
            );
        }
        let mut lines = table.example.lines();
        let (header, row) = (lines.next().unwrap(), lines.next().unwrap());
        let further = table.columns.iter().map(|column| column.name);
        let further: Vec<&str> = further
            .filter(|name| !header.split(',').any(|own| own == *name))
            .collect();
        let all = format!("{header},{}\n{row}{}\n", further.join(","), ",".repeat(further.len()));
        assert_eq!(reasons(&all), Vec::<Reason>::new(), "{all}");
        let odd = format!("{header},zz\n{row},1\n");
        assert_eq!(reasons(&odd), [Reason::UnknownField], "{odd}");
    }
}

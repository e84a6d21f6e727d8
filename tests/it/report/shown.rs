//! Numbers as pages show them.

use gridtally::report::charges::BalanceTariff;
use gridtally::report::html::table;
use gridtally::report::render::markdown;
use gridtally::report::shown::{digits_that_matter, grouped};
use gridtally::report::table::{Cell, ColumnKind, Table};

#[test]
fn thousands_are_apart_and_only_digits_that_matter_are_there() {
    assert_eq!(grouped(999), "999");
    assert_eq!(grouped(-1_234_567), "\u{2212}1\u{202f}234\u{202f}567");
    for (largest, scale, digits) in [
        (12_345_678, 2, 0),
        (100_000, 2, 0),
        (99_999, 2, 1),
        (12_34, 2, 2),
        (1_234_567_890, 9, 3),
        (12_345, 9, 7),
        (0, 9, 0),
    ] {
        assert_eq!(digits_that_matter(largest, scale), digits, "{largest} {scale}");
    }
    let mut of_hours = Table::new(
        "t",
        &[
            ("pledge_year", "", ColumnKind::Number),
            ("core_hours", "core h", ColumnKind::DecimalSum(2)),
            ("used", "%", ColumnKind::Decimal(2)),
        ],
    );
    for (year, hours) in [(2025, 1_234_567), (2026, 12), (2026, -149), (2026, 0)] {
        of_hours.push(vec![Cell::int(year), Cell::ratio(hours, 100, 2), Cell::ratio(1, 3, 2)]);
    }
    let page = table(&of_hours).unwrap();
    // Years are no amounts; what is not nothing is not shown as nothing; rows are sorted by all digits.
    for cell in [
        "<td class=\"n\">2025</td><td class=\"n\" data-v=\"12345.67\">12\u{202f}346</td><td class=\"n\">0.33</td>",
        "<td class=\"n\" data-v=\"0.12\">&lt; 1</td>",
        "<td class=\"n\" data-v=\"-1.49\">\u{2212}1</td>",
        "<td class=\"n\" data-v=\"0.00\">0</td>",
        "<td class=\"n\" data-v=\"12344.30\">12\u{202f}344</td>",
    ] {
        assert!(page.contains(cell), "{cell} is not in {page}");
    }
}

#[test]
fn policies_have_names_for_people_that_are_understood() {
    let tariff = |policy: &str, options: &str| BalanceTariff {
        pool: "core".to_owned(),
        policy: policy.to_owned(),
        options: options.to_owned(),
        unit: "core s".to_owned(),
    };
    for (policy, options, title) in [
        (
            "node-share/overhead-aware",
            "unit=1core+2GiB core=1 memory_byte=2147483648",
            "1core+2GiB, overhead-aware",
        ),
        (
            "node-share/whole-node",
            "unit=a wide one core=8",
            "a wide one, whole-node",
        ),
        ("cores", "", "cores"),
        (
            "lumi-c",
            "memory_unit=GB payer=ksu",
            "lumi-c (memory_unit=GB, payer=ksu)",
        ),
    ] {
        let tariff = tariff(policy, options);
        assert_eq!(tariff.title(), title);
        for word in [policy, &tariff.to_string(), title, &format!("{title} (pool core)")] {
            assert!(tariff.is_called(word), "{word}");
        }
        assert!(!tariff.is_called(&format!("{title} (pool gpu)")));
    }
}

/// A name is no HTML and no column of its own in a table of Markdown.
#[test]
fn names_are_text_in_markdown() {
    let mut named = Table::new("t", &[("vo", "", ColumnKind::Text)]);
    named.push(vec![Cell::text("<b>a|b</b> & c")]);
    let text = markdown(&named).unwrap();
    assert!(text.contains("| &lt;b&gt;a\\|b&lt;/b&gt; &amp; c |"), "{text}");
}

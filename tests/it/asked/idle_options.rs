//! Options that a report would not read are refused, before the lake is.

use super::Asked;

/// The words of a command, and the mistake.
const IDLE: [(&str, &str); 17] = [
    ("sreport lake --top 3", "--top does nothing for account-utilization"),
    (
        "sreport lake --grouping 2",
        "--grouping does nothing for account-utilization",
    ),
    (
        "sreport lake --users --job-count",
        "--job-count does nothing for account-utilization-by-user",
    ),
    (
        "sreport lake account-utilization --users",
        "--users does nothing for account-utilization",
    ),
    (
        "sreport lake top-usage --users --grouping 2",
        "--grouping does nothing for top-usage",
    ),
    (
        "sreport lake sizes-by-account --top 3",
        "--top does nothing for sizes-by-account",
    ),
    (
        "sreport lake sizes-by-account --users",
        "--users does nothing for sizes-by-account",
    ),
    (
        "sreport lake utilization --job-count",
        "--job-count does nothing for utilization",
    ),
    (
        "apel lake --message sync --beside job-v0.3",
        "--beside does nothing for sync",
    ),
    (
        "apel lake --message job-v0.3 --beside summary-v0.2",
        "--beside does nothing for one kind of message without --receiver",
    ),
    (
        "apel lake --message sync --format csv",
        "--format does nothing without --out or --receiver",
    ),
    ("egi lake --sites sites.csv", "--sites does nothing without --series"),
    (
        "awards lake --coldfront-attribute X",
        "--coldfront-attribute does nothing without --for coldfront",
    ),
    (
        "awards lake --coldfront-attribute X --for waldur",
        "--coldfront-attribute does nothing without --for coldfront",
    ),
    (
        "awards lake --back-test --unit foo",
        "'--back-test' cannot be used with '--unit <UNIT>'",
    ),
    (
        "awards lake --back-test --view resource",
        "'--back-test' cannot be used with '--view <VIEW>'",
    ),
    (
        "awards lake --for ondemand --view resource",
        "'--for <PROGRAM>' cannot be used with '--view <VIEW>'",
    ),
];

#[test]
fn options_that_a_report_would_not_read_are_refused() {
    let asked = Asked::new("month");
    for (words, mistake) in IDLE {
        let words: Vec<&str> = ["report"].into_iter().chain(words.split(' ')).collect();
        let reported = asked.refused(2, &words);
        assert!(reported.contains(mistake), "{words:?}: {reported}");
    }
    // Where they are read they are taken.
    for words in [
        "sreport lake top-usage --users --top 3",
        "sreport lake sizes-by-account --grouping 2,4 --job-count",
        "apel lake --message sync --format csv --out messages",
    ] {
        let words: Vec<&str> = ["report"].into_iter().chain(words.split(' ')).collect();
        let (code, _, reported) = asked.run(&words);
        assert_eq!(code, 0, "{words:?}: {reported}");
    }
}

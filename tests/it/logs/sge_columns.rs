//! Rows of Grid Engine whose category, which repeats what a job requested, holds colons.

use gridtally::ledger::Reason;
use gridtally::record::Anomaly;
use gridtally::sources::sge;

use super::golden::{SGE, one};
use super::read;

/// The row with this category and these columns behind `maxvmem`.
fn row(category: &str, behind: &str) -> String {
    assert!(SGE.contains(":-pe mpi 4:") && SGE.ends_with(":0:0"));
    let row = SGE.replace(":-pe mpi 4:", &format!(":{category}:"));
    format!("{}{behind}\n", row.trim_end_matches(":0:0"))
}

#[test]
fn colons_in_a_category_shift_nothing() {
    let plain = one(sge::DIALECT, &format!("{SGE}\n"));
    for category in [
        "-l h_rt=24:00:00",
        "-l h_rt=30:00",
        "-l h_rt=0:0:30,s_rt=24:00:00 -pe mpi 4",
        "-q a:b",
        ":",
        "-l x=0:0.5:0:0:0",
    ] {
        // As versions 6.0, 6.2 and UGE 8.2 write their rows.
        for behind in [
            "",
            ":0:0",
            ":0:0:NONE",
            ":7:1709970000:NONE:NONE:124411904:115065856:ce.example:NONE:qsub x",
        ] {
            let job = one(sge::DIALECT, &row(category, behind));
            assert_eq!(job.anomalies, Anomaly::Reassembled.bit(), "{category} {behind}");
            let job = gridtally::record::JobRow { anomalies: 0, ..job };
            assert_eq!(job, plain, "{category} {behind}");
        }
    }
}

/// Where a row can be parted in more ways than one, or in none, it is refused: nothing is passed over.
#[test]
fn a_row_that_cannot_be_parted_is_refused() {
    for category in ["-l x=a:0:NONE:5:0:0", "-l x=a:0:NONE:5:0:0:1"] {
        let all = read(sge::DIALECT, row(category, ":0:0"));
        assert_eq!(all.reasons(), [Reason::FieldCount], "{category}");
    }
    let all = read(
        sge::DIALECT,
        row("-l h_rt=24:00:00", ":0:0").replace(":NONE:1048576", ":NINE:1048576"),
    );
    assert_eq!(all.reasons(), [Reason::FieldCount]);
}

/// A number that is damaged is dropped, as where no colons are.
#[test]
fn a_damaged_size_refuses_no_row() {
    let job = one(sge::DIALECT, &format!("{}\n", SGE.replace("1048576.000000", "much")));
    assert_eq!(
        (job.max_virtual_byte, job.anomalies),
        (None, Anomaly::ValueDropped.bit())
    );
}

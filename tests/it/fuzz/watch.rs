//! A sink that believes nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hasher as _};

use gridtally::dedupe::Intake;
use gridtally::ledger::Reason;
use gridtally::record::{JobRow, SummaryRow, UnchangedColumns};
use gridtally::reference::inventory::InventoryRow;
use gridtally::sources::cross_check::CrossCheck;
use gridtally::sources::dialect::Dialect;
use gridtally::sources::{GridIdentity, Position, Sink};

/// The most rows a reader may send for one input; inputs have some thousand rows.
const MESSAGE_LIMIT: u64 = 2_000_000;
/// Bytes of raw text and details it may hand over.
const RAW_LIMIT: u64 = 256 << 20;

/// Counts, and passes on to the records room where there is one.
#[derive(Default)]
pub(super) struct Watch {
    pub(super) rows_read: u64,
    pub(super) outcomes: u64,
    pub(super) intake: Option<Intake>,
    pub(super) cross_check: Option<CrossCheck>,
    out_of_scope: BTreeMap<Reason, u64>,
    stated: u64,
    raw: u64,
    digest: Digest,
    /// Texts of the last job.
    texts: Vec<Option<String>>,
}

/// A hash over all rows in order.
#[derive(Default)]
struct Digest(DefaultHasher);

impl std::fmt::Write for Digest {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

/// What is the same however an input is cut into pieces.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WatchReport {
    rows_read: u64,
    out_of_scope: BTreeMap<Reason, u64>,
    digest: u64,
}

impl Watch {
    /// What was received.
    pub(super) fn reported(&self) -> WatchReport {
        WatchReport {
            rows_read: self.rows_read,
            out_of_scope: self.out_of_scope.clone(),
            digest: self.digest.0.finish(),
        }
    }

    fn stated(&mut self, rows: u64, what: std::fmt::Arguments<'_>) {
        self.outcomes += rows;
        self.stated += 1;
        assert!(
            self.stated <= MESSAGE_LIMIT,
            "a reader sends more than the input can contain"
        );
        self.digest.write_fmt(what).unwrap();
    }

    /// Texts marked as repeated equal those of the job before.
    fn compare(&mut self, row: &JobRow<'_>) {
        for (nth, (which, text)) in repeatable(row).into_iter().enumerate() {
            if row.repeats.has(which) {
                let last = self.texts.get(nth).expect("a repetition of nothing");
                assert_eq!(last.as_deref(), text, "{which:?} is marked as repeated");
            }
        }
        let texts = repeatable(row).into_iter();
        self.texts = texts.map(|(_, text)| text.map(str::to_owned)).collect();
    }
}

fn repeatable<'a>(row: &JobRow<'a>) -> [(UnchangedColumns, Option<&'a str>); 14] {
    [
        (UnchangedColumns::VIEW, Some(row.view)),
        (UnchangedColumns::CLUSTER, row.cluster),
        (UnchangedColumns::SUBMIT_HOST, row.submit_host),
        (UnchangedColumns::VO, row.vo),
        (UnchangedColumns::VO_GROUP, row.vo_group),
        (UnchangedColumns::VO_ROLE, row.vo_role),
        (UnchangedColumns::ACCOUNT, row.account),
        (UnchangedColumns::USER, row.user),
        (UnchangedColumns::GLOBAL_USER, row.global_user),
        (UnchangedColumns::PARTITION, row.partition),
        (UnchangedColumns::QOS, row.qos),
        (UnchangedColumns::INFRASTRUCTURE, row.infrastructure),
        (UnchangedColumns::STATE, row.state),
        (UnchangedColumns::BENCHMARK, row.benchmark),
    ]
}

impl Sink for Watch {
    fn rows_read(&mut self, n: u64) {
        self.rows_read += n;
        if let Some(intake) = &mut self.intake {
            intake.rows_read(n);
        }
    }

    fn job(&mut self, row: &JobRow<'_>, at: Position, step_n: u32) {
        self.compare(row);
        // The beginning of a piece affects which texts are marked as repeated.
        let reported = JobRow {
            repeats: UnchangedColumns::default(),
            ..row.clone()
        };
        self.stated(1 + u64::from(step_n), format_args!("{reported:?}{at:?}{step_n}"));
        if let Some(intake) = &mut self.intake {
            intake.job(row, at, step_n);
        }
    }

    fn summary(&mut self, row: &SummaryRow<'_>, at: Position) {
        self.stated(1, format_args!("{row:?}{at:?}"));
        if let Some(intake) = &mut self.intake {
            intake.summary(row, at);
        }
    }

    fn reject(&mut self, reason: Reason, at: Position, rows: u64, detail: &str, raw: &[u8]) {
        assert!(!detail.is_empty(), "a refusal without a detail");
        assert!(rows > 0, "a refusal of no row");
        self.raw += u64::try_from(detail.len() + raw.len()).unwrap();
        assert!(
            self.raw <= RAW_LIMIT,
            "a reader hands over more than the input can hold"
        );
        self.stated(rows, format_args!("{reason:?}{at:?}{rows}{detail}"));
        self.digest.0.write(raw);
        if let Some(intake) = &mut self.intake {
            intake.reject(reason, at, rows, detail, raw);
        }
    }

    fn inventory(&mut self, row: &InventoryRow, at: Position, rows: u64) {
        self.stated(rows, format_args!("{row:?}{at:?}{rows}"));
        if let Some(intake) = &mut self.intake {
            intake.inventory(row, at, rows);
        }
    }

    fn out_of_scope(&mut self, reason: Reason, rows: u64) {
        self.outcomes += rows;
        if rows > 0 {
            *self.out_of_scope.entry(reason).or_default() += rows;
        }
        if let Some(intake) = &mut self.intake {
            intake.out_of_scope(reason, rows);
        }
    }

    fn dialect(&mut self, dialect: Dialect) {
        if let Some(intake) = &mut self.intake {
            intake.dialect(dialect);
        }
    }

    fn cross_check(&mut self) -> Option<&mut CrossCheck> {
        self.cross_check.as_mut()
    }

    fn grid_identity(&mut self, identity: &GridIdentity<'_>, at: Position) {
        self.stated(1, format_args!("{identity:?}{at:?}"));
        if let Some(intake) = &mut self.intake {
            intake.grid_identity(identity, at);
        }
    }
}

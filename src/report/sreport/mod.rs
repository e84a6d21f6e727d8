//! Slurm's own table: utilisation by cluster and account, as `sreport cluster AccountUtilizationByUser` prints it; from
//! usage, or from records with [`users`].

mod silence;
pub mod users;

use std::collections::{BTreeMap, BTreeSet};

use super::lake::{Lake, Selection};
use super::table::{Cell, ColumnKind, Table, divide};
use crate::error::Result;
use crate::schema::batch::{date, int, text, word};
use crate::store::lake::parse_usage_path;
use crate::time::Month;
use silence::silent;

/// In what usage is told, by the words of `sreport -t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Minutes, the unit of sreport if nobody says another.
    #[default]
    Minutes,
    /// Hours.
    Hours,
}

impl TimeUnit {
    fn seconds(self) -> i128 {
        match self {
            Self::Seconds => 1,
            Self::Minutes => 60,
            Self::Hours => 3600,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Seconds => "TRES s",
            Self::Minutes => "TRES min",
            Self::Hours => "TRES h",
        }
    }
}

/// TRES by the columns of usage.
const TRES: [(&str, &str); 4] = [
    ("alloc_core_s", "cpu"),
    ("alloc_node_s", "node"),
    ("alloc_billing_s", "billing"),
    ("alloc_gpu_s", "gres/gpu"),
];

/// The time of a selection, Unix milliseconds: from the start of its first month to the end of its last.
fn bounds(lake: &Lake, selection: &Selection) -> Result<(i64, i64)> {
    let zone = lake.zone()?;
    let from_ms = selection
        .from
        .map_or(i64::MIN, |month| zone.begins_ms(month.first_day()));
    let until_ms = selection
        .to
        .map_or(i64::MAX, |month| zone.begins_ms(month.next().first_day()));
    Ok((from_ms, until_ms))
}

/// The table, of jobs alone (the view `batch`) and without corrections. What no job says is empty, and not zero: a site
/// that sends APEL messages may have any number of GPUs.
///
/// # Errors
/// [`crate::error::Kind::Io`] when the lake cannot be read; [`crate::error::Kind::Data`] when it does not say in which
/// zone its months are cut.
pub fn report(lake: &Lake, selection: &Selection, unit: TimeUnit) -> Result<Table> {
    let mut used: BTreeMap<(String, String), [i128; 4]> = BTreeMap::new();
    for file in lake.manifest.dataset("usage") {
        let wanted = parse_usage_path(&file.path)
            .is_some_and(|(site, vo, _)| selection.has_site(&site) && selection.has_vo(vo.as_deref()));
        if !wanted {
            continue;
        }
        for batch in lake.batches(&file.path, None)? {
            let batch = batch?;
            let (month, view) = (date(&batch, "month")?, text(&batch, "view")?);
            let (cluster, account) = (text(&batch, "cluster")?, text(&batch, "account")?);
            let correction = text(&batch, "correction_id")?;
            let mut columns = Vec::with_capacity(TRES.len());
            for (column, _) in TRES {
                columns.push(int(&batch, column)?);
            }
            for row in 0..batch.num_rows() {
                let in_range = Month::of_day(month.value(row)).is_some_and(|month| selection.has_month(month));
                if !in_range || view.value(row) != "batch" || word(correction, row).is_some() {
                    continue;
                }
                let of = |column| word(column, row).unwrap_or_default().to_owned();
                let sums = used.entry((of(cluster), of(account))).or_default();
                for (sum, column) in sums.iter_mut().zip(&columns) {
                    *sum += i128::from(column.value(row));
                }
            }
        }
    }
    // Usage knows sums: only where one is zero, records must say whether that is known.
    let silent = if used.values().flatten().any(|sum| *sum == 0) {
        silent(lake, selection)?
    } else {
        BTreeSet::new()
    };
    let mut table = Table::new(
        "Cluster/Account Utilization",
        &[
            ("Cluster", "", ColumnKind::Text),
            ("Account", "", ColumnKind::Text),
            ("TRES Name", "", ColumnKind::Text),
            ("Used", unit.as_str(), ColumnKind::Number),
        ],
    );
    for ((cluster, account), sums) in used {
        for (nth, (sum, (_, tres))) in sums.into_iter().zip(TRES).enumerate() {
            let is_silent = sum == 0 && silent.contains(&(cluster.clone(), account.clone(), nth));
            let amount = divide(sum, unit.seconds()).filter(|_| !is_silent);
            table.push(vec![
                Cell::text(&cluster),
                Cell::text(&account),
                Cell::text(tres),
                amount.map_or(Cell::Empty, Cell::Int),
            ]);
        }
    }
    Ok(table)
}

//! The ledger's identity, held against the published rows.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use arrow_array::{Array, RecordBatch};

use super::bills::POOLS;
use super::facts::READ_ROWS;
use super::job_spans::BATCH;
use crate::error::Result;
use crate::lake::views::{Views, has_view};
use crate::occupancy::billing::BILL_PLACES;
use crate::occupancy::resource::LEDGER_COLUMNS;
use crate::record::SiteMonth;
use crate::schema;
use crate::schema::batch::{addend, date, decimal, int, number, text, word};
use crate::store::lake::{parse_bill_path, parse_month_path, parse_overhead_path};
use crate::store::{Manifest, Store, read_table};
use crate::time::{Day, Month};

/// Resource-seconds of a row; null where a resource is not known.
fn amount(batch: &RecordBatch, column: &str, row: usize) -> Result<Option<i128>> {
    if column.ends_with("_byte_s") {
        return Ok(number(decimal(batch, column)?, row));
    }
    Ok(number(int(batch, column)?, row).map(i128::from))
}

/// For every row and resource capacity = allocated + overhead + stranded + down + reserved, and for every month the
/// distribution of a unit has the time in which nodes took jobs; and jobs pay what nodes bill, but for those in whose place
/// summaries count: in the views `displaced` nobody is billed. Gives (path, problem).
///
/// # Errors
/// [`crate::error::Kind::Io`] when a file cannot be read.
pub(crate) fn verify(store: &Store, manifest: &Manifest, displaced: &Views) -> Result<Vec<(String, String)>> {
    let mut findings = Vec::new();
    let mut bills = BillCheckBills::new();
    // Node-seconds by place, cluster and unit: as nodes took jobs, and as the distribution has them.
    let mut times: BTreeMap<_, (i128, i128)> = BTreeMap::new();
    for dataset in ["overhead", "overhead_histogram"] {
        let declared = schema::dataset(dataset)?;
        for file in manifest.dataset(dataset) {
            let Some(place) = parse_overhead_path(&file.path) else {
                findings.push((
                    file.path.clone(),
                    "the path names no site, allocation year and month".to_owned(),
                ));
                continue;
            };
            for batch in read_table(store.reader(&file.path)?, None, READ_ROWS)? {
                let batch = batch?;
                if let Err(why) = declared.admit(&batch) {
                    findings.push((file.path.clone(), why.to_string()));
                    break;
                }
                let (cluster, unit) = (text(&batch, "cluster")?, text(&batch, "unit")?);
                let (is_ledger, column) = match dataset {
                    "overhead" => (true, int(&batch, "up_s")?),
                    _ => (false, int(&batch, "time_s")?),
                };
                let unit_s = if is_ledger { Some(int(&batch, "unit_s")?) } else { None };
                for row in 0..batch.num_rows() {
                    if unit_s.is_none_or(|unit_s| unit_s.is_valid(row)) {
                        let key = (
                            place.clone(),
                            word(cluster, row).map(str::to_owned),
                            word(unit, row).map(str::to_owned),
                        );
                        let (up, reported) = times.entry(key).or_default();
                        *(if is_ledger { up } else { reported }) += i128::from(column.value(row));
                    }
                }
                if is_ledger {
                    add_billed(&batch, &place.0, place.2, &mut bills)?;
                    findings.extend(unbalanced(&batch)?.map(|problem| (file.path.clone(), problem)));
                }
            }
        }
    }
    findings.extend(unpaid(store, manifest, bills, displaced)?);
    for (((site, _, month), _, unit), (up, reported)) in times {
        if up != reported {
            // Fallback: the message shows time of no unit without one.
            let unit = unit.unwrap_or_default();
            findings.push((
                "overhead_histogram".to_owned(),
                format!("{site} {month}, unit {unit}: {reported} node-seconds, but nodes took jobs for {up}"),
            ));
        }
    }
    Ok(findings)
}

/// What nodes of a site bill in a month by one unit.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct BillCheckBill {
    site: String,
    /// The first day of the month.
    month: Day,
    unit: String,
    pool: &'static str,
}

/// What nodes bill, in resource-seconds.
type BillCheckBills = BTreeMap<BillCheckBill, i128>;

/// The bill that a charge under these options in this pool is a part of. The name of a unit may hold blanks; its
/// thresholds follow.
fn bill_of(bills: &BillCheckBills, site: &str, month: Day, options: &str, pool: &str) -> Option<BillCheckBill> {
    let named = options.strip_prefix("unit=")?;
    let is_unit = |unit: &str| named.strip_prefix(unit).is_some_and(|rest| rest.starts_with(' '));
    let mut own = bills.keys();
    own.find(|bill| bill.site == site && bill.month == month && bill.pool == pool && is_unit(&bill.unit))
        .cloned()
}

fn add_billed(batch: &RecordBatch, site: &str, month: Month, bills: &mut BillCheckBills) -> Result<()> {
    let unit = text(batch, "unit")?;
    for row in 0..batch.num_rows() {
        let Some(unit) = word(unit, row) else { continue };
        for ((pool, _), resource) in POOLS.into_iter().zip(LEDGER_COLUMNS) {
            let billed = amount(batch, &format!("billed_{resource}_s"), row).map(addend)?;
            let key = BillCheckBill {
                site: site.to_owned(),
                month: month.first_day(),
                unit: unit.to_owned(),
                pool,
            };
            *bills.entry(key).or_default() += billed;
        }
    }
    Ok(())
}

/// Where jobs pay another sum than their nodes bill; with jobs that cannot be charged they may pay less. What corrections
/// take from payers and give to them changes nothing about what ran.
fn unpaid(
    store: &Store,
    manifest: &Manifest,
    mut bills: BillCheckBills,
    displaced: &Views,
) -> Result<Vec<(String, String)>> {
    let is_displaced = |place: &SiteMonth| has_view(displaced, place, BATCH);
    let records = manifest
        .dataset("records")
        .filter_map(|file| parse_month_path(&file.path));
    let with_displaced: BTreeSet<String> = (records.filter(is_displaced)).map(|of| of.site).collect();
    let one = 10_i128.pow(BILL_PLACES);
    for billed in bills.values_mut() {
        *billed *= one;
    }
    let mut is_exact: BTreeMap<BillCheckBill, bool> = BTreeMap::new();
    for file in manifest.dataset("job_charges") {
        let (Some(place), Some(_)) = (parse_month_path(&file.path), parse_bill_path(&file.path)) else {
            continue;
        };
        if is_displaced(&place) {
            let why = "bills jobs in whose place summaries count";
            return Ok(vec![(file.path.clone(), why.to_owned())]);
        }
        let site = place.site;
        for batch in read_table(store.reader(&file.path)?, None, READ_ROWS)? {
            let batch = batch?;
            let (pool, options, months) = (text(&batch, "pool")?, text(&batch, "options")?, date(&batch, "month")?);
            let (charge, correction) = (decimal(&batch, "charge")?, text(&batch, "correction_id")?);
            // Jobs are many and bills few: each is looked for once.
            let mut known: HashMap<(Day, &str, &str), Option<BillCheckBill>> = HashMap::new();
            for row in (0..batch.num_rows()).filter(|row| correction.is_null(*row)) {
                let of @ (month, options, pool) = (months.value(row), options.value(row), pool.value(row));
                let found = known
                    .entry(of)
                    .or_insert_with(|| bill_of(&bills, &site, month, options, pool));
                let Some(key) = found else {
                    // A job whose charge is unknown may have run on nodes that no ledger knows.
                    if charge.is_null(row) {
                        continue;
                    }
                    return Ok(vec![(
                        file.path.clone(),
                        "charges for nodes the ledger does not have".to_owned(),
                    )]);
                };
                let exact = is_exact.entry(key.clone()).or_insert(!with_displaced.contains(&site));
                *exact &= charge.is_valid(row);
                if let Some(left) = bills.get_mut(key) {
                    *left -= addend(number(charge, row));
                }
            }
        }
    }
    let wrong = is_exact.into_iter().filter_map(|(key, is_exact)| {
        let left = *bills.get(&key)?;
        let BillCheckBill {
            site,
            month,
            unit,
            pool,
        } = key;
        let is_wrong = left < 0 || (is_exact && left != 0);
        let month = crate::time::month::date_of(month)?;
        is_wrong.then(|| {
            (
                "job_charges".to_owned(),
                format!("{site} {month}, unit {unit}: jobs pay {left} e-9 {pool} s less than their nodes bill"),
            )
        })
    });
    Ok(wrong.collect())
}

/// The first row whose ledger does not close.
fn unbalanced(batch: &RecordBatch) -> Result<Option<String>> {
    let node = text(batch, "node")?;
    for row in 0..batch.num_rows() {
        for resource in LEDGER_COLUMNS {
            let of = |measure: &str| amount(batch, &format!("{measure}_{resource}_s"), row);
            let Some(capacity) = of("capacity")? else { continue };
            let mut sum = Some(0_i128);
            for measure in ["allocated", "overhead", "stranded", "down", "reserved"] {
                sum = sum.zip(of(measure)?).map(|(sum, part)| sum + part);
            }
            if let Some(sum) = sum.filter(|sum| *sum != capacity) {
                return Ok(Some(format!(
                    "row {row}, node {}: {capacity} {resource} s are there, {sum} are accounted for",
                    node.value(row)
                )));
            }
        }
    }
    Ok(None)
}

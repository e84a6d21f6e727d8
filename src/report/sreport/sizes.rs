//! Core time of jobs by account and by how many cores they had.

use std::collections::BTreeMap;

use super::answer::{SreportAnswer, SreportRequest};
use super::gathered::{Addition, additions, cut};
use super::jobs::{PeriodPart, SreportJobs, cut_suspended};
use crate::error::{Error, Kind, Result};
use crate::numbers::tally;
use crate::report::lake::on_all_processors;
use crate::report::table::{Cell, ColumnKind, Table};

/// Jobs and their core seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    job_n: i128,
    core_s: i128,
}

/// Sizes by cluster and account, each with a place for every column.
#[derive(Default)]
struct Sizes {
    accounts: BTreeMap<(String, String), Vec<Size>>,
    /// Jobs whose number of cores is unknown.
    unknown_n: u64,
    /// Jobs that were suspended and run over an end of the period.
    cut_suspended_n: u64,
}

impl Sizes {
    fn add(&mut self, part: &PeriodPart<'_>, edges: &[i64]) {
        let wall_s = part.wall_s(part.span);
        if wall_s == 0 {
            return;
        }
        let Some(core_n) = part.amount(0) else {
            self.unknown_n += 1;
            return;
        };
        let place = edges.partition_point(|edge| *edge <= core_n);
        let own = self
            .accounts
            .entry((part.cluster.to_owned(), part.account.to_owned()))
            .or_insert_with(|| vec![Size::default(); edges.len() + 1]);
        if let Some(size) = own.get_mut(place) {
            size.job_n += 1;
            size.core_s += wall_s * i128::from(core_n);
        }
    }

    fn absorb(&mut self, more: Self) {
        self.unknown_n += more.unknown_n;
        self.cut_suspended_n += more.cut_suspended_n;
        for (key, sizes) in more.accounts {
            let own = self
                .accounts
                .entry(key)
                .or_insert_with(|| vec![Size::default(); sizes.len()]);
            for (sum, size) in own.iter_mut().zip(sizes) {
                sum.job_n += size.job_n;
                sum.core_s += size.core_s;
            }
        }
    }
}

pub(super) fn answer(jobs: &SreportJobs<'_>, request: &SreportRequest) -> Result<SreportAnswer> {
    if request.tres.iter().any(|name| name != "cpu") {
        return Err(Error::new(Kind::Usage, "sizes are reported for cpu only"));
    }
    if request.edges.is_empty() || !request.edges.is_sorted_by(|a, b| a < b) || request.edges.first() < Some(&1) {
        return Err(Error::new(
            Kind::Usage,
            "--grouping needs ascending numbers above 0, such as 50,250,500,1000",
        ));
    }
    let mut sizes = Sizes::default();
    let parts = on_all_processors(&jobs.pieces()?, |piece| {
        let mut own = Sizes::default();
        own.cut_suspended_n = jobs.each(piece, |part| own.add(part, &request.edges))?;
        Ok(own)
    })?;
    for part in parts {
        sizes.absorb(part);
    }
    let mut notes = Vec::new();
    if sizes.unknown_n > 0 {
        notes.push(format!(
            "{} jobs whose number of cores is unknown are left out",
            sizes.unknown_n
        ));
    }
    notes.extend(cut_suspended(sizes.cut_suspended_n));
    for Addition { rule, used, .. } in additions(jobs) {
        notes.push(match used {
            Some(_) => format!(
                "correction {} adds usage of jobs of no known size: it is left out",
                rule.id
            ),
            None => cut(rule),
        });
    }
    Ok(SreportAnswer {
        table: table(&sizes, request),
        notes,
    })
}

fn table(sizes: &Sizes, request: &SreportRequest) -> Table {
    let mut columns = vec![
        ("Cluster".to_owned(), "", ColumnKind::Text),
        ("Account".to_owned(), "", ColumnKind::Text),
    ];
    let amount_columns = |name: &str| {
        if request.is_job_count {
            vec![(name.to_owned(), "", ColumnKind::Sum)]
        } else {
            request.unit.columns(name, ColumnKind::Number)
        }
    };
    let mut from = 0;
    for edge in &request.edges {
        columns.extend(amount_columns(&format!("{from}-{} CPUs", edge - 1)));
        from = *edge;
    }
    columns.extend(amount_columns(&format!(">= {from} CPUs")));
    columns.extend(amount_columns("Total Count"));
    columns.push(("% of cluster".to_owned(), "%", ColumnKind::Decimal(2)));
    let columns: Vec<_> = columns
        .iter()
        .map(|(name, unit, kind)| (name.as_str(), *unit, *kind))
        .collect();
    let mut table = Table::new("Job Sizes", &columns);

    let of = |size: &Size| if request.is_job_count { size.job_n } else { size.core_s };
    let mut wholes: BTreeMap<&str, i128> = BTreeMap::new();
    for ((cluster, _), own) in &sizes.accounts {
        *wholes.entry(cluster).or_default() += own.iter().map(of).sum::<i128>();
    }
    for ((cluster, account), own) in &sizes.accounts {
        let total = own.iter().map(of).sum::<i128>();
        let mut row = vec![Cell::text(cluster), Cell::text(account)];
        for amount in own.iter().map(of).chain([total]) {
            if request.is_job_count {
                row.push(Cell::Int(amount));
            } else {
                row.extend(request.unit.cells(Some(amount), Some(total)));
            }
        }
        let whole = tally(wholes.get(cluster.as_str()).copied());
        let share = super::unit::percent(total, whole);
        row.push(share.map_or(Cell::Empty, |value| Cell::Decimal { value, scale: 2 }));
        table.push(row);
    }
    table
}

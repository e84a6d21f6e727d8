//! A model of APEL's server: its tables, their keys, and the three procedures that fill its super-summaries. It is written
//! from the server's schema and shares nothing with the code it judges but the rules by which messages are refused.

use std::collections::BTreeMap;

use gridtally::report::apel::check::message;

/// A row by its columns, as the server stores them.
pub(super) type Row = BTreeMap<&'static str, String>;

const TEXTS: [&str; 8] = [
    "Site",
    "GlobalUserName",
    "VO",
    "VOGroup",
    "VORole",
    "SubmitHost",
    "MachineName",
    "Queue",
];
const SUPER_KEY: [&str; 13] = [
    "Site",
    "Month",
    "Year",
    "GlobalUserName",
    "VO",
    "VORole",
    "VOGroup",
    "SubmitHost",
    "Infrastructure",
    "ServiceLevelType",
    "ServiceLevel",
    "NodeCount",
    "Processors",
];
const NORMALISED_KEY: [&str; 12] = [
    "Site",
    "Month",
    "Year",
    "GlobalUserName",
    "VO",
    "VORole",
    "VOGroup",
    "SubmitHost",
    "Infrastructure",
    "NodeCount",
    "Processors",
    "ServiceLevelType",
];
const JOB_KEY: [&str; 3] = ["Site", "LocalJobId", "EndTime"];
const SYNC_KEY: [&str; 4] = ["Site", "SubmitHost", "Month", "Year"];

/// Rows by key.
pub(super) type Table = BTreeMap<Vec<String>, Row>;

#[derive(Clone, Default)]
pub(super) struct Server {
    /// The spelling that was seen first, by column and text as it compares.
    names: BTreeMap<(&'static str, String), String>,
    pub(super) jobs: Table,
    pub(super) summaries: Table,
    pub(super) normalised: Table,
    pub(super) sync: Table,
    /// `HybridSuperSummaries`.
    pub(super) super_summaries: Table,
}

/// A text as `latin1_swedish_ci` compares it.
pub(super) fn collated(text: &str) -> String {
    const PLAIN: &str = "AAAA\\[\\CEEEEIIIIDNOOOO]×ØUUUYYÞß";
    let weight = |letter: char| -> char {
        let code = u32::from(letter);
        let at = match code {
            0xC0..=0xDF => code - 0xC0,
            0xE0..=0xFE if code != 0xF7 => code - 0xE0,
            _ => return letter.to_ascii_uppercase(),
        };
        PLAIN.chars().nth(usize::try_from(at).unwrap()).unwrap()
    };
    text.trim_end_matches(' ').chars().map(weight).collect()
}

fn key(row: &Row, columns: &[&str]) -> Vec<String> {
    columns.iter().map(|column| collated(&row[column])).collect()
}

/// `DECIMAL(10,3)`.
fn decimal(text: &str) -> String {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{fraction}0000");
    let milli: i128 = format!("{whole}{}", &digits[..3]).parse().unwrap();
    let milli = milli + i128::from(digits.as_bytes()[3] >= b'5');
    format!("{}.{:03}", milli / 1000, milli % 1000)
}

fn milli(decimal: &str) -> i128 {
    decimal.replace('.', "").parse().unwrap()
}

fn int(row: &Row, column: &str) -> i128 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} of {row:?}"))
}

/// `ROUND(SUM(duration * level))`; the sum is in thousandths.
fn work(row: &Row, sum: i128) -> String {
    let unit = if row["ServiceLevelType"].eq_ignore_ascii_case("si2k") {
        250_000
    } else {
        1000
    };
    ((sum + unit / 2) / unit).to_string()
}

/// What the loader takes of `{HEPSPEC: 10.5, HEPscore23: 12}`.
fn picked(text: &str) -> Option<(&'static str, String)> {
    let inside = text.strip_prefix('{')?.strip_suffix('}')?;
    ["hepscore23", "hepspec", "si2k"].into_iter().find_map(|wanted| {
        let mut entries = inside.split(',').map(|entry| entry.split_once(':').unwrap());
        let (_, value) = entries.find(|(name, _)| name.trim().eq_ignore_ascii_case(wanted))?;
        Some((wanted, value.trim().to_owned()))
    })
}

fn instant(text: &str) -> String {
    let at = match text.parse::<i64>() {
        Ok(seconds) => jiff::Timestamp::from_second(seconds).unwrap(),
        Err(_) => text.parse().unwrap(),
    };
    at.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// VO, group and role of the first name of an FQAN.
fn vo_parts(fqan: &str) -> [String; 3] {
    let first = fqan.split(';').next().unwrap().trim();
    let none = || "None".to_owned();
    let Some(path) = first.strip_prefix('/') else {
        return [first.to_owned(), none(), none()];
    };
    let elements: Vec<&str> = path.split('/').collect();
    let at = elements
        .iter()
        .position(|element| element.to_lowercase().starts_with("role="));
    let group = format!("/{}", elements[..at.unwrap_or(elements.len())].join("/"));
    [
        elements[0].to_owned(),
        group,
        at.map_or_else(none, |at| elements[at].to_owned()),
    ]
}

impl Server {
    /// Loads a message; one that is refused changes nothing.
    pub(super) fn load(&mut self, text: &str) -> Result<(), String> {
        let findings = message(text, None);
        if let Some(finding) = findings.first() {
            return Err(format!("{finding:?}"));
        }
        let (header, body) = text.trim().split_once('\n').unwrap();
        for record in body.split("%%").filter(|record| !record.trim().is_empty()) {
            let mut fields: BTreeMap<String, String> = BTreeMap::new();
            for line in record.trim().lines() {
                let (name, value) = line.split_once(':').unwrap();
                fields.insert(name.trim().to_owned(), value.trim().to_owned());
            }
            self.store(header.trim(), &fields);
        }
        Ok(())
    }

    fn store(&mut self, header: &str, fields: &BTreeMap<String, String>) {
        let stated = |name: &str| {
            let value = fields.get(name).map_or("", String::as_str);
            (!["", "none", "null"].contains(&value.to_lowercase().as_str())).then(|| value.to_owned())
        };
        let text = |name: &str| stated(name).unwrap_or_else(|| "None".to_owned());
        let number = |name: &str| stated(name).unwrap_or_else(|| "0".to_owned());
        let mut row = Row::new();
        let is_job = header.starts_with("APEL-individual-job-message");
        let is_normalised = header.contains("normalised") || header == "APEL-summary-job-message: v0.3";
        for name in TEXTS {
            row.insert(name, text(name));
        }
        for name in ["NodeCount", "Processors", "WallDuration", "CpuDuration"] {
            row.insert(name, number(name));
        }
        row.insert("ServiceLevelType", text("ServiceLevelType"));
        row.insert("ServiceLevel", "0.000".to_owned());
        let infrastructure = if is_normalised {
            "Infrastructure"
        } else {
            "InfrastructureType"
        };
        row.insert("Infrastructure", text(infrastructure));
        for (name, to) in [
            ("ServiceLevel", "ServiceLevel"),
            ("NormalisedWallDuration", "NormalisedWallDuration"),
            ("NormalisedCpuDuration", "NormalisedCpuDuration"),
        ] {
            let Some(value) = stated(name) else { continue };
            let value = match picked(&value) {
                Some((benchmark, value)) => {
                    row.insert("ServiceLevelType", benchmark.to_owned());
                    value
                }
                None => value,
            };
            let whole = value.split('.').next().unwrap().to_owned();
            row.insert(to, if name == "ServiceLevel" { decimal(&value) } else { whole });
        }
        for name in ["StartTime", "EndTime", "EarliestEndTime", "LatestEndTime"] {
            if let Some(value) = stated(name) {
                row.insert(name, instant(&value));
            }
        }
        if header.starts_with("APEL-sync-message") || !is_job {
            for name in ["Month", "Year", "NumberOfJobs"] {
                row.insert(name, number(name));
            }
        }
        if is_job {
            row.insert("LocalJobId", text("LocalJobId"));
            row.insert("FQAN", text("FQAN"));
            if let Some(fqan) = stated("FQAN") {
                let [vo, group, role] = vo_parts(&fqan);
                row.extend([("VO", vo), ("VOGroup", group), ("VORole", role)]);
            }
            let (year, month) = (row["EndTime"][..4].to_owned(), row["EndTime"][5..7].to_owned());
            row.insert("Year", year);
            row.insert("Month", month.trim_start_matches('0').to_owned());
        }
        for name in TEXTS {
            let spelled = row[name].clone();
            let first = self.names.entry((name, collated(&spelled))).or_insert(spelled);
            row.insert(name, first.clone());
        }
        let (table, columns): (&mut Table, &[&str]) = if is_job {
            (&mut self.jobs, &JOB_KEY)
        } else if header.starts_with("APEL-sync-message") {
            (&mut self.sync, &SYNC_KEY)
        } else if is_normalised {
            (&mut self.normalised, &NORMALISED_KEY)
        } else {
            (&mut self.summaries, &SUPER_KEY)
        };
        table.insert(key(&row, columns), row);
    }

    /// The summariser: it writes over rows of its super-summaries and deletes none.
    pub(super) fn summarise(&mut self) {
        self.summarise_jobs();
        for summary in self.summaries.values() {
            let mut row = summary.clone();
            for (duration, to) in [
                ("WallDuration", "NormalisedWallDuration"),
                ("CpuDuration", "NormalisedCpuDuration"),
            ] {
                let sum = int(summary, duration) * milli(&summary["ServiceLevel"]);
                row.insert(to, work(summary, sum));
            }
            self.super_summaries.insert(key(&row, &SUPER_KEY), row);
        }
        for summary in self.normalised.values() {
            self.super_summaries.insert(key(summary, &SUPER_KEY), summary.clone());
        }
    }

    fn summarise_jobs(&mut self) {
        let mut groups: BTreeMap<Vec<String>, Vec<&Row>> = BTreeMap::new();
        for job in self.jobs.values() {
            groups.entry(key(job, &SUPER_KEY)).or_default().push(job);
        }
        for (key, jobs) in groups {
            let mut row = jobs[0].clone();
            let sum = |of: &dyn Fn(&Row) -> i128| jobs.iter().map(|job| of(job)).sum::<i128>();
            let level = milli(&row["ServiceLevel"]);
            for (duration, to) in [
                ("WallDuration", "NormalisedWallDuration"),
                ("CpuDuration", "NormalisedCpuDuration"),
            ] {
                let total = sum(&|job| int(job, duration));
                row.insert(to, work(jobs[0], total * level));
                row.insert(duration, total.to_string());
            }
            row.insert("NumberOfJobs", jobs.len().to_string());
            let ends = || jobs.iter().map(|job| job["EndTime"].clone());
            row.insert("EarliestEndTime", ends().min().unwrap());
            row.insert("LatestEndTime", ends().max().unwrap());
            self.super_summaries.insert(key, row);
        }
    }

    /// Jobs, wall and CPU seconds by site and month, as portals read them.
    pub(super) fn totals(&self) -> BTreeMap<(String, String), [i128; 3]> {
        totals(&self.super_summaries)
    }

    /// The same of its single jobs.
    pub(super) fn job_totals(&self) -> BTreeMap<(String, String), [i128; 3]> {
        totals(&self.jobs)
    }

    /// Jobs it was sent, by site and month.
    pub(super) fn counted(&self) -> BTreeMap<(String, String), i128> {
        let mut counted: BTreeMap<_, i128> = BTreeMap::new();
        for row in self.sync.values() {
            *counted.entry(place(row)).or_default() += int(row, "NumberOfJobs");
        }
        counted
    }

    /// Deletes rows of a table by a list of values of columns, as people do.
    pub(super) fn delete(table: &mut Table, listed: &BTreeMap<String, String>) -> usize {
        let before = table.len();
        table.retain(|_, row| {
            let is_listed = listed.iter().all(|(column, value)| {
                let column = if column == "InfrastructureType" {
                    "Infrastructure"
                } else {
                    column
                };
                let value = match column {
                    "ServiceLevel" => decimal(value),
                    "EndTime" => instant(value),
                    _ if value.is_empty() => "None".to_owned(),
                    _ => value.clone(),
                };
                collated(&row[column]) == collated(&value)
            });
            !is_listed
        });
        before - table.len()
    }
}

fn place(row: &Row) -> (String, String) {
    let month: i32 = row["Month"].parse().unwrap();
    (row["Site"].clone(), format!("{}-{month:02}", row["Year"]))
}

fn totals(table: &Table) -> BTreeMap<(String, String), [i128; 3]> {
    let mut totals: BTreeMap<(String, String), [i128; 3]> = BTreeMap::new();
    for row in table.values() {
        let job_n = row.get("NumberOfJobs").map_or(1, |n| n.parse().unwrap());
        let sums = totals.entry(place(row)).or_default();
        for (sum, more) in sums
            .iter_mut()
            .zip([job_n, int(row, "WallDuration"), int(row, "CpuDuration")])
        {
            *sum += more;
        }
    }
    totals.retain(|_, sums| *sums != [0; 3]);
    totals
}

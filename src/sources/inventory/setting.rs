//! Settings of priority and fair share: those of `scontrol show config`, and the lines of `slurm.conf` that state them.

use std::collections::BTreeMap;

use super::lines::lines;
use super::moment;
use super::scontrol::is_message;
use super::trouble::cut_off;
use crate::ledger::Reason;
use crate::reference::inventory::{InventoryRow, SettingRow};
use crate::sources::options::ReaderOptions;
use crate::sources::refusal::Refusal;
use crate::sources::{Position, Sink};

/// What the first line of `scontrol show config` begins with; the time follows.
pub(super) const TITLE: &str = "Configuration data as of ";

/// Names as Slurm writes them. Any other that begins with `Priority` is a setting too, spelled as in the file.
const NAMES: &[&str] = &[
    "AccountingStorageTRES",
    BOOT_TIME,
    "FairShareDampeningFactor",
    "PriorityCalcPeriod",
    "PriorityDecayHalfLife",
    "PriorityFavorSmall",
    "PriorityFlags",
    "PriorityMaxAge",
    "PriorityParameters",
    "PrioritySiteFactorParameters",
    "PrioritySiteFactorPlugin",
    "PriorityType",
    "PriorityUsageResetPeriod",
    "PriorityWeightAge",
    "PriorityWeightAssoc",
    "PriorityWeightFairShare",
    "PriorityWeightJobSize",
    "PriorityWeightPartition",
    "PriorityWeightQOS",
    "PriorityWeightTRES",
];

/// When the daemon that printed the configuration started: an instant by its clock.
const BOOT_TIME: &str = "BOOT_TIME";

/// Names of durations.
const DURATIONS: [&str; 3] = ["PriorityCalcPeriod", "PriorityDecayHalfLife", "PriorityMaxAge"];

/// Where a duration is written decides how it is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DurationForm {
    /// `slurm.conf`: one number is minutes, and seconds are rounded up to a minute.
    Minutes,
    /// `scontrol show config`: exact, with seconds.
    Exact,
}

/// The settings of a file, each as it was stated last.
#[derive(Default)]
pub(super) struct SchedulerSettings(BTreeMap<String, LastSetting>);

struct LastSetting {
    row: SettingRow,
    at: Position,
    input_row_n: u64,
}

impl SchedulerSettings {
    /// Takes the settings of a line of `slurm.conf` from its pairs, whose keys are in lower case; `false` when it has none.
    pub(super) fn of_line(
        &mut self,
        at: Position,
        text: &str,
        pairs: &BTreeMap<String, String>,
    ) -> Result<bool, Refusal> {
        let mut found = Vec::new();
        for (key, value) in pairs {
            if let Some(name) = name(key, text) {
                found.push(setting(&name, value, DurationForm::Minutes)?);
            }
        }
        let is_any = !found.is_empty();
        for (nth, row) in found.into_iter().enumerate() {
            self.add(row, at, u64::from(nth == 0));
        }
        Ok(is_any)
    }

    /// Adds a setting; the line of a former statement is accounted for by the last one.
    fn add(&mut self, row: SettingRow, at: Position, input_row_n: u64) {
        let before = self.0.remove(&row.setting).map_or(0, |last| last.input_row_n);
        let last = LastSetting {
            at,
            input_row_n: before + input_row_n,
            row,
        };
        self.0.insert(last.row.setting.clone(), last);
    }

    /// Gives all of them to the sink.
    pub(super) fn emit(self, cluster: Option<&str>, as_of_ms: Option<i64>, sink: &mut dyn Sink) {
        for last in self.0.into_values() {
            let row = SettingRow {
                cluster: cluster.map(str::to_owned),
                as_of_ms,
                ..last.row
            };
            sink.inventory(&InventoryRow::Setting(Box::new(row)), last.at, last.input_row_n);
        }
    }
}

/// Reads `scontrol show config`. Its other settings are counted, not kept.
pub(super) fn of_config(bytes: &[u8], options: &ReaderOptions, sink: &mut dyn Sink) {
    let mut settings = SchedulerSettings::default();
    let (mut cluster, mut as_of_ms) = (None, None);
    for line in lines(bytes) {
        let text = line.text();
        if let Some(time) = text.strip_prefix(TITLE) {
            // The title is no row. A local time without a zone, or none at all, leaves the date to the pipeline.
            as_of_ms = moment::read(time.trim(), options.zone.as_ref())
                // Fallback: a title without an instant leaves the date to the pipeline.
                .ok()
                .flatten()
                .map(|moment| moment.earlier_ms);
            continue;
        }
        if line.is_blank() || text.trim_end().ends_with(':') {
            continue;
        }
        sink.rows_read(1);
        if is_message(&text) {
            sink.tool_message(line.at, line.bytes);
            continue;
        }
        // The state of the daemon.
        if text.starts_with("Slurmctld(") {
            sink.out_of_scope(Reason::ToolMessage, 1);
            continue;
        }
        let read = if line.is_ended { pair(&text) } else { Err(cut_off()) };
        let setting = read.and_then(|(key, value)| {
            if key == "ClusterName" {
                cluster = stated(value);
            }
            let name = name(&key.to_ascii_lowercase(), key);
            match name {
                Some(name) if name == BOOT_TIME => boot_time(value, options).map(Some),
                Some(name) => setting(&name, value, DurationForm::Exact).map(Some),
                None => Ok(None),
            }
        });
        match setting {
            Ok(Some(row)) => settings.add(row, line.at, 1),
            Ok(None) => sink.out_of_scope(Reason::Setting, 1),
            Err(Refusal { reason, detail }) => sink.reject(reason, line.at, 1, &detail, line.bytes),
        }
    }
    settings.emit(cluster.as_deref(), as_of_ms, sink);
}

fn pair(text: &str) -> Result<(&str, &str), Refusal> {
    let (key, value) = text
        .split_once('=')
        .ok_or_else(|| Refusal::new(Reason::FieldCount, "not of the form Name = value"))?;
    Ok((key.trim(), value.trim()))
}

/// The name of a setting of priority and fair share from its key in lower case; spelled as in `text` where it is unknown.
fn name(key: &str, text: &str) -> Option<String> {
    if let Some(known) = NAMES.iter().find(|name| name.eq_ignore_ascii_case(key)) {
        return Some((*known).to_owned());
    }
    if !key.starts_with("priority") {
        return None;
    }
    // The key is ASCII, and so is what it was in the text.
    let at = text.to_ascii_lowercase().find(key)?;
    text.get(at..at + key.len()).map(str::to_owned)
}

fn stated(value: &str) -> Option<String> {
    (!matches!(value, "" | "(null)")).then(|| value.to_owned())
}

/// When the daemon started; without its zone, or in an hour that is there twice, only its text is known.
fn boot_time(value: &str, options: &ReaderOptions) -> Result<SettingRow, Refusal> {
    let started = match (moment::read(value, options.zone.as_ref()), &options.zone) {
        (Ok(started), _) => started.filter(|moment| !moment.is_double()),
        (Err(_), None) => None,
        (Err(why), Some(_)) => {
            let detail = format!("{BOOT_TIME} {value:?} {why}");
            return Err(Refusal::new(Reason::BadTime, detail));
        }
    };
    Ok(SettingRow {
        cluster: None,
        setting: BOOT_TIME.to_owned(),
        as_of_ms: None,
        value: stated(value),
        value_s: started.map(|moment| moment.earlier_ms.div_euclid(1000)),
    })
}

fn setting(name: &str, value: &str, form: DurationForm) -> Result<SettingRow, Refusal> {
    let value_s = if DURATIONS.contains(&name) {
        let wrong = |()| Refusal::new(Reason::BadDuration, format!("{name} {value:?} is not a duration"));
        let exact = moment::duration_s(value).map_err(wrong)?;
        match form {
            DurationForm::Exact => exact,
            DurationForm::Minutes => exact.map(|seconds| (seconds + 59).div_euclid(60) * 60),
        }
    } else {
        None
    };
    Ok(SettingRow {
        cluster: None,
        setting: name.to_owned(),
        as_of_ms: None,
        value: stated(value),
        value_s,
    })
}

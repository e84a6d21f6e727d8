//! A period rule as it is written, to one that can be applied.

use toml::de::DeValue;

use super::rule::{
    Carry, PERCENT_E4, PartShare, PeriodLength, PeriodRule, Reduction, RemainderPlace, RuleExample, RuleExpectation,
    RulePrinted, RuleUse,
};
use crate::diagnostics::section::{Section, SectionSource, kind, root, table_of};
use crate::diagnostics::{Problems, did_you_mean};
use crate::reference::decimal::scaled;
use crate::time::month::day_of;
use crate::time::{Date, Day};

/// Places after the point of amounts.
const DIGITS: u32 = 9;
/// Places after the point of percentages.
const PERCENT_DIGITS: u32 = 4;

const KEYS: &[&str] = &[
    "id",
    "version",
    "title",
    "source",
    "note",
    "periods",
    "carry",
    "borrow",
    "grace",
    "reduction",
    "example",
];

const PERIOD_KEYS: &[&str] = &["parts", "months", "begin", "share", "digits", "remainder"];

const EXAMPLE_KEYS: &[&str] = &[
    "name",
    "amount",
    "from",
    "until",
    "used",
    "on",
    "expect",
    "printed",
    "printed_of",
    "note",
];

/// What an example can expect: of the period of its day, of a numbered one, or of all.
pub(super) const VALUES: &[&str] = &[
    "granted",
    "carried_in",
    "used_ahead",
    "reduced",
    "available",
    "used",
    "over",
    "borrowed",
    "carried_out",
    "lost",
    "remaining",
    "formula_carry",
    "total_granted",
    "total_lost",
    "total_reduced",
];

/// Reads a rule file; everything that is wrong with it is reported, then there is no rule.
pub(super) fn rule(file: &str, text: &str, problems: &mut Problems) -> Option<PeriodRule> {
    let source = SectionSource { file, text };
    let table = table_of(source, problems)?;
    let mut own = Problems::default();
    let top = root(source, &table, "the period rule", KEYS, &mut own);
    let read = read(&top, file, text, &mut own);
    let is_sound = !own.has_mistakes();
    problems.append(own);
    read.filter(|_| is_sound)
}

fn read(top: &Section<'_>, file: &str, text: &str, problems: &mut Problems) -> Option<PeriodRule> {
    let id = top.required_text("id", "a name that stays over all versions", problems);
    let version = top.required_text("version", "which version", problems);
    let title = top.required_text("title", "one line for people", problems);
    let origin = top.required_text("source", "where the centre publishes it", problems);
    let Some(periods) = top.section("periods", "[periods]", PERIOD_KEYS, problems) else {
        top.wrong(0, "there is no [periods]", problems);
        return None;
    };
    let length = length(&periods, problems);
    let digits = whole(&periods, "digits", problems);
    if digits.is_some_and(|digits| digits > DIGITS) {
        periods.wrong(periods.line(), format!("digits are at most {DIGITS}"), problems);
    }
    let share = periods.word("share", PartShare::WORDS, problems);
    let remainder = periods.word("remainder", RemainderPlace::WORDS, problems);
    let is_divided = !matches!(length, PeriodLength::Whole);
    if is_divided && (share.is_none() || remainder.is_none()) && !(periods.has("share") && periods.has("remainder")) {
        let message = "parts have a share (\"equal\" or \"days\") and a remainder (\"first\", \"last\" or \"spread\")";
        periods.wrong(periods.line(), message, problems);
    }
    let reductions: Vec<Reduction> = (top.sections(
        "reduction",
        "[[reduction]]",
        &["on", "used_above_percent", "used_at_most_percent", "loses_percent"],
        problems,
    ))
    .iter()
    .filter_map(|section| reduction(section, problems))
    .collect();
    if is_divided && !reductions.is_empty() {
        top.wrong(0, "a rule that reduces has one period: the award", problems);
    }
    let carry = carry(top, problems);
    let share_of = |key: &'static str, title: &'static str, what: &str, problems: &mut Problems| {
        let section = top.section(key, title, &["limit_percent"], problems)?;
        required_percent(&section, "limit_percent", what, problems)
    };
    let borrow_e4 = share_of("borrow", "[borrow]", "how much of the next period's part", problems);
    let grace_e4 = share_of("grace", "[grace]", "how much beyond what is available", problems);
    // Fallback: a rule without [borrow] lets nothing be used ahead.
    let borrow_e4 = borrow_e4.unwrap_or(0);
    // Fallback: a rule without [grace] allows nothing beyond.
    let grace_e4 = grace_e4.unwrap_or(0);
    if borrow_e4 > PERCENT_E4 {
        top.wrong(0, "no more than all of the next period can be used ahead", problems);
    }
    let sections = top.sections("example", "[[example]]", EXAMPLE_KEYS, problems);
    let examples: Vec<RuleExample> = sections
        .iter()
        .filter_map(|section| example(section, problems))
        .collect();
    if sections.is_empty() {
        top.wrong(0, "there is no [[example]]: a rule shows what it does", problems);
    }
    Some(PeriodRule {
        id: id?.value,
        version: version?.value,
        title: title?.value,
        source: origin?.value,
        note: top.text("note", problems).map(|at| at.value),
        length,
        share: share.map_or(PartShare::Equal, |at| at.value),
        digits: digits.unwrap_or(DIGITS),
        remainder: remainder.map_or(RemainderPlace::Last, |at| at.value),
        carry,
        borrow_e4,
        grace_e4,
        reductions,
        examples,
        file: file.to_owned(),
        text: text.to_owned(),
    })
}

fn length(periods: &Section<'_>, problems: &mut Problems) -> PeriodLength {
    let (parts, months) = (whole(periods, "parts", problems), whole(periods, "months", problems));
    let is_calendar = periods.word("begin", &[("award", false), ("calendar", true)], problems);
    if parts == Some(0) || months == Some(0) {
        periods.wrong(periods.line(), "parts and months are at least 1", problems);
        return PeriodLength::Whole;
    }
    match (parts, months, is_calendar.is_some_and(|at| at.value)) {
        (Some(_), Some(_), _) => {
            periods.wrong(periods.line(), "[periods] has parts or months, not both", problems);
            PeriodLength::Whole
        }
        (Some(parts), None, false) => PeriodLength::Parts(parts),
        (None, Some(months), false) => PeriodLength::Months(months),
        (None, Some(months), true) if 12 % months == 0 => PeriodLength::CalendarMonths(months),
        (None, Some(_), true) => {
            periods.wrong(
                periods.line(),
                "calendar months divide the year: 1, 2, 3, 4, 6 or 12",
                problems,
            );
            PeriodLength::Whole
        }
        (_, None, true) => {
            periods.wrong(periods.line(), "begin = \"calendar\" goes with months", problems);
            PeriodLength::Whole
        }
        (None, None, false) => PeriodLength::Whole,
    }
}

fn carry(top: &Section<'_>, problems: &mut Problems) -> Carry {
    /// The modes, before their numbers are known.
    #[derive(Clone, Copy)]
    enum CarryMode {
        Nothing,
        All,
        Limited,
        Decayed,
        DecayedUse,
    }
    const MODES: &[(&str, CarryMode)] = &[
        ("nothing", CarryMode::Nothing),
        ("all", CarryMode::All),
        ("limited", CarryMode::Limited),
        ("decayed", CarryMode::Decayed),
        ("decayed-use", CarryMode::DecayedUse),
    ];
    let keys = &["mode", "limit_percent", "half_life_days", "decay_days"];
    let Some(section) = top.section("carry", "[carry]", keys, problems) else {
        if !top.has("carry") {
            top.wrong(0, "there is no [carry]: what becomes of what is not used", problems);
        }
        return Carry::Nothing;
    };
    if section
        .required_text("mode", "what a period leaves to the next", problems)
        .is_none()
    {
        return Carry::Nothing;
    }
    let Some(mode) = section.word("mode", MODES, problems) else {
        return Carry::Nothing;
    };
    let half_life_days = whole(&section, "half_life_days", problems);
    let decay_days = whole(&section, "decay_days", problems);
    let is_decay = matches!(mode.value, CarryMode::Decayed | CarryMode::DecayedUse);
    if is_decay != section.has("half_life_days") || (section.has("decay_days") && !is_decay) {
        section.wrong(
            mode.line,
            "half_life_days goes with the modes decayed and decayed-use",
            problems,
        );
    }
    if half_life_days == Some(0) {
        section.wrong(mode.line, "half_life_days is at least 1", problems);
    }
    let half_life_days = half_life_days.filter(|days| *days > 0).unwrap_or(1);
    match mode.value {
        CarryMode::Nothing => Carry::Nothing,
        CarryMode::All => Carry::All,
        CarryMode::Limited => {
            let limit = required_percent(&section, "limit_percent", "how much of the period's own part", problems);
            limit.map_or(Carry::Nothing, Carry::Limited)
        }
        CarryMode::Decayed => Carry::Decayed {
            half_life_days,
            decay_days,
        },
        CarryMode::DecayedUse => Carry::DecayedUse {
            half_life_days,
            decay_days,
        },
    }
}

fn reduction(section: &Section<'_>, problems: &mut Problems) -> Option<Reduction> {
    let on = section.required_text("on", "the day of every year, such as \"07-15\"", problems)?;
    let written = on.value.split_once('-').filter(|_| on.value.len() == 5);
    let day = written.and_then(|(month, day)| Some((month.parse::<i8>().ok()?, day.parse::<i8>().ok()?)));
    // A day of every year: 2023 has no leap day.
    let day = day.filter(|(month, day)| Date::new(2023, *month, *day).is_some());
    let Some((month, day)) = day else {
        let message = format!(
            "on = \"{}\" is not a month and day of every year, such as \"07-15\"",
            on.value
        );
        section.wrong(on.line, message, problems);
        return None;
    };
    Some(Reduction {
        month,
        day,
        above_e4: percent(section, "used_above_percent", problems),
        at_most_e4: required_percent(section, "used_at_most_percent", "how much of the award", problems)?,
        loses_e4: required_percent(section, "loses_percent", "how much of the rest", problems)
            .filter(|loses| *loses <= PERCENT_E4)?,
    })
}

fn example(section: &Section<'_>, problems: &mut Problems) -> Option<RuleExample> {
    let name = section.required_text("name", "one of its own for every example", problems);
    let amount_e9 = number(section, "amount", DIGITS, problems);
    let (from, until) = (day(section, "from", problems), day(section, "until", problems));
    let on = day(section, "on", problems);
    if amount_e9.is_none() && !section.has("amount") {
        section.wrong(section.line(), "[[example]] has no amount", problems);
    }
    let mut used = Vec::new();
    let of_days = section.free_section("used", "used", problems);
    for (key, found, line) in of_days.iter().flat_map(Section::entries) {
        // Fallback: what is wrong with the number is part of the mistake that is reported.
        match (date(key), written(found).and_then(|text| scaled(&text, DIGITS).ok())) {
            (Some(day), Some(used_e9)) => used.push(RuleUse { day, used_e9 }),
            _ => section.wrong(line, "used has days with amounts: { \"2024-04-01\" = 10 }", problems),
        }
    }
    let mut expected = Vec::new();
    let values = section.free_section("expect", "expect", problems);
    for (key, found, line) in values.iter().flat_map(Section::entries) {
        // `2.available` is a table of the period 2.
        match found.as_table() {
            None => expected.extend(expectation(section, key.to_owned(), found, line, problems)),
            Some(of_period) => {
                for (inner, value) in of_period {
                    let name = format!("{key}.{}", inner.get_ref());
                    expected.extend(expectation(section, name, value.get_ref(), line, problems));
                }
            }
        }
    }
    if expected.is_empty() {
        section.wrong(section.line(), "[[example]] expects nothing", problems);
    }
    let printed = section.text("printed", problems);
    let printed_of = section.text("printed_of", problems);
    if printed.is_some() != printed_of.is_some() {
        section.wrong(section.line(), "printed and printed_of go together", problems);
    }
    let printed = printed.zip(printed_of).and_then(|(printed, of)| {
        if let Some(why) = why_no_value(&of.value) {
            section.wrong(of.line, why, problems);
        }
        let value = scaled(&printed.value.replace([' ', ','], ""), DIGITS);
        match value {
            Ok(value_e9) => Some(RulePrinted {
                text: printed.value,
                of: of.value,
                value_e9,
            }),
            Err(why) => {
                section.wrong(printed.line, why, problems);
                None
            }
        }
    });
    let (from, until) = (from?, until?);
    if until <= from {
        section.wrong(section.line(), "until is not after from", problems);
        return None;
    }
    Some(RuleExample {
        name: name?.value,
        line: section.line(),
        amount_e9: amount_e9?,
        from,
        until,
        used,
        on: on?,
        expected,
        printed,
        note: section.text("note", problems).map(|at| at.value),
    })
}

/// One value an example expects.
fn expectation(
    section: &Section<'_>,
    name: String,
    found: &DeValue<'_>,
    line: usize,
    problems: &mut Problems,
) -> Option<RuleExpectation> {
    if let Some(why) = why_no_value(&name) {
        section.wrong(line, why, problems);
        return None;
    }
    let text = written(found);
    let value = text
        .as_deref()
        // Fallback: the mistake that is reported names what was found in place of a number.
        .and_then(|text| Some((scaled(text, DIGITS).ok()?, places(text))));
    let Some((value_e9, places)) = value else {
        section.wrong(line, format!("{name} is a number, not {}", kind(found)), problems);
        return None;
    };
    Some(RuleExpectation { name, value_e9, places })
}

/// Why no value has a name; `None` when there is one.
fn why_no_value(name: &str) -> Option<String> {
    let value = match name.split_once('.') {
        Some((period, value)) if period.parse::<usize>().is_ok_and(|period| period > 0) => value,
        Some(_) => return Some(format!("\"{name}\": a period is numbered from 1, as in 2.available")),
        None => name,
    };
    let hint = || did_you_mean(value, VALUES.iter().copied());
    (!VALUES.contains(&value)).then(|| format!("there is no value \"{value}\"{}", hint()))
}

/// How many places after the point a number is written with.
fn places(text: &str) -> u32 {
    let places = text.split_once('.').map_or(0, |(_, places)| places.len());
    u32::try_from(places).map_or(DIGITS, |places| places.min(DIGITS))
}

/// A number as it is written.
fn written(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().replace('_', "")),
        DeValue::Float(number) => Some(number.as_str().replace('_', "")),
        _ => None,
    }
}

fn number(section: &Section<'_>, key: &str, digits: u32, problems: &mut Problems) -> Option<i128> {
    let (value, line) = section.get(key)?;
    let Some(text) = written(value) else {
        section.wrong(line, format!("{key} must be a number, not {}", kind(value)), problems);
        return None;
    };
    match scaled(&text, digits) {
        Ok(number) => Some(number),
        Err(why) => {
            section.wrong(line, format!("{key}: {why}"), problems);
            None
        }
    }
}

fn whole(section: &Section<'_>, key: &str, problems: &mut Problems) -> Option<u32> {
    let number = number(section, key, 0, problems)?;
    let small = u32::try_from(number).ok().filter(|number| *number <= 100_000);
    if small.is_none() {
        section.wrong(section.line(), format!("{key} is too large"), problems);
    }
    small
}

/// A percentage, in ten-thousandths of a percent.
fn percent(section: &Section<'_>, key: &str, problems: &mut Problems) -> Option<i128> {
    number(section, key, PERCENT_DIGITS, problems)
}

fn required_percent(section: &Section<'_>, key: &str, what: &str, problems: &mut Problems) -> Option<i128> {
    if !section.has(key) {
        section.wrong(section.line(), format!("there is no {key} ({what})"), problems);
    }
    percent(section, key, problems)
}

fn day(section: &Section<'_>, key: &str, problems: &mut Problems) -> Option<Day> {
    let text = section.required_text(key, "a day such as \"2024-04-01\"", problems)?;
    let found = date(&text.value);
    if found.is_none() {
        section.wrong(
            text.line,
            format!("{key} = \"{}\" is not a day such as \"2024-04-01\"", text.value),
            problems,
        );
    }
    found
}

fn date(text: &str) -> Option<Day> {
    let date = text.parse::<Date>().ok()?;
    (text.len() == 10 && date.year() > 0).then(|| day_of(date))
}

//! Gratia's months: what it sent to APEL user by user against what it published by site and VO.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use gridtally::compat::PeerMode;
use gridtally::reference::ratio::Ratio;

use super::{Lake, columns};
use crate::support::collect::shared;

/// The published report leaves the first record of the file out: AGLT2's first user of atlas, ten jobs and one hour of
/// normalised wall time. It did so in eleven months from 2012-03 to 2013-02; of ours only one is among them.
const KNOWN: [(&str, &str, &str, [i64; 5]); 1] = [("2012-11", "AGLT2", "atlas", [10, 0, 0, 0, 1])];

/// Factors of a month by site, in ten-thousandths of HEPSPEC06, as the reports of that month named them.
fn factors(folder: &Path, month: &str) -> BTreeMap<String, i64> {
    let file = folder.join(format!("factor-history/lcg-reportableSites.{}", month.replace('-', "")));
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let mut factors = BTreeMap::new();
    for mut words in lines.map(str::split_whitespace) {
        if let (Some(site), Some(value)) = (words.next(), words.next()) {
            // Thousandths since 2012.
            factors.insert(site.to_owned(), value.parse::<i64>().unwrap() * 10);
        }
    }
    factors
}

#[test]
fn users_add_up_to_the_published_report_but_for_the_known_row() {
    let test = "users_add_up_to_the_published_report_but_for_the_known_row";
    let Some(folder) = shared(test, "data/gracc") else {
        return;
    };
    let monthly = folder.join("gratia-monthly");
    let mut published = 0;
    let mut differing = Vec::new();
    for month in ["2012-11", "2013-03", "2013-06", "2013-09", "2014-01", "2014-06"] {
        let factors = factors(&folder, month);
        let mut table = String::from("site,cluster,benchmark,value_per_core,valid_from,valid_to\n");
        for (site, e4) in &factors {
            let _ = writeln!(table, "{site},,hs06,{},{month}-01,", Ratio::from_e4(*e4).text(4));
        }
        let messages = monthly.join(format!("{month}.apel-messages"));
        let messages = messages.display();
        let lake = Lake::new(
            &[("benchmarks.csv", &table)],
            &format!(
                "[[source]]\nname = \"gratia\"\nformat = \"apel\"\nacceptance = \"salvage\"\npaths = [\"{messages}\"]\n\
                 [normalise]\nbenchmarks = \"benchmarks.csv\"\nmissing = \"reject\"\n"
            ),
        );
        let by_user = lake.work(PeerMode::Apel, "vo,global_user");
        let mut bounds: BTreeMap<(String, String), (i64, i64)> = BTreeMap::new();
        for cell in &by_user.cells {
            let row = columns(&by_user, cell);
            let hours = |name: &str| row[name].parse::<i64>().unwrap() / 3600;
            let e4 = factors[&row["site"]];
            // Both hours and work were rounded from the same seconds.
            for (hours, work) in [
                (hours("wall_s"), hours("normalised_wall_s")),
                (hours("cpu_s"), hours("normalised_cpu_s")),
            ] {
                let off_e4 = (work * 10_000 - hours * e4).abs();
                assert!(off_e4 <= e4 / 2 + 5_000, "{month} {row:?}");
            }
            let users = bounds.entry((row["site"].clone(), row["vo"].clone())).or_default();
            users.0 += hours("cpu_s") * e4;
            users.1 += e4 / 2 + 5_000;
        }
        let by_vo = lake.work(PeerMode::Apel, "vo");
        let mut ours: BTreeMap<(String, String), [i64; 5]> = by_vo
            .cells
            .iter()
            .map(|cell| {
                let row = columns(&by_vo, cell);
                let number = |name: &str| row[name].parse::<i64>().unwrap();
                let names = ["job_n", "cpu_s", "wall_s", "normalised_cpu_s", "normalised_wall_s"];
                let hours = names.map(|name| number(name) / if name == "job_n" { 1 } else { 3600 });
                ((row["site"].clone(), row["vo"].clone()), hours)
            })
            .collect();
        let report = std::fs::read_to_string(monthly.join(format!("{month}.summary.dat"))).unwrap();
        for line in report.lines() {
            let words: Vec<&str> = line.split('\t').collect();
            let [site, factor, vo, jobs, cpu, wall, norm_cpu, norm_wall, ..] = words.as_slice() else {
                panic!("{line}");
            };
            let place = ((*site).to_owned(), (*vo).to_owned());
            assert_eq!(Ratio::from_e4(factors[*site]).text(4), *factor, "{month} {site}");
            let theirs = [jobs, cpu, wall, norm_cpu, norm_wall].map(|text| text.parse::<i64>().unwrap());
            // Users' hours times the factor of the month come as near as rounding lets them.
            let (product_e4, bound_e4) = bounds[&place];
            assert!((product_e4 - theirs[3] * 10_000).abs() <= bound_e4, "{month} {place:?}");
            let mut off = ours.remove(&place).unwrap();
            off.iter_mut().zip(theirs).for_each(|(ours, theirs)| *ours -= theirs);
            if off != [0; 5] {
                differing.push((month, place.0, place.1, off));
            }
            published += 1;
        }
        assert_eq!(ours, BTreeMap::new(), "{month}: sent and not published");
    }
    assert_eq!(published, 188);
    let known = KNOWN.map(|(month, site, vo, off)| (month, site.to_owned(), vo.to_owned(), off));
    assert_eq!(differing, known);
}

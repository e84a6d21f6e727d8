//! What a federation knows of its sites and a lake does not: federation, country, NGI, tier, factor, resources.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::{Error, Result};
use crate::reference::csv_table::OtherSeparator;
use crate::small_file::{self, TABLE_LIMIT_BYTES};

/// One site of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteEntry {
    /// Site.
    pub site: String,
    /// Federation of the memorandum of understanding.
    #[serde(default)]
    pub federation: String,
    /// Country.
    #[serde(default)]
    pub country: String,
    /// National grid initiative.
    #[serde(default)]
    pub ngi: String,
    /// Tier: 0, 1, 2.
    #[serde(default)]
    pub tier: String,
    /// Normalisation factor, as the federation publishes it.
    #[serde(default)]
    pub norm_factor: String,
    /// Resources that report, separated by `;`.
    #[serde(default)]
    pub resources: String,
}

/// What a federation pledged.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pledge {
    /// Federation.
    pub federation: String,
    /// VO; in lower case.
    pub vo: String,
    /// Year in which the pledge year begins, in April.
    pub pledge_year: i16,
    /// Power pledged, in units of the benchmark.
    pub power: u32,
}

fn rows<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let file = path.display().to_string();
    let wrong = |e: csv::Error| Error::config("the table is wrong").at("file", &file).because(e);
    let bytes = small_file::read(path, TABLE_LIMIT_BYTES).map_err(|e| wrong(e.into()))?;
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(bytes.as_slice());
    let header: Vec<String> = reader.headers().map_err(wrong)?.iter().map(str::to_owned).collect();
    if let Some(other) = OtherSeparator::of(&header) {
        return Err(Error::config(other.message()).at("file", format!("{file}:1")));
    }
    reader.deserialize().collect::<Result<Vec<T>, _>>().map_err(wrong)
}

/// Reads a table of sites: `site,federation,country,ngi,tier,norm_factor,resources`, of which only the first must be
/// there.
///
/// # Errors
/// [`crate::error::Kind::Config`] naming file and line of the first mistake, or a site named twice.
pub fn load_sites(path: &Path) -> Result<BTreeMap<String, SiteEntry>> {
    let mut sites = BTreeMap::new();
    for entry in rows::<SiteEntry>(path)? {
        if let Some(twice) = sites.insert(entry.site.clone(), entry) {
            let message = format!("the site {:?} is named twice", twice.site);
            return Err(Error::config(message).at("file", path.display()));
        }
    }
    Ok(sites)
}

/// What a pledge is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PledgeKey {
    /// Federation.
    pub federation: String,
    /// VO in lower case.
    pub vo: String,
    /// The year in which the pledge year begins.
    pub pledge_year: i16,
}

/// Pledged power.
pub type Pledges = BTreeMap<PledgeKey, u32>;

/// Reads a table of pledges: `federation,vo,pledge_year,power`.
///
/// # Errors
/// [`crate::error::Kind::Config`] naming file and line of the first mistake, or a pledge made twice.
pub fn load_pledges(path: &Path) -> Result<Pledges> {
    let mut pledges = Pledges::new();
    for pledge in rows::<Pledge>(path)? {
        let key = PledgeKey {
            federation: pledge.federation.clone(),
            vo: pledge.vo.to_lowercase(),
            pledge_year: pledge.pledge_year,
        };
        if pledges.insert(key, pledge.power).is_some() {
            let message = format!(
                "{} pledges for {} in {} twice",
                pledge.federation, pledge.vo, pledge.pledge_year
            );
            return Err(Error::config(message).at("file", path.display()));
        }
    }
    Ok(pledges)
}

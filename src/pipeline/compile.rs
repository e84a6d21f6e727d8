//! From what a pipeline file says to what it means: paths resolved, zones and tables looked up, everything checked.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use super::fingerprint;
use super::overhead::plan::OverheadSpec;
use super::plan::{
    Attribution, Format, Grain, LogOptions, NormalisePlan, Plan, Publishing, Replacement, SourcePlan, VoRule, Written,
};
use super::section::At;
use super::spec::{SiteSpec, SourceSpec, Spec, VoSpec};
use crate::error::{Error, Result};
use crate::plain::secret_of;
use crate::privacy::Privacy;
use crate::problems::Problems;
use crate::reference::correction::CorrectionTable;
use crate::reference::site::{SiteRule, SiteTable};
use crate::reference::topology::Topology;
use crate::reference::vo::VoTable;
use crate::reference::vo_corrections::VoCorrections;
use crate::small_file;
use crate::sources::compression::{decompress, peek};
use crate::sources::dialect::{self, Dialect, HEAD_BYTES};
use crate::time::Zone;

impl Plan {
    /// Reads and checks a pipeline file; also gives remarks on what is legal and probably not meant.
    ///
    /// # Errors
    /// [`crate::error::Kind::Config`] with every mistake of the file and of the tables it names, one per line, each
    /// as `file:line: message`.
    pub fn load(file: &Path) -> Result<(Self, Vec<String>)> {
        let label = file.to_string_lossy().into_owned();
        if let Some(dialect) = dump_in(file) {
            return Err(Error::config(format!(
                "{label} is a dump ({}), not a pipeline: gridtally inspect proposes a source that reads it",
                dialect.as_str()
            )));
        }
        let text = small_file::text(file)
            .map_err(|why| Error::config(format!("{label}: the pipeline file cannot be read")).because(why))?;
        let file = std::path::absolute(file)
            .map_err(|why| Error::config(format!("{label}: the pipeline file has no place")).because(why))?;
        let mut compiler = Compiler {
            base: file.parent().and_then(Path::to_str).map(str::to_owned).ok_or_else(|| {
                Error::config(format!(
                    "{label}: the name of the pipeline's folder must be valid UTF-8"
                ))
            })?,
            label,
            problems: Problems::default(),
        };
        let spec = Spec::read(&compiler.label, &text, &mut compiler.problems);
        let plan = compiler.plan(spec, &file);
        compiler.problems.name_tables(&compiler.label, &text);
        let warnings = compiler.problems.finish()?;
        // Every way to have no plan is a mistake that was told.
        let plan = plan.ok_or_else(|| Error::internal("a pipeline file without a mistake gave no plan"))?;
        Ok((plan, warnings))
    }
}

/// What a file given for a pipeline is a dump of, if it is one.
fn dump_in(file: &Path) -> Option<Dialect> {
    // What comes through a pipe can be read once.
    if !file.is_file() {
        return None;
    }
    let (_, bytes) = peek(Box::new(File::open(file).ok()?), 0).ok()?;
    let (head, _) = peek(decompress(bytes).ok()?, HEAD_BYTES).ok()?;
    // Whatever stands in a pipeline that names itself.
    let names_pipeline = head
        .split(|byte| *byte == b'\n')
        .any(|line| line.trim_ascii().starts_with(b"[pipeline]"));
    (!names_pipeline).then(|| dialect::recognise(&head)).flatten()
}

/// Whether a path of the pipeline file is a URL.
pub(crate) fn is_url(path: &str) -> bool {
    path.split_once("://")
        .is_some_and(|(scheme, _)| !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// A local path made absolute against the folder `base`; a URL as it is.
fn resolve(base: &str, path: &str) -> String {
    if is_url(path) || Path::new(path).is_absolute() {
        return path.to_owned();
    }
    let path = path.strip_prefix("./").unwrap_or(path);
    format!("{}/{path}", base.trim_end_matches('/'))
}

/// The zone that is meant, if its name differs by a slip of the pen: a city that is merely alike lies in another country.
fn nearest_zone(name: &str) -> String {
    /// Letters that may differ.
    const SLIPS: usize = 2;
    let split = |name: &str| {
        name.rsplit_once('/')
            .map_or((None, name.to_lowercase()), |(area, city)| {
                (Some(area.to_lowercase()), city.to_lowercase())
            })
    };
    let (area, city) = split(name);
    let known = jiff::tz::db().available().map(|zone| zone.to_string());
    let near = known.filter_map(|zone| {
        let (other_area, other_city) = split(&zone);
        let slips = strsim::damerau_levenshtein(&city, &other_city);
        let area_slips = area.as_ref().map_or(0, |area| {
            strsim::damerau_levenshtein(area, &other_area.unwrap_or_default())
        });
        (slips + area_slips <= SLIPS.min(city.chars().count() / 3)).then_some((slips + area_slips, zone))
    });
    near.min().map_or_else(
        || "; names are those of the IANA database, Area/City, with the city it lists for your country".to_owned(),
        |(_, zone)| format!(", did you mean \"{zone}\"?"),
    )
}

pub(super) struct Compiler {
    /// Name of the pipeline file in messages.
    label: String,
    /// Absolute folder of the pipeline file.
    base: String,
    pub(super) problems: Problems,
}

impl Compiler {
    pub(super) fn wrong(&mut self, line: usize, message: impl Into<String>) {
        self.problems.mistake(&self.label, line, message);
    }

    pub(super) fn doubt(&mut self, line: usize, message: impl Into<String>) {
        self.problems.warning(&self.label, line, message);
    }

    fn plan(&mut self, spec: Spec, file: &Path) -> Option<Plan> {
        let pipeline = spec.pipeline;
        let start = self.year_start(pipeline.allocation_year_start.as_ref());
        let zone = match &pipeline.calendar_timezone {
            Some(name) => self.zone(name),
            None => Some(Zone::utc()),
        };
        let corrections = pipeline.corrections.map(|path| self.corrections(&path));
        let capacity = spec.capacity.and_then(|path| self.node_types(&path)).map(Arc::new);
        let attribution = pipeline.attribution.map_or(Attribution::Prorated, |at| at.value);
        let grain = pipeline.grain.map_or(Grain::Month, |at| at.value);
        let overlap = pipeline.overlap.map(|at| at.value);
        let source_names = spec.sources.iter().map(|source| &source.name);
        let names = source_names.chain(spec.inventories.iter().map(|inventory| &inventory.name));
        let listed = spec.overhead.as_ref().and_then(OverheadSpec::inventory_name);
        self.unique_names(&names.flatten().chain(&listed).collect::<Vec<_>>());
        let has_privacy = spec.privacy.is_some();
        let privacy = spec.privacy.and_then(|privacy| {
            let base = self.base.clone();
            let place = |path: &str| resolve(&base, path);
            privacy.compile(&spec.sources, &self.label, place, &mut self.problems)
        });
        if has_privacy && privacy.is_none() {
            return None;
        }
        let privacy = privacy.filter(Privacy::withholds).map(Arc::new);
        let scaled = self.scaled_sources(&spec.sources);
        let mut sources: Vec<_> = spec
            .sources
            .into_iter()
            .map(|source| self.source(source, privacy.as_deref()))
            .collect();
        let source_n = sources.len();
        let (mut as_of, mut complete) = (BTreeMap::new(), BTreeMap::new());
        for inventory in spec.inventories {
            self.doubt_inventory(&inventory);
            let name = inventory.name.as_ref().map(|name| name.value.clone());
            complete.extend(name.zip(inventory.complete));
            let compiled = self.inventory(inventory, privacy.as_deref()).map(|(inventory, own)| {
                as_of.extend(own.map(|own| (inventory.name.clone(), own)));
                inventory
            });
            sources.push(compiled);
        }
        let has_inventory = sources.len() > source_n;
        let overhead = spec.overhead.map(|overhead| {
            match self.nodes(&overhead, privacy.as_deref()) {
                Ok(nodes) => sources.extend(nodes.map(Some)),
                Err(_told) => sources.push(None),
            }
            self.overhead(overhead, has_inventory)
        });
        let normalise = spec.normalise.map(|normalise| self.normalise(normalise));
        let tariffs = self.tariffs(&spec.charges);
        let calendar_zone = zone?;
        let allocation_year_start = start?;
        // A `[normalise]` with a mistake must not turn into none at all.
        let mut normalise = match normalise {
            Some(normalise) => Some(normalise?),
            None => None,
        };
        let overhead = match overhead {
            Some(overhead) => Some(overhead?),
            None => None,
        };
        self.scaled_once(scaled, normalise.as_mut());
        let output = pipeline.output?;
        self.refuse_secrets(std::slice::from_ref(&output));
        Some(Plan {
            name: pipeline.name?.value,
            file: file.to_owned(),
            output: self.resolve(&output.value),
            allocation_year_start,
            attribution,
            grain,
            overlap,
            keeps_copies: pipeline.keeps_copies.is_some_and(|at| at.value),
            limits: pipeline.limits,
            sources: sources
                .into_iter()
                .map(|source| source.map(Arc::new))
                .collect::<Option<_>>()?,
            fingerprint: fingerprint::of_plan(
                allocation_year_start,
                &calendar_zone,
                attribution,
                grain,
                overlap,
                &tariffs,
            ),
            calendar_zone,
            normalise: normalise.unwrap_or_else(NormalisePlan::stated),
            overhead,
            as_of,
            complete,
            privacy,
            tariffs,
            capacity,
            corrections,
        })
    }

    /// A URL with a password is a mistake of its line, which does not repeat it.
    fn refuse_secrets(&mut self, places: &[At<String>]) {
        for place in places {
            if let Some(why) = secret_of(&place.value) {
                self.problems.mistake(&self.label, place.line, why);
            }
        }
    }

    /// Where a source and its paths are named.
    pub(super) fn written(&self, line: usize, paths: &[At<String>]) -> Written {
        Written {
            file: self.label.clone(),
            line,
            path_lines: paths.iter().map(|path| path.line).collect(),
        }
    }

    /// A local path made absolute against the pipeline file; a URL as it is.
    pub(super) fn resolve(&self, path: &str) -> String {
        resolve(&self.base, path)
    }

    /// The name of a table in messages: beside the pipeline file, however that was named.
    pub(super) fn table_label(&self, table: &str) -> String {
        let folder = Path::new(&self.label).parent().unwrap_or(Path::new(""));
        folder.join(table).to_string_lossy().into_owned()
    }

    pub(super) fn zone(&mut self, name: &At<String>) -> Option<Zone> {
        match Zone::named(&name.value) {
            Ok(zone) => Some(zone),
            Err(why) => {
                let hint = nearest_zone(&name.value);
                self.wrong(name.line, format!("{why}{hint}"));
                None
            }
        }
    }

    fn corrections(&mut self, path: &At<String>) -> Arc<CorrectionTable> {
        if is_url(&path.value) {
            self.wrong(path.line, "corrections is a file beside the pipeline, not a URL");
            return Arc::default();
        }
        let label = self.table_label(&path.value);
        let place = self.resolve(&path.value);
        Arc::new(CorrectionTable::load(Path::new(&place), &label, &mut self.problems))
    }

    fn year_start(&mut self, text: Option<&At<String>>) -> Option<(i8, i8)> {
        /// Any year without a leap day: an allocation year must start in every year.
        const COMMON_YEAR: i16 = 2023;
        let Some(text) = text else {
            return Some((1, 1));
        };
        let shape = text.value.len() == 5 && text.value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let day = text
            .value
            .split_once('-')
            .filter(|(month, _)| shape && month.len() == 2)
            .and_then(|(month, day)| Some((month.parse().ok()?, day.parse().ok()?)))
            .filter(|&(month, day)| jiff::civil::Date::new(COMMON_YEAR, month, day).is_ok());
        if day.is_none() {
            let message = format!(
                "allocation_year_start = \"{}\" is no month and day of every year, such as \"04-01\"",
                text.value
            );
            self.wrong(text.line, message);
        }
        day
    }

    fn unique_names(&mut self, names: &[&At<String>]) {
        for (nth, name) in names.iter().enumerate() {
            if let Some(first) = names.iter().take(nth).find(|earlier| earlier.value == name.value) {
                let message = format!("the source of line {} is also called \"{}\"", first.line, name.value);
                self.wrong(name.line, message);
            }
        }
    }

    fn source(&mut self, spec: SourceSpec, privacy: Option<&Privacy>) -> Option<SourcePlan> {
        self.refuse_secrets(&spec.paths);
        self.odd_combinations(&spec);
        let zone = spec.timezone.as_ref().map(|name| self.zone(name));
        let vo = match spec.vo {
            None => VoRule::Record,
            Some(VoSpec::Column(column)) => VoRule::Column(column),
            Some(VoSpec::Value(vo)) => VoRule::Value(vo),
            Some(VoSpec::Corrections { corrections, known }) => {
                let mut rule = VoCorrections::default();
                if let Some(table) = &corrections {
                    let path = self.beside(table, "a table of VO corrections")?;
                    let label = self.table_label(&table.value);
                    rule.load(Path::new(&path), &label, &mut self.problems);
                }
                if let Some(table) = &known {
                    let path = self.beside(table, "a table of known VOs")?;
                    let label = self.table_label(&table.value);
                    rule.load_known(Path::new(&path), &label, &mut self.problems);
                }
                VoRule::Corrections(Arc::new(rule))
            }
            Some(VoSpec::Table(table)) => {
                let label = self.table_label(&table.value);
                let path = self.resolve(&table.value);
                if is_url(&table.value) {
                    self.wrong(table.line, "a VO table is a file beside the pipeline, not a URL");
                    return None;
                }
                VoRule::Table(Arc::new(VoTable::load(Path::new(&path), &label, &mut self.problems)))
            }
        };
        let site_rule = match spec.site_rule {
            None => SiteRule::Record,
            Some(SiteSpec::Column(column)) => SiteRule::Column(column),
            Some(SiteSpec::Table(table)) => {
                let (path, label) = (self.beside(&table, "a site table")?, self.table_label(&table.value));
                let table = SiteTable::load(Path::new(&path), &label, &mut self.problems);
                SiteRule::Table(Arc::new(table))
            }
            Some(SiteSpec::Topology(table, level)) => {
                let (path, label) = (self.beside(&table, "a topology")?, self.table_label(&table.value));
                let topology = Topology::load(Path::new(&path), &label, &mut self.problems);
                SiteRule::Topology(Arc::new(topology), level)
            }
        };
        let mut plan = SourcePlan {
            name: spec.name?.value,
            format: spec.format?.value,
            paths: spec.paths.iter().map(|path| self.resolve(&path.value)).collect(),
            site: spec.site.map(|at| at.value),
            site_rule,
            cluster: spec.cluster.map(|at| at.value),
            infrastructure: spec.infrastructure.map(|at| at.value),
            zone: match zone {
                Some(zone) => Some(zone?),
                None => None,
            },
            delimiter: spec.delimiter.map(|at| at.value),
            layout: spec.layout.map(|at| at.value),
            vo,
            acceptance: spec.acceptance.map_or_else(Default::default, |at| at.value),
            logs: LogOptions {
                blah: spec.blah.iter().map(|path| self.resolve(&path.value)).collect(),
                unix_start_time: spec.unix_start_time.map(|at| at.value),
                is_start_submit: spec.start_from_submit.is_some(),
                scaled_to: spec.scaled_to.map(|spec| spec.scaled_to),
            },
            nodes_by_kind: BTreeMap::new(),
            publishing: Publishing {
                replacement: spec.summaries.map_or_else(Default::default, |at| at.value),
                publication: spec.publication.map(|at| at.value),
                parts: spec.parts.map_or_else(Default::default, |at| at.value),
            },
            limits: spec.limits,
            written: self.written(spec.line, &spec.paths),
            fingerprint: String::new(),
        };
        plan.fingerprint = fingerprint::of_source(&plan, privacy);
        Some(plan)
    }

    /// The path of a table, which must not be a URL.
    pub(super) fn beside(&mut self, table: &At<String>, what: &str) -> Option<String> {
        if is_url(&table.value) {
            self.wrong(table.line, format!("{what} is a file beside the pipeline, not a URL"));
            return None;
        }
        Some(self.resolve(&table.value))
    }

    /// Keys that are spelled right and do nothing, or are missing where the format does not stand in for them.
    fn odd_combinations(&mut self, spec: &SourceSpec) {
        let Some(format) = spec.format.as_ref().map(|at| at.value) else {
            return;
        };
        let word = format.as_str();
        if format == Format::Sacct {
            if !spec.has_site {
                self.wrong(spec.line, "sacct names no site: give the source a site");
            }
            if !spec.has_vo {
                let message = "sacct names no VO: without a vo every job is counted as unmapped";
                self.doubt(spec.line, message);
            }
        } else if format != Format::Auto {
            if let Some(delimiter) = &spec.delimiter {
                self.doubt(delimiter.line, format!("delimiter does nothing for {word}"));
            }
            if let Some(layout) = &spec.layout {
                self.doubt(layout.line, format!("layout does nothing for {word}"));
            }
            if let Some(zone) = &spec.timezone {
                let message = format!("timezone does nothing for {word}: its times carry their zone");
                self.doubt(zone.line, message);
            }
        }
        let is_batch_log = matches!(format, Format::Pbs | Format::Sge | Format::Lsf | Format::Htcondor);
        if (is_batch_log || matches!(format, Format::Swf)) && !spec.has_site {
            self.wrong(spec.line, format!("{word} names no site: give the source a site"));
        }
        if let Some(first) = spec.blah.first()
            && !is_batch_log
            && !matches!(format, Format::Sacct | Format::Auto)
        {
            self.wrong(
                first.line,
                format!("blah does nothing for {word}: it completes the log of a batch system"),
            );
        }
        if let Some(infrastructure) = &spec.infrastructure
            && !spec.blah.is_empty()
        {
            let message =
                "infrastructure does nothing beside blah: the logs of the CE decide which jobs are of the grid";
            self.doubt(infrastructure.line, message);
        }
        if let Some(start) = &spec.unix_start_time
            && !matches!(format, Format::Swf | Format::Auto)
        {
            self.doubt(start.line, format!("unix_start_time does nothing for {word}"));
        }
        if let Some(start) = &spec.start_from_submit
            && !matches!(format, Format::Swf | Format::Auto)
        {
            self.doubt(start.line, format!("start_from does nothing for {word}"));
        }
        if let Some(summaries) = &spec.summaries {
            if summaries.value == Replacement::Snapshot && spec.publication.is_none() {
                let message = "summaries = \"snapshot\" needs to know what a publication is complete for: \
                               publication = \"source\" or \"site\"";
                self.wrong(summaries.line, message);
            }
            if format == Format::Sacct {
                self.doubt(summaries.line, format!("summaries does nothing for {word}"));
            }
        }
        if let Some(parts) = &spec.parts
            && spec.publication.is_none()
        {
            let message = "publication_parts does nothing without publication = \"source\" or \"site\"";
            self.wrong(parts.line, message);
        }
        if let Some(acceptance) = &spec.acceptance
            && !matches!(format, Format::Apel | Format::Auto)
        {
            self.doubt(acceptance.line, format!("acceptance does nothing for {word}"));
        }
    }
}

//! Compiles a pipeline file into a plan: paths resolved, zones and tables looked up, everything checked.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use super::SourcePlan;
use super::compiler::{Compiler, resolve};
use super::fingerprint;
use super::inventory_spec::InventorySpec;
use super::overhead_spec::OverheadSpec;
use super::plan::Plan;
use super::privacy_spec::PrivacySpec;
use super::source_spec::SourceSpec;
use super::spec::Spec;
use crate::diagnostics::Problems;
use crate::diagnostics::section::At;
use crate::error::{Error, Result};
use crate::normalise::plan::NormalisePlan;
use crate::privacy::Privacy;
use crate::reference::correction::CorrectionTable;
use crate::small_file;
use crate::sources::compression::{decompress, peek};
use crate::sources::dialect::Dialect;
use crate::sources::location::is_url;
use crate::sources::registry;
use crate::sources::registry::HEAD_BYTES;
use crate::summarise::attribution::Attribution;
use crate::time::grain::Grain;
use crate::time::{Calendar, YearStart, Zone};

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
        // Without a plan there is at least one reported mistake.
        let plan = plan.ok_or_else(|| Error::internal("a pipeline file without a mistake gave no plan"))?;
        Ok((plan, warnings))
    }
}

/// Names of the inventories among compiled sources: those from `source_n` on.
fn inventory_names(sources: &[Option<SourcePlan>], source_n: usize) -> BTreeSet<String> {
    let inventories = sources.iter().skip(source_n).flatten();
    inventories.map(|inventory| inventory.name.clone()).collect()
}

/// What a file given for a pipeline is a dump of, if it is one.
fn dump_in(file: &Path) -> Option<Dialect> {
    // What comes through a pipe can be read once.
    if !file.is_file() {
        return None;
    }
    // Fallback: what cannot be opened or read is reported as a pipeline that cannot be read.
    let (_, bytes) = peek(Box::new(File::open(file).ok()?), 0).ok()?;
    // Fallback: as above, and what is damaged is no dump that could be named.
    let (head, _) = peek(decompress(bytes).ok()?, HEAD_BYTES).ok()?;
    // Whatever the content of a pipeline that names itself.
    let names_pipeline = head
        .split(|byte| *byte == b'\n')
        .any(|line| line.trim_ascii().starts_with(b"[pipeline]"));
    (!names_pipeline).then(|| registry::recognise(&head)).flatten()
}

impl Compiler {
    pub(crate) fn plan(&mut self, spec: Spec, file: &Path) -> Option<Plan> {
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
        self.refuse_equal_names(&spec.sources, &spec.inventories, spec.overhead.as_ref());
        let privacy = spec.privacy.map(|privacy| self.privacy(privacy, &spec.sources));
        // A `[privacy]` with a mistake must not turn into none at all.
        let privacy = privacy.map_or(Some(None), |privacy| privacy.map(Some))?;
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
                Err(_reported) => sources.push(None),
            }
            self.overhead(overhead, has_inventory)
        });
        let normalise = spec.normalise.map(|normalise| self.normalise(normalise));
        let energy = spec.energy.map(|energy| self.energy(&energy));
        let tariffs = self.tariffs(&spec.charges);
        let fairshare = self.fairshare(spec.fairshare, &inventory_names(&sources, source_n), &tariffs);
        let calendar_zone = zone?;
        let allocation_year_start = start?;
        let calendar = Calendar::new(calendar_zone.clone(), grain, allocation_year_start);
        let awards = spec
            .awards
            .and_then(|awards| self.awards(&awards, &tariffs, calendar, grain));
        // A `[normalise]` with a mistake must not turn into none at all.
        let mut normalise = normalise.map_or(Some(None), |normalise| normalise.map(Some))?;
        let overhead = overhead.map_or(Some(None), |overhead| overhead.map(Some))?;
        let energy = energy.map_or(Some(None), |energy| energy.map(Some))?;
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
            keep: pipeline.keep,
            has_delta_log: pipeline.delta_log.is_some_and(|at| at.value),
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
            energy: energy.map(Arc::new),
            overhead,
            as_of,
            complete,
            privacy,
            tariffs,
            capacity,
            fairshare,
            awards: awards.map(Arc::new),
            corrections,
        })
    }

    fn privacy(&mut self, spec: PrivacySpec, sources: &[SourceSpec]) -> Option<Privacy> {
        let base = self.base.clone();
        let place = |path: &str| resolve(&base, path);
        spec.compile(sources, &self.label, place, &mut self.problems)
    }

    /// Refuses sources and inventories of one name.
    fn refuse_equal_names(
        &mut self,
        sources: &[SourceSpec],
        inventories: &[InventorySpec],
        overhead: Option<&OverheadSpec>,
    ) {
        let source_names = sources.iter().map(|source| &source.name);
        let names = source_names.chain(inventories.iter().map(|inventory| &inventory.name));
        let listed = overhead.and_then(OverheadSpec::inventory_name);
        self.unique_names(&names.flatten().chain(&listed).collect::<Vec<_>>());
    }

    fn corrections(&mut self, path: &At<String>) -> Arc<CorrectionTable> {
        if is_url(&path.value) {
            self.wrong(
                path.line,
                "corrections is a file relative to the pipeline file, not a URL",
            );
            return Arc::default();
        }
        let label = self.table_label(&path.value);
        let place = self.resolve(&path.value);
        Arc::new(CorrectionTable::load(Path::new(&place), &label, &mut self.problems))
    }

    fn year_start(&mut self, text: Option<&At<String>>) -> Option<YearStart> {
        /// Any year without a leap day: an allocation year must start in every year.
        const COMMON_YEAR: i16 = 2023;
        let Some(text) = text else {
            return Some(YearStart::CALENDAR_YEAR);
        };
        let shape = text.value.len() == 5 && text.value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let day = text
            .value
            .split_once('-')
            .filter(|(month, _)| shape && month.len() == 2)
            .and_then(|(month, day)| {
                Some(YearStart {
                    month: month.parse().ok()?,
                    day: day.parse().ok()?,
                })
            })
            .filter(|start| crate::time::Date::new(COMMON_YEAR, start.month, start.day).is_some());
        if day.is_none() {
            let message = format!(
                "allocation_year_start = \"{}\" is not a month and day of every year, such as \"04-01\"",
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
}

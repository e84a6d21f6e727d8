//! What a command reports in addition to its result: events on stderr, as lines for people or as JSON for programs.
//!
//! Every room reports by the macros of [`tracing`]. In lines, a warning begins with `warning: ` and an error with
//! `gridtally: `; what `--verbose` adds begins with `debug: ` and ends with the event's fields. In JSON, an event is one
//! object in one line: `time`, `level`, `message`, `target` and the event's fields. Where the variable `TRACEPARENT` names a trace,
//! each event has it.

use std::fmt::{Debug, Write as _};

use clap::ValueEnum;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Registry;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

use super::progress::ProgressShown;
use super::{output, progress, warnings};
use crate::runtime::clock::now_ms;
use crate::runtime::trace_parent::trace_parent;
use crate::store::outage;
use crate::time::instant::instant_text;

/// The target of events of this program.
const OWN: &str = env!("CARGO_PKG_NAME");

/// Which events are reported, and how.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct LogOptions {
    /// Report more on stderr: each stage and file with its numbers; twice, also what the libraries for networks report
    #[arg(short, long, action = clap::ArgAction::Count, global = true, conflicts_with = "quiet")]
    verbose: u8,

    /// Report only warnings and errors on stderr, no progress
    #[arg(short, long, global = true)]
    quiet: bool,

    /// How events are written to stderr: as lines for people, or as one JSON object in each line
    #[arg(long, value_enum, default_value_t, global = true, value_name = "FORMAT")]
    log_format: LogFormat,
}

/// How events are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// One JSON object in each line.
    Json,
}

impl LogOptions {
    /// Reports events from now on.
    pub(super) fn start(self) {
        progress::show(match (self.quiet, self.log_format) {
            (true, _) => ProgressShown::Nothing,
            (false, LogFormat::Text) => ProgressShown::Bars,
            (false, LogFormat::Json) => ProgressShown::Events,
        });
        let log = Log {
            own: match (self.quiet, self.verbose) {
                (true, _) => Level::WARN,
                (false, 0) => Level::INFO,
                (false, 1) => Level::DEBUG,
                (false, _) => Level::TRACE,
            },
            others: if self.verbose > 1 { Level::DEBUG } else { Level::ERROR },
            format: self.log_format,
        };
        // A program that runs two commands keeps the log of the first.
        let _ = tracing::subscriber::set_global_default(Registry::default().with(log));
    }
}

/// Writes events to stderr.
struct Log {
    own: Level,
    others: Level,
    format: LogFormat,
}

impl Log {
    fn wants(&self, event: &Metadata<'_>) -> bool {
        let room = event.target().split("::").next();
        let finest = if room == Some(OWN) { self.own } else { self.others };
        *event.level() <= finest
    }
}

impl<S: Subscriber> Layer<S> for Log {
    fn enabled(&self, event: &Metadata<'_>, _: Context<'_, S>) -> bool {
        event.is_event() && self.wants(event)
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = EventFields::default();
        event.record(&mut fields);
        if *event.metadata().level() == Level::WARN && event.metadata().target().starts_with(OWN) {
            warnings::keep(&fields.message);
        }
        let line = match self.format {
            LogFormat::Text => traced(fields.text(event.metadata())),
            LogFormat::Json => fields.json(event.metadata()),
        };
        if event.metadata().target() == outage::TARGET {
            progress::above_bar(|| output::at_once(&line));
        } else {
            progress::above_bar(|| output::stderr_line(&line));
        }
    }
}

/// A line with the trace it belongs to, where there is one.
fn traced(line: String) -> String {
    match trace_parent() {
        Some(trace) => format!("{line} traceparent={trace}"),
        None => line,
    }
}

/// The message and fields of an event.
#[derive(Default)]
struct EventFields {
    message: String,
    fields: Map<String, Value>,
}

impl EventFields {
    fn text(self, event: &Metadata<'_>) -> String {
        let Self { mut message, fields } = self;
        match *event.level() {
            Level::ERROR => format!("gridtally: {message}"),
            Level::WARN => format!("warning: {message}"),
            Level::INFO => message,
            _ => {
                for (name, value) in fields {
                    // Writing to a String cannot fail.
                    let _infallible = write!(message, " {name}={value}");
                }
                format!("debug: {message}")
            }
        }
    }

    fn json(self, event: &Metadata<'_>) -> String {
        let mut line = Map::new();
        line.insert("time".to_owned(), instant_text(now_ms()).into());
        line.insert("level".to_owned(), event.level().as_str().to_lowercase().into());
        line.insert("message".to_owned(), self.message.into());
        line.insert("target".to_owned(), event.target().into());
        if let Some(trace) = trace_parent() {
            line.insert("traceparent".to_owned(), trace.into());
        }
        line.extend(self.fields);
        Value::Object(line).to_string()
    }

    fn keep(&mut self, field: &Field, value: impl Into<Value>) {
        self.fields.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for EventFields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        } else {
            self.keep(field, format!("{value:?}"));
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            value.clone_into(&mut self.message);
        } else {
            self.keep(field, value);
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.keep(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.keep(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.keep(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.keep(field, value);
    }
}

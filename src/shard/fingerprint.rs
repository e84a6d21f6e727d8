//! What decides the candidates of a file besides its bytes.

use std::fmt::Write as _;

use crate::config::Plan;
use crate::dedupe::Window;
use crate::schema;
use crate::time::Month;

/// The form of lists, manifests and candidates; it rises when one of them changes.
pub(crate) const FORM: u32 = 1;

/// This version of the program.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A hash of the settings of all sources, of the months to take, and of the columns of records.
pub(crate) fn of_reading(plan: &Plan, window: Window) -> String {
    let mut text = format!("form {FORM}\npipeline {:?}\n", plan.name);
    for source in &plan.sources {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "source {:?} {}", source.name, source.fingerprint);
    }
    let month = |month: Option<Month>| month.map_or_else(|| "all".to_owned(), |month| month.to_string());
    let _ = writeln!(text, "months {} {}", month(window.from), month(window.to));
    for name in ["records", "rejects", "summary_history"] {
        let version = schema::dataset(name).map_or(0, |dataset| dataset.version);
        let _ = writeln!(text, "{name} {version}");
    }
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

//! Which part of a lake a command is about.

use crate::error::{Error, Kind, Result};
use crate::report::lake::Selection;
use crate::time::Month;

/// Options every report understands.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct SelectionArgs {
    /// Only this site, by its exact name; may be given several times.
    #[arg(long, value_name = "SITE")]
    site: Vec<String>,

    /// Only this VO, whatever the case of its letters; may be given several times.
    #[arg(long, value_name = "VO")]
    vo: Vec<String>,

    /// First month, included.
    #[arg(long, value_name = "YYYY-MM")]
    from: Option<Month>,

    /// Last month, included.
    #[arg(long, value_name = "YYYY-MM")]
    to: Option<Month>,
}

impl SelectionArgs {
    /// What they select.
    pub(super) fn selection(&self) -> Result<Selection> {
        if let (Some(from), Some(to)) = (self.from, self.to)
            && to < from
        {
            return Err(Error::new(Kind::Usage, format!("--to {to} lies before --from {from}")));
        }
        Ok(Selection {
            sites: self.site.iter().cloned().collect(),
            vos: self.vo.iter().cloned().collect(),
            from: self.from,
            to: self.to,
        })
    }
}

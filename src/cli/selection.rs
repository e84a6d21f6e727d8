//! Which part of a lake a command is about.

use crate::error::{Error, Kind, Result};
use crate::problems::must_be_known;
use crate::report::lake::{Lake, Selection};
use crate::store::lake::sites;
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
    /// What they select of a lake, which must have the sites.
    ///
    /// # Errors
    /// [`Kind::Usage`] for a site it does not have, with the nearest name.
    pub(super) fn of(&self, lake: &Lake) -> Result<Selection> {
        let known = sites(&lake.manifest);
        self.site
            .iter()
            .try_for_each(|site| must_be_known("site", site, &known))?;
        self.selection()
    }

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

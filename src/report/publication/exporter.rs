//! What is sent to receivers: the messages of APEL, or the documents of GRACC.

use std::collections::{BTreeMap, BTreeSet};

use super::ledger::PublicationPlace;
use super::record_format::RecordFormat;
use crate::error::Result;
use crate::numbers::count_i64;
use crate::report::apel::publish::{ApelRequest, Sent, publish};
use crate::report::apel::server_sites::has_same_site;
use crate::report::apel::sync_counts::HostMonth;
use crate::report::apel::users::Users;
use crate::report::gracc;
use crate::report::lake::{Lake, Selection};
use crate::time::{DaySpan, Month};

/// Receives each message: form, site, month, number within these, text.
pub type ExportTake<'a> = dyn FnMut(RecordFormat, &str, Month, usize, String) -> Result<()> + 'a;

/// What is to be exported, and how.
#[derive(Clone, Debug)]
pub enum Exporter {
    /// Messages of APEL.
    Apel(ApelRequest),
    /// Documents of GRACC.
    Gracc {
        /// Of what.
        selection: Selection,
        /// What becomes of the names of people.
        users: Users,
    },
}

/// What was exported, and what was left out or changed.
#[derive(Clone, Debug, Default)]
pub struct Export {
    /// By form, site and month.
    pub sent: BTreeMap<PublicationPlace, Sent>,
    /// What was left out, and how the messages differ from the lake otherwise, a line for people each.
    pub left_out: Vec<String>,
}

impl Exporter {
    /// Exports everything, sorted; the same lake gives the same messages.
    ///
    /// # Errors
    /// As [`publish`] and [`gracc::report`].
    pub fn export(&self, lake: &Lake, take: &mut ExportTake<'_>) -> Result<Export> {
        match self {
            Self::Apel(request) => {
                let published = publish(lake, request, &mut |kind, site, month, number, text| {
                    take(kind.into(), site, month, number, text)
                })?;
                let left_out = published.lines();
                let sent = published.sent.into_iter();
                let sent = sent.map(|((kind, site, month), sent)| {
                    let place = PublicationPlace::new(RecordFormat::Apel(kind), site, month);
                    (place, sent)
                });
                Ok(Export {
                    sent: sent.collect(),
                    left_out,
                })
            }
            Self::Gracc { selection, users } => {
                let mut reported = Export::default();
                let left_out = gracc::export(lake, selection, users, |site, month, text, [job_n, wall_s, cpu_s]| {
                    let sent = Sent {
                        message_n: 1,
                        record_n: count_i64(text.lines().count()),
                        job_n,
                        wall_s,
                        cpu_s,
                        blake3: blake3::hash(text.as_bytes()).to_hex().to_string(),
                    };
                    let place = PublicationPlace::new(RecordFormat::Gracc, site, month);
                    reported.sent.insert(place, sent);
                    take(RecordFormat::Gracc, site, month, 1, text)
                })?;
                reported.left_out = left_out;
                Ok(reported)
            }
        }
    }

    fn selection(&self) -> &Selection {
        match self {
            Self::Apel(request) => &request.selection,
            Self::Gracc { selection, .. } => selection,
        }
    }

    /// Whether it exports every record of a place; only for such a place is a missing record a removed one.
    #[must_use]
    pub fn covers(&self, place: &PublicationPlace) -> bool {
        let has_form = match (self, place.form) {
            (Self::Apel(request), RecordFormat::Apel(kind)) => request.kinds.contains(&kind),
            (Self::Gracc { .. }, RecordFormat::Gracc) => true,
            _ => false,
        };
        let has_site = match self {
            Self::Apel(request) => has_same_site(&request.selection, &place.site),
            Self::Gracc { selection, .. } => selection.has_site(&place.site),
        };
        has_form && has_site && self.selection().has_month(place.month)
    }

    /// The same for some places, possibly a few more; `None` when it exports none of them.
    #[must_use]
    pub fn narrowed(&self, places: &BTreeSet<PublicationPlace>) -> Option<Self> {
        let of = |form: RecordFormat| places.iter().any(|place| place.form == form);
        let months = || places.iter().map(|place| place.month);
        let selection = Selection {
            sites: places.iter().map(|place| place.site.clone()).collect(),
            days: DaySpan::of_months(months().min(), months().max()),
            vos: self.selection().vos.clone(),
        };
        match self {
            Self::Apel(request) => {
                let kinds = request.kinds.iter().copied();
                let kinds: Vec<_> = kinds.filter(|kind| of(RecordFormat::Apel(*kind))).collect();
                (!kinds.is_empty()).then(|| {
                    Self::Apel(ApelRequest {
                        selection,
                        kinds,
                        ..request.clone()
                    })
                })
            }
            Self::Gracc { users, .. } => of(RecordFormat::Gracc).then(|| Self::Gracc {
                selection,
                users: users.clone(),
            }),
        }
    }

    /// The same in some forms; `None` when it exports none of them.
    #[must_use]
    pub fn of_forms(&self, is_wanted: impl Fn(RecordFormat) -> bool) -> Option<Self> {
        match self {
            Self::Apel(request) => {
                let kinds = request.kinds.iter().copied();
                let kinds: Vec<_> = kinds.filter(|kind| is_wanted(RecordFormat::Apel(*kind))).collect();
                (!kinds.is_empty()).then(|| {
                    Self::Apel(ApelRequest {
                        kinds,
                        ..request.clone()
                    })
                })
            }
            Self::Gracc { .. } => is_wanted(RecordFormat::Gracc).then(|| self.clone()),
        }
    }

    /// The same to a receiver that counts these jobs without usage as well.
    #[must_use]
    pub fn counting(self, still_counted: BTreeMap<HostMonth, i64>) -> Self {
        match self {
            Self::Apel(request) => Self::Apel(ApelRequest {
                still_counted,
                ..request
            }),
            gracc @ Self::Gracc { .. } => gracc,
        }
    }

    /// Records of a message.
    #[must_use]
    pub fn batch_records(&self) -> usize {
        match self {
            Self::Apel(request) => request.batch_records.max(1),
            Self::Gracc { .. } => usize::MAX,
        }
    }
}

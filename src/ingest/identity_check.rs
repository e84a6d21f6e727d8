//! Whether published records equal what they would be if completed from a line of their CE's log.
//!
//! Records hold what the pipeline made of a line: the VO its rule gives, and in place of a name that is withheld a
//! pseudonym or nothing. So the same is made of the line once more, and that is compared; the name itself is nowhere.

use arrow_array::{Array, RecordBatch, StringArray};

use super::identity_index::{GRID, IdentityLine};
use crate::config::SourcePlan;
use crate::error::Result;
use crate::privacy::{Field, Privacy, PrivacyAction};
use crate::record::JobRow;
use crate::reference::vo_rule::{VoColumn, VoRule};
use crate::schema::batch::{text, word};
use crate::sources::dialect::StatedIdentity as DialectIdentity;
use crate::sources::fqan::Fqan;
use crate::sources::registry;
use crate::time::Month;

/// What a source makes of its lines, in one site and month.
pub(crate) struct MatchRules<'a> {
    /// Name of the source.
    pub(crate) source: &'a str,
    vo: &'a VoRule,
    privacy: Option<&'a Privacy>,
    site: &'a str,
    month: Month,
}

impl<'a> MatchRules<'a> {
    /// Those of a source for the records of a site and month.
    pub(crate) fn of(source: &'a SourcePlan, privacy: Option<&'a Privacy>, site: &'a str, month: Month) -> Self {
        Self {
            source: &source.name,
            vo: &source.intake.vo,
            privacy,
            site,
            month,
        }
    }

    fn keeps(&self, field: Field) -> bool {
        self.privacy.is_none_or(|privacy| privacy.keeps(field))
    }

    /// Whether the VO may depend on one of these columns.
    fn takes(&self, is_of: impl Fn(&VoColumn) -> bool) -> bool {
        match self.vo {
            VoRule::Value(_) => false,
            // Logs of batch systems name no VO but that of the line.
            VoRule::Record | VoRule::Corrections(_) => is_of(&VoColumn::Vo),
            VoRule::Column(column) => is_of(column),
            VoRule::Table(table) => table.columns().iter().any(is_of),
        }
    }
}

/// The identity of a record, compared with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// It equals the record completed from the line.
    Same,
    /// Something else.
    Other,
    /// The same as far as it can be seen.
    Withheld,
}

/// The grid identity of published records.
pub(crate) struct StatedIdentity<'b> {
    format: &'b StringArray,
    infrastructure: &'b StringArray,
    submit_host: &'b StringArray,
    global_job_id: &'b StringArray,
    global_user: &'b StringArray,
    vo: &'b StringArray,
    fqan: &'b StringArray,
    vo_group: &'b StringArray,
    vo_role: &'b StringArray,
    account: &'b StringArray,
    user: &'b StringArray,
    user_group: &'b StringArray,
    partition: &'b StringArray,
    qos: &'b StringArray,
}

impl<'b> StatedIdentity<'b> {
    /// Those of a batch of `records`.
    pub(crate) fn of(batch: &'b RecordBatch) -> Result<Self> {
        Ok(Self {
            format: text(batch, "format")?,
            infrastructure: text(batch, "infrastructure")?,
            submit_host: text(batch, "submit_host")?,
            global_job_id: text(batch, "global_job_id")?,
            global_user: text(batch, "global_user")?,
            vo: text(batch, "vo")?,
            fqan: text(batch, "fqan")?,
            vo_group: text(batch, "vo_group")?,
            vo_role: text(batch, "vo_role")?,
            account: text(batch, "account")?,
            user: text(batch, "user")?,
            user_group: text(batch, "user_group")?,
            partition: text(batch, "partition")?,
            qos: text(batch, "qos")?,
        })
    }

    /// Whether a record equals the record completed from a line. A field missing in the line may come from the log of the batch system:
    /// state.
    pub(crate) fn matches(&self, row: usize, line: &IdentityLine, rules: &MatchRules<'_>) -> Match {
        let stated = registry::named(self.format.value(row)).map(|dialect| dialect.row().identity);
        let is = |column: &StringArray, reported: Option<&str>, may_fill: bool| {
            (reported.is_none() && may_fill) || word(column, row) == reported
        };
        let is_stated = stated == Some(DialectIdentity::Everything);
        let states_host = is_stated || stated == Some(DialectIdentity::SubmitHost);
        let fqan = line.fqan().map(Fqan::parse);
        let is_same_group = (fqan.is_none() && is_stated)
            || word(self.fqan, row) == line.fqan()
                && word(self.vo_group, row) == fqan.and_then(|fqan| fqan.group)
                && word(self.vo_role, row) == fqan.and_then(|fqan| fqan.role);
        let is_same = is_same_group
            && word(self.infrastructure, row) == Some(GRID)
            && is(self.submit_host, line.submit_host(), states_host);
        if !is_same {
            return Match::Other;
        }
        let of = [
            self.user(row, line, rules, is_stated),
            self.vo(row, line, rules, is_stated),
            self.id(row, line, rules, is_stated),
        ];
        if of.contains(&Match::Other) {
            Match::Other
        } else if of.contains(&Match::Withheld) {
            Match::Withheld
        } else {
            Match::Same
        }
    }

    fn user(&self, row: usize, line: &IdentityLine, rules: &MatchRules<'_>, may_fill: bool) -> Match {
        let reported = line.global_user();
        let Some(user) = reported else {
            return same(may_fill || self.global_user.is_null(row));
        };
        let action = rules
            .privacy
            .map_or(PrivacyAction::Keep, |privacy| privacy.action(Field::GlobalUser));
        match (action, rules.privacy) {
            (PrivacyAction::Drop, _) => Match::Same,
            (PrivacyAction::Pseudonym, Some(privacy)) => {
                let (site, month) = (rules.site, rules.month);
                let pseudonym = privacy.pseudonym(Field::GlobalUser, user, site, month);
                same(word(self.global_user, row) == pseudonym.as_deref())
            }
            _ => same(word(self.global_user, row) == reported),
        }
    }

    fn vo(&self, row: usize, line: &IdentityLine, rules: &MatchRules<'_>, may_fill: bool) -> Match {
        let fqan = line.fqan().map(Fqan::parse);
        // The column that does not hold the value of the log unchanged.
        let is_unseen = |column: &VoColumn| match column {
            VoColumn::User => !rules.keeps(Field::User),
            VoColumn::UserGroup => !rules.keeps(Field::UserGroup),
            VoColumn::Vo => may_fill && fqan.is_none(),
            VoColumn::GlobalUser => may_fill && line.global_user().is_none(),
            VoColumn::Account | VoColumn::Partition | VoColumn::Qos => false,
        };
        if rules.takes(is_unseen) {
            return Match::Withheld;
        }
        let completed = JobRow {
            vo: fqan.map(|fqan| fqan.vo),
            vo_group: fqan.and_then(|fqan| fqan.group),
            vo_role: fqan.and_then(|fqan| fqan.role),
            global_user: line.global_user(),
            account: word(self.account, row),
            user: word(self.user, row),
            user_group: word(self.user_group, row),
            partition: word(self.partition, row),
            qos: word(self.qos, row),
            ..JobRow::default()
        };
        let vo = rules.vo.vo(&completed).filter(|vo| !vo.is_empty());
        same(word(self.vo, row) == vo)
    }

    fn id(&self, row: usize, line: &IdentityLine, rules: &MatchRules<'_>, may_fill: bool) -> Match {
        let reported = line.global_job_id();
        if (reported.is_none() && may_fill) || word(self.global_job_id, row) == reported {
            return Match::Same;
        }
        // An id that holds a name which is withheld is left out.
        let may_be_withheld = self.global_job_id.is_null(row) && rules.privacy.is_some_and(Privacy::withholds);
        if may_be_withheld { Match::Withheld } else { Match::Other }
    }
}

fn same(is_same: bool) -> Match {
    if is_same { Match::Same } else { Match::Other }
}

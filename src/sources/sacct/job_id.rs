//! Job and step identifiers: `123`, `123_4`, `123_[5-9%2]`, `123+0`, each perhaps with a step suffix.

/// An identifier taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JobId<'a> {
    /// Everything before the step suffix.
    pub(super) base: &'a [u8],
    /// It names a step, such as `.batch`, `.extern`, `.0`, `.0+1`.
    pub(super) is_step: bool,
    /// One row for the tasks of an array that have not started: `123_[5-9%2]`.
    pub(super) is_array_rest: bool,
}

impl<'a> JobId<'a> {
    /// The result of [`JobId::parse`] for `text`, when that is the job `base`, which runs or ran, or one of its usual steps:
    /// most rows are about the same job as the row before. `None` when it must be looked at.
    #[inline]
    pub(super) fn of_job(text: &'a [u8], base: &'a [u8]) -> Option<Self> {
        let (head, rest) = text.split_at_checked(base.len())?;
        let is_step = match rest {
            [] => false,
            b".batch" | b".extern" | [b'.', b'0'..=b'9'] => true,
            _ => return None,
        };
        (is_same(head, base) && !base.is_empty()).then_some(Self {
            // The very same bytes, so that they need not be compared again.
            base,
            is_step,
            is_array_rest: false,
        })
    }

    /// Whether `text` is this identifier, which is that of a whole job.
    #[inline]
    pub(super) fn is_job(&self, text: &[u8]) -> bool {
        !self.is_step && !self.is_array_rest && is_same(self.base, text)
    }

    /// Takes `text` apart; `None` when it cannot be an identifier.
    pub(super) fn parse(text: &'a [u8]) -> Option<Self> {
        let digits = text.iter().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
        if digits == 0 {
            return None;
        }
        let mut at = digits;
        let mut is_array_rest = false;
        match text.get(at) {
            Some(b'_') if text.get(at + 1) == Some(&b'[') => {
                is_array_rest = true;
                at += 2;
                // A long list is printed in hexadecimal or cut off, perhaps without its bracket.
                at += text
                    .get(at..)?
                    .iter()
                    .take_while(|b| b.is_ascii_hexdigit() || b"x,-%:.]".contains(b))
                    .count();
            }
            Some(b'_' | b'+') => {
                let more = text.get(at + 1..)?.iter().take_while(|b| b.is_ascii_digit()).count();
                if more == 0 {
                    return None;
                }
                at += 1 + more;
            }
            _ => {}
        }
        let (base, rest) = text.split_at_checked(at)?;
        let is_step = match rest {
            [] => false,
            [b'.', suffix @ ..] if !suffix.is_empty() => suffix
                .iter()
                .all(|b| b.is_ascii_alphanumeric() || b"+_".contains(b))
                .then_some(true)?,
            _ => return None,
        };
        Some(Self {
            base,
            is_step,
            is_array_rest,
        })
    }
}

/// Whether two job numbers are the same. Most often they are the very same bytes; else most have four to eight, and
/// comparing those takes no call.
#[inline]
pub(super) fn is_same(a: &[u8], b: &[u8]) -> bool {
    std::ptr::eq(a, b)
        || match (a.first_chunk::<4>(), a.last_chunk::<4>()) {
            (Some(first), Some(last)) if a.len() <= 8 => {
                a.len() == b.len() && b.first_chunk() == Some(first) && b.last_chunk() == Some(last)
            }
            _ => a == b,
        }
}

//! The texts that a column had lately: names of a few bytes, of which there are few, and which come again soon.

use crate::short_texts::ShortText;

/// Texts that are known at the same time at most.
const SLOT_BITS: u32 = 9;

/// Codes of texts. Each text has one place, from which the next one that has the same place drives it out: one look, where a table of
/// all texts takes a hash, a probe and a comparison by way of three lists.
#[derive(Debug, Default)]
pub(super) struct RecentTexts {
    slots: Vec<RecentText>,
}

#[derive(Clone, Copy, Debug, Default)]
struct RecentText {
    text: ShortText,
    /// `None` where there is no text.
    code: Option<u32>,
}

impl RecentTexts {
    /// The code of a text, if it is known.
    #[inline]
    pub(super) fn code(&self, text: ShortText) -> Option<u32> {
        let recent = self.slots.get(text.place(SLOT_BITS))?;
        if recent.text == text { recent.code } else { None }
    }

    /// A text has this code.
    #[inline]
    pub(super) fn keep(&mut self, text: ShortText, code: u32) {
        if self.slots.is_empty() {
            self.slots.resize(1 << SLOT_BITS, RecentText::default());
        }
        if let Some(slot) = self.slots.get_mut(text.place(SLOT_BITS)) {
            *slot = RecentText { text, code: Some(code) };
        }
    }

    /// Forgets all of them.
    pub(super) fn clear(&mut self) {
        self.slots.fill(RecentText::default());
    }
}

//! Texts as numbers, so that groups are small and quickly compared.

use ahash::AHashMap;

/// Distinct texts, numbered from 1; 0 means no text.
#[derive(Debug, Default)]
pub(super) struct PeerNames {
    numbers: AHashMap<String, u32>,
    shown: Vec<String>,
    is_folded: bool,
}

impl PeerNames {
    /// With `is_folded`, texts that differ in letter case or blanks at their end alone are one, shown in the first
    /// spelling by the order of bytes.
    pub(super) fn new(is_folded: bool) -> Self {
        Self {
            is_folded,
            ..Self::default()
        }
    }

    /// The number of a text.
    pub(super) fn number(&mut self, text: Option<&str>) -> u32 {
        let Some(text) = text else { return 0 };
        if !self.is_folded {
            return self
                .numbers
                .get(text)
                .copied()
                .unwrap_or_else(|| self.add(text.to_owned(), text));
        }
        let folded = text.trim_end().to_lowercase();
        // APEL's server stores unknown as this word.
        if folded.is_empty() || folded == "none" {
            return 0;
        }
        let Some(&number) = self.numbers.get(&folded) else {
            return self.add(folded, text);
        };
        let shown = usize::try_from(number).ok().and_then(|at| self.shown.get_mut(at - 1));
        if let Some(shown) = shown.filter(|shown| text < shown.as_str()) {
            text.clone_into(shown);
        }
        number
    }

    /// The text of a number.
    pub(super) fn text(&self, number: u32) -> Option<&str> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        self.shown.get(at).map(String::as_str)
    }

    fn add(&mut self, key: String, text: &str) -> u32 {
        self.shown.push(text.to_owned());
        // Fallback: more texts than 32 bits count do not fit memory either.
        let number = u32::try_from(self.shown.len()).unwrap_or(u32::MAX);
        self.numbers.insert(key, number);
        number
    }
}

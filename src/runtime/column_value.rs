//! Values as bytes of a column, each field with its lowest byte first.

use crate::numbers::index;

/// A value that can be put into a temporary file.
pub trait ColumnValue: Clone {
    /// Adds its bytes.
    fn encode(&self, bytes: &mut Vec<u8>);

    /// Takes the value of bytes that [`Self::encode`] made, and no more of them.
    fn decode(bytes: &mut ByteFields<'_>) -> Self;

    /// How many bytes of memory it takes, about.
    fn memory_byte_n(&self) -> usize {
        size_of::<Self>()
    }
}

/// Bytes of a value, taken field by field from the front.
#[derive(Clone, Copy, Debug)]
pub struct ByteFields<'a>(&'a [u8]);

impl<'a> ByteFields<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        match self.0.split_first_chunk() {
            Some((field, rest)) => {
                self.0 = rest;
                *field
            }
            // Never so: a value has all its bytes.
            None => [0; N],
        }
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let [byte] = self.array();
        byte
    }

    /// The next number of 32 bits.
    pub fn number32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    /// The next number of 64 bits.
    pub fn number64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    /// The next number of 64 bits with a sign.
    pub fn signed(&mut self) -> i64 {
        i64::from_le_bytes(self.array())
    }

    /// The next number of 128 bits.
    pub fn number128(&mut self) -> u128 {
        u128::from_le_bytes(self.array())
    }

    /// The next text, as [`encode_text`] made it.
    pub fn text(&mut self) -> String {
        let byte_n = index(self.number32());
        match self.0.split_at_checked(byte_n) {
            Some((text, rest)) => {
                self.0 = rest;
                String::from_utf8_lossy(text).into_owned()
            }
            // Never so: a value has all its bytes.
            None => String::new(),
        }
    }

    /// The next numbers, as [`encode_numbers`] made them.
    pub fn numbers(&mut self) -> Vec<i64> {
        let number_n = self.number32();
        (0..number_n).map(|_| self.signed()).collect()
    }

    /// The next text that may be missing, as [`encode_word`] made it.
    pub fn word(&mut self) -> Option<String> {
        (self.byte() == 1).then(|| self.text())
    }

    /// The next number of 64 bits with a sign that may be missing.
    pub fn known(&mut self) -> Option<i64> {
        let is_known = self.byte() == 1;
        let number = self.signed();
        is_known.then_some(number)
    }
}

/// Bytes of a number that may be missing, as [`ByteFields::known`] takes them: nine.
pub fn encode_known(number: Option<i64>, bytes: &mut Vec<u8>) {
    bytes.push(u8::from(number.is_some()));
    // Fallback: what is missing has bytes as well.
    bytes.extend_from_slice(&number.unwrap_or_default().to_le_bytes());
}

/// Bytes of numbers, as [`ByteFields::numbers`] takes them.
pub fn encode_numbers(numbers: &[i64], bytes: &mut Vec<u8>) {
    // Fallback: never taken, no record has so many amounts.
    let number_n = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
    bytes.extend_from_slice(&number_n.to_le_bytes());
    for number in numbers.iter().take(index(number_n)) {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
}

/// Bytes of a text, as [`ByteFields::text`] takes them. A text of 4 GB would lose its end; no field of a record has so many bytes.
pub fn encode_text(text: &str, bytes: &mut Vec<u8>) {
    // Fallback: never taken, no field of a record has so many bytes.
    let byte_n = u32::try_from(text.len()).unwrap_or(u32::MAX);
    bytes.extend_from_slice(&byte_n.to_le_bytes());
    if let Some(text) = text.as_bytes().get(..index(byte_n)) {
        bytes.extend_from_slice(text);
    }
}

/// Bytes of a text that may be missing, as [`ByteFields::word`] takes them.
pub fn encode_word(text: Option<&str>, bytes: &mut Vec<u8>) {
    bytes.push(u8::from(text.is_some()));
    if let Some(text) = text {
        encode_text(text, bytes);
    }
}

impl ColumnValue for i64 {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.to_le_bytes());
    }

    fn decode(bytes: &mut ByteFields<'_>) -> Self {
        bytes.signed()
    }
}

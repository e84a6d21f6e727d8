//! Where the delimiters and line ends of a piece are: found for all of it at once, sixty-four bytes at a time, instead
//! of line by line.

use std::cell::Cell;

use wide::u8x64;

use super::fields::{Line, place, scan};
use super::layout::Layout;
use crate::sources::lanes::{WORD, bits};

/// The lines of a piece, one after another.
pub(super) enum Lines<'t> {
    /// The delimiter is one byte: all is known beforehand.
    Marked(Marks<'t>),
    /// It is several: each line is scanned when its turn comes.
    Scanned {
        /// The piece.
        text: &'t [u8],
        /// What it is laid out like.
        layout: &'t Layout,
        /// Delimiters of the line at hand.
        cuts: Vec<u32>,
    },
}

/// The places of a piece that separate something.
pub(super) struct Marks<'t> {
    text: &'t [u8],
    is_crlf: bool,
    /// Delimiters and line feeds, in order, and room for more.
    places: Vec<u32>,
    /// How many there are.
    found: usize,
    /// Which of them are line feeds.
    feeds: Vec<u32>,
    /// How many lines were passed.
    line: usize,
}

/// Finds the marks of one word after another.
struct Finder {
    delimiter: u8,
    /// As many as were found, and room for more.
    places: Vec<u32>,
    feeds: Vec<u32>,
}

impl Finder {
    /// Adds the marks of a chunk that begins at `from` to the `found` ones before; gives how many there are now.
    #[inline]
    fn mark(&mut self, chunk: &[u8; WORD], from: u32, found: usize) -> usize {
        let lanes = u8x64::new(*chunk);
        let mut ends = bits(lanes, b'\n');
        let mut hits = ends | bits(lanes, self.delimiter);
        while ends != 0 {
            let before = hits & (lowest(ends) - 1);
            let at = found + usize::try_from(before.count_ones()).unwrap_or(0);
            self.feeds.push(u32::try_from(at).unwrap_or(u32::MAX));
            ends &= ends - 1;
        }
        if self.places.len() < found + WORD {
            self.places.resize(2 * (found + WORD), 0);
        }
        // Eight at a time, whether there are so many or not: what is too much is written over by the next word, and
        // whether a loop goes on is hardly ever guessed wrong.
        let n = usize::try_from(hits.count_ones()).unwrap_or(0);
        let (rooms, _) = self.places.get_mut(found..).unwrap_or_default().as_chunks_mut::<8>();
        for room in rooms.iter_mut().take(n.div_ceil(8)) {
            for place in room {
                *place = from + hits.trailing_zeros();
                hits &= hits.wrapping_sub(1);
            }
        }
        found + n
    }
}

impl<'t> Lines<'t> {
    /// The lines of `text`.
    pub(super) fn new(text: &'t [u8], layout: &'t Layout) -> Self {
        match *layout.delimiter {
            [delimiter] => Self::Marked(Marks::new(text, delimiter, layout.is_crlf)),
            _ => Self::Scanned {
                text,
                layout,
                cuts: Vec::with_capacity(layout.width()),
            },
        }
    }

    /// The line that begins at `start`, which is not before the last one, and where its delimiters begin.
    pub(super) fn at(&mut self, start: usize) -> (Line, &[u32]) {
        match self {
            Self::Marked(marks) => marks.at(start),
            Self::Scanned { text, layout, cuts } => {
                cuts.clear();
                let line = scan(text, start, &layout.delimiter, layout.is_crlf, cuts);
                (line, cuts)
            }
        }
    }
}

/// What a piece took that was large for the sake of one long row is not kept.
const ROOM_PLACES: usize = 1 << 18;

thread_local! {
    /// Room for places and feeds that the piece before has left: it need not be zeroed for every piece.
    static ROOM: Cell<(Vec<u32>, Vec<u32>)> = const { Cell::new((Vec::new(), Vec::new())) };
}

impl Drop for Marks<'_> {
    fn drop(&mut self) {
        if self.places.len() <= ROOM_PLACES {
            self.feeds.clear();
            ROOM.set((std::mem::take(&mut self.places), std::mem::take(&mut self.feeds)));
        }
    }
}

impl<'t> Marks<'t> {
    fn new(text: &'t [u8], delimiter: u8, is_crlf: bool) -> Self {
        let (mut places, feeds) = ROOM.take();
        // Fields have eight bytes or so.
        places.resize(places.len().max(text.len() / 6 + WORD), 0);
        let mut finder = Finder {
            delimiter,
            places,
            feeds,
        };
        let (chunks, rest) = text.as_chunks::<WORD>();
        let (mut from, mut found) = (0, 0);
        for chunk in chunks {
            found = finder.mark(chunk, from, found);
            from += 64;
        }
        if !rest.is_empty() {
            // Filled up with what is neither.
            let mut last = [u8::from(delimiter == 0); WORD];
            last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            found = finder.mark(&last, from, found);
        }
        Self {
            text,
            is_crlf,
            places: finder.places,
            found,
            feeds: finder.feeds,
            line: 0,
        }
    }

    #[inline]
    fn at(&mut self, start: usize) -> (Line, &[u32]) {
        let first = loop {
            let first = self.line.checked_sub(1).and_then(|last| self.feeds.get(last));
            let first = first.map_or(0, |feed| place(*feed) + 1);
            // The feed of this line is at `start` or behind it.
            match self.feeds.get(self.line).and_then(|feed| self.places.get(place(*feed))) {
                Some(feed) if place(*feed) < start => self.line += 1,
                _ => break first,
            }
        };
        let (cuts, found) = match self.feeds.get(self.line) {
            Some(&feed) => {
                self.line += 1;
                (self.places.get(first..place(feed)), self.places.get(place(feed)))
            }
            None => (self.places.get(first..self.found), None),
        };
        let mut end = found.map_or(self.text.len(), |feed| place(*feed));
        let next = end + usize::from(found.is_some());
        if self.is_crlf && end > start && self.text.get(end - 1) == Some(&b'\r') {
            end -= 1;
        }
        let line = Line {
            start,
            end,
            next,
            is_ended: found.is_some(),
        };
        (line, cuts.unwrap_or_default())
    }
}

/// Whether `text` holds a letter `j` four bytes before a letter `d`, in either case, as every spelling of `JobID` does.
pub(super) fn may_name_job_id(text: &[u8]) -> bool {
    const AHEAD: usize = 4;
    /// Lanes between two looks at what was found.
    const LOOK: usize = 4;
    let lower = u8x64::splat(0x20);
    let is_letter = |lane: &[u8; WORD], letter: u8| (u8x64::new(*lane) | lower).simd_eq(u8x64::splat(letter));
    let (ahead, rest) = text.get(AHEAD..).unwrap_or_default().as_chunks::<WORD>();
    let (here, _) = text.as_chunks::<WORD>();
    for (here, ahead) in here.chunks(LOOK).zip(ahead.chunks(LOOK)) {
        let hits = here.iter().zip(ahead);
        let hits = hits.fold(u8x64::splat(0), |seen, (here, ahead)| {
            seen | is_letter(here, b'j') & is_letter(ahead, b'd')
        });
        if hits.any() {
            return true;
        }
    }
    let seen = text.len().saturating_sub(AHEAD + rest.len());
    let mut rest = text.get(seen..).unwrap_or_default().windows(AHEAD + 1);
    rest.any(|window| matches!(window, [b'j' | b'J', .., b'd' | b'D']))
}

fn lowest(bits: u64) -> u64 {
    bits & bits.wrapping_neg()
}

//! Instants, zones and the calendar. Everything inside is UTC; zones matter at the two edges only.

pub mod month;
pub mod zone;

pub use month::Month;
pub use zone::{Local, Zone};

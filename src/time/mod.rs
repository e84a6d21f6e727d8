//! Instants, zones and the calendar. Everything inside is UTC; zones matter at the two edges only.

pub mod calendar;
pub mod grain;
pub mod month;
pub mod span;
pub mod zone;

pub use calendar::Calendar;
pub use grain::Grain;
pub use month::{DAY_MS, Day, Month};
pub use span::{DaySpan, MonthOrDay};
pub use zone::{Local, Zone};

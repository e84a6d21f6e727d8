//! Instants, zones and the calendar. Everything inside is UTC; zones matter at the two edges only. This room
//! alone knows `chrono` and `chrono-tz`, whose types Arrow, Parquet and `object_store` speak.

pub mod calendar;
pub mod date;
pub mod grain;
pub mod instant;
pub mod interval;
pub mod month;
pub mod span;
pub mod zone;
mod zone_amendments;

pub use calendar::{Calendar, YearStart};
pub use date::Date;
pub use grain::Grain;
pub use interval::{MsSpan, SecondSpan};
pub use month::{DAY_MS, Day, Month};
pub use span::{DaySpan, MonthOrDay};
pub use zone::{Local, Zone};

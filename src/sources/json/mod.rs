//! JSON as dumps use it: read in place, and cut out of streams too large to hold.

pub(super) mod frames;
mod line;
pub mod marks;
mod scanner;
mod text;
mod usual_member;

pub use scanner::{Malformed, Member, Scalar, Scanner};
pub use text::JsonText;

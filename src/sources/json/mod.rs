//! JSON as dumps use it: read in place, and cut out of streams too large to hold.

pub(super) mod frames;
pub mod marks;
mod scanner;
mod text;
mod usual_member;

pub use scanner::{Malformed, Scalar, Scanner};
pub use text::JsonText;

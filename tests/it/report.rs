//! Reports: what the lake says, in the words of others.

mod apel;
mod check;
mod federation;
mod scene;

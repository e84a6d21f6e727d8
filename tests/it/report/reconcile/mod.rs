//! Two accounts with known defects between them: their causes are named with their numbers, and a defect that nobody knows
//! is not guessed at.

mod compared;
mod messages;
mod seeded;
mod seeds;
mod sums;
mod values;
mod world;

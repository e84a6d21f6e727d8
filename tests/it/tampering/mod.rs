//! Whoever alters a lake is found out: by the hashes, the chains of the books and the seal, or by recomputation.

mod altered;
mod corrected;
mod forged;
mod scene;

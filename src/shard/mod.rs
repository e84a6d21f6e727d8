//! Reading shared out: a numbered list of the input files, what each shard of it came to, and all of it together again.
//!
//! In: the files a run has to read. Out: sorted candidates, refusals, summaries and the outcome of each file, by shard, in a folder
//! or bucket that all hosts reach. Promise: what shards have read is what one process would have read, so that a run that takes
//! it from them publishes the same bytes; a shard that is missing, or was read from something else, is named.

pub(crate) mod assign;
pub mod collected;
pub(crate) mod facts;
pub(crate) mod fingerprint;
pub mod folder;
pub mod list;
pub mod manifest;
pub(crate) mod product;
pub(crate) mod product_reader;
pub mod read;
pub(crate) mod restore;
pub mod roots;
pub mod standing;

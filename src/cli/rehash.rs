//! Whether known input files are hashed again.

/// The option of every command that compares the input files with those of a lake.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct RehashArgs {
    /// Hash every input file that may be known. Without it a file is taken as it was where its size, its inode and the times of
    /// its last modification and change are those it had when it was hashed.
    #[arg(long)]
    pub(super) rehash: bool,
}

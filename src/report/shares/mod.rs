//! Shares of accounts from purchases: what a site grants, what Slurm has, and what makes the second equal to the first.
//!
//! In: listings of nodes, partitions and associations of a lake, a table of owners and one of what a core counts for. Out: the
//! shares of a day, the days on which they change, commands for `sacctmgr`, or a file it loads. Nothing is applied.
//!
//! What it promises:
//! * Shares are exact to 10^-6 CPU TRES and rounded once: to the nearest whole number, halves up, and never to 0 where
//!   something is granted. An account above others has the sum of what is in it, rounded by itself.
//! * What a day knows is what the newest listings up to its end state. Where all of them are later, the first is assumed, and
//!   that is reported.
//! * Every mistake of a table has its file and line, and nothing is printed then.
//!
//! ```text
//! cluster       which cluster, and which listings have it
//! dated         listings by their instants
//! machine       nodes and partitions of a day
//! associations  accounts and users of a day
//! grants        owners and TRES of a day -> which nodes grant what to whom
//! day           owners and TRES on a day -> shares per account
//! history       the days on which they change
//! table         shares as tables
//! changes       granted against listed
//! names         what can be written for sacctmgr
//! commands      changes as lines for a shell
//! limits        fields of an association as a load file orders them
//! load_file     the tree of accounts as a file for sacctmgr load
//! ```

pub mod associations;
pub mod changes;
pub mod cluster;
pub mod commands;
mod dated;
pub mod day;
mod grants;
pub mod history;
mod limits;
pub mod load_file;
mod machine;
mod names;
pub mod table;

//! Reports of a lake in the formats of their readers. Reports read the lake and compute no usage, work or charge of their own.
//!
//! [`apel`] writes the messages of the APEL accounting system and [`gracc`] the documents of OSG's. [`energy`] shows energy and carbon, [`greendigit`] writes them job by job, [`node_energy`] splits the meters of nodes. [`federation`] counts
//! as federations do, for [`portal`] and [`osg`], with what the table of their sites adds; [`charges`] are the basis of money, for [`focus`] and [`balance`]; [`awards`] shows who may use how much and who did, [`award_page`] as a page, and [`award_files`] writes it for other programs; [`sreport`] prints Slurm's table, [`site`] a
//! page for a board, [`what_if`] what other rules of fairshare and other shares would make of the same jobs, [`simulation`] what another
//! scheduler would. [`publication`]
//! records what was sent, [`reconcile`] explains why two accounts differ, [`drift`] why a scheduler counts other usage, and
//! [`completeness`] which days look missing. [`lake`]
//! reads, [`table`] holds what a report came to and [`render`] writes it as text, CSV, JSON, Markdown, HTML ([`html`]) or
//! Parquet.

pub mod accounts;
pub mod apel;
mod array_tasks;
pub mod award_back_test;
pub mod award_files;
pub mod award_page;
pub mod award_use;
mod award_views;
pub mod awards;
pub mod balance;
pub mod balance_table;
mod board;
pub mod charges;
pub mod completeness;
pub mod drawing;
pub mod drift;
pub mod energy;
pub mod energy_sums;
pub mod exact_work;
pub mod federation;
pub mod focus;
pub mod gracc;
mod gracc_summaries;
pub mod greendigit;
mod group_index;
pub mod html;
pub mod known_names;
pub mod lake;
mod left_queue;
pub mod node_energy;
pub mod osg;
pub mod overhead;
pub mod pending_use;
pub mod portal;
pub mod publication;
pub mod queue;
pub mod reconcile;
pub mod recovery;
pub mod render;
pub mod running_use;
pub mod shares;
pub mod shown;
pub mod simulation;
pub mod site;
pub mod site_case;
pub mod sprio;
pub mod sreport;
pub mod sshare;
mod stored_use;
pub mod table;
mod tres_names;
pub mod usage_energy;
pub mod usage_key;
pub mod vo_case;
pub mod what_if;
pub mod work_scale;

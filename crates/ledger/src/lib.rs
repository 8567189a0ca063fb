//! The ledger: what was made from what, when, and what has arrived; in SQLite or PostgreSQL.
//!
//! It is kept by topic. [`Ledger::lineage`] takes everything new about one owner, makes it durable
//! in one transaction, and answers questions about it; history outlives the objects and their
//! owners. [`Ledger::trackers`] and [`Ledger::releases`] have what is released, and why.
//! [`Ledger::access`] has the tokens. Whoever waits subscribes to the ledger
//! ([`Ledger::subscribe`], [`Lineage::follow`]), not to the one who records, so that any process
//! which shares the database can answer.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use pathline_ledger::{Ledger, Location, Topic};
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("ledger.db");
//! let ledger = Ledger::open(&Location::File(path)).await?;
//! assert!(ledger.lineage().get("no such uid").await?.is_none());
//! assert_eq!(*ledger.subscribe(Topic::Lineage).borrow(), 0);
//! ledger.close().await;
//! # Ok(())
//! # }
//! ```

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "the clock and the tasks of a test are the real ones"
    )
)]

mod access;
mod changes;
mod cluster;
mod database;
mod error;
#[cfg(test)]
mod full;
mod ledger;
mod lineage;
mod location;
mod notifier;
mod page;
#[cfg(test)]
mod plan;
pub mod releases;
mod revision;
mod rows;
mod sealed;
mod sealing;
mod topic;
pub mod trackers;
mod writer;

pub use self::access::{Access, NotAScope, Permission, Permissions, Token, TokenHash};
pub use self::cluster::{Claim, ClusterRef};
pub use self::error::Error;
pub use self::ledger::Ledger;
pub use self::lineage::{
    ArrivedNow, ArrivedThen, ArtifactSummary, Carrier, Change, Crossing, Entry, Ingredient,
    Lineage, MadeNow, Making, OwnerRef, Recorded, Use, What,
};
pub use self::location::{Location, NotAUrl};
pub use self::page::{MAX_PAGE, Page, Paged};
pub use self::sealed::{NotSealed, Row as SealedRow, SealKey, SecretText};
pub use self::topic::Topic;
pub use pathline_lineage::Arrived;

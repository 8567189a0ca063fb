//! The memory: what was made from what, when, and what has arrived; in SQLite or PostgreSQL.
//!
//! [`Ledger::record`] takes everything new about one owner and makes it durable in one
//! transaction. The questions ([`Ledger::contains`], [`Ledger::artifact`], [`Ledger::history`])
//! read what was recorded; history outlives the objects and their owners. Whoever waits follows
//! the ledger ([`Ledger::follow`], [`Ledger::bell`]), not the one who records, so that any process
//! which shares the database can answer.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use pathline_ledger::{Ledger, Location};
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("ledger.db");
//! let ledger = Ledger::open(&Location::File(path)).await?;
//! assert!(ledger.track("no such uid").await?.is_none());
//! ledger.close().await;
//! # Ok(())
//! # }
//! ```

mod artifacts;
mod change;
mod changes;
mod contains;
mod crier;
mod crossings;
mod database;
mod error;
mod find;
#[cfg(test)]
mod full;
mod history;
mod ledger;
mod location;
mod lookup;
mod owners;
mod page;
mod rows;
#[cfg(test)]
mod scale;
mod scope;
mod tokens;
mod writer;

pub use self::artifacts::{Entry, Use};
pub use self::change::{Arrived, ArrivedNow, Change, MadeNow, OwnerRef, Recorded, What};
pub use self::contains::Carrier;
pub use self::crossings::Crossing;
pub use self::error::Error;
pub use self::find::ArtifactSummary;
pub use self::history::{ArrivedThen, Ingredient, Making};
pub use self::ledger::Ledger;
pub use self::location::{Location, NotAUrl};
pub use self::page::{LONGEST_PAGE, Page, Paged};
pub use self::scope::{NotAScope, Scope};
pub use self::tokens::{Token, TokenHash};

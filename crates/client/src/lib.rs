//! The client side of Pathline, for the command line, editors and other programs.
//!
//! [`api`] has the wire types of the REST API, which the server writes and clients read. [`Client`]
//! asks a Pathline that runs, and follows its events across restarts. [`words`] say artifacts,
//! evidence and owners as people read them, wherever they are shown.
//!
//! ```no_run
//! use pathline_client::api::{Owner, WaitResult};
//! use pathline_client::{Client, Error, Options, words};
//!
//! # async fn example() -> Result<(), Error> {
//! // The Pathline that runs on the data directory `.pathline`.
//! let client = Client::find(&Options::default())?;
//! let owner: Owner = client.get(&["workloads", "default", "hello"], &[]).await?;
//! for output in &owner.outputs {
//!     println!("{} makes {}", words::owner(&owner.summary.owner), words::named(&output.artifact));
//! }
//! // Answers as soon as everything that the workload says now runs, or after 30 seconds.
//! let path = ["workloads", "default", "hello", "wait"];
//! let waited: WaitResult = client.get(&path, &[("live", "true")]).await?;
//! println!("{:?}", waited.state);
//! # Ok(())
//! # }
//! ```

pub mod api;
mod client;
pub mod words;

pub use crate::client::{
    Client, DEFAULT_DATA_DIR, Error, Event, Events, Options, ParseServerUrlError, Secret, ServerUrl,
};

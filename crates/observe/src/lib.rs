//! The reading of what the API server answered, which joins the path of an owner to its lineage.
//!
//! The answers about one resource are read once ([`StampedResource::read`]): for its realization, for its lineage
//! ([`ResourceObservation`]) and for its rollout ([`rollout::RolloutTarget`]). Together with what is read on the path
//! ([`PathReads`]) they are the [`Observation`] of an owner in one reconcile, which is fed to its lineage; and what
//! is known then is what the status shows ([`Shown`]). Nothing here does I/O or looks at a clock.
//!
//! Read on in this order: `path_reads` and `owner_inputs` (what is read, and what it is called), `stamped_object`
//! (what was written, and what was there before), `stamped_resource` and `observed_object` (the one reading), [`runnable_reading`] (that of a Runnable),
//! `resource_observation` and `observation` (what lineage learns), `version` (whether that is new), `backlog` (what the ledger has not been told of it), [`rollout`], and
//! `status_report`, `shown` and [`kube_events`] (what people are told).

mod backlog;
pub mod former;
pub mod inputs_before;
pub mod kube_events;
mod observation;
mod observed_object;
mod owner_inputs;
mod path_reads;
mod products;
mod resource_observation;
pub mod retain;
pub mod rollout;
pub mod runnable_reading;
mod shown;
mod stamped_object;
mod stamped_resource;
mod status_report;
mod unstamped;
mod version;

pub use self::backlog::{Backlog, CaughtUp, Unwritten};
pub use self::kube_events::KubeEvent;
pub use self::observation::{Learned, Observation, ObservedPath, Versions};
pub use self::path_reads::{Found, PathReads, SelectedPath, UsedInputs, is_passed};
pub use self::products::Product;
pub use self::resource_observation::{ResourceObservation, StampedObservation};
pub use self::retain::Retain;
pub use self::shown::Shown;
pub use self::stamped_object::{StampedObject, Write};
pub use self::stamped_resource::{ResourceReading, Source, StampedResource};
pub use self::status_report::{LastReport, StatusReport};
pub use self::version::Version;

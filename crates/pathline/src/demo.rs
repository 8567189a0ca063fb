//! The demo: one change that flows, and then another.
//!
//! [`scene`] makes the repositories, [`sample`] holds what goes into them and into the cluster,
//! [`watch`] sees what happens there, [`story`] decides what it means, and [`display`] tells it.

mod display;
mod git;
mod page;
mod performance;
mod sample;
mod scene;
pub(crate) mod site;
mod stage;
mod story;
mod summary;
mod watch;

pub(crate) use self::display::Display;
pub(crate) use self::performance::Performance;
pub(crate) use self::scene::Scene;

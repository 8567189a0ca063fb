//! Releases on their way through environments, over REST.

mod board;
mod bodies;
mod by_hand;
mod environments;
mod objects;
mod presence;
mod rollback;
mod scene;
mod status;
mod waiting;
mod why;

use scene::{Releasing, told};

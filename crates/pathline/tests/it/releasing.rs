//! Releases, through `pathline up`, from an image that was pushed to a registry to a process that runs.

mod aftermath;
mod application;
mod by_hand;
mod crash;
mod hostile;
mod leaders;
mod moves;
mod real;
mod rows;
mod secrecy;
mod story;
mod walk;

//! Releases, through `pathline up`, from an image that was pushed to a registry to a process that runs.

mod aftermath;
mod by_hand;
mod crash;
mod hostile;
mod rows;
mod secrecy;
mod story;
mod walk;

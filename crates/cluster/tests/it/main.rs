//! The embedded cluster as its clients see it.

mod crash;
mod serve;

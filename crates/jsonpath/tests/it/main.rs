//! The crate from outside.

mod client_go;

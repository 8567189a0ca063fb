//! The `pathline` command line.

fn main() {}

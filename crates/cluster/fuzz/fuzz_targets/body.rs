//! See `pathline_cluster::fuzz::body`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pathline_cluster::fuzz::body(bytes));

//! See `pathline_cluster::fuzz::protobuf`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pathline_cluster::fuzz::protobuf(bytes));

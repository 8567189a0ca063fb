//! See `pathline_remote::fuzz::protocol`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pathline_remote::fuzz::protocol(bytes));

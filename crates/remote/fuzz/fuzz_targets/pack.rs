//! See `pathline_remote::fuzz::pack`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pathline_remote::fuzz::pack(bytes));

//! `cargo +nightly fuzz run --fuzz-dir tests/fuzz call_parsing tests/fuzz/seeds/call_parsing`

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| entries::fuzz_call_parsing(bytes));

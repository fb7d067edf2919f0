//! `cargo +nightly fuzz run --fuzz-dir tests/fuzz paths tests/fuzz/seeds/paths`

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| entries::fuzz_paths(bytes));

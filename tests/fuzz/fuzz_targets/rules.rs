//! `cargo +nightly fuzz run --fuzz-dir tests/fuzz rules tests/fuzz/seeds/rules`

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| entries::fuzz_rules(bytes));

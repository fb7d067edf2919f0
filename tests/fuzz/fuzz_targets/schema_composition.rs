//! `cargo +nightly fuzz run --fuzz-dir tests/fuzz schema_composition tests/fuzz/seeds/schema_composition`

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| entries::fuzz_schema_composition(bytes));

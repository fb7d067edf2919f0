//! `cargo +nightly fuzz run --fuzz-dir tests/fuzz shell_facts tests/fuzz/seeds/shell_facts -- -timeout=5`

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| entries::fuzz_shell_facts(bytes));

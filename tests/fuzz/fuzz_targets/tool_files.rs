//! `cargo +nightly fuzz run --fuzz-dir tests/fuzz tool_files tests/fuzz/seeds/tool_files`

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| entries::fuzz_tool_files(bytes));

//! The Python library of the Model Context Protocol as a client of `gateway mcp`, in both eras.

use serde_json::json;

use crate::run_script;
use crate::support::CliFixture;

#[test]
fn the_python_library_calls_our_tools() {
    for (mode, version) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        let fixture = CliFixture::new();
        fixture.write_file("a.txt", "alpha\n");
        let program = env!("CARGO_BIN_EXE_countersign");
        let words = [mode, program, "gateway", "mcp"];
        let said = run_script(&fixture, "client.py", &words);
        assert_eq!(said["version"], version);
        assert_eq!(said["server"], "countersign");
        let tools = said["tools"].as_array().unwrap();
        assert!(tools.contains(&json!("apply_patch")), "{tools:?}");
        let read = json!({ "text": "     1\talpha\n", "failed": false });
        assert_eq!(said["read"], read);
        let command = &said["command"];
        assert_eq!(command["failed"], true, "{command}");
        let why = command["text"].as_str().unwrap();
        assert!(why.contains("nobody is there to ask"), "{why}");
        assert_eq!(fixture.read_file("made"), None);
    }
}

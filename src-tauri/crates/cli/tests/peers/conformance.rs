//! The protocol's own conformance suite as a client of `gateway mcp --listen`, with a server behind it, in both eras.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::support::CliFixture;

const ONE_QUESTION: &str = "a gateway names its question itself, and asks one at a time: the suite takes other names, or several at once";
const NOT_ASKED: &str = "folders are told by the gateway itself, a prompt is filled in without a question, and a server of 2025 asks whatever its client can";
const SCHEMAS: &str = "the SDK of the server behind the gateway takes no schema as it is, so that it cannot have such a tool";
const ENUM_NAMES: &str =
    "a form is asked in the shape of today, where the title of a choice stands beside its value";

/// Checks of 2025 that do not hold, with the reason.
const OPEN_2025: [(&str, &[&str]); 2] = [
    (
        ENUM_NAMES,
        &["elicitation-sep1330-enums: elicitation-sep1330-legacy-enumnames"],
    ),
    (
        SCHEMAS,
        &["json-schema-2020-12: json-schema-2020-12-tool-found"],
    ),
];

/// Checks of 2026 that do not hold, with the reason.
const OPEN_2026: [(&str, &[&str]); 3] = [
    (
        ONE_QUESTION,
        &[
            "input-required-result-basic-elicitation: sep-2322-elicitation-incomplete",
            "input-required-result-multiple-input-requests: sep-2322-multiple-inputs-incomplete",
        ],
    ),
    (
        NOT_ASKED,
        &[
            "input-required-result-basic-list-roots: sep-2322-list-roots-incomplete",
            "input-required-result-non-tool-request: sep-2322-non-tool-incomplete",
            "server-stateless: sep-2575-missing-capability-http-400",
            "server-stateless: sep-2575-server-rejects-undeclared-capability",
        ],
    ),
    (
        SCHEMAS,
        &[
            "http-custom-header-server-validation: sep-2243-server-decode-base64",
            "http-custom-header-server-validation: sep-2243-server-no-xmcp-tool",
            "http-custom-header-server-validation: sep-2243-server-reject-invalid-param-chars",
            "http-custom-header-server-validation: sep-2243-server-reject-param-mismatch",
            "http-custom-header-server-validation: sep-2243-server-validate-param-match",
            "json-schema-2020-12: json-schema-2020-12-tool-found",
        ],
    ),
];

/// Checks that hold in each version, at least: a suite that ran nothing would find nothing wrong.
const HELD_MIN: usize = 60;

fn peers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/peers")
}

/// Ends with the test.
struct Program {
    child: Child,
    /// Open, so that the program can go on printing.
    _out: BufReader<ChildStdout>,
}

impl Program {
    /// Starts a program, and returns it with the first line that it prints.
    fn start(command: &mut Command) -> (Self, String) {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let program = Self { child, _out: out };
        (program, line.trim().to_owned())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A gateway in front of the server of the suite, as the suite reaches it; returns its address.
fn start_gateway(fixture: &CliFixture) -> (String, [Program; 2]) {
    let token = fixture.run(&["gateway", "token", "add", "suite"]).out;
    let server = peers().join("everything.mjs").display().to_string();
    let mut gateway = fixture.command(&["gateway", "mcp", "--listen", "127.0.0.1:0"]);
    gateway
        .args(["--approve-all", "--approve-tools", "--name", "every"])
        .args(["--pass-on", "elicitation", "--pass-on", "sampling"])
        .args(["--", "node", &server]);
    let (gateway, told) = Program::start(&mut gateway);
    let address = told
        .split_whitespace()
        .find(|word| word.starts_with("http://"));
    let port = address.and_then(|address| address.trim_end_matches("/mcp").rsplit(':').next());
    let mut proxy = Command::new("node");
    proxy
        .arg(peers().join("authorizing_proxy.mjs"))
        .args([port.unwrap_or_else(|| panic!("{told}")), token.trim()]);
    let (proxy, port) = Program::start(&mut proxy);
    (format!("http://127.0.0.1:{port}/mcp"), [gateway, proxy])
}

/// Runs all scenarios for a version of the protocol; returns how many checks held, and those that failed, each as
/// `scenario: check`.
fn run_suite(address: &str, version: &str) -> (usize, BTreeSet<String>) {
    let results = tempfile::tempdir().unwrap();
    let mut node = Command::new("node");
    node.current_dir(peers())
        .args(["--import", "./node20.mjs"])
        .arg("node_modules/@modelcontextprotocol/conformance/dist/index.js")
        .args(["server", "--suite", "all", "--url", address])
        .args(["--spec-version", version, "--output-dir"])
        .arg(results.path());
    node.output().unwrap();
    let (mut held, mut failed) = (0, BTreeSet::new());
    for folder in std::fs::read_dir(results.path()).unwrap() {
        let folder = folder.unwrap();
        let name = folder.file_name().into_string().unwrap();
        // `server-SCENARIO-2026-11-27T00-26-21-001Z`
        let scenario = name.strip_prefix("server-").unwrap();
        let scenario = &scenario[..scenario.len() - "-2026-11-27T00-26-21-001Z".len()];
        let checks = std::fs::read_to_string(folder.path().join("checks.json")).unwrap();
        let checks: Vec<Value> = serde_json::from_str(&checks).unwrap();
        for check in checks {
            let id = check["id"].as_str().unwrap();
            match check["status"].as_str() {
                Some("SUCCESS") => held += 1,
                Some("FAILURE") => {
                    failed.insert(format!("{scenario}: {id}"));
                }
                _ => {}
            }
        }
    }
    (held, failed)
}

/// In both eras, through the gateway, with a server of 2025 behind it: what fails is what is listed, and nothing else.
#[test]
fn the_suite_finds_wrong_what_is_listed_and_nothing_else() {
    let fixture = CliFixture::new();
    let (address, _programs) = start_gateway(&fixture);
    for (version, open) in [
        ("2025-11-25", &OPEN_2025[..]),
        ("2026-07-28", &OPEN_2026[..]),
    ] {
        let (held, failed) = run_suite(&address, version);
        let open = open.iter().flat_map(|(_, checks)| checks.iter().copied());
        assert_eq!(failed, open.map(str::to_owned).collect(), "{version}");
        assert!(held >= HELD_MIN, "{version}: only {held} checks held");
    }
}

//! The protocol's own conformance suite, client side: every scenario of it that applies, in every version that is spoken.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Mutex;

use crate::peers;

/// The versions of the protocol that this client speaks.
const VERSIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

const SKILLS: &str =
    "an extension: skills are folders of the person, and none is taken from a server";
const NO_PERSON: &str =
    "an extension: a program signs in for itself; here a person signs in, or a header is set up";
const COMPANY: &str = "an extension: a company's own sign-in, exchanged for that of a server";
const DPOP: &str = "an extension: tokens bound to a key of the client";

/// Scenarios of the suite that do not apply here, with the reason. Everything else must hold.
const NOT_OURS: [(&str, &str); 10] = [
    ("auth/client-credentials-jwt", NO_PERSON),
    ("auth/client-credentials-basic", NO_PERSON),
    ("auth/enterprise-managed-authorization", COMPANY),
    ("auth/dpop", DPOP),
    ("auth/dpop-nonce", DPOP),
    ("auth/wif-jwt-bearer", NO_PERSON),
    ("sep-2640-client-no-prefetch", SKILLS),
    ("sep-2640-client-verify-digest", SKILLS),
    ("sep-2640-client-verify-size", SKILLS),
    ("sep-2640-client-verify-frontmatter", SKILLS),
];

/// The scenarios that hold.
const OURS: [&str; 38] = [
    "auth/2025-03-26-oauth-endpoint-fallback",
    "auth/2025-03-26-oauth-metadata-backcompat",
    "auth/authorization-server-migration",
    "auth/basic-cimd",
    "auth/iss-normalized",
    "auth/iss-not-advertised",
    "auth/iss-supported",
    "auth/iss-supported-missing",
    "auth/iss-unexpected",
    "auth/iss-wrong-issuer",
    "auth/metadata-default",
    "auth/metadata-issuer-mismatch",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/offline-access-not-supported",
    "auth/offline-access-scope",
    "auth/pre-registration",
    "auth/resource-mismatch",
    "auth/scope-from-scopes-supported",
    "auth/scope-from-www-authenticate",
    "auth/scope-omitted-when-undefined",
    "auth/scope-retry-limit",
    "auth/scope-step-up",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-none",
    "auth/token-endpoint-auth-post",
    "elicitation-sep1034-client-defaults",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "http-standard-headers",
    "initialize",
    "json-schema-2020-12-preservation",
    "json-schema-ref-no-deref",
    "request-metadata",
    "sep-2322-client-request-state",
    "sse-retry",
    "tools_call",
];

/// Scenarios that are run at once.
const AT_ONCE: usize = 3;

fn suite(args: &[&str]) -> Output {
    let entry = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
    let mut node = Command::new("node");
    let node = node
        .current_dir(peers())
        .args(["--import", "./node20.mjs", entry]);
    node.args(args).output().unwrap()
}

/// Every scenario that the suite has for clients, with the versions that it is for.
fn listed() -> BTreeMap<String, Vec<String>> {
    let listed = suite(&["list", "--client"]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    let lines = listed.lines().filter_map(|line| {
        let (name, versions) = line.strip_prefix("  - ")?.split_once(" [")?;
        let versions = versions.trim_end_matches(']').split(',');
        Some((name.to_owned(), versions.map(str::to_owned).collect()))
    });
    lines.collect()
}

/// Every scenario of the suite is ours or is not, with the reason: one that comes or goes is seen here.
#[test]
fn every_scenario_of_the_suite_is_known() {
    let ours = OURS.into_iter().chain(NOT_OURS.map(|(name, _)| name));
    let known: BTreeSet<String> = ours.map(str::to_owned).collect();
    assert_eq!(known.len(), OURS.len() + NOT_OURS.len(), "one stands twice");
    let listed: BTreeSet<String> = listed().into_keys().collect();
    assert_eq!(known, listed);
}

/// The client that ships, driven by the suite (see `client.rs`), in both eras.
#[test]
fn the_suite_finds_nothing_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let mut wanted = Vec::new();
    for (name, versions) in listed() {
        let ours = OURS.contains(&name.as_str());
        let spoken = VERSIONS
            .into_iter()
            .filter(|one| versions.iter().any(|other| other == one));
        match spoken.clone().count() {
            // It runs in the version that it is for.
            0 if ours => wanted.push((name, None)),
            _ if ours => wanted.extend(spoken.map(|version| (name.clone(), Some(version)))),
            _ => {}
        }
    }
    assert!(wanted.len() >= OURS.len());
    let (queue, wrong) = (Mutex::new(wanted), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().unwrap().pop();
                    let Some((name, version)) = next else { return };
                    let results = folder.path().join(format!("{name}-{version:?}"));
                    if let Err(why) = holds(&name, version, results) {
                        wrong
                            .lock()
                            .unwrap()
                            .push(format!("{name} {version:?}: {why}"));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Runs one scenario. The error is what the suite says of it.
fn holds(name: &str, version: Option<&str>, results: PathBuf) -> Result<(), String> {
    let exe = std::env::current_exe().unwrap();
    let client = format!(
        "{} --exact client::of_the_suite --ignored --nocapture",
        exe.display()
    );
    let results = results.display().to_string();
    let mut args = vec![
        "client",
        "--command",
        &client,
        "--scenario",
        name,
        "--output-dir",
        &results,
    ];
    if let Some(version) = version {
        args.extend(["--spec-version", version]);
    }
    let said = suite(&args);
    match said.status.success() {
        true => Ok(()),
        false => Err(format!(
            "{}\n{}",
            String::from_utf8_lossy(&said.stdout),
            String::from_utf8_lossy(&said.stderr)
        )),
    }
}

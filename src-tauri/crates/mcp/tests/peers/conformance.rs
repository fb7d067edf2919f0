//! The protocol's own conformance suite, client side: every scenario of it that applies, in every version that is spoken.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Mutex;

use crate::peers;

/// The versions of the protocol that this client speaks.
const VERSIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

const SIGN_IN: &str = "nobody signs in to a server yet";
const SKILLS: &str =
    "an extension: skills are folders of the person, and none is taken from a server";

/// What the suite has and is nothing of ours, and why. Everything else must hold.
const NOT_OURS: [(&str, &str); 37] = [
    ("auth/metadata-default", SIGN_IN),
    ("auth/metadata-var1", SIGN_IN),
    ("auth/metadata-var2", SIGN_IN),
    ("auth/metadata-var3", SIGN_IN),
    ("auth/basic-cimd", SIGN_IN),
    ("auth/scope-from-www-authenticate", SIGN_IN),
    ("auth/scope-from-scopes-supported", SIGN_IN),
    ("auth/scope-omitted-when-undefined", SIGN_IN),
    ("auth/scope-step-up", SIGN_IN),
    ("auth/scope-retry-limit", SIGN_IN),
    ("auth/token-endpoint-auth-basic", SIGN_IN),
    ("auth/token-endpoint-auth-post", SIGN_IN),
    ("auth/token-endpoint-auth-none", SIGN_IN),
    ("auth/pre-registration", SIGN_IN),
    ("auth/2025-03-26-oauth-metadata-backcompat", SIGN_IN),
    ("auth/2025-03-26-oauth-endpoint-fallback", SIGN_IN),
    ("auth/resource-mismatch", SIGN_IN),
    ("auth/offline-access-scope", SIGN_IN),
    ("auth/offline-access-not-supported", SIGN_IN),
    ("auth/authorization-server-migration", SIGN_IN),
    ("auth/iss-supported", SIGN_IN),
    ("auth/iss-not-advertised", SIGN_IN),
    ("auth/iss-supported-missing", SIGN_IN),
    ("auth/iss-wrong-issuer", SIGN_IN),
    ("auth/iss-unexpected", SIGN_IN),
    ("auth/iss-normalized", SIGN_IN),
    ("auth/metadata-issuer-mismatch", SIGN_IN),
    ("auth/client-credentials-jwt", SIGN_IN),
    ("auth/client-credentials-basic", SIGN_IN),
    ("auth/enterprise-managed-authorization", SIGN_IN),
    ("auth/dpop", SIGN_IN),
    ("auth/dpop-nonce", SIGN_IN),
    ("auth/wif-jwt-bearer", SIGN_IN),
    ("sep-2640-client-no-prefetch", SKILLS),
    ("sep-2640-client-verify-digest", SKILLS),
    ("sep-2640-client-verify-size", SKILLS),
    ("sep-2640-client-verify-frontmatter", SKILLS),
];

/// The scenarios that hold.
const OURS: [&str; 11] = [
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "request-metadata",
    "sep-2322-client-request-state",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
    "json-schema-2020-12-preservation",
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

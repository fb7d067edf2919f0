//! `run --agent`: a session of an agent with a manifest.

use crate::support::CliFixture;

const SCRIPT: &str = r#"{"turns":[
  {"calls":[{"name":"read","arguments":{"path":"a.txt"}}]},
  {"calls":[{"name":"read","arguments":{"path":"b.txt"}}]},
  {"text":"Done."}]}"#;

#[test]
fn a_manifest_s_rules_hold_for_the_run() {
    let place = CliFixture::new();
    place.write_file("a.txt", "alpha\n");
    place.write_file("b.txt", "beta\n");
    let script = place.write_outside_file("script.json", SCRIPT);
    let agent = place.write_outside_file(
        "agent.toml",
        "name = \"reader\"\n[[rule]]\npermission = \"fs.read\"\npattern = \"b.txt\"\naction = \"deny\"\n",
    );
    let ran = place.run(&["run", "--script", &script, "--agent", &agent, "Read."]);
    assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("✓ Read a.txt"), "{}", ran.out);
    assert!(ran.out.contains("⊘ Read b.txt"), "{}", ran.out);
}

#[test]
fn a_manifest_that_is_wrong_is_an_error_of_usage() {
    let place = CliFixture::new();
    let script = place.write_outside_file("script.json", SCRIPT);
    let agent = place.write_outside_file("agent.toml", "name = \"reader\"\npromt = \"x\"\n");
    let ran = place.run(&["run", "--script", &script, "--agent", &agent, "Read."]);
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("did you mean `prompt`?"), "{}", ran.err);
    let missing = place.run(&[
        "run",
        "--script",
        &script,
        "--agent",
        "nowhere.toml",
        "Read.",
    ]);
    assert!(
        missing.err.contains("There is no agent's manifest"),
        "{}",
        missing.err
    );
}

#[test]
fn an_option_is_for_an_agent_of_somebody_else_and_has_a_value() {
    let place = CliFixture::new();
    let script = place.write_outside_file("script.json", SCRIPT);
    for (option, why) in [
        ("mode=plan", "--option is for an agent of somebody else"),
        ("mode", "give the option and its value"),
        ("=plan", "give the option and its value"),
    ] {
        let ran = place.run(&["run", "--script", &script, "--option", option, "Read."]);
        assert_eq!(ran.code, 2, "{option}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(why), "{option}: {}", ran.err);
    }
}

/// `policy check --agent`: calls are judged as those of that agent would be, by its rules, its tools and what they require.
#[test]
fn calls_of_an_agent_are_judged_as_its_own() {
    let place = CliFixture::new();
    place.write_file("a.txt", "alpha\n");
    let agent = place.write_outside_file(
        "agent.toml",
        "name = \"reader\"\ntools = [\"read\", \"list_files\"]\n[[rule]]\npermission = \"fs.read\"\npattern = \"secret/**\"\naction = \"deny\"\n",
    );
    for (tool, args, alone, of_agent, says) in [
        ("read", r#"{"path":"a.txt"}"#, "allow", "allow", ""),
        (
            "read_file",
            r#"{"path":"secret/x"}"#,
            "allow",
            "deny",
            "secret/**",
        ),
        ("glob", r#"{"pattern":"*"}"#, "allow", "allow", ""),
    ] {
        let verdict = |more: &[&str]| {
            let ran = place.run(&[&["--json", "policy", "explain", tool, args], more].concat());
            let trail: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
            (trail["verdict"].as_str().unwrap().to_owned(), ran.out)
        };
        assert_eq!(verdict(&[]).0, alone, "{tool}");
        let (judged, out) = verdict(&["--agent", &agent]);
        assert_eq!(judged, of_agent, "{tool}: {out}");
        assert!(out.contains(says), "{tool}: {out}");
    }
    // A tool that the agent has not is not judged, as it would not be when the agent calls it.
    let command = ["policy", "explain", "bash", r#"{"command":"ls"}"#];
    let ran = place.run(&[&command[..], &["--agent", &agent]].concat());
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("Tool not found: bash"), "{}", ran.err);
    // The rules alone know nothing of tools.
    let alone = [&command[..], &["--agent", &agent, "--only-rules"]].concat();
    assert_eq!(place.run_json(&alone)["verdict"], "ask");
}

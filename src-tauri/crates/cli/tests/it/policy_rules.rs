//! `policy backtest | import | grants`: what scripts rely on.

use serde_json::{Value, json};

use crate::support::CliFixture;

/// A place whose record holds three calls: two commands that were denied because nobody was there, and a look at a file.
fn recorded() -> CliFixture {
    let place = CliFixture::new();
    place.write_file("a.txt", "text\n");
    for command in ["echo one", "echo two"] {
        let args = json!({ "command": command }).to_string();
        assert_eq!(place.run(&["call", "bash", &args]).code, 3);
    }
    place.run_ok(&["call", "read", r#"{"path":"a.txt"}"#]);
    place
}

#[test]
fn a_rule_is_held_against_the_record_and_nothing_is_written() {
    let place = recorded();
    let before = crate::support::read_folder(&place.workspace());
    let told = place.run_ok(&["policy", "backtest", "--rule", "allow bash echo*"]);
    assert!(
        told.contains("2 would be allowed instead of asked about"),
        "{told}"
    );
    let file = place.write_outside_file(
        "draft.toml",
        "[[rule]]\npermission = \"read\"\naction = \"deny\"\n",
    );
    let tested = place.run_json(&["policy", "backtest", "--rules", &format!("user:{file}")]);
    assert_eq!(tested["calls"], 3);
    assert_eq!(tested["changed"][0]["to"], "deny");
    assert_eq!(tested["changed"][0]["calls"], 1);
    let all = place.run_json(&["policy", "backtest", "--everywhere", "--rule", "deny *"]);
    assert_eq!(all["calls"], 3);
    assert_eq!(crate::support::read_folder(&place.workspace()), before);
    for wrong in [
        &["policy", "backtest"][..],
        &["policy", "backtest", "--rule", "perhaps bash ls"],
        &["policy", "backtest", "--rule", "allow ba*h ls"],
        &["policy", "backtest", "--rules", "missing.toml"],
    ] {
        assert_eq!(place.run(wrong).code, 2, "{wrong:?}");
    }
}

#[test]
fn permissions_of_other_products_are_shown_and_written_only_when_told() {
    let place = CliFixture::new();
    let settings = r#"{ "permissions": { "allow": ["Bash(npm run build)"], "deny": ["Read(./secrets/**)"] } }"#;
    place.write_file(".claude/settings.json", settings);
    let told = place.run_ok(&["policy", "import"]);
    assert!(told.contains("Bash(npm run build)"), "{told}");
    assert!(told.contains("[[rule]]\npermission = \"bash\""), "{told}");
    assert_eq!(place.read_file(".countersign/rules.toml"), None);
    // The output is a valid rules file.
    let file = place.write_outside_file("shown.toml", &told);
    place.run_ok(&["policy", "lint", &file]);

    place.run_ok(&[
        "policy",
        "import",
        "--from",
        "claude-code",
        "--write",
        "project",
    ]);
    let written = place.read_file(".countersign/rules.toml").unwrap();
    assert!(written.contains("npm run build"), "{written}");
    assert_eq!(
        place.run(&["policy", "trust"]).code,
        0,
        "it is the person's own act"
    );
    let named = place.write_outside_file(
        "x.rules",
        "prefix_rule(pattern=[\"git\", \"status\"], decision=\"allow\")\n",
    );
    let found = place.run_json(&["policy", "import", "--from", "codex", &named]);
    assert_eq!(found[0]["suggestions"][0]["rule"]["permission"], "bash");
    assert_eq!(place.run(&["policy", "import", "x.rules"]).code, 2);
}

#[test]
fn grants_are_listed_and_taken_back() {
    let place = recorded();
    assert_eq!(
        place.run_ok(&["policy", "grants"]),
        "Nothing was granted on a card.\n"
    );
    let folder = place.data().join("grants");
    std::fs::create_dir_all(&folder).unwrap();
    for (id, pattern) in [
        ("grt_01a7", "echo*"),
        ("grt_02a7", "ls*"),
        ("grt_03b8", "cat*"),
    ] {
        let granted = json!({
            "id": id, "lasts": "everywhere", "workspace": null, "permission": "bash", "pattern": pattern,
            "action": "allow", "since": 1, "until_ms": null, "max_uses": null,
            "made_by": { "session": "ses_1", "call": "call_1" }, "revoked": null,
        });
        std::fs::write(folder.join(format!("{id}.json")), granted.to_string()).unwrap();
    }
    place.run_ok(&["call", "bash", r#"{"command":"echo one"}"#]);
    let grant = |list: &Value, id: &str| {
        let mut grants = list.as_array().unwrap().iter();
        grants.find(|grant| grant["id"] == id).unwrap().clone()
    };
    let list = place.run_json(&["policy", "grants"]);
    let echo = grant(&list, "grt_01a7");
    assert_eq!(
        (&echo["hits"], &echo["in_force"]),
        (&json!(1), &json!(true))
    );
    // An id is named by its end, as everywhere; what names none or several takes nothing back.
    for (word, told) in [
        (
            "a7",
            "2 grants are named by a7: 01a7, 02a7. Write more of the id.",
        ),
        (
            "9",
            "There is no grant 9. Look at the list: countersign policy grants.",
        ),
    ] {
        let refused = place.run(&["policy", "grants", "revoke", word]);
        assert_eq!(refused.code, 2);
        assert!(refused.err.contains(told), "{}", refused.err);
    }
    for (word, id) in [("1a7", "grt_01a7"), ("grt_03b8", "grt_03b8")] {
        let list = place.run_json(&["policy", "grants", "revoke", word]);
        assert_eq!(grant(&list, id)["in_force"], json!(false), "{list}");
    }
    let told = place.run_ok(&["policy", "grants"]);
    assert_eq!(told.matches(", revoked").count(), 2, "{told}");
    assert_eq!(
        place
            .run(&["call", "bash", r#"{"command":"echo one"}"#])
            .code,
        3
    );
    let file = std::fs::read_to_string(folder.join("grt_01a7.json")).unwrap();
    let kept: Value = serde_json::from_str(&file).unwrap();
    assert!(kept["revoked"].is_number(), "the ledger remembers");
}

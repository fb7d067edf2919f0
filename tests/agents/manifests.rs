//! Sessions of an agent with a manifest: its rules, its tools, and what it may touch.

use agent::Host;
use protocol::{CallState, ModelChoice, Op, RequirementSet, UserError};
use serde_json::json;
use support::dishonest_tool::DishonestTool;
use support::probe::RecordingProvider;
use support::{
    Fixture, HEADLESS, call_bash, call_read, call_tool, call_write, join_calls, rule_text, say_text,
};

/// Opens a session of the agent whose manifest this is, and says something.
pub async fn begin_with_manifest(desk: &mut Fixture, manifest: &str) -> Result<(), UserError> {
    desk.write_file("docs/a.md", "public")
        .write_file("src/b.rs", "private");
    let file = desk.data_dir().join("agent.toml");
    std::fs::write(&file, manifest).unwrap();
    let op = Op::OpenSession {
        workspace: desk.workspace_root().display().to_string(),
        model: ModelChoice {
            provider: "script".into(),
            model: String::new(),
        },
        prompt: Some("Go.".into()),
        output_schema: None,
        temperature: None,
        agent: Some(file.display().to_string()),
        planning: false,
        enclosure: None,
        servers: None,
        former: None,
    };
    let receipt = desk.engine.submit(op).await?;
    desk.session = receipt.session.unwrap();
    Ok(())
}

/// The same, to the end of what it does.
pub async fn open_with_manifest(desk: &mut Fixture, manifest: &str) -> Result<(), UserError> {
    begin_with_manifest(desk, manifest).await?;
    desk.wait_until_ended().await;
    Ok(())
}

/// `S002-84`: what the manifest denies is denied, however closely another rule allows it; also after a restart, and when
/// the file is gone.
#[tokio::test]
async fn a_manifest_s_deny_is_final_for_the_whole_session() {
    let manifest = "name = \"reviewer\"\n\
                    [[rule]]\npermission = \"fs.read\"\npattern = \"src/**\"\naction = \"deny\"\nreason = \"Not yours.\"\n";
    let turns = [
        call_read("src/b.rs"),
        call_read("docs/a.md"),
        say_text(""),
        call_read("src/b.rs"),
    ];
    let mut desk = Fixture::new(turns).await;
    desk.write_rules(rule_text("read", "src/b.rs", "allow"));
    open_with_manifest(&mut desk, manifest).await.unwrap();
    let outcomes = desk.call_outcomes().await;
    assert_eq!(outcomes[0].0, CallState::Denied);
    assert!(outcomes[0].1.contains("Not yours"), "{}", outcomes[0].1);
    assert_eq!(outcomes[1].0, CallState::Done);

    std::fs::remove_file(desk.data_dir().join("agent.toml")).unwrap();
    let mut desk = desk.restart().await;
    desk.send_message("Again.").await;
    desk.wait_until_ended().await;
    assert_eq!(desk.call_outcomes().await[2].0, CallState::Denied);
}

/// `S002-09`: what an agent may touch is what its manifest and its tools require together.
#[tokio::test]
async fn a_manifest_s_requirements_join_those_of_its_tools() {
    let bare = "name = \"reviewer\"\n";
    let wider = "name = \"reviewer\"\n[requires]\nfs = { read = [\"{workspace}/src/**\"] }\n";
    for (manifest, path, state) in [
        (bare, "docs/a.md", CallState::Done),
        (bare, "src/b.rs", CallState::Denied),
        (wider, "docs/a.md", CallState::Done),
        (wider, "src/b.rs", CallState::Done),
        (wider, "README.md", CallState::Denied),
    ] {
        let says = json!([{ "capability": "fs.read", "target": path }]);
        let agent =
            RecordingProvider::new([call_tool("liar", json!({ "says": says, "reads": path }))]);
        let liar = DishonestTool::new_tool(RequirementSet::empty().with_read("docs/**"));
        let mut desk = Fixture::with_tools(agent, vec![liar]).await;
        open_with_manifest(&mut desk, manifest).await.unwrap();
        let (ended, text) = desk.call_outcomes().await.remove(0);
        assert_eq!(ended, state, "{path}: {text}");
        if state == CallState::Denied {
            let whose = "is beyond what the tool `liar` of the agent `reviewer` requires";
            assert!(text.contains(whose), "{text}");
        }
    }
}

/// M15: what a manifest requires beyond the folder is asked about once, and opened for reading alone; to nothing else, not
/// without a person, and never where a rule denies it.
#[tokio::test]
async fn what_an_agent_requires_beyond_the_folder_is_asked_about_once() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path().canonicalize().unwrap();
    std::fs::create_dir(place.join("words")).unwrap();
    for (name, text) in [("words/a", "abacus"), ("words/b", "banjo"), ("other", "no")] {
        std::fs::write(place.join(name), text).unwrap();
    }
    let at = |name: &str| place.join(name).display().to_string();
    let manifest = format!(
        "name = \"reader\"\n[requires]\nfs = {{ read = [\"{{workspace}}/**\", \"{}/**\"] }}\n",
        at("words")
    );
    let turns = || {
        // The second waits beside the first, and is not asked about any more once that is allowed.
        let both = join_calls(["words/a", "words/b"].map(|name| call_read(at(name))));
        [
            both,
            call_read(at("other")),
            call_write(at("words/c"), "new"),
        ]
    };

    let mut desk = Fixture::new(turns()).await;
    begin_with_manifest(&mut desk, &manifest).await.unwrap();
    let asked = desk.wait_for_call().await;
    let waits = asked.pending.as_ref().unwrap();
    let words = format!("opens `{}` for reading in this session", at("words"));
    assert!(
        waits.grants[0].text.starts_with(&words),
        "{:?}",
        waits.grants
    );
    desk.allow_call(&asked).await;
    desk.wait_until_ended().await;
    let outcomes = desk.call_outcomes().await;
    let [a, b, other, write] = outcomes.as_slice() else {
        panic!("{outcomes:?}");
    };
    assert!(a.0 == CallState::Done && a.1.contains("abacus"), "{a:?}");
    assert!(b.0 == CallState::Done && b.1.contains("banjo"), "{b:?}");
    for refused in [other, write] {
        assert_eq!(refused.0, CallState::Denied);
        assert!(refused.1.contains("outside the workspace"), "{refused:?}");
    }

    let mut desk = Fixture::with_host(turns(), HEADLESS).await;
    open_with_manifest(&mut desk, &manifest).await.unwrap();
    let (state, text) = desk.call_outcomes().await.remove(0);
    assert_eq!(state, CallState::Denied, "{text}");

    let mut desk = Fixture::new(turns()).await;
    let deny = rule_text("fs.read", &format!("{}/**", at("words")), "deny");
    let deny = manifest + &deny;
    open_with_manifest(&mut desk, &deny).await.unwrap();
    let (state, text) = desk.call_outcomes().await.remove(0);
    assert_eq!(state, CallState::Denied, "{text}");
}

/// `S002-56`: `{workspace}` stands for the folder and for the further roots of the manifest. What is read there is asked about
/// once (M15); nothing is written there, because no undo reaches it; and without the root it stays closed.
#[tokio::test]
async fn further_roots_of_a_manifest_are_the_workspace_too() {
    let manifest = |roots: &str| {
        let requires = "fs = { read = [\"{workspace}/**\"], write = [\"{workspace}/**\"] }";
        format!("name = \"reader\"\n{roots}\n[requires]\n{requires}\n")
    };
    let declared = manifest("roots = [\"../words\"]");
    let turns = || {
        [
            call_read("../words/a"),
            call_read("../words/b"),
            call_read("docs/a.md"),
            call_read("../other"),
            call_write("../words/c", "new"),
        ]
    };
    let beside = |desk: &Fixture| {
        let folder = desk.workspace_root().parent().unwrap().to_owned();
        std::fs::create_dir(folder.join("words")).unwrap();
        for (name, text) in [("words/a", "abacus"), ("words/b", "banjo"), ("other", "no")] {
            std::fs::write(folder.join(name), text).unwrap();
        }
        folder.join("words")
    };
    let mut desk = Fixture::new(turns()).await;
    let words = beside(&desk);
    begin_with_manifest(&mut desk, &declared).await.unwrap();
    let asked = desk.wait_for_call().await;
    let grants = &asked.pending.as_ref().unwrap().grants;
    let told = format!("opens `{}` for reading in this session", words.display());
    assert!(grants[0].text.starts_with(&told), "{grants:?}");
    desk.allow_call(&asked).await;
    desk.wait_until_ended().await;
    use CallState::{Denied, Done};
    assert_eq!(desk.call_states().await, [Done, Done, Done, Denied, Denied]);
    let texts = desk.call_texts().await;
    assert!(
        texts[0].contains("abacus") && texts[1].contains("banjo"),
        "{texts:?}"
    );
    assert!(texts[4].contains("outside the workspace"), "{}", texts[4]);
    assert!(!words.join("c").exists());

    for (manifest, host) in [(declared.clone(), HEADLESS), (manifest(""), Host::Person)] {
        let mut desk = Fixture::with_host(turns(), host).await;
        beside(&desk);
        open_with_manifest(&mut desk, &manifest).await.unwrap();
        assert_eq!(
            desk.call_states().await,
            [Denied, Denied, Done, Denied, Denied]
        );
    }

    let mut desk = Fixture::new(json!([])).await;
    let missing = open_with_manifest(&mut desk, &declared).await.unwrap_err();
    assert!(
        missing
            .message
            .starts_with("The agent `reader` has the root `../words`, which cannot be used."),
        "{missing}"
    );
}

/// An agent has the tools that its manifest names, and no others.
#[tokio::test]
async fn a_manifest_names_the_tools() {
    let agent = RecordingProvider::new([call_bash("ls")]);
    let mut desk = Fixture::with_provider(agent.clone(), Host::Person).await;
    let manifest =
        "name = \"reviewer\"\nprompt = \"You review.\"\ntools = [\"read_file\", \"grep\"]\n";
    open_with_manifest(&mut desk, manifest).await.unwrap();
    let offered: Vec<String> = agent.offered.lock().unwrap()[0]
        .iter()
        .map(|tool| tool.name.clone())
        .collect();
    assert_eq!(offered, ["read", "grep"]);
    let (state, text) = desk.call_outcomes().await.remove(0);
    assert_eq!(state, CallState::Failed, "{text}");
}

/// A manifest that is not as it must be opens no session, and says what is wrong (`S002-60`).
#[tokio::test]
async fn a_manifest_that_is_wrong_opens_nothing() {
    for (manifest, told) in [
        ("", "missing field `name`"),
        (
            "name = \"x\"\nrules = []\n",
            "the key `rules` is not known here (did you mean `rule`?)",
        ),
        (
            "name = \"x\"\ntools = [\"raed\"]\n",
            "names a tool that is not there",
        ),
        (
            "name = \"x\"\nrequires = { fs = { read = [\"{wrkspace}\"] } }\n",
            "`{wrkspace}`, which is not defined",
        ),
    ] {
        let mut desk = Fixture::new(json!([])).await;
        let fault = open_with_manifest(&mut desk, manifest).await.unwrap_err();
        assert!(fault.message.contains(told), "{fault}");
        assert_eq!(desk.snapshot().await.sessions, []);
    }
    let desk = Fixture::new(json!([])).await;
    let op = Op::OpenSession {
        workspace: desk.workspace_root().display().to_string(),
        model: ModelChoice {
            provider: "script".into(),
            model: String::new(),
        },
        prompt: None,
        output_schema: None,
        temperature: None,
        agent: Some("/no/such/agent.toml".into()),
        planning: false,
        enclosure: None,
        servers: None,
        former: None,
    };
    let fault = desk.engine.submit(op).await.unwrap_err();
    assert!(
        fault.message.contains("There is no agent's manifest"),
        "{fault}"
    );
}

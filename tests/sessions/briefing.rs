//! Briefing of a session's model: the project's instructions, skills, agents; and what a person sees of it.

use agent::Host;
use protocol::CallState;
use protocol::query::{Answer, Query};
use protocol::view::briefing::{BriefingPart, BriefingSource, BriefingText};
use serde_json::json;
use support::scripted_agents::ScriptedAgents;
use support::{Fixture, HEADLESS, call_bash, call_read, call_tool, expect_variant};

const PDF: &str =
    "---\nname: pdf\ndescription: For PDF files.\nallowed-tools: bash\n---\nUse the script.\n";

/// `S002-23`, `S002-40`: a skill is one line at first; its body comes when it is loaded, as it was the first time. What it
/// would have allowed is not (`allowed-tools` grants nothing).
#[tokio::test]
async fn a_skill_is_a_line_until_it_is_loaded() {
    let cast = ScriptedAgents::new(
        [
            call_tool("skill", json!({ "name": "pdf" })),
            call_tool("skill", json!({ "name": "pdf" })),
            call_bash("true"),
            call_tool("skill", json!({ "name": "pfd" })),
        ],
        [],
    );
    let mut desk = Fixture::with_provider(cast.clone(), HEADLESS).await;
    desk.write_file(".agents/skills/pdf/SKILL.md", PDF)
        .write_file(".agents/skills/pdf/scripts/split.py", "pass")
        .write_file(".claude/skills/broken/SKILL.md", "nothing");
    desk.play().await;
    let outcomes = desk.call_outcomes().await;
    let loaded = &outcomes[0].1;
    assert!(
        loaded.starts_with("<skill_content name=\"pdf\">\nUse the script.\n</skill_content>\n"),
        "{loaded}"
    );
    assert!(loaded.contains("- scripts/split.py"), "{loaded}");
    assert_eq!(outcomes[1].1, *loaded);
    assert_eq!(outcomes[2].0, CallState::Denied, "{outcomes:?}");
    assert!(
        outcomes[3].1.contains("Did you mean `pdf`?"),
        "{outcomes:?}"
    );
    let system = &cast.requests()[0].system;
    assert!(system.contains("\n- pdf: For PDF files."), "{system}");
    assert!(!system.contains("Use the script."), "{system}");
    let faults = desk.snapshot().await.faults;
    assert!(
        faults
            .iter()
            .any(|fault| fault.message.contains("broken/SKILL.md")),
        "{faults:?}"
    );
}

/// Instructions come from the root of the repository down to the workspace, skills from the person's home too; a person sees
/// where each comes from and how long it all is.
#[tokio::test]
async fn a_briefing_is_gathered_and_shown() {
    let home = tempfile::tempdir().unwrap();
    let skill = home.path().join(".agents/skills/notes");
    std::fs::create_dir_all(&skill).unwrap();
    let text = "---\nname: notes\ndescription: For notes.\n---\nWrite them.\n";
    std::fs::write(skill.join("SKILL.md"), text).unwrap();
    std::fs::write(skill.join("form.md"), "a form").unwrap();
    let form = skill.join("form.md").canonicalize().unwrap();
    let cast = ScriptedAgents::new([call_read(form)], []);
    let mut desk = Fixture::with_config(cast.clone(), Host::Person, |config| {
        config.home = Some(home.path().to_owned());
    })
    .await;
    let project = desk.workspace_root().parent().unwrap().to_owned();
    std::fs::create_dir(project.join(".git")).unwrap();
    std::fs::write(project.join("CLAUDE.md"), "Outer words.").unwrap();
    let long = "x".repeat(40_000);
    desk.write_file("AGENTS.md", "Inner words.\u{202e}")
        .write_file("CLAUDE.md", "not this one");
    desk.play().await;
    let (state, text) = desk.call_outcomes().await.remove(0);
    assert_eq!(
        state,
        CallState::Done,
        "what lies beside a skill can be read: {text}"
    );
    let system = &cast.requests()[0].system;
    let [outer, inner] = ["Outer words.", "Inner words."].map(|words| system.find(words).unwrap());
    assert!(
        outer < inner && !system.contains("not this one"),
        "{system}"
    );

    std::fs::write(project.join("CLAUDE.md"), &long).unwrap();
    let query = Query::Briefing {
        workspace: desk.workspace_root().display().to_string(),
    };
    let briefing = expect_variant!(desk.query(query).await, Answer::Briefing(briefing) => briefing);
    let [outer, inner] = briefing.instructions.as_slice() else {
        panic!("{briefing:?}");
    };
    assert!(
        outer.cut && outer.file.ends_with("/CLAUDE.md") && outer.bytes > 30_000,
        "{outer:?}"
    );
    assert!(
        !inner.cut && inner.file.ends_with("workspace/AGENTS.md"),
        "{inner:?}"
    );
    let skill = &briefing.skills[0];
    assert_eq!(
        (skill.name.as_str(), skill.source),
        ("notes", BriefingSource::Person)
    );
    assert_eq!(briefing.agents[0].name, "general");
    texts_of(&desk, &briefing).await;
    assert!(
        briefing.bytes > 32_000 && briefing.tokens >= briefing.bytes / 4,
        "{briefing:?}"
    );
    let told: Vec<&str> = briefing
        .faults
        .iter()
        .map(|fault| fault.message.as_str())
        .collect();
    assert!(
        told.iter()
            .any(|told| told.contains("bytes of it are left out")),
        "{told:?}"
    );
    assert!(
        told.iter()
            .any(|told| told.contains("characters that cannot be seen")),
        "{told:?}"
    );
}

/// Without a repository nobody can say where the project ends: nothing above the workspace is read.
#[tokio::test]
async fn nothing_is_read_above_a_folder_without_a_repository() {
    let cast = ScriptedAgents::new(json!([]), []);
    let mut desk = Fixture::with_provider(cast.clone(), Host::Person).await;
    let above = desk.workspace_root().parent().unwrap().join("AGENTS.md");
    std::fs::write(above, "Outer words.").unwrap();
    desk.play().await;
    assert!(!cast.requests()[0].system.contains("Outer words."));
}

/// Each part's text can be looked at, as the model gets it; what is no part of it cannot.
async fn texts_of(desk: &Fixture, briefing: &protocol::view::briefing::Briefing) {
    let text = async |of: BriefingPart| {
        let workspace = desk.workspace_root().display().to_string();
        match desk
            .engine
            .query(Query::BriefingText { workspace, of })
            .await
        {
            Ok(Answer::BriefingText(found)) => Ok(found),
            Ok(other) => panic!("{other:?}"),
            Err(fault) => Err(fault),
        }
    };
    let plain = |found: &BriefingText| protocol::text::display_text::join_spans(&found.text);
    let file = briefing.instructions[1].file.clone();
    let inner = text(BriefingPart::Instructions { file }).await.unwrap();
    assert_eq!(plain(&inner), "Inner words.U+202E");
    let name = "notes".to_owned();
    let skill = text(BriefingPart::Skill { name }).await.unwrap();
    assert_eq!(
        (plain(&skill).trim(), skill.cut, skill.files),
        ("Write them.", false, vec!["form.md".to_owned()])
    );
    let name = "general".to_owned();
    let agent = text(BriefingPart::Agent { name }).await.unwrap();
    assert_eq!(
        plain(&agent),
        "",
        "the agent of the house is told nothing more"
    );
    let whole = text(BriefingPart::Whole).await.unwrap();
    assert!(plain(&whole).contains("Inner words."));
    for of in [
        BriefingPart::Instructions {
            file: "/etc/passwd".to_owned(),
        },
        BriefingPart::Skill {
            name: "../notes".to_owned(),
        },
        BriefingPart::Agent {
            name: String::new(),
        },
    ] {
        assert!(text(of.clone()).await.is_err(), "{of:?}");
    }
}

//! Agents that work can be given to: Markdown and TOML, ours and those of other programs.

use std::path::Path;

use protocol::view::briefing::BriefingSource;
use runtime::Workspace;

use tools::agents::{AgentFolder, AgentIndex};

fn put(root: &Path, file: &str, text: &str) {
    let file = root.join(file);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

fn shelf(root: &Path, path: &str, foreign: bool) -> AgentFolder {
    AgentFolder {
        workspace: Workspace::open(root).unwrap(),
        path: path.to_owned(),
        source: BriefingSource::Project,
        foreign,
    }
}

#[test]
fn agents_are_read_from_markdown_and_toml() {
    let home = tempfile::tempdir().unwrap();
    put(
        home.path(),
        "ours/reviewer.md",
        "---\nname: reviewer\ndescription: Reads\n  and judges.\ntools: [read, grep]\nmodel: small\nrequires:\n  fs:\n    read: ['src/**']\nrule:\n  - permission: bash\n    action: deny\n---\nYou review.\n",
    );
    put(
        home.path(),
        "ours/writer.toml",
        "name = \"writer\"\ndescription = \"Writes.\"\nprompt = \"You write.\"\n",
    );
    put(home.path(), "ours/notes.txt", "nothing");
    put(
        home.path(),
        "theirs/tester.md",
        "---\nname: tester\ndescription: Tests.\ntools: Read, Bash, WebFetch, mcp__git__log\nmodel: sonnet\ncolor: red\n---\nYou test.\n",
    );
    put(
        home.path(),
        "theirs/writer.md",
        "---\nname: writer\ndescription: Another.\n---\n",
    );
    let (roster, faults) = AgentIndex::load(&[
        shelf(home.path(), "ours", false),
        shelf(home.path(), "theirs", true),
    ]);
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(
        faults[0]
            .message
            .contains("there is an agent `writer` already"),
        "{faults:?}"
    );
    let told = roster.summary();
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(
        lines[..3],
        [
            "- reviewer: Reads and judges.",
            "- writer: Writes.",
            "- tester: Tests."
        ]
    );
    assert!(lines[3].starts_with("- general: "), "{told}");
    let reviewer = roster.find("reviewer").unwrap();
    assert_eq!(
        (reviewer.prompt.as_str(), reviewer.model.as_deref()),
        ("You review.\n", Some("small"))
    );
    let again = policy::manifest::parse_manifest(&reviewer.manifest.text, "x").unwrap();
    assert!(again.declares_requirements && again.rules.rules.len() == 1);
    let tester = roster.find("tester").unwrap();
    assert_eq!(tester.model, None);
    let tools = tester.view.tools.as_deref().unwrap();
    assert_eq!(tools, ["read", "bash", "web_fetch", "git__log"]);
    let error = roster.find("review").unwrap_err().to_string();
    assert!(error.contains("Did you mean `reviewer`?"), "{error}");
    let error = roster.find("\u{202e}x").unwrap_err().to_string();
    assert!(
        error.contains("`U+202Ex`. The agents are reviewer, writer, tester, general."),
        "{error}"
    );
}

#[test]
fn what_is_no_agent_is_left_out_and_told() {
    for (file, text, told) in [
        (
            "a.md",
            "no front matter",
            "does not begin with a line of `---`",
        ),
        ("a.md", "---\nname: a\n---\n", "it has no description"),
        (
            "a.md",
            "---\nname: a\ndescription: x\ncolour: red\n---\n",
            "the key `colour` is not known here",
        ),
        ("a.md", "---\n- a\n---\n", "line "),
        (
            "a.toml",
            "name = \"a\"\ndescription = \"x\"\nrule = 7\n",
            "line 3",
        ),
        ("a.toml", "name = \"a\"\n", "it has no description"),
    ] {
        let home = tempfile::tempdir().unwrap();
        put(home.path(), &format!("ours/{file}"), text);
        let (roster, faults) = AgentIndex::load(&[shelf(home.path(), "ours", false)]);
        assert_eq!(
            (roster.views().count(), faults.len()),
            (1, 1),
            "{text}: {faults:?}"
        );
        assert!(faults[0].message.contains(told), "{text}: {}", faults[0]);
    }
}

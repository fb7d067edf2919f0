//! The accesses that a surface covers and those beyond it.

use super::*;
use crate::facts::CallFacts;

fn around() -> VariableValues {
    VariableValues {
        workspace: vec!["/home/me/[a] project".to_owned(), "/data/more".to_owned()],
        ad_hoc: Vec::new(),
        user_data: Some("/home/me/.local/share/app".to_owned()),
    }
}

fn surface(requires: &RequirementSet, around: &VariableValues) -> Surface {
    Surface::new(requires, "the tool `t`", around, Os::Linux).unwrap()
}

fn covers(surface: &Surface, capability: Capability, real: &str) -> bool {
    let mut facts = CallFacts::from_iter([ResolvedAccess::new_inside(capability, real)]);
    facts.restrict_to(surface);
    facts.denial_reason().is_none()
}

/// `S002-47`, `S002-48`, `S002-56`: patterns are relative to the workspace root, and a variable stands for its place,
/// whatever characters are in that place's name.
#[test]
fn paths_from_the_root_of_the_workspace() {
    for (pattern, real, covered) in [
        ("**", "", true),
        ("**", "a/b", true),
        ("**", "/data/more/a", false),
        ("{workspace}/**", "a/b", true),
        ("{workspace}/**", "/data/more/a", true),
        ("{workspace}/**", "/data/moreover", false),
        ("{workspace}", "a/b", true),
        ("docs/**", "docs", true),
        ("docs/**", "docs/a/b.md", true),
        ("./docs/**", "docs/a", true),
        ("docs", "docs/a", true),
        ("docs/**", "documents", false),
        ("docs/**", "a/docs/b", false),
        ("docs/**", "", false),
        ("*.md", "a.md", true),
        ("*.md", "a/b.md", false),
        ("{a,b}/*.c", "b/x.c", true),
        (
            "{user-data}/notes/*",
            "/home/me/.local/share/app/notes/x",
            true,
        ),
        ("{user-data}/notes/*", "notes/x", false),
        ("/home/me/a project/**", "x", false),
        ("/home/me/\\[a] project/src/**", "src/x", true),
    ] {
        let reads = surface(&RequirementSet::empty().with_read(pattern), &around());
        let covered_now = covers(&reads, Capability::FsRead, real);
        assert_eq!(covered_now, covered, "{pattern} covers {real}");
        assert!(!covers(&reads, Capability::FsWrite, real), "{pattern}");
        let writes = surface(&RequirementSet::empty().with_write(pattern), &around());
        for capability in [Capability::FsWrite, Capability::FsDelete] {
            assert_eq!(
                covers(&writes, capability, real),
                covered,
                "{pattern} {real}"
            );
        }
        assert!(!covers(&writes, Capability::FsRead, real), "{pattern}");
    }
}

/// `S002-59`: `{workspace}` with none open is no place, and neither is a pattern that begins there.
#[test]
fn an_empty_expansion_covers_nothing() {
    let nowhere = VariableValues::default();
    for pattern in [
        "{workspace}/**",
        "{workspace}",
        "**",
        "a",
        "{ad-hoc}/**",
        "{user-data}/x",
    ] {
        let requires = RequirementSet::empty()
            .with_read(pattern)
            .with_write(pattern);
        let surface = surface(&requires, &nowhere);
        for capability in [
            Capability::FsRead,
            Capability::FsWrite,
            Capability::FsDelete,
        ] {
            for real in ["", "a", "x", "/", "/x", "/a/x"] {
                assert!(
                    !covers(&surface, capability, real),
                    "{pattern} covers {real}"
                );
            }
        }
    }
    let net = RequirementSet::empty().with_host("{ad-hoc}");
    assert!(!covers(
        &surface(&net, &nowhere),
        Capability::NetFetch,
        "docs.rs"
    ));
}

/// `S002-49`, `S002-50`, `S002-55`.
#[test]
fn hosts_and_commands() {
    let requires: RequirementSet = serde_json::from_value(serde_json::json!({
        "net": { "hosts": ["docs.rs", "*.example.org"] },
        "shell": [
            { "cmd": "git", "args": ["log", { "prefix": "-" }] },
            { "cmd": "./activities/x y", "args": [] },
        ],
    }))
    .unwrap();
    let surface = surface(&requires, &around());
    for (host, covered) in [
        ("docs.rs", true),
        ("a.example.org", true),
        ("example.org", false),
        ("docs.rs:8443", false),
        ("evil.example", false),
    ] {
        assert_eq!(
            covers(&surface, Capability::NetFetch, host),
            covered,
            "{host}"
        );
    }
    for (command, covered) in [
        ("git log -1", true),
        ("git log -1 && git log --all", true),
        ("timeout 5 git log -1", true),
        ("git log", false),
        ("git log x", false),
        ("git log -1 > out", false),
        ("git log -1; rm x", false),
        ("git log $(rm x)", false),
        ("/tmp/git log -1", false),
        ("GIT_DIR=/tmp git log -1", false),
        ("./activities/x y", true),
        ("./activities/x", false),
        ("# nothing", false),
        ("", false),
    ] {
        let covers = covers(&surface, Capability::ShellRun, command);
        assert_eq!(covers, covered, "{command}");
    }
    let bash = super::Surface::new(
        &RequirementSet::empty().with_command("*"),
        "the tool `bash`",
        &around(),
        Os::Linux,
    );
    assert!(covers(&bash.unwrap(), Capability::ShellRun, "rm -rf $x"));
}

/// An invalid pattern is reported at once, with the pattern and its owner (`S002-60`).
#[test]
fn a_pattern_that_cannot_be_understood_is_named() {
    for pattern in ["a/[b", "{workspce}/**", "../x", "a{b,c"] {
        let requires = RequirementSet::empty().with_write(pattern);
        let fault = Surface::new(&requires, "the manifest", &around(), Os::Linux).unwrap_err();
        for part in [pattern, "the manifest"] {
            assert!(fault.message.contains(part), "{pattern}: {fault}");
        }
    }
}

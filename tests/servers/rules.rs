//! Rules for other people's tools: by the paths and hosts that their arguments name, and what is said of a program that no
//! sandbox holds.

use protocol::Verdict;
use serde_json::{Value, json};
use support::Fixture;

/// A desk with a server of files, and what it would say of calls.
async fn open_desk() -> Fixture {
    let mut desk = Fixture::new(json!([])).await;
    desk.write_file("notes.md", "x\n")
        .write_file("keys/one.pem", "x\n");
    desk.add_file_server(env!("CARGO_BIN_EXE_mcp_server")).await;
    desk
}

/// The verdict on a call, and everything that is said of it.
async fn said(desk: &Fixture, rules: &str, tool: &str, arguments: &Value) -> (Verdict, String) {
    desk.write_rules(rules);
    let explainer = desk.open_explainer();
    let explained = explainer
        .explain(tool, arguments.as_object().unwrap())
        .await;
    let trail = explained.unwrap().trail;
    let steps = trail.steps.iter().map(|step| step.text.as_str());
    let told: Vec<&str> = std::iter::once(trail.lead.as_str()).chain(steps).collect();
    (trail.verdict, told.join("\n"))
}

fn rule(permission: &str, pattern: &str, action: &str) -> String {
    let pattern = match pattern {
        "" => String::new(),
        pattern => format!("pattern = \"{pattern}\"\n"),
    };
    format!("[[rule]]\npermission = \"{permission}\"\n{pattern}action = \"{action}\"\n")
}

/// An allow with a pattern holds where everything fits that the arguments name; a deny holds where anything does.
#[tokio::test]
async fn rules_limit_a_servers_tool_by_path_and_host() {
    use Verdict::{Allow, Ask, Deny};
    let desk = open_desk().await;
    let root = desk.workspace_root().display().to_string();
    let write = |path: &str| {
        (
            "one__write_file",
            json!({ "path": path, "content": "see .env" }),
        )
    };
    let fetch = |url: &str| ("one__fetch", json!({ "url": url }));
    let moved = |from: &str, to: &str| {
        (
            "one__move_file",
            json!({ "source": from, "destination": to }),
        )
    };
    let txt = rule("one__write_file", "*.txt", "allow");
    let docs = rule("one__fetch", "docs.rs", "allow");
    let whole = rule("one__*", "", "allow");
    let moves = rule("one__move_file", "out/**", "allow");
    let elsewhere = rule("one__*", "/srv/data/**", "allow");
    let with = |more: String| format!("{whole}{more}");
    for (rules, (tool, arguments), verdict) in [
        (&txt, write("new.txt"), Allow),
        (&txt, write(&format!("{root}/new.txt")), Allow),
        (&txt, write("src/new.txt"), Ask),
        (&txt, write("new.md"), Ask),
        (&txt, write("/tmp/new.txt"), Ask),
        (&txt, write("../new.txt"), Ask),
        (&moves, moved("out/a", "out/b"), Allow),
        (&moves, moved("notes.md", "out/b"), Ask),
        (&moves, moved("out/a", "/tmp/b"), Ask),
        (&docs, fetch("https://docs.rs/x"), Allow),
        (&docs, fetch("https://docs.rs.example.com/x"), Ask),
        // The tool as a whole: everything in the workspace, and nothing outside that is not named.
        (&whole, write("a/b.txt"), Allow),
        (&whole, write("/etc/passwd"), Ask),
        (&whole, write("file:///etc/passwd"), Ask),
        (&whole, write("~/.ssh/id_rsa"), Deny),
        (&whole, fetch("https://docs.rs"), Allow),
        (&whole, fetch("http://localhost:3000/"), Ask),
        (&whole, fetch("http://169.254.169.254/x"), Deny),
        (&with(elsewhere), write("/srv/data/x"), Allow),
        (
            &with(rule("one__fetch", "localhost:3000", "allow")),
            fetch("http://localhost:3000/"),
            Allow,
        ),
        // Denials of paths and hosts hold for servers' tools.
        (
            &with(rule("fs.write", "keys/**", "deny")),
            write("keys/one.pem"),
            Deny,
        ),
        (
            &with(rule("fs.read", "*.pem", "deny")),
            moved("keys/one.pem", "x"),
            Deny,
        ),
        (
            &with(rule("net.fetch", "*.example.com", "deny")),
            fetch("https://a.example.com"),
            Deny,
        ),
        (
            &with(rule("one__write_file", "keys/**", "deny")),
            write("keys/two"),
            Deny,
        ),
        (
            &with(rule("*", "*.pem", "deny")),
            ("one__echo", json!({ "message": "keys/one.pem" })),
            Deny,
        ),
        // By an argument of any name.
        (
            &rule("one__echo", "message=hello*", "allow"),
            ("one__echo", json!({ "message": "hello/you" })),
            Allow,
        ),
        (
            &rule("one__echo", "message=hello*", "allow"),
            ("one__echo", json!({ "message": "Hello" })),
            Ask,
        ),
        (
            &rule("one__echo", "other=hello*", "allow"),
            ("one__echo", json!({ "message": "hello" })),
            Ask,
        ),
        (
            &with(rule("one__echo", "message=*secret*", "deny")),
            ("one__echo", json!({ "message": "a SECRET" })),
            Deny,
        ),
        (
            &with(rule("one__*", "content=*.env*", "deny")),
            write("x"),
            Deny,
        ),
        (
            &with(rule("one__*", "path=x", "deny")),
            fetch("https://docs.rs"),
            Allow,
        ),
        (
            &rule("one__write_file", "content=see*", "allow"),
            write("/etc/passwd"),
            Ask,
        ),
        // Protected before anybody wrote a rule.
        (&whole, write(".env"), Ask),
        (&whole, write(".git/hooks/pre-commit"), Deny),
    ] {
        let (is, told) = said(&desk, rules, tool, &arguments).await;
        assert_eq!(is, verdict, "{tool} {arguments} under\n{rules}\n{told}");
    }
}

/// A program that runs as the person is said to.
#[tokio::test]
async fn a_program_that_no_sandbox_holds_is_said_to_be_one() {
    let desk = open_desk().await;
    let arguments = json!({ "path": "new.txt", "content": "x" });
    let (_, told) = said(&desk, "", "one__write_file", &arguments).await;
    let says = "Its arguments name 1 path inside the workspace. It runs as you, outside any sandbox, so it can touch more than its arguments name.";
    assert!(told.contains(says), "{told}");
    let (_, told) = said(&desk, "", "one__count", &json!({})).await;
    assert!(
        told.contains("name no path and no host. It runs as you"),
        "{told}"
    );
    assert!(!told.contains("touches nothing"), "{told}");
}

//! Export: every event as it is, and a story that reads well and that nothing in it can break.

use std::collections::BTreeSet;

use protocol::event::CallChange;
use protocol::view::preview::{DiffLine, DiffLineKind, DiffLinePart, FileDiff, Hunk};
use protocol::{CallState, Event, EventBody, Preview, SessionId};
use record::ExportFormat;
use serde_json::json;

use crate::sample_events;
use crate::support::Desk;

fn edit_judged(call: &str) -> EventBody {
    let line = |kind, old, new, text: &str| DiffLine {
        kind,
        old,
        new,
        parts: vec![DiffLinePart {
            text: text.into(),
            changed: false,
            control: false,
        }],
        no_newline: false,
    };
    let mut body = sample_events::judged(call, "edit", "src/a.rs");
    let EventBody::Call {
        change: CallChange::Judged { preview, .. },
        ..
    } = &mut body
    else {
        panic!("a judgement");
    };
    *preview = Preview::Diff {
        files: vec![FileDiff {
            path: "src/a.rs".into(),
            exists: true,
            language: "rust".into(),
            added: 1,
            removed: 1,
            summary: Vec::new(),
            summary_more: 0,
            hunks: vec![Hunk {
                id: 0,
                old_start: 3,
                new_start: 3,
                section: "fn a()".into(),
                added: 1,
                removed: 1,
                lines: vec![
                    line(DiffLineKind::Context, Some(3), Some(3), "fn a() {"),
                    line(DiffLineKind::Removed, Some(4), None, "    1"),
                    line(DiffLineKind::Added, None, Some(4), "    2"),
                ],
            }],
            from: None,
            gone: false,
            cut: None,
        }],
    };
    body
}

fn told() -> Desk {
    let mut desk = Desk::new();
    desk.tell("ses_1", sample_events::opened("Fix *the* parser"));
    desk.tell(
        "ses_1",
        sample_events::said("m1", "Please fix it.\n```\nunclosed"),
    );
    desk.tell("ses_1", sample_events::turn(1, "m2"));
    desk.tell(
        "ses_1",
        sample_events::agent_said("m2", "I look first.", false),
    );
    desk.tell("ses_1", sample_events::turn_ended(1, "m2"));
    desk.tell(
        "ses_1",
        sample_events::proposed("c1", "edit", json!({ "path": "src/a.rs" })),
    );
    desk.tell("ses_1", edit_judged("c1"));
    desk.tell("ses_1", sample_events::waits("c1"));
    desk.tell("ses_1", sample_events::decided("c1", "good"));
    desk.tell("ses_1", sample_events::undo_prepared("c1", "und_1"));
    desk.tell("ses_1", sample_events::started("c1"));
    desk.tell(
        "ses_1",
        sample_events::ended("c1", CallState::Done, "See:\n```rust\nfn a()\n```"),
    );
    desk.tell("ses_2", sample_events::opened("Another"));
    desk.tell("ses_1", sample_events::noted("Slow \u{202e}provider."));
    desk
}

/// Whatever stands in a story, a browser that opens the page runs, loads and links nothing of it.
#[test]
fn as_a_page_that_runs_and_loads_nothing() {
    let mut desk = told();
    let hostile = "<script>alert(1)</script> <img src=x onerror=alert(1)>\n\n<style>main{display:none}</style>\n\n\
        [here](javascript:alert(1)) ![seen](https://tracker.example/a.png) <https://auto.example>\n\n</main></html>";
    desk.tell("ses_1", sample_events::said("m3", hostile));
    let session = "ses_1".into();
    let page = desk.record.export_session(&session, ExportFormat::Html);
    let page = page.unwrap();
    let (head, body) = page.split_once("<main>").unwrap();
    assert!(head.contains("default-src 'none'"), "{head}");
    assert!(head.contains("<title>Fix *the* parser</title>"), "{head}");
    let tags: BTreeSet<&str> = body
        .split('<')
        .skip(1)
        .filter_map(|rest| rest.split(['>', ' ']).next())
        .map(|tag| tag.trim_start_matches('/'))
        .collect();
    let expected = "blockquote body code h1 h2 html li main p pre span strong ul";
    let expected: BTreeSet<&str> = expected.split(' ').collect();
    assert!(tags.is_subset(&expected), "{tags:?}");
    for attribute in ["href=", " src=", "onerror=", "style="] {
        let within_tag = body.split('<').skip(1).any(|rest| {
            let tag = rest.split('>').next().unwrap_or_default();
            tag.contains(attribute)
        });
        assert!(!within_tag, "{attribute}: {body}");
    }
    assert!(body.contains("here (javascript:alert(1))"), "{body}");
    assert!(body.contains("Image: seen (https://tracker.example/a.png)"));
    assert!(body.contains("<span class=\"added\">+"), "{body}");
    assert_eq!(body.matches("</html>").count(), 1, "the page ends once");
}

#[test]
fn as_a_story() {
    let text = told()
        .record
        .export_session(&"ses_1".into(), ExportFormat::Markdown)
        .unwrap();
    let expected = r#"# Fix \*the\* parser

- Session: `ses_1`
- Workspace: `/home/ada/tidemark`
- Model: demo
- Opened: 1970-01-01 00:00:01 UTC
- State: idle
- Used: 1 turn, 100 tokens in, 10 tokens out, 0.2500 USD

## You · 1970-01-01 00:00:02 UTC

> Please fix it.
> ```
> unclosed

## Agent · 1970-01-01 00:00:03 UTC

> I look first.

## Edit `src/a.rs` · done · 1970-01-01 00:00:06 UTC

Why: Allowed, because it only reads.

```diff
--- src/a.rs
+++ src/a.rs
@@ -3,2 +3,2 @@ fn a()
 fn a() {
-    1
+    2
```

You allowed it · 1970-01-01 00:00:09 UTC

> good

Result: 23 bytes · 3 ms

````text
See:
```rust
fn a()
```
````

Undo: can be undone (`und_1`)

## Warning · 1970-01-01 00:00:14 UTC

> Slow U+202Eprovider.
"#;
    assert_eq!(text, expected);
}

#[test]
fn as_events() {
    let desk = told();
    let session = SessionId::from("ses_1");
    let text = desk
        .record
        .export_session(&session, ExportFormat::JsonLines)
        .unwrap();
    let events: Vec<Event> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events, desk.record.events(0, Some(&session), 99).unwrap());
    assert_eq!(events.len(), 13);
}

#[test]
fn formats_have_names_and_a_missing_session_is_empty() {
    assert_eq!(ExportFormat::parse("md"), Ok(ExportFormat::Markdown));
    assert_eq!(ExportFormat::parse("jsonl"), Ok(ExportFormat::JsonLines));
    assert_eq!(
        ExportFormat::parse("chunks"),
        Ok(ExportFormat::Vocabulary(
            protocol::mappers::Vocabulary::Chunks
        ))
    );
    assert!(
        ExportFormat::parse("pdf")
            .unwrap_err()
            .message
            .contains("pdf")
    );
    let desk = told();
    for format in [ExportFormat::Markdown, ExportFormat::JsonLines] {
        assert_eq!(
            desk.record.export_session(&"ses_9".into(), format).unwrap(),
            ""
        );
    }
}

/// A secret in the arguments of a call is in no export; everything else is.
#[test]
fn secrets_in_arguments_are_not_exported() {
    let mut desk = Desk::new();
    let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
    let content = format!("region = north\naws_secret_access_key = {secret}\n");
    let arguments = json!({ "path": "keys.ini", "content": content, "password": "hunter2" });
    desk.tell("ses_1", sample_events::opened("Keys"));
    desk.tell("ses_1", sample_events::turn(1, "m1"));
    desk.tell("ses_1", sample_events::proposed("c1", "write", arguments));
    desk.tell("ses_1", sample_events::judged("c1", "write", "keys.ini"));
    desk.tell(
        "ses_1",
        sample_events::ended("c1", CallState::Done, "Written."),
    );
    for name in [
        "md",
        "jsonl",
        "chat",
        "spans",
        "agent",
        "chunks",
        "tool-events",
    ] {
        let format = ExportFormat::parse(name).unwrap();
        let text = desk
            .record
            .export_session(&SessionId::from("ses_1"), format)
            .unwrap();
        assert!(
            !text.contains(secret) && !text.contains("hunter2"),
            "{name}: {text}"
        );
        assert!(
            !["md", "jsonl"].contains(&name) || text.contains("keys.ini"),
            "{name}: {text}"
        );
    }
}

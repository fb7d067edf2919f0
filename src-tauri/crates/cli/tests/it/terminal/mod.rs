//! `run` on a real terminal: what asks is asked there, and a key means what is shown.

use portable_pty::PtySize;

use self::pty::Terminal;
use crate::support::CliFixture;

pub mod pty;

/// Prompt that is written once a key counts.
const PROMPT: &str = "\n? ";

/// A script that calls a tool with each of these arguments, one a turn, and is done.
fn script(place: &CliFixture, calls: &[(&str, serde_json::Value)]) -> String {
    let mut turns: Vec<_> = calls
        .iter()
        .map(|(name, arguments)| {
            serde_json::json!({ "calls": [{ "name": name, "arguments": arguments }] })
        })
        .collect();
    turns.push(serde_json::json!({ "text": "All done." }));
    place.write_outside_file(
        "script.json",
        &serde_json::json!({ "turns": turns }).to_string(),
    )
}

/// Every call asks.
fn asking() -> CliFixture {
    let place = CliFixture::new();
    std::fs::create_dir_all(place.data()).unwrap();
    std::fs::write(
        place.data().join("settings.toml"),
        "ask_for_everything = true\n",
    )
    .unwrap();
    place.write_file("a.txt", "alpha\nbeta\n");
    place
}

fn edits() -> Vec<(&'static str, serde_json::Value)> {
    let edit = |old: &str, new: &str| serde_json::json!({ "path": "a.txt", "old_string": old, "new_string": new });
    vec![
        ("edit", edit("alpha", "omega")),
        ("edit", edit("beta", "gamma")),
    ]
}

/// The card in whole, and both answers. What was typed before a card was there is no answer to it, and Enter and Space
/// never are.
#[test]
fn a_card_is_answered_where_it_is_asked() {
    let place = asking();
    let script = script(&place, &edits());
    let mut terminal = Terminal::start(&place, &["run", "--script", &script, "Go."], &[]);
    terminal.press("yyyy\r y");
    let card = terminal.until(PROMPT);
    let (_, card) = card.split_once("◐ Waits for you\n").unwrap();
    let (card, keys) = card.split_once("\n\ny  allow").unwrap();
    assert_eq!(
        card,
        "\
│ Edit a.txt
│ edit · safe write
│ Needs approval: you want to approve everything.

│ @@ line 1 @@
│ - alpha
│ + omega
│   beta"
    );
    for key in ["\nn  reject", "\ne  edit", "\nd  details", "\nq  stop"] {
        assert!(keys.contains(key), "{keys}");
    }
    assert_eq!(place.read_file("a.txt").as_deref(), Some("alpha\nbeta\n"));
    // Nothing of this allows, and a paste is no press.
    terminal.press("\r \n \u{1b}[200~y\u{1b}[201~x");
    terminal.press("y");
    let story = terminal.until(PROMPT);
    assert!(
        story.starts_with("allow\n") && story.contains("✓ Edit a.txt"),
        "{story}"
    );
    assert_eq!(place.read_file("a.txt").as_deref(), Some("omega\nbeta\n"));
    terminal.press("n");
    let (code, rest) = terminal.end();
    assert!(
        rest.contains("You rejected it.") && rest.contains("All done."),
        "{rest}"
    );
    assert_eq!(place.read_file("a.txt").as_deref(), Some("omega\nbeta\n"));
    assert_eq!(code, 0, "{rest}");
}

#[test]
fn a_rejection_has_its_reason_and_may_stop_the_turn() {
    let place = asking();
    let script = script(&place, &edits());
    let run = ["run", "--script", &script, "Go."];
    let mut terminal = Terminal::start(&place, &run, &[]);
    terminal.until(PROMPT);
    terminal.press("m");
    terminal.until("because");
    terminal.press("not noww\u{7f}, later\r");
    let story = terminal.until(PROMPT);
    assert!(story.contains("You rejected it: not now, later"), "{story}");
    terminal.press("q");
    let (_, rest) = terminal.end();
    assert!(
        rest.contains("You rejected it and stopped the turn."),
        "{rest}"
    );
    assert!(!rest.contains("All done."), "{rest}");
    assert_eq!(place.read_file("a.txt").as_deref(), Some("alpha\nbeta\n"));
}

#[test]
fn arguments_are_edited_in_the_persons_editor() {
    let place = asking();
    let script = script(&place, &edits()[..1]);
    let sed = place.write_outside_file("edit.sh", "sed -i s/omega/delta/ \"$1\"\n");
    let editor = format!("sh '{sed}'");
    let env = [("EDITOR", editor.as_str())];
    let mut terminal = Terminal::start(&place, &["run", "--script", &script, "Go."], &env);
    terminal.until(PROMPT);
    terminal.press("e");
    let card = terminal.until(PROMPT);
    assert!(card.contains("│ + delta"), "{card}");
    terminal.press("y");
    let (code, rest) = terminal.end();
    assert_eq!(
        (code, place.read_file("a.txt").as_deref()),
        (0, Some("delta\nbeta\n")),
        "{rest}"
    );
}

/// A card that is too long for the terminal is allowed once all of it was shown.
#[test]
fn what_was_not_shown_is_not_allowed() {
    let place = asking();
    let lines: String = (0..200).map(|n| format!("line {n}\n")).collect();
    let write = serde_json::json!({ "path": "new.txt", "content": lines });
    let script = script(&place, &[("write", write)]);
    let env = [("PAGER", "cat")];
    let mut terminal = Terminal::start(&place, &["run", "--script", &script, "Go."], &env);
    let card = terminal.until(PROMPT);
    assert!(card.contains("more lines: d shows all of it"), "{card}");
    assert!(!card.contains("line 199"), "{card}");
    terminal.press("y");
    let told = terminal.until(PROMPT);
    assert!(told.contains("lines were not shown yet"), "{told}");
    assert_eq!(place.read_file("new.txt"), None);
    terminal.press("d");
    let whole = terminal.until(PROMPT);
    assert!(
        whole.contains("│ + line 199") && whole.contains("│ mode"),
        "{whole}"
    );
    terminal.press("y");
    let (_, rest) = terminal.end();
    assert_eq!(place.read_file("new.txt"), Some(lines), "{rest}");
}

/// Text of the agent can neither move the cursor nor look like a line of ours.
#[test]
fn foreign_text_cannot_speak_to_the_terminal() {
    let place = asking();
    let long = " ".repeat(96);
    let content = format!("\u{1b}[2J\u{202e}\r\n{long}y  allow\n◐ Waits for you\n? ");
    let write = serde_json::json!({ "path": "new.txt", "content": content });
    let script = script(&place, &[("write", write)]);
    let mut terminal = Terminal::start(&place, &["run", "--script", &script, "Go."], &[]);
    let card = terminal.until("\ny  allow");
    assert!(card.contains("U+001B[2JU+202E"), "{card}");
    let (_, card) = card.split_once("◐ Waits for you\n").unwrap();
    assert!(
        !card.contains(['\u{202e}', '\u{9b}']) && !card.contains("\u{1b}[2J"),
        "{card:?}"
    );
    assert!(
        card.lines()
            .all(|line| line.is_empty() || line.starts_with('│') || line == "y  allow"),
        "{card}"
    );
    terminal.until(PROMPT);
    terminal.press("n");
    terminal.end();
}

#[test]
fn a_rule_may_go_along_with_an_answer() {
    let place = CliFixture::new();
    let call = |n: usize| {
        (
            "bash",
            serde_json::json!({ "command": format!("echo{}", " 1".repeat(n)) }),
        )
    };
    let script = script(&place, &[call(1), call(2)]);
    let mut terminal = Terminal::start(&place, &["run", "--script", &script, "Go."], &[]);
    let card = terminal.until(PROMPT);
    assert!(
        card.contains("│ Run echo 1") && card.contains("\na  always…"),
        "{card}"
    );
    terminal.press("a");
    let offered = terminal.until("(Esc for none)? ");
    let number = offered
        .lines()
        .find(|line| line.contains("`echo 1*`") && line.contains("in this session"))
        .and_then(|line| line.chars().next());
    terminal.press(&number.unwrap_or_else(|| panic!("{offered}")).to_string());
    let told = terminal.until("do not: ");
    assert!(told.contains("from now on in this session"), "{told}");
    terminal.press("y");
    let (code, rest) = terminal.end();
    assert!(
        rest.contains("✓ Run echo 1 1") && !rest.contains("Waits for you"),
        "{rest}"
    );
    assert_eq!(code, 0, "{rest}");
}

/// `S002-105`: at a terminal the questions are a form to fill in.
#[test]
fn questions_are_answered_there() {
    let place = CliFixture::new();
    let questions = serde_json::json!({ "questions": [
        { "question": "Which colour?", "options": [{ "label": "red" }, { "label": "green" }] },
        { "question": "Why?" },
    ]});
    let script = script(
        &place,
        &[("question", questions.clone()), ("question", questions)],
    );
    let mut terminal = Terminal::start(&place, &["run", "--script", &script, "Go."], &[]);
    let asked = terminal.until("skips all): ");
    assert!(
        asked.contains("│ Which colour?\n│  1  red\n│  2  green\n"),
        "{asked}"
    );
    terminal.press("7\r");
    terminal.until("There is no 7.");
    terminal.until("skips all): ");
    terminal.press("2\r");
    terminal.until("skips all): ");
    terminal.press("it is calm\r");
    terminal.until("You answered: green; it is calm");
    terminal.until("skips all): ");
    terminal.press("\u{1b}");
    let (_, rest) = terminal.end();
    assert!(rest.contains("You did not answer."), "{rest}");
}

/// A card goes away when what it would change changes; the new one must be seen anew.
#[test]
fn a_card_that_changes_is_shown_anew() {
    let place = asking();
    let script = script(&place, &edits()[..1]);
    let mut terminal = Terminal::start(&place, &["run", "--script", &script, "Go."], &[]);
    terminal.until(PROMPT);
    place.write_file("a.txt", "alpha\nelse\n");
    let card = terminal.until(PROMPT);
    assert!(card.contains("│ ! The file changed"), "{card}");
    assert!(card.contains("│   else"), "{card}");
    terminal.press("y");
    let (_, rest) = terminal.end();
    assert_eq!(
        place.read_file("a.txt").as_deref(),
        Some("omega\nelse\n"),
        "{rest}"
    );
}

#[test]
fn another_size_draws_the_card_again() {
    let place = asking();
    let script = script(&place, &edits()[..1]);
    let mut terminal = Terminal::start(&place, &["run", "--script", &script, "Go."], &[]);
    terminal.until(PROMPT);
    let size = PtySize {
        rows: 20,
        cols: 40,
        ..PtySize::default()
    };
    terminal.master.resize(size).unwrap();
    let card = terminal.until(PROMPT);
    let (_, card) = card.split_once("◐ Waits for you\n").unwrap();
    let bars = card.lines().filter(|line| line.starts_with('│'));
    let widest = bars.map(|line| line.chars().count()).max();
    assert!(widest <= Some(40) && card.contains("│ - alpha"), "{card}");
    terminal.press("n");
    terminal.end();
}

/// Ctrl C on a card stops the run, and the terminal is as it was before.
#[test]
fn the_keyboard_stops_a_run_that_asks() {
    let place = asking();
    let script = script(&place, &edits());
    let mut terminal = Terminal::start(&place, &["run", "--script", &script, "Go."], &[]);
    terminal.until(PROMPT);
    terminal.press("\u{3}");
    let (code, rest) = terminal.end();
    assert_eq!(code, 130, "{rest}");
    assert!(rest.contains("Interrupted"), "{rest:?}");
    assert_eq!(
        place.run_json(&["sessions"])["sessions"][0]["state"],
        "interrupted"
    );
    assert_eq!(place.read_file("a.txt").as_deref(), Some("alpha\nbeta\n"));
}

/// A run with the option, or without a terminal, asks nobody.
#[test]
fn nobody_is_asked_where_that_is_said() {
    for (args, env) in [
        (&["--headless"][..], &[][..]),
        (&["--json"], &[]),
        (&[], &[("CI", "true")]),
        (&[], &[("TERM", "dumb")]),
    ] {
        let place = asking();
        let script = script(&place, &edits()[..1]);
        let run = [&["run", "--script", &script, "Go."], args].concat();
        let (code, told) = Terminal::start(&place, &run, env).end();
        assert!(!told.contains("Waits for you"), "{args:?} {env:?}: {told}");
        assert_eq!(code, 3, "{args:?} {env:?}: {told}");
        assert_eq!(place.read_file("a.txt").as_deref(), Some("alpha\nbeta\n"));
    }
}

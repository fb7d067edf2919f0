//! Describes the parts of a command for the person: the facts that the rules look at, in words.

use policy::shell::{self, CommandOrigin, RedirectKind, ShellWord, SimpleCommand};
use protocol::view::preview::CommandFact;

use crate::limits::COMMAND_FACTS_MAX;
use crate::text::escape_invisible;

/// Label of the reason why no rule may allow a command.
const UNCOVERED_REASON: &str = "no rule allows";

/// Describes the facts in the order of the command, then the reason why no rule may allow it.
pub(in crate::builtin) fn describe_command(command: &str) -> Vec<CommandFact> {
    if command.trim().is_empty() {
        return Vec::new();
    }
    let parsed = shell::parse_command(command);
    let mut facts: Vec<CommandFact> = parsed
        .commands
        .iter()
        .flat_map(simple_command_facts)
        .collect();
    let more = facts.len().saturating_sub(COMMAND_FACTS_MAX);
    facts.truncate(COMMAND_FACTS_MAX);
    if more > 0 {
        facts.push(new_fact(
            UNCOVERED_REASON,
            &format!("{more} more parts are not listed."),
        ));
    }
    facts.extend(
        parsed
            .unsure_reasons
            .iter()
            .map(|reason| new_fact(UNCOVERED_REASON, reason)),
    );
    facts
}

fn simple_command_facts(command: &SimpleCommand) -> Vec<CommandFact> {
    let assignments = command.assignments.iter().map(|set| {
        let value = quote_word(&set.value);
        new_fact("assignment", &format!("{}={value}", set.name))
    });
    let program = (!command.words.is_empty()).then(|| {
        let words: Vec<String> = command.words.iter().map(quote_word).collect();
        new_fact(&describe_via(&command.via), &words.join(" "))
    });
    let redirects = command
        .redirects
        .iter()
        .filter(|redirect| !redirect.is_neutral);
    let redirects = redirects.filter_map(|redirect| {
        let operator = match redirect.kind {
            RedirectKind::Read => "<",
            RedirectKind::Write => ">",
            RedirectKind::Append => ">>",
            RedirectKind::ReadWrite => "<>",
            RedirectKind::Duplicate => ">&",
            RedirectKind::HereString => "<<<",
            // Its text stands in the command, and what a shell makes of it is a command of its own.
            RedirectKind::HereDoc => return None,
        };
        Some(new_fact(
            "redirect",
            &format!("{operator} {}", quote_word(&redirect.target)),
        ))
    });
    assignments.chain(program).chain(redirects).collect()
}

fn describe_via(via: &CommandOrigin) -> String {
    match via {
        CommandOrigin::Plain | CommandOrigin::ControlFlow => "program".to_owned(),
        CommandOrigin::Function => "function".to_owned(),
        CommandOrigin::Substitution => "substitution".to_owned(),
        CommandOrigin::Wrapper(program) => format!("through {program}"),
        CommandOrigin::Script => "script".to_owned(),
    }
}

/// Formats a word so that a shell would read it back the same: decoded, and quoted only where needed.
fn quote_word(word: &ShellWord) -> String {
    let text = match word {
        ShellWord::Dynamic(raw) => return raw.clone(),
        ShellWord::Literal(text) => text,
    };
    let plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%^".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.clone(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// Creates a fact without a verdict, with hidden characters escaped.
pub(crate) fn new_fact(what: &str, text: &str) -> CommandFact {
    CommandFact {
        what: escape_invisible(what),
        text: escape_invisible(text),
        verdict: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_in_a_command() {
        for (command, expected) in [
            ("git status -s", "program git status -s"),
            (
                "npm test 2>&1 | tail -n 20 > out.txt",
                "program npm test; program tail -n 20; redirect > out.txt; no rule allows It writes to `out.txt`.",
            ),
            (
                "make && run || echo \"no luck\"",
                "program make; program run; program echo 'no luck'",
            ),
            (
                "sort < in >> out",
                "program sort; redirect < in; redirect >> out; no rule allows It reads from `in`.",
            ),
            (
                "r\\m x",
                "program rm x; no rule allows `rm` is not a bare program name.",
            ),
            ("ls\nrm x", "program ls; program rm x"),
            (
                "sudo rm -rf build",
                "through sudo rm -rf build; program sudo rm -rf build; no rule allows `sudo` runs what its arguments say.",
            ),
            (
                "rm -rf *.o",
                "program rm -rf *.o; no rule allows `*.o` is only known when it runs.",
            ),
            ("", ""),
            ("   ", ""),
        ] {
            assert_eq!(format_facts(command), expected, "{command}");
        }
    }

    #[test]
    fn what_runs_inside_is_told_and_so_is_what_is_open() {
        for (command, parts) in [
            ("echo $(rm -rf x)", &["substitution rm -rf x"][..]),
            ("bash -c 'rm x'", &["script rm x"]),
            (
                "f() { rm x; }; f",
                &["function rm x", "no rule allows It defines a function."],
            ),
            ("if true; then ls; fi", &["program true", "program ls"]),
            ("A=1 cargo test", &["assignment A=1", "program cargo test"]),
            (
                "sleep 9 & echo x",
                &["no rule allows `&` lets it run in the background."],
            ),
            (
                "$EDITOR x",
                &[
                    "program $EDITOR x",
                    "no rule allows `$EDITOR` is only known when it runs.",
                ],
            ),
            (
                "echo 'open",
                &["no rule allows It cannot be read for sure."],
            ),
            ("ls \u{202e}x", &["program ls 'U+202Ex'"]),
        ] {
            let text = format_facts(command);
            for part in parts {
                assert!(text.contains(part), "{command}: {text}");
            }
        }
    }

    fn format_facts(command: &str) -> String {
        let facts = describe_command(command);
        let facts: Vec<String> = facts
            .iter()
            .map(|fact| format!("{} {}", fact.what, fact.text))
            .collect();
        facts.join("; ")
    }

    #[test]
    fn many_parts_are_bounded() {
        let facts = describe_command(&"a;".repeat(500));
        assert_eq!(
            facts[COMMAND_FACTS_MAX].text,
            "436 more parts are not listed."
        );
    }
}

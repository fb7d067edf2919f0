//! What a rule for a call could name, from the parsed call: the narrowest first.

use protocol::{Action, At, Capability, Digest, Fact, ToolMode, Verdict};

use super::spell;
use crate::judge::Request;
use crate::limits::PATTERN_BYTES_MAX;
use crate::rules::{Seen, Subject};
use crate::watchdog;

/// A rule that could be offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub permission: String,
    pub pattern: Option<String>,
    /// What it covers, in one line.
    pub words: String,
    /// The very call that it is for, if it is for no other.
    pub exactly: Option<Digest>,
}

/// The very call, although its watchdogs ask.
pub(super) fn exactly(request: &Request<'_>) -> Option<Candidate> {
    let call = request.facts.exactly()?.clone();
    let reasons = watchdog::lasting(request.alarms).join(" ");
    Some(Candidate {
        exactly: Some(call),
        ..candidate(
            request,
            None,
            format!("exactly this call, although: {reasons}"),
        )
    })
}

/// Everything that could be named for this call.
pub(super) fn of(request: &Request<'_>, action: Action) -> Vec<Candidate> {
    let declared: Vec<&Fact> = request
        .facts
        .all()
        .iter()
        .filter(|fact| !fact.derived)
        .collect();
    let all = |capability: fn(Capability) -> bool| {
        !declared.is_empty() && declared.iter().all(|fact| capability(fact.capability))
    };
    let mut found = match () {
        () if all(|one| one == Capability::ShellRun) => commands(request, action),
        () if all(is_path) => paths(request, &declared),
        () if all(|one| one == Capability::NetFetch) => hosts(request, &declared),
        () if declared.is_empty() => mentioned(request),
        () => Vec::new(),
    };
    found.retain(|one| {
        one.pattern.as_deref().is_none_or(|pattern| {
            pattern.len() <= PATTERN_BYTES_MAX && crate::path::doubt(pattern).is_none()
        })
    });
    found
}

fn is_path(capability: Capability) -> bool {
    match capability {
        Capability::FsRead | Capability::FsWrite | Capability::FsDelete => true,
        Capability::NetFetch | Capability::ShellRun => false,
    }
}

fn candidate(request: &Request<'_>, pattern: Option<String>, words: String) -> Candidate {
    Candidate {
        permission: request.tool.to_owned(),
        pattern,
        words,
        exactly: None,
    }
}

fn tool_alone(request: &Request<'_>) -> Candidate {
    let words = format!("every call of `{}`, whatever its arguments", request.tool);
    candidate(request, None, words)
}

/// What the arguments of somebody else's tool name, if that is one path or one host; then the tool, whatever its arguments.
fn mentioned(request: &Request<'_>) -> Vec<Candidate> {
    let facts: Vec<&Fact> = request.facts.all().iter().collect();
    let mut reals: Vec<&str> = facts.iter().map(|fact| fact.real.as_str()).collect();
    reals.sort_unstable();
    reals.dedup();
    let all = |of: fn(Capability) -> bool| facts.iter().all(|fact| of(fact.capability));
    let mut found = match reals.as_slice() {
        [real] if !real.is_empty() && all(is_path) => one_path(request, real),
        [real] if !real.is_empty() && all(|one| one == Capability::NetFetch) => vec![candidate(
            request,
            Some((*real).to_owned()),
            format!("`{}` alone", crate::rules::quoted(real)),
        )],
        _ => arguments(request),
    };
    found.push(tool_alone(request));
    found
}

/// Of so many arguments each is offered.
const ARGUMENTS_MAX: usize = 3;
/// So long is a value that is offered, in bytes.
const ARGUMENT_BYTES_MAX: usize = 80;

/// The arguments that are single words, each alone.
fn arguments(request: &Request<'_>) -> Vec<Candidate> {
    let all = request.facts.arguments().unwrap_or_default().iter();
    let named = all.filter_map(|argument| {
        let value = argument.text.as_deref()?;
        let is_word = !value.is_empty() && !value.contains(char::is_whitespace);
        let pattern = crate::pattern::argument::exactly(&argument.name, value)?;
        (is_word && value.len() <= ARGUMENT_BYTES_MAX).then(|| {
            let name = &argument.name;
            let words = format!(
                "every call whose `{name}` is `{}`",
                crate::rules::quoted(value)
            );
            candidate(request, Some(pattern), words)
        })
    });
    named.take(ARGUMENTS_MAX).collect()
}

/// One path, then its folder.
fn one_path(request: &Request<'_>, real: &str) -> Vec<Candidate> {
    let mut found = vec![candidate(
        request,
        Some(spell::path(real)),
        format!("`{}` alone", crate::rules::quoted(real)),
    )];
    if let Some((folder, _)) = real
        .rsplit_once('/')
        .filter(|(folder, _)| !folder.is_empty())
    {
        found.push(candidate(
            request,
            Some(format!("{}/**", spell::path(folder))),
            format!("everything in `{}/`", crate::rules::quoted(folder)),
        ));
    }
    found
}

/// Of so many commands a denial is offered each.
const DENIED_MAX: usize = 4;

/// Programs that are seldom what somebody wants to deny: they stand around the one that matters.
const QUIET: &[&str] = &[
    "cd", "pushd", "popd", "ls", "cat", "echo", "printf", "pwd", "true", "false", ":", "test", "[",
    "export", "set", "unset", "head", "tail", "grep", "wc", "sort", "sleep", "which", "mkdir",
    "exit", "wait",
];

/// One rule speaks of one simple command: the only one that no rule allows yet, or each of those that could be denied.
fn commands(request: &Request<'_>, action: Action) -> Vec<Candidate> {
    let subjects = Subject::all(request.tool, request.classified.mode, request.facts);
    let all = subjects
        .iter()
        .filter(|subject| !subject.tightens)
        .filter_map(|subject| match &subject.seen {
            Seen::Command { words, .. } if !words.is_empty() => Some((subject, words)),
            Seen::Command { .. }
            | Seen::Whole { .. }
            | Seen::Path(_)
            | Seen::Effect(_)
            | Seen::Host(_)
            | Seen::Came(_) => None,
        });
    match action {
        Action::Allow => {
            let mut open = all.filter(|(subject, _)| !is_allowed(request, subject));
            match (open.next(), open.next()) {
                (Some((_, only)), None) => patterns(request, action, only),
                _ => Vec::new(),
            }
        }
        Action::Ask | Action::Deny => {
            let mut parts: Vec<_> = all.collect();
            // What most likely is meant comes first.
            parts.sort_by_key(|(subject, words)| {
                (
                    is_allowed(request, subject),
                    QUIET.contains(&words[0].as_str()),
                )
            });
            parts
                .into_iter()
                .take(DENIED_MAX)
                .flat_map(|(_, words)| patterns(request, action, words))
                .collect()
        }
    }
}

/// What could be named of one simple command.
fn patterns(request: &Request<'_>, action: Action, words: &[String]) -> Vec<Candidate> {
    let shown = |words: &[String]| crate::rules::quoted(&words.join(" "));
    let mut found = vec![candidate(
        request,
        Some(spell::command(words)),
        format!("exactly `{}`", shown(words)),
    )];
    for prefix in prefixes(words) {
        found.push(candidate(
            request,
            Some(match action {
                Action::Allow => spell::command_and_more(prefix),
                // Glued to its last word a deny would go on within it.
                Action::Ask | Action::Deny => format!("{} *", spell::command(prefix)),
            }),
            format!("`{}`, then the end or more words", shown(prefix)),
        ));
    }
    found
}

fn is_allowed(request: &Request<'_>, subject: &Subject<'_>) -> bool {
    let said = request.rules.said(subject, now(request), Verdict::Ask);
    said.verdict == Some(Verdict::Allow)
}

fn now(request: &Request<'_>) -> At {
    request.now
}

/// The beginnings that a rule may leave open: never the program alone.
fn prefixes(words: &[String]) -> Vec<&[String]> {
    let mut found = Vec::new();
    if words.len() >= 2 {
        found.push(words);
    }
    // Up to the last word that names what is worked on, and up to the sub-command.
    let is_name = |word: &String| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'))
    };
    if words.len() > 2 && is_name(&words[1]) {
        let named = words.iter().take_while(|word| is_name(word)).count();
        if named > 2 && named < words.len() {
            found.push(&words[..named]);
        }
        found.push(&words[..2]);
    }
    found
}

/// One path, then its folder, then the tool wherever it works, where what it does can be seen and bounded.
fn paths(request: &Request<'_>, declared: &[&Fact]) -> Vec<Candidate> {
    let mut reals: Vec<&str> = declared.iter().map(|fact| fact.real.as_str()).collect();
    reals.dedup();
    let whole = candidate(
        request,
        None,
        format!("every call of `{}` in the workspace", request.tool),
    );
    let mut found = Vec::new();
    if let [real] = reals.as_slice()
        && declared.iter().all(|fact| fact.inside)
        && !real.is_empty()
    {
        found.extend(one_path(request, real));
    }
    match request.classified.mode {
        Some(ToolMode::Read | ToolMode::SafeWrite) => found.push(whole),
        // What takes something away, or is of no known kind, is not granted as a whole.
        Some(ToolMode::Destructive | ToolMode::Local | ToolMode::External) | None => {}
    }
    found
}

/// The one host.
fn hosts(request: &Request<'_>, declared: &[&Fact]) -> Vec<Candidate> {
    match declared {
        [one] if one.real.is_empty() => vec![tool_alone(request)],
        [one] => vec![candidate(
            request,
            Some(one.real.clone()),
            format!("`{}` alone", crate::rules::quoted(&one.real)),
        )],
        _ => Vec::new(),
    }
}

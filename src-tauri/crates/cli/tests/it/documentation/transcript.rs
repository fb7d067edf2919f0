//! A console block as commands, each with what it prints.

/// A command and its output.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ShellStep {
    pub(super) command: String,
    /// In the output `…` stands for what varies: a line of its own for any number of lines.
    pub(super) output: Vec<String>,
}

/// Takes a block apart: `$ ` begins a command, `> ` goes on with it, all else is output.
pub(super) fn parse_steps(text: &str) -> Vec<ShellStep> {
    let mut steps: Vec<ShellStep> = Vec::new();
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(ShellStep {
                command: command.to_owned(),
                output: Vec::new(),
            });
            continue;
        }
        let step = steps.last_mut();
        let step = step.unwrap_or_else(|| panic!("`{line}` stands before any command"));
        match line.strip_prefix("> ").filter(|_| step.output.is_empty()) {
            Some(more) => {
                step.command.push('\n');
                step.command.push_str(more);
            }
            None => step.output.push(line.trim_end().to_owned()),
        }
    }
    for step in &mut steps {
        trim_empty_end(&mut step.output);
    }
    steps
}

/// The lines of an output without the spaces and the empty lines at their ends.
pub(super) fn split_output(output: &str) -> Vec<String> {
    let mut lines: Vec<String> = output
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    trim_empty_end(&mut lines);
    lines
}

fn trim_empty_end(lines: &mut Vec<String>) {
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
}

/// Whether an output is what is expected, where `…` stands for anything.
pub(super) fn matches_output(expected: &[String], output: &[String]) -> bool {
    match expected.split_first() {
        None => output.is_empty(),
        Some((first, rest)) if first == "…" => {
            (0..=output.len()).any(|skipped| matches_output(rest, &output[skipped..]))
        }
        Some((first, rest)) => output.split_first().is_some_and(|(line, others)| {
            matches_line(first, line) && matches_output(rest, others)
        }),
    }
}

fn matches_line(expected: &str, line: &str) -> bool {
    match expected.split_once('…') {
        None => expected == line,
        Some((before, after)) => line.strip_prefix(before).is_some_and(|rest| {
            let mut ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            ends.any(|at| matches_line(after, &rest[at..]))
        }),
    }
}

#[test]
fn an_ellipsis_stands_for_what_varies() {
    let lines = |text: &str| text.lines().map(String::from).collect::<Vec<_>>();
    for (expected, output, is_match) in [
        ("a\nb", "a\nb", true),
        ("a\nb", "a\nc", false),
        ("a", "a\nb", false),
        ("a … c", "a b c", true),
        ("a … c", "a b d", false),
        ("…s", "is this", true),
        ("a\n…", "a\nb\nc", true),
        ("…\nc", "a\nb\nc", true),
        ("…\nd", "a\nb\nc", false),
        ("…", "", true),
    ] {
        let found = matches_output(&lines(expected), &lines(output));
        assert_eq!(found, is_match, "{expected:?} and {output:?}");
    }
}

#[test]
fn a_block_is_commands_with_their_output() {
    let step = |command: &str, output: &[&str]| ShellStep {
        command: command.to_owned(),
        output: output.iter().map(|line| (*line).to_owned()).collect(),
    };
    assert_eq!(
        parse_steps("$ echo a\na\n\n$ cat <<E\n> b\n> E\nb\n> c\n"),
        [step("echo a", &["a"]), step("cat <<E\nb\nE", &["b", "> c"])]
    );
}

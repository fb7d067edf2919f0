//! The command as it is parsed and documented: with examples in the help of every verb.

use clap::{Command, CommandFactory};

use super::CliArgs;

/// The path of every verb, as it is typed, and below it, indented, what to type. Every example is parsed by a test.
const EXAMPLES: &str = include_str!("examples.txt");

/// The settings that a client needs, shown beside an example.
const CLIENT_EXAMPLE: &str = r#"In a client's settings (Claude Desktop, Cursor and others; VS Code says `servers` in the place of `mcpServers`):
  { "mcpServers": { "countersign": {
      "command": "countersign",
      "args": ["gateway", "mcp", "--workspace", "/home/me/project"] } } }

With Claude Code:  claude mcp add countersign -- countersign gateway mcp --workspace /home/me/project
With Codex:        codex mcp add countersign -- countersign gateway mcp --workspace /home/me/project

Most clients start servers with few variables: name another data folder with --data-dir, not with COUNTERSIGN_DATA_DIR."#;

/// The command with all of its verbs, their examples and summaries of one sentence.
pub(crate) fn build_command() -> Command {
    CliArgs::command().mut_subcommands(|verb| add_examples(verb, ""))
}

fn add_examples(command: Command, above: &str) -> Command {
    let path = format!("{above} {}", command.get_name());
    let path = path.trim().to_owned();
    let examples = find_examples(&path);
    let mut after: Vec<String> = Vec::new();
    if !examples.is_empty() {
        after.push(format!("Examples:\n{}", examples.join("\n")));
    }
    if path == "gateway mcp" {
        after.push(CLIENT_EXAMPLE.to_owned());
    }
    shorten_about(command, &path)
        .after_help(after.join("\n\n"))
        .mut_subcommands(|verb| add_examples(verb, &path))
}

/// Longest summary of a command in a list, in characters.
const SUMMARY_CHARS_MAX: usize = 62;

/// Summaries of commands whose own first sentence is too long for a list.
const SUMMARIES: [(&str, &str); 9] = [
    (
        "history gc",
        "Drop what is too old or too much by the settings",
    ),
    (
        "apis approve",
        "Read the document of one again, and approve what changed",
    ),
    (
        "servers approve",
        "Start one, show which of its tools changed, and approve them",
    ),
    (
        "servers import",
        "Show the servers that other products are set up with",
    ),
    ("servers sandbox", "Run one in a sandbox, or as you again"),
    ("servers secret", "Put a secret into the system keychain"),
    ("sessions restore", "Put sessions back among the others"),
    ("config edit", "Open the settings in $VISUAL or $EDITOR"),
    ("keys set", "Put a provider's key into the keychain"),
];

/// The command whose summary in a list is the first sentence of what it says of itself, or one of its own where that is too long.
/// Its own help has all of it.
fn shorten_about(command: Command, path: &str) -> Command {
    let Some(about) = command.get_about().map(ToString::to_string) else {
        return command;
    };
    if command.get_long_about().is_some() || about.chars().count() <= SUMMARY_CHARS_MAX {
        return command;
    }
    let is_short = |text: &&str| text.chars().count() <= SUMMARY_CHARS_MAX;
    let ends = [". ", "; ", ": "];
    let own = SUMMARIES.iter().find(|(verb, _)| *verb == path);
    let own = own.map(|(_, summary)| *summary);
    let parts = ends.iter().filter_map(|end| about.split_once(end));
    let summary = own.or_else(|| parts.map(|(part, _)| part).find(is_short));
    let summary = summary.unwrap_or(&about).to_owned();
    command.about(summary).long_about(format!("{about}."))
}

/// Returns the examples of a verb, as indented lines.
fn find_examples(path: &str) -> Vec<&'static str> {
    let below = EXAMPLES.lines().skip_while(|line| *line != path).skip(1);
    below.take_while(|line| line.starts_with("  ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Widest line of a list of commands, in columns.
    const COLUMNS_MAX: usize = 80;

    /// Every command with its path.
    fn all(command: &Command, above: &str, found: &mut Vec<(String, Command)>) {
        for verb in command
            .get_subcommands()
            .filter(|verb| verb.get_name() != "help" && !verb.is_hide_set())
        {
            let path = format!("{above} {}", verb.get_name()).trim().to_owned();
            all(verb, &path, found);
            found.push((path, verb.clone()));
        }
    }

    fn verbs() -> Vec<(String, Command)> {
        let mut found = Vec::new();
        all(&build_command(), "", &mut found);
        found
    }

    #[test]
    fn every_verb_has_an_example_and_every_example_has_its_verb() {
        let verbs = verbs();
        let without: Vec<_> = verbs
            .iter()
            .filter(|(path, _)| find_examples(path).is_empty())
            .map(|(path, _)| path)
            .collect();
        assert_eq!(without, [""; 0], "these have none");
        for path in EXAMPLES.lines().filter(|line| !line.starts_with("  ")) {
            assert!(verbs.iter().any(|(verb, _)| verb == path), "no verb {path}");
            for example in find_examples(path) {
                assert!(
                    example.contains(&format!("countersign {path}"))
                        || verbs
                            .iter()
                            .any(|(verb, _)| verb.starts_with(&format!("{path} "))),
                    "{example} is no example of {path}"
                );
            }
        }
    }

    /// What a comma ends is no sentence.
    #[test]
    fn a_list_of_commands_has_whole_sentences() {
        let verbs = verbs();
        let about = |path: &str| {
            let (_, verb) = verbs.iter().find(|(verb, _)| verb == path).unwrap();
            verb.get_about().unwrap().to_string()
        };
        for (path, summary) in SUMMARIES {
            assert_eq!(about(path), summary, "{path}");
        }
        assert_eq!(
            about("servers"),
            "Set up, approve and switch other people's servers (MCP)"
        );
    }

    #[test]
    fn every_example_is_understood() {
        for example in EXAMPLES.lines().filter(|line| line.starts_with("  ")) {
            let line = example.trim_start().rsplit(" | ").next().unwrap();
            let line = line.split(['<', '>']).next().unwrap();
            let parsed = build_command().try_get_matches_from(words(line));
            assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
        }
    }

    /// The words of a line as a shell reads it, as far as the examples go: quotes and backslashes.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
        let mut letters = line.chars();
        while let Some(c) = letters.next() {
            match (c, quote) {
                (c, Some(open)) if c == open => quote = None,
                ('"' | '\'', None) => {
                    quote = Some(c);
                    word.get_or_insert_default();
                }
                ('\\', None | Some('"')) => word.get_or_insert_default().extend(letters.next()),
                (' ', None) => words.extend(word.take()),
                (c, _) => word.get_or_insert_default().push(c),
            }
        }
        words.extend(word);
        words
    }

    #[test]
    fn lists_of_commands_fit_into_eighty_columns() {
        for (path, mut verb) in verbs()
            .into_iter()
            .chain([(String::new(), build_command())])
        {
            if !verb.has_subcommands() {
                continue;
            }
            let help = verb.render_help().to_string();
            let (_, list) = help.split_once("Commands:\n").unwrap();
            let list = list.split("\n\n").next().unwrap();
            for line in list.lines() {
                let columns = line.chars().count();
                assert!(columns <= COLUMNS_MAX, "{path}: {columns}: {line}");
            }
        }
    }
}

//! The command as it is parsed and documented: with examples in the help of every verb.

use clap::{Command, CommandFactory};

use super::CliArgs;

/// Verbs, as they are typed, and what to type. Every verb has at least one example, and every example is parsed by a test.
const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "run",
        &[
            "countersign run \"Fix the failing test\"",
            "countersign run --provider anthropic --model claude-sonnet-4-5 \"Explain this folder\"",
            "git diff | countersign run --file - \"Review this change\"",
            "countersign run --continue \"Now add a test for it\"",
            "countersign run --headless --rules ci.toml --max-cost 0.5 --json \"Update the changelog\"",
        ],
    ),
    (
        "tools",
        &[
            "countersign tools",
            "countersign tools --workspace . --json",
        ],
    ),
    ("briefing", &["countersign briefing"]),
    (
        "call",
        &[
            "countersign call read '{\"path\":\"README.md\"}'",
            "countersign call write - < arguments.json",
            "countersign call bash '{\"command\":\"ls\"}' --approve-all --json",
        ],
    ),
    (
        "sessions",
        &[
            "countersign sessions",
            "countersign sessions --workspace . --limit 10",
            "countersign sessions close last",
        ],
    ),
    (
        "sessions close",
        &[
            "countersign sessions close last",
            "countersign sessions close 9f3a 77c1",
        ],
    ),
    (
        "show",
        &[
            "countersign show last",
            "countersign show 9f3a --call 51ce",
            "countersign show last --json",
        ],
    ),
    (
        "search",
        &[
            "countersign search borrow checker",
            "countersign search tool:bash state:denied after:2026-11-01",
        ],
    ),
    (
        "export",
        &[
            "countersign export last > session.md",
            "countersign export 9f3a --format jsonl",
        ],
    ),
    (
        "dry-run",
        &[
            "countersign dry-run -- 'make clean'",
            "countersign dry-run --commit -- cargo fmt",
            "countersign dry-run --allow-host packages.example -- npm install",
        ],
    ),
    ("doctor", &["countersign doctor"]),
    (
        "history",
        &[
            "countersign history --workspace .",
            "countersign history gc",
        ],
    ),
    ("history gc", &["countersign history gc"]),
    (
        "undo",
        &[
            "countersign undo --look",
            "countersign undo 9f3a",
            "countersign undo --to 9f3a --keep notes.md",
        ],
    ),
    ("redo", &["countersign redo", "countersign redo 9f3a"]),
    ("apis", &["countersign apis list"]),
    ("apis list", &["countersign apis list --json"]),
    (
        "apis add",
        &[
            "countersign apis add weather https://weather.example/openapi.json --token 'key=${WEATHER_KEY}'",
        ],
    ),
    ("apis enable", &["countersign apis enable weather"]),
    ("apis disable", &["countersign apis disable weather"]),
    ("apis approve", &["countersign apis approve weather"]),
    ("apis remove", &["countersign apis remove weather"]),
    ("servers", &["countersign servers list"]),
    ("servers list", &["countersign servers list --json"]),
    (
        "servers add",
        &[
            "countersign servers add files -- npx -y @modelcontextprotocol/server-filesystem .",
            "countersign servers add notes --sandbox . --allow-host notes.example -- notes-mcp",
            "countersign servers add tracker --url https://tracker.example/mcp --header 'Authorization=keychain:tracker'",
        ],
    ),
    (
        "servers sandbox",
        &[
            "countersign servers sandbox files . --allow-host api.example.com",
            "countersign servers sandbox files --leave",
        ],
    ),
    (
        "servers import",
        &[
            "countersign servers import",
            "countersign servers import --add files",
        ],
    ),
    ("servers enable", &["countersign servers enable files"]),
    ("servers disable", &["countersign servers disable files"]),
    ("servers approve", &["countersign servers approve files"]),
    ("servers restart", &["countersign servers restart files"]),
    ("servers sign-in", &["countersign servers sign-in tracker"]),
    (
        "servers sign-out",
        &["countersign servers sign-out tracker"],
    ),
    (
        "servers prompts",
        &["countersign servers prompts tracker review branch=main"],
    ),
    (
        "servers resources",
        &["countersign servers resources tracker"],
    ),
    ("servers logs", &["countersign servers logs files"]),
    ("servers remove", &["countersign servers remove files"]),
    (
        "servers secret",
        &["countersign servers secret tracker < token.txt"],
    ),
    (
        "gateway",
        &["countersign gateway mcp --workspace /home/me/project"],
    ),
    (
        "gateway mcp",
        &["countersign gateway mcp --workspace /home/me/project"],
    ),
    (
        "policy",
        &["countersign policy explain bash '{\"command\":\"git push\"}'"],
    ),
    (
        "policy check",
        &["countersign policy check --rules rules.toml --headless < calls.jsonl"],
    ),
    (
        "policy explain",
        &["countersign policy explain bash '{\"command\":\"git push\"}'"],
    ),
    (
        "policy trust",
        &[
            "countersign policy trust",
            "countersign policy trust --revoke",
        ],
    ),
    (
        "policy backtest",
        &["countersign policy backtest --rule 'allow bash cargo test*'"],
    ),
    (
        "policy import",
        &["countersign policy import --from claude-code --write user .claude/settings.json"],
    ),
    ("policy grants", &["countersign policy grants"]),
    (
        "policy grants revoke",
        &["countersign policy grants revoke 9f3a"],
    ),
    (
        "policy lint",
        &["countersign policy lint .countersign/rules.toml"],
    ),
    (
        "config",
        &[
            "countersign config get",
            "countersign config set model.provider anthropic",
        ],
    ),
    (
        "config get",
        &[
            "countersign config get",
            "countersign config get limits.turns",
        ],
    ),
    (
        "config set",
        &[
            "countersign config set model '{ provider = \"anthropic\", model = \"claude-sonnet-4-5\" }'",
            "countersign config set limits.turns 50",
            "countersign config set dry_run auto",
        ],
    ),
    ("config unset", &["countersign config unset limits.turns"]),
    ("config path", &["countersign config path"]),
    ("config edit", &["countersign config edit"]),
    ("providers", &["countersign providers --json"]),
    (
        "models",
        &["countersign models", "countersign models ollama"],
    ),
    ("keys", &["countersign keys list"]),
    ("keys list", &["countersign keys list"]),
    ("keys set", &["countersign keys set anthropic < key.txt"]),
    ("keys remove", &["countersign keys remove anthropic"]),
    ("demo", &["countersign demo"]),
    (
        "completions",
        &[
            "countersign completions bash > ~/.local/share/bash-completion/completions/countersign",
            "countersign completions zsh > ~/.zfunc/_countersign",
            "countersign completions fish > ~/.config/fish/completions/countersign.fish",
        ],
    ),
    ("man", &["countersign man ~/.local/share/man/man1"]),
];

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
    let examples = find_examples(&path).iter();
    let mut after: Vec<String> = Vec::new();
    let examples: Vec<String> = examples.map(|one| format!("  {one}")).collect();
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
const SUMMARIES: [(&str, &str); 1] = [(
    "servers import",
    "Show the servers that other products are set up with",
)];

/// The command whose summary in a list is the first sentence of what it says of itself, or what stands before its first comma
/// or colon where that is too long. Its own help has all of it.
fn shorten_about(command: Command, path: &str) -> Command {
    let Some(about) = command.get_about().map(ToString::to_string) else {
        return command;
    };
    if command.get_long_about().is_some() || about.chars().count() <= SUMMARY_CHARS_MAX {
        return command;
    }
    let is_short = |text: &&str| text.chars().count() <= SUMMARY_CHARS_MAX;
    let ends = [". ", "; ", ": ", ", "];
    let own = SUMMARIES.iter().find(|(verb, _)| *verb == path);
    let own = own.map(|(_, summary)| *summary);
    let parts = ends.iter().filter_map(|end| about.split_once(end));
    let summary = own.or_else(|| parts.map(|(part, _)| part).find(is_short));
    let summary = summary.unwrap_or(&about).to_owned();
    command.about(summary).long_about(format!("{about}."))
}

fn find_examples(path: &str) -> &'static [&'static str] {
    let found = EXAMPLES.iter().find(|(verb, _)| *verb == path);
    found.map_or(&[], |(_, examples)| examples)
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
            .filter(|verb| verb.get_name() != "help")
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
        for (path, examples) in EXAMPLES {
            assert!(verbs.iter().any(|(verb, _)| verb == path), "no verb {path}");
            for example in *examples {
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

    #[test]
    fn every_example_is_understood() {
        for (_, examples) in EXAMPLES {
            for example in *examples {
                let line = example.rsplit(" | ").next().unwrap();
                let line = line.split(['<', '>']).next().unwrap();
                let parsed = build_command().try_get_matches_from(words(line));
                assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
            }
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

//! The reference of the command line: one page in Markdown, from the definition that parses it.

use clap::builder::PossibleValue;
use clap::{Arg, Command};

/// What the page says before the first command.
const PREAMBLE: &str = "\
<!-- Written by `countersign man --markdown`: change the definition of the command line instead. -->

# Command line

The same texts are in `countersign help COMMAND` and in the manual pages.
";

/// Returns the page: the program with what holds for every command, then each command with its own.
pub(crate) fn format_reference(mut program: Command) -> String {
    program.build();
    let mut page = PREAMBLE.to_owned();
    add_command(&program, 1, &mut page);
    page
}

/// Adds a command and all below it. `depth` is 1 for the program, and one more for each word after it.
fn add_command(command: &Command, depth: usize, page: &mut String) {
    let path = command.get_bin_name().unwrap_or(command.get_name());
    let marks = "#".repeat(depth.clamp(2, 4));
    page.push_str(&format!("\n{marks} `{path}`\n\n"));
    if let Some(about) = command.get_long_about().or(command.get_about()) {
        page.push_str(&format!("{}\n\n", format_text(&about.to_string())));
    }
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    page.push_str(&format!("```text\n{usage}\n```\n"));
    let is_program = depth == 1;
    let shown = command.get_arguments().filter(|arg| {
        let is_own = is_program || !arg.is_global_set();
        is_own && !arg.is_hide_set() && !matches!(arg.get_id().as_str(), "help" | "version")
    });
    let arguments: String = shown.map(format_argument).collect();
    if !arguments.is_empty() {
        page.push_str(&format!("\n{arguments}"));
    }
    if let Some(after) = command.get_after_help() {
        let after = after.to_string();
        if !after.is_empty() {
            page.push_str(&format!("\n```text\n{}\n```\n", after.trim_end()));
        }
    }
    for below in command.get_subcommands() {
        if !below.is_hide_set() && below.get_name() != "help" {
            add_command(below, depth + 1, page);
        }
    }
}

/// Returns the list item of an argument: how it is written, what it does, what it may be.
fn format_argument(arg: &Arg) -> String {
    let short = arg.get_short().filter(|_| arg.get_long().is_some());
    let short = short.map(|c| format!("-{c}, ")).unwrap_or_default();
    let mut item = format!("- `{short}{arg}`");
    if let Some(help) = arg.get_long_help().or(arg.get_help()) {
        let help = format_text(&help.to_string()).replace('\n', " ");
        item.push_str(&format!(": {help}"));
    }
    if arg.get_action().takes_values() {
        let defaults = arg.get_default_values().iter();
        let defaults: Vec<_> = defaults.map(|value| value.to_string_lossy()).collect();
        if !defaults.is_empty() {
            item.push_str(&format!(" Default: `{}`.", defaults.join(" ")));
        }
    }
    item.push('\n');
    let values = arg.get_possible_values();
    let shown = values.iter().filter(|value| !value.is_hide_set());
    item.extend(shown.map(format_value));
    item
}

fn format_value(value: &PossibleValue) -> String {
    let name = value.get_name();
    match value.get_help() {
        Some(help) => format!("  - `{name}`: {}\n", format_text(&help.to_string())),
        None => format!("  - `{name}`\n"),
    }
}

/// Returns a text with a full stop, and with what Markdown would take for marks escaped outside of code.
fn format_text(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(at, part)| {
        let is_code = at % 2 == 1;
        match is_code {
            true => part.to_owned(),
            false => part
                .replace('<', "&lt;")
                .replace('*', "\\*")
                .replace('_', "\\_")
                .replace("{{", "&lbrace;&lbrace;"),
        }
    });
    let text = parts.collect::<Vec<_>>().join("`");
    match text.ends_with(['.', ':', '?', '!']) {
        true => text,
        false => format!("{text}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ArgAction;

    #[test]
    fn a_page_has_every_command_and_what_it_takes() {
        let add = Command::new("add")
            .about("Add <one> of `<these>`")
            .arg(Arg::new("name").required(true).help("Its name"))
            .after_help("Examples:\n  tool add x");
        let program = Command::new("tool")
            .arg(
                Arg::new("color")
                    .long("color")
                    .short('c')
                    .global(true)
                    .default_value("auto"),
            )
            .arg(
                Arg::new("all")
                    .long("all")
                    .action(ArgAction::SetTrue)
                    .help("All"),
            )
            .subcommand(add)
            .subcommand(Command::new("secret").hide(true));
        let page = format_reference(program);
        let body = page.strip_prefix(PREAMBLE).unwrap();
        assert_eq!(
            body,
            "\n## `tool`\n\n```text\ntool [OPTIONS] [COMMAND]\n```\n\n\
             - `-c, --color <color>` Default: `auto`.\n- `--all`: All.\n\n\
             ## `tool add`\n\nAdd &lt;one> of `<these>`.\n\n```text\ntool add [OPTIONS] <name>\n```\n\n\
             - `<name>`: Its name.\n\n```text\nExamples:\n  tool add x\n```\n"
        );
    }
}

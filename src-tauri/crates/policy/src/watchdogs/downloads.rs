//! Commands that run what they download.

use super::Alarm;
use super::command::WatchedCommand;

const DOWNLOADERS: &str = "curl wget fetch aria2c http https";
const INTERPRETERS: &str = "sh bash zsh dash ksh fish python* perl* ruby* node deno bun php* lua* osascript source . \
    eval";

/// Denies a download that is run at once, and asks about one that is run later in the same command.
pub(super) fn check_downloads(script: &WatchedCommand) -> Option<Alarm> {
    let download = find_command_position(script, DOWNLOADERS, 0)?;
    let flows_in = [
        "$(curl", "$(wget", "`curl", "`wget", "<(curl", "<(wget", "$( curl", "$( wget", "<( curl",
        "<( wget",
    ]
    .iter()
    .any(|shape| script.text.contains(shape));
    if flows_in && find_command_position(script, INTERPRETERS, 0).is_some() {
        return Some(Alarm::deny("It runs what it downloads, unseen."));
    }
    let runs = find_command_position(script, INTERPRETERS, download + 1)?;
    let reads_input = |words: &[String]| {
        // A program that is given a file or a text of its own does not run its input.
        words.len() == 1
            || words[1..]
                .iter()
                .all(|word| word.starts_with('-') && !matches!(word.as_str(), "-c" | "-e"))
    };
    match is_piped_into(script, download, runs) && reads_input(&script.commands[runs]) {
        true => Some(Alarm::deny("It runs what it downloads, unseen.")),
        false => names_download(script, download, runs)
            .then(|| Alarm::ask("It downloads a file and runs it in the same command.")),
    }
}

fn find_command_position(script: &WatchedCommand, programs: &str, from: usize) -> Option<usize> {
    let runs: Vec<&[String]> = script.commands_running(programs).collect();
    let at = script.commands[from.min(script.commands.len())..]
        .iter()
        .position(|words| runs.contains(&words.as_slice()))?;
    Some(from + at)
}

/// Whether a pipe leads from the one to the other: there is one, and nothing but a pipe behind the download.
fn is_piped_into(script: &WatchedCommand, download: usize, runs: usize) -> bool {
    runs > download && script.text.replace("||", "").contains('|')
}

/// Whether the interpreter is given the file that the download was written to.
fn names_download(script: &WatchedCommand, download: usize, runs: usize) -> bool {
    let saved = &script.commands[download];
    script.commands[runs][1..].iter().any(|word| {
        let name = word.rsplit('/').next().unwrap_or(word);
        !name.is_empty()
            && !name.starts_with('-')
            && saved.iter().any(|saved| saved.ends_with(name))
    })
}

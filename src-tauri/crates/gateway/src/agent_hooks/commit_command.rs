//! The command that takes the place of an agent's: it carries out what was approved, and prints what was captured.

use protocol::{CallId, Digest};

/// Name of the subcommand.
const COMMIT: &str = "commit";
const EXPECT: &str = "--expect";

/// Returns the command line for the shell of an agent.
pub(super) fn build_command(program: &[String], call: &CallId, digest: &Digest) -> String {
    let mut words: Vec<String> = program.iter().map(|word| quote_word(word)).collect();
    let (call, digest) = (call.to_string(), digest.to_string());
    words.extend([COMMIT, &call, EXPECT, &digest].map(quote_word));
    words.join(" ")
}

/// Returns the call of such a command line; none for any other.
pub(super) fn parse_command(program: &[String], command: &str) -> Option<CallId> {
    let words: Vec<String> = program.iter().map(|word| quote_word(word)).collect();
    let rest = command.trim().strip_prefix(&words.join(" "))?;
    match rest.split_whitespace().collect::<Vec<_>>()[..] {
        [COMMIT, call, EXPECT, digest] if is_plain(call) && is_plain(digest) => {
            Some(CallId::from(call))
        }
        _ => None,
    }
}

/// Quotes a word for a POSIX shell, if it needs that.
fn quote_word(word: &str) -> String {
    match is_plain(word) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Whether a shell reads a word as it stands.
fn is_plain(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    !word.is_empty() && word.chars().all(is_plain)
}

//! The command that takes the place of an agent's: it carries out what was approved, and prints what was captured.

use protocol::{CallId, Digest};

/// Name of the subcommand.
const COMMIT: &str = "commit";
const EXPECT: &str = "--expect";

/// Returns the command line for the shell of an agent; none if the program's path cannot stand in one.
pub(super) fn build_command(program: &[String], call: &CallId, digest: &Digest) -> Option<String> {
    let program = quote_program(program)?;
    Some(format!("{program} {COMMIT} {call} {EXPECT} {digest}"))
}

/// Returns the call of such a command line; none for any other.
pub(super) fn parse_command(program: &[String], command: &str) -> Option<CallId> {
    let rest = command.trim().strip_prefix(&quote_program(program)?)?;
    match rest.split_whitespace().collect::<Vec<_>>()[..] {
        [COMMIT, call, EXPECT, digest] if is_id(call) && is_id(digest) => Some(CallId::from(call)),
        _ => None,
    }
}

fn quote_program(program: &[String]) -> Option<String> {
    shlex::try_join(program.iter().map(String::as_str)).ok()
}

/// Whether a word is made of the letters of ids and digests, which mean nothing to a shell.
fn is_id(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_recognized_as_it_was_built_and_in_no_other_form() {
        let call = CallId::from("call_1");
        for program in ["/usr/bin/countersign", "/opt/my apps/counter$sign"] {
            let program = [program.to_owned(), "--data-dir".to_owned(), "/d".to_owned()];
            let command = build_command(&program, &call, &Digest::from_bytes(b"x")).unwrap();
            assert_eq!(parse_command(&program, &command), Some(call.clone()));
            for more in ["; rm x", " && rm x", " x", "$(rm x)", "|sh"] {
                let other = format!("{command}{more}");
                assert_eq!(parse_command(&program, &other), None, "{other}");
            }
            assert_eq!(parse_command(&program, &format!("sudo {command}")), None);
        }
        assert_eq!(
            build_command(&["a\0b".to_owned()], &call, &Digest::from_bytes(b"x")),
            None
        );
    }
}

//! What a command line may run, as far as it can be said without a parser: enough to be strict, never enough to be lax.
//!
//! Allowing needs [`plain_words`]: one simple command of literal words. Denying looks at [`may_run`]: everything that
//! could start at any place of the line.

use protocol::shown::is_hidden;

use crate::limits::COMMAND_BYTES_MAX;

/// Programs that run what their arguments name.
const WRAPPERS: [&str; 34] = [
    "env", "nohup", "timeout", "time", "nice", "ionice", "stdbuf", "setsid", "command", "builtin",
    "exec", "xargs", "sudo", "doas", "su", "eval", "sh", "bash", "zsh", "dash", "ksh", "fish",
    "find", "trap", "coproc", "watch", "parallel", "busybox", "chroot", "unshare", "nsenter",
    "strace", "ssh", "script",
];

/// Words of the shell that do not name a program.
const KEYWORDS: [&str; 20] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "in", "function", "select", "{", "}", "!", "[[", "time",
];

/// The words of a command that is one simple command, every word literal, its program a bare name. Anything else, and
/// anything that cannot be understood for sure, gives none: no rule may allow it.
pub fn plain_words(command: &str) -> Option<Vec<String>> {
    if command.len() > COMMAND_BYTES_MAX || command.chars().any(|c| is_hidden(c) || c == '\n') {
        return None;
    }
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' | '"' => {
                let open = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        end if end == c => break,
                        '$' | '`' | '\\' | '!' if c == '"' => return None,
                        inner => open.push(inner),
                    }
                }
            }
            'a'..='z'
            | 'A'..='Z'
            | '0'..='9'
            | '_'
            | '-'
            | '.'
            | '/'
            | ':'
            | '='
            | '@'
            | '%'
            | '+'
            | ',' => {
                word.get_or_insert_default().push(c);
            }
            _ => return None,
        }
    }
    words.extend(word);
    let program = words.first()?;
    let bare = !program.is_empty()
        && !program.contains(['/', '='])
        && !KEYWORDS.contains(&program.as_str());
    // What a wrapper or an interpreter would run is in its arguments: no rule that names the wrapper covers that.
    (bare && !WRAPPERS.contains(&program.as_str())).then_some(words)
}

/// Everything that may be run by a command line: word lists, each beginning with a program's base name. Quotes and
/// backslashes are removed and every separator splits, so a list may name what would never run; none that would run is
/// left out by spelling.
pub fn may_run(command: &str) -> Vec<Vec<String>> {
    let bare: String = command
        .chars()
        .filter(|c| !matches!(c, '\'' | '"' | '\\') && !is_hidden(*c))
        .collect();
    let mut found = Vec::new();
    for piece in bare.split([';', '&', '|', '\n', '(', ')', '{', '}', '`', '<', '>', '$']) {
        let words: Vec<String> = piece.split_whitespace().map(str::to_owned).collect();
        let mut start = 0;
        while let Some(word) = words.get(start) {
            let is_prefix = word.contains('=') || KEYWORDS.contains(&word.as_str());
            if !is_prefix {
                break;
            }
            start += 1;
        }
        push_from(&words, start, &mut found);
        if words
            .get(start)
            .is_some_and(|word| WRAPPERS.contains(&base_name(word)))
        {
            (start + 1..words.len()).for_each(|at| push_from(&words, at, &mut found));
        }
    }
    found
}

fn push_from(words: &[String], start: usize, found: &mut Vec<Vec<String>>) {
    if let Some(tail) = words.get(start..).filter(|tail| !tail.is_empty()) {
        let mut command = tail.to_vec();
        command[0] = base_name(&command[0]).to_owned();
        found.push(command);
    }
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_plainest_command_is_plain() {
        for command in [
            "ls; rm x",
            "ls | sh",
            "ls && rm x",
            "ls > out",
            "echo $HOME",
            "echo `id`",
            "echo $(id)",
            "A=1 ls",
            "./ls",
            "/bin/ls",
            "ls *",
            "ls ~",
            "echo \"$x\"",
            "l\\s",
            "sudo ls",
            "sh -c ls",
            "ls\nrm x",
            "ls \u{202e}x",
            "",
            "echo 'open",
            "if true",
            "env ls",
            "{ ls",
        ] {
            assert_eq!(plain_words(command), None, "{command:?}");
        }
        assert_eq!(
            plain_words("git commit -m 'a  b'").unwrap(),
            ["git", "commit", "-m", "a  b"]
        );
        assert_eq!(plain_words("  ls\t-l ").unwrap(), ["ls", "-l"]);
    }

    #[test]
    fn spelling_hides_nothing_from_a_deny() {
        for command in [
            "rm x",
            "r'm' x",
            "r\\m x",
            "/bin/rm x",
            "true; rm x",
            "true && rm x",
            "$(rm x)",
            "`rm x`",
            "sudo rm x",
            "A=1 rm x",
            "env -i rm x",
            "sh -c 'rm x'",
            "find . -exec rm x",
            "xargs rm x",
            "if true; then rm x; fi",
            "cat <(rm x)",
            "(rm x)",
            "{ rm x; }",
            "eval \"rm x\"",
            "true\nrm x",
            "timeout 5 rm x",
            "r\u{200b}m x",
        ] {
            let found = may_run(command);
            assert!(
                found
                    .iter()
                    .any(|words| words.starts_with(&["rm".into(), "x".into()])),
                "{command:?}: {found:?}"
            );
        }
        assert!(!may_run("echo rm x").iter().any(|words| words[0] == "rm"));
    }
}

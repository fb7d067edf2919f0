//! The output of `echo` and `printf`, which another shell may read as a script, and the paths that some programs print.

use crate::limits::SHELL_SCRIPT_BYTES_MAX;
use crate::shell::parse::ansi_quote;

/// A path like those that `mktemp` prints.
const TEMPORARY_PATH: &str = "/tmp/tmp.XXXXXXXXXX";

/// The texts that a command may print whose words are all known; none where it prints something else.
pub(in crate::shell) fn printed_texts(program: &str, arguments: &[String]) -> Vec<String> {
    let mut texts = match program {
        "echo" | "print" => {
            let text = arguments
                .iter()
                .skip_while(|word| is_echo_option(word))
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(" ");
            // Whether it reads escapes depends on its options and on the shell.
            vec![unescape_text(&text), text]
        }
        "printf" => match arguments {
            [double, format, rest @ ..] if double == "--" => vec![expand_format(format, rest)],
            [v, _, format, rest @ ..] if v == "-v" => vec![expand_format(format, rest)],
            [format, rest @ ..] => vec![expand_format(format, rest)],
            [] => Vec::new(),
        },
        "mktemp"
            if arguments
                .iter()
                .all(|word| matches!(word.as_str(), "-d" | "-q")) =>
        {
            vec![TEMPORARY_PATH.to_owned()]
        }
        "pwd" if arguments.is_empty() => vec![".".to_owned()],
        // The workspace, as far as a text can tell.
        "git" if arguments == ["rev-parse", "--show-toplevel"] => vec![".".to_owned()],
        _ => Vec::new(),
    };
    texts.dedup();
    texts
}

fn is_echo_option(word: &str) -> bool {
    let letters = word.strip_prefix('-');
    letters.is_some_and(|letters| letters.chars().all(|c| matches!(c, 'n' | 'e' | 'E' | '-')))
}

/// A format with its arguments filled in, over and over until none is left.
fn expand_format(format: &str, mut arguments: &[String]) -> String {
    let mut text = String::new();
    loop {
        let before = arguments.len();
        apply_format_once(format, &mut arguments, &mut text);
        let consumed = arguments.len() < before;
        if arguments.is_empty() || !consumed || text.len() > SHELL_SCRIPT_BYTES_MAX {
            return text;
        }
    }
}

fn apply_format_once(format: &str, arguments: &mut &[String], text: &mut String) {
    let mut pieces = format.split('%');
    text.push_str(&unescape_text(pieces.next().unwrap_or_default()));
    while let Some(piece) = pieces.next() {
        if piece.is_empty() {
            // `%%`: what follows it is text.
            text.push('%');
            text.push_str(&unescape_text(pieces.next().unwrap_or_default()));
            continue;
        }
        let end = piece
            .find(|c: char| !matches!(c, '-' | '+' | ' ' | '#' | '\'' | '.' | '*' | '0'..='9'))
            .unwrap_or(piece.len());
        let (how, rest) = piece.split_at(end);
        for _ in how.matches('*') {
            next_argument(arguments);
        }
        let argument = next_argument(arguments);
        let conversion = rest.chars().next();
        let mut printed = match conversion {
            Some('b') => unescape_text(argument),
            Some('c') => argument.chars().take(1).collect(),
            Some(_) | None => argument.to_owned(),
        };
        if let Some(most) = how.split_once('.').and_then(|(_, most)| most.parse().ok()) {
            printed = printed.chars().take(most).collect();
        }
        text.push_str(&printed);
        text.push_str(&unescape_text(
            &rest[conversion.map_or(0, char::len_utf8)..],
        ));
    }
}

fn next_argument<'a>(arguments: &mut &'a [String]) -> &'a str {
    let Some((first, rest)) = arguments.split_first() else {
        return "";
    };
    *arguments = rest;
    first
}

fn unescape_text(text: &str) -> String {
    match text.contains('\\') {
        true => ansi_quote::decode_ansi_quote(&format!("{}'", text.replace('\'', "\\'"))).0,
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::printed_texts;

    fn printed(words: &[&str]) -> Vec<String> {
        let arguments: Vec<String> = words[1..].iter().map(|word| (*word).to_owned()).collect();
        printed_texts(words[0], &arguments)
    }

    #[test]
    fn what_is_printed_is_what_the_programs_print() {
        for (words, text) in [
            (&["echo", "rm", "-rf", "x"][..], "rm -rf x"),
            (&["echo", "-ne", r"r\x6d x"], "rm x"),
            (&["printf", "%s", "rm x"], "rm x"),
            (&["printf", "--", "%s %s\\n", "rm", "x"], "rm x\n"),
            (&["printf", r"\x72m %s;", "a", "b"], "rm a;rm b;"),
            (&["printf", "%.2s x", "rmdir"], "rm x"),
            (&["printf", "%b", r"\162m"], "rm"),
            (&["printf", "100%% %c%5s", "rm", "m"], "100% rm"),
            (&["printf", "%*s", "9", "rm"], "rm"),
            (&["mktemp", "-d"], "/tmp/tmp.XXXXXXXXXX"),
            (&["git", "rev-parse", "--show-toplevel"], "."),
        ] {
            assert!(
                printed(words).contains(&text.to_owned()),
                "{words:?}: {:?}",
                printed(words)
            );
        }
        assert_eq!(printed(&["cat", "x"]), Vec::<String>::new());
        // An expansion that would grow without end is cut.
        let many = vec!["x".to_owned(); 10_000];
        let long = format!("%s{}", "y".repeat(60_000));
        assert!(printed_texts("printf", &[vec![long], many].concat())[0].len() < 1_000_000);
    }
}

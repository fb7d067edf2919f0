//! Operands of a command, and the effect of its options on them.

use protocol::Capability::{self, FsDelete, FsWrite};

use crate::shell::facts::ShellWord;
use crate::shell::short_options;
use crate::shell::tables::list_has_word;

/// Options of programs that reach hosts whose value is neither a file nor a host.
const NON_HOST_OPTIONS: &str = "-d --data --data-raw --data-binary --data-urlencode --json -F --form -H --header -X --request -u \
                       --user -A --user-agent -e --referer -w --write-out -m --max-time -U -p -P --method --body-data";

/// The operands of a command.
pub(in crate::shell) fn list_operands(
    program: &str,
    words: &[ShellWord],
    option_values: &[usize],
) -> Vec<ShellWord> {
    let mut operands = Vec::new();
    let mut ended = false;
    let is_value = |at: usize| {
        list_has_word("curl wget", program) && list_has_word(NON_HOST_OPTIONS, words[at - 1].text())
            || option_values.contains(&at)
    };
    for (at, word) in words.iter().enumerate().skip(1) {
        let text = word.text();
        if !ended && text == "--" {
            ended = true;
        } else if program == "find"
            && !ended
            && (text.starts_with('-') || list_has_word("( ) ! ,", text))
        {
            break;
        } else if (ended || !text.starts_with('-') || text == "-") && !is_value(at) {
            operands.push(word.clone());
        }
    }
    operands
}

/// Returns the capability that a program's options turn its operands into; none if they change nothing.
pub(in crate::shell) fn stricter_capability(
    program: &str,
    words: &[ShellWord],
) -> Option<Capability> {
    let has_word = |wanted: &str| words.iter().any(|word| word.text() == wanted);
    let short = |letter: char| {
        words
            .iter()
            .any(|word| short_options(word.text()).is_some_and(|letters| letters.contains(letter)))
    };
    match program {
        "sed" | "gsed"
            if short('i') || words.iter().any(|w| w.text().starts_with("--in-place")) =>
        {
            Some(FsWrite)
        }
        "perl" | "ruby" if short('i') => Some(FsWrite),
        "find" if has_word("-delete") => Some(FsDelete),
        _ => None,
    }
}

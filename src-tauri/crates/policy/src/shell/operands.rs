//! Which words of a command are its operands, and what its options make of them.

use protocol::Capability::{self, FsDelete, FsWrite};

use super::facts::Word;
use super::wrappers::has;

/// Options of programs that reach hosts whose value is neither a file nor a host.
const NO_HOST: &str = "-d --data --data-raw --data-binary --data-urlencode --json -F --form -H --header -X --request -u \
                       --user -A --user-agent -e --referer -w --write-out -m --max-time -U -p -P --method --body-data";

/// The operands of a command.
pub(super) fn operands(program: &str, words: &[Word], taken: &[usize]) -> Vec<Word> {
    let mut found = Vec::new();
    let mut ended = false;
    let is_value = |at: usize| {
        has("curl wget", program) && has(NO_HOST, words[at - 1].text()) || taken.contains(&at)
    };
    for (at, word) in words.iter().enumerate().skip(1) {
        let text = word.text();
        if !ended && text == "--" {
            ended = true;
        } else if program == "find" && !ended && (text.starts_with('-') || has("( ) ! ,", text)) {
            break;
        } else if (ended || !text.starts_with('-') || text == "-") && !is_value(at) {
            found.push(word.clone());
        }
    }
    found
}

/// What the options of a program make of its operands.
pub(super) fn stricter(program: &str, words: &[Word]) -> Option<Capability> {
    let given = |wanted: &str| words.iter().any(|word| word.text() == wanted);
    let short = |letter: char| {
        words.iter().any(|word| {
            word.text()
                .strip_prefix('-')
                .is_some_and(|l| !l.starts_with('-') && l.contains(letter))
        })
    };
    match program {
        "sed" | "gsed"
            if short('i') || words.iter().any(|w| w.text().starts_with("--in-place")) =>
        {
            Some(FsWrite)
        }
        "perl" | "ruby" if short('i') => Some(FsWrite),
        "find" if given("-delete") => Some(FsDelete),
        _ => None,
    }
}

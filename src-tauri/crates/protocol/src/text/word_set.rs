//! A set of words that is written as one text.

use std::collections::HashSet;
use std::sync::OnceLock;

/// Words of a constant text, separated by blanks. The text is split when the set is first used.
#[derive(Debug)]
pub struct WordSet {
    text: &'static str,
    words: OnceLock<HashSet<&'static str>>,
}

impl WordSet {
    /// Creates the set of the words of a text.
    pub const fn new(text: &'static str) -> Self {
        Self {
            text,
            words: OnceLock::new(),
        }
    }

    /// Returns whether a word is in the set.
    pub fn contains(&self, word: &str) -> bool {
        let split = || self.text.split_whitespace().collect();
        self.words.get_or_init(split).contains(word)
    }
}

#[cfg(test)]
mod tests {
    use super::WordSet;

    #[test]
    fn a_set_holds_whole_words() {
        static WORDS: WordSet = WordSet::new("one two");
        let held = ["one", "two", "on", "one two", ""].map(|word| WORDS.contains(word));
        assert_eq!(held, [true, true, false, false, false]);
    }
}

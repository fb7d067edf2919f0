//! Short names for ids: the shortest suffix that identifies one of several, and back to the whole id.
//!
//! Ids are a kind (`ses_`) and a time-sorted UUID, so all of them begin alike; their ends are random.

use crate::exit::CliError;

/// Minimum length of a short id, in characters.
const SHORT_MIN: usize = 4;
/// Maximum number of candidates listed in an error.
const CANDIDATES_MAX: usize = 8;

/// A list of ids to select from.
pub(crate) struct ShortIds<'a> {
    /// Noun for one of the ids in a sentence, such as `session`.
    pub(crate) thing: &'static str,
    /// Sentence that tells how to list all of the ids.
    pub(crate) hint: &'static str,
    /// All ids.
    pub(crate) all: Vec<&'a str>,
}

impl ShortIds<'_> {
    /// Returns the index of the id that a word names: by the whole id, its end, or its beginning.
    ///
    /// # Errors
    /// No id, or several, match the word; the candidates are listed.
    pub(crate) fn find(&self, word: &str) -> Result<usize, CliError> {
        if let Some(exact) = self.all.iter().position(|id| *id == word) {
            return Ok(exact);
        }
        let named = |id: &&str| {
            !word.is_empty() && (strip_kind(id).ends_with(strip_kind(word)) || id.starts_with(word))
        };
        let matches: Vec<usize> = (0..self.all.len())
            .filter(|at| self.all.get(*at).is_some_and(named))
            .collect();
        let (thing, hint) = (self.thing, self.hint);
        match matches[..] {
            [only] => Ok(only),
            [] => Err(CliError::usage(
                format!("There is no {thing} {word}."),
                hint,
            )),
            _ => Err(CliError::usage(
                format!(
                    "{} {thing}s are named by {word}: {}.",
                    matches.len(),
                    self.format_candidates(&matches)
                ),
                "Write more of the id.",
            )),
        }
    }

    fn format_candidates(&self, candidates: &[usize]) -> String {
        let length = self.short_length();
        let ids = candidates.iter().filter_map(|at| self.all.get(*at));
        let mut listed: Vec<&str> = ids
            .take(CANDIDATES_MAX)
            .map(|id| id_suffix(id, length))
            .collect();
        if candidates.len() > CANDIDATES_MAX {
            listed.push("…");
        }
        listed.join(", ")
    }

    /// Returns the number of final characters that distinguish all of the ids.
    pub(crate) fn short_length(&self) -> usize {
        // Sorted by their ends, those that have the longest end in common are neighbours.
        let mut ends: Vec<String> = self
            .all
            .iter()
            .map(|id| strip_kind(id).chars().rev().collect())
            .collect();
        ends.sort_unstable();
        ends.dedup();
        let common = |pair: &[String]| match pair {
            [one, other] => {
                let both = one.chars().zip(other.chars());
                both.take_while(|(a, b)| a == b).count()
            }
            _ => 0,
        };
        let longest = ends.windows(2).map(common).max();
        longest.map_or(SHORT_MIN, |common| SHORT_MIN.max(common + 1))
    }
}

/// Returns an id without its kind.
fn strip_kind(id: &str) -> &str {
    id.split_once('_').map_or(id, |(_, bare)| bare)
}

/// Returns the last `length` characters of an id; everything but the kind if the id is shorter.
pub(crate) fn id_suffix(id: &str, length: usize) -> &str {
    let bare = strip_kind(id);
    let from = bare.char_indices().rev().nth(length.saturating_sub(1));
    from.map_or(bare, |(at, _)| &bare[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids<'a>(all: &[&'a str]) -> ShortIds<'a> {
        ShortIds {
            thing: "session",
            hint: "Look at the list.",
            all: all.to_vec(),
        }
    }

    #[test]
    fn ends_are_as_short_as_they_can_be() {
        for (all, length) in [
            (&["ses_01a2b3c4d5"][..], 4),
            (&["ses_01a2b3c4d5", "ses_01a2b3c4e6"], 4),
            (&["ses_01a2bbc4d5", "ses_01a2bac4d5"], 5),
            (&["ses_1", "ses_2", "ses_11"], 4),
            (&[], 4),
        ] {
            assert_eq!(ids(all).short_length(), length, "{all:?}");
        }
        assert_eq!(id_suffix("ses_01a2b3c4d5", 4), "c4d5");
        assert_eq!(id_suffix("ses_7", 4), "7");
    }

    #[test]
    fn a_word_names_one_id_or_says_why_not() {
        let all = ids(&["ses_01aa11", "ses_01bb11", "ses_01cc22"]);
        for (word, found) in [
            ("ses_01aa11", Ok(0)),
            ("aa11", Ok(0)),
            ("ses_bb11", Ok(1)),
            ("22", Ok(2)),
            ("ses_01c", Ok(2)),
            (
                "11",
                Err("2 sessions are named by 11: aa11, bb11. Write more of the id."),
            ),
            (
                "ses_01",
                Err("3 sessions are named by ses_01: aa11, bb11, cc22. Write more of the id."),
            ),
            ("99", Err("There is no session 99. Look at the list.")),
            ("", Err("There is no session . Look at the list.")),
        ] {
            let told = all.find(word).map_err(|ending| match ending {
                CliError::User(_, fault) => fault.to_string(),
                CliError::OutputClosed => String::new(),
            });
            assert_eq!(told, found.map_err(str::to_owned), "{word}");
        }
    }
}

//! What becomes of one entry where it stands in the text of a configuration.

use serde_json::Value;

use super::entries::{GatewayCommand, RewrittenEntry, rewrite_entry};
use super::entry_text::ServersText;

/// What becomes of an entry where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PlannedEntry {
    /// It goes through a gateway already.
    Through,
    /// It stays; why, as a sentence.
    Stays(String),
    /// It is another.
    Behind {
        /// What it says then.
        written: Value,
        /// The text with that in its place.
        text: ServersText,
    },
}

/// Returns what becomes of the entry at a path of a text.
pub(super) fn plan_entry(
    text: &ServersText,
    path: &[String],
    entry: &Value,
    gateway: &GatewayCommand<'_>,
) -> PlannedEntry {
    let name = path.last().map_or("", String::as_str);
    match rewrite_entry(text.dialect(), name, entry, gateway) {
        RewrittenEntry::Through => PlannedEntry::Through,
        RewrittenEntry::Left(why) => PlannedEntry::Stays(why.to_owned()),
        RewrittenEntry::Behind(written) => match text.with_entry(path, &written) {
            Ok(text) => PlannedEntry::Behind { written, text },
            Err(error) => PlannedEntry::Stays(format!("It stays: {error}.")),
        },
    }
}

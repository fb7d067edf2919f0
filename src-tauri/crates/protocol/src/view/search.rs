//! Results of a search of the transcripts.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{SessionId, UserError};

/// Result of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SearchPage {
    /// The hits, newest first.
    pub hits: Vec<SearchHit>,
    /// Number of hits in all.
    pub total: u64,
    /// Number of entries searched.
    pub searched: u64,
    /// Duration of the search in microseconds.
    pub took_us: u64,
    /// Error in the query, if there is one; there are then no hits.
    pub problem: Option<UserError>,
    /// Number of hits by state, mode and session, for narrowing.
    pub facets: Vec<Facet>,
}

/// One count for narrowing a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Facet {
    /// Name of the filter: `state`, `mode` or `session`.
    pub filter: String,
    /// The filter's value.
    pub value: String,
    /// The value as a person reads it.
    pub label: String,
    /// Number of hits with this value.
    pub count: u64,
}

/// One entry that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SearchHit {
    /// The session.
    pub session: SessionId,
    /// Title of the session.
    pub session_title: String,
    /// The entry's id.
    pub id: String,
    /// The entry's position, for jumping.
    pub seq: u64,
    /// When the entry began.
    pub at: crate::At,
    /// Kind of entry: `person`, `agent`, `call` or `notice`.
    pub body: String,
    /// Kind of the call, if the entry is one.
    pub kind: Option<crate::ToolKind>,
    /// Title of the call, or the name of the speaker.
    pub title: String,
    /// Target of the call.
    pub target: String,
    /// State of the call, if the entry is one.
    pub state: Option<crate::CallState>,
    /// The lines around the first match.
    pub lines: Vec<HitLine>,
}

/// One line around a match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct HitLine {
    /// Line number within the entry's text, from 1.
    pub number: u32,
    /// The text of the line, in parts.
    pub parts: Vec<HitPart>,
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct HitPart {
    /// The text.
    pub text: String,
    /// Whether this part matched the query.
    pub matched: bool,
}

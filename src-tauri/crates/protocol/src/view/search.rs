//! What a search answers.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{SessionId, UserError};

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SearchPage {
    /// Newest first.
    pub hits: Vec<SearchHit>,
    /// How many there are in all.
    pub total: u64,
    /// How many entries were searched.
    pub searched: u64,
    /// How long it took, in microseconds.
    pub took_us: u64,
    /// What is wrong with the query, if something is: the hits are then none.
    pub problem: Option<UserError>,
    /// How many hits there are by state, mode and session, for narrowing.
    pub facets: Vec<Facet>,
}

/// One count for narrowing a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Facet {
    /// `state`, `mode` or `session`.
    pub filter: String,
    /// The filter's value.
    pub value: String,
    /// The value as a person reads it.
    pub label: String,
    /// How many hits have it.
    pub count: u64,
}

/// One entry that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SearchHit {
    /// The session.
    pub session: SessionId,
    /// Its title.
    pub session_title: String,
    /// The entry's id.
    pub id: String,
    /// The entry's position, for jumping.
    pub seq: u64,
    /// When it began.
    pub at: crate::At,
    /// `person`, `agent`, `call` or `notice`.
    pub body: String,
    /// A call's kind.
    pub kind: Option<crate::ToolKind>,
    /// A call's title, or who said it.
    pub title: String,
    /// A call's target.
    pub target: String,
    /// A call's state.
    pub state: Option<crate::CallState>,
    /// The lines around the first match.
    pub lines: Vec<HitLine>,
}

/// One line of context of a hit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct HitLine {
    /// Line number within the entry's text, from 1.
    pub number: u32,
    /// The text in stretches.
    pub parts: Vec<HitPart>,
}

/// A stretch of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct HitPart {
    /// The text.
    pub text: String,
    /// Whether this is what was searched for.
    pub matched: bool,
}

//! Search: one walk over the matches, newest first, that counts hits and facets and keeps the requested page.

pub(crate) mod query;
pub(crate) mod time_filter;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Instant;

use jiff::tz::TimeZone;
use protocol::text::redact;
use protocol::view::entry::SessionView;
use protocol::view::search::{Facet, SearchHit, SearchPage};
use protocol::{At, Entry, EntryBody, NoticeLevel};
use rusqlite::{Connection, Row, Transaction};

use crate::RecordError;
use crate::error::damaged_value_error;
use crate::limits::{FACET_VALUES_MAX, PAGE_HITS_MAX};
use crate::projections::columns;
use crate::projections::columns::{ALL_MODES, ALL_STATES};
use crate::projections::deferred_projection;
use crate::projections::deferred_projection::SettledEntry;
use crate::projections::statements::{from_json, seq_from_sql, seq_to_sql, to_json};
use crate::projections::{load, search_text};
use crate::record::Record;
use crate::search::query::ParsedQuery;
use crate::snippet::{MarkedText, MatchMarker};

const ENTRY_COLUMNS: &str = "entries.seq, entries.session, entries.state, entries.mode, entries.at, entries.tool, entries.paths";
const ALL_ENTRIES: &str = "FROM entries ORDER BY entries.seq DESC";
const MATCHING_ENTRIES: &str = "FROM words CROSS JOIN entries ON entries.seq = words.rowid WHERE words MATCH ?1 ORDER BY words.rowid DESC";
/// Matching entries, and some entries whose words are not indexed yet.
const MATCHING_OR_DEFERRED: &str = "FROM entries WHERE entries.seq IN (SELECT rowid FROM words WHERE words MATCH ?1 \
     UNION ALL SELECT value FROM json_each(?2)) ORDER BY entries.seq DESC";

impl Record {
    /// Finds entries by words, "phrases", prefix* and the filters `tool: mode: state: session: path: before: after:`;
    /// at most `limit` of them (200 at most) without the first `offset`, newest first. Parts of the text that cannot be
    /// understood are the page's `problem`. A facet's counts leave out the filter that it narrows, so that they say how
    /// many hits another choice would give. Days are those of the machine's time zone.
    pub fn search(
        &self,
        text: &str,
        now: At,
        offset: u32,
        limit: u32,
    ) -> Result<SearchPage, RecordError> {
        let began = Instant::now();
        let mut page = match query::parse_query(text, now, &TimeZone::system()) {
            Ok(search) => {
                let (made, limit) = (self.ensure_projected()?, limit.min(PAGE_HITS_MAX));
                let find = |tx: &Transaction<'_>, marker: &MatchMarker| {
                    run_search(tx, marker, &search, offset, limit)
                };
                self.inner.readers.search_snapshot(made, find)?
            }
            Err(problem) => SearchPage {
                hits: Vec::new(),
                total: 0,
                searched: 0,
                took_us: 0,
                problem: Some(problem),
                facets: Vec::new(),
            },
        };
        page.took_us = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        Ok(page)
    }
}

/// The sessions by their keys.
type SessionsByKey = HashMap<i64, SessionView>;

fn run_search(
    conn: &Connection,
    marker: &MatchMarker,
    search: &ParsedQuery,
    offset: u32,
    limit: u32,
) -> Result<SearchPage, RecordError> {
    let sessions = load_sessions_by_key(conn)?;
    let mut walk = SearchWalk::new(search, &sessions, offset, limit);
    let owed = match &search.words {
        Some(words) => find_deferred_matches(conn, marker, words)?,
        None => Vec::new(),
    };
    let range = match &search.words {
        Some(_) if owed.is_empty() => MATCHING_ENTRIES,
        Some(_) => MATCHING_OR_DEFERRED,
        None => ALL_ENTRIES,
    };
    let mut statement = conn.prepare_cached(&format!("SELECT {ENTRY_COLUMNS} {range}"))?;
    let mut rows = match &search.words {
        Some(words) if owed.is_empty() => statement.query([words])?,
        Some(words) => statement.query([words, &to_json(&owed)?])?,
        None => statement.query([])?,
    };
    while let Some(row) = rows.next()? {
        walk.visit_row(row)?;
    }
    let searched: i64 = conn
        .prepare_cached("SELECT count(*) FROM entries")?
        .query_row([], |row| row.get(0))?;
    Ok(SearchPage {
        hits: load_hits(conn, marker, &walk)?,
        total: walk.total,
        searched: seq_from_sql(searched),
        took_us: 0,
        problem: None,
        facets: walk.into_facets(),
    })
}

/// Finds the matches among the entries whose words are not indexed yet.
fn find_deferred_matches(
    conn: &Connection,
    marker: &MatchMarker,
    words: &str,
) -> Result<Vec<i64>, RecordError> {
    let owed = deferred_projection::load_deferred_entries(conn, usize::MAX)?;
    if owed.is_empty() {
        return Ok(Vec::new());
    }
    let text = |settled: SettledEntry| {
        (
            seq_to_sql(settled.entry.seq),
            search_text::entry_search_text(&settled.entry),
        )
    };
    marker.find_matching_keys(owed.into_iter().map(text), words)
}

fn load_sessions_by_key(conn: &Connection) -> Result<SessionsByKey, RecordError> {
    let sql = "SELECT key, view FROM sessions WHERE view IS NOT NULL";
    let sessions = load::load_rows(conn, sql, [], |row| {
        let view = from_json("session", &row.get::<_, String>(1)?)?;
        Ok((row.get(0)?, view))
    })?;
    Ok(sessions.into_iter().collect())
}

/// The state of a walk over all that matches the words.
struct SearchWalk<'a> {
    search: &'a ParsedQuery,
    sessions: &'a SessionsByKey,
    /// Keys of the sessions that the filter lets through; none if there is no such filter.
    chosen: Option<HashSet<i64>>,
    skip: u64,
    limit: usize,
    total: u64,
    /// Position and session key of the hits on the page.
    page: Vec<(u64, i64)>,
    by_state: BTreeMap<&'static str, u64>,
    by_mode: BTreeMap<&'static str, u64>,
    by_session: HashMap<i64, u64>,
}

impl<'a> SearchWalk<'a> {
    fn new(search: &'a ParsedQuery, sessions: &'a SessionsByKey, offset: u32, limit: u32) -> Self {
        let chosen = (!search.sessions.is_empty()).then(|| {
            let wanted = |view: &SessionView| {
                search
                    .sessions
                    .iter()
                    .any(|text| session_matches(view, text))
            };
            let keys = sessions.iter().filter(|(_, view)| wanted(view));
            keys.map(|(key, _)| *key).collect()
        });
        Self {
            search,
            sessions,
            chosen,
            skip: u64::from(offset),
            limit: limit as usize,
            total: 0,
            page: Vec::new(),
            by_state: BTreeMap::new(),
            by_mode: BTreeMap::new(),
            by_session: HashMap::new(),
        }
    }

    fn visit_row(&mut self, row: &Row<'_>) -> Result<(), RecordError> {
        let search = self.search;
        let at: At = row.get(4)?;
        if search.before.is_some_and(|before| at >= before)
            || search.after.is_some_and(|after| at < after)
            || !search.tools.is_empty() && !tool_matches(&search.tools, text_column(row, 5)?)
            || !search.paths.is_empty() && !path_matches(&search.paths, text_column(row, 6)?)
        {
            return Ok(());
        }
        let session: i64 = row.get(1)?;
        let state = text_column(row, 2)?
            .and_then(|name| ALL_STATES.into_iter().find(|s| s.as_str() == name));
        let mode = text_column(row, 3)?
            .and_then(|name| ALL_MODES.into_iter().find(|m| m.as_str() == name));
        let by_state =
            search.states.is_empty() || state.is_some_and(|state| search.states.contains(&state));
        let by_mode =
            search.modes.is_empty() || mode.is_some_and(|mode| search.modes.contains(&mode));
        let by_session = self
            .chosen
            .as_ref()
            .is_none_or(|keys| keys.contains(&session));
        if let (Some(state), true, true) = (state, by_mode, by_session) {
            *self.by_state.entry(state.as_str()).or_default() += 1;
        }
        if let (Some(mode), true, true) = (mode, by_state, by_session) {
            *self.by_mode.entry(mode.as_str()).or_default() += 1;
        }
        if by_state && by_mode {
            *self.by_session.entry(session).or_default() += 1;
        }
        if by_state && by_mode && by_session {
            if self.total >= self.skip && self.page.len() < self.limit {
                self.page.push((seq_from_sql(row.get(0)?), session));
            }
            self.total += 1;
        }
        Ok(())
    }

    fn into_facets(self) -> Vec<Facet> {
        let named = |filter: &str, counts: BTreeMap<&'static str, u64>| {
            let facet = |(value, count): (&str, u64)| Facet {
                filter: filter.to_owned(),
                value: value.to_owned(),
                label: facet_label(value),
                count,
            };
            sort_and_cut_facets(counts.into_iter().map(facet).collect())
        };
        let sessions = self.by_session.into_iter().filter_map(|(key, count)| {
            let view = self.sessions.get(&key)?;
            Some(Facet {
                filter: "session".to_owned(),
                value: view.id.0.clone(),
                label: view.title.clone(),
                count,
            })
        });
        let mut facets = named("state", self.by_state);
        facets.extend(named("mode", self.by_mode));
        facets.extend(sort_and_cut_facets(sessions.collect()));
        facets
    }
}

/// The values with the most hits, those first.
fn sort_and_cut_facets(mut facets: Vec<Facet>) -> Vec<Facet> {
    facets.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.value.cmp(&b.value)));
    facets.truncate(FACET_VALUES_MAX);
    facets
}

/// A name as a person reads it: `safe_write` is "Safe write".
fn facet_label(name: &str) -> String {
    let mut label = name.replace('_', " ");
    if let Some(first) = label.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    label
}

fn text_column<'r>(row: &'r Row<'_>, index: usize) -> Result<Option<&'r str>, RecordError> {
    row.get_ref(index)?
        .as_str_or_null()
        .map_err(|error| damaged_value_error("entry", &error))
}

/// Whether a session is meant: by its id, the beginning of its id, or by words of its title.
fn session_matches(view: &SessionView, text: &str) -> bool {
    let title = view.title.to_lowercase();
    view.id.as_str().to_lowercase().starts_with(text)
        || text.split_whitespace().all(|word| title.contains(word))
}

fn tool_matches(patterns: &[String], tool: Option<&str>) -> bool {
    let tool = tool.map(str::to_lowercase);
    tool.is_some_and(|tool| {
        patterns
            .iter()
            .any(|patterns| match patterns.strip_suffix('*') {
                Some(stem) => tool.starts_with(stem),
                None => tool == *patterns,
            })
    })
}

fn path_matches(patterns: &[String], paths: Option<&str>) -> bool {
    let paths = paths.map(str::to_lowercase);
    paths.is_some_and(|paths| {
        let mut paths = paths.lines();
        paths.any(|path| {
            patterns
                .iter()
                .any(|patterns| path.contains(patterns.as_str()))
        })
    })
}

/// Loads the hits of the page, newest first.
fn load_hits(
    conn: &Connection,
    marker: &MatchMarker,
    walk: &SearchWalk<'_>,
) -> Result<Vec<SearchHit>, RecordError> {
    let mut found = Vec::new();
    for (at, session) in &walk.page {
        if let Some(entry) = load::load_entry_at(conn, seq_to_sql(*at))? {
            found.push((entry, walk.sessions.get(session)));
        }
    }
    let mut marked = match &walk.search.words {
        Some(words) => {
            let texts = found.iter().map(|(entry, _)| {
                let text = search_text::entry_search_text(entry);
                (seq_to_sql(entry.seq), text)
            });
            marker.mark_matches(texts, words)?
        }
        None => HashMap::new(),
    };
    let hit = |(entry, session): &(Entry, Option<&SessionView>)| {
        let marked = marked.remove(&seq_to_sql(entry.seq));
        let text = marked
            .unwrap_or_else(|| MarkedText::without_match(search_text::entry_search_text(entry)));
        hit_of_entry(entry, *session, &text)
    };
    Ok(found.iter().map(hit).collect())
}

fn hit_of_entry(entry: &Entry, session: Option<&SessionView>, text: &MarkedText) -> SearchHit {
    let call = columns::call_of_entry(entry);
    let title = match &entry.body {
        EntryBody::Person { .. } => "You",
        EntryBody::SubAgentTask { .. } => "Background",
        EntryBody::Agent { .. } => "Agent",
        EntryBody::Call(view) => &view.title,
        EntryBody::Notice(notice) => match notice.level {
            NoticeLevel::Note => "Note",
            NoticeLevel::Warning => "Warning",
            NoticeLevel::Error => "Error",
        },
    };
    // The first line of a call's text is its head, which the hit shows anyway.
    let skip = usize::from(call.is_some());
    SearchHit {
        session: entry.session.clone(),
        session_title: session.map_or_else(String::new, |view| view.title.clone()),
        id: entry.id.clone(),
        seq: entry.seq,
        at: entry.at,
        body: columns::entry_body_name(&entry.body).to_owned(),
        kind: call.map(|view| view.kind),
        title: title.to_owned(),
        target: call.map_or_else(String::new, |view| {
            redact::text(&view.target).0.into_owned()
        }),
        state: call.map(|view| view.state),
        lines: text.snippet_lines(skip),
    }
}

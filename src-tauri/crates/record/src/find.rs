//! Search: one walk over what matches, newest first, that counts hits and facets and keeps the page that was asked for.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Instant;

use jiff::tz::TimeZone;
use protocol::entry::SessionView;
use protocol::search::{Facet, SearchHit, SearchPage};
use protocol::{At, Entry, EntryBody, NoticeLevel, redact};
use rusqlite::{Connection, Row, Transaction};

use crate::error::damaged;
use crate::hit::Marker;
use crate::late::{self, Settled};
use crate::limits::{FACET_VALUES_MAX, PAGE_HITS_MAX};
use crate::load;
use crate::query::{self, Search};
use crate::record::Record;
use crate::row::{MODES, STATES};
use crate::store::{from_json, json, seq, sql};
use crate::{RecordError, row, text};

const COLUMNS: &str = "entries.seq, entries.session, entries.state, entries.mode, entries.at, entries.tool, entries.paths";
const ALL: &str = "FROM entries ORDER BY entries.seq DESC";
const MATCHING: &str = "FROM words CROSS JOIN entries ON entries.seq = words.rowid WHERE words MATCH ?1 ORDER BY words.rowid DESC";
/// The same, with some entries whose words are owed.
const MATCHING_AND_OWED: &str = "FROM entries WHERE entries.seq IN (SELECT rowid FROM words WHERE words MATCH ?1 \
     UNION ALL SELECT value FROM json_each(?2)) ORDER BY entries.seq DESC";

impl Record {
    /// Finds entries by words, "phrases", prefix* and the filters `tool: mode: state: session: path: before: after:`;
    /// at most `limit` of them (200 at most) without the first `offset`, newest first. What cannot be understood in the
    /// text is the page's `problem`. A facet's counts leave out the filter that it narrows, so that they say what
    /// another choice would give. Days are those of the machine's time zone.
    pub fn search(
        &self,
        text: &str,
        now: At,
        offset: u32,
        limit: u32,
    ) -> Result<SearchPage, RecordError> {
        let began = Instant::now();
        let mut page = match query::parse(text, now, &TimeZone::system()) {
            Ok(search) => {
                let (made, limit) = (self.made()?, limit.min(PAGE_HITS_MAX));
                let find = |tx: &Transaction<'_>, marker: &Marker| {
                    find(tx, marker, &search, offset, limit)
                };
                self.inner.readers.search(made, find)?
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
type Sessions = HashMap<i64, SessionView>;

fn find(
    conn: &Connection,
    marker: &Marker,
    search: &Search,
    offset: u32,
    limit: u32,
) -> Result<SearchPage, RecordError> {
    let sessions = sessions(conn)?;
    let mut walk = Walk::new(search, &sessions, offset, limit);
    let owed = match &search.words {
        Some(words) => owed(conn, marker, words)?,
        None => Vec::new(),
    };
    let range = match &search.words {
        Some(_) if owed.is_empty() => MATCHING,
        Some(_) => MATCHING_AND_OWED,
        None => ALL,
    };
    let mut statement = conn.prepare_cached(&format!("SELECT {COLUMNS} {range}"))?;
    let mut rows = match &search.words {
        Some(words) if owed.is_empty() => statement.query([words])?,
        Some(words) => statement.query([words, &json(&owed)?])?,
        None => statement.query([])?,
    };
    while let Some(row) = rows.next()? {
        walk.see(row)?;
    }
    let searched: i64 = conn
        .prepare_cached("SELECT count(*) FROM entries")?
        .query_row([], |row| row.get(0))?;
    let mut hits = Vec::new();
    for (at, session) in &walk.page {
        let Some(entry) = load::entry_at(conn, sql(*at))? else {
            continue;
        };
        hits.push(hit(marker, search, &entry, sessions.get(session))?);
    }
    Ok(SearchPage {
        hits,
        total: walk.total,
        searched: seq(searched),
        took_us: 0,
        problem: None,
        facets: walk.facets(),
    })
}

/// The entries that match, of those whose words are owed to the index.
fn owed(conn: &Connection, marker: &Marker, words: &str) -> Result<Vec<i64>, RecordError> {
    let owed = late::owed(conn, usize::MAX)?;
    if owed.is_empty() {
        return Ok(Vec::new());
    }
    let text = |settled: Settled| (sql(settled.entry.seq), text::search_text(&settled.entry));
    marker.matching(owed.into_iter().map(text), words)
}

fn sessions(conn: &Connection) -> Result<Sessions, RecordError> {
    let mut statement =
        conn.prepare_cached("SELECT key, view FROM sessions WHERE view IS NOT NULL")?;
    let mut rows = statement.query([])?;
    let mut sessions = Sessions::new();
    while let Some(row) = rows.next()? {
        let view = from_json("session", &row.get::<_, String>(1)?)?;
        sessions.insert(row.get(0)?, view);
    }
    Ok(sessions)
}

/// The state of a walk over all that matches the words.
struct Walk<'a> {
    search: &'a Search,
    sessions: &'a Sessions,
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

impl<'a> Walk<'a> {
    fn new(search: &'a Search, sessions: &'a Sessions, offset: u32, limit: u32) -> Self {
        let chosen = (!search.sessions.is_empty()).then(|| {
            let wanted = |view: &SessionView| search.sessions.iter().any(|text| names(view, text));
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

    fn see(&mut self, row: &Row<'_>) -> Result<(), RecordError> {
        let search = self.search;
        let at: At = row.get(4)?;
        if search.before.is_some_and(|before| at >= before)
            || search.after.is_some_and(|after| at < after)
            || !search.tools.is_empty() && !is_tool(&search.tools, column(row, 5)?)
            || !search.paths.is_empty() && !is_path(&search.paths, column(row, 6)?)
        {
            return Ok(());
        }
        let session: i64 = row.get(1)?;
        let state =
            column(row, 2)?.and_then(|name| STATES.into_iter().find(|s| s.as_str() == name));
        let mode = column(row, 3)?.and_then(|name| MODES.into_iter().find(|m| m.as_str() == name));
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
                self.page.push((seq(row.get(0)?), session));
            }
            self.total += 1;
        }
        Ok(())
    }

    fn facets(self) -> Vec<Facet> {
        let named = |filter: &str, counts: BTreeMap<&'static str, u64>| {
            let facet = |(value, count): (&str, u64)| Facet {
                filter: filter.to_owned(),
                value: value.to_owned(),
                label: label(value),
                count,
            };
            most(counts.into_iter().map(facet).collect())
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
        facets.extend(most(sessions.collect()));
        facets
    }
}

/// The values with the most hits, those first.
fn most(mut facets: Vec<Facet>) -> Vec<Facet> {
    facets.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.value.cmp(&b.value)));
    facets.truncate(FACET_VALUES_MAX);
    facets
}

/// A name as a person reads it: `safe_write` is "Safe write".
fn label(name: &str) -> String {
    let mut label = name.replace('_', " ");
    if let Some(first) = label.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    label
}

fn column<'r>(row: &'r Row<'_>, index: usize) -> Result<Option<&'r str>, RecordError> {
    row.get_ref(index)?
        .as_str_or_null()
        .map_err(|error| damaged("entry", &error))
}

/// Whether a session is meant: by its id, the beginning of its id, or by words of its title.
fn names(view: &SessionView, text: &str) -> bool {
    let title = view.title.to_lowercase();
    view.id.as_str().to_lowercase().starts_with(text)
        || text.split_whitespace().all(|word| title.contains(word))
}

fn is_tool(wanted: &[String], tool: Option<&str>) -> bool {
    let tool = tool.map(str::to_lowercase);
    tool.is_some_and(|tool| {
        wanted.iter().any(|wanted| match wanted.strip_suffix('*') {
            Some(stem) => tool.starts_with(stem),
            None => tool == *wanted,
        })
    })
}

fn is_path(wanted: &[String], paths: Option<&str>) -> bool {
    let paths = paths.map(str::to_lowercase);
    paths.is_some_and(|paths| {
        let mut paths = paths.lines();
        paths.any(|path| wanted.iter().any(|wanted| path.contains(wanted.as_str())))
    })
}

fn hit(
    marker: &Marker,
    search: &Search,
    entry: &Entry,
    session: Option<&SessionView>,
) -> Result<SearchHit, RecordError> {
    let call = row::call(entry);
    let title = match &entry.body {
        EntryBody::Person { .. } => "You",
        EntryBody::Errand { .. } => "Background",
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
    Ok(SearchHit {
        session: entry.session.clone(),
        session_title: session.map_or_else(String::new, |view| view.title.clone()),
        id: entry.id.clone(),
        seq: entry.seq,
        at: entry.at,
        body: row::body_name(&entry.body).to_owned(),
        kind: call.map(|view| view.kind),
        title: title.to_owned(),
        target: call.map_or_else(String::new, |view| {
            redact::text(&view.target).0.into_owned()
        }),
        state: call.map(|view| view.state),
        lines: marker.lines(&text::search_text(entry), search.words.as_deref(), skip)?,
    })
}

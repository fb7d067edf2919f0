//! Finds lines by pattern: lists all files by path first, then searches them in parallel in that order until there are
//! enough matches.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use globset::GlobMatcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};
use tokio_util::sync::CancellationToken;

use super::glob::build_matcher as glob_matcher;
use super::lines::LineCollector;
use super::walk::{EntryFilter, SearchRoot, thread_count, walk_entries};
use crate::fs::workspace::{PathKind, PathUse};
use crate::limits::{REGEX_BYTES_MAX, SEARCH_BATCH_FIRST, SEARCH_BATCH_MAX, SEARCH_HEAP_BYTES_MAX};
use crate::{FileError, Workspace};

/// A search for lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GrepQuery {
    /// A regular expression of the `regex` crate; it matches within a line.
    pub pattern: String,
    /// A file or folder to look in; the whole workspace if left out.
    pub under: Option<String>,
    /// Only files whose name fits, as in ripgrep's `-g`: `*.rs` fits at any depth, `src/*.rs` only there.
    pub include: Option<String>,
    /// Whether case does not matter.
    pub case_insensitive: bool,
}

/// One matching line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepMatch {
    /// Relative to the workspace root with `/`; absolute in a readable folder outside.
    pub path: String,
    /// Line number, from 1.
    pub line: u64,
    /// The line without its end; bytes that are not UTF-8 are replaced, a very long line is cut.
    pub text: String,
}

/// Lines found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepResult {
    /// Sorted by path and line.
    pub matches: Vec<GrepMatch>,
    /// Files in which the matches stand.
    pub files: usize,
    /// Whether there are more than the limit.
    pub more: bool,
    /// Files that were not searched because they are closed.
    pub closed: usize,
    /// Files that could not be searched: no permission, or a line that is too long.
    pub unreadable: usize,
}

/// Finds the lines that match; binary files are left out, `.gitignore` is honoured, hidden files are searched, `.git`
/// is not. A folder that is named is searched even where it is ignored.
///
/// # Errors
/// A bad pattern, a folder that is outside or missing, too many files, cancelled.
pub fn search_lines(
    workspace: &Workspace,
    query: &GrepQuery,
    matches_max: usize,
    cancel: &CancellationToken,
) -> Result<GrepResult, FileError> {
    let matcher = build_regex(query)?;
    let include = query
        .include
        .as_deref()
        .map(build_include_matcher)
        .transpose()?;
    let ground = SearchRoot::resolve_root(workspace, query.under.as_deref(), PathUse::Read)?;
    let closed = AtomicUsize::new(0);
    let paths = match ground.kind {
        PathKind::Folder => walk_entries(&ground, cancel, EntryFilter::Files, None, |rel| {
            let wanted = include.as_ref().is_none_or(|include| {
                include.is_match(rel.strip_prefix(&ground.rel).unwrap_or(rel))
            });
            let is_closed = wanted && workspace.is_closed(&ground.display_path(rel));
            closed.fetch_add(usize::from(is_closed), Ordering::Relaxed);
            wanted && !is_closed
        })?,
        PathKind::File => vec![ground.rel.clone()],
        PathKind::Link | PathKind::Special => {
            return Err(FileError::Special {
                path: query.under.clone().unwrap_or_default(),
            });
        }
    };
    let search = GrepSearch {
        ground: &ground,
        matcher: &matcher,
        matches_max,
        cancel,
    };
    let found = search.search_files(&paths)?;
    Ok(GrepResult {
        closed: closed.into_inner(),
        ..found
    })
}

fn build_regex(query: &GrepQuery) -> Result<RegexMatcher, FileError> {
    // Parsed alone first: the matcher wraps the pattern before it parses it, and then points beside the mistake.
    let parsed = regex_syntax::ParserBuilder::new()
        .multi_line(true)
        .build()
        .parse(&query.pattern);
    if let Err(error) = parsed {
        return Err(FileError::Pattern {
            pattern: query.pattern.clone(),
            reason: error.to_string(),
        });
    }
    RegexMatcherBuilder::new()
        .multi_line(true)
        .line_terminator(Some(b'\n'))
        .case_insensitive(query.case_insensitive)
        .size_limit(REGEX_BYTES_MAX)
        .build(&query.pattern)
        .map_err(|error| FileError::Pattern {
            pattern: query.pattern.clone(),
            reason: error.to_string(),
        })
}

fn build_include_matcher(pattern: &str) -> Result<GlobMatcher, FileError> {
    let bare = pattern.strip_prefix("./").unwrap_or(pattern);
    let anchored = match bare.strip_prefix('/') {
        Some(rest) => rest.to_owned(),
        None if bare.contains('/') => bare.to_owned(),
        None => format!("**/{bare}"),
    };
    glob_matcher(pattern, &anchored)
}

struct GrepSearch<'a> {
    ground: &'a SearchRoot,
    matcher: &'a RegexMatcher,
    matches_max: usize,
    cancel: &'a CancellationToken,
}

/// The matches of one file: its number in the list and its lines.
type FileMatches = (usize, Vec<GrepMatch>);

impl GrepSearch<'_> {
    /// Searches batch by batch, each larger than the last: a common word is found in the first, a rare one keeps all
    /// threads busy.
    fn search_files(&self, paths: &[PathBuf]) -> Result<GrepResult, FileError> {
        let mut result = GrepResult {
            matches: Vec::new(),
            files: 0,
            more: false,
            closed: 0,
            unreadable: 0,
        };
        let mut rest = paths;
        let mut batch_max = SEARCH_BATCH_FIRST;
        while !rest.is_empty() && result.matches.len() <= self.matches_max {
            let (batch, later) = rest.split_at(batch_max.min(rest.len()));
            let (hits, unread) = self.search_batch(batch);
            if self.cancel.is_cancelled() {
                return Err(FileError::Cancelled);
            }
            result.unreadable += unread;
            result
                .matches
                .extend(hits.into_iter().flat_map(|(_, lines)| lines));
            rest = later;
            batch_max = (batch_max * 2).min(SEARCH_BATCH_MAX);
        }
        result.more = result.matches.len() > self.matches_max;
        result.matches.truncate(self.matches_max);
        result.files = result
            .matches
            .chunk_by(|one, next| one.path == next.path)
            .count();
        Ok(result)
    }

    fn search_batch(&self, paths: &[PathBuf]) -> (Vec<FileMatches>, usize) {
        let next = AtomicUsize::new(0);
        let unread = AtomicUsize::new(0);
        let hits = Mutex::new(Vec::new());
        let work = || {
            let mut searcher = self.build_searcher();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(path) = paths.get(number) else { break };
                if self.cancel.is_cancelled() {
                    break;
                }
                match self.search_file(&mut searcher, path) {
                    Ok(lines) if lines.is_empty() => {}
                    Ok(lines) => {
                        let mut hits = hits.lock().unwrap_or_else(|poison| poison.into_inner());
                        hits.push((number, lines));
                    }
                    Err(_) => {
                        unread.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        };
        let others = thread_count().min(paths.len()).saturating_sub(1);
        std::thread::scope(|scope| {
            for _ in 0..others {
                scope.spawn(work);
            }
            work();
        });
        let mut hits: Vec<FileMatches> = hits
            .into_inner()
            .unwrap_or_else(|poison| poison.into_inner());
        hits.sort_unstable_by_key(|(number, _)| *number);
        (hits, unread.into_inner())
    }

    fn build_searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .line_number(true)
            .heap_limit(Some(SEARCH_HEAP_BYTES_MAX))
            // ripgrep, too, reads when it searches a tree; maps pay for single huge files only.
            .memory_map(MmapChoice::never())
            .build()
    }

    fn search_file(&self, searcher: &mut Searcher, rel: &Path) -> std::io::Result<Vec<GrepMatch>> {
        let file = self.ground.root.dir.open_file(rel)?;
        let mut lines = LineCollector {
            path: self.ground.display_path(rel),
            matches: Vec::new(),
            matches_max: self.matches_max.saturating_add(1),
        };
        searcher.search_file(self.matcher, &file, &mut lines)?;
        Ok(lines.matches)
    }
}

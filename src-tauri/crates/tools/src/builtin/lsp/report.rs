//! Formats the answer of a language server for a model: locations are checked first, and files closed by the rules are
//! left out.

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::{CallId, Capability, ToolError, ToolOutput};
use runtime::Workspace;

use super::resolve_in_workspace;
use crate::builtin::truncated_list::TruncatedList;
use crate::language_service::{
    Diagnostic, EncodedPosition, EncodedRange, LanguageResponse, LanguageResult, PositionEncoding,
    Severity, SourceDocument, SourceLines, SourceLocation, Symbol,
};
use crate::limits::{
    DOCUMENT_BYTES_MAX, LSP_LINE_CHARS_MAX, LSP_READ_BYTES_MAX, LSP_RESULTS_MAX,
    LSP_RESULTS_SHOWN_MAX, OUTSIDE_PATHS_SHOWN_MAX,
};
use crate::text::{escape_invisible, format_count, join_head, truncate_chars};
use crate::tool::ToolContext;

/// An answer formatted as lines.
pub(super) struct LanguageReport {
    lines: Vec<String>,
    /// Plural noun for the lines: "places".
    noun: &'static str,
    count: String,
    more: bool,
    notes: Vec<String>,
}

/// Where a location leads.
enum LocationTarget {
    Resolved(ResolvedLocation),
    Outside(String),
    /// The rules close the file, or it cannot be read.
    Closed,
    /// The file has no such position.
    Nowhere,
}

/// A place in a file of the workspace.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ResolvedLocation {
    path: String,
    /// Line and column, both from 1.
    line: u32,
    column: usize,
    /// Text of the line.
    text: String,
}

/// Resolves locations, reading every file once.
struct LocationReader<'a> {
    workspace: &'a Workspace,
    encoding: PositionEncoding,
    texts: BTreeMap<String, Option<Arc<str>>>,
    bytes: usize,
}

impl LanguageReport {
    /// Formats the response to a query about a document.
    pub(super) fn from_response(
        workspace: &Workspace,
        document: &SourceDocument,
        response: &LanguageResponse,
    ) -> Self {
        let mut reader = LocationReader::new(workspace, document, response.encoding);
        let mut report = match &response.result {
            LanguageResult::Locations(locations) => list_locations(&mut reader, locations),
            LanguageResult::Diagnostics(problems) => {
                list_diagnostics(document, response.encoding, problems)
            }
            LanguageResult::Symbols(symbols)
                if symbols
                    .iter()
                    .all(|one| is_in_document(&reader, document, one)) =>
            {
                list_outline(symbols)
            }
            LanguageResult::Symbols(symbols) => list_symbols(&mut reader, symbols),
            // A renaming is shown as a difference.
            LanguageResult::Edits(_) => Self::empty("places"),
        };
        if response.loading {
            report.notes.push(format!(
                "{} had not seen the whole workspace yet, so there may be more. Ask again in a moment.",
                escape_invisible(&response.server)
            ));
        }
        report
    }

    fn empty(noun: &'static str) -> Self {
        Self {
            lines: Vec::new(),
            noun,
            count: String::new(),
            more: false,
            notes: Vec::new(),
        }
    }

    /// Returns the output; a list that is too long goes to the session's folder.
    pub(super) fn into_output(
        self,
        context: &ToolContext,
        call: &CallId,
    ) -> Result<ToolOutput, ToolError> {
        let notes: Vec<String> = self.notes.iter().map(|note| format!("[{note}]")).collect();
        if self.lines.is_empty() {
            let lines = format!("No {} were found.", self.noun);
            let lines = std::iter::once(lines).chain(notes).collect::<Vec<_>>();
            return Ok(ToolOutput::new_empty(
                lines.join("\n"),
                format!("no {}", self.noun),
            ));
        }
        let listing = TruncatedList {
            lines: self.lines,
            shown_max: LSP_RESULTS_SHOWN_MAX,
            has_more: self.more,
            noun: self.noun,
            count: self.count,
        };
        let mut output = listing.into_output(context, call)?;
        for note in notes {
            output.text.push('\n');
            output.text.push_str(&note);
        }
        Ok(output)
    }
}

impl<'a> LocationReader<'a> {
    fn new(
        workspace: &'a Workspace,
        document: &SourceDocument,
        encoding: PositionEncoding,
    ) -> Self {
        let texts = BTreeMap::from([(document.path.clone(), Some(document.text.clone()))]);
        Self {
            workspace,
            encoding,
            texts,
            bytes: document.text.len(),
        }
    }

    /// Resolves the real path of the location's file, relative to the workspace root; `None` if the file is outside of
    /// the workspace.
    fn resolve_file(&self, location: &SourceLocation) -> Option<String> {
        let file = location.file.as_deref()?.to_str()?;
        resolve_in_workspace(self.workspace, Capability::FsRead, file)
    }

    fn load_text(&mut self, path: &str) -> Option<Arc<str>> {
        if let Some(text) = self.texts.get(path) {
            return text.clone();
        }
        let bytes = self
            .workspace
            .read_whole(path, DOCUMENT_BYTES_MAX as u64)
            .ok()
            .flatten();
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        let text: Option<Arc<str>> = text.map(Arc::from);
        self.bytes += text.as_ref().map_or(0, |text| text.len());
        if self.bytes > LSP_READ_BYTES_MAX {
            self.texts.clear();
            self.bytes = 0;
        }
        self.texts.insert(path.to_owned(), text.clone());
        text
    }

    fn resolve_location(&mut self, location: &SourceLocation) -> LocationTarget {
        let Some(path) = self.resolve_file(location) else {
            let line = location.range.start.line.saturating_add(1);
            let name = location
                .file
                .as_ref()
                .map(|file| file.display().to_string());
            let name = name.unwrap_or_else(|| location.address.clone());
            let name = truncate_chars(&escape_invisible(&name), LSP_LINE_CHARS_MAX);
            return LocationTarget::Outside(format!("{name}:{line}"));
        };
        let Some(text) = self.load_text(&path) else {
            return LocationTarget::Closed;
        };
        let lines = SourceLines::new(&text);
        match lines.line(location.range.start.line as usize) {
            None => LocationTarget::Nowhere,
            Some(line) => LocationTarget::Resolved(ResolvedLocation {
                path: escape_invisible(&path),
                line: location.range.start.line.saturating_add(1),
                column: char_column(line, location.range.start, self.encoding),
                text: to_one_line(line),
            }),
        }
    }
}

/// Returns the column in characters, from 1; a point beyond the line's end gives the end of the line.
fn char_column(line: &str, point: EncodedPosition, encoding: PositionEncoding) -> usize {
    let byte = encoding.byte_offset(line, point.unit).unwrap_or(line.len());
    line.get(..byte).unwrap_or(line).chars().count() + 1
}

/// Formats text of a server as one line, shortened and with hidden characters escaped.
fn to_one_line(line: &str) -> String {
    truncate_chars(&escape_invisible(line.trim()), LSP_LINE_CHARS_MAX)
}

/// Counts of the omitted locations, for notes in the output.
#[derive(Default)]
struct OmittedLocations {
    outside: Vec<String>,
    closed: u64,
    nowhere: u64,
}

impl OmittedLocations {
    fn into_notes(mut self) -> Vec<String> {
        let mut notes = Vec::new();
        self.outside.sort();
        self.outside.dedup();
        if !self.outside.is_empty() {
            notes.push(format!(
                "Outside of the workspace: {}.",
                join_head(&self.outside, OUTSIDE_PATHS_SHOWN_MAX)
            ));
        }
        if self.closed > 0 {
            let places = format_count(self.closed, "place is", "places are");
            notes.push(format!(
                "{places} left out: in files that cannot be read, or that rules close."
            ));
        }
        if self.nowhere > 0 {
            let places = format_count(self.nowhere, "place", "places");
            notes.push(format!("The server named {places} that no file has."));
        }
        notes
    }

    fn filter_target(&mut self, target: LocationTarget) -> Option<ResolvedLocation> {
        match target {
            LocationTarget::Resolved(location) => return Some(location),
            LocationTarget::Outside(name) => self.outside.push(name),
            LocationTarget::Closed => self.closed += 1,
            LocationTarget::Nowhere => self.nowhere += 1,
        }
        None
    }
}

/// Lists locations, grouped by file.
fn list_locations(reader: &mut LocationReader<'_>, locations: &[SourceLocation]) -> LanguageReport {
    let mut omitted = OmittedLocations::default();
    let mut places: Vec<ResolvedLocation> = locations
        .iter()
        .take(LSP_RESULTS_MAX)
        .filter_map(|location| omitted.filter_target(reader.resolve_location(location)))
        .collect();
    places.sort();
    places.dedup();
    let mut files: Vec<&str> = places.iter().map(|place| place.path.as_str()).collect();
    files.dedup();
    let count = format!(
        "{} in {}",
        format_count(places.len() as u64, "place", "places"),
        format_count(files.len() as u64, "file", "files")
    );
    let lines = places.iter().map(|place| {
        let ResolvedLocation {
            path,
            line,
            column,
            text,
        } = place;
        format!("{path}:{line}:{column}: {text}")
    });
    LanguageReport {
        lines: lines.collect(),
        count,
        more: locations.len() > LSP_RESULTS_MAX,
        notes: omitted.into_notes(),
        ..LanguageReport::empty("places")
    }
}

/// Lists the problems of a document, from the top of the file.
fn list_diagnostics(
    document: &SourceDocument,
    encoding: PositionEncoding,
    problems: &[Diagnostic],
) -> LanguageReport {
    let lines = SourceLines::new(&document.text);
    let mut sorted: Vec<&Diagnostic> = problems.iter().take(LSP_RESULTS_MAX).collect();
    sorted.sort_by_key(|problem| (problem.range, problem.severity));
    let line = |problem: &&Diagnostic| {
        let start = problem.range.start;
        let column = lines
            .line(start.line as usize)
            .map_or(1, |line| char_column(line, start, encoding));
        let origin = [&problem.source, &problem.code];
        let origin: Vec<String> = origin
            .into_iter()
            .flatten()
            .map(|one| escape_invisible(one))
            .collect();
        let origin = match origin.is_empty() {
            true => String::new(),
            false => format!(" [{}]", truncate_chars(&origin.join(" "), 80)),
        };
        let message = problem.message.split_whitespace().collect::<Vec<_>>();
        format!(
            "{}:{}:{column}: {}{origin}: {}",
            escape_invisible(&document.path),
            start.line.saturating_add(1),
            problem.severity.as_str(),
            to_one_line(&message.join(" "))
        )
    };
    let of = |severity, one, many| {
        let count = problems
            .iter()
            .filter(|problem| problem.severity == severity);
        let count = count.count() as u64;
        (count > 0).then(|| format_count(count, one, many))
    };
    let counts = [
        of(Severity::Error, "error", "errors"),
        of(Severity::Warning, "warning", "warnings"),
        of(Severity::Information, "note", "notes"),
        of(Severity::Hint, "hint", "hints"),
    ];
    LanguageReport {
        lines: sorted.iter().map(line).collect(),
        count: counts.into_iter().flatten().collect::<Vec<_>>().join(", "),
        more: problems.len() > LSP_RESULTS_MAX,
        ..LanguageReport::empty("problems")
    }
}

fn is_in_document(reader: &LocationReader<'_>, document: &SourceDocument, symbol: &Symbol) -> bool {
    reader.resolve_file(&symbol.location).as_deref() == Some(&document.path)
}

/// Lists the symbols that one file defines.
fn list_outline(symbols: &[Symbol]) -> LanguageReport {
    let line = |symbol: &Symbol| {
        let EncodedRange { start, end } = symbol.location.range;
        let lines = match start.line == end.line {
            true => format!("{}", start.line.saturating_add(1)),
            false => format!(
                "{}-{}",
                start.line.saturating_add(1),
                end.line.saturating_add(1)
            ),
        };
        let indent = "  ".repeat(symbol.depth.min(20));
        let (kind, name) = (escape_invisible(&symbol.kind), to_one_line(&symbol.name));
        format!("{indent}{kind} {name} {lines}")
    };
    LanguageReport {
        lines: symbols.iter().take(LSP_RESULTS_MAX).map(line).collect(),
        count: format_count(
            symbols.len().min(LSP_RESULTS_MAX) as u64,
            "symbol",
            "symbols",
        ),
        more: symbols.len() > LSP_RESULTS_MAX,
        ..LanguageReport::empty("symbols")
    }
}

/// Lists the symbols that the workspace defines under a name.
fn list_symbols(reader: &mut LocationReader<'_>, symbols: &[Symbol]) -> LanguageReport {
    let mut omitted = OmittedLocations::default();
    let mut lines = Vec::new();
    for symbol in symbols.iter().take(LSP_RESULTS_MAX) {
        let Some(ResolvedLocation {
            path, line, column, ..
        }) = omitted.filter_target(reader.resolve_location(&symbol.location))
        else {
            continue;
        };
        let container = symbol.container.as_deref().filter(|name| !name.is_empty());
        let container =
            container.map_or_else(String::new, |name| format!(" in {}", to_one_line(name)));
        let (kind, name) = (escape_invisible(&symbol.kind), to_one_line(&symbol.name));
        lines.push(format!("{path}:{line}:{column}: {kind} {name}{container}"));
    }
    LanguageReport {
        count: format_count(lines.len() as u64, "symbol", "symbols"),
        lines,
        more: symbols.len() > LSP_RESULTS_MAX,
        notes: omitted.into_notes(),
        ..LanguageReport::empty("symbols")
    }
}

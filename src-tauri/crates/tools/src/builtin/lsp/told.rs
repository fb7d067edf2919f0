//! What a language server knows, as a model reads it: where it leads is looked at first, and what the rules close stays out.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use protocol::{Access, CallId, Capability, ToolError, ToolOutput};
use runtime::Workspace;

use crate::builtin::listing::Listing;
use crate::languages::{
    Answered, Document, Encoding, Known, Lines, Point, Problem, Severity, Span, Spot, Symbol,
};
use crate::limits::{
    DOCUMENT_BYTES_MAX, KNOWN_BYTES_MAX, KNOWN_LINE_CHARS_MAX, KNOWN_MAX, KNOWN_SHOWN_MAX,
    OUTSIDE_TOLD_MAX,
};
use crate::text::{plural, shortened, visible};
use crate::tool::Hands;

/// An answer in lines.
pub(super) struct Told {
    lines: Vec<String>,
    what: (&'static str, &'static str),
    count: String,
    more: bool,
    notes: Vec<String>,
}

/// Where a place leads.
enum Leads {
    /// Path, line and column from 1, and the line's text.
    To(String, u32, usize, String),
    Outside(String),
    /// The rules close the file, or it cannot be read.
    Closed,
    /// There is no such place in the file.
    Nowhere,
}

/// Looks at places: every file is read once.
struct Looker<'a> {
    workspace: &'a Workspace,
    encoding: Encoding,
    known: BTreeMap<String, Option<Arc<str>>>,
    bytes: usize,
}

impl Told {
    /// What is told of an answer about a document.
    pub(super) fn of(workspace: &Workspace, document: &Document, answered: &Answered) -> Self {
        let mut looker = Looker::new(workspace, document, answered.encoding);
        let mut told = match &answered.known {
            Known::Spots(spots) => places(&mut looker, spots),
            Known::Problems(problems) => wrong(document, answered.encoding, problems),
            Known::Symbols(symbols) if symbols.iter().all(|one| is_of(&looker, document, one)) => {
                outline(symbols)
            }
            Known::Symbols(symbols) => named(&mut looker, symbols),
            // A renaming is shown as a difference.
            Known::Edits(_) => Self::nothing(("place", "places")),
        };
        if answered.loading {
            told.notes.push(format!(
                "{} had not seen the whole workspace yet, so there may be more. Ask again in a moment.",
                visible(&answered.server)
            ));
        }
        told
    }

    fn nothing(what: (&'static str, &'static str)) -> Self {
        Self {
            lines: Vec::new(),
            what,
            count: String::new(),
            more: false,
            notes: Vec::new(),
        }
    }

    /// The output; a list that is too long goes to the session's folder.
    pub(super) fn output(self, hands: &Hands, call: &CallId) -> Result<ToolOutput, ToolError> {
        let notes: Vec<String> = self.notes.iter().map(|note| format!("[{note}]")).collect();
        if self.lines.is_empty() {
            let said = format!("No {} were found.", self.what.1);
            let said = std::iter::once(said).chain(notes).collect::<Vec<_>>();
            return Ok(ToolOutput::nothing(
                said.join("\n"),
                format!("no {}", self.what.1),
            ));
        }
        let listing = Listing {
            lines: self.lines,
            shown_max: KNOWN_SHOWN_MAX,
            more: self.more,
            what: self.what.1,
            count: self.count,
        };
        let mut output = listing.output(hands, call)?;
        for note in notes {
            output.text.push('\n');
            output.text.push_str(&note);
        }
        Ok(output)
    }
}

impl<'a> Looker<'a> {
    fn new(workspace: &'a Workspace, document: &Document, encoding: Encoding) -> Self {
        let known = BTreeMap::from([(document.path.clone(), Some(document.text.clone()))]);
        Self {
            workspace,
            encoding,
            known,
            bytes: document.text.len(),
        }
    }

    /// Where a file really is, relative to the workspace root; none if it is not in the workspace.
    fn within(&self, spot: &Spot) -> Option<String> {
        let file = spot.file.as_deref()?.to_str()?;
        let fact = self
            .workspace
            .resolve(&Access::new(Capability::FsRead, file));
        let is_own =
            fact.inside && fact.unresolved.is_none() && !Path::new(&fact.real).is_absolute();
        is_own.then_some(fact.real)
    }

    fn text(&mut self, path: &str) -> Option<Arc<str>> {
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        let bytes = self
            .workspace
            .read_whole(path, DOCUMENT_BYTES_MAX as u64)
            .ok()
            .flatten();
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        let text: Option<Arc<str>> = text.map(Arc::from);
        self.bytes += text.as_ref().map_or(0, |text| text.len());
        if self.bytes > KNOWN_BYTES_MAX {
            self.known.clear();
            self.bytes = 0;
        }
        self.known.insert(path.to_owned(), text.clone());
        text
    }

    fn leads(&mut self, spot: &Spot) -> Leads {
        let Some(path) = self.within(spot) else {
            let line = spot.span.start.line.saturating_add(1);
            let named = spot.file.as_ref().map(|file| file.display().to_string());
            let named = named.unwrap_or_else(|| spot.address.clone());
            let named = shortened(&visible(&named), KNOWN_LINE_CHARS_MAX);
            return Leads::Outside(format!("{named}:{line}"));
        };
        let Some(text) = self.text(&path) else {
            return Leads::Closed;
        };
        let lines = Lines::of(&text);
        match lines.line(spot.span.start.line as usize) {
            None => Leads::Nowhere,
            Some(line) => {
                let column = column(line, spot.span.start, self.encoding);
                let number = spot.span.start.line.saturating_add(1);
                Leads::To(visible(&path), number, column, shown(line))
            }
        }
    }
}

/// A column in characters, from 1; beyond the line's end it is that end.
fn column(line: &str, point: Point, encoding: Encoding) -> usize {
    let byte = encoding.byte(line, point.unit).unwrap_or(line.len());
    line.get(..byte).unwrap_or(line).chars().count() + 1
}

/// Words of others in one line.
fn shown(line: &str) -> String {
    shortened(&visible(line.trim()), KNOWN_LINE_CHARS_MAX)
}

/// What was left out, in sentences.
#[derive(Default)]
struct Left {
    outside: Vec<String>,
    closed: u64,
    nowhere: u64,
}

impl Left {
    fn notes(mut self) -> Vec<String> {
        let mut notes = Vec::new();
        self.outside.sort();
        self.outside.dedup();
        if !self.outside.is_empty() {
            let (named, more) = self
                .outside
                .split_at(self.outside.len().min(OUTSIDE_TOLD_MAX));
            let more = match more.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            notes.push(format!(
                "Outside of the workspace: {}{more}.",
                named.join(", ")
            ));
        }
        if self.closed > 0 {
            let places = plural(self.closed, "place is", "places are");
            notes.push(format!(
                "{places} left out: in files that cannot be read, or that rules close."
            ));
        }
        if self.nowhere > 0 {
            let places = plural(self.nowhere, "place", "places");
            notes.push(format!("The server named {places} that no file has."));
        }
        notes
    }

    fn take(&mut self, leads: Leads) -> Option<(String, u32, usize, String)> {
        match leads {
            Leads::To(path, line, column, text) => return Some((path, line, column, text)),
            Leads::Outside(named) => self.outside.push(named),
            Leads::Closed => self.closed += 1,
            Leads::Nowhere => self.nowhere += 1,
        }
        None
    }
}

/// Places, by file.
fn places(looker: &mut Looker<'_>, spots: &[Spot]) -> Told {
    let mut left = Left::default();
    let mut found: Vec<(String, u32, usize, String)> = spots
        .iter()
        .take(KNOWN_MAX)
        .filter_map(|spot| left.take(looker.leads(spot)))
        .collect();
    found.sort();
    found.dedup();
    let mut files: Vec<&str> = found.iter().map(|(path, ..)| path.as_str()).collect();
    files.dedup();
    let count = format!(
        "{} in {}",
        plural(found.len() as u64, "place", "places"),
        plural(files.len() as u64, "file", "files")
    );
    let line = |(path, line, column, text): &(String, u32, usize, String)| {
        format!("{path}:{line}:{column}: {text}")
    };
    Told {
        lines: found.iter().map(line).collect(),
        count,
        more: spots.len() > KNOWN_MAX,
        notes: left.notes(),
        ..Told::nothing(("place", "places"))
    }
}

/// What is wrong, from the top of the file.
fn wrong(document: &Document, encoding: Encoding, problems: &[Problem]) -> Told {
    let lines = Lines::of(&document.text);
    let mut sorted: Vec<&Problem> = problems.iter().take(KNOWN_MAX).collect();
    sorted.sort_by_key(|problem| (problem.span, problem.severity));
    let line = |problem: &&Problem| {
        let start = problem.span.start;
        let column = lines
            .line(start.line as usize)
            .map_or(1, |line| column(line, start, encoding));
        let said = [&problem.source, &problem.code];
        let said: Vec<String> = said.into_iter().flatten().map(|one| visible(one)).collect();
        let said = match said.is_empty() {
            true => String::new(),
            false => format!(" [{}]", shortened(&said.join(" "), 80)),
        };
        let message = problem.message.split_whitespace().collect::<Vec<_>>();
        format!(
            "{}:{}:{column}: {}{said}: {}",
            visible(&document.path),
            start.line.saturating_add(1),
            problem.severity.as_str(),
            shown(&message.join(" "))
        )
    };
    let of = |severity, one, many| {
        let count = problems
            .iter()
            .filter(|problem| problem.severity == severity);
        let count = count.count() as u64;
        (count > 0).then(|| plural(count, one, many))
    };
    let counts = [
        of(Severity::Error, "error", "errors"),
        of(Severity::Warning, "warning", "warnings"),
        of(Severity::Information, "note", "notes"),
        of(Severity::Hint, "hint", "hints"),
    ];
    Told {
        lines: sorted.iter().map(line).collect(),
        count: counts.into_iter().flatten().collect::<Vec<_>>().join(", "),
        more: problems.len() > KNOWN_MAX,
        ..Told::nothing(("problem", "problems"))
    }
}

fn is_of(looker: &Looker<'_>, document: &Document, symbol: &Symbol) -> bool {
    looker.within(&symbol.spot).as_deref() == Some(&document.path)
}

/// What one file defines.
fn outline(symbols: &[Symbol]) -> Told {
    let line = |symbol: &Symbol| {
        let Span { start, end } = symbol.spot.span;
        let lines = match start.line == end.line {
            true => format!("{}", start.line.saturating_add(1)),
            false => format!(
                "{}-{}",
                start.line.saturating_add(1),
                end.line.saturating_add(1)
            ),
        };
        let indent = "  ".repeat(symbol.depth.min(20));
        let (kind, name) = (visible(&symbol.kind), shown(&symbol.name));
        format!("{indent}{kind} {name} {lines}")
    };
    Told {
        lines: symbols.iter().take(KNOWN_MAX).map(line).collect(),
        count: plural(symbols.len().min(KNOWN_MAX) as u64, "symbol", "symbols"),
        more: symbols.len() > KNOWN_MAX,
        ..Told::nothing(("symbol", "symbols"))
    }
}

/// What the workspace defines under a name.
fn named(looker: &mut Looker<'_>, symbols: &[Symbol]) -> Told {
    let mut left = Left::default();
    let mut lines = Vec::new();
    for symbol in symbols.iter().take(KNOWN_MAX) {
        let Some((path, line, column, _)) = left.take(looker.leads(&symbol.spot)) else {
            continue;
        };
        let container = symbol.container.as_deref().filter(|name| !name.is_empty());
        let container = container.map_or_else(String::new, |name| format!(" in {}", shown(name)));
        let (kind, name) = (visible(&symbol.kind), shown(&symbol.name));
        lines.push(format!("{path}:{line}:{column}: {kind} {name}{container}"));
    }
    Told {
        count: plural(lines.len() as u64, "symbol", "symbols"),
        lines,
        more: symbols.len() > KNOWN_MAX,
        notes: left.notes(),
        ..Told::nothing(("symbol", "symbols"))
    }
}

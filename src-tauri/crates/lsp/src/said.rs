//! From the protocol's words to what is known: places, problems, symbols and changes.

use lsp_types::{
    Diagnostic, DiagnosticSeverity, DocumentChangeOperation, DocumentChanges,
    DocumentDiagnosticReport, DocumentSymbol, DocumentSymbolResponse, GotoDefinitionResponse,
    Location, NumberOrString, OneOf, Range, SymbolInformation, SymbolKind, TextDocumentEdit,
    TextEdit, Uri, WorkspaceEdit, WorkspaceSymbolResponse,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tools::languages::{FileEdits, Known, Point, Problem, Severity, Span, Spot, Symbol};

use crate::address;
use crate::limits::{PROBLEMS_MAX, SPOTS_MAX, SYMBOL_DEPTH_MAX, SYMBOLS_MAX};

/// An answer, or why it is none, as a clause.
type Read<T> = Result<T, String>;

fn parsed<T: DeserializeOwned>(answer: Value, what: &str) -> Read<Option<T>> {
    serde_json::from_value(answer)
        .map_err(|error| format!("it answered with something that is no {what} ({error})"))
}

/// Places.
pub(crate) fn spots(answer: Value) -> Read<Known> {
    let found = match parsed(answer, "list of places")? {
        None => Vec::new(),
        Some(GotoDefinitionResponse::Scalar(one)) => vec![spot(&one)],
        Some(GotoDefinitionResponse::Array(all)) => all.iter().take(SPOTS_MAX).map(spot).collect(),
        Some(GotoDefinitionResponse::Link(all)) => {
            let links = all.iter().take(SPOTS_MAX);
            links
                .map(|link| at(&link.target_uri, link.target_selection_range))
                .collect()
        }
    };
    Ok(Known::Spots(found))
}

/// Problems that were asked for; none where they did not change since, which nobody asked.
pub(crate) fn pulled(answer: Value) -> Read<Known> {
    let report: Option<DocumentDiagnosticReport> = parsed(answer, "list of problems")?;
    match report {
        Some(DocumentDiagnosticReport::Full(full)) => {
            Ok(problems(full.full_document_diagnostic_report.items))
        }
        Some(DocumentDiagnosticReport::Unchanged(_)) | None => {
            Err("it did not say which problems there are".to_owned())
        }
    }
}

/// Problems.
pub(crate) fn problems(all: Vec<Diagnostic>) -> Known {
    let problem = |one: Diagnostic| Problem {
        span: span(one.range),
        severity: match one.severity {
            Some(DiagnosticSeverity::WARNING) => Severity::Warning,
            Some(DiagnosticSeverity::INFORMATION) => Severity::Information,
            Some(DiagnosticSeverity::HINT) => Severity::Hint,
            // What is not said is taken for the worst.
            _ => Severity::Error,
        },
        code: one.code.map(|code| match code {
            NumberOrString::Number(number) => number.to_string(),
            NumberOrString::String(text) => text,
        }),
        source: one.source,
        message: one.message,
    };
    Known::Problems(all.into_iter().take(PROBLEMS_MAX).map(problem).collect())
}

/// What a document defines.
pub(crate) fn symbols(answer: Value, document: &str) -> Read<Known> {
    let mut found = Vec::new();
    match parsed(answer, "list of symbols")? {
        None => {}
        Some(DocumentSymbolResponse::Flat(all)) => {
            found.extend(all.into_iter().take(SYMBOLS_MAX).map(flat));
        }
        Some(DocumentSymbolResponse::Nested(all)) => nest(all, document, 0, &mut found),
    }
    Ok(Known::Symbols(found))
}

/// What a workspace defines.
pub(crate) fn found(answer: Value) -> Read<Known> {
    let found = match parsed(answer, "list of symbols")? {
        None => Vec::new(),
        Some(WorkspaceSymbolResponse::Flat(all)) => {
            all.into_iter().take(SYMBOLS_MAX).map(flat).collect()
        }
        Some(WorkspaceSymbolResponse::Nested(all)) => all
            .into_iter()
            .take(SYMBOLS_MAX)
            .map(|one| Symbol {
                name: one.name,
                kind: kind(one.kind),
                container: one.container_name,
                depth: 0,
                spot: match one.location {
                    OneOf::Left(location) => spot(&location),
                    OneOf::Right(file) => at(&file.uri, Range::default()),
                },
            })
            .collect(),
    };
    Ok(Known::Symbols(found))
}

fn nest(all: Vec<DocumentSymbol>, document: &str, depth: usize, found: &mut Vec<Symbol>) {
    for one in all {
        if found.len() >= SYMBOLS_MAX || depth > SYMBOL_DEPTH_MAX {
            return;
        }
        found.push(Symbol {
            name: one.name,
            kind: kind(one.kind),
            container: None,
            depth,
            spot: Spot {
                file: address::file(document),
                address: document.to_owned(),
                span: span(one.range),
            },
        });
        nest(one.children.unwrap_or_default(), document, depth + 1, found);
    }
}

fn flat(one: SymbolInformation) -> Symbol {
    Symbol {
        spot: spot(&one.location),
        name: one.name,
        kind: kind(one.kind),
        container: one.container_name,
        depth: 0,
    }
}

/// "function", "enum member".
fn kind(kind: SymbolKind) -> String {
    let name = format!("{kind:?}");
    let mut words = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}

/// What would change; the error says why it cannot be taken.
pub(crate) fn edits(answer: Value) -> Read<Known> {
    let edit: WorkspaceEdit = match parsed(answer, "renaming")? {
        None => return Ok(Known::Edits(Vec::new())),
        Some(edit) => edit,
    };
    let mut files = Vec::new();
    let documents = match edit.document_changes {
        None => {
            let changes = edit.changes.into_iter().flatten();
            files.extend(changes.map(|(uri, edits)| one_file(&uri, edits.iter())));
            Vec::new()
        }
        Some(DocumentChanges::Edits(documents)) => documents,
        Some(DocumentChanges::Operations(operations)) => operations
            .into_iter()
            .map(|operation| match operation {
                DocumentChangeOperation::Edit(edit) => Ok(edit),
                DocumentChangeOperation::Op(_) => Err(
                    "it wants to make, move or delete files as well, which a renaming here cannot do"
                        .to_owned(),
                ),
            })
            .collect::<Read<_>>()?,
    };
    files.extend(documents.iter().map(of_document));
    files.sort_by(|one: &FileEdits, other| one.address.cmp(&other.address));
    Ok(Known::Edits(files))
}

fn of_document(document: &TextDocumentEdit) -> FileEdits {
    let edits = document.edits.iter().map(|edit| match edit {
        OneOf::Left(edit) => edit,
        OneOf::Right(annotated) => &annotated.text_edit,
    });
    one_file(&document.text_document.uri, edits)
}

fn one_file<'a>(uri: &Uri, edits: impl Iterator<Item = &'a TextEdit>) -> FileEdits {
    FileEdits {
        file: address::file(uri.as_str()),
        address: uri.as_str().to_owned(),
        edits: edits
            .map(|edit| (span(edit.range), edit.new_text.clone()))
            .collect(),
    }
}

fn spot(location: &Location) -> Spot {
    at(&location.uri, location.range)
}

fn at(uri: &Uri, range: Range) -> Spot {
    Spot {
        file: address::file(uri.as_str()),
        address: uri.as_str().to_owned(),
        span: span(range),
    }
}

fn span(range: Range) -> Span {
    let point = |at: lsp_types::Position| Point {
        line: at.line,
        unit: at.character,
    };
    Span {
        start: point(range.start),
        end: point(range.end),
    }
}

//! Converts answers of the protocol: locations, problems, symbols and edits.

use lsp_types::{
    Diagnostic as LspDiagnostic, DiagnosticSeverity, DocumentChangeOperation, DocumentChanges,
    DocumentDiagnosticReport, DocumentSymbol, DocumentSymbolResponse, GotoDefinitionResponse,
    Location, NumberOrString, OneOf, Range, SymbolInformation, SymbolKind, TextDocumentEdit,
    TextEdit, Uri, WorkspaceEdit, WorkspaceSymbolResponse,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tools::language_service::{
    Diagnostic, EncodedPosition, EncodedRange, FileEdits, LanguageResult, Severity, SourceLocation,
    Symbol,
};

use crate::file_uri;
use crate::limits::{LOCATIONS_MAX, PROBLEMS_MAX, SYMBOL_DEPTH_MAX, SYMBOLS_MAX};

/// A parsed answer, or the reason why it is not valid, as a clause.
type ParseResult<T> = Result<T, String>;

fn parse_answer<T: DeserializeOwned>(answer: Value, what: &str) -> ParseResult<Option<T>> {
    serde_json::from_value(answer)
        .map_err(|error| format!("it answered with something that is not a {what} ({error})"))
}

/// Parses an answer with locations.
pub(crate) fn parse_locations(answer: Value) -> ParseResult<LanguageResult> {
    let locations = match parse_answer(answer, "list of places")? {
        None => Vec::new(),
        Some(GotoDefinitionResponse::Scalar(one)) => vec![convert_location(&one)],
        Some(GotoDefinitionResponse::Array(all)) => all
            .iter()
            .take(LOCATIONS_MAX)
            .map(convert_location)
            .collect(),
        Some(GotoDefinitionResponse::Link(all)) => {
            let links = all.iter().take(LOCATIONS_MAX);
            links
                .map(|link| location_at(&link.target_uri, link.target_selection_range))
                .collect()
        }
    };
    Ok(LanguageResult::Locations(locations))
}

/// Parses problems that were requested. An answer that they did not change is an error, since no previous result was
/// given.
pub(crate) fn parse_pulled_diagnostics(answer: Value) -> ParseResult<LanguageResult> {
    let report: Option<DocumentDiagnosticReport> = parse_answer(answer, "list of problems")?;
    match report {
        Some(DocumentDiagnosticReport::Full(full)) => Ok(convert_diagnostics(
            full.full_document_diagnostic_report.items,
        )),
        Some(DocumentDiagnosticReport::Unchanged(_)) | None => {
            Err("it did not say which problems there are".to_owned())
        }
    }
}

/// Converts problems of the protocol.
pub(crate) fn convert_diagnostics(all: Vec<LspDiagnostic>) -> LanguageResult {
    let problem = |one: LspDiagnostic| Diagnostic {
        range: convert_range(one.range),
        severity: match one.severity {
            Some(DiagnosticSeverity::WARNING) => Severity::Warning,
            Some(DiagnosticSeverity::INFORMATION) => Severity::Information,
            Some(DiagnosticSeverity::HINT) => Severity::Hint,
            // A missing severity is taken for the worst one.
            _ => Severity::Error,
        },
        code: one.code.map(|code| match code {
            NumberOrString::Number(number) => number.to_string(),
            NumberOrString::String(text) => text,
        }),
        source: one.source,
        message: one.message,
    };
    LanguageResult::Diagnostics(all.into_iter().take(PROBLEMS_MAX).map(problem).collect())
}

/// Parses the symbols that a document defines.
pub(crate) fn parse_document_symbols(answer: Value, document: &str) -> ParseResult<LanguageResult> {
    let mut symbols = Vec::new();
    match parse_answer(answer, "list of symbols")? {
        None => {}
        Some(DocumentSymbolResponse::Flat(all)) => {
            symbols.extend(
                all.into_iter()
                    .take(SYMBOLS_MAX)
                    .map(convert_symbol_information),
            );
        }
        Some(DocumentSymbolResponse::Nested(all)) => {
            flatten_nested_symbols(all, document, 0, &mut symbols)
        }
    }
    Ok(LanguageResult::Symbols(symbols))
}

/// Parses the symbols that a workspace defines.
pub(crate) fn parse_workspace_symbols(answer: Value) -> ParseResult<LanguageResult> {
    let symbols = match parse_answer(answer, "list of symbols")? {
        None => Vec::new(),
        Some(WorkspaceSymbolResponse::Flat(all)) => all
            .into_iter()
            .take(SYMBOLS_MAX)
            .map(convert_symbol_information)
            .collect(),
        Some(WorkspaceSymbolResponse::Nested(all)) => all
            .into_iter()
            .take(SYMBOLS_MAX)
            .map(|one| Symbol {
                name: one.name,
                kind: symbol_kind_name(one.kind),
                container: one.container_name,
                depth: 0,
                location: match one.location {
                    OneOf::Left(location) => convert_location(&location),
                    OneOf::Right(file) => location_at(&file.uri, Range::default()),
                },
            })
            .collect(),
    };
    Ok(LanguageResult::Symbols(symbols))
}

fn flatten_nested_symbols(
    all: Vec<DocumentSymbol>,
    document: &str,
    depth: usize,
    symbols: &mut Vec<Symbol>,
) {
    for one in all {
        if symbols.len() >= SYMBOLS_MAX || depth > SYMBOL_DEPTH_MAX {
            return;
        }
        symbols.push(Symbol {
            name: one.name,
            kind: symbol_kind_name(one.kind),
            container: None,
            depth,
            location: SourceLocation {
                file: file_uri::uri_to_path(document),
                address: document.to_owned(),
                range: convert_range(one.range),
            },
        });
        flatten_nested_symbols(
            one.children.unwrap_or_default(),
            document,
            depth + 1,
            symbols,
        );
    }
}

fn convert_symbol_information(one: SymbolInformation) -> Symbol {
    Symbol {
        location: convert_location(&one.location),
        name: one.name,
        kind: symbol_kind_name(one.kind),
        container: one.container_name,
        depth: 0,
    }
}

/// Returns the name of a symbol kind: "function", "enum member".
fn symbol_kind_name(kind: SymbolKind) -> String {
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

/// Parses the edits of an answer; the error says why they cannot be applied.
pub(crate) fn parse_workspace_edit(answer: Value) -> ParseResult<LanguageResult> {
    let edit: WorkspaceEdit = match parse_answer(answer, "renaming")? {
        None => return Ok(LanguageResult::Edits(Vec::new())),
        Some(edit) => edit,
    };
    let mut files = Vec::new();
    let documents = match edit.document_changes {
        None => {
            let changes = edit.changes.into_iter().flatten();
            files.extend(changes.map(|(uri, edits)| file_edits(&uri, edits.iter())));
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
            .collect::<ParseResult<_>>()?,
    };
    files.extend(documents.iter().map(document_edits));
    files.sort_by(|one: &FileEdits, other| one.address.cmp(&other.address));
    Ok(LanguageResult::Edits(files))
}

fn document_edits(document: &TextDocumentEdit) -> FileEdits {
    let edits = document.edits.iter().map(|edit| match edit {
        OneOf::Left(edit) => edit,
        OneOf::Right(annotated) => &annotated.text_edit,
    });
    file_edits(&document.text_document.uri, edits)
}

fn file_edits<'a>(uri: &Uri, edits: impl Iterator<Item = &'a TextEdit>) -> FileEdits {
    FileEdits {
        file: file_uri::uri_to_path(uri.as_str()),
        address: uri.as_str().to_owned(),
        edits: edits
            .map(|edit| (convert_range(edit.range), edit.new_text.clone()))
            .collect(),
    }
}

fn convert_location(location: &Location) -> SourceLocation {
    location_at(&location.uri, location.range)
}

fn location_at(uri: &Uri, range: Range) -> SourceLocation {
    SourceLocation {
        file: file_uri::uri_to_path(uri.as_str()),
        address: uri.as_str().to_owned(),
        range: convert_range(range),
    }
}

fn convert_range(range: Range) -> EncodedRange {
    let point = |at: lsp_types::Position| EncodedPosition {
        line: at.line,
        unit: at.character,
    };
    EncodedRange {
        start: point(range.start),
        end: point(range.end),
    }
}

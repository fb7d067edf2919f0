//! Turns a query into requests of the protocol, and the answers into a result.

use std::time::Duration;

use runtime::Workspace;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::language_service::{
    LanguageQuery, LanguageResult, SourceDocument, SourceLines, TextPosition,
};

use crate::connection::LspConnection;
use crate::limits::{RETRIES_MAX, RETRY_DELAY};
use crate::open_documents::{LanguageDocument, SyncedDocument};
use crate::response;
use crate::transport::LspFailure;

/// Error codes by which a server says that its answer is out of date, since its state changed during the request.
const STALE_ANSWER_CODES: [i64; 2] = [-32801, -32802];

/// Queries a server about the current content of a document. Also returns whether the server had loaded the whole
/// workspace by then.
pub(crate) async fn query_server(
    link: &LspConnection,
    workspace: &Workspace,
    document: LanguageDocument<'_>,
    question: &LanguageQuery,
    cancel: &CancellationToken,
) -> Result<(LanguageResult, bool), LspFailure> {
    link.mark_used();
    let again = matches!(question, LanguageQuery::Diagnostics);
    let since = link.wire.notifications.revision();
    let shown = link
        .documents
        .sync_document(&link.wire, workspace, document, again);
    let late = |_| Err(LspFailure::TimedOut(link.timeouts.answer));
    let shown = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(LspFailure::Cancelled),
        // One that reads nothing is not waited for.
        shown = tokio::time::timeout(link.timeouts.answer, shown) => shown.unwrap_or_else(late)?,
    };
    let loaded = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(LspFailure::Cancelled),
        () = link.wire.disconnected.cancelled() => return Err(LspFailure::Disconnected),
        loaded = link.wait_until_loaded() => loaded,
    };
    let of = QueryContext {
        link,
        document: document.source,
        shown: &shown,
        cancel,
    };
    let result = match question {
        LanguageQuery::Definition(place) => {
            of.require_capability("definitionProvider", "find definitions")?;
            let answer = of
                .send_request("textDocument/definition", of.to_lsp_position(place))
                .await?;
            response::parse_locations(answer)
        }
        LanguageQuery::References(place) => {
            of.require_capability("referencesProvider", "find references")?;
            let mut params = of.to_lsp_position(place);
            params["context"] = json!({ "includeDeclaration": true });
            response::parse_locations(of.send_request("textDocument/references", params).await?)
        }
        LanguageQuery::Diagnostics => return Ok((of.request_problems(since).await?, !loaded)),
        LanguageQuery::Symbols => {
            of.require_capability("documentSymbolProvider", "list the symbols of a file")?;
            let params = json!({ "textDocument": shown.to_text_document_identifier() });
            let answer = of
                .send_request("textDocument/documentSymbol", params)
                .await?;
            response::parse_document_symbols(answer, &shown.uri)
        }
        LanguageQuery::Find(query) => {
            of.require_capability(
                "workspaceSymbolProvider",
                "look for symbols in the workspace",
            )?;
            let params = json!({ "query": query });
            response::parse_workspace_symbols(of.send_request("workspace/symbol", params).await?)
        }
        LanguageQuery::Rename(place, new) => {
            of.require_capability("renameProvider", "rename")?;
            of.check_rename(place).await?;
            let mut params = of.to_lsp_position(place);
            params["newName"] = json!(new);
            response::parse_workspace_edit(of.send_request("textDocument/rename", params).await?)
        }
    };
    link.mark_used();
    Ok((result.map_err(LspFailure::Malformed)?, !loaded))
}

struct QueryContext<'a> {
    link: &'a LspConnection,
    document: &'a SourceDocument,
    shown: &'a SyncedDocument,
    cancel: &'a CancellationToken,
}

impl QueryContext<'_> {
    fn require_capability(&self, provider: &str, what: &str) -> Result<(), LspFailure> {
        match self.link.has_capability(provider) {
            true => Ok(()),
            false => Err(LspFailure::Malformed(format!("it cannot {what}"))),
        }
    }

    /// Returns the parameters for a position in the document, in the server's encoding.
    fn to_lsp_position(&self, place: &TextPosition) -> Value {
        let lines = SourceLines::new(&self.document.text);
        let line = lines.line(place.line).unwrap_or_default();
        let unit = self.link.encoding.units_before(line, place.byte);
        json!({
            "textDocument": self.shown.to_text_document_identifier(),
            "position": { "line": place.line, "character": unit },
        })
    }

    async fn send_request(&self, method: &str, params: Value) -> Result<Value, LspFailure> {
        let (wire, patience) = (&self.link.wire, self.link.timeouts.answer);
        let mut tries = 1;
        loop {
            let answer = wire
                .send_request(method, params.clone(), patience, self.cancel)
                .await;
            match answer {
                Err(LspFailure::Rejected { code, .. })
                    if STALE_ANSWER_CODES.contains(&code) && tries < RETRIES_MAX =>
                {
                    tries += 1;
                    tokio::time::sleep(RETRY_DELAY).await;
                }
                answer => return answer,
            }
        }
    }

    /// Checks with the server that the symbol at the position can be renamed, if it supports the check.
    async fn check_rename(&self, place: &TextPosition) -> Result<(), LspFailure> {
        if !self
            .link
            .has_capability_option("/renameProvider/prepareProvider")
        {
            return Ok(());
        }
        let answer = self
            .send_request("textDocument/prepareRename", self.to_lsp_position(place))
            .await?;
        match answer {
            Value::Null => Err(LspFailure::Malformed(
                "it says that nothing can be renamed there".to_owned(),
            )),
            _ => Ok(()),
        }
    }

    /// Returns the problems of the document: requested if the server supports it, otherwise awaited as a notification.
    async fn request_problems(&self, since: u64) -> Result<LanguageResult, LspFailure> {
        if self.link.has_capability("diagnosticProvider") {
            let params = json!({ "textDocument": self.shown.to_text_document_identifier() });
            let answer = self.send_request("textDocument/diagnostic", params).await?;
            return response::parse_pulled_diagnostics(answer).map_err(LspFailure::Malformed);
        }
        let (heard, patience) = (&self.link.wire.notifications, self.link.timeouts.problems);
        let report = heard.wait_for_problems(&self.shown.uri, since, self.shown.version, patience);
        let report = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(LspFailure::Cancelled),
            () = self.link.wire.disconnected.cancelled() => return Err(LspFailure::Disconnected),
            report = report => report,
        };
        // One that tells only what is new has told the rest before.
        let report = report.or_else(|| {
            heard
                .last_problems(&self.shown.uri)
                .filter(|_| self.was_open_before())
        });
        let report = report.ok_or(LspFailure::TimedOut(patience.max(Duration::from_secs(1))))?;
        Ok(response::convert_diagnostics(report))
    }

    /// Whether the server knew the document before.
    fn was_open_before(&self) -> bool {
        self.shown.version > 1
    }
}

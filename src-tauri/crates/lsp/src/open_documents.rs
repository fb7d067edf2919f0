//! Documents that are open at a server, synchronized with the content on the disk before every query.

use std::sync::Arc;

use runtime::Workspace;
use serde_json::{Value, json};
use tools::language_service::SourceDocument;
use tools::limits::DOCUMENT_BYTES_MAX;

use crate::file_uri;
use crate::limits::DOCUMENTS_MAX;
use crate::transport::{LspFailure, LspTransport};

/// The open documents, the most recently queried one at the end.
#[derive(Default)]
pub(crate) struct OpenDocuments {
    open: tokio::sync::Mutex<Vec<OpenDocument>>,
}

#[derive(Clone)]
struct OpenDocument {
    path: String,
    uri: String,
    version: i32,
    text: Arc<str>,
}

/// A document of the workspace, with its language id in the protocol.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LanguageDocument<'a> {
    pub source: &'a SourceDocument,
    pub language_id: &'a str,
}

/// A document as last sent to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyncedDocument {
    pub uri: String,
    pub version: i32,
}

impl SyncedDocument {
    /// Returns the identifier of the document in requests.
    pub(crate) fn to_text_document_identifier(&self) -> Value {
        json!({ "uri": self.uri })
    }
}

impl OpenDocuments {
    /// Sends a server the content on the disk of this document and of all open ones. With `again` this document is sent
    /// even if it did not change.
    pub(crate) async fn sync_document(
        &self,
        wire: &LspTransport,
        workspace: &Workspace,
        document: LanguageDocument<'_>,
        again: bool,
    ) -> Result<SyncedDocument, LspFailure> {
        let mut open = self.open.lock().await;
        let others: Vec<OpenDocument> = open
            .iter()
            .filter(|one| one.path != document.source.path)
            .cloned()
            .collect();
        for (path, text) in read_documents(workspace, others).await {
            let Some(at) = open.iter().position(|one| one.path == path) else {
                continue;
            };
            match text {
                None => send_did_close(wire, &open.remove(at)).await?,
                Some(text) => send_did_change(wire, &mut open[at], &text, false).await?,
            }
        }
        let known = open.iter().position(|one| one.path == document.source.path);
        let one = match known.map(|at| open.remove(at)) {
            Some(mut one) => {
                send_did_change(wire, &mut one, &document.source.text, again).await?;
                one
            }
            None => send_did_open(wire, workspace, document).await?,
        };
        let shown = SyncedDocument {
            uri: one.uri.clone(),
            version: one.version,
        };
        open.push(one);
        if open.len() > DOCUMENTS_MAX {
            send_did_close(wire, &open.remove(0)).await?;
        }
        Ok(shown)
    }
}

async fn send_did_open(
    wire: &LspTransport,
    workspace: &Workspace,
    document: LanguageDocument<'_>,
) -> Result<OpenDocument, LspFailure> {
    let LanguageDocument {
        source,
        language_id,
    } = document;
    let address = file_uri::path_to_uri(&workspace.root().join(&source.path));
    let address =
        address.ok_or_else(|| LspFailure::Malformed("the file has no address".to_owned()))?;
    let item = json!({
        "uri": address, "languageId": language_id, "version": 1, "text": &*source.text,
    });
    let params = json!({ "textDocument": item });
    wire.send_notification("textDocument/didOpen", params)
        .await?;
    Ok(OpenDocument {
        path: source.path.clone(),
        uri: address,
        version: 1,
        text: source.text.clone(),
    })
}

async fn send_did_change(
    wire: &LspTransport,
    one: &mut OpenDocument,
    text: &Arc<str>,
    again: bool,
) -> Result<(), LspFailure> {
    if one.text == *text && !again {
        return Ok(());
    }
    one.version = one.version.wrapping_add(1);
    one.text = text.clone();
    let params = json!({
        "textDocument": { "uri": one.uri, "version": one.version },
        "contentChanges": [{ "text": &**text }],
    });
    wire.send_notification("textDocument/didChange", params)
        .await
}

async fn send_did_close(wire: &LspTransport, one: &OpenDocument) -> Result<(), LspFailure> {
    let params = json!({ "textDocument": { "uri": one.uri } });
    wire.send_notification("textDocument/didClose", params)
        .await
}

/// Reads the current content of documents; `None` for a document that does not exist any more or may not be read.
async fn read_documents(
    workspace: &Workspace,
    open: Vec<OpenDocument>,
) -> Vec<(String, Option<Arc<str>>)> {
    let workspace = workspace.clone();
    let read = tokio::task::spawn_blocking(move || {
        let now = |one: OpenDocument| {
            let bytes = workspace.read_whole(&one.path, DOCUMENT_BYTES_MAX as u64);
            let text = bytes
                .ok()
                .flatten()
                .and_then(|bytes| String::from_utf8(bytes).ok());
            (one.path, text.map(Arc::from))
        };
        open.into_iter().map(now).collect()
    });
    read.await.unwrap_or_default()
}

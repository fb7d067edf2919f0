//! Documents that are open at a server: they are there as they stand on the disk whenever something is asked.

use std::sync::Arc;

use runtime::Workspace;
use serde_json::{Value, json};
use tools::languages::Document;
use tools::limits::DOCUMENT_BYTES_MAX;

use crate::address;
use crate::limits::DOCUMENTS_MAX;
use crate::wire::{Failure, Wire};

/// What is open, the one that was asked about last at the end.
#[derive(Default)]
pub(crate) struct Documents {
    open: tokio::sync::Mutex<Vec<Open>>,
}

#[derive(Clone)]
struct Open {
    path: String,
    address: String,
    version: i32,
    text: Arc<str>,
}

/// A document at a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    pub address: String,
    pub version: i32,
}

impl Shown {
    /// As requests name it.
    pub(crate) fn named(&self) -> Value {
        json!({ "uri": self.address })
    }
}

impl Documents {
    /// Brings a server up to what stands on the disk: all that is open, and this document. With `again` it is told of this
    /// one also where that did not change.
    pub(crate) async fn show(
        &self,
        wire: &Wire,
        workspace: &Workspace,
        (document, language): (&Document, &str),
        again: bool,
    ) -> Result<Shown, Failure> {
        let mut open = self.open.lock().await;
        let others: Vec<Open> = open
            .iter()
            .filter(|one| one.path != document.path)
            .cloned()
            .collect();
        for (path, text) in read(workspace, others).await {
            let Some(at) = open.iter().position(|one| one.path == path) else {
                continue;
            };
            match text {
                None => close(wire, &open.remove(at)).await?,
                Some(text) => change(wire, &mut open[at], &text, false).await?,
            }
        }
        let known = open.iter().position(|one| one.path == document.path);
        let one = match known.map(|at| open.remove(at)) {
            Some(mut one) => {
                change(wire, &mut one, &document.text, again).await?;
                one
            }
            None => begin(wire, workspace, document, language).await?,
        };
        let shown = Shown {
            address: one.address.clone(),
            version: one.version,
        };
        open.push(one);
        if open.len() > DOCUMENTS_MAX {
            close(wire, &open.remove(0)).await?;
        }
        Ok(shown)
    }
}

async fn begin(
    wire: &Wire,
    workspace: &Workspace,
    document: &Document,
    language: &str,
) -> Result<Open, Failure> {
    let address = address::of(&workspace.root().join(&document.path));
    let address = address.ok_or_else(|| Failure::Strange("the file has no address".to_owned()))?;
    let item = json!({
        "uri": address, "languageId": language, "version": 1, "text": &*document.text,
    });
    let params = json!({ "textDocument": item });
    wire.tell("textDocument/didOpen", params).await?;
    Ok(Open {
        path: document.path.clone(),
        address,
        version: 1,
        text: document.text.clone(),
    })
}

async fn change(wire: &Wire, one: &mut Open, text: &Arc<str>, again: bool) -> Result<(), Failure> {
    if one.text == *text && !again {
        return Ok(());
    }
    one.version = one.version.wrapping_add(1);
    one.text = text.clone();
    let params = json!({
        "textDocument": { "uri": one.address, "version": one.version },
        "contentChanges": [{ "text": &**text }],
    });
    wire.tell("textDocument/didChange", params).await
}

async fn close(wire: &Wire, one: &Open) -> Result<(), Failure> {
    let params = json!({ "textDocument": { "uri": one.address } });
    wire.tell("textDocument/didClose", params).await
}

/// What documents hold now; none of one that is gone or may not be read.
async fn read(workspace: &Workspace, open: Vec<Open>) -> Vec<(String, Option<Arc<str>>)> {
    let workspace = workspace.clone();
    let read = tokio::task::spawn_blocking(move || {
        let now = |one: Open| {
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

//! From a question to requests of the protocol, and to what is known then.

use std::time::Duration;

use runtime::Workspace;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::languages::{Document, Known, Lines, Place, Question};

use crate::documents::Shown;
use crate::limits::{TRIES_MAX, TRY_AGAIN_AFTER};
use crate::link::Link;
use crate::said;
use crate::wire::Failure;

/// What a server says whose answer is out of date already: it was asked while it changed its mind.
const OUT_OF_DATE: [i64; 2] = [-32801, -32802];

/// Asks a server about a document as it stands, and whether it had loaded all by then.
pub(crate) async fn ask(
    link: &Link,
    workspace: &Workspace,
    (document, language): (&Document, &str),
    question: &Question,
    cancel: &CancellationToken,
) -> Result<(Known, bool), Failure> {
    link.use_it();
    let again = matches!(question, Question::Diagnostics);
    let since = link.wire.heard.times();
    let shown = link
        .documents
        .show(&link.wire, workspace, (document, language), again);
    let late = |_| Err(Failure::TimedOut(link.patience.answer));
    let shown = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(Failure::Cancelled),
        // One that reads nothing is not waited for.
        shown = tokio::time::timeout(link.patience.answer, shown) => shown.unwrap_or_else(late)?,
    };
    let loaded = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(Failure::Cancelled),
        () = link.wire.gone.cancelled() => return Err(Failure::Gone),
        loaded = link.loaded() => loaded,
    };
    let of = Asking {
        link,
        document,
        shown: &shown,
        cancel,
    };
    let known = match question {
        Question::Definition(place) => {
            of.can("definitionProvider", "find definitions")?;
            let answer = of
                .request("textDocument/definition", of.place(place))
                .await?;
            said::spots(answer)
        }
        Question::References(place) => {
            of.can("referencesProvider", "find references")?;
            let mut params = of.place(place);
            params["context"] = json!({ "includeDeclaration": true });
            said::spots(of.request("textDocument/references", params).await?)
        }
        Question::Diagnostics => return Ok((of.problems(since).await?, !loaded)),
        Question::Symbols => {
            of.can("documentSymbolProvider", "list the symbols of a file")?;
            let params = json!({ "textDocument": shown.named() });
            let answer = of.request("textDocument/documentSymbol", params).await?;
            said::symbols(answer, &shown.address)
        }
        Question::Find(query) => {
            of.can(
                "workspaceSymbolProvider",
                "look for symbols in the workspace",
            )?;
            let params = json!({ "query": query });
            said::found(of.request("workspace/symbol", params).await?)
        }
        Question::Rename(place, new) => {
            of.can("renameProvider", "rename")?;
            of.check_rename(place).await?;
            let mut params = of.place(place);
            params["newName"] = json!(new);
            said::edits(of.request("textDocument/rename", params).await?)
        }
    };
    link.use_it();
    Ok((known.map_err(Failure::Strange)?, !loaded))
}

struct Asking<'a> {
    link: &'a Link,
    document: &'a Document,
    shown: &'a Shown,
    cancel: &'a CancellationToken,
}

impl Asking<'_> {
    fn can(&self, provider: &str, what: &str) -> Result<(), Failure> {
        match self.link.can(provider) {
            true => Ok(()),
            false => Err(Failure::Strange(format!("it cannot {what}"))),
        }
    }

    /// A place of the document as the server counts.
    fn place(&self, place: &Place) -> Value {
        let lines = Lines::of(&self.document.text);
        let line = lines.line(place.line).unwrap_or_default();
        let unit = self.link.encoding.units(line, place.byte);
        json!({
            "textDocument": self.shown.named(),
            "position": { "line": place.line, "character": unit },
        })
    }

    async fn request(&self, method: &str, params: Value) -> Result<Value, Failure> {
        let (wire, patience) = (&self.link.wire, self.link.patience.answer);
        let mut tries = 1;
        loop {
            let answer = wire
                .ask(method, params.clone(), patience, self.cancel)
                .await;
            match answer {
                Err(Failure::Refused { code, .. })
                    if OUT_OF_DATE.contains(&code) && tries < TRIES_MAX =>
                {
                    tries += 1;
                    tokio::time::sleep(TRY_AGAIN_AFTER).await;
                }
                answer => return answer,
            }
        }
    }

    /// Asks first whether anything can be renamed there, where the server says that it knows.
    async fn check_rename(&self, place: &Place) -> Result<(), Failure> {
        if !self.link.can_also("/renameProvider/prepareProvider") {
            return Ok(());
        }
        let answer = self
            .request("textDocument/prepareRename", self.place(place))
            .await?;
        match answer {
            Value::Null => Err(Failure::Strange(
                "it says that nothing can be renamed there".to_owned(),
            )),
            _ => Ok(()),
        }
    }

    /// The problems of the document: asked for where the server can be asked, else waited for.
    async fn problems(&self, since: u64) -> Result<Known, Failure> {
        if self.link.can("diagnosticProvider") {
            let params = json!({ "textDocument": self.shown.named() });
            let answer = self.request("textDocument/diagnostic", params).await?;
            return said::pulled(answer).map_err(Failure::Strange);
        }
        let (heard, patience) = (&self.link.wire.heard, self.link.patience.problems);
        let told = heard.problems(&self.shown.address, (since, self.shown.version), patience);
        let told = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(Failure::Cancelled),
            () = self.link.wire.gone.cancelled() => return Err(Failure::Gone),
            told = told => told,
        };
        // One that tells only what is new has told the rest before.
        let told = told.or_else(|| heard.last(&self.shown.address).filter(|_| self.is_old()));
        let told = told.ok_or(Failure::TimedOut(patience.max(Duration::from_secs(1))))?;
        Ok(said::problems(told))
    }

    /// Whether the server knew the document before.
    fn is_old(&self) -> bool {
        self.shown.version > 1
    }
}

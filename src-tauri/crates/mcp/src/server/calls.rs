//! What is done over the connection of a server: calls of its tools, its resources; with what failed told in sentences.

use std::time::Duration;

use protocol::ToolError;
use protocol::servers::Pin;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{Phase, Server, unavailable};
use crate::catalogue::Definition;
use crate::link::{Failure, Heard, Link};
use crate::pin::Pins;

impl Server {
    /// Calls one of its tools.
    pub(crate) async fn call(
        &self,
        tool: &Definition,
        arguments: Map<String, Value>,
        cancel: &CancellationToken,
        heard: Heard,
    ) -> Result<Value, ToolError> {
        let link = self.used(cancel).await?;
        self.check(tool)?;
        let timeout = self.core.timeout();
        let called = link.call(&tool.name, arguments, timeout, cancel, heard);
        called.await.map_err(|failure| self.told(failure, timeout))
    }

    /// Reads one of its resources.
    pub(crate) async fn read(
        &self,
        uri: &str,
        cancel: &CancellationToken,
        heard: Heard,
    ) -> Result<Value, ToolError> {
        let link = self.used(cancel).await?;
        let timeout = self.core.timeout();
        let read = link.read(uri, timeout, cancel, heard);
        read.await.map_err(|failure| self.told(failure, timeout))
    }

    /// One page of its resources, and of the patterns of their addresses.
    pub(crate) async fn resources(
        &self,
        cursor: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<(Value, Value), ToolError> {
        let link = self.used(cancel).await?;
        let timeout = self.core.timeout();
        let listed = link.resources(cursor, timeout, cancel);
        listed.await.map_err(|failure| self.told(failure, timeout))
    }

    /// One page of its prompts.
    pub(super) async fn prompts(
        &self,
        cursor: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<Value, ToolError> {
        let link = self.used(cancel).await?;
        let timeout = self.core.timeout();
        let listed = link.prompts(cursor, timeout, cancel);
        listed.await.map_err(|failure| self.told(failure, timeout))
    }

    /// One of its prompts, filled in.
    pub(super) async fn prompt(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        cancel: &CancellationToken,
    ) -> Result<Value, ToolError> {
        let link = self.used(cancel).await?;
        let timeout = self.core.timeout();
        let got = link.prompt(name, arguments, timeout, cancel);
        got.await.map_err(|failure| self.told(failure, timeout))
    }

    /// The connection, made now if nobody made it.
    async fn used(&self, cancel: &CancellationToken) -> Result<std::sync::Arc<Link>, ToolError> {
        let link = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ToolError::Cancelled),
            link = self.core.link(false) => link,
        };
        link.map_err(|why| {
            let next = match *self.core.phase.borrow() {
                Phase::NeedsSignIn => "Do without it: the person has to sign in to it first.",
                Phase::Idle
                | Phase::Starting { .. }
                | Phase::Ready(_)
                | Phase::Unavailable { .. } => "Do without it, or try again later.",
            };
            let told = unavailable(self.core.settings.id.as_str(), &why);
            ToolError::Failed(format!("{told} {next}"))
        })
    }

    fn told(&self, failure: Failure, timeout: Duration) -> ToolError {
        self.core.keep_challenge();
        let id = self.core.settings.id.as_str();
        match failure {
            Failure::Cancelled => ToolError::Cancelled,
            Failure::TimedOut => ToolError::TimedOut(format!(
                "The mcp server {id} did not answer within {} s, and was told that nobody waits any more. What it did until \
                 then is not known.",
                timeout.as_secs_f64()
            )),
            Failure::Gone(why) => ToolError::Failed(format!(
                "{} What the call did until then is not known: look before you repeat it.",
                unavailable(id, &why)
            )),
            Failure::Refused(said) => {
                ToolError::Failed(format!("The mcp server {id} refused the call: {said}"))
            }
            Failure::Strange(why) => ToolError::Failed(format!(
                "The mcp server {id} gave no answer that can be used: {why}."
            )),
            Failure::Elsewhere(_) => ToolError::Failed(format!(
                "The mcp server {id} wants the person to go somewhere first, and does not say where."
            )),
        }
    }

    /// Only what is as it was approved is called.
    fn check(&self, tool: &Definition) -> Result<(), ToolError> {
        let catalogue = self.catalogue();
        let what = match Pins::standing(tool, catalogue.as_deref()) {
            Pin::Pinned => return Ok(()),
            Pin::Changed | Pin::New => "is not what it was when it was approved",
            Pin::Gone => "is not there any more",
        };
        let name = protocol::shown::in_a_sentence(&tool.name, 64);
        Err(ToolError::Failed(format!(
            "The tool `{name}` of the mcp server {} {what}, so it was not called. Only the person can approve it anew, in \
             Servers. Do without it.",
            self.core.settings.id
        )))
    }
}

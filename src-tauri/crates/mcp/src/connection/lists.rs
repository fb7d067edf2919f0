//! What a server lists, page by page: its tools, and its resources.

use std::time::Duration;

use rmcp::model::{
    ClientRequest, ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest,
    ListToolsRequest, PaginatedRequestParams,
};
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{RequestFailure, ServerConnection};
use crate::catalogue::ToolCatalogue;
use crate::limits::PAGES_MAX;

impl ServerConnection {
    /// Whether the server says that it has resources.
    fn has_resources(&self) -> bool {
        let info = self.peer.peer_info();
        info.is_some_and(|info| info.capabilities.resources.is_some())
    }

    /// One page of the resources that the server lists, and of those whose addresses have parts to fill in.
    pub(crate) async fn list_resources(
        &self,
        cursor: Option<&str>,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<(Value, Value), RequestFailure> {
        let until = Instant::now() + timeout;
        let params = PaginatedRequestParams::default().with_cursor(cursor.map(str::to_owned));
        let listed = ClientRequest::ListResourcesRequest(ListResourcesRequest {
            method: Default::default(),
            params: Some(params),
            extensions: Default::default(),
        });
        let listed = self.send_request(listed, until, cancel, None).await?;
        if cursor.is_some() {
            return Ok((listed, Value::Null));
        }
        let patterns =
            ClientRequest::ListResourceTemplatesRequest(ListResourceTemplatesRequest::default());
        match self.send_request(patterns, until, cancel, None).await {
            Ok(patterns) => Ok((listed, patterns)),
            // Many servers have none, and do not know the question.
            Err(RequestFailure::Rejected(_)) => Ok((listed, Value::Null)),
            Err(failure) => Err(failure),
        }
    }

    /// One page of the prompts that the server lists; of one that says it has none, none.
    pub(crate) async fn list_prompts(
        &self,
        cursor: Option<&str>,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<Value, RequestFailure> {
        let info = self.peer.peer_info();
        if info.is_some_and(|info| info.capabilities.prompts.is_none()) {
            return Ok(json!({ "prompts": [] }));
        }
        let params = PaginatedRequestParams::default().with_cursor(cursor.map(str::to_owned));
        let listed = ClientRequest::ListPromptsRequest(ListPromptsRequest {
            method: Default::default(),
            params: Some(params),
            extensions: Default::default(),
        });
        self.send_request(listed, Instant::now() + timeout, cancel, None)
            .await
    }

    /// Every tool that the server lists, page by page.
    pub(crate) async fn list_tools(
        &self,
        timeout: Duration,
    ) -> Result<ToolCatalogue, RequestFailure> {
        let until = Instant::now() + timeout;
        let never = CancellationToken::new();
        let mut catalogue = ToolCatalogue::default();
        catalogue.has_resources = self.has_resources();
        let mut cursor: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let params = PaginatedRequestParams::default().with_cursor(cursor.clone());
            let request = ClientRequest::ListToolsRequest(ListToolsRequest {
                method: Default::default(),
                params: Some(params),
                extensions: Default::default(),
            });
            let page = self.send_request(request, until, &never, None).await?;
            let Some(tools) = page.get("tools").and_then(Value::as_array) else {
                return Err(RequestFailure::Malformed(
                    "its list of tools cannot be read".to_owned(),
                ));
            };
            tools.iter().for_each(|tool| catalogue.add(tool));
            let next = page.get("nextCursor").and_then(Value::as_str);
            match next.map(str::to_owned) {
                None => return Ok(catalogue),
                Some(next) if cursor.as_ref() == Some(&next) => break,
                next => cursor = next,
            }
        }
        catalogue.record_left_out("Pages of its list are left out: it does not end.".to_owned());
        Ok(catalogue)
    }
}

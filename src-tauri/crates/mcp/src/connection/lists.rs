//! Lists of a server, page by page: its tools, resources and prompts.

use std::time::Duration;

use rmcp::model::{
    ClientRequest, ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest,
    ListToolsRequest, PaginatedRequestParams,
};
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::task_members::restore_execution;
use super::{RequestFailure, ServerConnection};
use crate::catalogue::ToolCatalogue;
use crate::limits::PAGES_MAX;

/// What a server offers beside its tools, as it announced when it was connected last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerOffers {
    /// Whether it has resources.
    pub resources: bool,
    /// Whether it tells of changes of single resources.
    pub subscriptions: bool,
    /// Whether it has prompts.
    pub prompts: bool,
    /// Whether it sends log messages.
    pub logging: bool,
    /// Whether it completes arguments of prompts and of resource templates.
    pub completions: bool,
}

/// A list that a server gives in pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerList {
    /// Its resources.
    Resources,
    /// Its addresses with parts to fill in.
    ResourceTemplates,
    /// Its prompts.
    Prompts,
}

impl ServerConnection {
    /// Returns what the server announces beside its tools.
    pub(crate) fn offers(&self) -> ServerOffers {
        let info = self.peer.peer_info();
        let Some(capabilities) = info.as_ref().map(|info| &info.capabilities) else {
            return ServerOffers::default();
        };
        let resources = capabilities.resources.as_ref();
        ServerOffers {
            resources: resources.is_some(),
            subscriptions: resources.is_some_and(|all| all.subscribe == Some(true)),
            prompts: capabilities.prompts.is_some(),
            logging: capabilities.logging.is_some(),
            completions: capabilities.completions.is_some(),
        }
    }

    /// Returns one page of a list.
    pub(crate) async fn list_page(
        &self,
        list: ServerList,
        cursor: Option<&str>,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<Value, RequestFailure> {
        let params = PaginatedRequestParams::default().with_cursor(cursor.map(str::to_owned));
        let request = match list {
            ServerList::Resources => {
                ClientRequest::ListResourcesRequest(ListResourcesRequest::with_param(params))
            }
            ServerList::ResourceTemplates => ClientRequest::ListResourceTemplatesRequest(
                ListResourceTemplatesRequest::with_param(params),
            ),
            ServerList::Prompts => {
                ClientRequest::ListPromptsRequest(ListPromptsRequest::with_param(params))
            }
        };
        self.send_request(request, Instant::now() + timeout, cancel, None)
            .await
    }

    /// Returns one page of the server's resources and of its resource templates.
    pub(crate) async fn list_resources(
        &self,
        cursor: Option<&str>,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<(Value, Value), RequestFailure> {
        let resources = self.list_page(ServerList::Resources, cursor, timeout, cancel);
        let resources = resources.await?;
        if cursor.is_some() {
            return Ok((resources, Value::Null));
        }
        let templates = self.list_page(ServerList::ResourceTemplates, None, timeout, cancel);
        match templates.await {
            Ok(templates) => Ok((resources, templates)),
            // Many servers have none, and do not know the question.
            Err(RequestFailure::Rejected(_)) => Ok((resources, Value::Null)),
            Err(failure) => Err(failure),
        }
    }

    /// Returns one page of the server's prompts; an empty one if the server announces no prompts.
    pub(crate) async fn list_prompts(
        &self,
        cursor: Option<&str>,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<Value, RequestFailure> {
        if !self.offers().prompts {
            return Ok(json!({ "prompts": [] }));
        }
        self.list_page(ServerList::Prompts, cursor, timeout, cancel)
            .await
    }

    /// Returns every tool of the server, page by page.
    pub(crate) async fn list_tools(
        &self,
        timeout: Duration,
    ) -> Result<ToolCatalogue, RequestFailure> {
        let deadline = Instant::now() + timeout;
        let never = CancellationToken::new();
        let mut catalogue = ToolCatalogue::default();
        catalogue.has_resources = self.offers().resources;
        let mut cursor: Option<String> = None;
        for _ in 0..PAGES_MAX {
            let params = PaginatedRequestParams::default().with_cursor(cursor.clone());
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
            let mut page = self.send_request(request, deadline, &never, None).await?;
            let Some(tools) = page.get_mut("tools").and_then(Value::as_array_mut) else {
                return Err(RequestFailure::Malformed(
                    "its list of tools cannot be read".to_owned(),
                ));
            };
            for tool in tools {
                restore_execution(tool);
                catalogue.add(tool);
            }
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

//! What a client reads of the server behind the gateway beside its tools: by a call that is judged and recorded; and lists,
//! which are passed on.

use agent::{BackingServer, ServerList, ServerRead};
use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, ErrorCode, JsonObject, PaginatedRequestParams};
use rmcp::service::{RequestContext, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::json;

use super::gateway_server::{GatewayServer, internal_error_data};
use super::held_calls::RequestedCall;
use super::tool_result;

impl GatewayServer {
    /// Returns the server behind the gateway, if it offers what a request is about.
    pub(super) fn offering_server(&self, is_offered: bool) -> Result<&BackingServer, ErrorData> {
        let server = self.served.server().filter(|_| is_offered);
        server.ok_or_else(|| {
            let text = "The server does not offer this. Look at its capabilities.";
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None)
        })
    }

    /// Reads what a server offers beside its tools, by a call.
    pub(super) async fn handle_read<T: DeserializeOwned>(
        &self,
        read: ServerRead,
        arguments: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Result<T, ErrorData> {
        let is_offered = self.served.offers().reads().any(|offered| offered == read);
        let server = self.offering_server(is_offered)?;
        let call = RequestedCall {
            tool: server.read_tool_id(read),
            arguments,
        };
        let client = self.open_client(context).await?;
        let answer = self.make_call(&client, call, context).await;
        tool_result::build_read_result(&answer.map_err(|fault| internal_error_data(&fault))?)
    }

    /// Returns one page of a list of the server as the server gives it; an empty one where no server stands behind this, or it
    /// does not have such a list.
    pub(super) async fn list_of_server<T: DeserializeOwned + Default>(
        &self,
        list: ServerList,
        request: Option<PaginatedRequestParams>,
        context: &RequestContext<RoleServer>,
    ) -> Result<T, ErrorData> {
        let server = self.served.server().filter(|_| match list {
            ServerList::Resources | ServerList::ResourceTemplates => self.served.offers().resources,
            ServerList::Prompts => self.served.offers().prompts,
        });
        let Some(server) = server else {
            return Ok(T::default());
        };
        let cursor = request.and_then(|request| request.cursor);
        let page = server.list_page(list, cursor.as_deref(), &context.ct).await;
        tool_result::parse_server_answer(page.map_err(|fault| internal_error_data(&fault))?)
    }
}

/// Returns the arguments of the call that completes an argument.
pub(super) fn completion_arguments(request: CompleteRequestParams) -> JsonObject {
    let (prompt, template) = (
        request.r#ref.as_prompt_name(),
        request.r#ref.as_resource_uri(),
    );
    let of = prompt.map_or("resource_template", |_| "prompt");
    let name = prompt.or(template).unwrap_or_default();
    let mut arguments = JsonObject::from_iter([
        ("of".to_owned(), of.into()),
        ("name".to_owned(), name.into()),
        ("argument".to_owned(), request.argument.name.into()),
        ("value".to_owned(), request.argument.value.into()),
    ]);
    if let Some(filled) = request.context.and_then(|context| context.arguments) {
        arguments.insert("arguments".to_owned(), json!(filled));
    }
    arguments
}

//! Steps 1 and 2: resolving the tool by its name, and validating the arguments of the model.

use protocol::interface::{ContextModifierPolicy, ToolOrigin};
use protocol::text::redact;
use protocol::{ToolCall, ToolError, ToolInterface, ToolMode};
use serde_json::{Map, Value};
use tools::TOOL_SEARCH;
use tools::host_arguments::{ADAPTER_SOURCE, HOOK_SOURCE};
use tools::registry::{RegisteredTool, Registry};

use crate::limits::ARGUMENTS_BYTES_MAX;
use crate::pipeline::abort::Abort;
use crate::pipeline::call_context::CallContext;
use crate::pipeline::hooks;
use crate::pipeline::hooks::HookContext;
use crate::pipeline::{early_outcome, outcome};
use crate::session::Session;
use crate::session::conversation::OpenCall;
use crate::session::run_state::repeats::CallEffect;
use crate::session::{manual_calls, state_store};

/// A tool, as found by the name in the call.
pub(crate) struct ResolvedTool<'a>(pub RegisteredTool<'a>);

impl ResolvedTool<'_> {
    /// The tool's id.
    pub fn id(&self) -> &str {
        self.interface().id()
    }

    /// The interface that the tool publishes.
    pub fn interface(&self) -> &ToolInterface {
        self.0.interface
    }

    /// Whether secrets are masked in the tool's results (`S003-46`).
    pub fn masks_output(&self) -> bool {
        redact::is_masking_requested(&self.interface().result.redaction_policy_refs)
    }

    /// Whether a call of the tool may change something.
    pub fn may_change(&self) -> bool {
        self.interface().mode() != Some(ToolMode::Read)
    }

    /// Whether this is a built-in tool that only reads, on this machine or elsewhere. The same claim by a tool of
    /// another author is not trusted.
    pub fn only_reads(&self) -> bool {
        let interface = self.interface();
        interface.origin == ToolOrigin::BuiltIn && interface.safety.is_read_only
    }

    /// Whether a call of the tool may change the results of other calls.
    pub fn call_effect(&self) -> CallEffect {
        match self.may_change() && !self.only_reads() {
            true => CallEffect::Possible,
            false => CallEffect::None,
        }
    }
}

/// Finds the tool, by id or alias (`S000-03`, `S001-26`). Hooks are also told of a call whose tool does not exist.
pub(crate) async fn resolve_tool<'a>(
    tools: &'a Registry,
    session: &Session,
    call: &ToolCall,
    hooked: &mut HookContext,
) -> Result<ResolvedTool<'a>, Abort> {
    match find_loaded_tool(tools, session, call) {
        Ok(called) => Ok(called),
        Err(error) => {
            let about = hooks::hook_context(session, &call.id, None, &call.name, &call.arguments);
            *hooked = hooks::run_before_execution(session, about)
                .await
                .map_err(early_outcome::abort_by_hook)?;
            Err(outcome::failed_outcome(&error).into())
        }
    }
}

/// Returns the tool of a call, if the session may call it now.
///
/// # Errors
/// The tool does not exist, is not set up, or has to be searched for first.
pub(crate) fn find_loaded_tool<'a>(
    tools: &'a Registry,
    session: &Session,
    call: &ToolCall,
) -> Result<ResolvedTool<'a>, ToolError> {
    let called = lookup_tool(tools, call)?;
    check_loaded(tools, session, called)
}

/// Checks that a tool that must be searched for was found by the model: without its description the model could not
/// know its arguments (`S002-41`). A person who calls a tool by hand sees it, and an external client was offered all
/// tools.
fn check_loaded<'a>(
    tools: &Registry,
    session: &Session,
    tool: ResolvedTool<'a>,
) -> Result<ResolvedTool<'a>, ToolError> {
    let is_manual = manual_calls::is_manual(&session.model().provider);
    if is_manual || !tools.is_deferred(&tool.0) {
        return Ok(tool);
    }
    let id = tool.id();
    match session.with_conversation(|conversation| conversation.loaded.contains(id)) {
        true => Ok(tool),
        false => Err(ToolError::Failed(format!(
            "The tool `{id}` is not loaded, and nothing was run. Call {TOOL_SEARCH} with `select:{id}` first."
        ))),
    }
}

fn lookup_tool<'a>(tools: &'a Registry, call: &ToolCall) -> Result<ResolvedTool<'a>, ToolError> {
    let found = tools.find(&call.name)?;
    // A tool that is not set up says so and does nothing (`S003-19`).
    match found.tool.missing_setup() {
        None => Ok(ResolvedTool(found)),
        Some(sentence) => Err(ToolError::Failed(sentence)),
    }
}

/// Whether the call, with its final arguments, is known to be safe to run in parallel. An unknown tool or invalid
/// arguments count as unsafe (M08).
pub(crate) fn is_parallel_safe(session: &Session, open: &OpenCall) -> bool {
    let tools = session.tools();
    let Ok(called) = lookup_tool(&tools, &open.call) else {
        return false;
    };
    // The arguments of a tool that runs alone anyway are looked at once, when it runs. One that changes what later calls find
    // is in its order (`S003-41`).
    let interface = called.interface();
    let runs_alone = match interface.execution.context_modifier_policy {
        ContextModifierPolicy::Forbid => false,
        ContextModifierPolicy::AllowSerialOnly | ContextModifierPolicy::DeferUntilBatchComplete => {
            true
        }
    };
    if runs_alone || !interface.safety.is_concurrency_safe {
        return false;
    }
    let given = open.arguments();
    // Calls that read or write the state keep their order, so that a call finds the writes of those before it.
    !state_store::uses_state(given, called.0.tool.output_path())
        && validate_arguments(session, &called, given)
            .is_ok_and(|checked| called.0.tool.is_parallel_safe(&checked))
}

/// Whether the call begins only after all others of its turn have ended, because its changes may apply to none of them
/// (`S003-41`).
pub(crate) fn runs_last(session: &Session, open: &OpenCall) -> bool {
    let tools = session.tools();
    lookup_tool(&tools, &open.call).is_ok_and(|called| {
        let execution = &called.interface().execution;
        execution.context_modifier_policy == ContextModifierPolicy::DeferUntilBatchComplete
    })
}

/// Replaces the arguments with the person's, if they fit the tool, and returns the sentence that says so or why not.
pub(crate) async fn replace_arguments(
    cx: &mut CallContext<'_>,
    edited_arguments: Map<String, Value>,
) -> String {
    match resolve_arguments(cx.session, cx.call, &cx.tool, &edited_arguments).await {
        Ok(arguments) => {
            (cx.arguments, cx.edited) = (arguments, Some(edited_arguments));
            "You changed the arguments, so what is shown is new.".to_owned()
        }
        Err(error) => format!("Your arguments were not taken. {error}"),
    }
}

/// Returns the arguments that the call would run with: the model's or the person's, validated (`S002-05`, `S002-06`),
/// together with those that only the tool and the host supply (`S003-63`).
pub(crate) async fn resolve_arguments(
    session: &Session,
    call: &ToolCall,
    tool: &ResolvedTool<'_>,
    arguments: &Map<String, Value>,
) -> Result<Map<String, Value>, ToolError> {
    let checked = validate_arguments(session, tool, arguments)?;
    let mut put_in = Vec::new();
    if tool.0.has_supplied_source(ADAPTER_SOURCE) {
        put_in.push((ADAPTER_SOURCE, tool.0.tool.supplied_arguments(&checked)));
    }
    if tool.0.has_supplied_source(HOOK_SOURCE) {
        let about = hooks::hook_context(session, &call.id, Some(tool), tool.id(), &checked);
        let hooks = hooks::collect_extra_arguments(session, about).await;
        put_in.extend(hooks.map_err(ToolError::Failed)?);
    }
    tool.0.complete_arguments(checked, put_in)
}

/// Replaces references with values of the state, removes `_*` members, translates the argument names of an alias, and
/// validates the schema and values.
pub(crate) fn validate_arguments(
    session: &Session,
    tool: &ResolvedTool<'_>,
    arguments: &Map<String, Value>,
) -> Result<Map<String, Value>, ToolError> {
    let arguments = state_store::resolve_references(session, arguments, tool.0.tool.output_path())?;
    let bytes = serde_json::to_string(&*arguments).map_or(0, |text| text.len());
    if bytes > ARGUMENTS_BYTES_MAX {
        return Err(ToolError::InvalidArgs(format!(
            "they are {bytes} bytes long; at most {ARGUMENTS_BYTES_MAX} are taken. Work in smaller pieces."
        )));
    }
    tool.0
        .validate_arguments(&arguments)
        .map(|checked| checked.arguments)
}

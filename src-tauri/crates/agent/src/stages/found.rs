//! Stages 3 and 4: from a name to a tool, from the model's arguments to valid ones.

use protocol::{ToolCall, ToolError, ToolInterface, ToolMode, redact};
use serde_json::{Map, Value};
use tools::registry::{Found, Registry};

use super::{Ended, finish, stopped};
use crate::conversation::OpenCall;
use crate::hooks::{self, Hooked};
use crate::limits::ARGUMENTS_BYTES_MAX;
use crate::session::Session;
use crate::state;

/// A tool under the name that it was called by.
pub(crate) struct Called<'a>(pub Found<'a>);

impl Called<'_> {
    /// The tool's id.
    pub fn id(&self) -> &str {
        self.interface().id()
    }

    /// What the tool publishes about itself.
    pub fn interface(&self) -> &ToolInterface {
        self.0.interface
    }

    /// Whether secrets are masked in what it gives back (`S003-46`).
    pub fn masks(&self) -> bool {
        redact::applies(&self.interface().result.redaction_policy_refs)
    }

    /// Whether a call of it may change something.
    pub fn may_change(&self) -> bool {
        self.interface().mode() != Some(ToolMode::Read)
    }
}

/// Finds the tool, by id or alias (`S000-03`, `S001-26`). Hooks hear of a call of no tool too.
pub(crate) async fn tool<'a>(
    tools: &'a Registry,
    session: &Session,
    call: &ToolCall,
    hooked: &mut Hooked,
) -> Result<Called<'a>, Ended> {
    match lookup(tools, call) {
        Ok(called) => Ok(called),
        Err(error) => {
            *hooked = hooks::before(session, &call.id, &call.name, &call.arguments)
                .await
                .map_err(stopped::hooked)?;
            Err(finish::failed(&error).into())
        }
    }
}

fn lookup<'a>(tools: &'a Registry, call: &ToolCall) -> Result<Called<'a>, ToolError> {
    let found = tools.find(&call.name)?;
    // A tool that is not set up says so and does nothing (`S003-19`).
    match found.tool.missing_setup() {
        None => Ok(Called(found)),
        Some(sentence) => Err(ToolError::Failed(sentence)),
    }
}

/// Whether the call is proven to run safely while others do, with the arguments that it will have. What is not known or
/// not valid is not proven (M08).
pub(crate) fn is_safe_beside_others(session: &Session, open: &OpenCall) -> bool {
    let tools = session.tools();
    let Ok(called) = lookup(&tools, &open.call) else {
        return false;
    };
    // The arguments of a tool that runs alone anyway are looked at once, when it runs.
    if !called.interface().safety.is_concurrency_safe {
        return false;
    }
    let given = open.edited.as_ref().unwrap_or(&open.call.arguments);
    // What reads or writes the state is in its order, so that a call finds what those before it wrote.
    !state::touches(given, called.0.tool.output_path())
        && arguments(session, &called, given)
            .is_ok_and(|checked| called.0.tool.is_concurrency_safe(&checked))
}

/// Puts the person's arguments in place of those before, if they fit the tool, and says what came of it.
pub(crate) fn replace(
    session: &Session,
    called: &Called<'_>,
    arguments: &mut Map<String, Value>,
    edited: &mut Option<Map<String, Value>>,
    wanted: Map<String, Value>,
) -> String {
    let resolved = state::resolve(session, &wanted, called.0.tool.output_path());
    match resolved.and_then(|given| called.0.arguments(&given)) {
        Ok(checked) => {
            (*arguments, *edited) = (checked.arguments, Some(wanted));
            "You changed the arguments, so what is shown is new.".to_owned()
        }
        Err(error) => format!("Your arguments were not taken. {error}"),
    }
}

/// Puts what stands in the state in the place of references, lifts `_*` members off, makes an alias's names ours, checks schema and values (`S002-05`, `S002-06`).
pub(crate) fn arguments(
    session: &Session,
    called: &Called<'_>,
    given: &Map<String, Value>,
) -> Result<Map<String, Value>, Ended> {
    let failed = |error: ToolError| Ended::from(finish::failed(&error));
    let given = state::resolve(session, given, called.0.tool.output_path()).map_err(failed)?;
    let too_long = serde_json::to_string(&*given)
        .map(|text| text.len())
        .ok()
        .filter(|bytes| *bytes > ARGUMENTS_BYTES_MAX);
    let checked = match too_long {
        Some(bytes) => Err(ToolError::InvalidArgs(format!(
            "they are {bytes} bytes long; at most {ARGUMENTS_BYTES_MAX} are taken. Work in smaller pieces."
        ))),
        None => called.0.arguments(&given),
    };
    checked.map(|checked| checked.arguments).map_err(failed)
}

//! Checks whether a tool may join the registry, and under which name.

use policy::Surface;
use protocol::{ToolInterface, ToolKind, UserError};

use crate::limits::{ALIASES_MAX, ID_BYTES_MAX};
use crate::registry::LOCKED_TOOL_IDS;
use crate::sub_agent;

/// Checks that a third-party tool does not take a locked name (`S002-26`).
///
/// # Errors
/// If it does; the error names the locked id.
pub fn check_not_locked(interface: &ToolInterface) -> Result<(), UserError> {
    for name in tool_names(interface) {
        if LOCKED_TOOL_IDS.contains(&name) {
            return Err(UserError::new(
                format!(
                    "The name `{name}` is locked: models know what it does, so no other tool may take it."
                ),
                "Register the tool under another name.",
            ));
        }
    }
    Ok(())
}

/// Checks the requirements on every tool: a name that models can call, and declared requirements.
///
/// # Errors
/// If one is not met; the error describes the problem.
pub fn check_interface(interface: &ToolInterface) -> Result<(), UserError> {
    let id = interface.id();
    tool_names(interface).try_for_each(check_name)?;
    let aliases = interface.aliases().len();
    if aliases > ALIASES_MAX {
        return Err(UserError::new(
            format!("The tool `{id}` has {aliases} aliases; at most {ALIASES_MAX} are taken."),
            "Leave some of them out.",
        ));
    }
    if interface.description().trim().is_empty() {
        return Err(UserError::new(
            format!("The tool `{id}` has no description, so no model could know what it does."),
            "Describe it in a sentence or two.",
        ));
    }
    if !interface.is_stated("requires") {
        return Err(UserError::new(
            format!("The tool `{id}` does not say what it requires."),
            "Declare `requires`: paths, hosts, commands, or an empty set if it needs nothing.",
        ));
    }
    if has_external_reach(interface) && interface.requires.is_empty() {
        return Err(UserError::new(
            format!("The tool `{id}` changes or reaches something but requires nothing."),
            "Declare in `requires` which paths, hosts or commands it needs.",
        ));
    }
    check_hints(interface)?;
    let owner = format!("the tool `{id}`");
    Surface::validate(&interface.requires, &owner)?;
    if !interface.requires.is_empty() && interface.safety.classifier_input.is_empty() {
        return Err(UserError::new(
            format!(
                "The tool `{id}` touches the machine but gives a classifier nothing to judge by."
            ),
            "Say in `safety.classifier_input` which arguments matter, such as `{path}`.",
        ));
    }
    Ok(())
}

/// Checks that the tool's claims about how it is treated are true: checks that are always made cannot be declined,
/// result mappers that do not exist cannot be requested, and every required capability is listed (`S003-10`, `S003-23`,
/// `S003-26`, `S003-42`).
fn check_hints(interface: &ToolInterface) -> Result<(), UserError> {
    let id = interface.id();
    let always = [
        (
            interface.validation.schema_validation,
            "validation.schema_validation",
            "arguments are checked against the schema",
        ),
        (
            interface.validation.deny_before_io,
            "validation.deny_before_io",
            "what is denied is denied before anything is touched",
        ),
    ];
    for (says, fact, what) in always {
        if !says {
            return Err(UserError::new(
                format!("The tool `{id}` says `{fact}` is false, but {what} in every call."),
                "Leave it out.",
            ));
        }
    }
    let mapper = &interface.result.result_mapper;
    if mapper != "outcome" {
        return Err(UserError::new(
            format!(
                "The tool `{id}` wants its result made by `{mapper}`, and nobody here is called so."
            ),
            "Leave `result.result_mapper` out, or say `outcome`.",
        ));
    }
    let listed = &interface.discovery.capability_refs;
    let mut needed = interface.requires.capability_names().into_iter();
    match needed.find(|name| !listed.contains(name)) {
        None => Ok(()),
        Some(name) => Err(UserError::new(
            format!(
                "The tool `{id}` requires `{name}`, but does not list it among its capabilities."
            ),
            "Add it to `discovery.capability_refs`, or leave these out: they follow from `requires`.",
        )),
    }
}

/// Returns the id and the aliases of a tool.
pub fn tool_names(interface: &ToolInterface) -> impl Iterator<Item = &str> {
    let aliases = interface.aliases().iter().map(|alias| alias.name.as_str());
    std::iter::once(interface.id()).chain(aliases)
}

fn check_name(name: &str) -> Result<(), UserError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= ID_BYTES_MAX && name.chars().all(allowed) {
        return Ok(());
    }
    let shown: String = name.chars().take(ID_BYTES_MAX).collect();
    Err(UserError::new(
        format!("`{shown}` cannot be the name of a tool."),
        format!(
            "Use 1 to {ID_BYTES_MAX} letters, digits, `_` and `-`; models can call nothing else."
        ),
    ))
}

/// Returns the name with the first numeric suffix that makes it free (M11), shortened so that it still fits.
pub fn with_numeric_suffix(name: &str, is_taken: &dyn Fn(&str) -> bool) -> String {
    (2..u32::MAX)
        .map(|n| {
            let tail = format!("_{n}");
            let keep = name.len().min(ID_BYTES_MAX - tail.len());
            format!("{}{tail}", &name[..keep])
        })
        .find(|name| !is_taken(name))
        .unwrap_or_default()
}

/// Whether the tool changes or reaches something, by its kind or because it declares an open world. Such a tool cannot
/// require nothing: the capability check would have nothing to check, and nobody could see what the tool needs. A tool
/// that delegates to an agent needs what the tools of that agent need (`S002-19`).
fn has_external_reach(interface: &ToolInterface) -> bool {
    let carried_out_by = interface.execution.execution_profile_ref.as_str();
    let gives_work = ["delegate", sub_agent::SUB_AGENT_PROFILE].contains(&carried_out_by);
    match interface.kind() {
        ToolKind::Edit
        | ToolKind::Delete
        | ToolKind::Move
        | ToolKind::Execute
        | ToolKind::Fetch => true,
        ToolKind::Read | ToolKind::Search | ToolKind::Think | ToolKind::Other => {
            interface.safety.is_open_world && !gives_work
        }
    }
}

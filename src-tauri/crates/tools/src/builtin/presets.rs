//! Presets of tool interfaces: the facts that the tools of one family share. A tool states only what is particular about
//! it, and may state a fact of its preset anew.

use std::collections::BTreeMap;

use protocol::interface::{
    AbortSemantics, ContextModifierPolicy, EmptyResultPolicy, InterfaceBuilder, InterruptBehavior,
    PermissionChannel, PermissionMatcher, RenderHint, SchemaVisibility, ToolOrigin,
};
use protocol::{RequirementSet, ToolInterface, ToolKind, ToolMode};

use crate::limits::OUTPUT_BYTES_MAX;

/// Begins the interface of any built-in tool.
pub(super) fn builtin_interface(name: &str) -> InterfaceBuilder {
    ToolInterface::builder(name)
        .origin(ToolOrigin::BuiltIn)
        .native_ids(BTreeMap::new())
        .namespace("")
        .schema_visibility(SchemaVisibility::Model)
        .should_defer(false)
        .always_load(true)
        .strict(false)
        .is_enabled(true)
        .requires_setup(false)
        .required_credentials(Vec::new())
        .model_requirements(Vec::new())
        .feature_gate_refs(Vec::new())
        .schema_validation(true)
        .deny_before_io(true)
        .is_destructive(false)
        .is_open_world(false)
        .requires_user_interaction(false)
        .permission_channel(PermissionChannel::Card)
        .decision_ref("call_judged:{call}")
        .execution_profile_ref("engine")
        .context_modifier_policy(ContextModifierPolicy::Forbid)
        .result_mapper("outcome")
        .persistence_policy_ref("sidecar")
        .empty_result_policy(EmptyResultPolicy::NeverEmpty)
        .redaction_policy_refs(vec!["secrets".to_owned()])
        .progress_render_hint(RenderHint::Nothing)
        .rejected_render_hint(RenderHint::Line)
        .error_render_hint(RenderHint::Line)
}

/// Begins the interface of a tool that reads or searches files of the workspace.
pub(super) fn file_query_interface(name: &str) -> InterfaceBuilder {
    builtin_interface(name)
        .requires(RequirementSet::empty().with_read("**"))
        .mode(ToolMode::Read)
        .kind(ToolKind::Search)
        .max_inline_chars(OUTPUT_BYTES_MAX)
        .mark_read_only()
        .sandbox_profile("workspace_read")
        .permission_matcher(PermissionMatcher::Path)
        .abort_semantics(AbortSemantics::EndsAtNextStep)
        .interrupt_behavior(InterruptBehavior::Cancel)
}

/// Begins the interface of a tool that changes files of the workspace, all that a call names or none.
pub(super) fn file_change_interface(name: &str) -> InterfaceBuilder {
    builtin_interface(name)
        .requires(RequirementSet::empty().with_read("**").with_write("**"))
        .mode(ToolMode::SafeWrite)
        .kind(ToolKind::Edit)
        .is_read_only(false)
        .is_concurrency_safe(false)
        .sandbox_profile("workspace_write")
        .permission_matcher(PermissionMatcher::Path)
        .abort_semantics(AbortSemantics::WholeOrNothing)
        .interrupt_behavior(InterruptBehavior::Block)
        .rejected_render_hint(RenderHint::Difference)
}

/// Begins the interface of a tool that acts on the session and accesses nothing.
pub(super) fn session_interface(name: &str) -> InterfaceBuilder {
    builtin_interface(name)
        .requires(RequirementSet::empty())
        .mode(ToolMode::Read)
        .kind(ToolKind::Other)
        .is_read_only(true)
        .is_concurrency_safe(false)
        .sandbox_profile("nothing")
        .classifier_input("")
        .permission_matcher(PermissionMatcher::Nothing)
        .abort_semantics(AbortSemantics::WholeOrNothing)
        .interrupt_behavior(InterruptBehavior::Block)
}

/// Begins the interface of a tool that waits for a person.
pub(super) fn person_interface(name: &str) -> InterfaceBuilder {
    session_interface(name)
        .requires_user_interaction(true)
        .execution_profile_ref("person")
        .abort_semantics(AbortSemantics::EndsAtNextStep)
        .interrupt_behavior(InterruptBehavior::Cancel)
        .progress_render_hint(RenderHint::Form)
        .rejected_render_hint(RenderHint::Form)
}

/// Begins the interface of a tool that asks a host of the web.
pub(super) fn web_interface(name: &str) -> InterfaceBuilder {
    builtin_interface(name)
        .kind(ToolKind::Fetch)
        .is_open_world(true)
        .sandbox_profile("network")
        .permission_matcher(PermissionMatcher::Host)
        .abort_semantics(AbortSemantics::EndsAtNextStep)
        .interrupt_behavior(InterruptBehavior::Cancel)
}

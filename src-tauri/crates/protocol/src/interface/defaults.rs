//! Defaults of the facts that a tool does not state: the single place of every default, all of them fail-closed
//! (`S003-53` to `S003-60`).

use serde_json::json;

use super::{
    AbortSemantics, ContextModifierPolicy, EmptyResultPolicy, InterruptBehavior, PermissionChannel,
    PermissionMatcher, ResultRules, ToolAvailability, ToolExecution, ToolInterface, ToolPermission,
    ToolSafety, ToolSchemas, ToolValidation,
};
use crate::{ToolKind, ToolMode};

/// Default time limit of a call, in milliseconds (M06).
const DEFAULT_TIMEOUT_MS: u64 = 120_000;

/// Default limit of the part of a result that the model gets inline, in bytes (M06).
const DEFAULT_INLINE_BYTES_MAX: u64 = 200 * 1024;

impl Default for ToolSchemas {
    fn default() -> Self {
        let nothing = json!({ "type": "object", "properties": {}, "additionalProperties": false });
        Self {
            model_input_schema: nothing.clone(),
            runtime_input_schema: nothing,
            output_schema: None,
            strict: true,
        }
    }
}

impl Default for ToolAvailability {
    fn default() -> Self {
        Self {
            is_enabled: true,
            requires_setup: false,
            required_credentials: Vec::new(),
            model_requirements: Vec::new(),
            feature_gate_refs: Vec::new(),
        }
    }
}

impl Default for ToolValidation {
    fn default() -> Self {
        Self {
            schema_validation: true,
            value_validation: Vec::new(),
            io_preflight_validation: Vec::new(),
            deny_before_io: true,
        }
    }
}

impl Default for ToolSafety {
    fn default() -> Self {
        Self {
            mode: None,
            kind: ToolKind::Other,
            is_read_only: false,
            is_destructive: false,
            is_open_world: false,
            requires_user_interaction: false,
            is_concurrency_safe: false,
            sandbox_profile: "nothing".to_owned(),
            classifier_input: String::new(),
        }
    }
}

impl Default for ToolPermission {
    fn default() -> Self {
        Self {
            permission_profile_ref: "ask".to_owned(),
            permission_matcher: PermissionMatcher::Nothing,
            permission_channel: PermissionChannel::Card,
            decision_ref: "call_judged:{call}".to_owned(),
        }
    }
}

impl Default for ToolExecution {
    fn default() -> Self {
        Self {
            execution_profile_ref: "engine".to_owned(),
            timeout_ms: DEFAULT_TIMEOUT_MS,
            abort_semantics: AbortSemantics::Abandons,
            interrupt_behavior: InterruptBehavior::Block,
            progress_schema: None,
            context_modifier_policy: ContextModifierPolicy::Forbid,
        }
    }
}

impl Default for ResultRules {
    fn default() -> Self {
        Self {
            result_mapper: "outcome".to_owned(),
            max_inline_chars: DEFAULT_INLINE_BYTES_MAX,
            persistence_policy_ref: "sidecar".to_owned(),
            empty_result_policy: EmptyResultPolicy::Marker,
            redaction_policy_refs: vec!["secrets".to_owned()],
        }
    }
}

/// Infers facts from the stated ones. `is_stated` returns whether a fact was stated; stated facts are never changed.
pub(super) fn infer_facts(tool: &mut ToolInterface, is_stated: &dyn Fn(&str) -> bool) {
    infer_identity(tool, is_stated);
    infer_safety(tool, is_stated);
    if !is_stated("schemas.runtime_input_schema") {
        tool.schemas.runtime_input_schema = tool.schemas.model_input_schema.clone();
    }
    if !is_stated("discovery.capability_refs") {
        tool.discovery.capability_refs = tool.requires.capability_names();
    }
    if !is_stated("permission.permission_profile_ref")
        && let Some(mode) = tool.safety.mode
    {
        tool.permission.permission_profile_ref = format!("mode:{}", mode.as_str());
    }
    if !is_stated("permission.permission_matcher") {
        let needs = &tool.requires;
        tool.permission.permission_matcher = match () {
            () if !needs.shell.is_empty() => PermissionMatcher::Command,
            () if !needs.net.hosts.is_empty() => PermissionMatcher::Host,
            () if !needs.fs.is_empty() => PermissionMatcher::Path,
            () => PermissionMatcher::Nothing,
        };
    }
    for (fact, text) in [
        ("rendering.ui_summary", &mut tool.rendering.ui_summary),
        (
            "rendering.activity_description",
            &mut tool.rendering.activity_description,
        ),
    ] {
        if !is_stated(fact) {
            text.clone_from(&tool.identity.user_facing_name);
        }
    }
}

fn infer_identity(tool: &mut ToolInterface, is_stated: &dyn Fn(&str) -> bool) {
    let identity = &mut tool.identity;
    if !is_stated("identity.tool_id") {
        identity.tool_id = match identity.namespace.as_str() {
            "" => identity.name.clone(),
            namespace => format!("{namespace}__{}", identity.name),
        };
    }
    if !is_stated("identity.name") {
        identity.name.clone_from(&identity.tool_id);
    }
    if !is_stated("identity.user_facing_name") {
        identity.user_facing_name.clone_from(&identity.name);
    }
}

fn infer_safety(tool: &mut ToolInterface, is_stated: &dyn Fn(&str) -> bool) {
    let needs = &tool.requires;
    let safety = &mut tool.safety;
    if !is_stated("safety.is_destructive") {
        safety.is_destructive =
            safety.mode == Some(ToolMode::Destructive) || safety.kind == ToolKind::Delete;
    }
    if !is_stated("safety.is_open_world") {
        let reaches = match safety.kind {
            ToolKind::Execute | ToolKind::Fetch => true,
            ToolKind::Read
            | ToolKind::Edit
            | ToolKind::Delete
            | ToolKind::Move
            | ToolKind::Search
            | ToolKind::Think
            | ToolKind::Other => !needs.shell.is_empty() || !needs.net.hosts.is_empty(),
        };
        safety.is_open_world = reaches && !needs.is_scoped();
    }
    if !is_stated("safety.sandbox_profile") {
        let profile = match () {
            () if !needs.shell.is_empty() => "command",
            () if !needs.net.hosts.is_empty() => "network",
            () if !needs.fs.write.is_empty() => "workspace_write",
            () if !needs.fs.read.is_empty() => "workspace_read",
            () => "nothing",
        };
        safety.sandbox_profile = profile.to_owned();
    }
}

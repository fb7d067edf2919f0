//! Builds an interface fact by fact and tracks which facts were stated; the others are inferred and listed as such
//! (`S003-61`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    AbortSemantics, ContextModifierPolicy, EmptyResultPolicy, InterruptBehavior, PermissionChannel,
    PermissionMatcher, RenderHint, SchemaVisibility, ToolAlias, ToolInterface, ToolOrigin,
    defaults,
};
use crate::{RequirementSet, ToolKind, ToolMode};

/// An interface under construction. Every method states one fact; see the field of the same name for its meaning.
#[derive(Debug, Clone)]
#[must_use]
pub struct InterfaceBuilder {
    interface: ToolInterface,
    stated: BTreeSet<&'static str>,
}

/// Defines one method for each fact, and the list of all facts.
macro_rules! define_facts {
    ($($partition:ident { $($field:ident: $type:ty),* $(,)? })*) => {
        /// Every fact of a record, as `partition.field`, in the order of the specification.
        pub const FACTS: &[&str] = &[
            $($(concat!(stringify!($partition), ".", stringify!($field)),)*)*
            "requires",
            "origin",
        ];

        impl InterfaceBuilder {
            $($(
                #[doc = concat!("Says `", stringify!($partition), ".", stringify!($field), "`.")]
                pub fn $field(mut self, value: impl Into<$type>) -> Self {
                    self.interface.$partition.$field = value.into();
                    self.stated.insert(concat!(stringify!($partition), ".", stringify!($field)));
                    self
                }
            )*)*
        }
    };
}

define_facts! {
    identity {
        tool_id: String, name: String, aliases: Vec<ToolAlias>, namespace: String, native_ids: BTreeMap<String, String>,
        user_facing_name: String,
    }
    discovery {
        search_hint: String, description: String, capability_refs: Vec<String>, schema_visibility: SchemaVisibility,
        should_defer: bool, always_load: bool,
    }
    schemas {
        model_input_schema: Value, runtime_input_schema: Value, output_schema: Option<Value>, strict: bool,
    }
    availability {
        is_enabled: bool, requires_setup: bool, required_credentials: Vec<String>, model_requirements: Vec<String>,
        feature_gate_refs: Vec<String>,
    }
    validation {
        schema_validation: bool, value_validation: Vec<String>, io_preflight_validation: Vec<String>,
        deny_before_io: bool,
    }
    safety {
        mode: Option<ToolMode>, kind: ToolKind, is_read_only: bool, is_destructive: bool, is_open_world: bool,
        requires_user_interaction: bool, is_concurrency_safe: bool, sandbox_profile: String, classifier_input: String,
    }
    permission {
        permission_profile_ref: String, permission_matcher: PermissionMatcher, permission_channel: PermissionChannel,
        decision_ref: String,
    }
    execution {
        execution_profile_ref: String, timeout_ms: u64, abort_semantics: AbortSemantics,
        interrupt_behavior: InterruptBehavior, progress_schema: Option<Value>,
        context_modifier_policy: ContextModifierPolicy,
    }
    result {
        result_mapper: String, max_inline_chars: u64, persistence_policy_ref: String,
        empty_result_policy: EmptyResultPolicy, redaction_policy_refs: Vec<String>,
    }
    rendering {
        ui_summary: String, activity_description: String, progress_render_hint: RenderHint,
        rejected_render_hint: RenderHint, error_render_hint: RenderHint, transcript_search_text: String,
    }
}

impl InterfaceBuilder {
    pub(super) fn new(name: String) -> Self {
        Self::from_parts(ToolInterface::default(), []).name(name)
    }

    /// Continues with the facts of `present` that the interface does not list as inferred.
    pub(super) fn from_parts(
        interface: ToolInterface,
        present: impl IntoIterator<Item = &'static str>,
    ) -> Self {
        let stated = present
            .into_iter()
            .filter(|fact| interface.is_stated(fact))
            .collect();
        Self { interface, stated }
    }

    /// Adds another name, with pairs of the argument name used under that name and our own argument name (M05).
    pub fn add_alias(mut self, name: &str, arguments: &[(&str, &str)]) -> Self {
        self.interface.identity.aliases.push(ToolAlias {
            name: name.to_owned(),
            arguments: arguments
                .iter()
                .map(|(theirs, ours)| ((*theirs).to_owned(), (*ours).to_owned()))
                .collect(),
        });
        self.stated.insert("identity.aliases");
        self
    }

    /// Adds a clause about a check of values (`S003-24`).
    pub fn add_value_check(mut self, clause: &str) -> Self {
        self.interface
            .validation
            .value_validation
            .push(clause.to_owned());
        self.stated.insert("validation.value_validation");
        self
    }

    /// Adds a clause about a check that is made before anything is changed (`S003-25`).
    pub fn add_preflight(mut self, clause: &str) -> Self {
        self.interface
            .validation
            .io_preflight_validation
            .push(clause.to_owned());
        self.stated.insert("validation.io_preflight_validation");
        self
    }

    /// States that calls change nothing and may run concurrently.
    pub fn mark_read_only(self) -> Self {
        self.is_read_only(true).is_concurrency_safe(true)
    }

    /// States the requirements of the tool on the machine (`S002-07`).
    pub fn requires(mut self, requires: RequirementSet) -> Self {
        self.interface.requires = requires;
        self.stated.insert("requires");
        self
    }

    /// States the origin of the tool.
    pub fn origin(mut self, origin: ToolOrigin) -> Self {
        self.interface.origin = origin;
        self.stated.insert("origin");
        self
    }

    /// Builds the interface; infers the facts that were not stated, and lists them.
    pub fn build(self) -> ToolInterface {
        let Self {
            mut interface,
            stated,
        } = self;
        defaults::infer_facts(&mut interface, &|fact| stated.contains(fact));
        interface.inferred = FACTS
            .iter()
            .filter(|fact| !stated.contains(**fact))
            .map(|fact| (*fact).to_owned())
            .collect();
        interface
    }
}

impl From<ToolInterface> for InterfaceBuilder {
    /// Continues from a finished interface: its inferred facts may be stated, and are inferred anew otherwise.
    fn from(interface: ToolInterface) -> Self {
        Self::from_parts(interface, FACTS.iter().copied())
    }
}

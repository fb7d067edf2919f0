//! May the call run? Pure functions from the facts of a call to a verdict with its reasons.
//!
//! **No file, no clock, no network, no randomness, no async**: the dependency list keeps that. The same inputs give the
//! same verdict for ever, which is what makes a recorded trail worth reading.
//!
//! **It deliberately does not know** what any particular tool does: it judges declared accesses, modes and rules.
//!
//! Start reading at [`evaluate::evaluate`]. A call can only run with an [`Approved`], and only a [`Judgement`] makes
//! one.
//!
//! ```
//! use policy::rules_file::{RulesFileSource, parse_rules_file};
//! use policy::{CallFacts, EvaluationRequest, RuleSet, evaluate};
//! use protocol::{Capability, ResolvedAccess, RuleScope, Verdict};
//! # use policy::{ToolDeclaration, classify_tool};
//! # use protocol::view::preview::UndoAvailability;
//! # use protocol::{CallId, Digest, UserError};
//!
//! let text = r#"
//! [[rule]]
//! permission = "fs.write"
//! pattern = "src/**"
//! action = "deny"
//! "#;
//! let mut rules = RuleSet::builtin();
//! rules.add(parse_rules_file(text, &RulesFileSource::new("rules.toml", RuleScope::User))?);
//! let access = ResolvedAccess::new_inside(Capability::FsWrite, "src/main.rs");
//! let judgement = evaluate(&EvaluationRequest {
//!     tool: "write",
//!     facts: &CallFacts::from_iter([access]),
//!     rules: &rules,
//!     // … and what else a verdict depends on.
//! #     call: &CallId::from("call_1"),
//! #     tool_class: &classify_tool("write", ToolDeclaration::default()),
//! #     undo: &UndoAvailability::Secured,
//! #     needs_person: false,
//! #     ask_for_everything: false,
//! #     headless: None,
//! #     alarms: &[],
//! #     dry_run: None,
//! #     dry_run_first: false,
//! #     judges_effects: false,
//! #     skips_asks: false,
//! #     now: 0,
//! #     rules_only: false,
//! #     shown_digest: &|| Digest::from_bytes(b""),
//! });
//! assert_eq!(judgement.verdict(), Verdict::Deny);
//! # Ok::<(), UserError>(())
//! ```

pub mod approved;
pub mod audience;
pub mod classify;
pub mod effects;
pub mod egress;
pub mod evaluate;
mod explanation;
pub mod facts;
pub mod grants;
mod host_access;
pub mod import;
pub mod irreversible;
pub mod limits;
pub mod path;
pub mod patterns;
mod reading_verbs;
pub mod request;
pub mod rules;
pub mod rules_file;
pub mod scope;
pub mod shell;
mod skipped_asks;
pub mod surface;
#[cfg(test)]
mod test_request;
pub mod trust;
pub mod watchdogs;

pub use approved::{Approved, Consent, QuestionAnswers};
pub use classify::{ToolClass, ToolDeclaration, classify_tool};
pub use evaluate::{Judgement, evaluate};
pub use facts::CallFacts;
pub use request::EvaluationRequest;
pub use rules::RuleSet;
pub use rules_file::manifest::{self, AgentManifest};
pub use surface::Surface;

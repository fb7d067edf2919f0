//! May the call run? Pure functions from the facts of a call to a verdict with its reasons.
//!
//! **No file, no clock, no network, no randomness, no async**: the dependency list keeps that. The same inputs give the
//! same verdict for ever, which is what makes a recorded trail worth reading.
//!
//! **It deliberately does not know** what any particular tool does: it judges declared accesses, modes and rules.
//!
//! Start reading at [`evaluate::evaluate`]. A call can only run with an [`Approved`], and only a [`Judgement`] makes
//! one.

pub mod approved;
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
pub mod request;
pub mod rules;
pub mod rules_file;
pub mod scope;
pub mod shell;
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

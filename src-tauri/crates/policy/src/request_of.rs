//! One call of a tool under a person's rules, as tests judge it.

use protocol::preview::UndoOutlook;
use protocol::{CallId, Digest, Fact, RuleScope, ToolMode};

use crate::classify::{Declared, classify};
use crate::facts::Facts;
use crate::judge::Request;
use crate::rules::RuleSet;
use crate::rules_file::{Source, read};

/// Gives `then` the request of a call that touches one thing; a person is there, and it can be undone.
pub(crate) fn request_of<T>(
    tool: &str,
    mode: ToolMode,
    fact: Fact,
    rules: &str,
    then: impl FnOnce(&Request<'_>) -> T,
) -> T {
    let mut set = RuleSet::builtin();
    set.add(read(rules, &Source::new("rules.toml", RuleScope::User)).unwrap());
    let declared = Declared {
        mode: Some(mode),
        ..Declared::default()
    };
    then(&Request {
        call: &CallId::from("c"),
        tool,
        classified: &classify(tool, declared),
        facts: &Facts::from_iter([fact]),
        undo: &UndoOutlook::Secured,
        needs_person: false,
        rules: &set,
        ask_for_everything: false,
        headless: None,
        alarms: &[],
        tried: None,
        now: 0,
        alone: false,
        shown: &|| Digest(String::new()),
    })
}

//! The capability check, the first defence (`S002-94`, `S002-97`): everything a call touches lies in a granted root and
//! on the surface of its tool, every host is open, and it is certain what a command runs.

mod mentions;
mod open_paths;

use protocol::rule::verdict::TrailStep;
use protocol::text::display_text::format_count;
use protocol::{At, Capability, Gate, ResolvedAccess, Verdict};

use crate::facts::{CallFacts, OPEN_WORD_DOUBT};
use crate::patterns::host::{HostLocality, host_locality};
use crate::rules::{RuleSet, quote_truncated};

/// Judges where the facts of a call lead. Only a rule that names a private host opens it.
pub fn check_scope(tool: &str, facts: &CallFacts, rules: &RuleSet, now: At) -> TrailStep {
    if facts.has_only_mentions() {
        return mentions::check_mentions(tool, facts, rules, now);
    }
    let step = |verdict, text| TrailStep::new(Gate::Capability, verdict, text);
    let is_open = |fact: &ResolvedAccess| {
        facts.is_sandboxed() && open_paths::is_open_in_sandbox(fact)
            || facts.is_home_state(fact)
            || facts.is_guess(fact)
    };
    let is_open_use = |fact: &ResolvedAccess| {
        facts.is_sandboxed() && open_paths::is_install_folder(fact) || is_open(fact)
    };
    let touched = || {
        let all = facts.all().iter().filter(|fact| !is_open(fact));
        all.chain(facts.uses().iter().filter(|fact| !is_open_use(fact)))
    };
    let denied = touched()
        .filter(|fact| facts.root_to_open_for(fact).is_none())
        .find_map(|fact| find_denial_reason(tool, fact, rules, now));
    if let Some(why) = denied.or_else(|| facts.denial_reason().map(str::to_owned)) {
        return step(Some(Verdict::Deny), why);
    }
    if let Some(why) = touched().find_map(find_doubt_reason) {
        return step(Some(Verdict::Ask), why);
    }
    if let Some(place) = facts.roots_to_open().next() {
        let why = "which is outside the workspace and not open yet";
        return step(
            Some(Verdict::Ask),
            format!("It needs `{}`, {why}.", quote_truncated(place)),
        );
    }
    let reasons = describe_facts(facts);
    let on_paths = facts
        .all()
        .iter()
        .any(|fact| is_path_capability(fact.capability));
    match reasons.is_empty() {
        true => step(None, "It touches nothing on this machine.".to_owned()),
        // Commands and hosts have no place that could be inside: other gates judge them.
        false => step(
            on_paths.then_some(Verdict::Allow),
            format!("{}.", reasons.join("; ")),
        ),
    }
}

/// Why a fact is denied whatever the rules say.
fn find_denial_reason(
    tool: &str,
    fact: &ResolvedAccess,
    rules: &RuleSet,
    now: At,
) -> Option<String> {
    if let Some(why) = &fact.unresolved {
        return Some(format!(
            "`{}` cannot be resolved: {why}",
            quote_truncated(&fact.target)
        ));
    }
    if !fact.inside {
        let leads = if fact.real == fact.target {
            String::new()
        } else {
            format!(" leads to `{}`, which", quote_truncated(&fact.real))
        };
        return Some(format!(
            "`{}`{leads} is outside the workspace.",
            quote_truncated(&fact.target)
        ));
    }
    if fact.capability != Capability::NetFetch || fact.real.is_empty() {
        return None;
    }
    let whose = match host_locality(&fact.real) {
        HostLocality::Public => return None,
        // A command reaches its own machine often, and is asked about instead.
        HostLocality::Private if fact.derived => return None,
        HostLocality::Private => "this machine or its network",
        HostLocality::LinkLocal => "where machines hand out their own secrets",
    };
    (!rules.opens_host(tool, &fact.real, now)).then(|| {
        format!(
            "`{}` is {whose}, which stays closed unless a rule names that host.",
            quote_truncated(&fact.real)
        )
    })
}

/// Why no rule may allow a fact.
fn find_doubt_reason(fact: &ResolvedAccess) -> Option<String> {
    let doubt = fact
        .doubt
        .as_ref()
        .filter(|doubt| *doubt != OPEN_WORD_DOUBT)?;
    Some(format!(
        "`{}`: {doubt} No rule may allow that.",
        quote_truncated(&fact.target)
    ))
}

fn is_path_capability(capability: Capability) -> bool {
    match capability {
        Capability::FsRead | Capability::FsWrite | Capability::FsDelete => true,
        Capability::NetFetch | Capability::ShellRun => false,
    }
}

fn describe_facts(facts: &CallFacts) -> Vec<String> {
    let counted = |capability: Capability| {
        facts
            .all()
            .iter()
            .filter(|fact| fact.capability == capability)
            .count() as u64
    };
    Capability::ALL
        .into_iter()
        .filter_map(|capability| match (capability, counted(capability)) {
            (_, 0) => None,
            (Capability::ShellRun, _) => Some(describe_command(facts)),
            (Capability::NetFetch, n) => Some(format!(
                "{} on {}",
                capability.as_str(),
                format_count(n, "host")
            )),
            (_, n) => Some(format!(
                "{} on {} inside the workspace",
                capability.as_str(),
                format_count(n, "path")
            )),
        })
        .collect()
}

/// Describes a command, with the reason if the command is not certain. The consequence is drawn with the rules: none of
/// them allows such a command.
fn describe_command(facts: &CallFacts) -> String {
    let unsure = facts
        .commands()
        .find_map(|(_, read)| read.unsure_reasons.first());
    match unsure {
        Some(why) => format!(
            "runs a command that no rule can allow ({})",
            why.trim_end_matches('.')
        ),
        None => "runs a command, checked below".to_owned(),
    }
}

//! The capability check, the first defence (`S002-94`, `S002-97`): everything a call touches lies in a granted root and on
//! the surface of its tool, every host is open, and it is certain what a command runs.

mod mentioned;

use protocol::judge::TrailStep;
use protocol::{At, Capability, Fact, Gate, Verdict};

use crate::facts::{Facts, OPEN};
use crate::host::{Nearness, nearness};
use crate::rules::{RuleSet, quoted};

/// Judges where the facts of a call lead. Only a rule that names a private host opens it.
pub fn check(tool: &str, facts: &Facts, rules: &RuleSet, now: At) -> TrailStep {
    if facts.are_mentions() {
        return mentioned::check(tool, facts, rules, now);
    }
    let step = |verdict, text| TrailStep {
        gate: Gate::Capability,
        verdict,
        text,
        rules: Vec::new(),
    };
    let touched = || facts.all().iter().chain(facts.uses());
    let denied = touched()
        .filter(|fact| facts.opened_for(fact).is_none())
        .find_map(|fact| denied(tool, fact, rules, now));
    if let Some(why) = denied.or_else(|| facts.beyond().map(str::to_owned)) {
        return step(Some(Verdict::Deny), why);
    }
    if let Some(why) = touched().find_map(doubted) {
        return step(Some(Verdict::Ask), why);
    }
    if let Some(place) = facts.opens().next() {
        let why = "which is outside the workspace and not open yet";
        return step(
            Some(Verdict::Ask),
            format!("It needs `{}`, {why}.", quoted(place)),
        );
    }
    let told = told(facts);
    let on_paths = facts.all().iter().any(|fact| is_path(fact.capability));
    match told.is_empty() {
        true => step(None, "It touches nothing on this machine.".to_owned()),
        // Commands and hosts have no place that could be inside: other gates judge them.
        false => step(
            on_paths.then_some(Verdict::Allow),
            format!("{}.", told.join("; ")),
        ),
    }
}

/// Why a fact is denied whatever the rules say.
fn denied(tool: &str, fact: &Fact, rules: &RuleSet, now: At) -> Option<String> {
    if let Some(why) = &fact.unresolved {
        return Some(format!(
            "`{}` cannot be resolved: {why}",
            quoted(&fact.target)
        ));
    }
    if !fact.inside {
        let leads = if fact.real == fact.target {
            String::new()
        } else {
            format!(" leads to `{}`, which", quoted(&fact.real))
        };
        return Some(format!(
            "`{}`{leads} is outside the workspace.",
            quoted(&fact.target)
        ));
    }
    if fact.capability != Capability::NetFetch || fact.real.is_empty() {
        return None;
    }
    let whose = match nearness(&fact.real) {
        Nearness::Far => return None,
        // A command reaches its own machine often, and is asked about instead.
        Nearness::Private if fact.derived => return None,
        Nearness::Private => "this machine or its network",
        Nearness::LinkLocal => "where machines hand out their own secrets",
    };
    (!rules.opens_host(tool, &fact.real, now)).then(|| {
        format!(
            "`{}` is {whose}, which stays closed unless a rule names that host.",
            quoted(&fact.real)
        )
    })
}

/// Why no rule may allow a fact.
fn doubted(fact: &Fact) -> Option<String> {
    let doubt = fact.doubt.as_ref().filter(|doubt| *doubt != OPEN)?;
    Some(format!(
        "`{}`: {doubt} No rule may allow that.",
        quoted(&fact.target)
    ))
}

fn is_path(capability: Capability) -> bool {
    match capability {
        Capability::FsRead | Capability::FsWrite | Capability::FsDelete => true,
        Capability::NetFetch | Capability::ShellRun => false,
    }
}

fn told(facts: &Facts) -> Vec<String> {
    let counted = |capability: Capability| {
        facts
            .all()
            .iter()
            .filter(|fact| fact.capability == capability)
            .count()
    };
    Capability::ALL
        .into_iter()
        .filter_map(|capability| match (capability, counted(capability)) {
            (_, 0) => None,
            (Capability::ShellRun, _) => Some(command_told(facts)),
            (Capability::NetFetch, n) => Some(format!(
                "{} on {n} {}",
                capability.as_str(),
                plural(n, "host")
            )),
            (_, n) => Some(format!(
                "{} on {n} {} inside the workspace",
                capability.as_str(),
                plural(n, "path")
            )),
        })
        .collect()
}

/// The reason is told here, and its consequence drawn with the rules: none of them allows such a command.
fn command_told(facts: &Facts) -> String {
    let unsure = facts.commands().find_map(|(_, read)| read.unsure.first());
    match unsure {
        Some(why) => format!(
            "runs a command that no rule can allow ({})",
            why.trim_end_matches('.')
        ),
        None => "runs a command, which other gates judge".to_owned(),
    }
}

fn plural(n: usize, noun: &str) -> String {
    if n == 1 {
        noun.to_owned()
    } else {
        format!("{noun}s")
    }
}

//! The capability check, the first defence (`S002-94`, `S002-97`): everything a call touches lies in a granted root.

use protocol::judge::TrailStep;
use protocol::{Capability, Fact, Gate, Verdict};

/// Judges where the facts of a call lead.
pub fn check(facts: &[Fact]) -> TrailStep {
    let step = |verdict, text| TrailStep {
        gate: Gate::Capability,
        verdict,
        text,
        rules: Vec::new(),
    };
    if let Some(fact) = facts.iter().find(|fact| fact.unresolved.is_some()) {
        let why = fact.unresolved.as_deref().unwrap_or_default();
        return step(
            Some(Verdict::Deny),
            format!("`{}` cannot be resolved: {why}", fact.target),
        );
    }
    if let Some(fact) = facts.iter().find(|fact| !fact.inside) {
        let leads = if fact.real == fact.target {
            String::new()
        } else {
            format!(" leads to `{}`, which", fact.real)
        };
        return step(
            Some(Verdict::Deny),
            format!("`{}`{leads} is outside the workspace.", fact.target),
        );
    }
    let counted = |capability: Capability| {
        facts
            .iter()
            .filter(|fact| fact.capability == capability)
            .count()
    };
    let told: Vec<String> = Capability::ALL
        .into_iter()
        .filter_map(|capability| match (capability, counted(capability)) {
            (_, 0) => None,
            (Capability::ShellRun, _) => Some("runs a command, which other gates judge".to_owned()),
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
        .collect();
    let on_paths = facts.iter().any(|fact| match fact.capability {
        Capability::FsRead | Capability::FsWrite | Capability::FsDelete => true,
        Capability::NetFetch | Capability::ShellRun => false,
    });
    match told.is_empty() {
        true => step(None, "It touches nothing on this machine.".to_owned()),
        // Commands and hosts have no place that could be inside: other gates judge them.
        false => step(
            on_paths.then_some(Verdict::Allow),
            format!("{}.", told.join("; ")),
        ),
    }
}

fn plural(n: usize, noun: &str) -> String {
    if n == 1 {
        noun.to_owned()
    } else {
        format!("{noun}s")
    }
}

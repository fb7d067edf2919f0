//! Commands that write files which run by themselves later: hooks, start-up files, time tables.

use protocol::{Capability, ResolvedAccess, RuleAction, Verdict};

use super::Alarm;
use super::command::WatchedCommand;
use crate::rules::protections::Protections;

/// Denies a write to a place that is protected because it runs later.
pub(super) fn check_persistence(script: &WatchedCommand) -> Option<Alarm> {
    let protections = Protections::standard();
    let planted = script.accesses.iter().find(|one| {
        let fact = ResolvedAccess::new_inside(one.capability, one.target.clone());
        one.capability == Capability::FsWrite
            && protections.strictest_action(&fact).map(Verdict::from)
                == Some(Verdict::from(RuleAction::Deny))
    });
    if let Some(one) = planted {
        return Some(Alarm::deny(format!(
            "It writes `{}`, which runs by itself later.",
            one.target
        )));
    }
    let scheduled = script
        .commands_running("crontab at batch launchctl schtasks")
        .find(|words| match words[0].as_str() {
            "crontab" => !words.iter().any(|word| word == "-l"),
            "launchctl" => words
                .iter()
                .any(|word| matches!(word.as_str(), "load" | "bootstrap" | "submit" | "enable")),
            "schtasks" => words
                .iter()
                .any(|word| word.eq_ignore_ascii_case("/create")),
            _ => true,
        });
    scheduled.map(|words| Alarm::ask(format!("`{}` lets something run later.", words[0])))
}

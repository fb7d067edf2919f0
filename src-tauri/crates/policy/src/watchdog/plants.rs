//! Commands that write what runs by itself later: hooks, start-up files, time tables.

use protocol::{Action, Capability, Fact, Verdict};

use super::Alarm;
use super::script::Script;
use crate::builtin::Protections;

/// Says no to a write into what is protected because it runs later.
pub(super) fn check(script: &Script) -> Option<Alarm> {
    let protections = Protections::standard();
    let planted = script.touches.iter().find(|one| {
        let fact = Fact::inside(one.capability, one.target.clone());
        one.capability == Capability::FsWrite
            && protections.action_on(&fact).map(Verdict::from) == Some(Verdict::from(Action::Deny))
    });
    if let Some(one) = planted {
        return Some(Alarm::deny(format!(
            "It writes `{}`, which runs by itself later.",
            one.target
        )));
    }
    let scheduled = script
        .running(&["crontab", "at", "batch", "launchctl", "schtasks"])
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

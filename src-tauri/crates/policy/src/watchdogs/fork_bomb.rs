//! Fork bombs: a function that runs itself twice.

use super::Alarm;
use super::command::WatchedCommand;

/// Denies `:(){ :|:& };:` under any name.
pub(super) fn check_fork_bomb(script: &WatchedCommand) -> Option<Alarm> {
    let bare: String = script.text.chars().filter(|c| !c.is_whitespace()).collect();
    let bare = bare.replace("function", "");
    let bombs = bare.match_indices("(){").any(|(at, opening)| {
        let name: String = bare[..at]
            .chars()
            .rev()
            .take_while(|c| !matches!(c, ';' | '&' | '|' | '{' | '}' | '(' | ')'))
            .collect();
        let name: String = name.chars().rev().collect();
        let body = &bare[at + opening.len()..];
        let body = &body[..body.find('}').unwrap_or(body.len())];
        !name.is_empty()
            && (body.contains(&format!("{name}|{name}"))
                || body.contains(&format!("{name}&{name}")))
    });
    bombs.then(|| Alarm::deny("It is a fork bomb: it fills the machine with copies of itself."))
}

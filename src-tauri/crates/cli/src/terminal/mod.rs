//! The person at the terminal: cards are shown there as they arrive, and answered by keys.
//!
//! **Enter and Space never allow**, and a key counts only once its card has been shown for a moment: keys typed before
//! are no answer to it. The transcript pauses while a card has the terminal.

mod card;
mod card_keys;
mod card_prompt;
mod elicitation_card;
pub(crate) mod external_programs;
mod form;
mod grant_and_edit;
mod grant_choices;
mod key_handlers;
mod keyboard;
pub(crate) mod line_editor;
mod text_wrap;
mod waiting_queue;

use std::io::{IsTerminal, Write};

pub(crate) use card_prompt::{CardPrompt, KeyOutcome};
pub(crate) use keyboard::TerminalInput;

/// Whether somebody can be asked: input and output are terminals, and the program does not run in continuous
/// integration.
pub(crate) fn is_attended() -> bool {
    let is_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
    let is_dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    !is_ci && !is_dumb && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Writes to the terminal, in raw mode or not.
fn write_terminal(text: &str) {
    let mut terminal = std::io::stderr().lock();
    // Where it is gone, that is noticed by whoever reads from it.
    let _ = terminal.write_all(text.replace('\n', "\r\n").as_bytes());
    let _ = terminal.flush();
}

/// Waits until the system asks the program to terminate.
pub(crate) async fn wait_for_termination() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let (Ok(mut terminate), Ok(mut hang_up)) = (
            signal(SignalKind::terminate()),
            signal(SignalKind::hangup()),
        ) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = hang_up.recv() => {}
            }
            return;
        }
    }
    std::future::pending().await
}

//! `demo`: plays the built-in demo, including the answers of its person.

use std::path::PathBuf;
use std::time::Duration;

use agent::Host;
use agent::engine::demo;
use protocol::event::SessionEvent;
use protocol::{EventBody, SessionState};

use crate::event_printer::EventPrinter;
use crate::exit::{CliError, CliResult, ExitReason};
use crate::output::{OutputWriter, TextStyle};

/// Plays the demo, and writes its transcript as it happens.
pub(crate) async fn run_demo(data_dir: Option<PathBuf>, out: &mut OutputWriter) -> CliResult {
    let named = data_dir.is_some() || std::env::var_os("COUNTERSIGN_DATA_DIR").is_some();
    let (data_dir, passing) = match named {
        true => (data_dir, None),
        false => {
            let folder = tempfile::tempdir().map_err(|error| {
                let hint = "Name one with --data-dir.";
                CliError::config("No temporary folder could be made.", hint).with_cause(&error)
            })?;
            (Some(folder.path().to_owned()), Some(folder))
        }
    };
    let desk = super::open_engine(super::engine_config(data_dir, Host::Person)?).await?;
    let mut events = desk.subscribe(desk.last_seq()?);
    let player = desk.clone();
    let mut play = tokio::spawn(async move { demo::run_demo(&player, Duration::ZERO).await });
    let mut live: Option<EventPrinter> = None;
    let mut last = None;
    let mut ended = None;
    // The person at the demo acts once more after its end: all is told when the last event of theirs was seen.
    while last.is_none_or(|last| live.as_ref().is_none_or(|live| live.seq < last)) {
        tokio::select! {
            batch = events.next() => for event in batch?.as_deref().unwrap_or_default() {
                if let EventBody::Session(SessionEvent::Opened { .. }) = event.body {
                    live.get_or_insert_with(|| EventPrinter::new(event.session.clone()));
                }
                if let Some(live) = &mut live {
                    ended = live.handle_event(out, event, false)?.or(ended);
                }
            },
            played = &mut play, if last.is_none() => {
                played.map_err(|error| CliError::failure("The demo broke off.").with_cause(&error))??;
                last = Some(desk.last_seq()?);
            }
        }
    }
    if !out.is_json() {
        let hint = match &passing {
            Some(_) => "Nothing of it was kept.".to_owned(),
            None => "Look at it again: countersign show last".to_owned(),
        };
        out.write_styled(TextStyle::Faint, &format!("The demo is over. {hint}"))?;
    }
    desk.close();
    Ok(match ended {
        Some(SessionState::Done) => ExitReason::Done,
        _ => ExitReason::Failed,
    })
}

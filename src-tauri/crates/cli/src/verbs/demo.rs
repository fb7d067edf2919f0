//! `demo`: the built-in demo, played with the answers of its person.

use std::path::PathBuf;
use std::time::Duration;

use agent::{Host, demo};
use protocol::{EventBody, Fault, SessionState};

use crate::ending::{Code, Ended, Ending};
use crate::live::Live;
use crate::out::{Ink, Out};

/// Plays it, and writes the transcript as it happens.
pub(crate) async fn run(data_dir: Option<PathBuf>, out: &mut Out) -> Ended {
    let named = data_dir.is_some() || std::env::var_os("COUNTERSIGN_DATA_DIR").is_some();
    let (data_dir, passing) = match named {
        true => (data_dir, None),
        false => {
            let folder = tempfile::tempdir().map_err(|error| {
                let hint = "Name one with --data-dir.";
                Ending::unusable(Fault::new("No temporary folder could be made.", hint))
                    .because(&error)
            })?;
            (Some(folder.path().to_owned()), Some(folder))
        }
    };
    let desk = super::open(super::config(data_dir, Host::Person)?).await?;
    let mut events = desk.subscribe(desk.last_seq()?);
    let player = desk.clone();
    let mut play = tokio::spawn(async move { demo::attend(&player, Duration::ZERO).await });
    let mut live: Option<Live> = None;
    let mut last = None;
    let mut ended = None;
    // The person at the demo acts once more after its end: all is told when the last event of theirs was seen.
    while last.is_none_or(|last| live.as_ref().is_none_or(|live| live.seq < last)) {
        tokio::select! {
            batch = events.next() => for event in batch?.as_deref().unwrap_or_default() {
                if let EventBody::SessionOpened { .. } = event.body {
                    live.get_or_insert_with(|| Live::new(event.session.clone()));
                }
                if let Some(live) = &mut live {
                    ended = live.see(out, event, false)?.or(ended);
                }
            },
            played = &mut play, if last.is_none() => {
                played.map_err(|error| Ending::failed("The demo broke off.").because(&error))??;
                last = Some(desk.last_seq()?);
            }
        }
    }
    if !out.is_json() {
        let kept = match &passing {
            Some(_) => "Nothing of it was kept.".to_owned(),
            None => "Look at it again: countersign show last".to_owned(),
        };
        let line = out.ink(Ink::Faint, &format!("The demo is over. {kept}"));
        out.line(&line)?;
    }
    desk.close();
    Ok(match ended {
        Some(SessionState::Done) => Code::Done,
        _ => Code::Failed,
    })
}

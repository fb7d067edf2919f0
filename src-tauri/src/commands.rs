//! The four commands that the interface may call. Each hands over and does nothing else.

use protocol::op::Receipt;
use protocol::query::{Answer, Query, Snapshot};
use protocol::{Event, Fault, Op};
use tauri::State;
use tauri::ipc::Channel;

use crate::Engine;

/// Takes a request of the person.
#[tauri::command]
pub(crate) async fn submit(engine: State<'_, Engine>, op: Op) -> Result<Receipt, Fault> {
    engine.0.clone()?.submit(op).await
}

/// Everything that the interface needs to be whole again.
#[tauri::command]
pub(crate) async fn snapshot(engine: State<'_, Engine>) -> Result<Snapshot, Fault> {
    engine.0.clone()?.snapshot().await
}

/// Answers a question.
#[tauri::command]
pub(crate) async fn query(engine: State<'_, Engine>, query: Query) -> Result<Answer, Fault> {
    engine.0.clone()?.query(query).await
}

/// Sends every event after `since`, then what comes, in batches, until the page is gone.
#[tauri::command]
pub(crate) async fn subscribe(
    engine: State<'_, Engine>,
    since: u64,
    channel: Channel<Vec<Event>>,
) -> Result<(), Fault> {
    let mut events = engine.0.clone()?.subscribe(since);
    tauri::async_runtime::spawn(async move {
        while let Ok(Some(batch)) = events.next().await {
            if channel.send(batch).is_err() {
                break;
            }
        }
    });
    Ok(())
}

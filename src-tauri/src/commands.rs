//! The five commands that the interface may call. Each hands over and does nothing else.

use agent::Batch;
use protocol::op::Receipt;
use protocol::query::{Answer, Query, Snapshot};
use protocol::{Fault, Op};
use tauri::ipc::Channel;
use tauri::{AppHandle, State};

use crate::{Engine, addresses, consent, painting};

/// Takes a request of the person, once it is known to be theirs.
#[tauri::command]
pub(crate) async fn submit(
    app: AppHandle,
    engine: State<'_, Engine>,
    op: Op,
) -> Result<Receipt, Fault> {
    let desk = engine.desk(&app).await?;
    consent::obtain(&app, &desk, &op).await?;
    let sets = matches!(op, Op::SetSettings { .. });
    let receipt = desk.submit(op).await?;
    if sets {
        painting::wear(&app, desk.settings().theme);
    }
    Ok(receipt)
}

/// Everything that the interface needs to be whole again.
#[tauri::command]
pub(crate) async fn snapshot(app: AppHandle, engine: State<'_, Engine>) -> Result<Snapshot, Fault> {
    engine.desk(&app).await?.snapshot().await
}

/// Answers a question.
#[tauri::command]
pub(crate) async fn query(
    app: AppHandle,
    engine: State<'_, Engine>,
    query: Query,
) -> Result<Answer, Fault> {
    engine.desk(&app).await?.query(query).await
}

/// Sends every event after `since`, then what comes, in batches, until the page is gone.
#[tauri::command]
pub(crate) async fn subscribe(
    app: AppHandle,
    engine: State<'_, Engine>,
    since: u64,
    channel: Channel<Batch>,
) -> Result<(), Fault> {
    let mut events = engine.desk(&app).await?.subscribe(since);
    tauri::async_runtime::spawn(async move {
        while let Ok(Some(batch)) = events.next().await {
            if channel.send(batch).is_err() {
                break;
            }
        }
    });
    Ok(())
}

/// Opens an address of the web in the person's browser, once they are known to want it.
#[tauri::command]
pub(crate) async fn open_address(app: AppHandle, address: String) -> Result<(), Fault> {
    consent::obtain_for_address(&app, &address).await?;
    addresses::open(&app, &address)
}

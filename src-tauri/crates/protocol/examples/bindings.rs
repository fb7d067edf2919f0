//! Writes the TypeScript types of the protocol to `ui/src/ipc/bindings`, or to the folder given.

use std::path::PathBuf;

use protocol::query::{Answer, EngineView, Query};
use protocol::{Event, Op, UserError, op::OpReceipt};
use ts_rs::{Config, ExportError, TS};

fn main() -> Result<(), ExportError> {
    let folder = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from("ui/src/ipc/bindings"), PathBuf::from);
    let config = Config::new().with_large_int("number").with_out_dir(folder);
    Event::export_all(&config)?;
    Op::export_all(&config)?;
    OpReceipt::export_all(&config)?;
    Query::export_all(&config)?;
    Answer::export_all(&config)?;
    EngineView::export_all(&config)?;
    UserError::export_all(&config)
}

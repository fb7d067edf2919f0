//! The end of what an agent writes to standard error: often the only reason why it does not go on.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio_util::sync::CancellationToken;

use crate::limits::{AGENT_ERROR_BYTES_MAX, AGENT_ERROR_CHARS_MAX, AGENT_ERROR_WAIT};

/// What an agent wrote to standard error last.
#[derive(Clone, Default)]
pub(super) struct ErrorOutput {
    kept: Arc<Mutex<Vec<u8>>>,
    ended: CancellationToken,
}

impl ErrorOutput {
    /// Reads a program's standard error from now on.
    pub fn follow(mut errors: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let output = Self::default();
        let this = output.clone();
        tokio::spawn(async move {
            let mut piece = vec![0; AGENT_ERROR_BYTES_MAX];
            while let Ok(read) = errors.read(&mut piece).await
                && read > 0
            {
                let mut kept = this.kept.lock();
                kept.extend_from_slice(&piece[..read]);
                let excess = kept.len().saturating_sub(AGENT_ERROR_BYTES_MAX);
                kept.drain(..excess);
            }
            this.ended.cancel();
        });
        output
    }

    /// Returns a reason together with the last line that was written. Waits a moment for a program that is ending.
    pub async fn explain(&self, why: String) -> String {
        // A program that still runs has no last line yet.
        let _ = tokio::time::timeout(AGENT_ERROR_WAIT, self.ended.cancelled()).await;
        let text = String::from_utf8_lossy(&self.kept.lock()).into_owned();
        let mut lines = text.lines().rev().map(str::trim);
        match lines.find(|line| !line.is_empty()) {
            Some(line) => {
                let line = tools::text::truncate_chars(line, AGENT_ERROR_CHARS_MAX);
                format!("{why}; it said: {line}")
            }
            None => why,
        }
    }
}

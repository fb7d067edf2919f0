//! What a server tells by itself: problems of files, and the works that it is at.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lsp_types::{Diagnostic, PublishDiagnosticsParams};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::limits::{PROBLEM_FILES_MAX, PROBLEMS_MAX, PROBLEMS_QUIET, PROGRESS_TASKS_MAX};

/// Everything that was heard.
#[derive(Debug, Default)]
pub(crate) struct ServerNotifications {
    problems: Mutex<BTreeMap<String, PublishedProblems>>,
    active_progress: Mutex<BTreeSet<String>>,
    /// Grows with everything that is heard.
    revision: watch::Sender<u64>,
}

/// The problems of one file as they were told last.
#[derive(Debug, Clone)]
struct PublishedProblems {
    /// The version of the document that they are about, where that was said.
    version: Option<i32>,
    problems: Vec<Diagnostic>,
    /// How often something was heard before.
    revision: u64,
}

fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while the lock was held leaves plain data behind; going on with it is safe.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ServerNotifications {
    /// Takes what a server tells.
    pub(crate) fn handle_notification(&self, method: &str, params: Option<Value>) {
        match method {
            "textDocument/publishDiagnostics" => self.store_diagnostics(params),
            "$/progress" => self.update_progress(params.as_ref()),
            _ => return,
        }
        self.revision.send_modify(|times| *times += 1);
    }

    fn store_diagnostics(&self, params: Option<Value>) {
        let Some(Ok(told)) = params.map(serde_json::from_value::<PublishDiagnosticsParams>) else {
            return;
        };
        let mut all = lock_mutex(&self.problems);
        let address = told.uri.as_str().to_owned();
        if all.len() >= PROBLEM_FILES_MAX && !all.contains_key(&address) {
            return;
        }
        let mut problems = told.diagnostics;
        problems.truncate(PROBLEMS_MAX);
        let published = PublishedProblems {
            version: told.version,
            problems,
            revision: *self.revision.borrow(),
        };
        all.insert(address, published);
    }

    fn update_progress(&self, params: Option<&Value>) {
        let Some(params) = params else { return };
        let token = params.get("token").map(Value::to_string);
        let kind = params.pointer("/value/kind").and_then(Value::as_str);
        let mut works = lock_mutex(&self.active_progress);
        match (token, kind) {
            (Some(token), Some("begin")) if works.len() < PROGRESS_TASKS_MAX => {
                works.insert(token);
            }
            (Some(token), Some("end")) => {
                works.remove(&token);
            }
            (_, _) => {}
        }
    }

    /// Whether the server is at some work.
    pub(crate) fn is_loading(&self) -> bool {
        !lock_mutex(&self.active_progress).is_empty()
    }

    /// Waits until the server is at no work any more. False where it still is after this time.
    pub(crate) async fn wait_until_loaded(&self, wait: Duration) -> bool {
        let mut times = self.revision.subscribe();
        let done = times.wait_for(|_| !self.is_loading());
        tokio::time::timeout(wait, done).await.is_ok()
    }

    /// How often something was heard.
    pub(crate) fn revision(&self) -> u64 {
        *self.revision.borrow()
    }

    /// The problems of a file that were told since, about this version of it: once they came and nothing more does. None
    /// where none came within this time.
    pub(crate) async fn wait_for_problems(
        &self,
        address: &str,
        since: u64,
        version: i32,
        wait: Duration,
    ) -> Option<Vec<Diagnostic>> {
        let until = Instant::now() + wait;
        let mut times = self.revision.subscribe();
        let fits = |published: &PublishedProblems| {
            published.revision >= since && published.version.is_none_or(|told| told == version)
        };
        let now = || {
            let all = lock_mutex(&self.problems);
            let published = all.get(address).filter(|published| fits(published));
            published.map(|published| (published.revision, published.problems.clone()))
        };
        tokio::time::timeout_at(until, times.wait_for(|_| now().is_some()))
            .await
            .ok()?
            .ok()?;
        loop {
            let (at, problems) = now()?;
            let other = times.wait_for(|_| now().is_none_or(|(later, _)| later != at));
            let quiet = tokio::time::timeout(PROBLEMS_QUIET, other).await.is_err();
            if quiet || Instant::now() >= until {
                return Some(problems);
            }
        }
    }

    /// The problems of a file as they were told last, whenever that was.
    pub(crate) fn last_problems(&self, address: &str) -> Option<Vec<Diagnostic>> {
        let all = lock_mutex(&self.problems);
        all.get(address).map(|published| published.problems.clone())
    }
}

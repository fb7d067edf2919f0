//! Notifications of a server: problems of files, and tasks in progress.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use lsp_types::{Diagnostic, PublishDiagnosticsParams};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::limits::{PROBLEM_FILES_MAX, PROBLEMS_MAX, PROBLEMS_QUIET, PROGRESS_TASKS_MAX};
use crate::lock_mutex;

/// State collected from all notifications.
#[derive(Debug, Default)]
pub(crate) struct ServerNotifications {
    problems: Mutex<BTreeMap<String, PublishedProblems>>,
    active_progress: Mutex<BTreeSet<String>>,
    /// Number of notifications so far; incremented by every notification.
    revision: watch::Sender<u64>,
}

/// The problems of one file as last published.
#[derive(Debug, Clone)]
struct PublishedProblems {
    /// Version of the document that the problems are about, if the server gave one.
    version: Option<i32>,
    problems: Vec<Diagnostic>,
    /// Number of notifications received before this one.
    revision: u64,
}

impl ServerNotifications {
    /// Handles a notification of the server.
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

    /// Whether the server has a task in progress.
    pub(crate) fn is_loading(&self) -> bool {
        !lock_mutex(&self.active_progress).is_empty()
    }

    /// Waits until the server has no task in progress. Returns `false` if it still has one after this time.
    pub(crate) async fn wait_until_loaded(&self, wait: Duration) -> bool {
        let mut times = self.revision.subscribe();
        let done = times.wait_for(|_| !self.is_loading());
        tokio::time::timeout(wait, done).await.is_ok()
    }

    /// Returns the number of notifications so far.
    pub(crate) fn revision(&self) -> u64 {
        *self.revision.borrow()
    }

    /// Waits for problems of a file, about this version of it, that were published since the revision `since`; returns
    /// them once no more follow. Returns `None` if none came within this time.
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

    /// Returns the problems of a file as last published, whenever that was.
    pub(crate) fn last_problems(&self, address: &str) -> Option<Vec<Diagnostic>> {
        let all = lock_mutex(&self.problems);
        all.get(address).map(|published| published.problems.clone())
    }
}

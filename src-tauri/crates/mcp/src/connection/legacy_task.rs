//! A task of 2025: a call whose result is requested once it is there. The library knows the tasks of 2026 alone, so these go by
//! requests of our own.

use std::convert::Infallible;
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, ClientRequest, CustomRequest, Task, TaskStatus};
use serde_json::{Value, json};

use super::call::CallWait;
use super::task::{TaskGuard, cancelled_task, unreadable_task};
use super::task_members::supports_task_calls;
use super::{RequestFailure, ServerConnection};
use crate::limits::{REASON_CHARS_MAX, TASK_KEPT_FOR};
use crate::message_handler::RELATED_TASK;

/// Builds the request that calls a tool as a task, which is kept long enough for a call with this timeout.
pub(super) fn build_task_request(
    params: &CallToolRequestParams,
    timeout: Duration,
) -> ClientRequest {
    let ttl_ms = u64::try_from((timeout + TASK_KEPT_FOR).as_millis()).unwrap_or(u64::MAX);
    let mut params = serde_json::to_value(params).unwrap_or_default();
    params["task"] = json!({ "ttl": ttl_ms });
    build_request("tools/call", params)
}

fn build_request(method: &str, params: Value) -> ClientRequest {
    ClientRequest::CustomRequest(CustomRequest::new(method, Some(params)))
}

impl ServerConnection {
    /// Whether the server takes calls of tools as tasks of 2025.
    pub(crate) fn supports_task_calls(&self) -> bool {
        let info = self.peer.peer_info();
        self.is_legacy() && info.is_some_and(|info| supports_task_calls(&info.capabilities))
    }

    /// Waits for the result of a task that the server made of a call. A task that is waited for no more is cancelled at the
    /// server.
    pub(super) async fn await_legacy_task(
        &self,
        created: Value,
        wait: CallWait<'_>,
    ) -> Result<Value, RequestFailure> {
        let mut task = read_task(created)?;
        let mut guard = TaskGuard::new(self.peer.clone(), &task);
        wait.call.set_task(&task.task_id);
        wait.tell_state(&task);
        while task.status == TaskStatus::Working {
            task = self.request_next_state(&task, wait).await?;
        }
        guard.is_over = task.status.is_terminal();
        let result = match task.status {
            TaskStatus::Cancelled => return Err(cancelled_task()),
            // What it asks comes once its result was requested. Meanwhile its state is told.
            TaskStatus::InputRequired => tokio::select! {
                result = self.request_task_result(&task, wait) => result,
                never = self.tell_states(task.clone(), wait) => match never {},
            },
            _ => self.request_task_result(&task, wait).await,
        };
        let why = match result {
            Err(RequestFailure::Rejected(why)) => why,
            result => {
                guard.is_over |= result.is_ok();
                return result.map(remove_related_task);
            }
        };
        let end = self.request_state(&task, wait).await.unwrap_or(task);
        guard.is_over |= end.status.is_terminal();
        Err(describe_failure(&end, why))
    }

    /// Tells the state of a task whenever it changed, until nobody waits any more.
    async fn tell_states(&self, mut task: Task, wait: CallWait<'_>) -> Infallible {
        while let Ok(next) = self.request_next_state(&task, wait).await
            && !next.status.is_terminal()
        {
            task = next;
        }
        std::future::pending().await
    }

    /// Waits, requests the state of a task again, and tells it if it changed.
    async fn request_next_state(
        &self,
        task: &Task,
        wait: CallWait<'_>,
    ) -> Result<Task, RequestFailure> {
        self.pause(task, wait).await?;
        let next = self.request_state(task, wait).await?;
        if next.status_message != task.status_message {
            wait.tell_state(&next);
        }
        Ok(next)
    }

    async fn request_state(&self, task: &Task, wait: CallWait<'_>) -> Result<Task, RequestFailure> {
        let mut next = read_task(self.request_task(&task.task_id, wait).await?)?;
        // What it is asked for stays, and the library drops the pause from some states.
        next.task_id.clone_from(&task.task_id);
        next.poll_interval_ms = next.poll_interval_ms.or(task.poll_interval_ms);
        Ok(next)
    }

    /// Requests the result of a task; a server answers once there is one.
    async fn request_task_result(
        &self,
        task: &Task,
        wait: CallWait<'_>,
    ) -> Result<Value, RequestFailure> {
        let request = build_request("tasks/result", json!({ "taskId": task.task_id }));
        self.send_about_task(request, wait).await
    }
}

/// Reads a task of 2025, which names its times by other members than one of 2026.
fn read_task(mut task: Value) -> Result<Task, RequestFailure> {
    if let Some(pause_ms) = task.get("pollInterval").and_then(Value::as_u64) {
        task["pollIntervalMs"] = pause_ms.into();
    }
    serde_json::from_value(task).map_err(|_| unreadable_task())
}

/// Describes why a task has no result: what the server says of its end, and how it refused the result.
fn describe_failure(end: &Task, why: String) -> RequestFailure {
    match (end.status, &end.status_message) {
        (TaskStatus::Cancelled, _) => cancelled_task(),
        (TaskStatus::Failed, Some(state)) => {
            let state = tools::text::truncate_chars(state, REASON_CHARS_MAX);
            RequestFailure::Rejected(format!("{state}: {why}"))
        }
        _ => RequestFailure::Rejected(why),
    }
}

/// Returns the result as the call itself would have got it: whoever called knows no task.
fn remove_related_task(mut result: Value) -> Value {
    let Some(members) = result.as_object_mut() else {
        return result;
    };
    let meta = members.get_mut("_meta").and_then(Value::as_object_mut);
    let is_empty = meta.is_some_and(|meta| {
        meta.shift_remove(RELATED_TASK);
        meta.is_empty()
    });
    if is_empty {
        members.shift_remove("_meta");
    }
    result
}

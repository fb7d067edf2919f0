//! A task: a call whose result a server of 2026 gives later. It is asked for until it is there.

use std::collections::BTreeSet;
use std::time::Duration;

use protocol::text::display_text::to_single_line;
use rmcp::model::{
    CancelTaskParams, ClientRequest, DetailedTask, GetTaskParams, GetTaskRequest, InputRequests,
    Task, TaskPayload, UpdateTaskParams, UpdateTaskRequest,
};
use rmcp::service::{Peer, RoleClient};
use serde_json::Value;

use super::call::{CallWait, InputAnswers};
use super::{CallScope, RequestFailure, ServerConnection};
use crate::limits::{
    REASON_CHARS_MAX, ROUNDS_MAX, TASK_CANCEL_TIMEOUT, TASK_POLL_DEFAULT, TASK_POLL_MAX,
    TASK_POLL_MIN,
};

impl CallWait<'_> {
    /// Tells the state of a task, in the words of the server.
    pub(super) fn tell_state(&self, task: &Task) {
        if let Some(state) = &task.status_message {
            self.progress.tell(&to_single_line(state, REASON_CHARS_MAX));
        }
    }
}

impl ServerConnection {
    /// Waits for the result of a task that the server created in the place of an answer. A task that is waited for no more is
    /// cancelled at the server.
    pub(super) async fn await_task(
        &self,
        created: Value,
        wait: CallWait<'_>,
    ) -> Result<Value, RequestFailure> {
        let mut task: Task = serde_json::from_value(created).map_err(|_| unreadable_task())?;
        let mut guard = TaskGuard::new(self.peer.clone(), &task);
        let mut answered = BTreeSet::new();
        wait.tell_state(&task);
        loop {
            self.pause(&task, wait).await?;
            let state = self.request_task(&guard.id, wait).await?;
            let state: DetailedTask =
                serde_json::from_value(state).map_err(|_| unreadable_task())?;
            if state.task.status_message != task.status_message {
                wait.tell_state(&state.task);
            }
            task = state.task;
            guard.is_over = task.status.is_terminal();
            match state.payload {
                TaskPayload::Working => {}
                TaskPayload::InputRequired { input_requests } => {
                    let update = self.answer_task(input_requests, &mut answered, wait);
                    if let Some(update) = update.await? {
                        let update = UpdateTaskParams::new(&guard.id, update);
                        let update = UpdateTaskRequest::new(update);
                        self.send_about_task(ClientRequest::UpdateTaskRequest(update), wait)
                            .await?;
                    }
                }
                TaskPayload::Completed { result } => return Ok(Value::Object(result)),
                TaskPayload::Failed { error } => {
                    let why = error.get("message").and_then(Value::as_str);
                    let why =
                        tools::text::truncate_chars(why.unwrap_or_default(), REASON_CHARS_MAX);
                    return Err(RequestFailure::Rejected(why));
                }
                TaskPayload::Cancelled => return Err(cancelled_task()),
                _ => return Err(unreadable_task()),
            }
        }
    }

    /// Requests the state of a task.
    pub(super) async fn request_task(
        &self,
        id: &str,
        wait: CallWait<'_>,
    ) -> Result<Value, RequestFailure> {
        let request = GetTaskRequest::new(GetTaskParams::new(id));
        self.send_about_task(ClientRequest::GetTaskRequest(request), wait)
            .await
    }

    /// Sends a request about the task that a call became.
    pub(super) async fn send_about_task(
        &self,
        request: ClientRequest,
        wait: CallWait<'_>,
    ) -> Result<Value, RequestFailure> {
        let scope = CallScope {
            call: wait.call,
            progress: None,
        };
        self.send_request(request, wait.deadline, wait.cancel, Some(scope))
            .await
    }

    /// Waits as long as the server wants between two looks at a task.
    pub(super) async fn pause(
        &self,
        task: &Task,
        wait: CallWait<'_>,
    ) -> Result<(), RequestFailure> {
        let wanted = task.poll_interval_ms.map(Duration::from_millis);
        let pause = wanted.unwrap_or(TASK_POLL_DEFAULT);
        tokio::select! {
            biased;
            () = wait.cancel.cancelled() => Err(RequestFailure::Cancelled),
            () = self.disconnected.cancelled() => Err(RequestFailure::Disconnected(self.disconnect_reason().await)),
            () = wait.call.wait_until_deadline(wait.deadline) => Err(RequestFailure::TimedOut),
            () = tokio::time::sleep(pause.clamp(TASK_POLL_MIN, TASK_POLL_MAX)) => Ok(()),
        }
    }

    /// Answers what a task asks, each question once; none if there is nothing new.
    async fn answer_task(
        &self,
        mut requests: InputRequests,
        answered: &mut BTreeSet<String>,
        wait: CallWait<'_>,
    ) -> Result<Option<InputAnswers>, RequestFailure> {
        requests.retain(|key, _| !answered.contains(key));
        if requests.is_empty() {
            return Ok(None);
        }
        answered.extend(requests.keys().cloned());
        if answered.len() > ROUNDS_MAX {
            return Err(RequestFailure::Malformed(format!(
                "its task asked for more than {ROUNDS_MAX} things"
            )));
        }
        let requests = serde_json::to_value(requests).map_err(|_| unreadable_task())?;
        let answers = self.answer_until_cancelled(wait.call, Some(&requests), wait.cancel);
        answers.await.map(Some)
    }
}

pub(super) fn unreadable_task() -> RequestFailure {
    RequestFailure::Malformed("it answered with a task that cannot be read".to_owned())
}

pub(super) fn cancelled_task() -> RequestFailure {
    RequestFailure::Rejected("it cancelled the task that the call became".to_owned())
}

/// A task that the server works on; it is cancelled there on drop, unless it is over.
pub(super) struct TaskGuard {
    peer: Peer<RoleClient>,
    id: String,
    pub is_over: bool,
}

impl TaskGuard {
    pub(super) fn new(peer: Peer<RoleClient>, task: &Task) -> Self {
        Self {
            peer,
            id: task.task_id.clone(),
            is_over: false,
        }
    }
}

impl Drop for TaskGuard {
    fn drop(&mut self) {
        let runtime = tokio::runtime::Handle::try_current();
        let Some(runtime) = runtime.ok().filter(|_| !self.is_over) else {
            return;
        };
        let (peer, params) = (self.peer.clone(), CancelTaskParams::new(&self.id));
        runtime.spawn(async move {
            // A server that does not answer cannot be told more.
            let _ = tokio::time::timeout(TASK_CANCEL_TIMEOUT, peer.cancel_task(params)).await;
        });
    }
}

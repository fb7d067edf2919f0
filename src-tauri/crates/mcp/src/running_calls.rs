//! The running calls of a server, and the requests that the server may make during each: one at a time, and a limited
//! number.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use protocol::SessionId;
use rmcp::model::ProgressToken;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tools::elicitation::{
    ElicitationChannel, ElicitationKind, ElicitationReply, ElicitationRequest,
};

use crate::limits::{ELICITATIONS_PER_CALL_MAX, ENDED_CALL_TIME, SAMPLINGS_PER_CALL_MAX};
use crate::lock_mutex;

/// The running calls of one server.
#[derive(Clone, Default)]
pub(crate) struct RunningCalls {
    calls: Arc<Mutex<Vec<Arc<RunningCall>>>>,
    /// When calls of a session ended last.
    ended: Arc<Mutex<BTreeMap<SessionId, Instant>>>,
}

impl RunningCalls {
    fn lock_calls(&self) -> MutexGuard<'_, Vec<Arc<RunningCall>>> {
        lock_mutex(&self.calls)
    }

    /// Registers a call that begins; the call ends when the returned guard is dropped.
    pub(crate) fn begin_call(
        &self,
        elicitation: Option<Arc<dyn ElicitationChannel>>,
        session: Option<SessionId>,
    ) -> CallGuard {
        let call = Arc::new(RunningCall {
            elicitation,
            session,
            progress_token: Mutex::default(),
            task: Mutex::default(),
            ended: CancellationToken::new(),
            person_wait: watch::Sender::default(),
            is_asking: AtomicBool::new(false),
            elicitation_count: AtomicU32::new(0),
            sampling_count: AtomicU32::new(0),
        });
        self.lock_calls().push(call.clone());
        CallGuard {
            call,
            running: self.clone(),
        }
    }

    /// Returns the sessions one of which a message of the server belongs to: that of the call with this progress token; otherwise
    /// those whose calls run. Where none runs, those whose calls ended just now: messages are handled beside the answers.
    pub(crate) fn find_sessions(&self, token: Option<&ProgressToken>) -> BTreeSet<SessionId> {
        let calls = self.lock_calls();
        let has_token = |call: &&Arc<RunningCall>| {
            token.is_some_and(|token| lock_mutex(&call.progress_token).as_ref() == Some(token))
        };
        if let Some(session) = calls
            .iter()
            .find(has_token)
            .and_then(|call| call.session.clone())
        {
            return BTreeSet::from([session]);
        }
        let running: BTreeSet<_> = calls
            .iter()
            .filter_map(|call| call.session.clone())
            .collect();
        if !running.is_empty() {
            return running;
        }
        let mut ended = lock_mutex(&self.ended);
        ended.retain(|_, at| at.elapsed() < ENDED_CALL_TIME);
        ended.keys().cloned().collect()
    }

    /// Returns the call for a request of the server: the one that became the task which the request names, otherwise the only one.
    /// A server may ask before it was read here which task it made of that one.
    ///
    /// # Errors
    /// The reason why the request belongs to no call, as a sentence.
    pub(crate) fn require_call(
        &self,
        task: Option<&str>,
    ) -> Result<Arc<RunningCall>, &'static str> {
        let calls = self.lock_calls();
        let became_task =
            |call: &&Arc<RunningCall>| task.is_some() && lock_mutex(&call.task).as_deref() == task;
        if let Some(call) = calls.iter().find(became_task) {
            return Ok(call.clone());
        }
        match calls.as_slice() {
            [] => Err("No call of it runs."),
            [only] if task.is_some() && lock_mutex(&only.task).is_some() => {
                Err("Nobody waits for its task any more.")
            }
            [only] => Ok(only.clone()),
            [_, _, ..] => {
                Err("Several of its calls run, and it does not say for which one it asks.")
            }
        }
    }
}

/// Registration of a running call; the call ends on drop.
pub(crate) struct CallGuard {
    pub call: Arc<RunningCall>,
    running: RunningCalls,
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        self.call.ended.cancel();
        let mut calls = self.running.lock_calls();
        calls.retain(|call| !Arc::ptr_eq(call, &self.call));
        if let Some(session) = &self.call.session {
            lock_mutex(&self.running.ended).insert(session.clone(), Instant::now());
        }
    }
}

/// A running call.
pub(crate) struct RunningCall {
    /// Channel by which the person is asked; none if nobody can be asked.
    elicitation: Option<Arc<dyn ElicitationChannel>>,
    /// The session that the call is made in; none if it is made in none.
    session: Option<SessionId>,
    /// Token by which the server tells of its progress, once the call was sent.
    progress_token: Mutex<Option<ProgressToken>>,
    /// Id of the task of a server of 2025 that the call became.
    task: Mutex<Option<String>>,
    ended: CancellationToken,
    person_wait: watch::Sender<PersonWait>,
    is_asking: AtomicBool,
    elicitation_count: AtomicU32,
    sampling_count: AtomicU32,
}

/// How long a call has waited for the person: that time does not count towards timeouts.
#[derive(Debug, Clone, Copy, Default)]
struct PersonWait {
    total: Duration,
    since: Option<Instant>,
}

impl RunningCall {
    /// Sets the token by which the server tells of the call's progress.
    pub(crate) fn set_progress_token(&self, token: ProgressToken) {
        *lock_mutex(&self.progress_token) = Some(token);
    }

    /// Sets the id of the task that a server of 2025 made of the call.
    pub(crate) fn set_task(&self, id: &str) {
        *lock_mutex(&self.task) = Some(id.to_owned());
    }

    /// Asks the person, and waits for the answer for as long as the call runs.
    ///
    /// # Errors
    /// The reason why nobody is asked, as a sentence.
    pub(crate) async fn elicit(
        &self,
        request: ElicitationRequest,
    ) -> Result<ElicitationReply, &'static str> {
        let Some(channel) = &self.elicitation else {
            return Err("Nobody is there who could be asked.");
        };
        if self.ended.is_cancelled() {
            return Err("The call is over.");
        }
        if self.elicitation_count.fetch_add(1, Ordering::SeqCst) >= ELICITATIONS_PER_CALL_MAX {
            return Err("It asked too often in one call.");
        }
        let wants_model = matches!(request.kind, ElicitationKind::Sampling(_));
        if wants_model
            && self.sampling_count.fetch_add(1, Ordering::SeqCst) >= SAMPLINGS_PER_CALL_MAX
        {
            return Err("It asked a model too often in one call.");
        }
        if self.is_asking.swap(true, Ordering::SeqCst) {
            return Err("It asks already.");
        }
        let _guard = ElicitationGuard(self);
        self.person_wait
            .send_modify(|wait| wait.since = Some(Instant::now()));
        tokio::select! {
            biased;
            () = self.ended.cancelled() => Ok(ElicitationReply::Dismissed),
            reply = channel.ask(request) => Ok(reply),
        }
    }

    /// Waits until a deadline, extended by the time that the call waited for the person.
    pub(crate) async fn wait_until_deadline(&self, deadline: Instant) {
        let mut wait = self.person_wait.subscribe();
        loop {
            let current = *wait.borrow_and_update();
            let due = async {
                match current.since {
                    Some(_) => std::future::pending().await,
                    None if deadline + current.total <= Instant::now() => {}
                    None => tokio::time::sleep_until(deadline + current.total).await,
                }
            };
            tokio::select! {
                () = due => return,
                changed = wait.changed() => if changed.is_err() {
                    return;
                }
            }
        }
    }
}

/// Marks an open elicitation of a call; it is closed on drop.
struct ElicitationGuard<'a>(&'a RunningCall);

impl Drop for ElicitationGuard<'_> {
    fn drop(&mut self) {
        self.0.person_wait.send_modify(|wait| {
            if let Some(since) = wait.since.take() {
                wait.total += since.elapsed();
            }
        });
        self.0.is_asking.store(false, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use protocol::server::mcp_servers::ServerId;
    use rmcp::model::NumberOrString;
    use tokio::sync::Notify;

    use super::*;

    /// A person who does not answer until released.
    #[derive(Default)]
    struct Thinks(Notify);

    #[async_trait]
    impl ElicitationChannel for Thinks {
        async fn ask(&self, _: ElicitationRequest) -> ElicitationReply {
            self.0.notified().await;
            ElicitationReply::Declined
        }
    }

    fn asking() -> ElicitationRequest {
        ElicitationRequest {
            server: ServerId::try_from("one".to_owned()).unwrap(),
            message: String::new(),
            kind: ElicitationKind::Form(Vec::new()),
        }
    }

    async fn is_due(call: &RunningCall, until: Instant) -> bool {
        tokio::select! {
            biased;
            () = call.wait_until_deadline(until) => true,
            () = std::future::ready(()) => false,
        }
    }

    /// A call that waits for the person does not time out.
    #[tokio::test]
    async fn waiting_for_the_person_counts_for_nobody() {
        let person = Arc::new(Thinks::default());
        let running = RunningCalls::default();
        let begun = running.begin_call(Some(person.clone()), None);
        let call = begun.call.clone();
        let long_ago = Instant::now();
        assert!(is_due(&call, long_ago).await);
        {
            let ask = call.elicit(asking());
            tokio::pin!(ask);
            tokio::select! {
                biased;
                _ = &mut ask => panic!("nobody answered"),
                () = std::future::ready(()) => {}
            }
            assert!(!is_due(&call, long_ago).await, "it waits for the person");
            assert_eq!(call.elicit(asking()).await, Err("It asks already."));
            person.0.notify_one();
            assert_eq!(ask.await, Ok(ElicitationReply::Declined));
        }
        call.wait_until_deadline(long_ago).await;
        drop(begun);
        assert_eq!(call.elicit(asking()).await, Err("The call is over."));
        assert_eq!(
            running.require_call(None).err(),
            Some("No call of it runs.")
        );
    }

    /// A request belongs to the call that became the task which it names, and without one to the only call.
    #[test]
    fn a_request_belongs_to_the_call_of_its_task() {
        let running = RunningCalls::default();
        let several = "Several of its calls run, and it does not say for which one it asks.";
        let is_of = |task: Option<&str>, call: &CallGuard| {
            let found = running.require_call(task);
            found.is_ok_and(|found| Arc::ptr_eq(&found, &call.call))
        };
        let one = running.begin_call(None, None);
        assert!(is_of(None, &one));
        assert!(is_of(Some("t1"), &one), "it may not have been read yet");
        let two = running.begin_call(None, None);
        assert_eq!(running.require_call(Some("t2")).err(), Some(several));
        one.call.set_task("t1");
        two.call.set_task("t2");
        assert!(is_of(Some("t1"), &one) && is_of(Some("t2"), &two));
        assert_eq!(running.require_call(None).err(), Some(several));
        drop(two);
        assert!(is_of(None, &one));
        let gone = running.require_call(Some("t2"));
        assert_eq!(gone.err(), Some("Nobody waits for its task any more."));
    }

    #[tokio::test]
    async fn a_call_is_asked_in_so_often_and_no_more() {
        let person = Arc::new(Thinks::default());
        let begun = RunningCalls::default().begin_call(Some(person.clone()), None);
        for _ in 0..ELICITATIONS_PER_CALL_MAX {
            person.0.notify_one();
            assert_eq!(
                begun.call.elicit(asking()).await,
                Ok(ElicitationReply::Declined)
            );
        }
        assert_eq!(
            begun.call.elicit(asking()).await,
            Err("It asked too often in one call.")
        );
    }

    /// A message belongs to the calls that run, or to one that it names.
    #[tokio::test(start_paused = true)]
    async fn a_message_belongs_to_the_sessions_whose_calls_run() {
        let session = |name: &str| SessionId(name.to_owned());
        let running = RunningCalls::default();
        assert_eq!(running.find_sessions(None), BTreeSet::new());
        let one = running.begin_call(None, Some(session("one")));
        let two = running.begin_call(None, Some(session("two")));
        let _of_nobody = running.begin_call(None, None);
        let token = ProgressToken(NumberOrString::Number(7));
        two.call.set_progress_token(token.clone());
        let both = BTreeSet::from([session("one"), session("two")]);
        assert_eq!(running.find_sessions(None), both);
        assert_eq!(
            running.find_sessions(Some(&token)),
            BTreeSet::from([session("two")])
        );
        drop(one);
        assert_eq!(
            running.find_sessions(None),
            BTreeSet::from([session("two")])
        );
        drop(two);
        assert_eq!(running.find_sessions(None), both, "it may have come before");
        tokio::time::advance(ENDED_CALL_TIME).await;
        assert_eq!(running.find_sessions(None), BTreeSet::new());
    }
}

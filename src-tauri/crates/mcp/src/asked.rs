//! The calls of a server that run, and the questions that it may ask in each of them: one at a time, and not too many.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tools::asks::{Asking, Asks, Reply, Wanted};

use crate::limits::{ASKS_PER_CALL_MAX, LENDS_PER_CALL_MAX};

/// Every call of one server that runs.
#[derive(Clone, Default)]
pub(crate) struct Running(Arc<Mutex<Vec<Arc<Asked>>>>);

impl Running {
    fn calls(&self) -> MutexGuard<'_, Vec<Arc<Asked>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call begins; it is over when what is returned is dropped.
    pub(crate) fn begin(&self, asks: Option<Arc<dyn Asks>>) -> Begun {
        let call = Arc::new(Asked {
            asks,
            over: CancellationToken::new(),
            rest: watch::Sender::default(),
            is_asking: AtomicBool::new(false),
            times: AtomicU32::new(0),
            lends: AtomicU32::new(0),
        });
        self.calls().push(call.clone());
        Begun {
            call,
            running: self.clone(),
        }
    }

    /// The call that a question belongs to which does not say to which one.
    ///
    /// # Errors
    /// Why it belongs to none, as a sentence.
    pub(crate) fn only(&self) -> Result<Arc<Asked>, &'static str> {
        match self.calls().as_slice() {
            [] => Err("No call of it runs."),
            [only] => Ok(only.clone()),
            [_, _, ..] => Err("Several of its calls run, and it cannot say for which one it asks."),
        }
    }
}

/// That a call runs.
pub(crate) struct Begun {
    pub call: Arc<Asked>,
    running: Running,
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.call.over.cancel();
        let mut calls = self.running.calls();
        calls.retain(|call| !Arc::ptr_eq(call, &self.call));
    }
}

/// A call that runs.
pub(crate) struct Asked {
    /// Who puts it before the person; none: nobody can be asked.
    asks: Option<Arc<dyn Asks>>,
    over: CancellationToken,
    rest: watch::Sender<Rest>,
    is_asking: AtomicBool,
    times: AtomicU32,
    lends: AtomicU32,
}

/// How long a call has waited for the person: that time counts for nobody.
#[derive(Debug, Clone, Copy, Default)]
struct Rest {
    total: Duration,
    since: Option<Instant>,
}

impl Asked {
    /// Asks, and waits for the answer for as long as the call runs.
    ///
    /// # Errors
    /// Why nobody is asked, as a sentence.
    pub(crate) async fn ask(&self, asking: Asking) -> Result<Reply, &'static str> {
        let Some(asks) = &self.asks else {
            return Err("Nobody is there who could be asked.");
        };
        if self.over.is_cancelled() {
            return Err("The call is over.");
        }
        if self.times.fetch_add(1, Ordering::SeqCst) >= ASKS_PER_CALL_MAX {
            return Err("It asked too often in one call.");
        }
        let wants_model = matches!(asking.wants, Wanted::Model(_));
        if wants_model && self.lends.fetch_add(1, Ordering::SeqCst) >= LENDS_PER_CALL_MAX {
            return Err("It asked a model too often in one call.");
        }
        if self.is_asking.swap(true, Ordering::SeqCst) {
            return Err("It asks already.");
        }
        let _stands = Stands(self);
        self.rest
            .send_modify(|rest| rest.since = Some(Instant::now()));
        tokio::select! {
            biased;
            () = self.over.cancelled() => Ok(Reply::Dismissed),
            reply = asks.ask(asking) => Ok(reply),
        }
    }

    /// Comes when a moment has come, later by as long as the person was waited for.
    pub(crate) async fn due(&self, until: Instant) {
        let mut rest = self.rest.subscribe();
        loop {
            let now = *rest.borrow_and_update();
            let come = async {
                match now.since {
                    Some(_) => std::future::pending().await,
                    None if until + now.total <= Instant::now() => {}
                    None => tokio::time::sleep_until(until + now.total).await,
                }
            };
            tokio::select! {
                () = come => return,
                changed = rest.changed() => if changed.is_err() {
                    return;
                }
            }
        }
    }
}

/// That a question of a call stands.
struct Stands<'a>(&'a Asked);

impl Drop for Stands<'_> {
    fn drop(&mut self) {
        self.0.rest.send_modify(|rest| {
            if let Some(since) = rest.since.take() {
                rest.total += since.elapsed();
            }
        });
        self.0.is_asking.store(false, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use protocol::servers::ServerId;
    use tokio::sync::Notify;

    use super::*;

    /// A person who says nothing until they are let.
    #[derive(Default)]
    struct Thinks(Notify);

    #[async_trait]
    impl Asks for Thinks {
        async fn ask(&self, _: Asking) -> Reply {
            self.0.notified().await;
            Reply::Declined
        }
    }

    fn asking() -> Asking {
        Asking {
            server: ServerId::try_from("one".to_owned()).unwrap(),
            message: String::new(),
            wants: Wanted::Form(Vec::new()),
        }
    }

    async fn is_due(call: &Asked, until: Instant) -> bool {
        tokio::select! {
            biased;
            () = call.due(until) => true,
            () = std::future::ready(()) => false,
        }
    }

    /// A call that waits for the person does not run out of time.
    #[tokio::test]
    async fn waiting_for_the_person_counts_for_nobody() {
        let person = Arc::new(Thinks::default());
        let running = Running::default();
        let begun = running.begin(Some(person.clone()));
        let call = begun.call.clone();
        let long_ago = Instant::now();
        assert!(is_due(&call, long_ago).await);
        {
            let ask = call.ask(asking());
            tokio::pin!(ask);
            tokio::select! {
                biased;
                _ = &mut ask => panic!("nobody answered"),
                () = std::future::ready(()) => {}
            }
            assert!(!is_due(&call, long_ago).await, "it waits for the person");
            assert_eq!(call.ask(asking()).await, Err("It asks already."));
            person.0.notify_one();
            assert_eq!(ask.await, Ok(Reply::Declined));
        }
        call.due(long_ago).await;
        drop(begun);
        assert_eq!(call.ask(asking()).await, Err("The call is over."));
        assert_eq!(running.only().err(), Some("No call of it runs."));
    }

    #[tokio::test]
    async fn a_call_is_asked_in_so_often_and_no_more() {
        let person = Arc::new(Thinks::default());
        let begun = Running::default().begin(Some(person.clone()));
        for _ in 0..ASKS_PER_CALL_MAX {
            person.0.notify_one();
            assert_eq!(begun.call.ask(asking()).await, Ok(Reply::Declined));
        }
        assert_eq!(
            begun.call.ask(asking()).await,
            Err("It asked too often in one call.")
        );
    }
}

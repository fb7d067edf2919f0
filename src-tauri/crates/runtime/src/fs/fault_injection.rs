//! Fault injection: the points between two effects at which a crash or a full disk can strike, and at which tests make
//! it strike.

#[cfg(not(test))]
use std::io;

/// Called between two effects. Outside tests it does nothing.
#[cfg(not(test))]
#[allow(clippy::unnecessary_wraps, reason = "fails in tests")]
pub(crate) fn crash_point() -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
pub(crate) use strike::{crash_point, race_point};

/// Called between resolving a path and opening it. Outside tests it does nothing.
#[cfg(not(test))]
pub(crate) fn race_point() {}

#[cfg(test)]
pub(crate) mod strike {
    use std::cell::{Cell, RefCell};
    use std::io;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    /// The fault that is injected at the chosen step.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum InjectedFault {
        /// As by `kill -9`: nothing after the step is done.
        Stop,
        /// The disk is full, once.
        Full,
        /// A real `kill -9`: for a process that was started for it.
        #[cfg(unix)]
        Kill,
    }

    thread_local! {
        static NEXT: Cell<Option<(usize, InjectedFault)>> = const { Cell::new(None) };
    }

    /// The action between a look and the opening, and the number of looks before it.
    type Swap = (usize, Box<dyn FnOnce()>);

    thread_local! {
        static SWAP: RefCell<Option<Swap>> = const { RefCell::new(None) };
    }

    pub(crate) fn race_point() {
        let due = SWAP.with_borrow_mut(|swap| match swap {
            Some((0, _)) => swap.take(),
            Some((left, _)) => {
                *left -= 1;
                None
            }
            None => None,
        });
        if let Some((_, swap)) = due {
            swap();
        }
    }

    /// Runs `work`, and `swap` in it right after the look of this number, from 0 on. The flag says whether that look
    /// was reached.
    pub(crate) fn swapping<T>(
        look: usize,
        swap: impl FnOnce() + 'static,
        work: impl FnOnce() -> T,
    ) -> (T, bool) {
        SWAP.set(Some((look, Box::new(swap))));
        let done = work();
        (done, SWAP.take().is_none())
    }

    struct Stopped;

    pub(crate) fn crash_point() -> io::Result<()> {
        match NEXT.get() {
            Some((0, InjectedFault::Stop)) => {
                NEXT.set(None);
                resume_unwind(Box::new(Stopped))
            }
            #[cfg(unix)]
            Some((0, InjectedFault::Kill)) => {
                let us = rustix::process::getpid();
                rustix::process::kill_process(us, rustix::process::Signal::KILL)?;
                Ok(())
            }
            Some((0, InjectedFault::Full)) => {
                NEXT.set(None);
                Err(io::ErrorKind::StorageFull.into())
            }
            Some((left, strike)) => {
                NEXT.set(Some((left - 1, strike)));
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Runs `work` and injects a fault after `steps` steps. `None` if it was stopped. The flag says whether the step
    /// was reached.
    pub(crate) fn after<T>(
        steps: usize,
        strike: InjectedFault,
        work: impl FnOnce() -> T,
    ) -> (Option<T>, bool) {
        NEXT.set(Some((steps, strike)));
        let result = catch_unwind(AssertUnwindSafe(work));
        let reached = NEXT.take().is_none();
        match result {
            Ok(value) => (Some(value), reached),
            Err(payload) if payload.is::<Stopped>() => (None, true),
            Err(payload) => resume_unwind(payload),
        }
    }
}

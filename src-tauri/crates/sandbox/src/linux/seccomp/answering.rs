//! Answers the notifications of a sandbox on several threads, so that processes that run side by side do not wait for
//! each other.

use std::io;
use std::sync::Arc;
use std::thread;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::DenialKind;
use crate::linux::access_log::SharedAccessLog;
use crate::linux::seccomp::path_access;
use crate::linux::seccomp::path_access::{NotifyAnswer, SandboxPlaces};
use crate::linux::seccomp::seccomp_notify::{Notification, NotifyListener};

/// Most threads that answer.
const THREADS_MAX: usize = 8;

/// Starts the threads that answer the notifications of a listener, one for each processor.
///
/// # Errors
/// Not a single thread could be started.
pub(in crate::linux) fn start_answering(
    listener: NotifyListener,
    places: SandboxPlaces,
    log: SharedAccessLog,
) -> io::Result<()> {
    let answering = Arc::new(Answering {
        listener,
        places,
        log,
    });
    let processors = thread::available_parallelism().map_or(1, usize::from);
    for started in 0..processors.min(THREADS_MAX) {
        let answering = answering.clone();
        let thread = thread::Builder::new().spawn(move || answering.answer_until_end());
        match thread {
            Ok(_) => {}
            Err(_) if started > 0 => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

struct Answering {
    /// Closed with the last thread: then it lets nobody wait for an answer that cannot be given, and their calls fail.
    listener: NotifyListener,
    places: SandboxPlaces,
    log: SharedAccessLog,
}

impl Answering {
    /// Answers until nobody is left who could be asked about.
    fn answer_until_end(&self) {
        loop {
            match self.listener.receive() {
                Ok(Some(question)) => self.answer(&question),
                Ok(None) if self.is_over() => return,
                Ok(None) => {}
                Err(_) => return,
            }
        }
    }

    fn is_over(&self) -> bool {
        let mut seen = [PollFd::new(&self.listener, PollFlags::empty())];
        poll(&mut seen, Some(&Timespec::default())).is_err() || !seen[0].revents().is_empty()
    }

    /// Assesses a call and answers it. What is refused, or read outside of the workspace, is written down before the
    /// caller goes on.
    fn answer(&self, question: &Notification) {
        let assessed = path_access::assess_call(question, &self.places);
        let is_noted = !assessed.denials.is_empty() || assessed.read.is_some();
        if is_noted && self.listener.is_pending(question) {
            let mut log = self.log.lock();
            for (kind, target) in &assessed.denials {
                log.record_denial(*kind, target);
            }
            if let Some(path) = &assessed.read {
                log.record_read(path);
            }
        }
        match assessed.answer {
            NotifyAnswer::Continue => self.listener.continue_call(question),
            NotifyAnswer::Deny => self.listener.deny_call(question),
            NotifyAnswer::PlaceholderSocket
                if self.listener.install_placeholder_socket(question).is_ok() => {}
            NotifyAnswer::PlaceholderSocket => {
                self.log
                    .lock()
                    .record_denial(DenialKind::Socket, path_access::UNIX_FAMILY_NAME);
                self.listener.deny_call(question);
            }
            NotifyAnswer::MaskedFile(file) => {
                let installed = file
                    .reopen()
                    .and_then(|file| self.listener.install_file(question, &file));
                if installed.is_err() {
                    // The mask answers, as it answers everybody else.
                    let mut log = self.log.lock();
                    log.record_denial(DenialKind::Secret, file.path_bytes());
                    self.listener.continue_call(question);
                }
            }
        }
    }
}

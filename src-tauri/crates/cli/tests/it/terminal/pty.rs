//! The program on a terminal of its own: what is shown is waited for, and keys are pressed.

use std::io::{Read, Write};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::support::CliFixture;

/// Longest time that anything may take to be shown.
const PATIENCE: Duration = Duration::from_secs(120);
/// The program on a terminal of its own.
pub struct Terminal {
    pub master: Box<dyn MasterPty + Send>,
    keys: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    shown: Arc<(Mutex<Shown>, Condvar)>,
    /// How much of what was shown was looked at.
    seen: usize,
}

#[derive(Default)]
struct Shown {
    text: String,
    is_over: bool,
}

impl Terminal {
    pub fn start(place: &CliFixture, args: &[&str], env: &[(&str, &str)]) -> Self {
        let size = PtySize {
            rows: 40,
            cols: 100,
            ..PtySize::default()
        };
        let pty = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(args);
        command.cwd(place.workspace());
        command.env_clear();
        for (name, value) in place.environment() {
            command.env(name, value);
        }
        command.env("TERM", "xterm-256color");
        command.env("NO_COLOR", "1");
        for (name, value) in env {
            command.env(name, value);
        }
        let child = pty.slave.spawn_command(command).unwrap();
        let shown = Arc::new((Mutex::new(Shown::default()), Condvar::new()));
        let mut reader = pty.master.try_clone_reader().unwrap();
        let told = shown.clone();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let mut buffer = [0; 4096];
            loop {
                let got = reader.read(&mut buffer).unwrap_or(0);
                bytes.extend(&buffer[..got]);
                let mut shown = told.0.lock().unwrap();
                // The first bytes of a character are shown once it is complete.
                let whole = String::from_utf8_lossy(&bytes);
                let whole = whole.trim_end_matches('\u{fffd}').replace('\r', "");
                // That what is pasted is told apart is no text.
                shown.text = whole
                    .replace("\u{1b}[?2004h", "")
                    .replace("\u{1b}[?2004l", "");
                shown.is_over = got == 0;
                told.1.notify_all();
                if got == 0 {
                    return;
                }
            }
        });
        let keys = pty.master.take_writer().unwrap();
        Self {
            master: pty.master,
            keys,
            child,
            shown,
            seen: 0,
        }
    }

    /// Waits until this is shown after what was seen; gives what came until its end.
    pub fn until(&mut self, text: &str) -> String {
        let (lock, changed) = &*self.shown;
        let is_missing =
            |shown: &mut Shown| !shown.is_over && !shown.text[self.seen..].contains(text);
        let (shown, _) = changed
            .wait_timeout_while(lock.lock().unwrap(), PATIENCE, is_missing)
            .unwrap();
        let rest = &shown.text[self.seen..];
        let at = rest
            .find(text)
            .unwrap_or_else(|| panic!("{text:?} is not in {rest}"));
        let end = at + text.len();
        let came = rest[..end].to_owned();
        self.seen += end;
        came
    }

    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Waits for the program's end; gives its exit code and what came since.
    pub fn end(mut self) -> (u32, String) {
        let code = self.child.wait().unwrap().exit_code();
        drop((self.master, self.keys));
        let (lock, changed) = &*self.shown;
        let (shown, _) = changed
            .wait_timeout_while(lock.lock().unwrap(), PATIENCE, |shown| !shown.is_over)
            .unwrap();
        (code, shown.text[self.seen..].to_owned())
    }
}

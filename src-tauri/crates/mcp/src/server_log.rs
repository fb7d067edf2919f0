//! Log of a server's output besides its answers and of its events: the last lines, up to a limit.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use protocol::server::mcp_servers::{ServerLogLine, ServerLogSource};
use protocol::text::display_text::to_spans;
use protocol::text::redact;
use runtime::Clock;

use crate::limits::{LOG_LINE_CHARS_MAX, LOG_LINES_MAX, LOG_LINES_PER_SECOND_MAX};
use crate::lock_mutex;

/// The log of one server. Cheap to clone.
#[derive(Clone)]
pub struct ServerLog {
    clock: Arc<dyn Clock>,
    state: Arc<Mutex<ServerLogState>>,
}

#[derive(Default)]
struct ServerLogState {
    lines: VecDeque<ServerLogLine>,
    /// Second in which the lines are counted.
    second: i64,
    lines_this_second: u32,
    dropped: u64,
}

impl ServerLog {
    /// Creates an empty log.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            state: Arc::default(),
        }
    }

    /// Adds a text line by line, with secrets masked. Lines beyond the rate limit are only counted.
    pub fn add(&self, from: ServerLogSource, text: &str) {
        let at_ms = self.clock.now();
        let mut state = lock_mutex(&self.state);
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            if from != ServerLogSource::Us && !state.count_line(at_ms) {
                continue;
            }
            let short: String = line.chars().take(LOG_LINE_CHARS_MAX).collect();
            state.push_line(at_ms, from, &short);
        }
    }

    /// Returns the lines, oldest first.
    pub fn lines(&self) -> Vec<ServerLogLine> {
        let state = lock_mutex(&self.state);
        state.lines.iter().cloned().collect()
    }

    /// Returns the last lines that the server itself wrote, joined; empty if it wrote none.
    pub fn last_server_lines(&self, lines_max: usize) -> String {
        let state = lock_mutex(&self.state);
        let lines = state.lines.iter().rev();
        let mut lines: Vec<String> = lines
            .filter(|line| line.from == ServerLogSource::Stderr)
            .take(lines_max)
            .map(|line| protocol::text::display_text::join_spans(&line.text))
            .collect();
        lines.reverse();
        lines.join(" ")
    }
}

impl ServerLogState {
    /// Counts one more line at this time; returns whether the line is kept.
    fn count_line(&mut self, at_ms: i64) -> bool {
        let second = at_ms.div_euclid(1_000);
        if second != self.second {
            let dropped = std::mem::take(&mut self.dropped);
            (self.second, self.lines_this_second) = (second, 0);
            if dropped > 0 {
                let notice = format!("{dropped} more lines came too fast and were dropped.");
                self.push_line(at_ms, ServerLogSource::Us, &notice);
            }
        }
        self.lines_this_second += 1;
        if self.lines_this_second > LOG_LINES_PER_SECOND_MAX {
            self.dropped += 1;
            return false;
        }
        true
    }

    fn push_line(&mut self, at_ms: i64, from: ServerLogSource, line: &str) {
        let (masked, _) = redact::text(line);
        if self.lines.len() >= LOG_LINES_MAX {
            self.lines.pop_front();
        }
        self.lines.push_back(ServerLogLine {
            at_ms,
            from,
            text: to_spans(&masked),
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use protocol::text::display_text::join_spans;

    use super::*;

    #[derive(Default)]
    struct Still(AtomicI64);

    impl Clock for Still {
        fn now(&self) -> protocol::At {
            self.0.load(Ordering::SeqCst)
        }
    }

    #[test]
    fn a_flood_keeps_its_beginning_and_its_number() {
        let clock = Arc::new(Still::default());
        let log = ServerLog::new(clock.clone());
        log.add(ServerLogSource::Us, "Started.");
        for n in 0..100_000 {
            log.add(ServerLogSource::Stderr, &format!("line {n}"));
        }
        assert_eq!(log.lines().len() as u32, LOG_LINES_PER_SECOND_MAX + 1);
        clock.0.store(2_000, Ordering::SeqCst);
        log.add(ServerLogSource::Stderr, "calm\n\nagain");
        let lines = log.lines();
        let told = lines
            .iter()
            .rev()
            .take(3)
            .map(|line| join_spans(&line.text));
        let dropped = 100_000 - LOG_LINES_PER_SECOND_MAX;
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                "again".to_owned(),
                "calm".to_owned(),
                format!("{dropped} more lines came too fast and were dropped.")
            ]
        );
        assert_eq!(log.last_server_lines(2), "calm again");
        for n in 0..2_000 {
            clock.0.fetch_add(1_000, Ordering::SeqCst);
            log.add(ServerLogSource::Log, &format!("line {n}"));
        }
        let lines = log.lines();
        assert_eq!(lines.len(), LOG_LINES_MAX);
        assert_eq!(join_spans(&lines[LOG_LINES_MAX - 1].text), "line 1999");
    }

    #[test]
    fn hidden_characters_are_named_and_secrets_masked() {
        let log = ServerLog::new(Arc::new(Still::default()));
        let token = "ghp_hush4hush4hush4hush4hush4hush4hush4abcd";
        log.add(ServerLogSource::Log, &format!("\u{202e}x {token}"));
        let line = join_spans(&log.lines()[0].text);
        assert!(
            line.starts_with("U+202Ex") && !line.contains("hush"),
            "{line}"
        );
    }
}

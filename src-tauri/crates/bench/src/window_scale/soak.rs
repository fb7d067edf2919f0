//! A day of five agents in the window, without its pauses: what it leaves behind hour by hour. Each agent reads, writes, runs
//! commands, and asks; a person answers by key and looks around.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use super::driven_app::DrivenApp;
use super::measure_idle;
use super::model_endpoint::{self, MeasuredModel, NOTES_FILE, PROVIDER};
use crate::BenchResult;
use crate::app_start::build_app;
use crate::process_tree::{
    count_descriptors, format_mebibytes, list_processes, measure_memory_kib,
};
use crate::results_table::{TableRow, format_time, print_table};
use crate::virtual_screen::VirtualScreen;

/// Hours of the day.
const HOURS: usize = 8;
/// Agents at work.
const AGENTS: usize = 5;
/// Messages that each of them answers in an hour, with four calls for each: 960 calls in all.
const TURNS_PER_HOUR: usize = 6;
/// How long a turn of all agents may take.
const TURN_TIMEOUT: Duration = Duration::from_secs(300);
/// Time between two presses of the key that allows.
const PRESS_INTERVAL: Duration = Duration::from_millis(500);
/// How long the window comes to rest before it is measured.
const REST_TIME: Duration = Duration::from_secs(10);

/// Whether an agent works or waits.
const IS_AT_WORK: &str = "return document.querySelector('[data-testid=rail-sessions] :is([data-state=running], [data-state=waiting])') !== null";
/// Whether a card waits.
const HAS_CARD: &str = "return document.querySelector('[data-testid=rail-count]') !== null";

/// What the processes of the app hold, and what lies in their folder for temporary files.
#[derive(Clone, Copy)]
struct Footprint {
    memory_kib: u64,
    descriptors: usize,
    processes: usize,
    temporary_files: usize,
}

/// Measures the day and prints the table.
pub fn run() -> BenchResult<()> {
    let program = build_app()?;
    let home = tempfile::tempdir()?;
    let data_dir = home.path().join("data");
    std::fs::create_dir_all(&data_dir)?;
    std::fs::write(
        data_dir.join("settings.toml"),
        format!(
            "posture = \"ask_about_effects\"\n\n{}",
            model_endpoint::start_endpoint()?
        ),
    )?;
    for agent in 0..AGENTS {
        let workspace = home.path().join(format!("project-{agent}"));
        std::fs::create_dir(&workspace)?;
        std::fs::write(
            workspace.join(NOTES_FILE),
            "What is to be done.\n".repeat(200),
        )?;
    }
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let screen = VirtualScreen::start()?;
        let app = DrivenApp::start(&screen, &program, home.path()).await?;
        let mut day = Day {
            screen: &screen,
            app,
            home: home.path(),
            sessions: Vec::new(),
        };
        let measured = day.measure().await;
        let closed = day.app.close().await;
        measured.and(closed)
    })
}

struct Day<'a> {
    screen: &'a VirtualScreen,
    app: DrivenApp,
    home: &'a Path,
    /// The session of each agent.
    sessions: Vec<String>,
}

impl Day<'_> {
    async fn measure(&mut self) -> BenchResult<()> {
        self.app.click("rail-desk").await?;
        tokio::time::sleep(REST_TIME).await;
        let mut footprints = vec![self.measure_footprint()?];
        let began = Instant::now();
        for hour in 1..=HOURS {
            for turn in 0..TURNS_PER_HOUR {
                self.begin_turns(hour, turn).await?;
                self.answer_until_over().await?;
            }
            self.look_around().await?;
            tokio::time::sleep(REST_TIME).await;
            footprints.push(self.measure_footprint()?);
            println!(
                "hour {hour} of {HOURS} after {}",
                format_time(began.elapsed())
            );
        }
        let mut rows = list_footprints(&footprints);
        rows.push(measure_idle(self.app.pid).await?);
        print_table("A day of five agents (theirs: after the first hour)", &rows);
        Ok(())
    }

    /// Gives every agent its next message.
    async fn begin_turns(&mut self, hour: usize, turn: usize) -> BenchResult<()> {
        for agent in 0..AGENTS {
            let text = format!("Do part {turn} of hour {hour}.");
            let op = match self.sessions.get(agent) {
                Some(session) => json!({ "type": "say", "session": session, "text": text }),
                None => json!({
                    "type": "open_session",
                    "workspace": self.home.join(format!("project-{agent}")),
                    "model": { "provider": PROVIDER, "model": MeasuredModel::Works.name() },
                    "prompt": text,
                }),
            };
            let receipt = self.app.call("submit", vec![op]).await?;
            if self.sessions.len() == agent {
                let session = receipt["session"].as_str().ok_or("no session was opened")?;
                self.sessions.push(session.to_owned());
            }
        }
        self.app.wait_until(IS_AT_WORK, vec![]).await
    }

    /// Allows what asks, by key, until no agent works any more.
    async fn answer_until_over(&self) -> BenchResult<()> {
        let deadline = Instant::now() + TURN_TIMEOUT;
        while self.app.run_script(IS_AT_WORK, vec![]).await? == true {
            if Instant::now() > deadline {
                return Err("the agents do not come to an end".into());
            }
            if self.app.run_script(HAS_CARD, vec![]).await? == true {
                self.screen.press_key('y')?;
            }
            tokio::time::sleep(PRESS_INTERVAL).await;
        }
        Ok(())
    }

    /// Opens every session and the screens of the rail, and comes back to the Desk.
    async fn look_around(&self) -> BenchResult<()> {
        let sessions = self.sessions.iter().map(|id| format!("rail-session-{id}"));
        let screens = ["search", "history", "tools", "rules", "desk"];
        for testid in sessions.chain(screens.map(|screen| format!("rail-{screen}"))) {
            self.app.click(&testid).await?;
            tokio::time::sleep(PRESS_INTERVAL).await;
        }
        Ok(())
    }

    fn measure_footprint(&self) -> BenchResult<Footprint> {
        let processes = list_processes(self.app.pid)?;
        let mut descriptors = 0;
        for pid in &processes {
            descriptors += count_descriptors(*pid)?;
        }
        Ok(Footprint {
            memory_kib: measure_memory_kib(self.app.pid)?,
            descriptors,
            processes: processes.len(),
            temporary_files: std::fs::read_dir(self.app.temporary_folder())?.count(),
        })
    }
}

/// One row for each hour: the memory, and what else is held.
fn list_footprints(footprints: &[Footprint]) -> Vec<TableRow> {
    let first_hour = footprints.get(1).copied();
    let row = |(hour, held): (usize, &Footprint)| {
        let Footprint {
            memory_kib,
            descriptors,
            processes,
            temporary_files,
        } = held;
        let beside = first_hour.filter(|_| hour > 1);
        TableRow {
            what: format!(
                "memory after hour {hour} ({processes} processes, {descriptors} descriptors, {temporary_files} temporary files)"
            ),
            ours: format_mebibytes(*memory_kib),
            theirs: beside.map_or_else(String::new, |first| format_mebibytes(first.memory_kib)),
            ratio: beside.map_or_else(String::new, |first| {
                #[allow(clippy::cast_precision_loss, reason = "memory in KiB")]
                let ratio = *memory_kib as f64 / first.memory_kib as f64;
                format!("{ratio:.2}×")
            }),
            aim: if hour > 1 { "1.2×" } else { "" },
        }
    };
    footprints.iter().enumerate().map(row).collect()
}

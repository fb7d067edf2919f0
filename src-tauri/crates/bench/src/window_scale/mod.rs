//! Measures the window at the size of a long day: a session of 95,000 calls and 600 MB on record, fifty sessions at
//! work, a thousand cards that wait, a diff of 20,000 lines, and what all of it leaves behind.
//!
//! The app is the one that is shipped, on a screen that nobody sees, and what is measured is measured in its page: from
//! an action until the picture of it was painted. Beside it, where that is the floor, an empty window of the same Tauri.

mod driven_app;
mod long_session;
mod model_endpoint;
pub mod soak;

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::BenchResult;
use crate::app_start::{build_app, build_program};
use crate::process_tree::{
    format_mebibytes, list_processes, measure_cpu_ticks, measure_memory_kib,
};
use crate::results_table::{TableRow, format_time, print_table};
use crate::virtual_screen::VirtualScreen;
use driven_app::DrivenApp;
use long_session::{LARGE_OUTPUT_BYTES, LARGE_TARGET, LAST_WORDS, SESSION};
use model_endpoint::{ASKED_FOLDER, MeasuredModel, PROVIDER, REWRITTEN_FILE, asked_file};

/// Sessions at work at once.
const SESSIONS: u32 = 50;
/// Calls that a session lets wait: no more of its calls are open at the same time.
const WAITING_PER_SESSION: u32 = 10;
/// Sessions that wait so: two for each of fifty agents, with a thousand cards in all.
const WAITING_SESSIONS: u32 = 100;
/// Words a second of the session that streams beside the one that is scrolled.
const STREAM_RATE: u32 = 1_000;
/// Lines that a diff replaces.
const DIFF_LINES: u32 = 10_000;
/// How long frames are watched, in seconds.
const SCROLL_SECONDS: u32 = 8;
/// Pixels that are scrolled in each frame.
const SCROLL_STEP: u32 = 60;
/// How long the idle window is watched.
const IDLE_TIME: Duration = Duration::from_secs(60);
/// How long the window has to come to rest before that.
const REST_TIME: Duration = Duration::from_secs(15);

const TRANSCRIPT: &str = "[data-testid=transcript]";
const ROWS: &str = "[data-testid=transcript] [data-row]";
const CARDS: &str = "[data-testid=desk-cards] [data-card]";
const HITS: &str = "[data-testid=hits] [data-hit]";

/// Measures everything in a new home and prints the table.
pub fn run() -> BenchResult<()> {
    run_in(tempfile::tempdir()?.path())
}

/// The same in a home that is kept: the long session is only written if it is not there yet.
pub fn run_in(home: &Path) -> BenchResult<()> {
    let app = build_app()?;
    let empty = build_program(&["--example", "empty-window"], "examples/empty-window")?;
    let workspace = home.join("workspace");
    let data_dir = home.join("data");
    std::fs::create_dir_all(&workspace)?;
    std::fs::create_dir_all(&data_dir)?;
    std::fs::write(
        data_dir.join("settings.toml"),
        format!(
            "posture = \"ask_first\"\n\n{}",
            model_endpoint::start_endpoint()?
        ),
    )?;
    // A safe write and a read ask only where a rule says so.
    std::fs::write(
        data_dir.join("rules.toml"),
        format!(
            "[[rule]]\npermission = \"fs.write\"\npattern = \"{REWRITTEN_FILE}\"\naction = \"ask\"\n\n\
             [[rule]]\npermission = \"fs.read\"\npattern = \"{ASKED_FOLDER}/**\"\naction = \"ask\"\n"
        ),
    )?;
    std::fs::create_dir_all(workspace.join(ASKED_FOLDER))?;
    for file in (0..WAITING_PER_SESSION).map(asked_file) {
        std::fs::write(workspace.join(file), "one\n")?;
    }
    std::fs::write(
        workspace.join(REWRITTEN_FILE),
        model_endpoint::rewritten_content(DIFF_LINES, false),
    )?;
    if !long_session::is_written(&data_dir) {
        let words = long_session::write_long_session(&data_dir, &workspace)?;
        println!("{words} words of output written");
    }
    println!(
        "{} calls on record, {} MB in the data folder",
        long_session::CALLS,
        folder_size(&data_dir)? / 1_000_000
    );
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let floor = measure_empty_window(&empty).await?;
        let screen = VirtualScreen::start()?;
        let app = DrivenApp::start(&screen, &app, home).await?;
        let mut measurement = Measurement {
            app,
            workspace: workspace.display().to_string(),
            floor,
            rows: Vec::new(),
        };
        let measured = measurement.measure_all().await;
        // What was measured until something failed is not lost.
        print_table("The window at the size of a long day", &measurement.rows);
        let closed = measurement.app.close().await;
        measured.and(closed)
    })
}

/// Times between the frames of an empty window, sorted.
async fn measure_empty_window(program: &Path) -> BenchResult<Vec<Duration>> {
    let screen = VirtualScreen::start()?;
    let home = tempfile::tempdir()?;
    let window = DrivenApp::start(&screen, program, home.path()).await?;
    let gaps = window
        .call(
            "scroll",
            vec![json!("html"), json!(SCROLL_STEP), json!(SCROLL_SECONDS)],
        )
        .await?;
    window.close().await?;
    sorted_times(&gaps)
}

/// The measurements of one start of the app, in their order.
struct Measurement {
    app: DrivenApp,
    workspace: String,
    /// Times between the frames of an empty window, sorted.
    floor: Vec<Duration>,
    rows: Vec<TableRow>,
}

impl Measurement {
    async fn measure_all(&mut self) -> BenchResult<()> {
        self.app.click("rail-desk").await?;
        // A measurement that failed in the same home may have left calls that wait.
        self.app.call("interruptWaiting", vec![]).await?;
        tokio::time::sleep(REST_TIME).await;
        let memory_at_start = measure_memory_kib(self.app.pid)?;
        self.measure_long_session().await?;
        self.measure_search().await?;
        self.measure_streams().await?;
        self.measure_diff().await?;
        self.measure_waiting_cards().await?;
        self.measure_rest(memory_at_start).await
    }

    async fn measure_long_session(&mut self) -> BenchResult<()> {
        let session = format!("rail-session-{SESSION}");
        let opened = self
            .app
            .call_for_time("open", vec![session.into(), ROWS.into(), LAST_WORDS.into()])
            .await?;
        self.add_time(
            "open a session of 95,000 calls at its end",
            opened,
            "300 ms",
        );

        // The message box has the keys of a session that was just opened.
        self.app
            .run_script("document.getElementById('main').focus()", vec![])
            .await?;
        let mut slowest = Duration::ZERO;
        for target in long_session::failed_targets() {
            slowest = slowest.max(self.time_key("x", &target).await?);
        }
        self.add_time("the slowest of four jumps to an error", slowest, "100 ms");
        let to_end = vec!["to-end".into(), ROWS.into(), LAST_WORDS.into()];
        let to_end = self.app.call_for_time("open", to_end).await?;
        self.add_time("the jump back to the end", to_end, "100 ms");

        // Its line may be drawn a frame later than the words below.
        let found = "[...document.querySelectorAll('[data-testid^=line-]')] \
             .find((line) => line.textContent.includes(arguments[0]))";
        let target = || vec![LARGE_TARGET.into()];
        self.app
            .wait_until(&format!("return {found} !== undefined"), target())
            .await?;
        let line = self
            .app
            .run_script(&format!("return {found}.dataset.testid"), target())
            .await?;
        let stall = self.app.call_for_time("openWhole", vec![line]).await?;
        self.add_time(
            &format!(
                "longest stall while {} MB of output are opened, page by page",
                LARGE_OUTPUT_BYTES / 1_000_000
            ),
            stall,
            "",
        );
        Ok(())
    }

    async fn measure_search(&mut self) -> BenchResult<()> {
        for (what, text) in [
            ("a rare word", "step"),
            ("two words of many entries", "word17 word4000"),
        ] {
            let query = json!({ "type": "search", "text": text, "offset": 0, "limit": 50 });
            let took = self.app.call_for_time("query", vec![query]).await?;
            self.add_time(&format!("search the record for {what}"), took, "50 ms");
        }
        self.app.click("rail-search").await?;
        self.app
            .wait_until(
                "return document.activeElement?.dataset.testid === 'search-box'",
                vec![],
            )
            .await?;
        let shown = self.time_key("fails", "fails").await?;
        self.add_time(
            "from the first key in the search to its first row",
            shown,
            "",
        );
        Ok(())
    }

    /// Frames of the long session while others stream.
    async fn measure_streams(&mut self) -> BenchResult<()> {
        self.app.click(&format!("rail-session-{SESSION}")).await?;
        let is_open = format!("return document.querySelector('{TRANSCRIPT}') !== null");
        self.app.wait_until(&is_open, vec![]).await?;
        let model = MeasuredModel::Streams {
            rate: STREAM_RATE,
            seconds: SCROLL_SECONDS + 4,
        };
        self.open_session(&model).await?;
        self.measure_frames(
            "scroll, while another session streams 1,000 tokens a second",
            TRANSCRIPT,
            "33 ms",
        )
        .await?;
        let model = MeasuredModel::Streams {
            rate: STREAM_RATE / SESSIONS,
            seconds: SCROLL_SECONDS + 12,
        };
        for _ in 0..SESSIONS {
            self.open_session(&model).await?;
        }
        self.measure_frames(
            "scroll, while 50 sessions stream as many together",
            TRANSCRIPT,
            "33 ms",
        )
        .await
    }

    async fn measure_diff(&mut self) -> BenchResult<()> {
        let model = MeasuredModel::Rewrites { lines: DIFF_LINES };
        let session = self.open_session(&model).await?;
        self.wait_for_waiting_calls(1).await?;
        self.app.click("rail-history").await?;
        let opened = self
            .app
            .call_for_time(
                "open",
                vec![
                    format!("rail-session-{session}").into(),
                    ROWS.into(),
                    "row 0 of the table is".into(),
                ],
            )
            .await?;
        self.add_time("paint a diff of 20,000 lines", opened, "100 ms");
        self.app.call("interruptWaiting", vec![]).await.map(drop)
    }

    async fn measure_waiting_cards(&mut self) -> BenchResult<()> {
        let model = MeasuredModel::Asks {
            calls: WAITING_PER_SESSION,
        };
        self.app.click("rail-history").await?;
        for _ in 0..WAITING_SESSIONS {
            self.open_session(&model).await?;
        }
        self.wait_for_waiting_calls(WAITING_SESSIONS * WAITING_PER_SESSION)
            .await?;
        let given = vec!["rail-desk".into(), CARDS.into(), "part-".into()];
        let opened = self.app.call_for_time("open", given).await?;
        self.add_time("open the Desk with 1,000 cards that wait", opened, "100 ms");
        self.measure_frames("scroll them", "[data-testid=desk-cards]", "33 ms")
            .await
    }

    /// What is left when everything is over.
    async fn measure_rest(&mut self, memory_at_start: u64) -> BenchResult<()> {
        self.app.click("rail-history").await?;
        self.app.call("interruptWaiting", vec![]).await?;
        tokio::time::sleep(REST_TIME).await;
        let memory = measure_memory_kib(self.app.pid)?;
        #[allow(clippy::cast_precision_loss, reason = "memory in KiB")]
        let ratio = memory as f64 / memory_at_start as f64;
        self.rows.push(TableRow {
            what: "memory after all of this, beside the start on the same record".to_owned(),
            ours: format_mebibytes(memory),
            theirs: format_mebibytes(memory_at_start),
            ratio: format!("{ratio:.2}×"),
            aim: "1.5×",
        });
        self.rows.push(measure_idle(self.app.pid).await?);
        Ok(())
    }

    /// Opens a session with a model that begins at once; returns its id.
    async fn open_session(&self, model: &MeasuredModel) -> BenchResult<String> {
        let op = json!({
            "type": "open_session",
            "workspace": self.workspace,
            "model": { "provider": PROVIDER, "model": model.name() },
            "prompt": "Begin.",
        });
        let receipt = self.app.call("submit", vec![op]).await?;
        let session = receipt["session"].as_str().ok_or("no session was opened")?;
        Ok(session.to_owned())
    }

    async fn wait_for_waiting_calls(&self, count: u32) -> BenchResult<()> {
        let script = "return document.querySelector('[data-testid=rail-count] span')?.textContent === arguments[0]";
        self.app
            .wait_until(script, vec![count.to_string().into()])
            .await
    }

    /// Time from a key until a text can be seen in a transcript or among hits.
    async fn time_key(&self, keys: &str, text: &str) -> BenchResult<Duration> {
        let selector = format!("{ROWS}, {HITS}");
        self.app
            .call("awaitKey", vec![selector.into(), text.into()])
            .await?;
        self.app.press(keys).await?;
        self.app.call_for_time("awaited", vec![]).await
    }

    /// Scrolls something, and adds the 99th percentile of the time between two frames.
    async fn measure_frames(
        &mut self,
        what: &str,
        selector: &str,
        aim: &'static str,
    ) -> BenchResult<()> {
        let given = vec![selector.into(), SCROLL_STEP.into(), SCROLL_SECONDS.into()];
        let gaps = sorted_times(&self.app.call("scroll", given).await?)?;
        let ours = percentile_99(&gaps);
        let theirs = percentile_99(&self.floor);
        self.rows.push(TableRow {
            what: format!("{what}: time between frames, p99 of {}", gaps.len()),
            ours: format_time(ours),
            theirs: format_time(theirs),
            ratio: crate::results_table::format_ratio(ours, theirs),
            aim,
        });
        Ok(())
    }

    fn add_time(&mut self, what: &str, took: Duration, aim: &'static str) {
        self.rows.push(TableRow {
            what: what.to_owned(),
            ours: format_time(took),
            theirs: String::new(),
            ratio: String::new(),
            aim,
        });
    }
}

/// Watches a window with nothing to do, and returns the row of what its processes used.
async fn measure_idle(pid: u32) -> BenchResult<TableRow> {
    let processes = list_processes(pid)?;
    let ticks = measure_cpu_ticks(pid)?;
    tokio::time::sleep(IDLE_TIME).await;
    let used = Duration::from_millis(10 * (measure_cpu_ticks(pid)? - ticks));
    let new = list_processes(pid)?
        .iter()
        .filter(|pid| !processes.contains(pid))
        .count();
    Ok(TableRow {
        what: format!("a minute with nothing to do ({new} processes started)"),
        ours: format_time(used),
        theirs: String::new(),
        ratio: format!(
            "{:.2} %",
            used.as_secs_f64() / IDLE_TIME.as_secs_f64() * 100.0
        ),
        aim: "1 % of a core",
    })
}

fn sorted_times(millis: &Value) -> BenchResult<Vec<Duration>> {
    let millis = millis.as_array().ok_or("a list of times was expected")?;
    let mut times: Vec<Duration> = millis
        .iter()
        .filter_map(Value::as_f64)
        .map(|millis| Duration::from_secs_f64(millis.max(0.0) / 1e3))
        .collect();
    times.sort_unstable();
    Ok(times)
}

fn percentile_99(sorted: &[Duration]) -> Duration {
    let at = (sorted.len() * 99 / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or_default()
}

fn folder_size(folder: &Path) -> BenchResult<u64> {
    let mut sum = 0;
    for entry in std::fs::read_dir(folder)? {
        let metadata = entry?.metadata()?;
        sum += if metadata.is_file() {
            metadata.len()
        } else {
            0
        };
    }
    Ok(sum)
}

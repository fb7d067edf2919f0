//! Takes screenshots of the app at work: one whenever the window has come to rest on new content.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::command;
use crate::failure::Failure;
use crate::virtual_display;

/// Flag that makes the app play its demo by itself.
pub const UNATTENDED_FLAG: &str = "--demo=unattended";
/// Timeout for the app to show its window.
const WINDOW_WAIT: Duration = Duration::from_secs(30);
/// Interval between two looks at the screen.
const POLL_INTERVAL: Duration = Duration::from_millis(400);
/// How long the screen must stay unchanged until the demo counts as over.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(8);
/// Timeout of the demo; none of ours is longer.
const DEMO_TIMEOUT: Duration = Duration::from_secs(120);
/// Maximum number of screenshots for one theme.
const SCREENSHOTS_MAX: usize = 16;
/// Area of a session's transcript in the app's first window, beside the rail and the inspector.
const TRANSCRIPT_GEOMETRY: &str = "720x700+280+80";
/// Minimum width of the transcript's text; while only the loading message is shown, the text is narrower.
const TEXT_PX_MIN: u32 = 200;
/// How long the transcript's area may stay empty.
const EMPTY_TIMEOUT: Duration = Duration::from_secs(10);
/// Minimum number of different pixels for new content; fewer are a caret or a clock.
const NEW_PIXELS_MIN: f64 = 1_500.0;

/// Plays the demo in light and in dark and saves the window's content as `light-01.png`, … in `dir`.
pub fn take_screenshots(app: &Path, dir: &Path) -> Result<(), Failure> {
    for theme in ["light", "dark"] {
        run_in_display("play", app, &[dir.as_os_str(), theme.as_ref()], |data| {
            std::fs::write(data.join("settings.toml"), format!("theme = \"{theme}\"\n"))
        })?;
    }
    Ok(())
}

/// Starts an installed app in the virtual display and waits for its window.
pub fn check_window_draws(app: &Path) -> Result<(), Failure> {
    run_in_display("show", app, &[], |_| Ok(()))
}

/// Runs this program again, inside the virtual display, with fresh folders in which the app behaves as on its first
/// start; the folders are removed afterwards.
pub fn run_in_display(
    what: &str,
    app: &Path,
    more: &[&OsStr],
    furnish: impl FnOnce(&Path) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let own =
        std::env::current_exe().map_err(|e| Failure::file_error("find", Path::new("xtask"), &e))?;
    // The name is short because the demo's paths are in the pictures.
    let fresh = std::env::temp_dir().join(format!("countersign-{}", std::process::id()));
    std::fs::create_dir_all(&fresh).map_err(|e| Failure::file_error("make", &fresh, &e))?;
    let mut shown = virtual_display::command_in_display(&own);
    shown.arg("in-display").arg(what).arg(app).args(more);
    for (name, folder) in [
        ("COUNTERSIGN_DATA_DIR", "data"),
        ("XDG_DATA_HOME", "share"),
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_CACHE_HOME", "cache"),
    ] {
        shown.env(name, fresh.join(folder));
    }
    let data = fresh.join("data");
    std::fs::create_dir_all(&data)
        .and_then(|()| furnish(&data))
        .map_err(|e| Failure::file_error("furnish", &data, &e))?;
    let result = command::run_command(
        &mut shown,
        "The app did not do in the virtual display what it should.",
        "Read the message above.",
    );
    let _ = std::fs::remove_dir_all(&fresh);
    result
}

/// Starts the app, waits for its window, runs a function on the window, and ends the app.
pub fn with_window(
    app: &Path,
    arguments: &[&str],
    work: impl FnOnce(&mut Child) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut child = Command::new(app)
        .args(arguments)
        .stdin(Stdio::null())
        .spawn()
        .map_err(|e| Failure::file_error("start", app, &e))?;
    let began = Instant::now();
    let result = wait_for_window(&mut child).and_then(|()| {
        println!("    window after {:.1} s", began.elapsed().as_secs_f64());
        work(&mut child)
    });
    let _ = child.kill();
    let _ = child.wait();
    result
}

fn wait_for_window(app: &mut Child) -> Result<(), Failure> {
    let deadline = Instant::now() + WINDOW_WAIT;
    while Instant::now() < deadline {
        if let Ok(Some(status)) = app.try_wait() {
            return Err(Failure::new(
                format!("The app ended before it showed a window ({status})."),
                "Read its message above.",
            ));
        }
        let mut search = Command::new("xdotool");
        search.args(["search", "--onlyvisible", "--name", "^Countersign"]);
        if command::read_output(&mut search).is_some_and(|ids| !ids.trim().is_empty()) {
            return Ok(());
        }
        std::thread::sleep(POLL_INTERVAL / 4);
    }
    Err(Failure::new(
        format!(
            "The app showed no window within {} s.",
            WINDOW_WAIT.as_secs()
        ),
        "Start it by hand and look whether its window is titled Countersign.",
    ))
}

/// Waits until the window has content; a window may exist and stay empty, when its page does not load.
pub fn wait_until_drawn() -> Result<(), Failure> {
    let look = std::env::temp_dir().join(format!("countersign-look-{}.png", std::process::id()));
    let deadline = Instant::now() + WINDOW_WAIT;
    let mut blank = true;
    while blank && Instant::now() < deadline {
        capture_screen(&look)?;
        blank = is_blank(&look);
    }
    let _ = std::fs::remove_file(&look);
    if blank {
        Err(blank_window_failure())
    } else {
        Ok(())
    }
}

fn blank_window_failure() -> Failure {
    Failure::new(
        "The window stayed blank.",
        "Start the app by hand and open the web inspector.",
    )
}

/// Saves a screenshot whenever two looks in a row are equal and differ from the last screenshot.
pub fn capture_demo(app: &mut Child, dir: &Path, theme: &str) -> Result<(), Failure> {
    let look = dir.join(format!(".{theme}-look.png"));
    let before = dir.join(format!(".{theme}-before.png"));
    let began = Instant::now();
    let mut last_change = began;
    let mut saved: Vec<PathBuf> = Vec::new();
    let mut empty_since: Option<Instant> = None;
    while began.elapsed() < DEMO_TIMEOUT
        && last_change.elapsed() < SETTLE_TIMEOUT
        && saved.len() < SCREENSHOTS_MAX
    {
        if let Ok(Some(status)) = app.try_wait() {
            return Err(Failure::new(
                format!("The app ended in the middle of the demo ({status})."),
                "Read its message above.",
            ));
        }
        capture_screen(&look)?;
        match has_transcript_text(&look) {
            true => empty_since = None,
            false if empty_since.get_or_insert_with(Instant::now).elapsed() > EMPTY_TIMEOUT => {
                return Err(empty_transcript_failure(&look));
            }
            false => {}
        }
        let at_rest = before.is_file() && !pictures_differ(&look, &before);
        let new = saved
            .last()
            .is_none_or(|picture| pictures_differ(&look, picture));
        if new {
            last_change = Instant::now();
        }
        if at_rest && new && empty_since.is_none() {
            let picture = dir.join(format!("{theme}-{:02}.png", saved.len() + 1));
            std::fs::copy(&look, &picture)
                .map_err(|e| Failure::file_error("write", &picture, &e))?;
            println!("    {}", picture.display());
            saved.push(picture);
        }
        std::fs::rename(&look, &before).map_err(|e| Failure::file_error("write", &before, &e))?;
        std::thread::sleep(POLL_INTERVAL);
    }
    let _ = std::fs::remove_file(&before);
    if saved.is_empty() {
        return Err(blank_window_failure());
    }
    Ok(())
}

fn empty_transcript_failure(look: &Path) -> Failure {
    Failure::new(
        "The demo plays, but the window shows nothing of its transcript.",
        format!(
            "Look at {}; start the app by hand and open the web inspector.",
            look.display()
        ),
    )
}

/// Whether a screenshot shows more than a few words in the transcript's area.
fn has_transcript_text(picture: &Path) -> bool {
    let mut drawn = Command::new("convert");
    drawn.arg(picture).args([
        "-crop",
        TRANSCRIPT_GEOMETRY,
        "+repage",
        "-format",
        "%@",
        "info:",
    ]);
    let width =
        command::read_output(&mut drawn).and_then(|found| found.split('x').next()?.parse().ok());
    width.is_some_and(|width: u32| width >= TEXT_PX_MIN)
}

fn capture_screen(to: &Path) -> Result<(), Failure> {
    command::run_command(
        Command::new("import")
            .args(["-silent", "-window", "root"])
            .arg(to),
        "The virtual display could not be photographed.",
        "Check that ImageMagick's `import` works.",
    )
}

/// Whether two screenshots differ; unreadable ones count as different.
fn pictures_differ(one: &Path, other: &Path) -> bool {
    // `compare` writes its number to standard error and ends with 1 for pictures that differ.
    let output = Command::new("compare")
        .args(["-metric", "AE", "-fuzz", "3%"])
        .args([one, other])
        .arg("null:")
        .output();
    let Ok(output) = output else { return true };
    String::from_utf8_lossy(&output.stderr)
        .trim()
        .parse::<f64>()
        .map_or(true, |n| n >= NEW_PIXELS_MIN)
}

/// Whether a screenshot has fewer colours than any text would produce.
fn is_blank(picture: &Path) -> bool {
    command::read_output(
        Command::new("identify")
            .args(["-format", "%k"])
            .arg(picture),
    )
    .and_then(|colours| colours.trim().parse::<u32>().ok())
    .is_none_or(|colours| colours < 16)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::has_transcript_text;

    /// Draws on an empty window, and returns whether its transcript counts as filled.
    fn filled_by(drawing: &str, file: &Path) -> bool {
        let drawn = Command::new("convert")
            .args([
                "-size",
                "1440x900",
                "xc:#f6f6f5",
                "-fill",
                "#202020",
                "-draw",
                drawing,
            ])
            .arg(file)
            .status();
        assert!(drawn.is_ok_and(|status| status.success()));
        has_transcript_text(file)
    }

    #[test]
    fn a_header_and_a_rail_alone_are_no_transcript() {
        let file =
            std::env::temp_dir().join(format!("countersign-frames-{}.png", std::process::id()));
        let header = "rectangle 0,0 1440,47 rectangle 0,0 230,899 rectangle 1060,0 1440,899";
        assert!(!filled_by(header, &file));
        let loading = format!("{header} rectangle 300,120 360,132");
        assert!(!filled_by(&loading, &file), "only its loading is told");
        let message = format!("{header} rectangle 300,120 900,132");
        assert!(filled_by(&message, &file));
        assert!(std::fs::remove_file(file).is_ok());
    }
}

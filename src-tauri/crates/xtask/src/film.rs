//! Films the app while it plays its demo: one small file for the documentation.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::command;
use crate::failure::Failure;
use crate::screenshots;

/// Pictures a second: enough for a window in which text appears, and a third of the bytes of 30.
const FRAME_RATE: &str = "10";
/// Area that is filmed: the app's first window, which fills the virtual display.
const FILMED_AREA: &str = "1440x900";
/// Width of the film, in pixels; its height follows.
const FILM_SCALE: &str = "scale=1152:-2:flags=lanczos";
/// Quality of VP9, from 0 to 63; text is sharp up to about this.
const FILM_QUALITY: &str = "38";

/// Plays the demo in light and films it.
pub fn take_film(app: &Path, file: &Path) -> Result<(), Failure> {
    screenshots::run_in_display("film", app, &[file.as_os_str()], |data| {
        std::fs::write(data.join("settings.toml"), "theme = \"light\"\n")
    })
}

/// Films the demo until it is over, from inside the virtual display, and writes it to `file` as WebM.
pub fn film_demo(app: &mut Child, file: &Path) -> Result<(), Failure> {
    let folder = std::env::temp_dir().join(format!("countersign-film-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| Failure::file_error("make", &folder, &e))?;
    let raw = folder.join("raw.mkv");
    let filmed = start_camera(&raw).and_then(|camera| {
        let played = screenshots::capture_demo(app, &folder, "film");
        stop_camera(camera)?;
        played
    });
    let written = filmed.and_then(|()| encode_film(&raw, file));
    let _ = std::fs::remove_dir_all(&folder);
    written
}

/// Starts to film without loss and with little work: what is encoded well takes more time than there is between two
/// pictures.
fn start_camera(raw: &Path) -> Result<Child, Failure> {
    let display = std::env::var("DISPLAY").unwrap_or_default();
    Command::new("ffmpeg")
        .args(["-loglevel", "error", "-f", "x11grab", "-draw_mouse", "0"])
        .args(["-framerate", FRAME_RATE, "-video_size", FILMED_AREA])
        .args([
            "-i",
            &display,
            "-c:v",
            "libx264",
            "-preset",
            "ultrafast",
            "-qp",
            "0",
        ])
        .arg(raw)
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|e| Failure::file_error("start", Path::new("ffmpeg"), &e))
}

fn stop_camera(mut camera: Child) -> Result<(), Failure> {
    if let Some(mut keys) = camera.stdin.take() {
        // It ends the file properly at this key; where it has ended already, its status tells why.
        let _ = keys.write_all(b"q");
    }
    match camera.wait() {
        Ok(status) if status.success() => Ok(()),
        _ => Err(Failure::new(
            "The virtual display could not be filmed.",
            "Read the message of ffmpeg above.",
        )),
    }
}

fn encode_film(raw: &Path, file: &Path) -> Result<(), Failure> {
    let mut encode = Command::new("ffmpeg");
    encode
        .args(["-y", "-loglevel", "error", "-i"])
        .arg(raw)
        .args([
            "-vf",
            FILM_SCALE,
            "-c:v",
            "libvpx-vp9",
            "-crf",
            FILM_QUALITY,
            "-b:v",
            "0",
        ])
        .args(["-pix_fmt", "yuv420p", "-row-mt", "1", "-an", "-f", "webm"])
        .arg(file);
    command::run_command(
        &mut encode,
        "The film could not be encoded.",
        "Read the message of ffmpeg above.",
    )?;
    let bytes = std::fs::metadata(file).map_err(|e| Failure::file_error("read", file, &e))?;
    println!("    {}, {} kB", file.display(), bytes.len() / 1_000);
    Ok(())
}

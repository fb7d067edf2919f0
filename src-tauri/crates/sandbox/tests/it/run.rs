//! Runs a command in a room, as the runtime does.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use sandbox::{End, Room, Told, read_told};

use crate::rooms::Place;

/// What came of it.
pub struct Ran {
    pub told: Option<Told>,
    /// What it printed.
    pub said: String,
}

/// Whether this machine lets a room be entered at all; where it does not, says why. Where the tests must not be passed by,
/// as in continuous integration, that is a failure.
pub fn rooms_work() -> bool {
    let told = Place::new().runs("true").0;
    let works = told == Some(Told::Ended(End::Exit(0)));
    assert!(works || std::env::var_os("CI").is_none(), "{told:?}");
    if !works {
        println!("left out, because this system lets nobody make a room: {told:?}");
    }
    works
}

/// Runs it to its end; `prepare` may change how the program is started.
pub fn run(room: &Room, prepare: impl FnOnce(&mut Command)) -> Ran {
    let mut program = Command::new(env!("CARGO_BIN_EXE_countersign-room"));
    program
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    prepare(&mut program);
    let mut running = program.spawn().unwrap();
    let mut input = running.stdin.take().unwrap();
    writeln!(input, "{}", serde_json::to_string(room).unwrap()).unwrap();
    let mut said = Vec::new();
    let mut output = running.stdout.take().unwrap();
    output.read_to_end(&mut said).unwrap();
    running.wait().unwrap();
    drop(input);
    Ran {
        told: read_told(&room.told).unwrap(),
        said: String::from_utf8_lossy(&said).into_owned(),
    }
}

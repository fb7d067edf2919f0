//! A virtual screen with a message bus, and a view of its content.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ConnectionExt, ImageFormat, KEY_PRESS_EVENT, KEY_RELEASE_EVENT};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

use crate::BenchResult;

/// Width and height in pixels: slightly more than the app's window.
const SCREEN_SIZE: (u16, u16) = (1440, 900);
/// How long the screen content must stay unchanged to count as final.
const STABLE_FOR: Duration = Duration::from_millis(2_500);
/// Timeout for a window to reach its final content.
const DRAW_TIMEOUT: Duration = Duration::from_secs(30);
/// Interval between two looks at the screen.
const POLL_INTERVAL: Duration = Duration::from_millis(15);
/// Two screen contents are equal if at most one in this many pixels differs: a caret may blink.
const DIFFERING_PIXEL_RATIO: usize = 500;

/// The screen, its bus, and a connection for reading its content.
pub struct VirtualScreen {
    server: Child,
    bus: Child,
    display: String,
    bus_address: String,
    connection: RustConnection,
    root: u32,
}

impl VirtualScreen {
    /// Starts the screen and the bus.
    pub fn start() -> BenchResult<Self> {
        let size = format!("{}x{}x24", SCREEN_SIZE.0, SCREEN_SIZE.1);
        let (server, number) = start_and_read_address(
            Command::new("Xvfb").args(["-displayfd", "1", "-screen", "0", &size, "-noreset"]),
            "Xvfb (the package xvfb)",
        )?;
        let (bus, bus_address) = start_and_read_address(
            Command::new("dbus-daemon").args(["--session", "--nofork", "--print-address=1"]),
            "dbus-daemon (the package dbus)",
        )?;
        let display = format!(":{number}");
        let (connection, screen) = x11rb::connect(Some(&display))?;
        let root = connection
            .setup()
            .roots
            .get(screen)
            .ok_or("the display has no screen")?
            .root;
        Ok(Self {
            server,
            bus,
            display,
            bus_address,
            connection,
            root,
        })
    }

    /// Makes a program show its window on this screen and not on the person's own.
    pub fn attach<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command
            .env("DISPLAY", &self.display)
            .env("DBUS_SESSION_BUS_ADDRESS", &self.bus_address)
            .env("GDK_BACKEND", "x11")
            .env("NO_AT_BRIDGE", "1")
            .env_remove("WAYLAND_DISPLAY")
    }

    /// Presses and releases the key of a letter, as a person's hand does: the app takes no other press for an answer.
    pub fn press_key(&self, letter: char) -> BenchResult<()> {
        let setup = self.connection.setup();
        let (first, last) = (setup.min_keycode, setup.max_keycode);
        let asked = self
            .connection
            .get_keyboard_mapping(first, last - first + 1)?;
        let mapping = asked.reply()?;
        // What a letter of ASCII is called here is its number.
        let at = mapping
            .keysyms
            .chunks(mapping.keysyms_per_keycode.into())
            .position(|symbols| symbols.first() == Some(&u32::from(letter)))
            .ok_or("the screen has no such key")?;
        let key = first + u8::try_from(at)?;
        for kind in [KEY_PRESS_EVENT, KEY_RELEASE_EVENT] {
            self.connection
                .xtest_fake_input(kind, key, x11rb::CURRENT_TIME, self.root, 0, 0, 0)?;
        }
        self.connection.flush()?;
        Ok(())
    }

    /// Waits until the screen content is stable; returns the time from `began`, the start of the program, until that
    /// content first appeared.
    pub fn wait_until_drawn(&self, began: Instant) -> BenchResult<Duration> {
        let empty = self.capture()?;
        let mut seen = vec![(Duration::ZERO, empty)];
        loop {
            sleep(POLL_INTERVAL);
            let (at, picture) = (began.elapsed(), self.capture()?);
            if at > DRAW_TIMEOUT {
                return Err("no window came to rest".into());
            }
            let Some((since, last)) = seen.last() else {
                return Err("nothing was seen".into());
            };
            if !is_same_picture(last, &picture) {
                seen.push((at, picture));
            } else if seen.len() > 1 && at.saturating_sub(*since) > STABLE_FOR {
                return Ok(*since);
            }
        }
    }

    /// Waits until the screen is empty.
    pub fn wait_until_cleared(&self) -> BenchResult<()> {
        let until = Instant::now() + DRAW_TIMEOUT;
        while Instant::now() < until {
            let picture = self.capture()?;
            if picture
                .chunks_exact(4)
                .all(|pixel| pixel.starts_with(&[0; 3]))
            {
                return Ok(());
            }
            sleep(POLL_INTERVAL);
        }
        Err("a window stays although its program was ended".into())
    }

    fn capture(&self) -> BenchResult<Vec<u8>> {
        let asked = self.connection.get_image(
            ImageFormat::Z_PIXMAP,
            self.root,
            0,
            0,
            SCREEN_SIZE.0,
            SCREEN_SIZE.1,
            u32::MAX,
        )?;
        Ok(asked.reply()?.data)
    }
}

impl Drop for VirtualScreen {
    fn drop(&mut self) {
        for child in [&mut self.bus, &mut self.server] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn is_same_picture(one: &[u8], other: &[u8]) -> bool {
    let differ = one
        .chunks_exact(4)
        .zip(other.chunks_exact(4))
        .filter(|(one, other)| one != other)
        .count();
    differ <= one.len() / 4 / DIFFERING_PIXEL_RATIO
}

/// Starts a program that prints the address on which it listens as its first line.
fn start_and_read_address(command: &mut Command, name: &str) -> BenchResult<(Child, String)> {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{name} could not be started: {error}"))?;
    let mut line = String::new();
    if let Some(stdout) = child.stdout.take() {
        BufReader::new(stdout).read_line(&mut line)?;
    }
    match line.trim() {
        "" => Err(format!("{name} ended before it said where it listens").into()),
        said => Ok((child, said.to_owned())),
    }
}

//! Presses of the person, as the window system reports them: what shows that a request of the page comes from a person.
//!
//! A script of the page can make events of its own, but none that reaches the widget around the page: those come from the
//! window system alone. Each press counts for one request, and only for a moment.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a press, or its release, counts. Longer than a page takes to answer one on a busy machine.
const COUNTS_FOR: Duration = Duration::from_secs(2);

/// What is pressed: a key by its place on the keyboard, a button of the pointer, or the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pressed {
    Key(u16),
    Button(u32),
    Screen,
}

/// The last press, until it was used for a request.
#[derive(Debug, Default)]
pub(crate) struct Presses(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    unused: Option<(Pressed, Instant)>,
    /// What is held down: a key that repeats itself is not pressed again.
    down: Vec<Pressed>,
    /// When the last press was by the clock of the window system: what the web view hands on a second time is no second press.
    reported: u32,
}

impl Presses {
    /// Something was pressed, at that time by the clock of the window system.
    pub(crate) fn press(&self, pressed: Pressed, reported: u32, at: Instant) {
        let mut state = self.state();
        if reported == 0 || reported == state.reported {
            return;
        }
        state.reported = reported;
        if !state.down.contains(&pressed) {
            state.down.push(pressed);
            state.unused = Some((pressed, at));
        }
    }

    /// It was let go. What is held to its end counts from then on.
    pub(crate) fn release(&self, pressed: Pressed, at: Instant) {
        let mut state = self.state();
        state.down.retain(|held| *held != pressed);
        if let Some((last, since)) = &mut state.unused
            && *last == pressed
        {
            *since = at;
        }
    }

    /// The window lost the focus: nobody says any more what is let go.
    pub(crate) fn forget(&self) {
        let mut state = self.state();
        state.unused = None;
        state.down.clear();
    }

    /// Uses the last press for a request; false if there is none that counts.
    pub(crate) fn take(&self, at: Instant) -> bool {
        let mut state = self.state();
        let Some((pressed, since)) = state.unused.take() else {
            return false;
        };
        state.down.contains(&pressed) || at.duration_since(since) <= COUNTS_FOR
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begins to follow what is pressed on the web view of the window.
#[cfg(target_os = "linux")]
pub(crate) fn follow(window: &tauri::WebviewWindow) -> tauri::Result<()> {
    use gtk::prelude::WidgetExt;
    use tauri::Manager;

    let app = window.app_handle().clone();
    window.with_webview(move |webview| {
        webview.inner().connect_event(move |_, event| {
            report(&app.state::<Presses>(), event);
            gtk::glib::Propagation::Proceed
        });
    })
}

/// Elsewhere nothing is reported: every request that needs a press asks in a dialog of its own.
#[cfg(not(target_os = "linux"))]
pub(crate) fn follow(_window: &tauri::WebviewWindow) -> tauri::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn report(presses: &Presses, event: &gtk::gdk::Event) {
    use gtk::gdk::EventType;

    // One that another program made up.
    if event.is_send_event() {
        return;
    }
    let key = || event.keycode().map(Pressed::Key);
    let button = || event.button().map(Pressed::Button);
    let (pressed, goes_down) = match event.event_type() {
        EventType::KeyPress if !is_modifier(event) => (key(), true),
        EventType::KeyRelease => (key(), false),
        EventType::ButtonPress => (button(), true),
        EventType::ButtonRelease => (button(), false),
        EventType::TouchBegin => (Some(Pressed::Screen), true),
        EventType::TouchEnd | EventType::TouchCancel => (Some(Pressed::Screen), false),
        EventType::FocusChange => return presses.forget(),
        _ => return,
    };
    match pressed {
        Some(pressed) if goes_down => presses.press(pressed, event.time(), Instant::now()),
        Some(pressed) => presses.release(pressed, Instant::now()),
        None => {}
    }
}

/// Whether a key only changes others: Shift and its like ask for nothing.
#[cfg(target_os = "linux")]
fn is_modifier(event: &gtk::gdk::Event) -> bool {
    let key = event.downcast_ref::<gtk::gdk::EventKey>();
    key.is_some_and(gtk::gdk::EventKey::is_modifier)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{COUNTS_FOR, Pressed, Presses};

    const Y: Pressed = Pressed::Key(29);

    #[test]
    fn a_press_counts_once_and_only_for_a_moment() {
        let (presses, at) = (Presses::default(), Instant::now());
        assert!(!presses.take(at), "nothing was pressed");
        presses.press(Y, 1, at);
        presses.release(Y, at);
        assert!(presses.take(at + COUNTS_FOR));
        assert!(!presses.take(at + COUNTS_FOR), "it was used");
        presses.press(Y, 2, at);
        presses.release(Y, at);
        let late = at + COUNTS_FOR + Duration::from_millis(1);
        assert!(!presses.take(late), "it is over");
    }

    #[test]
    fn what_is_held_counts_until_it_is_let_go() {
        let (presses, at) = (Presses::default(), Instant::now());
        let long = at + COUNTS_FOR * 3;
        presses.press(Pressed::Button(1), 1, at);
        assert!(presses.take(long), "it is still held");
        presses.release(Pressed::Button(1), long);
        presses.press(Pressed::Button(1), 2, at);
        presses.release(Pressed::Button(1), long);
        assert!(presses.take(long + COUNTS_FOR), "it was let go then");
    }

    #[test]
    fn a_key_that_repeats_itself_or_is_handed_on_twice_was_pressed_once() {
        let (presses, at) = (Presses::default(), Instant::now());
        presses.press(Y, 1, at);
        assert!(presses.take(at));
        presses.press(Y, 40, at);
        assert!(!presses.take(at), "it repeats itself while it is held");
        presses.release(Y, at);
        presses.press(Y, 40, at);
        assert!(!presses.take(at), "the web view handed it on again");
        presses.press(Y, 80, at);
        assert!(presses.take(at), "it was pressed again");
    }

    #[test]
    fn what_no_clock_reported_is_no_press() {
        let (presses, at) = (Presses::default(), Instant::now());
        presses.press(Y, 0, at);
        assert!(!presses.take(at));
    }

    #[test]
    fn a_window_that_lost_the_focus_has_nothing_pressed() {
        let (presses, at) = (Presses::default(), Instant::now());
        presses.press(Y, 1, at);
        presses.forget();
        assert!(!presses.take(at));
        presses.press(Y, 2, at);
        assert!(
            presses.take(at),
            "the key that nobody saw let go is no repeat"
        );
    }
}

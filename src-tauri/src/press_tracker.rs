//! Presses of the person, as the window system reports them: what shows that a request of the page comes from a person.
//!
//! A script of the page can make events of its own, but none that reaches the widget around the page: those come from the
//! window system alone. Each press counts for one request, and only for a moment.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a press, or its release, counts. Longer than a page takes to answer one on a busy machine.
const PRESS_LIFETIME: Duration = Duration::from_secs(2);

/// What is pressed: a key by its place on the keyboard, a button of the pointer, or the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PressSource {
    Key(u16),
    Button(u32),
    Screen,
}

/// The last press, until it was used for a request.
#[derive(Debug, Default)]
pub(crate) struct PressTracker(Mutex<PressState>);

#[derive(Debug, Default)]
struct PressState {
    unused: Option<(PressSource, Instant)>,
    /// What is held down: a key that repeats itself is not pressed again.
    held: Vec<PressSource>,
    /// When the last press was by the clock of the window system: what the web view hands on a second time is no second press.
    reported: u32,
}

impl PressTracker {
    /// Something was pressed, at that time by the clock of the window system.
    pub(crate) fn record_press(&self, pressed: PressSource, reported: u32, at: Instant) {
        let mut state = self.lock_state();
        if reported == 0 || reported == state.reported {
            return;
        }
        state.reported = reported;
        if !state.held.contains(&pressed) {
            state.held.push(pressed);
            state.unused = Some((pressed, at));
        }
    }

    /// It was let go. What is held to its end counts from then on.
    pub(crate) fn record_release(&self, pressed: PressSource, at: Instant) {
        let mut state = self.lock_state();
        state.held.retain(|held| *held != pressed);
        if let Some((last, since)) = &mut state.unused
            && *last == pressed
        {
            *since = at;
        }
    }

    /// The window lost the focus: nobody says any more what is let go.
    pub(crate) fn clear(&self) {
        let mut state = self.lock_state();
        state.unused = None;
        state.held.clear();
    }

    /// Uses the last press for a request; false if there is none that counts.
    pub(crate) fn consume(&self, at: Instant) -> bool {
        let mut state = self.lock_state();
        let Some((pressed, since)) = state.unused.take() else {
            return false;
        };
        state.held.contains(&pressed) || at.duration_since(since) <= PRESS_LIFETIME
    }

    fn lock_state(&self) -> std::sync::MutexGuard<'_, PressState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begins to follow what is pressed on the web view of the window.
#[cfg(target_os = "linux")]
pub(crate) fn track_window(window: &tauri::WebviewWindow) -> tauri::Result<()> {
    use gtk::prelude::WidgetExt;
    use tauri::Manager;

    let app = window.app_handle().clone();
    window.with_webview(move |webview| {
        webview.inner().connect_event(move |_, event| {
            record_event(&app.state::<PressTracker>(), event);
            gtk::glib::Propagation::Proceed
        });
    })
}

/// Elsewhere nothing is reported: every request that needs a press asks in a dialog of its own.
#[cfg(not(target_os = "linux"))]
pub(crate) fn track_window(_window: &tauri::WebviewWindow) -> tauri::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn record_event(presses: &PressTracker, event: &gtk::gdk::Event) {
    use gtk::gdk::EventType;

    // One that another program made up.
    if event.is_send_event() {
        return;
    }
    let key = || event.keycode().map(PressSource::Key);
    let button = || event.button().map(PressSource::Button);
    let (pressed, goes_down) = match event.event_type() {
        EventType::KeyPress if !is_modifier(event) => (key(), true),
        EventType::KeyRelease => (key(), false),
        EventType::ButtonPress => (button(), true),
        EventType::ButtonRelease => (button(), false),
        EventType::TouchBegin => (Some(PressSource::Screen), true),
        EventType::TouchEnd | EventType::TouchCancel => (Some(PressSource::Screen), false),
        EventType::FocusChange => return presses.clear(),
        _ => return,
    };
    match pressed {
        Some(pressed) if goes_down => presses.record_press(pressed, event.time(), Instant::now()),
        Some(pressed) => presses.record_release(pressed, Instant::now()),
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

    use super::{PRESS_LIFETIME, PressSource, PressTracker};

    const Y: PressSource = PressSource::Key(29);

    #[test]
    fn a_press_counts_once_and_only_for_a_moment() {
        let (presses, at) = (PressTracker::default(), Instant::now());
        assert!(!presses.consume(at), "nothing was pressed");
        presses.record_press(Y, 1, at);
        presses.record_release(Y, at);
        assert!(presses.consume(at + PRESS_LIFETIME));
        assert!(!presses.consume(at + PRESS_LIFETIME), "it was used");
        presses.record_press(Y, 2, at);
        presses.record_release(Y, at);
        let late = at + PRESS_LIFETIME + Duration::from_millis(1);
        assert!(!presses.consume(late), "it is over");
    }

    #[test]
    fn what_is_held_counts_until_it_is_let_go() {
        let (presses, at) = (PressTracker::default(), Instant::now());
        let long = at + PRESS_LIFETIME * 3;
        presses.record_press(PressSource::Button(1), 1, at);
        assert!(presses.consume(long), "it is still held");
        presses.record_release(PressSource::Button(1), long);
        presses.record_press(PressSource::Button(1), 2, at);
        presses.record_release(PressSource::Button(1), long);
        assert!(presses.consume(long + PRESS_LIFETIME), "it was let go then");
    }

    #[test]
    fn a_key_that_repeats_itself_or_is_handed_on_twice_was_pressed_once() {
        let (presses, at) = (PressTracker::default(), Instant::now());
        presses.record_press(Y, 1, at);
        assert!(presses.consume(at));
        presses.record_press(Y, 40, at);
        assert!(!presses.consume(at), "it repeats itself while it is held");
        presses.record_release(Y, at);
        presses.record_press(Y, 40, at);
        assert!(!presses.consume(at), "the web view handed it on again");
        presses.record_press(Y, 80, at);
        assert!(presses.consume(at), "it was pressed again");
    }

    #[test]
    fn what_no_clock_reported_is_no_press() {
        let (presses, at) = (PressTracker::default(), Instant::now());
        presses.record_press(Y, 0, at);
        assert!(!presses.consume(at));
    }

    #[test]
    fn a_window_that_lost_the_focus_has_nothing_pressed() {
        let (presses, at) = (PressTracker::default(), Instant::now());
        presses.record_press(Y, 1, at);
        presses.clear();
        assert!(!presses.consume(at));
        presses.record_press(Y, 2, at);
        assert!(
            presses.consume(at),
            "the key that nobody saw let go is no repeat"
        );
    }
}

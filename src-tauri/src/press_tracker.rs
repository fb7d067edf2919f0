//! Presses of the person, as the window system reports them: evidence that a request of the page comes from the person.
//!
//! A script in the page can create events, but none that reaches the widget around the page: events there come from the
//! window system alone. Each press counts for one request, and only for a moment.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a press, or its release, counts. Longer than a page takes to respond to a press on a busy machine.
const PRESS_LIFETIME: Duration = Duration::from_secs(2);

/// Source of a press: a key by its position on the keyboard, a button of the pointer, or the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PressSource {
    Key(u16),
    Button(u32),
    Screen,
}

/// The last press, until it is used for a request.
#[derive(Debug, Default)]
pub(crate) struct PressTracker(Mutex<PressState>);

#[derive(Debug, Default)]
struct PressState {
    unused: Option<(PressSource, Instant)>,
    /// Sources that are held down: the repeats of a held key are no new presses.
    held: Vec<PressSource>,
    /// Time of the last press by the clock of the window system: an event that the web view forwards a second time is
    /// no second press.
    reported: u32,
}

impl PressTracker {
    /// Records a press; `reported` is its time by the clock of the window system.
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

    /// Records a release. A source that was held until then counts from the release on.
    pub(crate) fn record_release(&self, pressed: PressSource, at: Instant) {
        let mut state = self.lock_state();
        state.held.retain(|held| *held != pressed);
        if let Some((last, since)) = &mut state.unused
            && *last == pressed
        {
            *since = at;
        }
    }

    /// Clears all held sources: the window lost the focus, so their releases are not reported any more.
    pub(crate) fn clear(&self) {
        let mut state = self.lock_state();
        state.unused = None;
        state.held.clear();
    }

    /// Uses the last press for a request; returns `false` if no press counts.
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

/// Starts to track presses on the web view of the window.
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

/// Tracks nothing, since other systems report no presses: every request that needs a press asks in a dialog.
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

/// Whether a key is a modifier, such as Shift: a modifier alone requests nothing.
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

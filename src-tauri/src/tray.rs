//! The tray icon: shows how many calls wait, and opens the window, or one of the calls that wait longest. It allows nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use protocol::engine_process::{AttentionChange, WaitingCall};
use protocol::text::display_text::to_single_line;
use tauri::menu::{IsMenuItem, Menu, MenuItem, PredefinedMenuItem};
use tauri::tray::TrayIconBuilder;
use tauri::{AppHandle, Manager, Wry, include_image};

use crate::raise_window;
use crate::shown_in_page::show_in_page;

const TRAY_ID: &str = "main";
/// Maximum length of a title in the menu, in characters.
const TITLE_CHARS_MAX: usize = 40;

/// The calls that the menu lists, in their order.
#[derive(Default)]
struct ListedCalls(Mutex<Vec<WaitingCall>>);

impl ListedCalls {
    fn lock(&self) -> MutexGuard<'_, Vec<WaitingCall>> {
        // The list is replaced in one step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A line of the menu.
#[derive(Debug, PartialEq, Eq)]
struct MenuLine {
    id: String,
    text: String,
    /// Whether the line does something.
    is_enabled: bool,
}

/// Adds the icon to the tray. Where the system has no tray library, building the icon panics instead of failing; the
/// app then continues without one.
pub(crate) fn build_tray(app: &AppHandle) {
    app.manage(ListedCalls::default());
    match catch_unwind(AssertUnwindSafe(|| try_build_tray(app))) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "there is no tray icon"),
        Err(_) => tracing::warn!("there is no tray icon: the system's tray library is missing"),
    }
}

fn try_build_tray(app: &AppHandle) -> tauri::Result<()> {
    TrayIconBuilder::with_id(TRAY_ID)
        .icon(include_image!("icons/tray.png"))
        .tooltip("Countersign")
        .menu(&build_menu(app, &AttentionChange::default())?)
        .on_menu_event(|app, event| match event.id().as_ref() {
            "quit" => app.exit(0),
            id => {
                raise_window(app);
                let call = call_of_line(id, &app.state::<ListedCalls>().lock());
                if let Some(call) = call {
                    show_in_page(app, call.into());
                }
            }
        })
        .build(app)
        .map(drop)
}

/// Shows how many calls wait, and lists those that wait longest.
pub(crate) fn show_waiting(app: &AppHandle, attention: &AttentionChange) {
    app.state::<ListedCalls>()
        .lock()
        .clone_from(&attention.oldest);
    let Some(tray) = app.tray_by_id(TRAY_ID) else {
        return;
    };
    let shown = build_menu(app, attention)
        .and_then(|menu| tray.set_menu(Some(menu)))
        .and_then(|()| tray.set_tooltip(Some(tooltip(attention.waiting))));
    if let Err(error) = shown {
        tracing::warn!(%error, "the tray icon cannot be changed");
    }
}

/// Brings the window to the front, at the call that waits longest if any does.
pub(crate) fn show_oldest_call(app: &AppHandle) {
    raise_window(app);
    let oldest = app.state::<ListedCalls>().lock().first().cloned();
    if let Some(call) = oldest {
        show_in_page(app, call.into());
    }
}

fn tooltip(waiting: usize) -> String {
    match waiting {
        0 => "Countersign".to_owned(),
        waiting => format!("Countersign: {}", count_text(waiting)),
    }
}

/// Returns how many calls wait, in words.
pub(crate) fn count_text(waiting: usize) -> String {
    match waiting {
        0 => "No call waits".to_owned(),
        1 => "1 call waits".to_owned(),
        waiting => format!("{waiting} calls wait"),
    }
}

fn build_menu(app: &AppHandle, attention: &AttentionChange) -> tauri::Result<Menu<Wry>> {
    let menu = Menu::new(app)?;
    for line in waiting_lines(attention) {
        let item = MenuItem::with_id(app, line.id, line.text, line.is_enabled, None::<&str>)?;
        menu.append(&item)?;
    }
    let separator = PredefinedMenuItem::separator(app)?;
    let open = MenuItem::with_id(app, "open", "Open Countersign", true, None::<&str>)?;
    let quit = MenuItem::with_id(app, "quit", "Quit", true, None::<&str>)?;
    let rest: [&dyn IsMenuItem<Wry>; 3] = [&separator, &open, &quit];
    menu.append_items(&rest)?;
    Ok(menu)
}

/// Returns the lines about waiting calls: their number, and those that wait longest.
fn waiting_lines(attention: &AttentionChange) -> Vec<MenuLine> {
    let count = MenuLine {
        id: "count".to_owned(),
        text: count_text(attention.waiting),
        is_enabled: false,
    };
    let calls = attention.oldest.iter().enumerate().map(|(at, call)| {
        let title = to_single_line(&call.title, TITLE_CHARS_MAX);
        let text = match call.session_title.is_empty() {
            true => format!("Open {title}"),
            false => {
                let session = to_single_line(&call.session_title, TITLE_CHARS_MAX);
                format!("Open {title} · {session}")
            }
        };
        MenuLine {
            id: format!("call-{at}"),
            text,
            is_enabled: true,
        }
    });
    std::iter::once(count).chain(calls).collect()
}

/// Returns the call that a line of the menu opens; none for any other line.
fn call_of_line(id: &str, listed: &[WaitingCall]) -> Option<WaitingCall> {
    let at: usize = id.strip_prefix("call-")?.parse().ok()?;
    listed.get(at).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting_call(call: &str, title: &str, session_title: &str) -> WaitingCall {
        WaitingCall {
            session: "ses_1".into(),
            call: call.into(),
            title: title.to_owned(),
            session_title: session_title.to_owned(),
        }
    }

    fn texts(attention: &AttentionChange) -> Vec<String> {
        let lines = waiting_lines(attention);
        lines.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn the_menu_counts_what_waits_and_names_the_oldest() {
        assert_eq!(texts(&AttentionChange::default()), ["No call waits"]);
        let one = AttentionChange {
            waiting: 1,
            oldest: vec![waiting_call("c1", "Run", "")],
            landed: Vec::new(),
        };
        assert_eq!(texts(&one), ["1 call waits", "Open Run"]);
        let many = AttentionChange {
            waiting: 12,
            oldest: vec![
                waiting_call("c1", "Run", "Fix\nthe tests"),
                waiting_call("c2", "Edit", &"long ".repeat(20)),
                waiting_call("c3", "a\u{202e}b", "Tidy up"),
            ],
            landed: Vec::new(),
        };
        assert_eq!(
            texts(&many),
            [
                "12 calls wait",
                "Open Run · Fix the tests",
                "Open Edit · long long long long long long long long …",
                "Open aU+202Eb · Tidy up",
            ]
        );
    }

    /// No line of the menu decides anything: each opens the window, or does nothing.
    #[test]
    fn a_line_opens_its_own_call_and_nothing_else() {
        let listed = [
            waiting_call("c1", "Run", "A"),
            waiting_call("c2", "Edit", "B"),
        ];
        let attention = AttentionChange {
            waiting: 2,
            oldest: listed.to_vec(),
            landed: Vec::new(),
        };
        let lines = waiting_lines(&attention);
        let opened: Vec<_> = lines
            .iter()
            .map(|line| call_of_line(&line.id, &listed).map(|call| call.call.0))
            .collect();
        assert_eq!(opened, [None, Some("c1".to_owned()), Some("c2".to_owned())]);
        assert_eq!(
            lines.iter().map(|line| line.is_enabled).collect::<Vec<_>>(),
            [false, true, true]
        );
        for other in ["open", "quit", "call-2", "call-", "call--1", "allow-0"] {
            assert_eq!(call_of_line(other, &listed), None, "{other}");
        }
        assert!(lines.iter().all(|line| !line.text.contains("Allow")));
    }
}

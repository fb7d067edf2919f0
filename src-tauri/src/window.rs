//! Restricts the navigation of the window to the app's own pages.

use tauri::webview::NewWindowResponse;
use tauri::{App, Url, WebviewWindow, WebviewWindowBuilder};

/// Label of the only window, as in the configuration.
pub(crate) const MAIN_WINDOW_LABEL: &str = "main";

/// Builds the window from the configuration. The window loads only the app's own pages, and opens no further window.
///
/// # Errors
/// The configuration has no such window, or the window cannot be built.
pub(crate) fn build_window(app: &App) -> tauri::Result<WebviewWindow> {
    let windows = &app.config().app.windows;
    let config = windows
        .iter()
        .find(|window| window.label == MAIN_WINDOW_LABEL);
    let config = config.ok_or(tauri::Error::WindowNotFound)?;
    let served = app.config().build.dev_url.clone();
    WebviewWindowBuilder::from_config(app, config)?
        .on_navigation(move |url| {
            let is_own = is_app_url(url, served.as_ref());
            if !is_own {
                tracing::warn!(%url, "the page may not go there");
            }
            is_own
        })
        .on_new_window(|url, _| {
            tracing::warn!(%url, "the page may open no window");
            NewWindowResponse::Deny
        })
        .build()
}

/// Whether a URL belongs to the app's own pages: those built into the app, or those that are served during development.
fn is_app_url(url: &Url, served: Option<&Url>) -> bool {
    let inside = match url.scheme() {
        "tauri" => url.host_str() == Some("localhost"),
        // Where the system knows no schemes of an app's own.
        "http" | "https" => {
            cfg!(any(windows, target_os = "android")) && url.host_str() == Some("tauri.localhost")
        }
        _ => false,
    };
    inside || served.is_some_and(|served| served.origin() == url.origin())
}

#[cfg(test)]
mod tests {
    use super::is_app_url;
    use tauri::Url;

    #[test]
    fn only_the_apps_own_pages_are_loaded() {
        let served: Url = "http://127.0.0.1:5173".parse().unwrap();
        let own = |address: &str, served| is_app_url(&address.parse().unwrap(), served);
        assert!(own("tauri://localhost", None));
        assert!(own("tauri://localhost/index.html?x=1#y", None));
        assert!(own("http://127.0.0.1:5173/src/main.ts", Some(&served)));
        for address in [
            "about:blank",
            "data:text/html,x",
            "blob:tauri://localhost/1",
            "file:///etc/passwd",
            "https://example.org",
            "http://127.0.0.1:5173",
            "http://localhost",
            "tauri://example.org",
            "javascript:alert(1)",
        ] {
            assert!(!own(address, None), "{address}");
        }
        assert!(!own("http://127.0.0.1:5174", Some(&served)));
    }
}

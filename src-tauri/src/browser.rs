//! Opens a web URL in the person's browser, and nothing else: no file, no program, no other kind of URL.

use protocol::UserError;
use tauri::{AppHandle, Url};
use tauri_plugin_opener::OpenerExt;

/// Maximum length of a URL, in bytes. Browsers accept about as much.
const ADDRESS_BYTES_MAX: usize = 32 * 1024;

/// Opens a URL. The page requests that only once the person saw the host and agreed.
///
/// # Errors
/// The address is no web URL, or there is no browser.
pub(crate) fn open_in_browser(app: &AppHandle, address: &str) -> Result<(), UserError> {
    let address = parse_web_address(address)?;
    let opened = app.opener().open_url(address, None::<&str>);
    opened.map_err(|error| {
        UserError::new(
            "The browser could not be opened.",
            "Copy the address, and open it by hand.",
        )
        .with_source(&error)
    })
}

/// Parses an address that leads to the web and hides nothing: `http` or `https`, a host, and no user name before the
/// host, where a false host could be written.
fn parse_web_address(address: &str) -> Result<Url, UserError> {
    let refused = |why: &str| UserError::new(why, "Nothing was opened.");
    if address.len() > ADDRESS_BYTES_MAX {
        return Err(refused("The address is too long."));
    }
    if address.chars().any(|c| c.is_control() || c == '\\') {
        return Err(refused("The address holds what no address holds."));
    }
    let parsed = Url::parse(address)
        .map_err(|error| refused("This is not an address.").with_source(&error))?;
    if !matches!(parsed.scheme(), "http" | "https") || parsed.host().is_none() {
        return Err(refused(
            "Only addresses of the web are opened: http and https.",
        ));
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err(refused(
            "The address names somebody before its host, which may hide where it leads.",
        ));
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::parse_web_address;

    #[test]
    fn only_plain_addresses_of_the_web_are_opened() {
        let opened = |address: &str| parse_web_address(address).map(|parsed| parsed.to_string());
        for (address, as_opened) in [
            (
                "https://auth.example/authorize?state=f3",
                "https://auth.example/authorize?state=f3",
            ),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/"),
            ("HTTPS://Example.ORG", "https://example.org/"),
            (
                "https://b\u{fc}cher.example/",
                "https://xn--bcher-kva.example/",
            ),
        ] {
            assert_eq!(opened(address).unwrap(), as_opened);
        }
        let long = format!("https://example.org/{}", "a".repeat(40_000));
        for address in [
            "",
            "example.org",
            "/etc/passwd",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "data:text/html,x",
            "mailto:mira@example.org",
            "ssh://example.org",
            "x-apple.systempreferences:",
            "https://",
            "https://bank.example@evil.example/",
            "https://bank.example:443@evil.example/",
            "https://evil.example\\@bank.example/",
            "https://example.org/\nX",
            "https://example.org/\u{0}",
            &long,
        ] {
            assert!(opened(address).is_err(), "{address}");
        }
    }
}

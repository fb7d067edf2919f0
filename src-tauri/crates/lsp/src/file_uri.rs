//! Converts between files and their URIs.

use std::path::{Path, PathBuf};

use url::Url;

/// Returns the URI of a file; `None` for a path that is not absolute.
pub(crate) fn path_to_uri(file: &Path) -> Option<String> {
    Url::from_file_path(file).ok().map(String::from)
}

/// Returns the file of a URI; `None` if it is not a file on this machine.
pub(crate) fn uri_to_path(address: &str) -> Option<PathBuf> {
    let url = Url::parse(address).ok()?;
    (url.scheme() == "file").then(|| url.to_file_path().ok())?
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_an_address() {
        for (path, address) in [
            ("/a/b.rs", "file:///a/b.rs"),
            ("/a b/\u{e9}#?.rs", "file:///a%20b/%C3%A9%23%3F.rs"),
        ] {
            assert_eq!(path_to_uri(Path::new(path)).as_deref(), Some(address));
            assert_eq!(uri_to_path(address), Some(PathBuf::from(path)));
        }
        assert_eq!(path_to_uri(Path::new("a.rs")), None);
        for none in [
            "jdt://contents/a.class",
            "untitled:1",
            "a.rs",
            "file://elsewhere/a.rs",
        ] {
            assert_eq!(uri_to_path(none), None, "{none}");
        }
    }
}

//! The address of a remote repository: a rule about a remote names it, and nothing of it is left open.

use super::host::resolve_host;

/// The address of a repository that git reaches over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteAddress {
    text: String,
    host: String,
}

impl RemoteAddress {
    /// Parses an address; it is compared as it is written.
    ///
    /// # Errors
    /// Why it is none that a rule can name, without a full stop.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = |why: &str| {
            Err(format!(
                "`{text}` is no address that a rule can name: {why}"
            ))
        };
        let rest = text.strip_prefix("https://");
        let Some(rest) = rest.or_else(|| text.strip_prefix("http://")) else {
            return bad("it begins with neither `https://` nor `http://`");
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/@%+,=".contains(c);
        if !rest.chars().all(is_plain) {
            return bad("a sign in it could mean something else");
        }
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        if authority.contains('@') {
            return bad("it holds the name of a user, which may be a secret");
        }
        if authority.is_empty() || path.is_empty() {
            return bad("it does not name a host and a repository");
        }
        let host = resolve_host(text);
        match host.unresolved {
            Some(why) => bad(why.trim_end_matches('.')),
            None => Ok(Self {
                text: text.to_owned(),
                host: host.real,
            }),
        }
    }

    /// The address as it is written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The host, in the form in which it is looked up.
    pub fn host(&self) -> &str {
        &self.host
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_address_is_one() {
        for (text, expected) in [
            ("https://git.example/app.git", Some("git.example")),
            ("https://git.example:8443/a/b", Some("git.example:8443")),
            ("http://127.0.0.1:80/repo.git", Some("127.0.0.1")),
            ("https://git.example", None),
            ("https://git.example/", None),
            ("https://git.example/*", None),
            ("https://git.example/a?b", None),
            ("https://git.example/a b", None),
            ("https://user@git.example/app.git", None),
            ("https://user:secret@git.example/app.git", None),
            ("https:///app.git", None),
            ("ssh://git.example/app.git", None),
            ("git@git.example:app.git", None),
            ("ext::https://git.example/app.git", None),
            ("/srv/app.git", None),
            ("*", None),
        ] {
            let parsed = RemoteAddress::parse(text).ok();
            assert_eq!(parsed.as_ref().map(RemoteAddress::host), expected, "{text}");
        }
    }
}

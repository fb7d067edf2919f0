//! Addresses: where a provider is reached, and how that is shown without credentials.

use reqwest::Url;

/// Where Ollama listens unless somebody says otherwise.
const OLLAMA_PORT: u16 = 11434;

/// A base URL that ends in `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    url: Url,
}

impl Endpoint {
    /// Reads a base URL; the error says what is wrong with it, without quoting credentials.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.contains(char::REPLACEMENT_CHARACTER) {
            return Err("its base URL holds something that is not text".to_owned());
        }
        let mut url = Url::parse(text.trim())
            .map_err(|error| format!("its base URL cannot be read: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!(
                "its base URL begins with \u{201c}{}:\u{201d}, not with http: or https:",
                url.scheme()
            ));
        }
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            return Err(
                "its base URL holds a user, a password or a query; keys belong in the environment or the keychain"
                    .to_owned(),
            );
        }
        url.set_fragment(None);
        if !url.path().ends_with('/') {
            let path = format!("{}/", url.path());
            url.set_path(&path);
        }
        Ok(Self { url })
    }

    /// Returns the endpoint with a path appended, which ends in `/` or is empty.
    pub(crate) fn with_path(mut self, path: &str) -> Self {
        let whole = format!("{}{path}", self.url.path());
        self.url.set_path(&whole);
        self
    }

    /// Parses the value of `OLLAMA_HOST`: a host, a port, both, or a URL.
    pub(crate) fn parse_ollama_host(host: &str) -> Result<Self, String> {
        let host = host.trim();
        let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let authority = match authority {
            "" => "127.0.0.1".to_owned(),
            port if port.starts_with(':') => format!("127.0.0.1{port}"),
            // A server told to listen everywhere is reached here.
            all if all == "0.0.0.0" || all.starts_with("0.0.0.0:") => {
                all.replacen("0.0.0.0", "127.0.0.1", 1)
            }
            other => other.to_owned(),
        };
        let mut endpoint = Self::parse(&format!("{scheme}://{authority}/{path}"))?;
        let has_port = authority
            .rsplit_once(':')
            .is_some_and(|(_, port)| !port.is_empty() && port.chars().all(|c| c.is_ascii_digit()));
        if !has_port && !host.contains("://") {
            // Cannot fail: an http URL always has a host.
            let _ = endpoint.url.set_port(Some(OLLAMA_PORT));
        }
        Ok(endpoint)
    }

    /// The base URL; it holds no credentials.
    pub(crate) fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// The URL of a path below the base.
    pub(crate) fn join(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    /// Whether the endpoint is on this machine, by name or address.
    pub(crate) fn is_loopback(&self) -> bool {
        match self.url.host_str() {
            Some("localhost" | "[::1]") => true,
            Some(host) => host
                .parse::<std::net::Ipv4Addr>()
                .is_ok_and(|address| address.is_loopback()),
            None => false,
        }
    }

    /// Whether the endpoint is reached through TLS.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Whether a key would travel unencrypted beyond this machine.
    pub(crate) fn is_exposed(&self) -> bool {
        !self.is_encrypted() && !self.is_loopback()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_are_read() {
        for (text, url, loopback, exposed) in [
            (
                "https://api.anthropic.com/v1/",
                "https://api.anthropic.com/v1/",
                false,
                false,
            ),
            (
                " http://127.0.0.1:1234/v1 ",
                "http://127.0.0.1:1234/v1/",
                true,
                false,
            ),
            ("http://[::1]:8080", "http://[::1]:8080/", true, false),
            (
                "http://192.168.1.5:1234/v1",
                "http://192.168.1.5:1234/v1/",
                false,
                true,
            ),
            (
                "http://localhost.evil.example",
                "http://localhost.evil.example/",
                false,
                true,
            ),
        ] {
            let endpoint = Endpoint::parse(text).unwrap();
            assert_eq!(
                (
                    endpoint.as_str(),
                    endpoint.is_loopback(),
                    endpoint.is_exposed()
                ),
                (url, loopback, exposed)
            );
        }
        for (text, named) in [
            ("", "relative URL without a base"),
            ("127.0.0.1:1234", "relative URL without a base"),
            ("ftp://host/", "ftp:"),
            ("https://me:pa55@host/v1", "password"),
            ("https://host/v1?key=abc", "query"),
            ("https://host/\u{fffd}", "not text"),
        ] {
            let problem = Endpoint::parse(text).unwrap_err();
            assert!(problem.contains(named), "{text} gave: {problem}");
            assert!(
                !problem.contains("pa55") && !problem.contains("abc"),
                "{problem}"
            );
        }
    }

    #[test]
    fn ollama_is_where_its_variable_says() {
        for (host, url) in [
            ("", "http://127.0.0.1:11434/"),
            ("0.0.0.0", "http://127.0.0.1:11434/"),
            ("0.0.0.0:99", "http://127.0.0.1:99/"),
            (":4711", "http://127.0.0.1:4711/"),
            ("box.local", "http://box.local:11434/"),
            ("box.local:8080", "http://box.local:8080/"),
            ("http://box.local", "http://box.local/"),
            ("https://box.local/ollama", "https://box.local/ollama/"),
        ] {
            assert_eq!(
                Endpoint::parse_ollama_host(host).unwrap().as_str(),
                url,
                "{host:?}"
            );
        }
        assert!(Endpoint::parse_ollama_host("a b").is_err());
    }
}

//! Hosts: which one an address leads to, which ones stay closed, and patterns of them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use globset::{GlobBuilder, GlobMatcher};
use url::{Host, Url};

/// Where an address leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFact {
    /// The host in lower case as it is looked up, with its port where that is not the usual one: `docs.rs`,
    /// `localhost:8080`.
    pub real: String,
    /// Reason why the host cannot be resolved, if it cannot.
    pub unresolved: Option<String>,
}

/// The host of an address, or of a host's name alone.
pub fn resolve_host(target: &str) -> HostFact {
    let unresolved = |why: String| HostFact {
        real: target.to_owned(),
        unresolved: Some(why),
    };
    let trimmed = target.trim();
    let whole = match trimmed.contains("://") || trimmed.starts_with("data:") {
        true => trimmed.to_owned(),
        false => format!("https://{trimmed}"),
    };
    let url = match Url::parse(&whole) {
        Ok(url) => url,
        Err(error) => return unresolved(format!("it is not an address: {error}.")),
    };
    if !matches!(
        url.scheme(),
        "http" | "https" | "ws" | "wss" | "ftp" | "ssh" | "git"
    ) {
        return unresolved(format!("`{}` addresses are not for the web.", url.scheme()));
    }
    // Other schemes keep the host as it was written.
    let host = match url.host_str().map(Host::parse) {
        Some(Ok(Host::Domain(name))) => name.trim_end_matches('.').to_lowercase(),
        Some(Ok(Host::Ipv4(address))) => address.to_string(),
        Some(Ok(Host::Ipv6(address))) => format!("[{address}]"),
        Some(Err(_)) | None => return unresolved("it names no host.".to_owned()),
    };
    HostFact {
        real: match url.port() {
            Some(port) if !matches!(port, 80 | 443) => format!("{host}:{port}"),
            Some(_) | None => host,
        },
        unresolved: None,
    }
}

/// Where a host lies as seen from this machine, as far as its name tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostLocality {
    /// Somewhere in the world.
    Public,
    /// This machine or its network.
    Private,
    /// This very cable: where clouds keep their secrets.
    LinkLocal,
}

/// Returns the locality of a host as [`resolve_host`] gives it.
pub fn host_locality(real: &str) -> HostLocality {
    let bare = bare_host(real);
    if let Ok(address) = bare.parse::<IpAddr>() {
        return address_locality(address);
    }
    if is_named(real, "metadata.google.internal") || bare == "metadata" {
        return HostLocality::LinkLocal;
    }
    let local = [
        "localhost",
        "local",
        "internal",
        "lan",
        "home.arpa",
        "localdomain",
    ];
    match local.iter().any(|name| is_named(real, name)) || !bare.contains('.') {
        true => HostLocality::Private,
        false => HostLocality::Public,
    }
}

/// Whether a host as [`resolve_host`] gives it is the loopback of whoever looks it up.
pub fn is_loopback(real: &str) -> bool {
    let bare = bare_host(real);
    let address = bare.parse::<IpAddr>();
    bare == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Whether a host as [`resolve_host`] gives it has this name or one below it, at any port. An IPv6 address is named without
/// brackets.
pub fn is_named(real: &str, name: &str) -> bool {
    let before = bare_host(real).strip_suffix(name);
    before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

/// Returns the locality of an address.
pub fn address_locality(address: IpAddr) -> HostLocality {
    match address {
        IpAddr::V4(four) => ipv4_locality(four),
        IpAddr::V6(six) => match embedded_ipv4(six) {
            Some(four) => ipv4_locality(four),
            None if six.is_unicast_link_local() => HostLocality::LinkLocal,
            // The metadata service of a large cloud, in its own unique local range.
            None if six == Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254) => {
                HostLocality::LinkLocal
            }
            None if six.is_loopback()
                || six.is_unspecified()
                || six.is_unique_local()
                || six.is_multicast() =>
            {
                HostLocality::Private
            }
            None => HostLocality::Public,
        },
    }
}

/// The IPv4 address that an IPv6 address stands for: mapped, compatible, NAT64 or 6to4.
fn embedded_ipv4(six: Ipv6Addr) -> Option<Ipv4Addr> {
    let four = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    match six.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(four(high, low))
        }
        [0x2002, high, low, ..] => Some(four(high, low)),
        _ => None,
    }
}

fn ipv4_locality(address: Ipv4Addr) -> HostLocality {
    let [a, b, ..] = address.octets();
    let shared = a == 100 && (64..128).contains(&b);
    match () {
        () if address.is_link_local() => HostLocality::LinkLocal,
        () if shared && address == Ipv4Addr::new(100, 100, 100, 200) => HostLocality::LinkLocal,
        () if address.is_loopback()
            || address.is_private()
            || address.is_broadcast()
            || address.is_multicast()
            || a == 0
            || a >= 240
            || shared =>
        {
            HostLocality::Private
        }
        () => HostLocality::Public,
    }
}

/// A pattern of hosts, ready to match.
#[derive(Debug, Clone)]
pub struct HostPattern {
    host: String,
    port: Option<String>,
    glob: GlobMatcher,
    /// Whether the pattern is an address with a path, which no rule can enforce.
    has_path: bool,
}

impl HostPattern {
    /// Reads a pattern: `docs.rs`, `*.example.com`, `localhost:3000`; an address stands for its host.
    pub fn new(pattern: &str) -> Result<Self, String> {
        let lower = pattern.trim().to_lowercase();
        let rest = lower
            .split_once("://")
            .map_or(lower.as_str(), |(_, rest)| rest);
        let (site, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (host, port) = split_port(site);
        let host = host.trim_end_matches('.');
        let glob = GlobBuilder::new(host)
            .build()
            .map_err(|error| format!("the pattern `{pattern}` is not a glob: {}", error.kind()))?
            .compile_matcher();
        Ok(Self {
            host: host.to_owned(),
            port: port.map(str::to_owned),
            glob,
            has_path: !matches!(path, "" | "*" | "**"),
        })
    }

    /// Whether an allow with this pattern matches: exactly this host, at its usual port unless the pattern names
    /// another.
    pub fn allows(&self, real: &str) -> bool {
        let (host, port) = split_port(real);
        let port_fits = match (&self.port, port) {
            (Some(mine), theirs) => mine == "*" || Some(mine.as_str()) == theirs,
            (None, theirs) => theirs.is_none(),
        };
        !self.has_path && port_fits && self.glob.is_match(host)
    }

    /// Whether a deny with this pattern matches: this host and all below it, at any port unless the pattern names one.
    pub fn covers(&self, real: &str) -> bool {
        let (host, port) = split_port(real);
        let port_fits = match (&self.port, port) {
            (Some(mine), theirs) => mine == "*" || theirs.is_none_or(|theirs| mine == theirs),
            (None, _) => true,
        };
        let bare = self.host.strip_prefix("*.").unwrap_or(&self.host);
        let is_below = host == bare || host.ends_with(&format!(".{bare}"));
        port_fits && (is_below || self.glob.is_match(host))
    }

    /// Whether the pattern names one host without any wildcard, as is needed to open a private host.
    pub fn names_host(&self, real: &str) -> bool {
        !self.host.contains(['*', '?', '[', '{']) && self.allows(real)
            || self.host.starts_with('[') && self.host == split_port(real).0
    }
}

/// Host and port; the colons of an IPv6 address are no port.
fn split_port(site: &str) -> (&str, Option<&str>) {
    match site.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && (!host.contains(':') || host.ends_with(']')) => {
            (host, Some(port))
        }
        Some(_) | None => (site, None),
    }
}

/// Returns the name or the address of a host, without its port and brackets.
fn bare_host(real: &str) -> &str {
    let (host, _) = split_port(real);
    host.trim_start_matches('[').trim_end_matches(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_to_hosts() {
        for (target, real) in [
            ("https://docs.rs/serde", "docs.rs"),
            ("https://DOCS.rs./", "docs.rs"),
            ("https://docs.rs@evil.example/", "evil.example"),
            ("https://docs.rs\\@evil.example/", "docs.rs"),
            ("http://2130706433/", "127.0.0.1"),
            ("http://0x7f.1/", "127.0.0.1"),
            ("http://[::1]:8080/", "[::1]:8080"),
            ("http://example.com:443", "example.com"),
            ("example.com/x", "example.com"),
            ("https://ех.com/", "xn--e1a6a.com"),
            ("ssh://git@example.com/x", "example.com"),
        ] {
            assert_eq!(resolve_host(target).real, real, "{target}");
            assert_eq!(resolve_host(target).unresolved, None, "{target}");
        }
        for target in [
            "",
            "file:///etc/passwd",
            "javascript://x",
            "data:text/html,x",
            "https://",
            "http://a b/",
        ] {
            assert!(resolve_host(target).unresolved.is_some(), "{target}");
        }
    }

    #[test]
    fn what_is_near() {
        for (host, near) in [
            ("docs.rs", HostLocality::Public),
            ("127.0.0.1", HostLocality::Private),
            ("10.1.2.3:80", HostLocality::Private),
            ("192.168.0.1", HostLocality::Private),
            ("100.64.0.1", HostLocality::Private),
            ("0.0.0.0", HostLocality::Private),
            ("[::1]", HostLocality::Private),
            ("[::ffff:169.254.169.254]", HostLocality::LinkLocal),
            ("[64:ff9b::7f00:1]", HostLocality::Private),
            ("169.254.169.254", HostLocality::LinkLocal),
            ("metadata.google.internal", HostLocality::LinkLocal),
            ("[fe80::1]", HostLocality::LinkLocal),
            ("localhost:3000", HostLocality::Private),
            ("printer", HostLocality::Private),
            ("8.8.8.8", HostLocality::Public),
            ("[2606:4700::1111]", HostLocality::Public),
        ] {
            assert_eq!(host_locality(host), near, "{host}");
        }
    }

    #[test]
    fn a_host_has_its_own_name_and_those_above_it() {
        for (host, name, expected) in [
            ("localhost:3000", "localhost", true),
            ("api.localhost", "localhost", true),
            ("notlocalhost", "localhost", false),
            ("127.0.0.1:80", "127.0.0.1", true),
            ("[::1]:3000", "::1", true),
            ("localhost", "127.0.0.1", false),
        ] {
            assert_eq!(is_named(host, name), expected, "{host} {name}");
        }
    }

    #[test]
    fn patterns() {
        for (pattern, host, allows, covers) in [
            ("docs.rs", "docs.rs", true, true),
            ("docs.rs", "docs.rs:8443", false, true),
            ("docs.rs", "a.docs.rs", false, true),
            ("docs.rs", "evildocs.rs", false, false),
            ("docs.rs", "docs.rs.evil.example", false, false),
            ("*.example.com", "a.example.com", true, true),
            ("*.example.com", "a.b.example.com", true, true),
            ("*.example.com", "example.com", false, true),
            ("*.example.com", "badexample.com", false, false),
            ("localhost:3000", "localhost:3000", true, true),
            ("localhost:3000", "localhost:4000", false, false),
            ("https://docs.rs/*", "docs.rs", true, true),
            ("https://docs.rs/serde", "docs.rs", false, true),
            ("DOCS.rs", "docs.rs", true, true),
        ] {
            let read = HostPattern::new(pattern).unwrap();
            assert_eq!(read.allows(host), allows, "{pattern} allows {host}");
            assert_eq!(read.covers(host), covers, "{pattern} covers {host}");
        }
    }
}

//! Network access of one run of a command in its sandbox: the hosts that a person named for the run or that rules
//! allow, restricted to addresses that those hosts may have.

use std::net::IpAddr;
use std::sync::Arc;

use policy::RuleSet;
use policy::egress;
use policy::patterns::host;
use policy::patterns::host::HostLocality;
use protocol::text::display_text::to_single_line;
use protocol::{At, Decision, UserError};
use runtime::{NetworkClient, NetworkPolicy};

use crate::limits::{EGRESS_HOSTS_MAX, HOST_CHARS_MAX};

/// Returns a decision in the form to be recorded: with its hosts resolved to the names that are looked up.
///
/// # Errors
/// A rule denies one of the hosts, in the rule's words, or a name is not a host.
pub(crate) fn check_decision_hosts(
    decision: Decision,
    rules: &RuleSet,
    now: At,
) -> Result<Decision, UserError> {
    Ok(match decision {
        Decision::WithNetwork { hosts } => Decision::WithNetwork {
            hosts: check_hosts(&hosts, rules, now)?,
        },
        Decision::InPlace { hosts } if !hosts.is_empty() => Decision::InPlace {
            hosts: check_hosts(&hosts, rules, now)?,
        },
        Decision::Allow { .. }
        | Decision::Reject { .. }
        | Decision::Answer { .. }
        | Decision::Skip
        | Decision::DryRun
        | Decision::InPlace { .. }
        | Decision::Edit { .. } => decision,
    })
}

/// Returns the hosts that a person names for one run, in the form that is looked up.
///
/// # Errors
/// Returns the reason why one of the hosts stays closed.
pub(crate) fn check_hosts(
    hosts: &[String],
    rules: &RuleSet,
    now: At,
) -> Result<Vec<String>, UserError> {
    const HINT: &str = "Name other hosts, or change the rule.";
    if hosts.is_empty() || hosts.len() > EGRESS_HOSTS_MAX {
        return Err(UserError::new(
            format!("A command is given access to at least 1 host and at most {EGRESS_HOSTS_MAX}."),
            "Name each host that it needs.",
        ));
    }
    let mut named: Vec<String> = Vec::new();
    for host in hosts {
        let real = egress::resolve_named_host(host, rules, now)
            .map_err(|why| UserError::new(why, HINT))?;
        if !named.contains(&real) {
            named.push(real);
        }
    }
    Ok(named)
}

/// Returns a network client with access to these hosts only; without access if there are none.
pub(crate) fn allow_hosts(
    net: &NetworkClient,
    hosts: Vec<String>,
    rules: Arc<RuleSet>,
    now: At,
) -> NetworkClient {
    match hosts.is_empty() {
        true => net.clone(),
        false => net.with_policy(Arc::new(CommandNetworkGuard { hosts, rules, now })),
    }
}

/// Network policy of one run. The rules are those by which the hosts were judged.
struct CommandNetworkGuard {
    hosts: Vec<String>,
    rules: Arc<RuleSet>,
    now: At,
}

impl NetworkPolicy for CommandNetworkGuard {
    fn allows_url(&self, url: &str) -> Result<(), String> {
        let host = host::resolve_host(url);
        if let Some(why) = host.unresolved {
            return Err(why);
        }
        match self.hosts.contains(&host.real) {
            true => Ok(()),
            false => Err(format!(
                "`{}` is not among the hosts that this run may reach ({}).",
                to_single_line(&host.real, HOST_CHARS_MAX),
                self.hosts.join(", ")
            )),
        }
    }

    fn allows_ip(&self, url: &str, ip: IpAddr) -> Result<(), String> {
        let real = host::resolve_host(url).real;
        let is_meant = host::address_locality(ip) == HostLocality::Private && is_private(&real);
        match is_meant || self.rules.opens_host("", &real, self.now) {
            true => Ok(()),
            false => check_public_ip(ip),
        }
    }

    fn allows_loopback(&self, name: &str) -> bool {
        self.hosts.iter().any(|real| host::is_named(real, name))
    }
}

/// Whether a host is private by its name, so that whoever named it meant a private address.
fn is_private(real: &str) -> bool {
    host::host_locality(real) == HostLocality::Private
}

/// Checks that an address is public.
///
/// # Errors
/// Returns a description of the address and its owner.
pub(crate) fn check_public_ip(ip: IpAddr) -> Result<(), String> {
    let whose = match host::address_locality(ip) {
        HostLocality::Public => return Ok(()),
        HostLocality::Private => "this machine or its network",
        HostLocality::LinkLocal => "where machines hand out their own secrets",
    };
    Err(format!(
        "it leads to {ip}, which is {whose} and stays closed unless a rule names that host."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_reaches_its_own_hosts_and_only_where_they_should_lead() {
        let hosts = ["docs.rs", "localhost:8080"].map(str::to_owned).to_vec();
        let door = CommandNetworkGuard {
            hosts,
            rules: Arc::new(RuleSet::builtin()),
            now: 0,
        };
        let far = "93.184.216.34";
        for (url, ip, expected) in [
            ("https://docs.rs/", far, None),
            ("http://docs.rs./", far, None),
            ("http://localhost:8080/", "127.0.0.1", None),
            ("https://docs.rs:8443/", far, Some("not among")),
            ("https://packages.example/", far, Some("not among")),
            ("http://localhost/", "127.0.0.1", Some("not among")),
            // A name of the world that leads into this machine, or to where its secrets are.
            ("https://docs.rs/", "127.0.0.1", Some("this machine")),
            ("https://docs.rs/", "::ffff:10.0.0.1", Some("this machine")),
            ("https://docs.rs/", "169.254.169.254", Some("secrets")),
            ("http://localhost:8080/", "169.254.169.254", Some("secrets")),
        ] {
            let asked = door.allows_url(url);
            let asked = asked.and_then(|()| door.allows_ip(url, ip.parse().unwrap()));
            match expected {
                None => assert_eq!(asked, Ok(()), "{url} {ip}"),
                Some(why) => {
                    let told = asked.unwrap_err();
                    assert!(told.contains(why), "{url} {ip}: {told}");
                }
            }
        }
        assert!(door.allows_loopback("localhost"));
        assert!(!door.allows_loopback("127.0.0.1"));
    }

    #[test]
    fn hosts_are_kept_as_they_are_looked_up_each_once() {
        let rules = RuleSet::builtin();
        let hosts = ["https://Docs.rs/x", "docs.rs", "packages.example:8443"].map(str::to_owned);
        assert_eq!(
            check_hosts(&hosts, &rules, 0).unwrap(),
            ["docs.rs", "packages.example:8443"]
        );
        assert!(check_hosts(&[], &rules, 0).is_err());
        assert!(check_hosts(&vec!["docs.rs".to_owned(); EGRESS_HOSTS_MAX + 1], &rules, 0).is_err());
    }
}

//! The remotes of a workspace's repository that the commands of a call use.

use policy::CallFacts;
use policy::patterns::RemoteAddress;
use policy::shell::{RemoteCommand, parse_remote_command};
use protocol::rule::evidence::{RemoteUse, RemoteUseKind};
use protocol::{Capability, ResolvedAccess};
use runtime::Workspace;
use runtime::git::{find_fetch_remote, find_push_remote};

/// Adds the remotes that the commands of a call use and their hosts, if the commands do nothing else: whatever else runs
/// in the same sandbox would reach the hosts as well, or could change what a remote is.
pub(super) fn add_remote_uses(facts: &mut CallFacts, workspace: &Workspace) {
    for remote in find_remote_uses(facts, workspace).unwrap_or_default() {
        let Ok(address) = RemoteAddress::parse(&remote.address) else {
            continue;
        };
        let host = ResolvedAccess {
            derived: true,
            ..ResolvedAccess::new_inside(Capability::NetFetch, address.host())
        };
        if !facts.all().contains(&host) {
            facts.add(host);
        }
        facts.add_remote(remote);
    }
}

/// Finds the remotes; none if a command does anything else, or is not certain.
fn find_remote_uses(facts: &CallFacts, workspace: &Workspace) -> Option<Vec<RemoteUse>> {
    let mut uses = Vec::new();
    for (_, read) in facts.commands() {
        for words in read.plain()? {
            uses.push(find_remote_use(words, workspace)?);
        }
    }
    Some(uses)
}

fn find_remote_use(words: &[String], workspace: &Workspace) -> Option<RemoteUse> {
    let RemoteCommand {
        kind,
        remote,
        refspecs,
    } = parse_remote_command(words)?;
    let found = match kind {
        RemoteUseKind::Fetch => find_fetch_remote(workspace, remote),
        RemoteUseKind::PushNewBranch => find_push_remote(workspace, remote?, &refspecs),
    }?;
    RemoteAddress::parse(&found.address).ok()?;
    Some(RemoteUse {
        kind,
        words: words.to_vec(),
        remote: found.name,
        address: found.address,
    })
}

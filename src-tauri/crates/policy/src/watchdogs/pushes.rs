//! Commands that send commits to another repository, and the known secrets in them.

use std::collections::BTreeSet;

use super::command::WatchedCommand;
use super::outgoing_secrets::KnownSecret;
use crate::facts::CallFacts;

/// A command that sends commits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Push {
    /// Remote or address that the command names; none if it names none.
    pub target: Option<String>,
    /// What the command names behind it: branches and tags, as `here:there`.
    pub refs: Vec<String>,
}

/// Finds the commands of a call that send commits, each once.
pub fn find_pushes(facts: &CallFacts) -> BTreeSet<Push> {
    let scripts = WatchedCommand::from_facts(facts);
    let commands = scripts
        .iter()
        .flat_map(|script| script.commands_running("git"));
    commands.filter_map(parse_push).collect()
}

fn parse_push(words: &[String]) -> Option<Push> {
    let is_push = |word: &String| matches!(word.as_str(), "push" | "send-pack");
    let at = words.iter().position(is_push)?;
    let is_stash = words[..at].last().is_some_and(|word| word == "stash");
    let mut operands = words[at + 1..].iter().filter(|word| !word.starts_with('-'));
    (!is_stash).then(|| Push {
        target: operands.next().cloned(),
        refs: operands.cloned().collect(),
    })
}

/// Finds the known secrets that stand whole in a file, in any form.
pub fn find_known_secrets<'a>(content: &[u8], known: &'a [KnownSecret]) -> Vec<&'a KnownSecret> {
    let letters = content.iter().filter(|byte| byte.is_ascii_alphanumeric());
    let letters: String = letters
        .map(|byte| char::from(byte.to_ascii_lowercase()))
        .collect();
    let is_in = |secret: &&KnownSecret| {
        let forms = secret.forms();
        forms.iter().any(|form| letters.contains(&form.letters))
    };
    known.iter().filter(is_in).collect()
}

#[cfg(test)]
mod tests {
    use protocol::{Capability, ResolvedAccess};

    use super::*;

    #[test]
    fn a_push_is_found_with_the_remote_that_it_names() {
        for (command, expected) in [
            ("git push", Some(None)),
            (
                "git -C sub --no-pager push -u fork main",
                Some(Some("fork")),
            ),
            ("make && git push --force", Some(None)),
            ("git stash push", None),
            ("echo git push", None),
        ] {
            let fact = ResolvedAccess::new_inside(Capability::ShellRun, command);
            let pushes = find_pushes(&CallFacts::from_iter([fact]));
            let targets = pushes.iter().map(|push| push.target.as_deref());
            let targets: Vec<Option<&str>> = targets.collect();
            assert_eq!(
                targets,
                expected.into_iter().collect::<Vec<_>>(),
                "{command}"
            );
        }
    }

    #[test]
    fn a_push_is_found_with_the_branches_that_it_names() {
        let command = "git push -u origin HEAD:refs/heads/fix v1 --force";
        let fact = ResolvedAccess::new_inside(Capability::ShellRun, command);
        let pushes = find_pushes(&CallFacts::from_iter([fact]));
        let refs: Vec<&String> = pushes.iter().flat_map(|push| &push.refs).collect();
        assert_eq!(refs, ["HEAD:refs/heads/fix", "v1"]);
    }
}

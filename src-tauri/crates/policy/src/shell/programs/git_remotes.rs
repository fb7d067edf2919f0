//! The commands of git that reach a remote and do no more than fetch, or push branches without force.

use protocol::rule::evidence::RemoteUseKind;

use crate::shell::list_has_word;

/// A command of git that reaches a remote, by its words alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteCommand<'a> {
    /// Kind of the use.
    pub kind: RemoteUseKind,
    /// The remote that the command names; none where git chooses one.
    pub remote: Option<&'a str>,
    /// What the command names of the remote: `NAME`, and in a push `SOURCE:NAME` as well.
    pub refspecs: Vec<&'a str>,
}

/// Options that change what is printed, or which branch is followed, and nothing else.
const FETCH_OPTIONS: &str = "-q --quiet -v --verbose --progress --no-progress --no-tags";
const PUSH_OPTIONS: &str =
    "-q --quiet -v --verbose --progress --no-progress --porcelain -u --set-upstream";

/// Parses a command of git that reaches a remote; none for any other command, and for one with a word that is not known.
pub fn parse_remote_command(words: &[String]) -> Option<RemoteCommand<'_>> {
    let [git, command, rest @ ..] = words else {
        return None;
    };
    let (kind, options) = match (git.as_str(), command.as_str()) {
        ("git", "fetch") => (RemoteUseKind::Fetch, FETCH_OPTIONS),
        ("git", "push") => (RemoteUseKind::PushNewBranch, PUSH_OPTIONS),
        _ => return None,
    };
    let operands = rest.iter().map(String::as_str);
    let mut operands = operands.filter(|word| !list_has_word(options, word));
    let remote = operands.next();
    let refspecs: Vec<&str> = operands.collect();
    let is_known = match kind {
        RemoteUseKind::Fetch => refspecs.iter().all(|name| is_plain_name(name)),
        // Which branches git pushes by itself is left to its settings.
        RemoteUseKind::PushNewBranch => {
            !refspecs.is_empty() && refspecs.iter().all(|spec| is_plain_refspec(spec))
        }
    };
    let has_remote = remote.is_none_or(|name| is_plain_name(name) && !name.contains('/'));
    (is_known && has_remote).then_some(RemoteCommand {
        kind,
        remote,
        refspecs,
    })
}

fn is_plain_refspec(spec: &str) -> bool {
    match spec.split_once(':') {
        Some((source, target)) => is_plain_name(source) && is_plain_name(target),
        None => is_plain_name(spec),
    }
}

/// Whether a word is a name, and no option, wildcard, force or path.
fn is_plain_name(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._/".contains(c);
    // `tag NAME` means a tag.
    word != "tag"
        && word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word.chars().all(is_plain)
        && !word.contains("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(command: &str) -> Option<(&'static str, Option<String>, Vec<String>)> {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let read = parse_remote_command(&words)?;
        let refspecs = read.refspecs.iter().map(|spec| (*spec).to_owned());
        Some((
            read.kind.permission(),
            read.remote.map(str::to_owned),
            refspecs.collect(),
        ))
    }

    #[test]
    fn fetches_and_pushes_of_branches_are_understood() {
        for (command, kind, remote, refspecs) in [
            ("git fetch", "git.fetch", None, ""),
            ("git fetch origin", "git.fetch", Some("origin"), ""),
            (
                "git fetch -q origin main",
                "git.fetch",
                Some("origin"),
                "main",
            ),
            ("git push origin new", "git.push", Some("origin"), "new"),
            (
                "git push -u origin HEAD",
                "git.push",
                Some("origin"),
                "HEAD",
            ),
            (
                "git push origin HEAD:a/b c",
                "git.push",
                Some("origin"),
                "HEAD:a/b c",
            ),
        ] {
            let refspecs = refspecs.split_whitespace().map(str::to_owned).collect();
            let expected = Some((kind, remote.map(str::to_owned), refspecs));
            assert_eq!(parse(command), expected, "{command}");
        }
    }

    #[test]
    fn whatever_else_a_command_says_it_is_none_of_these() {
        for command in [
            "git push",
            "git push origin",
            "git push --force origin new",
            "git push -f origin new",
            "git push origin +new",
            "git push origin +HEAD:new",
            "git push --force-with-lease origin new",
            "git push --mirror origin",
            "git push --prune origin new",
            "git push --all origin",
            "git push --tags origin new",
            "git push --follow-tags origin new",
            "git push origin tag v1",
            "git push origin :new",
            "git push -d origin new",
            "git push --delete origin new",
            "git push origin refs/heads/*",
            "git push --receive-pack=x origin new",
            "git push --exec x origin new",
            "git push -o x origin new",
            "git push --push-option=x origin new",
            "git push --no-verify origin new",
            "git push --repo=fork origin new",
            "git push --recurse-submodules=on-demand origin new",
            "git push -uf origin new",
            "git push --quie origin new",
            "git push https://git.example/a.git new",
            "git push ../other new",
            "git push origin a:b:c",
            "git fetch --prune origin",
            "git fetch --all",
            "git fetch --force origin",
            "git fetch origin main:main",
            "git fetch origin +main",
            "git fetch --upload-pack=x origin",
            "git fetch --upload-pack x origin",
            "git fetch --multiple origin fork",
            "git fetch -c a=b origin",
            "git fetch https://git.example/a.git",
            "git fetch ./other",
            "git fetch origin ext::x",
            "git -c remote.origin.url=x fetch origin",
            "git --config-env=a=B fetch origin",
            "git -C other fetch origin",
            "git pull origin",
            "git remote update",
            "/usr/bin/git fetch origin",
            "git",
        ] {
            assert_eq!(parse(command), None, "{command}");
        }
    }
}

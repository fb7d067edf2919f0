//! The remotes of a workspace's own repository, as git would reach them: which address a command that names a remote
//! leads to, where all that could change that is known.
//!
//! Whatever is not known makes it no known remote: a setting of the repository that is not in a short list, a hook, a
//! submodule, another name for the address in the person's settings.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use gix_hash::Kind;
use gix_index::entry::Mode;

use crate::Workspace;
use crate::fs::repository_folders::read_line_file;
use crate::git::personal_settings::{find_personal_files, read_personal_settings};
use crate::git::refs::{Refs, SETTINGS_BYTES_MAX};
use crate::git::settings::{Setting, Settings};

/// A remote of a repository, and the address that git reaches it at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownRemote {
    /// Name of the remote.
    pub name: String,
    /// Address of the remote.
    pub address: String,
}

/// Sections of a repository's settings that say nothing about remotes.
const UNRELATED_SECTIONS: &[&str] = &["branch", "color", "init", "merge", "pull", "rebase", "user"];

/// Settings of a repository that change neither where git goes nor what it runs on the way, but for what is read here.
const KNOWN_KEYS: &[(&str, &[&str])] = &[
    ("remote", &["url", "pushurl", "fetch", "gh-resolved"]),
    ("push", &["default", "autosetupremote"]),
    (
        "core",
        &[
            "autocrlf",
            "bare",
            "eol",
            "filemode",
            "ignorecase",
            "logallrefupdates",
            "precomposeunicode",
            "quotepath",
            "repositoryformatversion",
            "symlinks",
        ],
    ),
];

/// What `push.default` may be, so that a branch that is named is pushed to its own name.
const PLAIN_PUSH_DEFAULTS: &[&str] = &["simple", "current", "nothing", "matching"];

/// Parts of `.git` with which git does more than its settings say.
const UNKNOWN_PARTS: &[&str] = &[
    "commondir",
    "config.worktree",
    "modules",
    "hooks/pre-auto-gc",
    "hooks/pre-push",
    "hooks/reference-transaction",
];

/// Finds the remote that `git fetch` in the root of a workspace reaches, by its name or, without one, as git chooses.
pub fn find_fetch_remote(workspace: &Workspace, named: Option<&str>) -> Option<KnownRemote> {
    Remotes::open_in(workspace)?.find_fetch(named)
}

/// Finds the remote that `git push` in the root of a workspace reaches, if each of the branches that it pushes,
/// `SOURCE:NAME` or `NAME`, is one of the repository, and the remote is known and not known to have it.
pub fn find_push_remote(
    workspace: &Workspace,
    named: &str,
    refspecs: &[&str],
) -> Option<KnownRemote> {
    Remotes::open_in(workspace)?.find_push(named, refspecs)
}

/// A repository with everything that says where its remotes are.
struct Remotes {
    git_dir: PathBuf,
    own: Settings,
    personal: Settings,
}

impl Remotes {
    /// Reads the repository of a workspace with the settings that hold for its commands.
    fn open_in(workspace: &Workspace) -> Option<Self> {
        let personal = find_personal_files(|name| workspace.inherited_env().variable(name))?;
        Self::open(workspace.root(), &personal)
    }

    /// Reads a repository; none if anything about it is not known.
    fn open(root: &Path, personal: &[PathBuf]) -> Option<Self> {
        let git_dir = root.join(".git");
        let is_real = |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
        let mut unknown = UNKNOWN_PARTS.iter().map(|part| git_dir.join(part));
        let has_unknown = unknown.any(|path| exists(&path)) || exists(&root.join(".gitmodules"));
        if !is_real(&git_dir) || has_unknown || may_have_submodules(&git_dir) {
            return None;
        }
        let file = git_dir.join("config");
        let is_short = fs::symlink_metadata(&file)
            .is_ok_and(|meta| meta.is_file() && meta.len() <= SETTINGS_BYTES_MAX);
        let text = is_short.then(|| fs::read(&file).ok()).flatten()?;
        // Two readers could take a backslash for different things.
        let own = Settings::parse(&text).filter(|_| !text.contains(&b'\\'))?;
        let personal = read_personal_settings(personal, &git_dir)?;
        let remotes = Self {
            git_dir,
            own,
            personal,
        };
        let is_known = remotes.own.0.iter().all(is_known_setting);
        (is_known && remotes.find(None, "core", "hookspath").is_empty()).then_some(remotes)
    }

    fn find_fetch(&self, named: Option<&str>) -> Option<KnownRemote> {
        let name = match named {
            Some(name) => name,
            None => self.default_remote()?,
        };
        let inside = format!("refs/remotes/{name}/");
        let tracks = |value: &&str| {
            let plain = value.trim_start_matches('+').split_once(':');
            plain.is_some_and(|(from, to)| {
                from.starts_with("refs/heads/") && to.starts_with(&inside) && !to.contains("..")
            })
        };
        let refspecs = self.find_own(name, "fetch");
        let are_tracked = !refspecs.is_empty() && refspecs.iter().all(tracks);
        let urls = self.find_own(name, "url");
        are_tracked
            .then(|| self.known_remote(name, &urls))
            .flatten()
    }

    fn find_push(&self, named: &str, refspecs: &[&str]) -> Option<KnownRemote> {
        let defaults = self.find(None, "push", "default");
        let are_plain = defaults
            .iter()
            .all(|value| PLAIN_PUSH_DEFAULTS.contains(value));
        if !are_plain || !self.find(None, "push", "followtags").is_empty() {
            return None;
        }
        let are_new = !refspecs.is_empty()
            && refspecs.iter().all(|refspec| {
                let branch = self.find_pushed_branch(refspec);
                branch.is_some_and(|branch| self.is_new_branch(named, &branch))
            });
        let urls = match self.find_own(named, "pushurl") {
            none if none.is_empty() => self.find_own(named, "url"),
            urls => urls,
        };
        are_new.then(|| self.known_remote(named, &urls)).flatten()
    }

    /// Returns the branch that a remote gets by a refspec; none if that may be anything but a branch, or of anything but a
    /// branch.
    fn find_pushed_branch(&self, refspec: &str) -> Option<String> {
        let (source, target) = match refspec.split_once(':') {
            Some((source, target)) => (source, Some(target)),
            None => (refspec, None),
        };
        let branch = match source {
            "HEAD" => self.current_branch()?,
            name => self.is_certain_branch(name).then(|| name.to_owned())?,
        };
        match target.map(|name| (name.strip_prefix("refs/heads/"), name)) {
            None => Some(branch),
            Some((Some(name), _)) => Some(name.to_owned()),
            // The remote may have another ref that a longer name means.
            Some((None, name)) => (name != "HEAD" && !name.contains('/')).then(|| name.to_owned()),
        }
    }

    /// Whether a name means a branch of the repository and nothing else.
    fn is_certain_branch(&self, name: &str) -> bool {
        let refs = Refs::read(&self.git_dir);
        let has = |name: String| refs.names().any(|one| one == name);
        has(format!("refs/heads/{name}"))
            && !has(format!("refs/tags/{name}"))
            && !exists(&self.git_dir.join(name))
            && !exists(&self.git_dir.join("refs").join(name))
    }

    /// Whether a remote is not known to have a branch. Of a remote that no branch is known of none is known to be new.
    fn is_new_branch(&self, remote: &str, branch: &str) -> bool {
        let refs = Refs::read(&self.git_dir);
        let tracked = format!("refs/remotes/{remote}/");
        let own = [&tracked, branch].concat();
        let head = read_line_file(&self.git_dir.join(&tracked).join("HEAD"));
        let merged = format!("refs/heads/{branch}");
        let is_followed = self.own.0.iter().any(|setting| {
            setting.section == "branch" && setting.key == "merge" && setting.value == merged
        });
        refs.names().any(|name| name.starts_with(&tracked))
            && refs.names().all(|name| name != own)
            && head.is_none_or(|head| head != format!("ref: {own}"))
            && !is_followed
    }

    /// Returns a remote with its only address, if no setting of the person's puts another in its place.
    fn known_remote(&self, name: &str, urls: &[&str]) -> Option<KnownRemote> {
        let [address] = urls else {
            return None;
        };
        let is_changed = self.personal.0.iter().any(|setting| {
            let is_alias = setting.section == "url" && address.starts_with(&setting.value);
            let is_remote =
                setting.section == "remote" && setting.subsection.as_deref() == Some(name);
            is_alias || is_remote || setting.section == "remotes"
        });
        (!is_changed).then(|| KnownRemote {
            name: name.to_owned(),
            address: (*address).to_owned(),
        })
    }

    /// Returns the remote that git takes if a command names none: that of the current branch, or the only one.
    fn default_remote(&self) -> Option<&str> {
        if !self.find(None, "fetch", "all").is_empty() {
            return None;
        }
        let branch = self.current_branch()?;
        let followed = self.find(Some(&branch), "branch", "remote");
        let mut names = self.own.0.iter().filter(|it| it.section == "remote");
        match followed.as_slice() {
            [remote] => Some(remote),
            [] if names.all(|it| it.subsection.as_deref() == Some("origin")) => Some("origin"),
            _ => None,
        }
    }

    fn current_branch(&self) -> Option<String> {
        let head = read_line_file(&self.git_dir.join("HEAD"))?;
        head.strip_prefix("ref: refs/heads/").map(str::to_owned)
    }

    /// Returns the values of a setting of a remote, in the repository's own settings.
    fn find_own(&self, remote: &str, key: &str) -> Vec<&str> {
        let settings = self.own.0.iter().filter(|it| {
            it.section == "remote" && it.subsection.as_deref() == Some(remote) && it.key == key
        });
        settings.map(|it| &*it.value).collect()
    }

    /// Returns the values of a setting, the person's first.
    fn find(&self, subsection: Option<&str>, section: &str, key: &str) -> Vec<&str> {
        let settings = self.personal.0.iter().chain(&self.own.0).filter(|it| {
            it.section == section && it.subsection.as_deref() == subsection && it.key == key
        });
        settings.map(|it| &*it.value).collect()
    }
}

fn is_known_setting(setting: &Setting) -> bool {
    let mut known = KNOWN_KEYS.iter();
    UNRELATED_SECTIONS.contains(&&*setting.section)
        || known.any(|(section, keys)| *section == setting.section && keys.contains(&&*setting.key))
}

/// Whether git may find a submodule, or what it has staged cannot be read.
fn may_have_submodules(git_dir: &Path) -> bool {
    let index = git_dir.join("index");
    if !exists(&index) {
        return false;
    }
    let options = gix_index::decode::Options::default();
    gix_index::File::at(index, Kind::Sha1, true, options).map_or(true, |index| {
        let mut entries = index.entries().iter();
        entries.any(|entry| entry.mode == Mode::COMMIT)
    })
}

/// Whether anything lies at a path, or it cannot be told.
fn exists(path: &Path) -> bool {
    !fs::symlink_metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

#[cfg(test)]
mod tests;

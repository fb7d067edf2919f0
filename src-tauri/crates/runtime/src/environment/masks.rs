//! What is empty in a room, and what can only be read there.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Workspace;
use crate::files::shown;
use crate::limits::{SECRETS_MAX, SECRETS_NAMES_MAX};

/// Below the home folder: what others could be logged in with.
const CREDENTIALS: &[&str] = &[
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".kube",
    ".password-store",
    ".vault-token",
    ".netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".terraform.d",
    ".bash_history",
    ".zsh_history",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".docker/config.json",
    ".gem/credentials",
    ".m2/settings.xml",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/glab-cli",
    ".config/hub",
    ".config/op",
    ".config/rclone",
    ".config/containers/auth.json",
    ".config/chromium",
    ".config/google-chrome",
    ".local/share/keyrings",
    ".mozilla",
];
/// Where programs of this machine listen. The room refuses such sockets as well.
const LISTENING: &[&str] = &[
    "/run/user",
    "/run/dbus",
    "/run/docker.sock",
    "/run/containerd",
    "/run/podman",
    "/run/libvirt",
    "/run/lxd.sock",
    "/run/snapd.socket",
    "/run/systemd/private",
];
/// In the workspace: what runs by itself later.
const RUNS_LATER: &[&str] = &[
    ".git/hooks",
    ".git/config",
    ".git/config.worktree",
    ".envrc",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".inputrc",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".gitconfig",
    ".xprofile",
    ".xinitrc",
    ".xsession",
    ".config/fish",
    ".config/git/config",
    ".config/autostart",
    ".config/systemd",
    ".config/environment.d",
];
/// Folders with many names and few secrets: looked at when everything else was.
const LAST: &[&str] = &[".git", ".venv", "node_modules", "target", "vendor"];

/// What is empty in a room.
pub(super) struct Masks {
    pub paths: Vec<PathBuf>,
    /// What a person should know of it.
    pub notes: Vec<String>,
}

/// What is empty in a room for this workspace: credentials, listening programs, what is `own`, and the files that the
/// workspace has closed.
pub(super) fn masks(workspace: &Workspace, own: &[PathBuf]) -> Masks {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let at_home = home
        .iter()
        .flat_map(|home| CREDENTIALS.iter().map(|name| home.join(name)));
    let outside = LISTENING.iter().map(PathBuf::from).chain(at_home);
    let mut masks = Masks {
        paths: Vec::new(),
        notes: Vec::new(),
    };
    for path in outside.chain(own.iter().cloned()) {
        let Some(path) = real(&path) else { continue };
        if workspace.root().starts_with(&path) {
            masks.notes.push(format!(
                "`{}` can be read in the room, because the workspace lies in it.",
                shown(&path)
            ));
        } else {
            masks.paths.push(path);
        }
    }
    masks.add_closed(workspace);
    masks.paths.sort();
    masks.paths.dedup();
    masks
}

impl Masks {
    /// Looks for closed files from the root down, level by level, as far as the limit goes.
    fn add_closed(&mut self, workspace: &Workspace) {
        let mut names = 0;
        let (mut next, mut last) = (
            VecDeque::from([workspace.root().to_owned()]),
            VecDeque::new(),
        );
        while let Some(folder) = next.pop_front().or_else(|| last.pop_front()) {
            // What cannot be read here cannot be read in the room.
            let Ok(entries) = fs::read_dir(&folder) else {
                continue;
            };
            for entry in entries.flatten() {
                names += 1;
                if names > SECRETS_NAMES_MAX || self.paths.len() > SECRETS_MAX {
                    self.notes.push(format!(
                        "The workspace is large: secrets were looked for in the first {SECRETS_NAMES_MAX} names only, those nearest to its root."
                    ));
                    return;
                }
                let (Ok(kind), path) = (entry.file_type(), entry.path()) else {
                    continue;
                };
                let rel = path.strip_prefix(workspace.root()).unwrap_or(&path);
                if kind.is_dir() {
                    match LAST
                        .iter()
                        .any(|name| entry.file_name() == OsStr::new(name))
                    {
                        true => last.push_back(path),
                        false => next.push_back(path),
                    }
                } else if workspace.is_closed(&shown(rel)) {
                    self.paths.extend(real(&path));
                }
            }
        }
    }
}

/// What of the workspace can only be read in a room.
pub(super) fn read_only(workspace: &Workspace) -> Vec<PathBuf> {
    let there = RUNS_LATER.iter().map(|name| workspace.root().join(name));
    // One behind a link lies where it leads.
    there
        .filter(|path| real(path).is_some_and(|real| real == *path))
        .collect()
}

/// Where a path leads, if anything is there that we could reach ourselves.
fn real(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

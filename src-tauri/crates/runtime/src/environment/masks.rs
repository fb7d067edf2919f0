//! What is empty in a room, and what can only be read there.

use std::fs;
use std::path::{Path, PathBuf};

use super::secrets::Secrets;
use crate::Workspace;
use crate::files::shown;
use crate::limits::SECRETS_NAMES_MAX;

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
/// What is empty in a room.
pub(super) struct Masks {
    pub paths: Vec<PathBuf>,
    /// What a person should know of it.
    pub notes: Vec<String>,
}

/// What is empty in a room for this workspace: credentials, listening programs, what is `own`, and the files that the
/// workspace has closed, which are looked for in `secrets`.
pub(super) fn masks(workspace: &Workspace, own: &[PathBuf], secrets: &Secrets) -> Masks {
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
    let found = secrets.of(workspace);
    masks
        .paths
        .extend(found.paths.iter().filter_map(|path| real(path)));
    if !found.are_all {
        masks.notes.push(format!(
            "The workspace is large: secrets were looked for in the first {SECRETS_NAMES_MAX} names only, those nearest to its root."
        ));
    }
    masks.paths.sort();
    masks.paths.dedup();
    masks
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

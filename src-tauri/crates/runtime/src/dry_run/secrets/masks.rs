//! Paths that are masked in a sandbox, and paths that are read-only there.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nix::unistd::Uid;

use crate::dry_run::secrets::closed_files::ClosedFileFinder;
use crate::dry_run::secrets::credentials::CredentialPaths;
use crate::dry_run::secrets::homes::find_homes;
use crate::dry_run::secrets::links::find_other_names;
use crate::dry_run::secrets::mounts::MountTable;
use crate::fs::workspace::display_path;
use crate::{FileError, Workspace};

/// Paths at which programs of this machine listen. The sandbox refuses such sockets as well.
const SOCKET_PATHS: &[&str] = &[
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
/// Paths that a sandbox has of its own, so that the ones of the machine are out of sight.
const SANDBOX_OWN_PATHS: &[&str] = &["/tmp", "/dev", "/proc"];
/// Paths in the workspace whose content runs by itself later.
const AUTORUN_PATHS: &[&str] = &[
    ".git/hooks",
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
/// Settings of the repository. Git writes them to rename or delete a branch, so a layer takes that; the gate on effects
/// denies what could run a program.
const GIT_SETTINGS: &str = ".git/config";

/// The masks of a sandbox.
pub(in crate::dry_run) struct SandboxMasks {
    pub paths: Vec<PathBuf>,
    /// Those that a comparing command of git may read, because git has them as they are.
    pub readable_by_git: Vec<PathBuf>,
    /// Notes for a person about the masks.
    pub notes: Vec<String>,
}

/// Finds the masks of a sandbox for this workspace: credentials, other people's homes, sockets of listening programs,
/// the paths in `own`, and the files that the workspace has closed, which are searched by `secrets`.
///
/// # Errors
/// [`FileError::SandboxUnavailable`] where some of these paths cannot be determined.
pub(in crate::dry_run) fn find_masks(
    workspace: &Workspace,
    own_paths: &[PathBuf],
    secrets: &ClosedFileFinder,
) -> Result<SandboxMasks, FileError> {
    let credentials = CredentialPaths::load().map_err(|error| {
        FileError::sandbox_unavailable(format!("The list of credentials cannot be read: {error}."))
    })?;
    let homes = find_homes()?;
    let used_by_any = LazyCell::new(|| command_folders(workspace, |_| true));
    let is_used = |folder: &Path| used_by_any.iter().any(|path| path.starts_with(folder));
    let (looked_into, closed): (Vec<_>, Vec<_>) =
        homes.others.iter().partition(|home| is_used(home));
    let looked_into = homes.ours.iter().chain(&homes.system).chain(looked_into);
    let in_homes = looked_into.flat_map(|home| credentials.find_in_home(home));
    let elsewhere = [
        credentials.find_on_machine(),
        credentials.find_named(|name| std::env::var_os(name)),
        credentials.find_named(|name| workspace.inherited_env().variable(name)),
    ];
    let outside = SOCKET_PATHS.iter().map(PathBuf::from).chain(in_homes);
    let outside = outside
        .chain(elsewhere.concat())
        .chain(closed.into_iter().cloned());
    let chosen = workspace.sandbox_options().closed_paths().into_iter();
    let chosen = chosen.flat_map(|path| match path.strip_prefix("~") {
        Ok(below) => homes.ours.iter().map(|home| home.join(below)).collect(),
        Err(_) => vec![path],
    });
    let outside = outside.chain(chosen);
    let mut masks = SandboxMasks {
        paths: Vec::new(),
        readable_by_git: Vec::new(),
        notes: Vec::new(),
    };
    // Several of them may lead to one place.
    let outside: BTreeSet<PathBuf> = outside
        .chain(own_paths.iter().cloned())
        .filter_map(|path| resolve_reachable(&path))
        .collect();
    for path in outside {
        if workspace.root().starts_with(&path) {
            masks.notes.push(format!(
                "`{}` can be read in the sandbox, because the workspace lies in it.",
                display_path(&path)
            ));
        } else {
            masks.paths.push(path);
        }
    }
    let found = secrets.find_closed_files(workspace)?;
    let found = found.paths.iter();
    masks
        .paths
        .extend(found.filter_map(|path| resolve_or_locked_folder(path, workspace.root())));
    let others = find_other_names(workspace.root(), &masks.paths);
    masks.notes.extend(others.unknown_names_note());
    masks.paths.extend(others.found);
    let needed = LazyCell::new(|| {
        let mut folders = command_folders(workspace, |name| name == "PATH");
        folders.extend(homes.ours.iter().cloned());
        folders
    });
    for path in MountTable::load()?.find_other_paths(&masks.paths) {
        if is_out_of_sight(&path) && !path.starts_with(workspace.root()) {
            continue;
        }
        // A path that cannot be reached here cannot be reached in the sandbox.
        let Some(path) = resolve_reachable(&path) else {
            continue;
        };
        match needed.iter().any(|needed| needed.starts_with(&path)) {
            true => masks.notes.push(format!(
                "`{}` can be read in the sandbox, though what is closed elsewhere is mounted there: the workspace, its programs or your home lie in it.",
                display_path(&path)
            )),
            false => masks.paths.push(path),
        }
    }
    masks.paths.sort();
    masks.paths.dedup();
    Ok(masks)
}

/// Whether a path lies where the sandbox has a place of its own, so that what is there is not seen.
pub(in crate::dry_run) fn is_out_of_sight(path: &Path) -> bool {
    let mut own_paths = SANDBOX_OWN_PATHS.iter();
    own_paths.any(|own| path.starts_with(own))
}

/// Returns the folders that a command works with: the workspace, and those that these variables of the app name. What
/// the terminal of an agent names opens nothing.
pub(in crate::dry_run) fn command_folders(
    workspace: &Workspace,
    by: impl Fn(&OsStr) -> bool,
) -> Vec<PathBuf> {
    let own = workspace.inherited_env().without_terminal();
    let variables = own.inherited_variables().into_iter();
    let variables = variables.filter(|(name, _)| by(name));
    let folders =
        variables.flat_map(|(_, value)| std::env::split_paths(&value).collect::<Vec<_>>());
    let folders = folders.filter(|folder| folder.is_absolute());
    let folders = folders.filter_map(|folder| resolve_reachable(&folder));
    folders.chain([workspace.root().to_owned()]).collect()
}

/// Returns the paths of the workspace that are read-only in a sandbox whose changes go to a layer.
pub(in crate::dry_run) fn read_only_below_layer(workspace: &Workspace) -> Vec<PathBuf> {
    find_real_paths(workspace, AUTORUN_PATHS.iter().copied())
}

/// Returns the paths of the workspace that are read-only in a sandbox which changes the workspace itself.
pub(in crate::dry_run) fn read_only_in_place(workspace: &Workspace) -> Vec<PathBuf> {
    find_real_paths(
        workspace,
        AUTORUN_PATHS.iter().copied().chain([GIT_SETTINGS]),
    )
}

/// Returns those of the paths that exist. One behind a link lies where it leads.
fn find_real_paths(
    workspace: &Workspace,
    names: impl Iterator<Item = &'static str>,
) -> Vec<PathBuf> {
    names
        .map(|name| workspace.root().join(name))
        .filter(|path| resolve_reachable(path).is_some_and(|real| real == *path))
        .collect()
}

/// Resolves a path of the workspace. If it lies in a folder of the same user that cannot be entered, returns that
/// folder, for a command could give itself the right to enter it.
fn resolve_or_locked_folder(path: &Path, root: &Path) -> Option<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let folder = path.ancestors().find_map(resolve_reachable)?;
            let is_below = folder.starts_with(root) && folder != root;
            (is_below && is_owned_by_us(&folder)).then_some(folder)
        }
        found => found.ok(),
    }
}

/// Whether a file or folder belongs to the current user, who may change its mode then.
pub(in crate::dry_run) fn is_owned_by_us(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.uid() == Uid::current().as_raw())
}

/// Resolves a path, if it exists and can be reached by the current user.
fn resolve_reachable(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

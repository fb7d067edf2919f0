//! Resolution of a path to its real target: links followed, `..` resolved, a missing tail allowed.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::limits::LINKS_MAX;

/// One step still to be taken, last first.
enum PathStep {
    Root(PathBuf),
    Up,
    Down(OsString),
}

/// Returns the real absolute path that `path` leads to. Relative paths begin at `root`, which must be real itself.
///
/// This only *says* where the path leads. Callers that open it afterwards do so below the handle of the root and refuse
/// every link, so a path that changes in between cannot lead elsewhere; opening it only fails.
pub(crate) fn resolve_real_path(
    root: &Path,
    path: &Path,
    follow_last: bool,
) -> io::Result<PathBuf> {
    let mut real = root.to_owned();
    let mut steps = Vec::new();
    push_steps(&mut steps, root, path);
    let mut links = 0;
    while let Some(step) = steps.pop() {
        let name = match step {
            PathStep::Root(start) => {
                real = start;
                continue;
            }
            PathStep::Up => {
                real.pop();
                continue;
            }
            PathStep::Down(name) => name,
        };
        real.push(name);
        if steps.is_empty() && !follow_last {
            break;
        }
        let is_link = match fs::symlink_metadata(&real) {
            Ok(meta) => meta.is_symlink(),
            Err(error) if crate::fs::dir::is_not_found(&error) => false,
            Err(error) => return Err(error),
        };
        if is_link {
            links += 1;
            if links > LINKS_MAX {
                return Err(io::Error::other("too many links, or links in a circle"));
            }
            let target = fs::read_link(&real)?;
            real.pop();
            push_steps(&mut steps, root, &target);
        }
    }
    on_disk_spelling(real, follow_last)
}

/// Adds the steps of a path. A path that begins with the root's own starts there: the folders above it are not looked
/// at, and may not even be readable.
fn push_steps(steps: &mut Vec<PathStep>, root: &Path, path: &Path) {
    let (start, rest) = match path.strip_prefix(root) {
        Ok(rest) => (Some(root.to_owned()), rest),
        Err(_) => (None, path),
    };
    let mut anchor = start.unwrap_or_default();
    let mut new = Vec::new();
    for part in rest.components() {
        match part {
            Component::Prefix(_) | Component::RootDir => anchor.push(part),
            Component::CurDir => {}
            Component::ParentDir => new.push(PathStep::Up),
            Component::Normal(name) => new.push(PathStep::Down(name.to_owned())),
        }
    }
    if !anchor.as_os_str().is_empty() {
        new.insert(0, PathStep::Root(anchor));
    }
    steps.extend(new.into_iter().rev());
}

/// Returns the spelling on disk, on systems where `SRC` and `src` are one folder, so that a rule cannot be circumvented
/// by another spelling.
#[cfg(any(windows, target_vendor = "apple"))]
fn on_disk_spelling(real: PathBuf, follow_last: bool) -> io::Result<PathBuf> {
    let last_is_link = fs::symlink_metadata(&real).is_ok_and(|meta| meta.is_symlink());
    let mut tail = Vec::new();
    let mut head = real.as_path();
    if !follow_last && last_is_link {
        tail.extend(head.file_name().map(OsString::from));
        head = head.parent().unwrap_or(head);
    }
    loop {
        if let Ok(known) = fs::canonicalize(head) {
            return Ok(tail.iter().rev().fold(known, |path, name| path.join(name)));
        }
        match (head.parent(), head.file_name()) {
            (Some(parent), Some(name)) => {
                tail.push(name.to_owned());
                head = parent;
            }
            _ => return Ok(real),
        }
    }
}

#[cfg(not(any(windows, target_vendor = "apple")))]
#[allow(clippy::unnecessary_wraps, reason = "fails on other systems")]
fn on_disk_spelling(real: PathBuf, _follow_last: bool) -> io::Result<PathBuf> {
    Ok(real)
}

//! What the kernel's overlay says by marks: that a folder was replaced, and that a name is gone.

use std::ffi::OsStr;
use std::io;

use super::look::Upper;
use crate::dir::Dir;

/// How a folder is marked whose content below is hidden, and one in which names that are gone are marked files.
#[cfg(target_os = "linux")]
const OPAQUE: (&str, &[u8], &[u8]) = ("user.overlay.opaque", b"y", b"x");
#[cfg(target_os = "linux")]
const GONE: &str = "user.overlay.whiteout";
/// Marks of layers that are not laid out as the workspace is. No room is made so.
#[cfg(target_os = "linux")]
const ELSEWHERE: [&str; 2] = ["user.overlay.redirect", "user.overlay.metacopy"];

/// What the kernel says of a folder of the layer: that it was replaced, and that names that are gone are marked files. In
/// a copy it says nothing.
#[cfg(target_os = "linux")]
pub(super) fn marks(kind: Upper<'_>, upper: &Dir) -> io::Result<(bool, bool)> {
    match kind {
        Upper::Layer => {}
        Upper::Copy(_) | Upper::Real(_) => return Ok((false, false)),
    }
    for mark in ELSEWHERE {
        if !upper.mark(mark)?.is_empty() {
            return Err(io::Error::other("its layer cannot be read"));
        }
    }
    let mark = upper.mark(OPAQUE.0)?;
    Ok((mark == OPAQUE.1, mark == OPAQUE.2))
}

/// Whether an empty file stands for a name that is gone.
#[cfg(target_os = "linux")]
pub(super) fn is_gone_by_mark(upper: &Dir, name: &OsStr) -> io::Result<bool> {
    Ok(!upper.mark_of(name, GONE)?.is_empty())
}

/// There are no layers here that could say anything.
#[cfg(not(target_os = "linux"))]
pub(super) fn marks(_: Upper<'_>, _: &Dir) -> io::Result<(bool, bool)> {
    Ok((false, false))
}

/// Nothing stands for something else here.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_gone_by_mark(_: &Dir, _: &OsStr) -> io::Result<bool> {
    Ok(false)
}

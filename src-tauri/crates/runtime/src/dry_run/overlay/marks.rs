//! What the kernel's overlay says by marks: that a folder was replaced, and that a name is gone.

use std::ffi::OsStr;
use std::io;

use crate::dry_run::overlay::diff::UpperSource;
use crate::fs::dir::Dir;

/// How a folder is marked whose content below is hidden, and one in which names that are gone are marked files.
#[cfg(target_os = "linux")]
const OPAQUE_XATTR: (&str, &[u8], &[u8]) = ("user.overlay.opaque", b"y", b"x");
#[cfg(target_os = "linux")]
const WHITEOUT_XATTR: &str = "user.overlay.whiteout";
/// Marks of layers that are not laid out as the workspace is. No room is made so.
#[cfg(target_os = "linux")]
const UNSUPPORTED_XATTRS: [&str; 2] = ["user.overlay.redirect", "user.overlay.metacopy"];

/// What the kernel says of a folder of the layer: that it was replaced, and that names that are gone are marked files. In
/// a copy it says nothing.
#[cfg(target_os = "linux")]
pub(in crate::dry_run) fn read_overlay_marks(
    kind: UpperSource<'_>,
    upper: &Dir,
) -> io::Result<(bool, bool)> {
    match kind {
        UpperSource::Layer => {}
        UpperSource::Copy(_) | UpperSource::InPlace(_) => return Ok((false, false)),
    }
    for mark in UNSUPPORTED_XATTRS {
        if !upper.read_xattr(mark)?.is_empty() {
            return Err(io::Error::other("its layer cannot be read"));
        }
    }
    let mark = upper.read_xattr(OPAQUE_XATTR.0)?;
    Ok((mark == OPAQUE_XATTR.1, mark == OPAQUE_XATTR.2))
}

/// Whether an empty file stands for a name that is gone.
#[cfg(target_os = "linux")]
pub(in crate::dry_run) fn is_xattr_whiteout(upper: &Dir, name: &OsStr) -> io::Result<bool> {
    Ok(!upper.read_file_xattr(name, WHITEOUT_XATTR)?.is_empty())
}

/// There are no layers here that could say anything.
#[cfg(not(target_os = "linux"))]
pub(in crate::dry_run) fn read_overlay_marks(
    _: UpperSource<'_>,
    _: &Dir,
) -> io::Result<(bool, bool)> {
    Ok((false, false))
}

/// Nothing stands for something else here.
#[cfg(not(target_os = "linux"))]
pub(in crate::dry_run) fn is_xattr_whiteout(_: &Dir, _: &OsStr) -> io::Result<bool> {
    Ok(false)
}

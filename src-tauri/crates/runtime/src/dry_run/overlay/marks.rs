//! Marks of the kernel's overlayfs: that a folder was replaced, and that a name was removed.

use std::ffi::OsStr;
use std::io;

use crate::dry_run::overlay::diff::UpperSource;
use crate::fs::dir::Dir;

/// The mark of a folder that hides the content below it, and the mark of one in which removed names are marked files.
#[cfg(target_os = "linux")]
const OPAQUE_XATTR: (&str, &[u8], &[u8]) = ("user.overlay.opaque", b"y", b"x");
#[cfg(target_os = "linux")]
const WHITEOUT_XATTR: &str = "user.overlay.whiteout";
/// Marks of layers that are not laid out as the workspace is. No sandbox is made so.
#[cfg(target_os = "linux")]
const UNSUPPORTED_XATTRS: [&str; 2] = ["user.overlay.redirect", "user.overlay.metacopy"];

/// Reads the overlay marks of a layer's folder: that it was replaced, and that removed names in it are marked files. A
/// copy has no marks.
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

/// Whether an empty file stands for a removed name.
#[cfg(target_os = "linux")]
pub(in crate::dry_run) fn is_xattr_whiteout(upper: &Dir, name: &OsStr) -> io::Result<bool> {
    Ok(!upper.read_file_xattr(name, WHITEOUT_XATTR)?.is_empty())
}

/// Returns no marks: there are no layers on this system.
#[cfg(not(target_os = "linux"))]
pub(in crate::dry_run) fn read_overlay_marks(
    _: UpperSource<'_>,
    _: &Dir,
) -> io::Result<(bool, bool)> {
    Ok((false, false))
}

/// Returns `false`: no file stands for a removed name on this system.
#[cfg(not(target_os = "linux"))]
pub(in crate::dry_run) fn is_xattr_whiteout(_: &Dir, _: &OsStr) -> io::Result<bool> {
    Ok(false)
}

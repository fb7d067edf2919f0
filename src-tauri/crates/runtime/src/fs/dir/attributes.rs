//! Attributes beside content, mode and time: the owner, extended attributes, and whether a file has other names.

use std::fs::File;

use serde::{Deserialize, Serialize};

/// Attributes of a file or folder that are restored as far as the system permits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileAttributes {
    /// User and group, where they are not the defaults of the current user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<(u32, u32)>,
    /// Extended attributes by name and value, access lists among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<(String, Vec<u8>)>,
    /// How many names a file has, if more than one: they cannot be linked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<u64>,
}

impl FileAttributes {
    /// Whether there is nothing special to restore.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Whether an extended attribute is one that programs may set for their own ends, or an access list.
pub(crate) fn is_restorable_xattr(name: &str) -> bool {
    name.starts_with("user.") || name.starts_with("system.posix_acl_")
}

#[cfg(not(unix))]
impl FileAttributes {
    /// Reads the attributes of an open file or folder.
    pub(crate) fn from_file(_: &File) -> Self {
        Self::default()
    }

    /// Sets these attributes on an open file or folder.
    pub(crate) fn apply_to(&self, _: &File, _: u32) {}
}

#[cfg(unix)]
mod on_unix {
    use std::io;

    use rustix::fs::{self as sys, FileType, Mode};

    use super::{File, FileAttributes};
    use crate::limits::ATTRIBUTES_BYTES_MAX;

    impl FileAttributes {
        /// Reads the attributes of an open file or folder. Attributes that cannot be read are left out.
        pub(crate) fn from_file(file: &File) -> Self {
            let mut traits = Self::default();
            if let Ok(stat) = sys::fstat(file) {
                let ours = (
                    rustix::process::geteuid().as_raw(),
                    rustix::process::getegid().as_raw(),
                );
                let owner = (stat.st_uid, stat.st_gid);
                traits.owner = (owner != ours).then_some(owner);
                #[allow(clippy::useless_conversion, reason = "narrower on some systems")]
                let names: u64 = stat.st_nlink.into();
                let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
                traits.names = (is_file && names > 1).then_some(names);
            }
            traits.attributes = read_xattrs(file).unwrap_or_default();
            traits
        }

        /// Sets these attributes on an open file or folder, as far as the system permits; the mode comes last, since an
        /// owner and an access list change it.
        pub(crate) fn apply_to(&self, file: &File, mode: u32) {
            if self.owner.is_none() && self.attributes.is_empty() {
                return;
            }
            let mut is_complete = true;
            if let Some((user, group)) = self.owner {
                let owner = (sys::Uid::from_raw(user), sys::Gid::from_raw(group));
                is_complete &= sys::fchown(file, Some(owner.0), Some(owner.1)).is_ok();
            }
            for (name, value) in &self.attributes {
                let none = sys::XattrFlags::empty();
                is_complete &= sys::fsetxattr(file, name.as_str(), value, none).is_ok();
            }
            #[allow(clippy::useless_conversion, reason = "narrower on some systems")]
            let mode = Mode::from_raw_mode(((mode & 0o7777) as u16).into());
            is_complete &= sys::fchmod(file, mode).is_ok();
            if !is_complete {
                tracing::debug!(?self, "the system does not permit all of it");
            }
        }
    }

    fn read_xattrs(file: &File) -> io::Result<Vec<(String, Vec<u8>)>> {
        let mut names = [0_u8; 4096];
        let length = sys::flistxattr(file, &mut names[..])?;
        let mut xattrs = Vec::new();
        let mut left = ATTRIBUTES_BYTES_MAX;
        for name in names[..length].split(|byte| *byte == 0) {
            let Ok(name) = std::str::from_utf8(name) else {
                continue;
            };
            // A layer keeps its own books in attributes, and labels are the system's to give.
            let foreign = ["user.overlay.", "trusted.overlay.", "security.selinux"];
            if name.is_empty() || foreign.iter().any(|start| name.starts_with(start)) {
                continue;
            }
            let mut value = vec![0; left];
            if let Ok(length) = sys::fgetxattr(file, name, &mut value[..]) {
                value.truncate(length);
                left -= length;
                xattrs.push((name.to_owned(), value));
            }
        }
        xattrs.sort();
        Ok(xattrs)
    }
}

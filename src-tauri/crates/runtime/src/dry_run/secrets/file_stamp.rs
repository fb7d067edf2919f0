//! What a file or folder is known again by while it stays as it is.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Identity of a file or folder, and the time at which its content changed last, or its names. No program can set that
/// time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileStamp {
    device: u64,
    inode: u64,
    changed_ns: i64,
}

impl FileStamp {
    /// Returns the stamp of what a path names itself; `None` if nothing is there.
    pub fn read(path: &Path) -> Option<Self> {
        Some(Self::from_metadata(&fs::symlink_metadata(path).ok()?))
    }

    pub fn from_metadata(found: &fs::Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
            changed_ns: found
                .ctime()
                .saturating_mul(1_000_000_000)
                .saturating_add(found.ctime_nsec()),
        }
    }

    /// Whether any change from now on gives another stamp, because the last change is longer ago than that, in
    /// nanoseconds.
    pub fn is_stable(self, steady_ns: i64) -> bool {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let now = i64::try_from(now.as_nanos()).unwrap_or(i64::MIN);
        now.saturating_sub(self.changed_ns) > steady_ns
    }
}

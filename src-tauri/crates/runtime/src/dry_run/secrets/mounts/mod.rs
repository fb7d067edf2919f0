//! Other paths at which closed files are visible: a mount can be mounted once more elsewhere, whole or in part.
//!
//! The kernel reports which part of which file system is mounted where (`proc_pid_mountinfo(5)`), and from that the
//! other paths follow: also for btrfs, whose subvolumes are folders of one file system. Files that the layers of an
//! overlay show are closed in each layer too, by the same path: more than is needed, because an upper layer may have
//! another file there. Not covered are a folder that an overlay has renamed, and a file system that a server or a
//! program exports twice, which to the kernel are two.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use crate::FileError;
use crate::process::sandbox_process::read_mounts;

/// File systems of the kernel itself: they show the same in each mount, and no file of a person.
const KERNEL_FILE_SYSTEMS: &[&str] = &[
    "autofs",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "fusectl",
    "hugetlbfs",
    "mqueue",
    "nsfs",
    "proc",
    "pstore",
    "securityfs",
    "sysfs",
    "tracefs",
];

/// Options of an overlay that name its layers.
const LAYER_OPTIONS: [&[u8]; 3] = [b"lowerdir", b"lowerdir+", b"upperdir"];

/// All mounts, and their mount points.
#[derive(Debug, Default)]
pub(in crate::dry_run) struct MountTable {
    all: Vec<Mount>,
    /// Mounts by the id of their parent; by `None` those without one, at which paths begin.
    children: HashMap<Option<u64>, Vec<usize>>,
}

#[derive(Debug)]
struct Mount {
    id: u64,
    parent: u64,
    /// The file system, in the kernel's notation.
    device: Vec<u8>,
    /// The part of the file system that is mounted: a path in it.
    root: PathBuf,
    /// The mount point.
    point: PathBuf,
    is_kernels: bool,
    /// The folders that an overlay is made of.
    layers: Vec<PathBuf>,
}

impl MountTable {
    /// Loads the mounts that this process sees.
    ///
    /// # Errors
    /// [`FileError::SandboxUnavailable`] where Linux does not report them.
    pub(in crate::dry_run) fn load() -> Result<Self, FileError> {
        match read_mounts() {
            Some(text) => Ok(Self::from_mountinfo(&text)),
            None if cfg!(target_os = "linux") => Err(FileError::sandbox_unavailable(
                "What is mounted where cannot be read from `/proc/self/mountinfo`, so secrets cannot be closed wherever they are seen. Mount `/proc`.",
            )),
            None => Ok(Self::default()),
        }
    }

    /// Parses the mounts as the kernel lists them.
    fn from_mountinfo(mountinfo: &[u8]) -> Self {
        let lines = mountinfo.split(|byte| *byte == b'\n');
        let all: Vec<Mount> = lines.filter_map(Mount::parse_line).collect();
        let ids: HashSet<u64> = all.iter().map(|mount| mount.id).collect();
        let mut children: HashMap<Option<u64>, Vec<usize>> = HashMap::new();
        for (number, mount) in all.iter().enumerate() {
            let parent = Some(mount.parent).filter(|id| ids.contains(id) && *id != mount.id);
            children.entry(parent).or_default().push(number);
        }
        Self { all, children }
    }

    /// Returns the further paths at which these places, or mounts in them, are visible; none that lies in one of the
    /// places. All are real paths; there may be nothing at them.
    pub(in crate::dry_run) fn find_other_paths(&self, places: &[PathBuf]) -> Vec<PathBuf> {
        let paths: BTreeSet<&Path> = places.iter().map(PathBuf::as_path).collect();
        let mut seen: BTreeSet<PathBuf> = places.iter().cloned().collect();
        let mut next = places.to_vec();
        let mut further = Vec::new();
        while let Some(place) = next.pop() {
            for other in self.other_paths_of(&place) {
                if seen.insert(other.clone()) {
                    next.push(other.clone());
                    further.push(other);
                }
            }
        }
        further.retain(|path| !path.ancestors().any(|above| paths.contains(above)));
        further
    }

    /// Whether something is mounted in a folder.
    #[cfg(target_os = "linux")]
    pub(in crate::dry_run) fn has_mount_in(&self, folder: &Path) -> bool {
        let mut mounts = self.all.iter();
        mounts.any(|mount| mount.point != folder && is_at_or_below(&mount.point, folder))
    }

    /// Returns the paths at which a place is visible through one more mount, and the mounts in it.
    fn other_paths_of(&self, place: &Path) -> Vec<PathBuf> {
        let below = self.all.iter().filter(|mount| {
            !mount.is_kernels
                && is_at_or_below(&mount.point, place)
                && self.is_seen(mount, &mount.point)
        });
        let mut paths: Vec<PathBuf> = below.map(|mount| mount.point.clone()).collect();
        let Some(mount) = self.mount_at(place) else {
            return paths;
        };
        let Some(inner) = rebase_path(place, &mount.point, &mount.root) else {
            return paths;
        };
        for other in &self.all {
            if other.device != mount.device {
                continue;
            }
            let path = match rebase_path(&inner, &other.root, &other.point) {
                Some(path) => path,
                None if is_at_or_below(&other.root, &inner) => other.point.clone(),
                None => continue,
            };
            if self.is_seen(other, &path) {
                paths.push(path);
            }
        }
        let layers = mount.layers.iter();
        paths.extend(layers.filter_map(|layer| rebase_path(&inner, Path::new("/"), layer)));
        paths
    }

    /// Whether a path leads to this mount, rather than to another mounted over it.
    fn is_seen(&self, mount: &Mount, path: &Path) -> bool {
        self.mount_at(path)
            .is_some_and(|there| there.id == mount.id)
    }

    /// Returns the mount that a path leads to.
    fn mount_at(&self, path: &Path) -> Option<&Mount> {
        let mut here: Option<&Mount> = None;
        // No way is longer than through all of them.
        for _ in 0..self.all.len() {
            let above = self.children.get(&here.map(|mount| mount.id));
            let above = above.into_iter().flatten().map(|number| &self.all[*number]);
            // Of two on the same one, the way is barred by the one that it meets first.
            let met = above.filter(|mount| is_at_or_below(path, &mount.point));
            match met.min_by_key(|mount| mount.point.as_os_str().len()) {
                Some(next) => here = Some(next),
                None => break,
            }
        }
        here
    }
}

impl Mount {
    /// Parses a line; `None` if it is malformed. Unlike the crate `procfs` it takes paths that are not UTF-8, and an
    /// option that stands more than once.
    fn parse_line(line: &[u8]) -> Option<Self> {
        let mut words = line.split(|byte| *byte == b' ');
        let mut number = || std::str::from_utf8(words.next()?).ok()?.parse().ok();
        let (id, parent) = (number()?, number()?);
        let device = words.next()?.to_owned();
        let root = parse_path(words.next()?);
        let point = parse_path(words.next()?);
        // The options of the mount, and as many optional fields as there are.
        let mut words = words.skip_while(|word| *word != b"-").skip(1);
        let kind = words.next()?;
        let options = words.nth(1).unwrap_or_default();
        Some(Self {
            id,
            parent,
            device,
            root,
            point,
            is_kernels: KERNEL_FILE_SYSTEMS
                .iter()
                .any(|known| known.as_bytes() == kind),
            layers: match kind {
                b"overlay" => parse_layers(options),
                _ => Vec::new(),
            },
        })
    }
}

/// Parses the layers from the options of an overlay. A backslash before a colon keeps it from separating two.
fn parse_layers(options: &[u8]) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for option in options.split(|byte| *byte == b',') {
        let Some(equals) = option.iter().position(|byte| *byte == b'=') else {
            continue;
        };
        let (name, value) = option.split_at(equals);
        if !LAYER_OPTIONS.contains(&name) {
            continue;
        }
        let value = unescape_octal(&value[1..]);
        let (mut layer, mut bytes) = (Vec::new(), value.iter());
        while let Some(byte) = bytes.next() {
            match byte {
                b'\\' => layer.extend(bytes.next()),
                b':' => all.push(std::mem::take(&mut layer)),
                other => layer.push(*other),
            }
        }
        all.push(layer);
    }
    let paths = all
        .into_iter()
        .map(|bytes| PathBuf::from(OsString::from_vec(bytes)));
    paths.filter(|layer| layer.is_absolute()).collect()
}

/// Rebases a path that lies at or below `from` to the same place below `to`; `None` if it lies elsewhere.
fn rebase_path(path: &Path, from: &Path, to: &Path) -> Option<PathBuf> {
    let below = path.strip_prefix(from).ok()?;
    Some(match below.as_os_str().is_empty() {
        true => to.to_owned(),
        false => to.join(below),
    })
}

/// Whether a path lies at or below a folder, both in the kernel's notation.
fn is_at_or_below(path: &Path, folder: &Path) -> bool {
    let (path, folder) = (path.as_os_str().as_bytes(), folder.as_os_str().as_bytes());
    let below = path.strip_prefix(folder);
    below.is_some_and(|below| matches!(below.first(), None | Some(b'/')) || folder == b"/")
}

fn parse_path(word: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(unescape_octal(word)))
}

/// Decodes bytes that the kernel writes as a backslash and three octal digits: blanks and the like.
fn unescape_octal(word: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.first_chunk::<3>().filter(|_| *first == b'\\');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests;

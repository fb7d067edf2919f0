//! Erasure of everything that the app keeps on a machine: planned and shown first, then carried out as far as it goes.
//!
//! **Only what is known to be the app's is removed.** A folder in which anything else lies is refused as a whole, and no
//! link is followed.

mod data_folder;
mod keychain_items;
mod system_folders;

use std::path::{Path, PathBuf};

use protocol::UserError;
use provider::KeyStore;
use runtime::{FileLock, Workspace};

use crate::engine::maintenance::folder_size::measure_data_folder;
use crate::engine::maintenance::folder_use::{LOCK_FILE, claim_data_folder};
use crate::host::config::EngineConfig;
pub use keychain_items::KeychainItem;

/// What an erasure removes. Nobody else uses the data folder for as long as this is held.
#[derive(Debug)]
pub struct ErasurePlan {
    /// The data folder, where it really is; none if there is none.
    data_folder: Option<ClaimedFolder>,
    /// Other folders: data folders that were replaced, and those of the window.
    others: Vec<ErasedFolder>,
    /// What the keychain may hold; empty unless the data folder is the one of the system.
    keychain: Vec<KeychainItem>,
    /// What cannot be found any more.
    unknown: Vec<UserError>,
}

#[derive(Debug)]
struct ClaimedFolder {
    folder: ErasedFolder,
    /// The path by which it was named, if that is a link to it.
    link: Option<PathBuf>,
    lock: FileLock,
}

/// A folder that goes, with what it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasedFolder {
    /// The folder.
    pub path: PathBuf,
    /// Length of all files in it.
    pub bytes: u64,
}

impl ErasedFolder {
    fn measure(path: PathBuf) -> Self {
        let bytes = measure_data_folder(&path).bytes();
        Self { path, bytes }
    }
}

/// Plans to erase a data folder with what was replaced by backups and, if it is the one of the system, what the app keeps
/// elsewhere for this person. Nothing is removed yet.
///
/// # Errors
/// The folder is none of the app's, holds something else, cannot be read, or is in use.
pub fn plan_erasure(data_dir: &Path) -> Result<ErasurePlan, UserError> {
    let is_default = EngineConfig::default_data_dir().is_some_and(|default| default == data_dir);
    let data_folder = claim(data_dir)?;
    let mut others = data_folder::find_replaced(data_dir)?;
    let mut plan = ErasurePlan {
        data_folder,
        others: Vec::new(),
        keychain: Vec::new(),
        unknown: Vec::new(),
    };
    if is_default {
        others.extend(system_folders::find_window_folders());
        let found = keychain_items::find_items(data_dir);
        (plan.keychain, plan.unknown) = (found.items, found.unknown);
    }
    plan.others = others.into_iter().map(ErasedFolder::measure).collect();
    if !is_default && plan.folders().next().is_none() {
        return Err(UserError::new(
            format!("There is no data folder {}.", data_dir.display()),
            "Check the path after --data-dir.",
        ));
    }
    Ok(plan)
}

/// Makes sure that a folder is one of the app's, and that nobody uses it. `None` if there is no such folder.
fn claim(data_dir: &Path) -> Result<Option<ClaimedFolder>, UserError> {
    if runtime::list_all_names(data_dir)?.is_none() {
        return Ok(None);
    }
    let real = Workspace::open(data_dir)?.root().to_owned();
    data_folder::check_is_ours(&real)?;
    let lock = claim_data_folder(&real)?;
    Ok(Some(ClaimedFolder {
        folder: ErasedFolder::measure(real),
        link: runtime::is_link(data_dir).then(|| data_dir.to_owned()),
        lock,
    }))
}

impl ErasurePlan {
    /// Returns the folders that go, the data folder first.
    pub fn folders(&self) -> impl Iterator<Item = &ErasedFolder> {
        let data_folder = self.data_folder.iter().map(|claimed| &claimed.folder);
        data_folder.chain(&self.others)
    }

    /// Returns what goes from the keychain, as far as it is there.
    pub fn keychain(&self) -> &[KeychainItem] {
        &self.keychain
    }

    /// Carries the plan out. Returns what was not removed, with the reasons and what to do about it.
    pub fn carry_out(self, keys: &dyn KeyStore) -> Vec<UserError> {
        let mut left = self.unknown;
        left.extend(keychain_items::remove_items(&self.keychain, keys));
        for folder in &self.others {
            left.extend(data_folder::remove_with_links(&folder.path));
        }
        if let Some(claimed) = self.data_folder {
            left.extend(erase_claimed(claimed));
        }
        left
    }
}

/// Removes the data folder. The file of its lock goes last, so that nobody begins anew meanwhile, and what is left can be
/// told for a data folder.
fn erase_claimed(claimed: ClaimedFolder) -> Vec<UserError> {
    let ClaimedFolder { folder, link, lock } = claimed;
    let folder = folder.path;
    let names = match runtime::list_all_names(&folder) {
        Ok(names) => names.unwrap_or_default(),
        Err(error) => return vec![error.into()],
    };
    let names = names.into_iter().filter(|name| name != LOCK_FILE);
    let mut left: Vec<UserError> = names
        .flat_map(|name| data_folder::remove_with_links(&folder.join(name)))
        .collect();
    // Some systems remove no file that is open.
    drop(lock);
    let is_whole = left.is_empty() || runtime::list_all_names(&folder).is_ok_and(holds_lock_alone);
    if is_whole {
        let removed = runtime::remove_if_exists(&folder.join(LOCK_FILE))
            .and_then(|()| runtime::remove_empty_folder(&folder))
            .and_then(|()| link.map_or(Ok(()), |link| runtime::remove_tree(&link)));
        left.extend(removed.err().map(UserError::from));
    }
    left
}

fn holds_lock_alone(names: Option<Vec<std::ffi::OsString>>) -> bool {
    names.is_some_and(|names| names.iter().all(|name| name == LOCK_FILE))
}

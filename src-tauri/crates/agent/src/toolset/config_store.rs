//! The entries of a configuration file, by name: reloaded when the file changes, and changed on disk before they take
//! effect.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use protocol::server::mcp_servers::ServerId;
use protocol::{Digest, UserError};
use tools::Tool;
use tools::config_table::{self, ConfigTable};
use tools::sources::{Catalogue, PinnedCatalogue, Pins};

/// An entry that is built from one table of a configuration file.
pub(crate) trait ConfigEntry: Sized {
    /// Type of the configuration file.
    type File: ConfigTable<TableItem: PartialEq>;
    /// Tools that an entry offers at one moment.
    type Catalogue: Catalogue;
    /// Context that all entries share.
    type Context;

    /// Returns an entry that has not been used yet, with its stored approvals.
    fn from_settings(
        settings: <Self::File as ConfigTable>::TableItem,
        pins: Pins<Self::Catalogue>,
        context: &Self::Context,
    ) -> Self;

    /// Returns the settings of the entry.
    fn settings(&self) -> &<Self::File as ConfigTable>::TableItem;

    /// Returns a number that changes whenever the tools of the entry change.
    fn version(&self) -> u64;

    /// Returns the tools of the entry that have not changed since they were approved.
    fn tools(self: &Arc<Self>) -> Vec<Arc<dyn Tool>>;

    /// Returns the approved tools of the entry, with those that it offers now.
    fn pinned_tools(&self) -> PinnedCatalogue<Self::Catalogue>;

    /// Puts other approvals in force.
    fn set_pins(&self, pins: Pins<Self::Catalogue>);

    /// Called when the entry comes into force.
    fn on_added(&self, context: &Self::Context);

    /// Called when the entry is no longer in force.
    fn on_removed(&self);
}

/// All entries of one configuration file.
pub(crate) struct ConfigStore<S: ConfigEntry> {
    data_dir: PathBuf,
    context: S::Context,
    loaded: Mutex<LoadedConfig<S>>,
    /// Held while an entry is changed.
    change_lock: tokio::sync::Mutex<()>,
}

struct LoadedConfig<S> {
    /// Text of the file as it was read last.
    text: Option<String>,
    entries: BTreeMap<ServerId, Arc<S>>,
    errors: Vec<UserError>,
    /// Number of changes of the list of entries.
    changes: u64,
}

/// Version of the entries: while it is equal, so are their tools.
pub(crate) type ConfigVersion = (u64, Vec<u64>);

impl<S: ConfigEntry> ConfigStore<S> {
    /// Reads the entries of the file; none of them is used yet.
    pub fn open(data_dir: &Path, context: S::Context) -> Self {
        let store = Self {
            data_dir: data_dir.to_owned(),
            context,
            loaded: Mutex::new(LoadedConfig {
                text: None,
                entries: BTreeMap::new(),
                errors: Vec::new(),
                changes: 0,
            }),
            change_lock: tokio::sync::Mutex::default(),
        };
        store.reload();
        store
    }

    fn path(&self) -> PathBuf {
        self.data_dir.join(S::File::FILE)
    }

    /// Returns the data folder.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Returns the context that all entries share.
    pub fn context(&self) -> &S::Context {
        &self.context
    }

    /// Waits until no other task changes an entry, and then reloads the file.
    pub async fn lock_changes(&self) -> tokio::sync::MutexGuard<'_, ()> {
        let guard = self.change_lock.lock().await;
        self.reload();
        guard
    }

    /// Reloads the file if it changed: a person may edit it, and another process may write it.
    pub fn reload(&self) {
        let mut loaded = self.loaded.lock();
        let text = match runtime::read_text(&self.path()) {
            Ok(text) => text.unwrap_or_default(),
            Err(error) => return loaded.clear_with_error(error.into()),
        };
        if loaded.text.as_ref() == Some(&text) {
            return;
        }
        match config_table::parse_items::<S::File>(&text) {
            Ok(settings) => {
                loaded.errors.clear();
                self.apply_settings(&mut loaded, settings);
            }
            Err(error) => loaded.clear_with_error(error),
        }
        loaded.text = Some(text);
    }

    /// Replaces the entries; an entry whose settings are unchanged stays as it is.
    fn apply_settings(
        &self,
        loaded: &mut LoadedConfig<S>,
        settings: Vec<<S::File as ConfigTable>::TableItem>,
    ) {
        let mut entries = BTreeMap::new();
        for settings in settings {
            let id = S::File::id_and_enabled(&settings).0.clone();
            let same = loaded.entries.get(&id);
            let entry = match same.filter(|entry| *entry.settings() == settings) {
                Some(same) => same.clone(),
                None => {
                    let (entry, error) = self.build_entry(settings);
                    loaded.errors.extend(error);
                    entry.on_added(&self.context);
                    entry
                }
            };
            entries.insert(id, entry);
        }
        let before = std::mem::replace(&mut loaded.entries, entries);
        for (id, entry) in before {
            let still = loaded.entries.get(&id);
            if still.is_none_or(|still| !Arc::ptr_eq(still, &entry)) {
                entry.on_removed();
            }
        }
        loaded.changes += 1;
    }

    /// Builds an entry that is not in force. If its stored approvals cannot be read, none of its tools counts as
    /// approved, and an error is returned.
    pub fn build_entry(
        &self,
        settings: <S::File as ConfigTable>::TableItem,
    ) -> (Arc<S>, Option<UserError>) {
        let id = S::File::id_and_enabled(&settings).0;
        let (pins, error) = match Pins::load(&self.data_dir, id) {
            Ok(pins) => (pins.unwrap_or_default(), None),
            Err(error) => (Pins::default(), Some(error)),
        };
        let entry = S::from_settings(settings, pins, &self.context);
        (Arc::new(entry), error)
    }

    /// Whether tools of this entry were ever approved; true if the approvals cannot be read: then the person looks at
    /// the tools again.
    pub fn was_approved(&self, id: &ServerId) -> bool {
        !matches!(Pins::<S::Catalogue>::load(&self.data_dir, id), Ok(None))
    }

    /// Approves the tools that an entry offers now, for the first time.
    ///
    /// # Errors
    /// The approvals cannot be written.
    pub fn approve_initial(&self, entry: &S) -> Result<(), UserError> {
        match entry.pinned_tools().catalogue {
            Some(catalogue) => self.put_pins(entry, Pins::approve_initial(&catalogue)),
            None => Ok(()),
        }
    }

    /// Approves the tools that an entry offers now.
    ///
    /// # Errors
    /// They are not those that were shown, of this digest, or the approvals cannot be written.
    pub fn approve(&self, entry: &S, shown: &Digest) -> Result<(), UserError> {
        let tools = entry.pinned_tools();
        match tools.catalogue {
            Some(catalogue) if catalogue.digest() == *shown => {
                self.put_pins(entry, tools.pins.approve_all(&catalogue))
            }
            Some(_) | None => Err(UserError::new(
                format!(
                    "The tools of `{}` are not what was looked at, so nothing was approved.",
                    S::File::id_and_enabled(entry.settings()).0
                ),
                "Look at them again, then approve what is there now.",
            )),
        }
    }

    /// Stores the approvals of an entry, and puts them in force.
    fn put_pins(&self, entry: &S, pins: Pins<S::Catalogue>) -> Result<(), UserError> {
        pins.save(&self.data_dir, S::File::id_and_enabled(entry.settings()).0)?;
        entry.set_pins(pins);
        Ok(())
    }

    /// Replaces the entry of the same name.
    pub fn replace(&self, entry: Arc<S>) {
        let mut loaded = self.loaded.lock();
        entry.on_added(&self.context);
        let id = S::File::id_and_enabled(entry.settings()).0.clone();
        if let Some(previous) = loaded.entries.insert(id, entry) {
            previous.on_removed();
        }
        loaded.changes += 1;
    }

    /// Returns the entry of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn find(&self, id: &ServerId) -> Result<Arc<S>, UserError> {
        let entry = self.loaded.lock().entries.get(id).cloned();
        entry.ok_or_else(|| config_table::unknown_item_error::<S::File>(id))
    }

    /// Maps all entries, sorted by name, while the list is locked.
    pub fn map_entries<T>(&self, map: impl FnMut(&Arc<S>) -> T) -> Vec<T> {
        self.loaded.lock().entries.values().map(map).collect()
    }

    /// Returns the current version that the tools depend on.
    pub fn seen(&self) -> ConfigVersion {
        let loaded = self.loaded.lock();
        let versions = loaded.entries.values().map(|entry| entry.version());
        (loaded.changes, versions.collect())
    }

    /// Returns the tools of all entries that are switched on.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let loaded = self.loaded.lock();
        let entries = loaded.entries.values();
        entries
            .filter(|entry| S::File::id_and_enabled(entry.settings()).1)
            .flat_map(S::tools)
            .collect()
    }

    /// Returns the errors of the file, and of the stored approvals.
    pub fn errors(&self) -> Vec<UserError> {
        self.loaded.lock().errors.clone()
    }

    /// Adds an entry, or changes its settings.
    ///
    /// # Errors
    /// The settings are invalid, or the file cannot be read or written.
    pub fn save(&self, settings: &<S::File as ConfigTable>::TableItem) -> Result<(), UserError> {
        self.edit_file(|text| config_table::upsert_item::<S::File>(text, settings))
    }

    /// Switches an entry on or off.
    ///
    /// # Errors
    /// There is no entry of this name, or the file cannot be read or written.
    pub fn set_enabled(&self, id: &ServerId, enabled: bool) -> Result<(), UserError> {
        self.find(id)?;
        self.edit_file(|text| config_table::set_enabled::<S::File>(text, id, enabled))
    }

    /// Removes an entry and its stored approvals: a later entry of this name has to be approved anew.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn remove(&self, id: &ServerId) -> Result<(), UserError> {
        self.edit_file(|text| config_table::remove_item::<S::File>(text, id))?;
        let pins = Pins::<S::Catalogue>::path(&self.data_dir, id);
        Ok(runtime::remove_if_exists(&pins)?)
    }

    /// Writes an edited file, and puts it in force.
    fn edit_file(
        &self,
        change: impl FnOnce(&str) -> Result<String, UserError>,
    ) -> Result<(), UserError> {
        let _lock = runtime::lock_file(&self.path().with_extension("lock"))?;
        let text = runtime::read_text(&self.path())?.unwrap_or_default();
        runtime::write_atomic(&self.path(), change(&text)?.as_bytes(), 0o600)?;
        self.reload();
        Ok(())
    }
}

impl<S: ConfigEntry> LoadedConfig<S> {
    /// Removes all entries until the file is valid again.
    fn clear_with_error(&mut self, error: UserError) {
        for entry in std::mem::take(&mut self.entries).into_values() {
            entry.on_removed();
        }
        self.errors = vec![error];
        self.changes += 1;
    }
}

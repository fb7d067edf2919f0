//! What a person set up in one of their files, by its name: read again when the file is another, changed on disk before in force.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::UserError;
use protocol::server::mcp_servers::ServerId;
use tools::Tool;
use tools::config_table::{self, ConfigTable};

/// What one table of the file becomes.
pub(crate) trait ConfigEntry: Sized {
    /// The file.
    type File: ConfigTable<TableItem: PartialEq>;
    /// What all of them stand on.
    type Context;

    /// One that nobody has used yet. What was approved of it and cannot be read is approved no more.
    fn from_settings(
        settings: <Self::File as ConfigTable>::TableItem,
        data_dir: &Path,
        ground: &Self::Context,
    ) -> (Self, Option<UserError>);

    /// As it was set up.
    fn settings(&self) -> &<Self::File as ConfigTable>::TableItem;

    /// Another number whenever its tools are others.
    fn version(&self) -> u64;

    /// Its tools, as far as they are as they were approved.
    fn tools(self: &Arc<Self>) -> Vec<Arc<dyn Tool>>;

    /// It is in force from now on.
    fn on_added(&self, ground: &Self::Context);

    /// It is in force no more.
    fn on_removed(&self);
}

/// Everything that one file sets up.
pub(crate) struct ConfigStore<S: ConfigEntry> {
    data_dir: PathBuf,
    context: S::Context,
    loaded: Mutex<LoadedConfig<S>>,
    /// Held by whoever changes one of them.
    change_lock: tokio::sync::Mutex<()>,
}

struct LoadedConfig<S> {
    /// The file as it was read last.
    text: Option<String>,
    entries: BTreeMap<ServerId, Arc<S>>,
    errors: Vec<UserError>,
    /// How often the list became another.
    changes: u64,
}

/// What the tools of all of them depend on: while it is the same, so are they.
pub(crate) type ConfigVersion = (u64, Vec<u64>);

impl<S: ConfigEntry> ConfigStore<S> {
    /// Reads what is set up; nothing of it is used yet.
    pub fn open(data_dir: &Path, ground: S::Context) -> Self {
        let shelf = Self {
            data_dir: data_dir.to_owned(),
            context: ground,
            loaded: Mutex::new(LoadedConfig {
                text: None,
                entries: BTreeMap::new(),
                errors: Vec::new(),
                changes: 0,
            }),
            change_lock: tokio::sync::Mutex::default(),
        };
        shelf.reload();
        shelf
    }

    fn lock_loaded(&self) -> MutexGuard<'_, LoadedConfig<S>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self) -> PathBuf {
        self.data_dir.join(S::File::FILE)
    }

    /// The data folder.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// What all of them stand on.
    pub fn context(&self) -> &S::Context {
        &self.context
    }

    /// Waits until nobody else changes one of them, and reads what stands then.
    pub async fn lock_changes(&self) -> tokio::sync::MutexGuard<'_, ()> {
        let alone = self.change_lock.lock().await;
        self.reload();
        alone
    }

    /// Reads the file again if it is another: a person edits it, and another process may.
    pub fn reload(&self) {
        let mut known = self.lock_loaded();
        let text = match runtime::read_text(&self.path()) {
            Ok(text) => text.unwrap_or_default(),
            Err(error) => return known.clear_with_error(error.into()),
        };
        if known.text.as_ref() == Some(&text) {
            return;
        }
        match config_table::parse_items::<S::File>(&text) {
            Ok(all) => {
                known.errors.clear();
                self.apply_settings(&mut known, all);
            }
            Err(fault) => known.clear_with_error(fault),
        }
        known.text = Some(text);
    }

    /// Puts these in the place of those before; one that is as it was goes on.
    fn apply_settings(
        &self,
        known: &mut LoadedConfig<S>,
        settings: Vec<<S::File as ConfigTable>::TableItem>,
    ) {
        let mut all = BTreeMap::new();
        for settings in settings {
            let id = S::File::id_and_enabled(&settings).0.clone();
            let same = known.entries.get(&id);
            let one = match same.filter(|one| *one.settings() == settings) {
                Some(same) => same.clone(),
                None => {
                    let (one, fault) = self.build_entry(settings);
                    known.errors.extend(fault);
                    one.on_added(&self.context);
                    one
                }
            };
            all.insert(id, one);
        }
        let before = std::mem::replace(&mut known.entries, all);
        for (id, one) in before {
            let still = known.entries.get(&id);
            if still.is_none_or(|still| !Arc::ptr_eq(still, &one)) {
                one.on_removed();
            }
        }
        known.changes += 1;
    }

    /// One that is not in force.
    pub fn build_entry(
        &self,
        settings: <S::File as ConfigTable>::TableItem,
    ) -> (Arc<S>, Option<UserError>) {
        let (one, fault) = S::from_settings(settings, &self.data_dir, &self.context);
        (Arc::new(one), fault)
    }

    /// Puts one in the place of the one of its name.
    pub fn replace(&self, one: Arc<S>) {
        let mut known = self.lock_loaded();
        one.on_added(&self.context);
        let id = S::File::id_and_enabled(one.settings()).0.clone();
        if let Some(before) = known.entries.insert(id, one) {
            before.on_removed();
        }
        known.changes += 1;
    }

    /// The one of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn find(&self, id: &ServerId) -> Result<Arc<S>, UserError> {
        let found = self.lock_loaded().entries.get(id).cloned();
        found.ok_or_else(|| config_table::unknown_item_error::<S::File>(id))
    }

    /// All of them, by their names, while nothing joins them or leaves.
    pub fn map_entries<T>(&self, tell: impl FnMut(&Arc<S>) -> T) -> Vec<T> {
        self.lock_loaded().entries.values().map(tell).collect()
    }

    /// What the tools depend on at the moment.
    pub fn seen(&self) -> ConfigVersion {
        let known = self.lock_loaded();
        let versions = known.entries.values().map(|one| one.version());
        (known.changes, versions.collect())
    }

    /// The tools of all that are on.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let known = self.lock_loaded();
        let on = known.entries.values();
        on.filter(|one| S::File::id_and_enabled(one.settings()).1)
            .flat_map(S::tools)
            .collect()
    }

    /// What is wrong with the file, or with what was approved.
    pub fn errors(&self) -> Vec<UserError> {
        self.lock_loaded().errors.clone()
    }

    /// Sets one up, or sets it up otherwise.
    ///
    /// # Errors
    /// It cannot be set up so, or the file cannot be read or written.
    pub fn save(&self, settings: &<S::File as ConfigTable>::TableItem) -> Result<(), UserError> {
        self.edit_file(|text| config_table::upsert_item::<S::File>(text, settings))
    }

    /// Switches one on or off.
    ///
    /// # Errors
    /// There is none of this name, or the file cannot be read or written.
    pub fn set_enabled(&self, id: &ServerId, enabled: bool) -> Result<(), UserError> {
        self.find(id)?;
        self.edit_file(|text| config_table::set_enabled::<S::File>(text, id, enabled))
    }

    /// Forgets one, and what was approved of it: whoever comes under this name later is approved anew.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn remove(&self, id: &ServerId, approved: &Path) -> Result<(), UserError> {
        self.edit_file(|text| config_table::remove_item::<S::File>(text, id))?;
        Ok(runtime::remove_if_exists(approved)?)
    }

    /// Writes the file as it is to be, and puts it in force.
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
    /// None is used until the file is right again.
    fn clear_with_error(&mut self, fault: UserError) {
        for one in std::mem::take(&mut self.entries).into_values() {
            one.on_removed();
        }
        self.errors = vec![fault];
        self.changes += 1;
    }
}

/// That what is to be approved is not what was looked at.
pub(crate) fn stale_error(id: &ServerId) -> UserError {
    UserError::new(
        format!("The tools of `{id}` are not what was looked at, so nothing was approved."),
        "Look at them again, then approve what is there now.",
    )
}

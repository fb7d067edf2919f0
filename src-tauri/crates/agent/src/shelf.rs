//! What a person set up in one of their files, by its name: read again when the file is another, changed on disk before in force.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::Fault;
use protocol::servers::ServerId;
use tools::Tool;
use tools::kept::{self, Kept};

/// What one table of the file becomes.
pub(crate) trait Standing: Sized {
    /// The file.
    type File: Kept<One: PartialEq>;
    /// What all of them stand on.
    type Ground;

    /// One that nobody has used yet. What was approved of it and cannot be read is approved no more.
    fn made(
        settings: <Self::File as Kept>::One,
        data_dir: &Path,
        ground: &Self::Ground,
    ) -> (Self, Option<Fault>);

    /// As it was set up.
    fn settings(&self) -> &<Self::File as Kept>::One;

    /// Another number whenever its tools are others.
    fn version(&self) -> u64;

    /// Its tools, as far as they are as they were approved.
    fn tools(self: &Arc<Self>) -> Vec<Arc<dyn Tool>>;

    /// It is in force from now on.
    fn joins(&self, ground: &Self::Ground);

    /// It is in force no more.
    fn leaves(&self);
}

/// Everything that one file sets up.
pub(crate) struct Shelf<S: Standing> {
    data_dir: PathBuf,
    ground: S::Ground,
    known: Mutex<Known<S>>,
    /// Held by whoever changes one of them.
    changing: tokio::sync::Mutex<()>,
}

struct Known<S> {
    /// The file as it was read last.
    text: Option<String>,
    all: BTreeMap<ServerId, Arc<S>>,
    faults: Vec<Fault>,
    /// How often the list became another.
    changes: u64,
}

/// What the tools of all of them depend on: while it is the same, so are they.
pub(crate) type Seen = (u64, Vec<u64>);

impl<S: Standing> Shelf<S> {
    /// Reads what is set up; nothing of it is used yet.
    pub fn open(data_dir: &Path, ground: S::Ground) -> Self {
        let shelf = Self {
            data_dir: data_dir.to_owned(),
            ground,
            known: Mutex::new(Known {
                text: None,
                all: BTreeMap::new(),
                faults: Vec::new(),
                changes: 0,
            }),
            changing: tokio::sync::Mutex::default(),
        };
        shelf.read();
        shelf
    }

    fn known(&self) -> MutexGuard<'_, Known<S>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self) -> PathBuf {
        self.data_dir.join(S::File::FILE)
    }

    /// The data folder.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// What all of them stand on.
    pub fn ground(&self) -> &S::Ground {
        &self.ground
    }

    /// Waits until nobody else changes one of them, and reads what stands then.
    pub async fn alone(&self) -> tokio::sync::MutexGuard<'_, ()> {
        let alone = self.changing.lock().await;
        self.read();
        alone
    }

    /// Reads the file again if it is another: a person edits it, and another process may.
    pub fn read(&self) {
        let mut known = self.known();
        let text = match runtime::read_text(&self.file()) {
            Ok(text) => text.unwrap_or_default(),
            Err(error) => return known.none(error.into()),
        };
        if known.text.as_ref() == Some(&text) {
            return;
        }
        match kept::read::<S::File>(&text) {
            Ok(all) => {
                known.faults.clear();
                self.take(&mut known, all);
            }
            Err(fault) => known.none(fault),
        }
        known.text = Some(text);
    }

    /// Puts these in the place of those before; one that is as it was goes on.
    fn take(&self, known: &mut Known<S>, settings: Vec<<S::File as Kept>::One>) {
        let mut all = BTreeMap::new();
        for settings in settings {
            let id = S::File::named(&settings).0.clone();
            let same = known.all.get(&id);
            let one = match same.filter(|one| *one.settings() == settings) {
                Some(same) => same.clone(),
                None => {
                    let (one, fault) = self.made(settings);
                    known.faults.extend(fault);
                    one.joins(&self.ground);
                    one
                }
            };
            all.insert(id, one);
        }
        let before = std::mem::replace(&mut known.all, all);
        for (id, one) in before {
            let still = known.all.get(&id);
            if still.is_none_or(|still| !Arc::ptr_eq(still, &one)) {
                one.leaves();
            }
        }
        known.changes += 1;
    }

    /// One that is not in force.
    pub fn made(&self, settings: <S::File as Kept>::One) -> (Arc<S>, Option<Fault>) {
        let (one, fault) = S::made(settings, &self.data_dir, &self.ground);
        (Arc::new(one), fault)
    }

    /// Puts one in the place of the one of its name.
    pub fn put(&self, one: Arc<S>) {
        let mut known = self.known();
        one.joins(&self.ground);
        let id = S::File::named(one.settings()).0.clone();
        if let Some(before) = known.all.insert(id, one) {
            before.leaves();
        }
        known.changes += 1;
    }

    /// The one of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn find(&self, id: &ServerId) -> Result<Arc<S>, Fault> {
        let found = self.known().all.get(id).cloned();
        found.ok_or_else(|| kept::unknown::<S::File>(id))
    }

    /// All of them, by their names, while nothing joins them or leaves.
    pub fn each<T>(&self, tell: impl FnMut(&Arc<S>) -> T) -> Vec<T> {
        self.known().all.values().map(tell).collect()
    }

    /// What the tools depend on at the moment.
    pub fn seen(&self) -> Seen {
        let known = self.known();
        let versions = known.all.values().map(|one| one.version());
        (known.changes, versions.collect())
    }

    /// The tools of all that are on.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let known = self.known();
        let on = known.all.values();
        on.filter(|one| S::File::named(one.settings()).1)
            .flat_map(S::tools)
            .collect()
    }

    /// What is wrong with the file, or with what was approved.
    pub fn faults(&self) -> Vec<Fault> {
        self.known().faults.clone()
    }

    /// Sets one up, or sets it up otherwise.
    ///
    /// # Errors
    /// It cannot be set up so, or the file cannot be read or written.
    pub fn set(&self, settings: &<S::File as Kept>::One) -> Result<(), Fault> {
        self.write(|text| kept::with::<S::File>(text, settings))
    }

    /// Switches one on or off.
    ///
    /// # Errors
    /// There is none of this name, or the file cannot be read or written.
    pub fn switch(&self, id: &ServerId, enabled: bool) -> Result<(), Fault> {
        self.find(id)?;
        self.write(|text| kept::switched::<S::File>(text, id, enabled))
    }

    /// Forgets one, and what was approved of it: whoever comes under this name later is approved anew.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn remove(&self, id: &ServerId, approved: &Path) -> Result<(), Fault> {
        self.write(|text| kept::without::<S::File>(text, id))?;
        Ok(runtime::forget(approved)?)
    }

    /// Writes the file as it is to be, and puts it in force.
    fn write(&self, change: impl FnOnce(&str) -> Result<String, Fault>) -> Result<(), Fault> {
        let _lock = runtime::lock(&self.file().with_extension("lock"))?;
        let text = runtime::read_text(&self.file())?.unwrap_or_default();
        runtime::write_atomic(&self.file(), change(&text)?.as_bytes(), 0o600)?;
        self.read();
        Ok(())
    }
}

impl<S: Standing> Known<S> {
    /// None is used until the file is right again.
    fn none(&mut self, fault: Fault) {
        for one in std::mem::take(&mut self.all).into_values() {
            one.leaves();
        }
        self.faults = vec![fault];
        self.changes += 1;
    }
}

/// That what is to be approved is not what was looked at.
pub(crate) fn stale(id: &ServerId) -> Fault {
    Fault::new(
        format!("The tools of `{id}` are not what was looked at, so nothing was approved."),
        "Look at them again, then approve what is there now.",
    )
}

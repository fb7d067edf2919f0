//! Caches and state that programs keep in a home folder, or where a variable of the command says instead, by the list in
//! `table.toml`: a command of a dry run finds them, and its changes go into layers that nobody carries out, but for those in
//! caches that a rule keeps.
//!
//! So a build that fills a cache is no question, and what it left there runs in no program later on. Folders that a link
//! leads away from the home stay as they are: writing there is refused.

mod kept;
pub(in crate::dry_run) mod kept_state;
mod missing;

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use ignore::WalkBuilder;
use protocol::text::display_text::format_count;
use sandbox::PrivateFolder;
use serde::Deserialize;

use crate::dry_run::overlay::owned_folder::create_folder;
use crate::dry_run::refusals::Refusals;
use crate::dry_run::secrets::credentials::CredentialPaths;
use crate::dry_run::secrets::homes::find_homes;
use crate::dry_run::secrets::masks::is_out_of_sight;
use crate::dry_run::secrets::mounts::MountTable;
use crate::dry_run::{HomeCache, KeptCache};
use crate::fs::at_path::AtPath as _;
use crate::{FileError, Workspace};
use kept::CachePlace;
pub use kept::list_home_caches;
use missing::MissingFolders;

/// The format of `table.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramTable {
    program: Vec<Program>,
    kept: Vec<HomeCache>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    keeps: String,
    folders: Vec<PathBuf>,
    #[serde(default)]
    read_only: Vec<PathBuf>,
    /// Environment variables that name another place, each with the path below a home that it stands for.
    #[serde(default)]
    moved_by: BTreeMap<String, PathBuf>,
    #[allow(dead_code, reason = "for whoever reads the file")]
    source: String,
}

impl Program {
    /// Returns where paths of a home lie: there, and where variables say instead, whose values `value` returns. A variable
    /// moves what lies in the part that it stands for, and this part itself.
    fn find_places(
        &self,
        paths: &[PathBuf],
        home: &Path,
        value: impl Fn(&str) -> Option<OsString>,
    ) -> Vec<PathBuf> {
        let mut places: Vec<PathBuf> = paths.iter().map(|path| home.join(path)).collect();
        for (variable, part) in &self.moved_by {
            let moved = value(variable).map(PathBuf::from);
            let Some(moved) = moved.filter(|moved| moved.is_absolute()) else {
                continue;
            };
            places.extend(
                paths
                    .iter()
                    .filter_map(|path| match path.strip_prefix(part) {
                        Ok(below) => Some(moved.join(below)),
                        Err(_) => part.starts_with(path).then(|| moved.clone()),
                    }),
            );
        }
        places
    }

    /// Returns the caches whose changes a rule can keep, with each place.
    fn find_caches(
        &self,
        caches: &'static [HomeCache],
        home: &Path,
        value: impl Fn(&str) -> Option<OsString>,
    ) -> Vec<CachePlace> {
        let mut found = Vec::new();
        for cache in caches {
            let below = PathBuf::from(cache.folder.trim_start_matches("~/"));
            if self.folders.iter().any(|folder| below.starts_with(folder)) {
                let places = self.find_places(&[below], home, &value).into_iter();
                found.extend(places.map(|path| CachePlace { cache, path }));
            }
        }
        found
    }
}

impl ProgramTable {
    /// Loads the list, once.
    fn load() -> Result<&'static Self, FileError> {
        static LOADED: OnceLock<Result<ProgramTable, String>> = OnceLock::new();
        let loaded = LOADED.get_or_init(|| {
            toml::from_str(include_str!("table.toml")).map_err(|error| error.to_string())
        });
        loaded.as_ref().map_err(|error| {
            FileError::sandbox_unavailable(format!(
                "The list of what programs keep in a home folder cannot be read: {error}."
            ))
        })
    }
}

/// What a sandbox has for itself of the homes of the current user.
#[derive(Debug, Default)]
pub(in crate::dry_run) struct HomeState {
    layers: Vec<StateLayer>,
    /// Folders whose layers are kept for the next start of the program.
    kept: Vec<PrivateFolder>,
    /// Caches in the layers whose changes a rule can keep.
    caches: Vec<CachePlace>,
    /// Paths in the layers that are read-only.
    pub read_only: Vec<PathBuf>,
    missing: MissingFolders,
}

#[derive(Debug)]
struct StateLayer {
    keeps: String,
    folder: PrivateFolder,
}

impl HomeState {
    /// Creates the layers for one command, below `layers`: none over what lies in the workspace, is masked, or holds
    /// the layers. `kept` are layers of its own that it has already.
    ///
    /// # Errors
    /// [`FileError::SandboxUnavailable`] where the homes or mounts are not known; otherwise any error reported by the
    /// system.
    pub(in crate::dry_run) fn create(
        layers: &Path,
        workspace: &Workspace,
        masked: &[PathBuf],
        kept: Vec<PrivateFolder>,
    ) -> Result<Self, FileError> {
        let homes = find_homes()?.ours;
        let root = workspace.root();
        let value = |name: &str| workspace.inherited_env().variable(name);
        let mut state = Self {
            kept,
            ..Self::default()
        };
        let mounts = MountTable::load()?;
        let is_free = |folder: &Path| {
            !folder.starts_with(root)
                && !root.starts_with(folder)
                && !homes.iter().any(|home| home.starts_with(folder))
                && !layers.starts_with(folder)
                && !masked.iter().any(|mask| folder.starts_with(mask))
                && !is_out_of_sight(folder)
                && !mounts.has_mount_in(folder)
        };
        for home in &homes {
            state.add_home(home, layers, is_free, value)?;
            // Where the terminal of an agent leads a program, nothing is kept.
            state.add_caches(home, |name| env::var_os(name))?;
        }
        if let Some(home) = env::var_os("HOME").map(PathBuf::from) {
            let programs = &ProgramTable::load()?.program;
            state.missing = MissingFolders::find(programs, home, value);
        }
        Ok(state)
    }

    /// Adds layers for the folders in one home, or where variables say instead, whose values `value` returns, if `is_free`
    /// lets a layer lie over them.
    fn add_home(
        &mut self,
        home: &Path,
        layers: &Path,
        is_free: impl Fn(&Path) -> bool,
        value: impl Fn(&str) -> Option<OsString>,
    ) -> Result<(), FileError> {
        let table = ProgramTable::load()?;
        for program in &table.program {
            for path in program.find_places(&program.folders, home, &value) {
                if !is_real_folder(&path) || !is_free(&path) || self.overlaps(&path) {
                    continue;
                }
                let layer = layers.join(self.layers.len().to_string());
                let folder = create_private(path, &layer).at("the layers over a home folder")?;
                self.layers.push(StateLayer {
                    keeps: program.keeps.clone(),
                    folder,
                });
            }
            // What has no layer over it is read-only anyway, and need not be there or within reach.
            let mut read_only = program.find_places(&program.read_only, home, &value);
            read_only.retain(|path| self.overlaps(path));
            self.read_only.append(&mut read_only);
        }
        Ok(())
    }

    /// Adds the caches in the layers whose changes a rule can keep, by variables whose values `value` returns.
    fn add_caches(
        &mut self,
        home: &Path,
        value: impl Fn(&str) -> Option<OsString>,
    ) -> Result<(), FileError> {
        let table = ProgramTable::load()?;
        for program in &table.program {
            let mut caches = program.find_caches(&table.kept, home, &value);
            caches.retain(|place| self.holds(&place.path));
            self.caches.append(&mut caches);
        }
        Ok(())
    }

    /// Whether a folder lies in one that has a layer, or holds one.
    fn overlaps(&self, path: &Path) -> bool {
        let layered = self.layers.iter().map(|layer| &layer.folder);
        layered.chain(&self.kept).any(|layer| {
            let folder = &layer.path;
            path.starts_with(folder) || folder.starts_with(path)
        })
    }

    /// Whether a path lies in a folder that has a layer.
    fn holds(&self, path: &Path) -> bool {
        let mut layers = self.layers.iter();
        layers.any(|layer| path.starts_with(&layer.folder.path))
    }

    /// Returns the folders as the sandbox needs them.
    pub(in crate::dry_run) fn private_folders(&self) -> Vec<PrivateFolder> {
        let layers = self.layers.iter().map(|layer| &layer.folder);
        layers.chain(&self.kept).cloned().collect()
    }

    /// Returns variables that lead programs into a temporary folder where the home has none for what they keep.
    pub(in crate::dry_run) fn variables_into(&self, temporary: &str) -> Vec<(String, String)> {
        self.missing.variables_into(temporary)
    }

    /// Takes out of what a command was refused that it could not write into folders that the home does not have; returns
    /// a note about that.
    pub(in crate::dry_run) fn take_refusals(&self, refusals: &mut Refusals) -> Option<String> {
        self.missing.take_refusals(refusals)
    }

    /// Describes for a person what the command changed in the layers; `None` if nothing is lost.
    fn describe_lost_changes(&self, kept: &[KeptCache]) -> Option<String> {
        let mut counts: Vec<(&str, u64)> = Vec::new();
        for layer in &self.layers {
            let kept = kept.iter().filter(|one| one.folder == layer.folder.path);
            let kept_files: u64 = kept.map(|one| one.files).sum();
            let lost = layer.count_changes().saturating_sub(kept_files);
            match counts.last_mut() {
                Some((keeps, files)) if *keeps == layer.keeps => *files += lost,
                Some(_) | None => counts.push((&layer.keeps, lost)),
            }
        }
        let counts = counts.into_iter().filter(|(_, files)| *files > 0);
        let parts: Vec<String> = counts
            .map(|(keeps, files)| format!("{} of {keeps}", format_count(files, "file")))
            .collect();
        (!parts.is_empty()).then(|| {
            format!(
                "In your home folder it wrote {}, thrown away with the sandbox.",
                parts.join(", ")
            )
        })
    }
}

impl StateLayer {
    /// Counts the files that were created, changed or deleted.
    fn count_changes(&self) -> u64 {
        let entries = WalkBuilder::new(&self.folder.upper)
            .standard_filters(false)
            .build();
        let files = entries.flatten().filter(|entry| {
            let kind = entry.file_type();
            kind.is_some_and(|kind| !kind.is_dir())
        });
        files.count() as u64
    }
}

/// Whether a path that a command names lies in caches or state of the home folder that a sandbox has layers over, and is
/// neither a credential nor what a program was set up with. A name that the shell completes is not known to.
pub fn is_home_state(path: &str) -> bool {
    let at_home = ["~/", "$HOME/", "${HOME}/"];
    let below = at_home.iter().find_map(|start| path.strip_prefix(start));
    let home = env::var_os("HOME").map(PathBuf::from);
    let path = match (below, home) {
        (Some(below), Some(home)) => fs::canonicalize(home).map(|home| home.join(below)),
        (Some(_), None) => return false,
        (None, _) => Ok(PathBuf::from(path)),
    };
    let (Ok(path), Ok(homes), Ok(table), Ok(credentials)) = (
        path,
        find_homes(),
        ProgramTable::load(),
        CredentialPaths::load(),
    ) else {
        return false;
    };
    let is_open = |character: char| "*?[{$`".contains(character);
    let climbs = path.components().any(|part| part == Component::ParentDir);
    if climbs || path.to_string_lossy().contains(is_open) {
        return false;
    }
    let is_in = |places: &[PathBuf], home: &Path| {
        let mut places = places.iter().map(|place| home.join(place));
        places.any(|place| path.starts_with(place))
    };
    homes.ours.iter().any(|home| {
        let mut programs = table.program.iter();
        let is_credential = |path: &Path| {
            path.strip_prefix(home)
                .is_ok_and(|below| credentials.contain(below))
        };
        programs.any(|row| is_in(&row.folders, home) && !is_in(&row.read_only, home))
            && !is_credential(&path)
    })
}

/// Whether a path is that of a folder and leads through no link.
fn is_real_folder(path: &Path) -> bool {
    path.is_dir() && fs::canonicalize(path).is_ok_and(|real| real == path)
}

/// Creates an empty layer over a folder.
fn create_private(path: PathBuf, layer: &Path) -> io::Result<PrivateFolder> {
    let folder = PrivateFolder {
        upper: layer.join("upper"),
        work: layer.join("work"),
        path,
    };
    fs::create_dir_all(layer)?;
    create_folder(&folder.upper, 0o700)?;
    create_folder(&folder.work, 0o700)?;
    fs::set_permissions(&folder.upper, fs::metadata(&folder.path)?.permissions())?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_read_and_every_row_is_whole() {
        let programs = &ProgramTable::load().unwrap().program;
        let folders: Vec<&PathBuf> = programs.iter().flat_map(|row| &row.folders).collect();
        for folder in &folders {
            let others = folders.iter().filter(|other| other != &folder);
            let is_nested = others.clone().any(|other| folder.starts_with(other));
            assert!(folder.is_relative() && !is_nested, "{folder:?}");
        }
        for row in programs {
            assert!(!row.keeps.is_empty() && !row.source.is_empty(), "{row:?}");
            for path in &row.read_only {
                let is_below = row.folders.iter().any(|folder| path.starts_with(folder));
                assert!(is_below, "{path:?}");
            }
            for variable in row.moved_by.keys() {
                let value = |name: &str| (name == variable).then(|| "/moved".into());
                let places = row.find_places(&row.folders, Path::new("/home/a"), value);
                assert!(
                    places.iter().any(|place| place.starts_with("/moved")),
                    "{variable}"
                );
            }
        }
    }

    #[test]
    fn a_cache_that_a_rule_can_keep_lies_in_one_folder_and_holds_nothing_read_only() {
        let table = ProgramTable::load().unwrap();
        let credentials = CredentialPaths::load().unwrap();
        // No folder with so long a name can be listed, so each credential may be in it.
        let home = &Path::new("/").join("a".repeat(300));
        let closed = credentials.find_in_home(home);
        assert!(closed.len() > 100, "{closed:?}");
        for cache in &table.kept {
            let path = home.join(cache.folder.strip_prefix("~/").unwrap());
            let mut rows = table.program.iter();
            let row = rows.find(|row| {
                row.folders
                    .iter()
                    .any(|one| path.starts_with(home.join(one)))
            });
            let row = row.unwrap_or_else(|| panic!("{cache:?}"));
            let read_only = row
                .read_only
                .iter()
                .chain(&closed)
                .map(|one| home.join(one));
            let mut apart = read_only.map(|one| !one.starts_with(&path) && !path.starts_with(one));
            assert!(apart.all(|is_apart| is_apart), "{cache:?}");
            assert!(!cache.programs.is_empty(), "{cache:?}");
        }
    }

    #[test]
    fn variables_move_what_programs_keep() {
        let table = &ProgramTable::load().unwrap().program;
        let find = |keeps: &str, variable: &str, moved: &str| {
            let row = table.iter().find(|row| row.keeps == keeps).unwrap();
            let value = |name: &str| (name == variable).then(|| OsString::from(moved));
            let home = Path::new("/home/a");
            let places =
                [&row.folders, &row.read_only].map(|paths| row.find_places(paths, home, value));
            places.concat()
        };
        for (variable, keeps, moved) in [
            ("CARGO_HOME", "Cargo's cache", "/moved"),
            ("CARGO_HOME", "Cargo's cache", "/moved/bin"),
            ("XDG_CACHE_HOME", "the cache folder", "/moved"),
            ("GOMODCACHE", "Go's modules", "/moved"),
            ("GOPATH", "Go's modules", "/moved/pkg"),
            ("npm_config_cache", "npm's cache", "/moved"),
        ] {
            let places = find(keeps, variable, "/moved");
            assert!(
                places.contains(&PathBuf::from(moved)),
                "{variable}: {places:?}"
            );
            let unmoved = find(keeps, variable, "relative");
            assert!(unmoved.iter().all(|place| place.starts_with("/home/a")));
        }
    }

    #[test]
    fn layers_lie_over_what_is_there_and_nowhere_else() {
        let disk = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(disk.path()).unwrap();
        let home = root.join("home");
        for folder in [
            "home/.cache",
            "home/.cargo/bin",
            "home/.config",
            "home/.ssh",
            "home/.npm",
            "elsewhere",
            "moved",
        ] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::os::unix::fs::symlink(root.join("elsewhere"), home.join(".ccache")).unwrap();
        let mut state = HomeState::default();
        let is_free = |folder: &Path| folder != home.join(".npm");
        let moved = root.join("moved");
        let value = |name: &str| match name {
            "PIP_CACHE_DIR" => Some(moved.clone().into()),
            "CARGO_HOME" => Some("/nowhere".into()),
            _ => None,
        };
        state
            .add_home(&home, &root.join("layers"), is_free, value)
            .unwrap();
        let folders = state.private_folders();
        let paths: Vec<&Path> = folders.iter().map(|folder| &*folder.path).collect();
        assert_eq!(
            paths,
            [home.join(".cache"), moved.clone(), home.join(".cargo")]
        );
        assert!(state.read_only.contains(&home.join(".cargo/bin")));
        assert!(!state.read_only.contains(&"/nowhere/bin".into()));
        assert_eq!(state.take_changes(&[], i64::MAX).notes, [""; 0]);

        for (layer, file) in [(0, "pip/http/a"), (1, "http/b"), (2, "registry/c")] {
            let path = folders[layer].upper.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let lost = "In your home folder it wrote 2 files of the cache folder, 1 file of Cargo's cache, thrown away with the sandbox.";
        assert!(
            state
                .take_changes(&[], i64::MAX)
                .notes
                .contains(&lost.to_owned())
        );
    }
}

//! Caches and state that programs keep in a home folder, by the list in `table.toml`: a command of a dry run finds them,
//! and its changes go into layers that nobody carries out.
//!
//! So a build that fills a cache is no question, and what it left there runs in no program later on. Folders that do not
//! exist, or that a link leads away from the home, stay as they are: writing there is refused.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use protocol::text::display_text::format_count;
use sandbox::PrivateFolder;
use serde::Deserialize;

use crate::FileError;
use crate::dry_run::overlay::owned_folder::create_folder;
use crate::dry_run::secrets::homes::find_homes;
use crate::dry_run::secrets::masks::is_out_of_sight;
use crate::dry_run::secrets::mounts::MountTable;
use crate::fs::at_path::AtPath as _;

/// The format of `table.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramTable {
    program: Vec<Program>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    keeps: String,
    folders: Vec<PathBuf>,
    #[serde(default)]
    read_only: Vec<PathBuf>,
    #[allow(dead_code, reason = "for whoever reads the file")]
    source: String,
}

impl ProgramTable {
    fn load() -> Result<Self, FileError> {
        toml::from_str(include_str!("table.toml")).map_err(|error| {
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
    /// Paths in the layers that are read-only.
    pub read_only: Vec<PathBuf>,
}

#[derive(Debug)]
struct StateLayer {
    keeps: String,
    folder: PrivateFolder,
}

impl HomeState {
    /// Creates the layers for one command, below `layers`: none over what lies in the workspace, is masked, or holds
    /// the layers.
    ///
    /// # Errors
    /// [`FileError::SandboxUnavailable`] where the homes or mounts are not known; otherwise any error reported by the
    /// system.
    pub(in crate::dry_run) fn create(
        layers: &Path,
        workspace: &Path,
        masked: &[PathBuf],
    ) -> Result<Self, FileError> {
        let homes = find_homes()?.ours;
        let mut state = Self::default();
        let mounts = MountTable::load()?;
        let is_free = |folder: &Path| {
            !folder.starts_with(workspace)
                && !layers.starts_with(folder)
                && !masked.iter().any(|mask| folder.starts_with(mask))
                && !is_out_of_sight(folder)
                && !mounts.has_mount_in(folder)
        };
        for home in &homes {
            state.add_home(home, layers, is_free)?;
        }
        Ok(state)
    }

    /// Adds layers for the folders in one home, where `is_free` lets a layer lie over them.
    fn add_home(
        &mut self,
        home: &Path,
        layers: &Path,
        is_free: impl Fn(&Path) -> bool,
    ) -> Result<(), FileError> {
        for program in ProgramTable::load()?.program {
            for folder in &program.folders {
                let path = home.join(folder);
                if !is_real_folder(&path) || !is_free(&path) {
                    continue;
                }
                let layer = layers.join(self.layers.len().to_string());
                let folder = create_private(path, &layer).at("the layers over a home folder")?;
                self.layers.push(StateLayer {
                    keeps: program.keeps.clone(),
                    folder,
                });
            }
            let read_only = program.read_only.iter();
            self.read_only
                .extend(read_only.map(|below| home.join(below)));
        }
        Ok(())
    }

    /// Returns the folders as the sandbox needs them.
    pub(in crate::dry_run) fn private_folders(&self) -> Vec<PrivateFolder> {
        let layers = self.layers.iter();
        layers.map(|layer| layer.folder.clone()).collect()
    }

    /// Describes for a person what the command changed in the layers; `None` if it changed nothing.
    pub(in crate::dry_run) fn describe_changes(&self) -> Option<String> {
        let mut counts: Vec<(&str, u64)> = Vec::new();
        for layer in &self.layers {
            match counts.last_mut() {
                Some((keeps, files)) if *keeps == layer.keeps => *files += layer.count_changes(),
                Some(_) | None => counts.push((&layer.keeps, layer.count_changes())),
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
        let programs = ProgramTable::load().unwrap().program;
        let folders: Vec<&PathBuf> = programs.iter().flat_map(|row| &row.folders).collect();
        for folder in &folders {
            let others = folders.iter().filter(|other| other != &folder);
            let is_nested = others.clone().any(|other| folder.starts_with(other));
            assert!(folder.is_relative() && !is_nested, "{folder:?}");
        }
        for row in &programs {
            assert!(!row.keeps.is_empty() && !row.source.is_empty(), "{row:?}");
            for path in &row.read_only {
                let is_below = row.folders.iter().any(|folder| path.starts_with(folder));
                assert!(is_below, "{path:?}");
            }
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
        ] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::os::unix::fs::symlink(root.join("elsewhere"), home.join(".ccache")).unwrap();
        let mut state = HomeState::default();
        let is_free = |folder: &Path| folder != home.join(".npm");
        state
            .add_home(&home, &root.join("layers"), is_free)
            .unwrap();
        let folders = state.private_folders();
        let paths: Vec<&Path> = folders.iter().map(|folder| &*folder.path).collect();
        assert_eq!(paths, [home.join(".cache"), home.join(".cargo")]);
        assert!(state.read_only.contains(&home.join(".cargo/bin")));
        assert_eq!(state.describe_changes(), None);

        for (layer, file) in [(0, "pip/http/a"), (0, "pip/b"), (1, "registry/c")] {
            let path = folders[layer].upper.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        assert_eq!(
            state.describe_changes().unwrap(),
            "In your home folder it wrote 2 files of the cache folder, 1 file of Cargo's cache, thrown away with the sandbox."
        );
    }
}

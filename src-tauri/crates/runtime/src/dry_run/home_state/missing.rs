//! Folders of the table that a home does not have: a program that a variable leads elsewhere keeps its cache in the
//! sandbox's temporary folder, and what is refused to others would have been thrown away.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use protocol::view::effects::RefusalKind;

use super::Program;
use crate::dry_run::refusals::Refusals;

/// How many paths a note names.
const NAMED_PATHS_MAX: usize = 3;

/// The folders of the table that the home of a command does not have.
#[derive(Debug, Default)]
pub(super) struct MissingFolders {
    home: PathBuf,
    folders: Vec<PathBuf>,
    /// What a program was set up with, in these folders.
    read_only: Vec<PathBuf>,
    /// Variables that lead programs elsewhere, each with the part of the home that it stands for.
    variables: Vec<(String, PathBuf)>,
}

impl MissingFolders {
    /// Finds the folders. `value` returns the values of the app's variables: what one of them moves is looked for where it
    /// says, and not in the home.
    pub fn find(
        programs: &[Program],
        home: PathBuf,
        value: impl Fn(&str) -> Option<OsString>,
    ) -> Self {
        let mut missing = Self {
            home,
            ..Self::default()
        };
        for program in programs {
            for folder in &program.folders {
                let path = missing.home.join(folder);
                if !exists(&path) {
                    missing.folders.push(path);
                }
            }
            let read_only = program.read_only.iter();
            missing
                .read_only
                .extend(read_only.map(|path| missing.home.join(path)));
            for (variable, part) in &program.moved_by {
                let mut set = program.moved_by.iter();
                let is_moved =
                    set.any(|(other, moved)| part.starts_with(moved) && value(other).is_some());
                let mut folders = program.folders.iter();
                let is_kept = folders
                    .any(|folder| part.starts_with(folder) && exists(&missing.home.join(folder)));
                if !is_moved && !is_kept && !exists(&missing.home.join(part)) {
                    missing.variables.push((variable.clone(), part.clone()));
                }
            }
        }
        missing
    }

    /// Returns variables that lead programs into a temporary folder.
    pub fn variables_into(&self, temporary: &str) -> Vec<(String, String)> {
        let variables = self.variables.iter();
        let moved = variables.map(|(name, part)| {
            let path = Path::new(temporary).join(part);
            (name.clone(), path.to_string_lossy().into_owned())
        });
        moved.collect()
    }

    /// Takes out of what a command was refused that it could not write into these folders; returns a note about that.
    pub fn take_refusals(&self, refusals: &mut Refusals) -> Option<String> {
        let mut paths = Vec::new();
        refusals.list.retain(|refusal| {
            let is_missing =
                refusal.kind == RefusalKind::Write && self.covers(Path::new(&refusal.target));
            if is_missing {
                paths.push(format!("`{}`", refusal.target));
            }
            !is_missing
        });
        let more = match paths.len() > NAMED_PATHS_MAX {
            true => ", …",
            false => "",
        };
        paths.truncate(NAMED_PATHS_MAX);
        (!paths.is_empty()).then(|| {
            format!(
                "It could not write {}{more}, where a program keeps its cache or state; that would have been thrown away.",
                paths.join(", ")
            )
        })
    }

    /// Whether a path lies in one of these folders, or is to be created on the way to one.
    fn covers(&self, path: &Path) -> bool {
        let mut folders = self.folders.iter();
        let mut read_only = self.read_only.iter();
        path != self.home
            && path.starts_with(&self.home)
            && folders.any(|folder| path.starts_with(folder) || folder.starts_with(path))
            && !read_only.any(|closed| path.starts_with(closed))
            && !exists(path)
    }
}

/// Whether anything lies at a path, be it a link that leads nowhere.
fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

#[cfg(test)]
mod tests {
    use protocol::view::effects::Refusal;

    use super::super::ProgramTable;
    use super::*;

    fn find(home: &Path, set: &[&str]) -> MissingFolders {
        let programs = &ProgramTable::load().unwrap().program;
        let value = |name: &str| set.contains(&name).then(|| OsString::from("/moved"));
        MissingFolders::find(programs, home.to_owned(), value)
    }

    #[test]
    fn variables_lead_away_from_what_a_home_does_not_have() {
        let home = tempfile::tempdir().unwrap();
        for folder in [".cache", ".cargo", "go/src"] {
            fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        let moved = |set: &[&str], name: &str| {
            let variables = find(home.path(), set).variables_into("/tmp");
            let mut found = variables.into_iter().filter(|(other, _)| other == name);
            found.next().map(|(_, path)| path)
        };
        for (name, expected) in [
            ("npm_config_cache", Some("/tmp/.npm")),
            ("GOMODCACHE", Some("/tmp/go/pkg/mod")),
            // They lie in what there is.
            ("GOCACHE", None),
            ("XDG_CACHE_HOME", None),
            ("CARGO_HOME", None),
            ("GOPATH", None),
        ] {
            assert_eq!(moved(&[], name).as_deref(), expected, "{name}");
        }
        assert_eq!(moved(&["NPM_CONFIG_CACHE"], "npm_config_cache"), None);
        assert_eq!(moved(&["GOPATH"], "GOMODCACHE"), None);
    }

    #[test]
    fn refusals_in_folders_that_do_not_exist_are_taken_out() {
        let home = tempfile::tempdir().unwrap();
        let at = |path: &str| home.path().join(path).to_string_lossy().into_owned();
        fs::create_dir_all(at(".config")).unwrap();
        let missing = find(home.path(), &[]);
        let refusal = |kind, path: &str| Refusal {
            kind,
            target: at(path),
        };
        let left = [
            refusal(RefusalKind::Write, ".config"),
            refusal(RefusalKind::Write, ".config/other"),
            refusal(RefusalKind::Write, ".cargo/config.toml"),
            refusal(RefusalKind::Write, ".bashrc"),
            refusal(RefusalKind::Write, ""),
            refusal(RefusalKind::Secret, ".npm/a"),
        ];
        let taken = [".config/go", ".npm", ".cargo/registry/a", ".docker"];
        let taken = taken.map(|path| refusal(RefusalKind::Write, path));
        let mut refusals = Refusals {
            list: left.iter().chain(&taken).cloned().collect(),
            ..Refusals::default()
        };
        let note = missing.take_refusals(&mut refusals).unwrap();
        assert_eq!(refusals.list, left);
        assert!(note.contains(&at(".npm")) && note.contains(", …"), "{note}");
        assert_eq!(missing.take_refusals(&mut refusals), None);
    }
}

//! Files that a build makes again: git ignores them, and their names say what they are.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use protocol::Plan;

use super::Repository;
use crate::fs::workspace::Workspace;

/// Folders whose content only builds and package managers write, whatever git says of them.
const GENERATED_FOLDERS: &[&str] = &[
    "node_modules",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".ipynb_checkpoints",
    ".next",
    ".turbo",
    ".parcel-cache",
    ".svelte-kit",
    ".dart_tool",
];

/// Folders whose content builds write where git ignores them.
const OUTPUT_FOLDERS: &[&str] = &[
    "target",
    "dist",
    "build",
    "out",
    "bin",
    "obj",
    "_build",
    "coverage",
    "htmlcov",
    "vendor",
    "venv",
    ".venv",
    ".tox",
    ".nox",
    ".eggs",
    ".gradle",
    ".terraform",
    ".nuxt",
    ".output",
    ".cache",
    ".vite",
    ".angular",
    "Pods",
    "DerivedData",
    "storybook-static",
    ".nyc_output",
    ".hypothesis",
];

/// Endings of files that builds write where git ignores them.
const OUTPUT_EXTENSIONS: &[&str] = &[
    "pyc",
    "pyo",
    "o",
    "obj",
    "class",
    "d",
    "rlib",
    "rmeta",
    "tsbuildinfo",
    "gcda",
    "gcno",
    "tmp",
    "swp",
];

/// Names of files that tools write where git ignores them.
const OUTPUT_FILES: &[&str] = &[
    ".eslintcache",
    ".stylelintcache",
    ".coverage",
    "coverage.xml",
    ".DS_Store",
];

/// Tells which files a build makes again.
pub(super) struct BuildOutputs<'a> {
    repository: Option<&'a Repository>,
    /// The ignore file of each folder that was looked at; none if it has none.
    ignore_files: RefCell<HashMap<PathBuf, Option<Gitignore>>>,
    /// The repository's own list, which is no file of the work tree.
    exclude: Option<Gitignore>,
}

impl<'a> BuildOutputs<'a> {
    pub fn new(repository: Option<&'a Repository>) -> Self {
        Self {
            exclude: repository.and_then(|repository| {
                let file = repository.common_dir.join("info").join("exclude");
                read_ignore_file(&repository.work_tree, &file)
            }),
            repository,
            ignore_files: RefCell::default(),
        }
    }

    /// Whether a build makes this file again. The path is absolute.
    pub fn contains(&self, path: &Path) -> bool {
        let Some(repository) = self.repository else {
            return has_folder(path, GENERATED_FOLDERS);
        };
        let Ok(below) = path.strip_prefix(&repository.work_tree) else {
            return false;
        };
        has_folder(below, GENERATED_FOLDERS)
            || (is_output(below) && self.is_ignored(repository, path))
    }

    /// Whether the ignore files of a repository name a file. Those nearer to it speak first.
    fn is_ignored(&self, repository: &Repository, path: &Path) -> bool {
        let folders = path.ancestors().skip(1);
        let inside = folders.take_while(|folder| folder.starts_with(&repository.work_tree));
        for folder in inside {
            let mut ignore_files = self.ignore_files.borrow_mut();
            let ignore_file = ignore_files
                .entry(folder.to_owned())
                .or_insert_with(|| read_ignore_file(folder, &folder.join(".gitignore")));
            let matched = ignore_file
                .as_ref()
                .map(|ignore_file| ignore_file.matched_path_or_any_parents(path, false));
            if let Some(matched) = matched.filter(|matched| !matched.is_none()) {
                return matched.is_ignore();
            }
        }
        self.exclude
            .as_ref()
            .is_some_and(|exclude| exclude.matched_path_or_any_parents(path, false).is_ignore())
    }
}

/// Returns how many of the paths that a command changed a build makes again. Reads files, so it must not run on an async
/// thread.
pub fn count_build_outputs(workspace: &Workspace, plan: &Plan) -> u64 {
    let Plan::Effects(captured) = plan else {
        return 0;
    };
    let repository = Repository::discover(workspace.root());
    let outputs = BuildOutputs::new(repository.as_ref());
    let paths = captured
        .steps
        .iter()
        .map(|step| workspace.root().join(&step.path));
    paths.filter(|path| outputs.contains(path)).count() as u64
}

fn read_ignore_file(folder: &Path, file: &Path) -> Option<Gitignore> {
    if !file.is_file() {
        return None;
    }
    let mut builder = GitignoreBuilder::new(folder);
    // Lines that cannot be read are left out, as git does.
    builder.add(file);
    builder.build().ok()
}

fn has_folder(path: &Path, names: &[&str]) -> bool {
    let folders = path.parent().into_iter().flat_map(Path::components);
    let mut folders = folders.filter_map(|part| part.as_os_str().to_str());
    folders.any(|folder| names.contains(&folder))
}

fn is_output(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let extension = path.extension().and_then(|extension| extension.to_str());
    has_folder(path, OUTPUT_FOLDERS)
        || name.is_some_and(|name| OUTPUT_FILES.contains(&name))
        || extension.is_some_and(|extension| OUTPUT_EXTENSIONS.contains(&extension))
}

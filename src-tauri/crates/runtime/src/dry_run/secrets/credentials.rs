//! The paths at which credentials are kept, by the list in `credentials.toml`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use globset::{Glob, GlobSet, GlobSetBuilder};
use serde::Deserialize;

/// Folders in a home that an environment variable may relocate.
const RELOCATED_FOLDERS: [(&str, &str); 4] = [
    (".config", "XDG_CONFIG_HOME"),
    (".cache", "XDG_CACHE_HOME"),
    (".local/share", "XDG_DATA_HOME"),
    (".local/state", "XDG_STATE_HOME"),
];

/// The paths at which credentials are kept.
#[derive(Debug, Default)]
pub(in crate::dry_run) struct CredentialPaths {
    below_home: CredentialFolder,
    below_root: CredentialFolder,
    named_by: BTreeSet<String>,
}

/// A folder below which credentials are kept, or a credential.
#[derive(Debug, Default)]
struct CredentialFolder {
    /// Whether this is a credential, with everything below.
    is_credential: bool,
    named: BTreeMap<OsString, CredentialFolder>,
    /// What lies behind patterns for names, each in the place that its pattern has in `patterns`.
    matched: Vec<CredentialFolder>,
    patterns: Vec<String>,
    globs: GlobSet,
}

/// The format of `credentials.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CredentialList {
    store: Vec<CredentialStore>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CredentialStore {
    #[allow(dead_code, reason = "for whoever reads the file")]
    owner: String,
    paths: Vec<String>,
    #[serde(default)]
    named_by: Vec<String>,
    #[allow(dead_code, reason = "for whoever reads the file")]
    source: String,
}

impl CredentialPaths {
    /// Loads the list; the error says what is wrong with it.
    pub(in crate::dry_run) fn load() -> Result<&'static Self, &'static str> {
        static LOADED: OnceLock<Result<CredentialPaths, String>> = OnceLock::new();
        let known = LOADED.get_or_init(|| {
            let list: CredentialList = toml::from_str(include_str!("credentials.toml"))
                .map_err(|error| error.to_string())?;
            Self::from_list(list).map_err(|error| error.to_string())
        });
        known.as_ref().map_err(String::as_str)
    }

    fn from_list(list: CredentialList) -> Result<Self, globset::Error> {
        let mut all = Self::default();
        for store in list.store {
            all.named_by.extend(store.named_by);
            for path in store.paths {
                match path.strip_prefix("~/") {
                    Some(below) => all.below_home.add(below),
                    None => all.below_root.add(&path),
                }
            }
        }
        all.below_home.compile_globs()?;
        all.below_root.compile_globs()?;
        Ok(all)
    }

    /// Whether a path below a home is that of a credential, or lies in one.
    pub(in crate::dry_run) fn contain(&self, below_home: &Path) -> bool {
        let names = below_home.components().map(Component::as_os_str);
        self.below_home.contains(&names.collect::<Vec<_>>())
    }

    /// Returns the paths of the credentials that exist below a home. In a folder that cannot be listed, those that may
    /// exist.
    pub(in crate::dry_run) fn find_in_home(&self, home: &Path) -> Vec<PathBuf> {
        self.below_home.find_below(home)
    }

    /// Returns the paths of the credentials that exist outside of all homes.
    pub(in crate::dry_run) fn find_on_machine(&self) -> Vec<PathBuf> {
        self.below_root.find_below(Path::new("/"))
    }

    /// Returns the paths that environment variables name, whose values `value` returns, and the credentials in folders
    /// of a home that such variables relocate.
    pub(in crate::dry_run) fn find_named(
        &self,
        value: impl Fn(&str) -> Option<OsString>,
    ) -> Vec<PathBuf> {
        let named = self.named_by.iter().filter_map(|name| value(name));
        let mut all: Vec<PathBuf> = named
            .flat_map(|paths| std::env::split_paths(&paths).collect::<Vec<_>>())
            .collect();
        for (folder, variable) in RELOCATED_FOLDERS {
            if let (Some(moved), Some(held)) = (value(variable), self.below_home.folder(folder)) {
                all.extend(held.find_below(Path::new(&moved)));
            }
        }
        all.retain(|path| path.is_absolute() && path.parent().is_some());
        all
    }
}

impl CredentialFolder {
    /// Adds the path of a credential, each part of which is a name or a pattern for names.
    fn add(&mut self, path: &str) {
        let mut folder = self;
        for part in path.split('/').filter(|part| !part.is_empty()) {
            folder = match part.contains('*') {
                false => folder
                    .named
                    .entry(comparable_name(OsStr::new(part)).into_owned())
                    .or_default(),
                true => folder.pattern_mut(part),
            };
        }
        folder.is_credential = true;
    }

    /// Returns what lies behind a pattern, which is added where it is missing.
    fn pattern_mut(&mut self, pattern: &str) -> &mut Self {
        let known = self.patterns.iter().position(|known| known == pattern);
        let index = known.unwrap_or_else(|| {
            self.patterns.push(pattern.to_owned());
            self.matched.push(Self::default());
            self.patterns.len() - 1
        });
        &mut self.matched[index]
    }

    /// Compiles the patterns of this folder and of all below.
    fn compile_globs(&mut self) -> Result<(), globset::Error> {
        let mut globs = GlobSetBuilder::new();
        for pattern in &self.patterns {
            globs.add(Glob::new(pattern)?);
        }
        self.globs = globs.build()?;
        let mut below = self.named.values_mut().chain(&mut self.matched);
        below.try_for_each(Self::compile_globs)
    }

    /// Returns a folder by the names that lead to it.
    fn folder(&self, path: &str) -> Option<&Self> {
        let mut names = path.split('/');
        names.try_fold(self, |folder, name| folder.named.get(OsStr::new(name)))
    }

    /// Returns all that a name in this folder stands for.
    fn named_or_matched<'a>(&'a self, name: &OsStr) -> impl Iterator<Item = &'a Self> {
        let matches = match self.globs.is_empty() {
            true => Vec::new(),
            false => self.globs.matches(Path::new(name)),
        };
        let matched = matches
            .into_iter()
            .filter_map(|index| self.matched.get(index));
        self.named
            .get(&*comparable_name(name))
            .into_iter()
            .chain(matched)
    }

    fn contains(&self, names: &[&OsStr]) -> bool {
        let Some((name, below)) = names.split_first() else {
            return self.is_credential;
        };
        self.is_credential
            || self
                .named_or_matched(name)
                .any(|folder| folder.contains(below))
    }

    /// Returns the paths of the credentials that exist below a folder. Each folder is listed once.
    fn find_below(&self, folder: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        self.collect_below(folder, &mut found);
        found
    }

    fn collect_below(&self, folder: &Path, found: &mut Vec<PathBuf>) {
        if self.is_credential {
            found.push(folder.to_owned());
        }
        if self.named.is_empty() && self.matched.is_empty() {
            return;
        }
        match fs::read_dir(folder) {
            Ok(names) => {
                for name in names.flatten().map(|entry| entry.file_name()) {
                    for below in self.named_or_matched(&name) {
                        below.collect_below(&folder.join(&name), found);
                    }
                }
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            // Paths in a folder that cannot be listed may still be reachable.
            Err(_) => {
                for (name, below) in &self.named {
                    below.collect_below(&folder.join(name), found);
                }
            }
        }
    }
}

/// Returns a name as file systems compare it: those of macOS ignore case.
fn comparable_name(name: &OsStr) -> Cow<'_, OsStr> {
    match cfg!(target_os = "macos") {
        true => name.to_ascii_lowercase().into(),
        false => name.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_can_be_read_and_every_row_is_whole() {
        let list: CredentialList = toml::from_str(include_str!("credentials.toml")).unwrap();
        let mut seen = BTreeSet::new();
        for store in &list.store {
            assert!(
                !store.owner.is_empty() && !store.source.is_empty(),
                "{store:?}"
            );
            for path in &store.paths {
                let is_absolute = path.starts_with("~/") || path.starts_with('/');
                assert!(
                    is_absolute && path.len() > 3 && !path.ends_with('/'),
                    "{path}"
                );
                assert!(seen.insert(path.clone()), "{path} is there twice");
            }
        }
        assert!(seen.len() > 300, "{}", seen.len());
    }

    /// Stores that other projects found unprotected.
    #[test]
    fn stores_of_agents_clouds_browsers_and_histories_are_on_the_list() {
        let home = tempfile::tempdir().unwrap();
        let stores = [
            ".claude/.credentials.json",
            ".codex/auth.json",
            ".gemini/oauth_creds.json",
            ".config/github-copilot/apps.json",
            ".local/share/opencode/auth.json",
            ".cursor/mcp.json",
            ".config/goose/secrets.yaml",
            ".local/share/zed/db",
            ".aider.conf.yml",
            ".codeium/windsurf/mcp_config.json",
            ".cache/huggingface/token",
            ".config/sops/age/keys.txt",
            ".s3cfg",
            ".my.cnf",
            ".psql_history",
            ".python_history",
            ".local/share/fish/fish_history",
            ".config/BraveSoftware/x",
            ".config/microsoft-edge/x",
            ".config/google-chrome-beta/x",
            ".thunderbird/x",
            ".gradle/gradle.properties",
            ".config/doctl/config.yaml",
            ".fly/config.yml",
            ".config/Code/User/globalStorage/state.vscdb",
            ".config/Code - Insiders/User/globalStorage/state.vscdb",
            ".local/share/countersign/record.db",
            ".ssh/id_rsa",
            ".aws/credentials",
        ];
        for store in stores {
            let path = home.path().join(store);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let known = CredentialPaths::load().unwrap().find_in_home(home.path());
        for store in stores {
            let path = home.path().join(store);
            assert!(known.iter().any(|known| path.starts_with(known)), "{store}");
        }
        for open in [
            ".cargo/registry",
            ".gradle/caches",
            ".cache/pip",
            ".config/git/config",
            ".rustup",
        ] {
            let path = home.path().join(open);
            assert!(!known.iter().any(|known| path.starts_with(known)), "{open}");
        }
    }

    #[test]
    fn what_variables_name_is_on_the_list_and_what_they_move() {
        let moved = tempfile::tempdir().unwrap();
        let value = |name: &str| match name {
            "KUBECONFIG" => Some("/a/config:/b/config".into()),
            "GNUPGHOME" => Some("relative".into()),
            "XDG_CONFIG_HOME" => Some(moved.path().into()),
            _ => None,
        };
        fs::create_dir(moved.path().join("gh")).unwrap();
        let mut found = CredentialPaths::load().unwrap().find_named(value);
        found.sort();
        let mut expected = [
            "/a/config".into(),
            "/b/config".into(),
            moved.path().join("gh"),
        ];
        expected.sort();
        assert_eq!(found, expected);
    }
}

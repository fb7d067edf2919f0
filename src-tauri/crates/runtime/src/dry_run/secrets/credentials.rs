//! The paths at which credentials are kept, by the list in `credentials.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use globset::{Glob, GlobMatcher};
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
    /// Paths below a home folder, by their first part.
    at_home: BTreeMap<OsString, Vec<CredentialPath>>,
    /// Paths whose first part is a pattern.
    home_globs: Vec<CredentialPath>,
    /// Paths below the root of the file system.
    on_this_machine: Vec<CredentialPath>,
    named_by: BTreeSet<String>,
}

/// A path below a folder, each part of which is a name or a pattern for names.
#[derive(Debug)]
struct CredentialPath(Vec<PathPart>);

#[derive(Debug)]
enum PathPart {
    Name(OsString),
    Glob(GlobMatcher),
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
                let Some(below) = path.strip_prefix("~/") else {
                    all.on_this_machine.push(CredentialPath::new(&path)?);
                    continue;
                };
                let below = CredentialPath::new(below)?;
                match below.0.first() {
                    Some(PathPart::Name(first)) => {
                        all.at_home.entry(first.clone()).or_default().push(below);
                    }
                    Some(PathPart::Glob(_)) | None => all.home_globs.push(below),
                }
            }
        }
        Ok(all)
    }

    /// Returns the credential paths that may exist below a home: only names that the home has are followed.
    pub(in crate::dry_run) fn find_in_home(&self, home: &Path) -> Vec<PathBuf> {
        let Ok(names) = fs::read_dir(home) else {
            // Paths in a home that cannot be listed may still be reachable.
            let all = self.at_home.values().flatten();
            return all.flat_map(|below| find_matches(home, &below.0)).collect();
        };
        let names = names.flatten().map(|entry| entry.file_name());
        let held = names.filter_map(|name| self.at_home.get(&name)).flatten();
        held.chain(&self.home_globs)
            .flat_map(|below| find_matches(home, &below.0))
            .collect()
    }

    /// Returns the credential paths of the machine, and those that environment variables name, whose values `value`
    /// returns.
    pub(in crate::dry_run) fn find_outside_home(
        &self,
        value: impl Fn(&str) -> Option<OsString>,
    ) -> Vec<PathBuf> {
        let root = Path::new("/");
        let mut all: Vec<PathBuf> = self
            .on_this_machine
            .iter()
            .flat_map(|path| find_matches(root, &path.0))
            .collect();
        let named = self.named_by.iter().filter_map(|name| value(name));
        all.extend(named.flat_map(|paths| std::env::split_paths(&paths).collect::<Vec<_>>()));
        for (folder, variable) in RELOCATED_FOLDERS {
            let Some(moved) = value(variable).map(PathBuf::from) else {
                continue;
            };
            let below = self.at_home.values().flatten();
            let below = below.filter_map(|path| path.strip_folder(folder));
            all.extend(below.flat_map(|parts| find_matches(&moved, parts)));
        }
        all.retain(|path| path.is_absolute() && path.parent().is_some());
        all
    }
}

impl CredentialPath {
    fn new(path: &str) -> Result<Self, globset::Error> {
        let parts = path.split('/').filter(|part| !part.is_empty());
        let parts = parts.map(|part| match part.contains('*') {
            true => Ok(PathPart::Glob(Glob::new(part)?.compile_matcher())),
            false => Ok(PathPart::Name(part.into())),
        });
        parts.collect::<Result<_, _>>().map(Self)
    }

    /// Returns the parts below a folder that the path begins with.
    fn strip_folder(&self, folder: &str) -> Option<&[PathPart]> {
        let mut below = self.0.as_slice();
        for expected in folder.split('/') {
            below = match below {
                [PathPart::Name(name), rest @ ..] if name == expected => rest,
                _ => return None,
            };
        }
        Some(below)
    }
}

/// Returns a path below a folder, once for every name that a pattern in it matches.
fn find_matches(folder: &Path, below: &[PathPart]) -> Vec<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    for part in below {
        folders = match part {
            PathPart::Name(name) => folders.into_iter().map(|path| path.join(name)).collect(),
            PathPart::Glob(glob) => folders
                .iter()
                .flat_map(|path| list_matching_names(path, glob))
                .collect(),
        };
    }
    folders
}

fn list_matching_names(folder: &Path, glob: &GlobMatcher) -> Vec<PathBuf> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = names.map(|entry| entry.file_name());
    let names = names.filter(|name| glob.is_match(Path::new(name)));
    names.map(|name| folder.join(name)).collect()
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
        let found = CredentialPaths::load().unwrap().find_outside_home(value);
        for path in [
            "/a/config".into(),
            "/b/config".into(),
            "/etc/shadow".into(),
            moved.path().join("gh"),
        ] {
            assert!(found.contains(&path), "{path:?}");
        }
        assert!(found.iter().all(|path| path.is_absolute()));
    }
}

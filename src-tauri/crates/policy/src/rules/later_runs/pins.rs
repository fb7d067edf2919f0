//! Versions that a project pins with the hash of their archive: whether the hash of one is taken away or is another, and
//! whether a version goes back.

use std::collections::{BTreeMap, BTreeSet};

use protocol::text::display_text::to_single_line;
use regex::Regex;
use serde_json::Value;

use super::ChangedFile;
use super::row::list_first;

/// Longest name or version in a sentence, in characters.
const NAME_CHARS_MAX: usize = 60;

/// Endings and names of files with a checksum and a name on each line.
const CHECKSUM_ENDINGS: &[&str] = &[".sha256", ".sha512", ".sha1", ".md5"];
const CHECKSUM_NAMES: &[&str] = &[
    "sha256sums",
    "sha256sums.txt",
    "sha512sums",
    "sha512sums.txt",
    "checksums.txt",
];

/// The forms in which files pin versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PinForm {
    Requirements,
    Json,
    Toml,
    GoSum,
    Yarn,
    TerraformLock,
    Checksums,
}

impl PinForm {
    fn of_path(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        match name {
            "package-lock.json" | "npm-shrinkwrap.json" | "Pipfile.lock" | "composer.lock" => {
                Some(Self::Json)
            }
            "Cargo.lock" | "uv.lock" | "poetry.lock" | "pdm.lock" => Some(Self::Toml),
            "go.sum" => Some(Self::GoSum),
            "yarn.lock" => Some(Self::Yarn),
            ".terraform.lock.hcl" => Some(Self::TerraformLock),
            _ if CHECKSUM_ENDINGS.iter().any(|it| name.ends_with(it))
                || CHECKSUM_NAMES.contains(&name.to_ascii_lowercase().as_str()) =>
            {
                Some(Self::Checksums)
            }
            _ if name.ends_with(".txt")
                && (name.contains("requirements") || name.starts_with("constraints")) =>
            {
                Some(Self::Requirements)
            }
            _ => None,
        }
    }

    fn read(self, text: &str) -> Pins {
        let mut pins = Pins::default();
        match self {
            Self::Requirements => pins.add_requirements(text),
            Self::Json => {
                if let Ok(root) = serde_json::from_str(text) {
                    pins.add_json("", &root);
                }
            }
            Self::Toml => {
                let root: Option<Value> = toml::from_str(text).ok();
                for package in root
                    .iter()
                    .filter_map(|it| it["package"].as_array())
                    .flatten()
                {
                    pins.add_json("", package);
                }
            }
            Self::GoSum => pins.add_go_sum(text),
            Self::Checksums => pins.add_checksums(text),
            Self::Yarn => {
                pins.add_blocks(text, r#"^"?(@?[^@"\s]+)@"#, r#"version:?\s+"?([^\s"]+)"#)
            }
            Self::TerraformLock => {
                pins.add_blocks(
                    text,
                    r#"provider\s+"([^"]+)""#,
                    r#"version\s*=\s*"([^"]+)""#,
                );
            }
        }
        pins
    }
}

/// Whether a file pins versions.
pub(super) fn is_pin_file(path: &str) -> bool {
    PinForm::of_path(path).is_some()
}

/// Returns a sentence on the versions whose hash is gone or another, and one on those that go back.
pub(super) fn describe_changed_pins(file: &ChangedFile<'_>) -> Vec<String> {
    let (Some(before), Some(after), Some(form)) =
        (file.before, file.after, PinForm::of_path(file.path))
    else {
        return Vec::new();
    };
    let read = |bytes: &[u8]| form.read(&String::from_utf8_lossy(bytes));
    let (before, after) = (read(before), read(after));
    let mut unchecked = Vec::new();
    let mut older = Vec::new();
    for (name, before) in &before.0 {
        let Some(after) = after.0.get(name) else {
            continue;
        };
        let name = to_single_line(name, NAME_CHARS_MAX);
        if before.lose_hash_to(after) {
            unchecked.push(format!("`{name}`"));
        }
        if let (Some(was), Some(is)) = (before.newest(), after.newest())
            && version_numbers(is) < version_numbers(was)
        {
            let [was, is] = [was, is].map(|version| to_single_line(version, NAME_CHARS_MAX));
            older.push(format!("`{name}` from {was} to {is}"));
        }
    }
    let sentences = [
        (
            "The next install takes another archive for a version, or does not check it",
            unchecked,
        ),
        ("The next install takes an older version", older),
    ];
    let told = sentences.into_iter().filter(|(_, named)| !named.is_empty());
    told.map(|(says, named)| format!("{says}: {}.", list_first(named.into_iter())))
        .collect()
}

/// The versions of a package, each with the hashes of its archives.
#[derive(Debug, Default)]
struct Versions(BTreeMap<String, BTreeSet<String>>);

impl Versions {
    fn newest(&self) -> Option<&str> {
        let versions = self.0.keys().max_by_key(|version| version_numbers(version));
        versions.map(String::as_str)
    }

    /// Whether a version that had a hash has none of its hashes any more, or is replaced by one without.
    fn lose_hash_to(&self, after: &Self) -> bool {
        let had_hashes = self.0.values().any(|hashes| !hashes.is_empty());
        after
            .0
            .iter()
            .any(|(version, hashes)| match self.0.get(version) {
                Some(known) => !known.is_empty() && known.is_disjoint(hashes),
                None => had_hashes && hashes.is_empty(),
            })
    }
}

/// The pinned versions of a file, by package.
#[derive(Debug, Default)]
struct Pins(BTreeMap<String, Versions>);

impl Pins {
    fn add(&mut self, name: &str, version: &str, hashes: impl IntoIterator<Item = String>) {
        let versions = self.0.entry(name.to_owned()).or_default();
        let known = versions.0.entry(version.to_owned()).or_default();
        known.extend(hashes);
    }

    /// Adds lines `name==version --hash=ALGORITHM:HEX`, which a backslash may break.
    fn add_requirements(&mut self, text: &str) {
        let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
        for line in joined.lines() {
            let mut words = line.split_whitespace();
            let Some((name, version)) = words.next().and_then(|word| word.split_once("==")) else {
                continue;
            };
            let hashes = words.filter_map(|word| word.strip_prefix("--hash="));
            self.add(name, version, hashes.map(str::to_owned));
        }
    }

    /// Adds the objects with a version, at any depth, by their `name` or the key that they stand under.
    fn add_json(&mut self, key: &str, value: &Value) {
        match value {
            Value::Object(members) => {
                if let Some(version) = members.get("version").and_then(Value::as_str) {
                    let name = members.get("name").and_then(Value::as_str).filter(|_| {
                        // The path tells two copies of a package apart.
                        !key.contains("node_modules/")
                    });
                    let mut hashes = Vec::new();
                    collect_hashes(value, &mut hashes);
                    self.add(name.unwrap_or(key), version, hashes);
                }
                for (key, value) in members {
                    self.add_json(key, value);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.add_json(key, item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Adds lines `MODULE VERSION HASH`.
    fn add_go_sum(&mut self, text: &str) {
        for line in text.lines() {
            if let [module, version, hash] = line.split_whitespace().collect::<Vec<_>>()[..] {
                self.add(module, version, [hash.to_owned()]);
            }
        }
    }

    /// Adds lines `HASH NAME`, with a `*` before the name of what is no text.
    fn add_checksums(&mut self, text: &str) {
        for line in text.lines() {
            if let Some((hash, name)) = line.trim().split_once(char::is_whitespace) {
                let name = name.trim_start().trim_start_matches('*');
                self.add(name, "", [hash.to_ascii_lowercase()]);
            }
        }
    }

    /// Adds blocks that a blank line ends, whose first line names the package.
    fn add_blocks(&mut self, text: &str, name: &str, version: &str) {
        let hash = r"(?:integrity\s+|checksum:\s*)(\S+)|((?:h1|zh):[^\x22]+)";
        let (Ok(name), Ok(version), Ok(hash)) =
            (Regex::new(name), Regex::new(version), Regex::new(hash))
        else {
            return;
        };
        for block in text.split("\n\n") {
            let block = block.trim_start();
            let (Some(name), Some(version)) = (name.captures(block), version.captures(block))
            else {
                continue;
            };
            let hashes = hash.captures_iter(block).filter_map(|found| {
                let found = found.get(1).or_else(|| found.get(2))?;
                Some(found.as_str().to_owned())
            });
            self.add(&name[1], &version[1], hashes.collect::<Vec<_>>());
        }
    }
}

/// Collects the hashes of a package, without those of the packages in it.
fn collect_hashes(value: &Value, hashes: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                match (key.as_str(), value) {
                    ("integrity" | "checksum" | "hash" | "shasum", Value::String(hash)) => {
                        hashes.push(hash.clone());
                    }
                    ("hashes", Value::Array(all)) => {
                        hashes.extend(all.iter().filter_map(Value::as_str).map(str::to_owned));
                    }
                    ("files" | "wheels" | "sdist" | "dist", value) => collect_hashes(value, hashes),
                    _ => {}
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_hashes(item, hashes)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The numbers of a version, by which versions are compared: `[1, 26, 4]`.
fn version_numbers(version: &str) -> Vec<u64> {
    let release = version.trim_start_matches(['v', '=']);
    let release = release.split(['-', '+']).next().unwrap_or(release);
    release
        .split('.')
        .map_while(|part| part.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(path: &str, before: &str, after: &str) -> Vec<String> {
        describe_changed_pins(&ChangedFile {
            path,
            before: Some(before.as_bytes()),
            after: Some(after.as_bytes()),
        })
    }

    #[test]
    fn another_hash_or_none_is_told_in_every_form() {
        for (path, before) in [
            (
                "requirements.txt",
                "# c\nnumpy==1.26.4 \\\n    --hash=sha256:aa11\nhttpx\n",
            ),
            (
                "web/package-lock.json",
                r#"{"packages": {"node_modules/numpy": {"version": "1.26.4", "integrity": "aa11"}}}"#,
            ),
            (
                "Pipfile.lock",
                r#"{"default": {"numpy": {"version": "==1.26.4", "hashes": ["aa11"]}}}"#,
            ),
            (
                "composer.lock",
                r#"{"packages": [{"name": "numpy", "version": "1.26.4", "dist": {"shasum": "aa11"}}]}"#,
            ),
            (
                "Cargo.lock",
                "[[package]]\nname = \"numpy\"\nversion = \"1.26.4\"\nchecksum = \"aa11\"\n",
            ),
            (
                "uv.lock",
                "[[package]]\nname = \"numpy\"\nversion = \"1.26.4\"\nwheels = [{ url = \"a\", hash = \"aa11\" }]\n",
            ),
            ("go.sum", "numpy v1.26.4 h1:aa11\n"),
            (
                "yarn.lock",
                "# v1\n\nnumpy@^1.0.0:\n  version \"1.26.4\"\n  integrity aa11\n",
            ),
            (
                ".terraform.lock.hcl",
                "provider \"numpy\" {\n  version = \"1.26.4\"\n  hashes = [\n    \"zh:aa11\",\n  ]\n}\n",
            ),
        ] {
            let said = describe(path, before, &before.replace("aa11", "bb22"));
            let expected =
                "The next install takes another archive for a version, or does not check it: ";
            assert_eq!(said.len(), 1, "{path}");
            assert!(
                said[0].starts_with(expected) && said[0].contains("numpy"),
                "{said:?}"
            );
            let newer = before.replace("1.26.4", "1.27.0").replace("aa11", "bb22");
            assert!(describe(path, before, &newer).is_empty(), "{path}");
            let older = before.replace("1.26.4", "1.9.0").replace("aa11", "bb22");
            let said = describe(path, before, &older);
            assert_eq!(said.len(), 1, "{path}");
            assert!(
                said[0].starts_with("The next install takes an older version: "),
                "{said:?}"
            );
        }
    }

    #[test]
    fn another_checksum_of_a_file_is_told() {
        let before = "aa11  deploy/tool\ncc33 *other\n";
        for path in ["deploy/tools.sha256", "SHA256SUMS"] {
            let said = describe(path, before, "bb22  deploy/tool\n");
            assert_eq!(said.len(), 1, "{path}");
            assert!(said[0].contains("deploy/tool"), "{said:?}");
            let more = "AA11  deploy/tool\ncc33  other\ndd44  new\n";
            assert!(describe(path, before, more).is_empty(), "{path}");
        }
    }

    #[test]
    fn a_version_without_the_hash_that_the_last_one_had_is_told() {
        let pinned = "requests==2.32.3 --hash=sha256:aa11\n";
        assert_eq!(
            describe("requirements.txt", pinned, "requests==2.33.0\n").len(),
            1
        );
        assert_eq!(
            describe("requirements.txt", pinned, "requests==2.32.3\n").len(),
            1
        );
        // Another archive of the same version, beside the known one, and a package without any hash.
        let wheel = "requests==2.32.3 --hash=sha256:aa11 --hash=sha256:bb22\n";
        assert!(describe("requirements.txt", pinned, wheel).is_empty());
        assert!(
            describe(
                "requirements.txt",
                "requests==2.32.3\n",
                "requests==2.33.0\n"
            )
            .is_empty()
        );
        assert!(describe("requirements.txt", pinned, "").is_empty());
    }
}

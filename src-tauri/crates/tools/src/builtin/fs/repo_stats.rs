//! Statistics behind an overview of a repository: files counted by folder and by language, manifests, and the branch.

use std::collections::BTreeMap;

use protocol::ToolError;
use runtime::Workspace;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::builtin::file_error;
use crate::diff::detect_language;
use crate::limits::{
    GIT_FILE_BYTES_MAX, OVERVIEW_COUNTED_BYTES_MAX, OVERVIEW_FILES_MAX, OVERVIEW_MANIFESTS_MAX,
    OVERVIEW_TOP_FILES_MAX,
};
use crate::text::{escape_invisible, format_byte_size, format_count, group_digits};

/// Names, in lower case, of files that say what a folder contains and how it is built.
const MANIFEST_NAMES: [&str; 39] = [
    "build.bazel",
    "build.gradle",
    "build.gradle.kts",
    "build.sbt",
    "build.zig",
    "cargo.toml",
    "cmakelists.txt",
    "compose.yaml",
    "composer.json",
    "configure.ac",
    "deno.json",
    "docker-compose.yml",
    "dockerfile",
    "dune-project",
    "flake.nix",
    "gemfile",
    "go.mod",
    "go.work",
    "gnumakefile",
    "justfile",
    "lerna.json",
    "makefile",
    "meson.build",
    "mix.exs",
    "module.bazel",
    "nx.json",
    "package.json",
    "package.swift",
    "pipfile",
    "pnpm-workspace.yaml",
    "pom.xml",
    "pubspec.yaml",
    "pyproject.toml",
    "requirements.txt",
    "settings.gradle",
    "settings.gradle.kts",
    "setup.cfg",
    "setup.py",
    "tsconfig.json",
];

/// Suffixes of manifest names.
const MANIFEST_ENDINGS: [&str; 5] = [".cabal", ".csproj", ".fsproj", ".gemspec", ".sln"];

/// Statistics of the files of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct FileStats {
    files: u64,
    bytes: u64,
    lines: u64,
    /// Number of files whose lines could not be counted.
    uncounted: u64,
}

/// Statistics of a folder.
#[derive(Debug, Default)]
pub(in crate::builtin) struct RepoStats {
    /// Description of the current branch or commit.
    git: Option<String>,
    all: FileStats,
    /// Whether the folder has more files than were counted.
    is_truncated: bool,
    /// Folders by the names of their path components; each includes everything below it.
    folders: BTreeMap<Vec<String>, FileStats>,
    languages: BTreeMap<&'static str, FileStats>,
    counts_lines: bool,
    manifests: Vec<String>,
    /// Files directly in the folder.
    top: Vec<String>,
}

impl RepoStats {
    /// Collects the statistics of a folder.
    pub(in crate::builtin) fn collect(
        workspace: &Workspace,
        under: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<Self, ToolError> {
        let listing = runtime::list_file_sizes(workspace, under, OVERVIEW_FILES_MAX, cancel)
            .map_err(file_error)?;
        let source = listing
            .files
            .iter()
            .filter(|one| !detect_language(&one.path).is_empty());
        let bytes: u64 = source.map(|one| one.bytes).sum();
        let mut stats = Self {
            git: read_git_head(workspace, under),
            is_truncated: listing.more,
            counts_lines: bytes <= OVERVIEW_COUNTED_BYTES_MAX,
            ..Self::default()
        };
        for file in &listing.files {
            if cancel.is_cancelled() {
                return Err(ToolError::Cancelled);
            }
            let language = detect_language(&file.path);
            let mut one = FileStats {
                files: 1,
                bytes: file.bytes,
                ..FileStats::default()
            };
            if !language.is_empty() && stats.counts_lines {
                match count_file_lines(workspace, &join_under(under, &file.path), file.bytes) {
                    Some(lines) => one.lines = lines,
                    None => one.uncounted = 1,
                }
            }
            stats.add_file(&file.path, language, one);
        }
        Ok(stats)
    }

    fn add_file(&mut self, path: &str, language: &'static str, one: FileStats) {
        self.all.add(one);
        self.languages.entry(language).or_default().add(one);
        let mut names: Vec<String> = path.split('/').map(str::to_owned).collect();
        let name = names.pop().unwrap_or_default();
        if names.is_empty() {
            self.top.push(name.clone());
        }
        if is_manifest(&name) {
            self.manifests.push(path.to_owned());
        }
        while !names.is_empty() {
            match self.folders.get_mut(&names) {
                Some(folder) => folder.add(one),
                None => {
                    self.folders.insert(names.clone(), one);
                }
            }
            names.pop();
        }
    }

    /// Whether the folder has nothing to report.
    pub(in crate::builtin) fn is_empty(&self) -> bool {
        self.all.files == 0
    }

    /// Returns the one-line summary for the person.
    pub(in crate::builtin) fn summary(&self) -> String {
        let more = if self.is_truncated { "more than " } else { "" };
        let files = format_count(self.all.files, "file", "files");
        let folders = format_count(self.folders.len() as u64, "folder", "folders");
        format!(
            "{more}{files} in {folders}, {}",
            format_byte_size(self.all.bytes)
        )
    }

    /// Returns the statistics as JSON.
    pub(in crate::builtin) fn to_json(&self) -> Value {
        let languages = self.languages_by_size().into_iter().map(|(name, count)| {
            let lines = (self.counts_lines && count.uncounted == 0).then_some(count.lines);
            json!({ "name": name, "files": count.files, "bytes": count.bytes, "lines": lines })
        });
        let manifests = self.manifests.iter().take(OVERVIEW_MANIFESTS_MAX);
        json!({
            "git": self.git,
            "files": self.all.files,
            "folders": self.folders.len(),
            "bytes": self.all.bytes,
            "more": self.is_truncated,
            "languages": languages.collect::<Vec<_>>(),
            "manifests": manifests.collect::<Vec<_>>(),
        })
    }

    /// Formats the statistics for the model, with folders down to `depth`.
    pub(in crate::builtin) fn to_lines(&self, depth: usize) -> Vec<String> {
        let mut lines = vec![self.summary()];
        lines.extend(self.git.iter().map(|git| format!("git: {git}")));
        lines.extend([String::new(), "Languages".to_owned()]);
        for (name, count) in self.languages_by_size() {
            lines.push(self.language_line(name, count));
        }
        if !self.manifests.is_empty() {
            lines.extend([String::new(), "Manifests".to_owned()]);
            lines.extend(list_head(&self.manifests, OVERVIEW_MANIFESTS_MAX));
        }
        lines.extend([String::new(), format!("Folders, {depth} deep")]);
        let shown = self
            .folders
            .iter()
            .filter(|(names, _)| names.len() <= depth);
        for (names, count) in shown {
            let name = names
                .last()
                .map(|name| escape_invisible(name))
                .unwrap_or_default();
            let indent = "  ".repeat(names.len());
            lines.push(format!("{indent}{name}/ {}", group_digits(count.files)));
        }
        lines.extend(list_head(&self.top, OVERVIEW_TOP_FILES_MAX));
        lines
    }

    /// Returns the languages by size in bytes, the largest first; files without a language come last.
    fn languages_by_size(&self) -> Vec<(&'static str, FileStats)> {
        let mut all: Vec<_> = self.languages.iter().map(|(name, c)| (*name, *c)).collect();
        all.sort_by_key(|(name, count)| (name.is_empty(), std::cmp::Reverse(count.bytes)));
        let named = |(name, count)| match name {
            "" => ("other", count),
            name => (name, count),
        };
        all.into_iter().map(named).collect()
    }

    fn language_line(&self, name: &str, count: FileStats) -> String {
        let (files, bytes) = (
            format_count(count.files, "file", "files"),
            format_byte_size(count.bytes),
        );
        let lines = match (name, self.counts_lines, count.uncounted) {
            ("other", _, _) | (_, false, _) => String::new(),
            (_, true, 0) => format!(", {}", format_count(count.lines, "line", "lines")),
            (_, true, _) => format!(", at least {}", format_count(count.lines, "line", "lines")),
        };
        format!("  {name}: {files}, {bytes}{lines}")
    }
}

impl FileStats {
    fn add(&mut self, other: Self) {
        self.files += other.files;
        self.bytes += other.bytes;
        self.lines += other.lines;
        self.uncounted += other.uncounted;
    }
}

/// Formats the first `shown_max` names, one a line, and the number of names beyond them.
fn list_head(names: &[String], shown_max: usize) -> Vec<String> {
    let shown = names.iter().take(shown_max);
    let mut lines: Vec<String> = shown
        .map(|name| format!("  {}", escape_invisible(name)))
        .collect();
    if let more @ 1.. = names.len().saturating_sub(shown_max) {
        lines.push(format!("  and {more} more"));
    }
    lines
}

fn is_manifest(name: &str) -> bool {
    let name = name.to_lowercase();
    MANIFEST_NAMES.contains(&name.as_str())
        || MANIFEST_ENDINGS.iter().any(|end| name.ends_with(end))
}

/// Joins a path below the inspected folder to that folder, as a workspace path.
fn join_under(under: Option<&str>, path: &str) -> String {
    match under.map(|under| under.trim_end_matches('/')) {
        None | Some("") => path.to_owned(),
        Some(under) => format!("{under}/{path}"),
    }
}

/// Counts the lines of a file; `None` if the file may not or cannot be read.
fn count_file_lines(workspace: &Workspace, path: &str, bytes: u64) -> Option<u64> {
    if bytes == 0 {
        return Some(0);
    }
    let content = workspace
        .read_whole(path, OVERVIEW_COUNTED_BYTES_MAX)
        .ok()??;
    let ends = content.iter().filter(|byte| **byte == b'\n').count() as u64;
    Some(ends + u64::from(!content.ends_with(b"\n")))
}

/// Reads the branch and the commit of a repository folder from git's own files; `None` if they cannot be read.
fn read_git_head(workspace: &Workspace, under: Option<&str>) -> Option<String> {
    let text = |name: &str| {
        let path = join_under(under, &format!(".git/{name}"));
        let bytes = workspace.read_whole(&path, GIT_FILE_BYTES_MAX).ok()??;
        String::from_utf8(bytes).ok()
    };
    let head = text("HEAD")?;
    let Some(reference) = head.trim().strip_prefix("ref: ") else {
        return short_commit_id(&head).map(|at| format!("no branch, at {at}"));
    };
    let branch = escape_invisible(reference.strip_prefix("refs/heads/").unwrap_or(reference));
    let inside = reference.starts_with("refs/") && !reference.split('/').any(|part| part == "..");
    let loose = || inside.then(|| text(reference)).flatten();
    let packed = || {
        text("packed-refs")?.lines().find_map(|line| {
            let (at, name) = line.split_once(' ')?;
            (name == reference).then(|| at.to_owned())
        })
    };
    Some(
        match loose().or_else(packed).and_then(|at| short_commit_id(&at)) {
            Some(at) => format!("branch {branch}, at {at}"),
            None => format!("branch {branch}, without a commit"),
        },
    )
}

/// Returns the short form of a commit id; `None` if the text is not a commit id.
fn short_commit_id(text: &str) -> Option<String> {
    let id = text.trim();
    let is_id = matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| id.chars().take(12).collect())
}

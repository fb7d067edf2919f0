//! `latest.json`: what a copy of the app reads to learn of a newer version of itself, with the signature of each file.

use std::path::Path;
use std::process::Command;

use super::metainfo::find_release_date;
use super::product::Product;
use super::release::{self, ReleaseFile};
use super::text::{quote, write_text};
use crate::command;
use crate::failure::Failure;
use crate::paths;

/// A file that replaces a copy of the app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateFile {
    /// The kind of copy, as Tauri's updater calls it.
    pub target: &'static str,
    /// Name of the file.
    pub name: String,
}

/// Returns the files of a release that replace a copy of the app. One from a `.deb` or `.rpm` is left to its package manager.
pub fn list_files(product: &Product) -> [UpdateFile; 5] {
    let Product { name, version, .. } = product;
    let file = |target, name| UpdateFile { target, name };
    [
        file(
            "linux-x86_64-appimage",
            format!("{name}_{version}_amd64.AppImage"),
        ),
        file("darwin-aarch64-app", mac_file_name(product, "aarch64")),
        file("darwin-x86_64-app", mac_file_name(product, "x64")),
        file(
            "windows-x86_64-msi",
            format!("{name}_{version}_x64_en-US.msi"),
        ),
        file(
            "windows-x86_64-nsis",
            format!("{name}_{version}_x64-setup.exe"),
        ),
    ]
}

/// Returns the name of the app for macOS as an archive. Tauri gives it the same name on both architectures.
pub fn mac_file_name(product: &Product, architecture: &str) -> String {
    let Product { name, version, .. } = product;
    format!("{name}_{version}_{architecture}.app.tar.gz")
}

/// Returns the name of the signature of a file.
pub fn signature_name(file: &str) -> String {
    format!("{file}.sig")
}

/// Writes `latest.json`, and returns whether there is one: a release of which nothing is signed has none.
pub fn write_latest(
    file: &Path,
    product: &Product,
    folder: &Path,
    repository: &str,
) -> Result<bool, Failure> {
    let files = list_files(product);
    let is_signed = |one: &UpdateFile| folder.join(signature_name(&one.name)).is_file();
    if !files.iter().any(is_signed) {
        return Ok(false);
    }
    let downloads = release::downloads_address(repository, product);
    let mut platforms = Vec::new();
    for UpdateFile { target, name } in files {
        let file = release::read_file(folder, &downloads, name)?;
        let signature = read_signature(&file, &product.version)?;
        platforms.push(format!(
            "    {}: {{\n      \"signature\": {},\n      \"url\": {}\n    }}",
            quote(target),
            quote(&signature),
            quote(&file.url)
        ));
    }
    let changelog = paths::repo_root().join("CHANGELOG.md");
    let changelog = std::fs::read_to_string(&changelog)
        .map_err(|e| Failure::file_error("read", &changelog, &e))?;
    let date = find_release_date(&changelog, &product.version);
    let date = date.map(|date| format!("  \"pub_date\": \"{date}T00:00:00Z\",\n"));
    let text = format!(
        "{{\n  \"version\": {version},\n  \"notes\": {notes},\n{date}  \"platforms\": {{\n{platforms}\n  }}\n}}\n",
        version = quote(&product.version),
        notes = quote(&find_release_notes(&changelog, &product.version)).replace('\n', "\\n"),
        date = date.unwrap_or_default(),
        platforms = platforms.join(",\n"),
    );
    write_text(file, &text).map(|()| true)
}

/// Returns the signature of a file as the updater reads it. It has to name the version: the updater refuses one that does not.
fn read_signature(file: &ReleaseFile, version: &str) -> Result<String, Failure> {
    let name = signature_name(&file.name);
    let path = file.path.with_file_name(&name);
    let text =
        std::fs::read_to_string(&path).map_err(|e| Failure::file_error("read", &path, &e))?;
    let decoded = command::read_output(Command::new("base64").arg("--decode").arg(&path));
    let decoded = decoded.unwrap_or_default();
    let comment = decoded
        .lines()
        .find_map(|line| line.strip_prefix("trusted comment: "));
    let signed = format!("version:{version}");
    match comment.is_some_and(|comment| comment.split('\t').any(|field| field == signed)) {
        true => Ok(text.trim().to_owned()),
        false => Err(Failure::new(
            format!("{name} is no signature of version {version}."),
            "Build the installers of this version with the key; `tauri build` writes the version into each signature.",
        )),
    }
}

/// Returns what the changelog says of a version, below its heading: as a text of its own, whose headings are of the first
/// level below a title.
fn find_release_notes(changelog: &str, version: &str) -> String {
    let heading = format!("## [{version}]");
    let lines = changelog.lines();
    let below = lines.skip_while(|line| !line.starts_with(&heading)).skip(1);
    let notes = below.take_while(|line| !line.starts_with("## "));
    let raised = notes.map(|line| match line.strip_prefix("### ") {
        Some(title) => format!("## {title}\n"),
        None => format!("{line}\n"),
    });
    raised.collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_those_below_the_heading_of_the_version() {
        let changelog = "# Changelog\n\n## [Unreleased]\n\n- Later\n\n## [1.2.0] - 2026-01-31\n\n### Added\n\n- This\n\n## [1.1.0]\n\n- Earlier\n";
        assert_eq!(find_release_notes(changelog, "1.2.0"), "## Added\n\n- This");
        assert_eq!(find_release_notes(changelog, "1.1.0"), "- Earlier");
        assert_eq!(find_release_notes(changelog, "1.0.0"), "");
    }
}

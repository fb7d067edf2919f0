//! What lets an installed app replace itself by a newer version: an address and a key in the app, and signatures of the files.

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::paths;
use crate::publish::product::Product;
use crate::publish::text::quote;
use crate::publish::updates::{mac_file_name, signature_name};

/// Where an app asks for newer versions of itself, and how it checks them. The private key is read by Tauri from the variable
/// `TAURI_SIGNING_PRIVATE_KEY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpdateSource<'a> {
    /// Address of `latest.json` of the newest release.
    pub endpoint: &'a str,
    /// The public key, as `tauri signer generate` writes it.
    pub key: &'a str,
}

impl UpdateSource<'_> {
    /// Returns what is merged into `tauri.conf.json`.
    pub fn config(&self) -> String {
        format!(
            r#"{{"bundle":{{"createUpdaterArtifacts":true}},"plugins":{{"updater":{{"endpoints":[{}],"pubkey":{}}}}}}}"#,
            quote(self.endpoint),
            quote(self.key)
        )
    }
}

/// Returns the kinds of bundles with those that updates are made of: on macOS they are an archive of the app itself.
pub fn kinds_with_updates(kinds: &str) -> String {
    match cfg!(target_os = "macos") && kinds.split(',').any(|kind| kind == "dmg") {
        true => format!("app,{kinds}"),
        false => kinds.to_owned(),
    }
}

/// Gives the archive of the app for macOS, and its signature, names that tell version and architecture.
pub fn name_mac_archive(product: &Product) -> Result<(), Failure> {
    let folder = paths::target_dir().join("release/bundle/macos");
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "x64",
        other => other,
    };
    let given = format!("{}.app.tar.gz", product.name);
    let wanted = mac_file_name(product, architecture);
    rename(&folder, &given, &wanted)?;
    rename(&folder, &signature_name(&given), &signature_name(&wanted))
}

fn rename(folder: &Path, from: &str, to: &str) -> Result<(), Failure> {
    let from: PathBuf = folder.join(from);
    std::fs::rename(&from, folder.join(to)).map_err(|e| Failure::file_error("rename", &from, &e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_and_key_are_merged_into_the_configuration() {
        let source = UpdateSource {
            endpoint: "https://code.example/latest.json",
            key: "a2V5",
        };
        assert_eq!(
            source.config(),
            r#"{"bundle":{"createUpdaterArtifacts":true},"plugins":{"updater":{"endpoints":["https://code.example/latest.json"],"pubkey":"a2V5"}}}"#
        );
    }
}

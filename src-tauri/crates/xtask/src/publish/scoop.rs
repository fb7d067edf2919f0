//! Scoop: the manifest of the command line for Windows.

use std::path::Path;

use super::product::Product;
use super::release::Release;
use super::text::{quote, write_text};
use crate::archive;
use crate::failure::Failure;
use crate::run::ENGINE_NAME;

/// Writes the manifest, as a bucket keeps it.
pub fn write_manifest(folder: &Path, product: &Product, release: &Release) -> Result<(), Failure> {
    let file = folder.join("bucket").join(format!("{ENGINE_NAME}.json"));
    write_text(&file, &manifest_text(product, release))
}

fn manifest_text(product: &Product, release: &Release) -> String {
    let archive = &release.archive_windows;
    let url = archive.url.replace(&product.version, "$version");
    let folder = archive::folder_name(&archive.name);
    let next_folder = folder.replace(&product.version, "$version");
    format!(
        r#"{{
    "version": {version},
    "description": {summary},
    "homepage": {homepage},
    "license": {licence},
    "architecture": {{
        "64bit": {{
            "url": {url_now},
            "hash": "{hash}",
            "extract_dir": {folder}
        }}
    }},
    "bin": "{ENGINE_NAME}.exe",
    "checkver": {{
        "github": {homepage}
    }},
    "autoupdate": {{
        "architecture": {{
            "64bit": {{
                "url": {url},
                "hash": {{
                    "url": "$url.sha256"
                }},
                "extract_dir": {next_folder}
            }}
        }}
    }}
}}
"#,
        version = quote(&product.version),
        summary = quote(&product.summary),
        homepage = quote(&release.repository),
        licence = quote(&product.licences().join("|")),
        url_now = quote(&archive.url),
        hash = archive.sha256,
        folder = quote(folder),
        url = quote(&url),
        next_folder = quote(&next_folder),
    )
}

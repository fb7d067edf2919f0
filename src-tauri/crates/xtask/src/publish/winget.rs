//! winget: the three files of a package, as its repository of manifests keeps them.

use std::path::Path;

use super::product::Product;
use super::release::{Release, ReleaseFile};
use super::text::{quote, write_text};
use crate::failure::Failure;
use crate::run::ENGINE_NAME;

/// Version of the manifests' schema.
const SCHEMA: &str = "1.12.0";

/// Language that the package is described in.
const LOCALE: &str = "en-US";

/// Writes the manifests below `manifests`, in the folders that the repository of winget has.
pub fn write_manifests(folder: &Path, product: &Product, release: &Release) -> Result<(), Failure> {
    let Product { name, version, .. } = product;
    let identifier = format!("{name}.{name}");
    let first = ENGINE_NAME.get(..1).unwrap_or(ENGINE_NAME);
    let folder = folder.join("manifests").join(first).join(name).join(name);
    let folder = folder.join(version);
    let write = |ending: &str, kind: &str, body: &str| {
        let file = folder.join(format!("{identifier}{ending}.yaml"));
        write_text(&file, &manifest_text(product, kind, body))
    };
    let version_body = format!("DefaultLocale: {LOCALE}\n");
    write("", "version", &version_body)?;
    write(".installer", "installer", &installer_body(release))?;
    let locale = format!(".locale.{LOCALE}");
    write(&locale, "defaultLocale", &locale_body(product, release))
}

/// Returns a manifest of one kind, with what stands in each of them.
fn manifest_text(product: &Product, kind: &str, body: &str) -> String {
    let Product { name, version, .. } = product;
    format!(
        "# yaml-language-server: $schema=https://aka.ms/winget-manifest.{kind}.{SCHEMA}.schema.json\n\
         PackageIdentifier: {name}.{name}\n\
         PackageVersion: {}\n\
         {body}\
         ManifestType: {kind}\n\
         ManifestVersion: {SCHEMA}\n",
        quote(version),
    )
}

fn installer_body(release: &Release) -> String {
    let installer = |kind: &str, scope: &str, file: &ReleaseFile| {
        format!(
            "- Architecture: x64\n  InstallerType: {kind}\n  Scope: {scope}\n  InstallerUrl: {}\n  InstallerSha256: {}\n",
            quote(&file.url),
            file.sha256.to_ascii_uppercase(),
        )
    };
    format!(
        "Platform:\n- Windows.Desktop\nInstallers:\n{}{}",
        installer("nullsoft", "user", &release.setup),
        installer("wix", "machine", &release.msi),
    )
}

fn locale_body(product: &Product, release: &Release) -> String {
    format!(
        "PackageLocale: {LOCALE}\n\
         Publisher: {}\n\
         PackageName: {}\n\
         PackageUrl: {}\n\
         License: {}\n\
         ShortDescription: {}\n\
         Description: {}\n\
         Moniker: {ENGINE_NAME}\n",
        quote(&product.publisher),
        quote(&product.name),
        quote(&release.repository),
        quote(&product.licence),
        quote(&product.summary),
        quote(&product.description),
    )
}

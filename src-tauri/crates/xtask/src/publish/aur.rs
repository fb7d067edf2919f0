//! The user repository of Arch: a package that is made of the `.deb`.

use std::path::Path;

use super::product::Product;
use super::release::Release;
use super::text::{quote_for_shell, write_text};
use crate::failure::Failure;
use crate::run::ENGINE_NAME;

/// What the programs are linked with.
const DEPENDENCIES: [&str; 3] = ["dbus", "libayatana-appindicator", "webkit2gtk-4.1"];

/// Writes `PKGBUILD`, and `.SRCINFO`, which `makepkg --printsrcinfo` writes of it.
pub fn write_package(folder: &Path, product: &Product, release: &Release) -> Result<(), Failure> {
    write_text(&folder.join("PKGBUILD"), &pkgbuild_text(product, release))?;
    write_text(&folder.join(".SRCINFO"), &srcinfo_text(product, release))
}

fn pkgbuild_text(product: &Product, release: &Release) -> String {
    let dependencies = DEPENDENCIES.map(quote_for_shell);
    format!(
        r#"# Maintainer: {publisher}
pkgname={ENGINE_NAME}-bin
pkgver={version}
pkgrel=1
pkgdesc={summary}
arch=('x86_64')
url={url}
license=({licence})
depends=({dependencies})
provides=("{ENGINE_NAME}=$pkgver")
conflicts=('{ENGINE_NAME}')
options=('!strip' '!debug')
source_x86_64=({source})
sha256sums_x86_64=('{sha256}')

package() {{
  # makepkg has taken the .deb apart; what it installs is an archive of its own.
  bsdtar -xf "$srcdir"/data.tar.* -C "$pkgdir"
  cd "$pkgdir/usr/share"
  install -d zsh/site-functions "licenses/$pkgname"
  mv zsh/vendor-completions/_{ENGINE_NAME} zsh/site-functions/
  mv doc/{ENGINE_NAME}/LICENSE-MIT doc/{ENGINE_NAME}/LICENSE-APACHE "licenses/$pkgname/"
  rmdir zsh/vendor-completions
}}
"#,
        publisher = product.publisher,
        version = product.version,
        summary = quote_for_shell(&product.summary),
        url = quote_for_shell(&release.repository),
        licence = quote_for_shell(&product.licence),
        dependencies = dependencies.join(" "),
        source = quote_for_shell(&release.deb.url),
        sha256 = release.deb.sha256,
    )
}

fn srcinfo_text(product: &Product, release: &Release) -> String {
    let version = &product.version;
    let mut fields = vec![
        ("pkgdesc", product.summary.clone()),
        ("pkgver", version.clone()),
        ("pkgrel", "1".into()),
        ("url", release.repository.clone()),
        ("arch", "x86_64".into()),
        ("license", product.licence.clone()),
    ];
    fields.extend(DEPENDENCIES.map(|package| ("depends", package.into())));
    fields.extend([
        ("provides", format!("{ENGINE_NAME}={version}")),
        ("conflicts", ENGINE_NAME.into()),
        ("options", "!strip".into()),
        ("options", "!debug".into()),
        ("source_x86_64", release.deb.url.clone()),
        ("sha256sums_x86_64", release.deb.sha256.clone()),
    ]);
    let mut text = format!("pkgbase = {ENGINE_NAME}-bin\n");
    for (key, value) in fields {
        text += &format!("\t{key} = {value}\n");
    }
    text + &format!("\npkgname = {ENGINE_NAME}-bin\n")
}

//! Flatpak: a manifest that takes the app out of the `.deb`, with its own metainfo.

use std::path::Path;

use super::metainfo::{self, MetainfoOptions};
use super::product::Product;
use super::release::Release;
use super::text::{quote, write_text};
use crate::failure::Failure;
use crate::run::{APP_NAME, ENGINE_NAME};

/// Version of the GNOME runtime, which brings the web view.
const RUNTIME: &str = "50";

/// Writes the manifest and the metainfo beside it.
pub fn write_manifest(folder: &Path, product: &Product, release: &Release) -> Result<(), Failure> {
    let identifier = flatpak_identifier(product);
    let options = MetainfoOptions {
        identifier: &identifier,
        desktop_file: &format!("{identifier}.desktop"),
        repository: Some(&release.repository),
    };
    let metainfo = folder.join(format!("{identifier}.metainfo.xml"));
    write_text(&metainfo, &metainfo::metainfo_text(product, &options)?)?;
    let manifest = folder.join(format!("{identifier}.yml"));
    write_text(&manifest, &manifest_text(product, release, &identifier))
}

/// Returns the identifier of the app as a Flatpak. There none may end in `desktop`, as the app's own does.
fn flatpak_identifier(product: &Product) -> String {
    let (organization, _) = product
        .identifier
        .rsplit_once('.')
        .unwrap_or((&product.identifier, ""));
    format!("{organization}.{}", product.name)
}

fn manifest_text(product: &Product, release: &Release, identifier: &str) -> String {
    format!(
        r#"id: {identifier}
runtime: org.gnome.Platform
runtime-version: "{RUNTIME}"
sdk: org.gnome.Sdk
command: {APP_NAME}
finish-args:
  - --share=network
  - --share=ipc
  - --socket=wayland
  - --socket=fallback-x11
  - --device=dri
  # The folders that agents work in.
  - --filesystem=home
  # The keychain, notifications, and one instance at a time. The runtime has no library for an icon in the tray.
  - --talk-name=org.freedesktop.secrets
  - --talk-name=org.freedesktop.Notifications
  - --own-name={app}.SingleInstance
modules:
  - name: {ENGINE_NAME}
    buildsystem: simple
    build-commands:
      - ar -x {ENGINE_NAME}.deb
      - tar -xf data.tar.*
      - install -Dm755 -t /app/bin usr/bin/{APP_NAME} usr/bin/{ENGINE_NAME}
      - install -Dm755 -t /app/lib/{ENGINE_NAME} usr/lib/{ENGINE_NAME}/{ENGINE_NAME}-sandbox
      - install -Dm644 -t /app/share/licenses/{identifier} usr/share/doc/{ENGINE_NAME}/LICENSE-*
      - |
        for icon in usr/share/icons/hicolor/*/apps/{APP_NAME}.png; do
          install -Dm644 "$icon" "/app/$(dirname "${{icon#usr/}}")/{identifier}.png"
        done
      - |
        install -d /app/share/applications
        sed "s/^Icon=.*/Icon={identifier}/" usr/share/applications/{name}.desktop \
          >/app/share/applications/{identifier}.desktop
      - install -Dm644 -t /app/share/metainfo {identifier}.metainfo.xml
    sources:
      - type: file
        url: {url}
        sha256: {sha256}
        dest-filename: {ENGINE_NAME}.deb
        only-arches: [x86_64]
      - type: file
        path: {identifier}.metainfo.xml
"#,
        app = product.identifier,
        name = product.name,
        url = quote(&release.deb.url),
        sha256 = release.deb.sha256,
    )
}

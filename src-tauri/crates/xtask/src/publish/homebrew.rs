//! Homebrew: a formula for the command line, and a cask for the app.

use std::path::Path;

use super::product::Product;
use super::release::{Release, ReleaseFile};
use super::text::{quote, write_text};
use crate::failure::Failure;
use crate::run::ENGINE_NAME;

/// Token of the cask: the formula has the plain name, and a cask may not have the same.
const CASK: &str = "countersign-app";

/// Writes `Formula` and `Casks`, the folders of a tap.
pub fn write_tap(folder: &Path, product: &Product, release: &Release) -> Result<(), Failure> {
    let formula = folder.join("Formula").join(format!("{ENGINE_NAME}.rb"));
    write_text(&formula, &formula_text(product, release))?;
    let cask = folder.join("Casks").join(format!("{CASK}.rb"));
    write_text(&cask, &cask_text(product, release))
}

fn formula_text(product: &Product, release: &Release) -> String {
    let licences: Vec<String> = product.licences().into_iter().map(quote).collect();
    format!(
        r##"class {name} < Formula
  desc {summary}
  homepage {homepage}
  version {version}
  license any_of: [{licences}]

  on_macos do
    on_arm do
{mac_arm}
    end
    on_intel do
{mac_intel}
    end
  end

  on_linux do
    depends_on arch: :x86_64
    depends_on "dbus"

    on_intel do
{linux}
    end
  end

  def install
    bin.install "{ENGINE_NAME}"
    # Where the command line looks for it.
    (lib/"{ENGINE_NAME}").install "{ENGINE_NAME}-sandbox"
    generate_completions_from_executable(bin/"{ENGINE_NAME}", "completions")
    system bin/"{ENGINE_NAME}", "man", man1
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/{ENGINE_NAME} --version")
  end
end
"##,
        name = product.name,
        summary = quote(&product.summary),
        homepage = quote(&release.repository),
        version = quote(&product.version),
        licences = licences.join(", "),
        mac_arm = download_lines(&release.archive_mac_arm),
        mac_intel = download_lines(&release.archive_mac_intel),
        linux = download_lines(&release.archive_linux),
    )
}

fn download_lines(file: &ReleaseFile) -> String {
    format!(
        "      url {}\n      sha256 {}",
        quote(&file.url),
        quote(&file.sha256)
    )
}

fn cask_text(product: &Product, release: &Release) -> String {
    let Product { name, version, .. } = product;
    // Written with what Homebrew fills in, so that a new version changes three lines.
    let url = release.dmg_arm.url.replace(version, "#{version}");
    let url = url.replace("_aarch64.dmg", "_#{arch}.dmg");
    format!(
        r##"cask "{CASK}" do
  arch arm: "aarch64", intel: "x64"

  version "{version}"
  sha256 arm:   "{arm}",
         intel: "{intel}"

  url "{url}"
  name "{name}"
  desc {summary}
  homepage {homepage}

  auto_updates true
  depends_on :macos

  app "{name}.app"
  binary "#{{appdir}}/{name}.app/Contents/MacOS/{ENGINE_NAME}"
end
"##,
        arm = release.dmg_arm.sha256,
        intel = release.dmg_intel.sha256,
        summary = quote(&product.summary),
        homepage = quote(&release.repository),
    )
}

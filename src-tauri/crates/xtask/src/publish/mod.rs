//! `cargo xtask publish`: package repositories and manifests, made of the files of a release.
//!
//! Everything that a manifest says is read from Cargo.toml, tauri.conf.json, the changelog, and the files themselves.

mod apt;
mod aur;
mod check;
mod container;
mod dnf;
mod flatpak;
mod homebrew;
mod manifest_check;
pub mod metainfo;
pub mod product;
mod release;
mod sample_release;
mod scoop;
mod signing;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
pub mod text;
mod throwaway_system;
pub mod updates;
mod winget;

use std::path::Path;

use crate::failure::Failure;
use crate::system_packages;
use product::Product;
use release::Release;
use signing::SigningKey;

/// What is published, and where to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PublishOptions<'a> {
    /// Folder with the files of the release and their checksums.
    from: &'a Path,
    /// Folder that is written.
    out: &'a Path,
    /// Address of the repository that the release is in.
    repository: &'a str,
    /// Address of the site that the package repositories are put on.
    site: &'a str,
    /// Name of the key that signs them, if there is one.
    sign_with: Option<&'a str>,
    /// Folder of the key ring that the key is in, if it is not the user's.
    key_ring: Option<&'a Path>,
}

/// Writes repositories and manifests, or with `--check` tries out those of a made-up release.
pub fn run_publish(own: &[String]) -> Result<(), Failure> {
    let words: Vec<&str> = own.iter().map(String::as_str).collect();
    match words[..] {
        ["--check"] => check::check_sample_release(),
        _ => publish_release(&parse_options(&words)?),
    }
}

fn parse_options<'a>(words: &[&'a str]) -> Result<PublishOptions<'a>, Failure> {
    let value = |name: &str| {
        words
            .chunks(2)
            .find(|pair| pair[0] == name)
            .and_then(|pair| pair.get(1).copied())
    };
    let required = ["--from", "--out", "--repository", "--site"];
    let is_known = |pair: &[&str]| required.contains(&pair[0]) || pair[0] == "--sign-with";
    let [from, out, repository, site] = required.map(value);
    match (from, out, repository, site) {
        (Some(from), Some(out), Some(repository), Some(site))
            if words.len().is_multiple_of(2) && words.chunks(2).all(is_known) =>
        {
            Ok(PublishOptions {
                from: Path::new(from),
                out: Path::new(out),
                repository,
                site: site.trim_end_matches('/'),
                sign_with: value("--sign-with"),
                key_ring: None,
            })
        }
        _ => Err(Failure::new(
            format!(
                "`cargo xtask publish {}` is not understood.",
                words.join(" ")
            ),
            "Use `--from DIR --out DIR --repository URL --site URL`, with `--sign-with KEY` where there is a key, or `--check`.",
        )),
    }
}

/// Writes `repositories` and `manifests` into the folder.
fn publish_release(options: &PublishOptions) -> Result<(), Failure> {
    system_packages::ensure_debian_packages(&["apt-utils", "createrepo-c"])?;
    let product = Product::read()?;
    let release = Release::read(options.from, &product, options.repository)?;
    let find = |name| SigningKey::find(name, options.key_ring);
    let key = options.sign_with.map(find).transpose()?;
    write_repositories(options, &product, &release, key.as_ref())?;
    write_manifests(&options.out.join("manifests"), &product, &release)?;
    let latest = options.out.join("latest.json");
    let is_signed = updates::write_latest(&latest, &product, options.from, options.repository)?;
    println!("{} has repositories and manifests.", options.out.display());
    if key.is_none() {
        println!(
            "The package repositories are NOT SIGNED: apt and dnf refuse them. `--sign-with KEY` signs them."
        );
    }
    if !is_signed {
        println!(
            "No file is signed for updates, so there is no latest.json: no app learns of this release by itself."
        );
    }
    Ok(())
}

fn write_repositories(
    options: &PublishOptions,
    product: &Product,
    release: &Release,
    key: Option<&SigningKey>,
) -> Result<(), Failure> {
    let folder = options.out.join("repositories");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|e| Failure::file_error("remove", &folder, &e))?;
    }
    let address = |name: &str| format!("{}/{name}", options.site);
    let (apt, dnf) = (folder.join("apt"), folder.join("dnf"));
    apt::write_repository(&apt, product, &release.deb, &address("apt"), key)?;
    dnf::write_repository(&dnf, product, &release.rpm, &address("dnf"), key)
}

fn write_manifests(folder: &Path, product: &Product, release: &Release) -> Result<(), Failure> {
    homebrew::write_tap(&folder.join("homebrew"), product, release)?;
    winget::write_manifests(&folder.join("winget"), product, release)?;
    scoop::write_manifest(&folder.join("scoop"), product, release)?;
    aur::write_package(&folder.join("aur"), product, release)?;
    flatpak::write_manifest(&folder.join("flatpak"), product, release)?;
    container::write_containerfile(&folder.join("container"), product, release)
}

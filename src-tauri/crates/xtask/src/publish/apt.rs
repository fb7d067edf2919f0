//! A package repository for apt, indexed by `apt-ftparchive`.

use std::path::Path;
use std::process::Command;

use super::product::Product;
use super::release::ReleaseFile;
use super::signing::{KEY_FILE, SigningKey};
use super::text::write_text;
use crate::command;
use crate::failure::Failure;
use crate::run::ENGINE_NAME;

/// Suite and component of the repository. There is one of each.
const SUITE: &str = "stable";
const COMPONENT: &str = "main";

/// Architecture of the packages, as Debian calls it.
const ARCHITECTURE: &str = "amd64";

/// Writes the repository, and `countersign.sources` for `/etc/apt/sources.list.d`. `address` is where people reach `folder`.
pub fn write_repository(
    folder: &Path,
    product: &Product,
    deb: &ReleaseFile,
    address: &str,
    key: Option<&SigningKey>,
) -> Result<(), Failure> {
    let pool = folder.join("pool").join(COMPONENT);
    std::fs::create_dir_all(&pool).map_err(|e| Failure::file_error("make", &pool, &e))?;
    std::fs::copy(&deb.path, pool.join(&deb.name))
        .map_err(|e| Failure::file_error("copy", &deb.path, &e))?;

    let suite = folder.join("dists").join(SUITE);
    let packages = suite
        .join(COMPONENT)
        .join(format!("binary-{ARCHITECTURE}"))
        .join("Packages");
    write_text(&packages, &run_ftparchive(folder, &["packages", "pool"])?)?;
    let mut gzip = Command::new("gzip");
    gzip.args(["--keep", "--force", "--best", "--no-name"]);
    let what = "The index of the packages could not be packed.";
    command::run_command(
        gzip.arg(&packages),
        what,
        "Read the message of `gzip` above.",
    )?;

    let release = suite.join("Release");
    write_text(&release, &index_suite(folder, product)?)?;
    if let Some(key) = key {
        key.sign_inline(&release, &suite.join("InRelease"))?;
        key.sign_detached(&release, &suite.join("Release.gpg"))?;
        key.write_public_key(folder)?;
    }
    write_text(
        &folder.join(format!("{ENGINE_NAME}.sources")),
        &sources_text(address),
    )
}

/// Returns the `Release` of the suite: what it is, and the checksums of its indexes.
fn index_suite(folder: &Path, product: &Product) -> Result<String, Failure> {
    let fields = [
        ("Origin", product.name.as_str()),
        ("Label", &product.name),
        ("Suite", SUITE),
        ("Codename", SUITE),
        ("Architectures", ARCHITECTURE),
        ("Components", COMPONENT),
        ("Description", &product.summary),
    ];
    let mut arguments = Vec::new();
    for (field, value) in fields {
        arguments.push("-o".to_owned());
        arguments.push(format!("APT::FTPArchive::Release::{field}={value}"));
    }
    arguments.extend(["release".to_owned(), format!("dists/{SUITE}")]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    run_ftparchive(folder, &arguments)
}

fn run_ftparchive(folder: &Path, arguments: &[&str]) -> Result<String, Failure> {
    let mut ftparchive = Command::new("apt-ftparchive");
    ftparchive.current_dir(folder).args(arguments);
    command::read_output(&mut ftparchive).ok_or_else(|| {
        Failure::new(
            "`apt-ftparchive` did not index the repository.",
            format!(
                "Install apt-utils, then run `apt-ftparchive {}` in {}.",
                arguments.join(" "),
                folder.display()
            ),
        )
    })
}

fn sources_text(address: &str) -> String {
    format!(
        "Types: deb\nURIs: {address}\nSuites: {SUITE}\nComponents: {COMPONENT}\nArchitectures: {ARCHITECTURE}\n\
         Signed-By: /etc/apt/keyrings/{KEY_FILE}\n"
    )
}

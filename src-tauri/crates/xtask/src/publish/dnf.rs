//! A package repository for dnf, indexed by `createrepo_c`.

use std::path::Path;
use std::process::Command;

use super::product::Product;
use super::release::ReleaseFile;
use super::signing::{KEY_FILE, SigningKey};
use super::text::write_text;
use crate::command;
use crate::failure::Failure;
use crate::run::ENGINE_NAME;

/// Writes the repository, and `countersign.repo` for `/etc/yum.repos.d`. `address` is where people reach `folder`.
pub fn write_repository(
    folder: &Path,
    product: &Product,
    rpm: &ReleaseFile,
    address: &str,
    key: Option<&SigningKey>,
) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|e| Failure::file_error("make", folder, &e))?;
    std::fs::copy(&rpm.path, folder.join(&rpm.name))
        .map_err(|e| Failure::file_error("copy", &rpm.path, &e))?;
    let mut createrepo = Command::new("createrepo_c");
    // Its default on some systems, zstd, is unknown to older ones that read the repository.
    createrepo.args(["--quiet", "--general-compress-type", "gz"]);
    command::run_command(
        createrepo.arg(folder),
        "`createrepo_c` did not index the repository.",
        "Read its message above.",
    )?;
    if let Some(key) = key {
        let index = folder.join("repodata").join("repomd.xml");
        key.sign_detached(&index, &index.with_extension("xml.asc"))?;
        key.write_public_key(folder)?;
    }
    let file = folder.join(format!("{ENGINE_NAME}.repo"));
    write_text(&file, &repo_text(product, address))
}

fn repo_text(product: &Product, address: &str) -> String {
    format!(
        "[{ENGINE_NAME}]\n\
         name={}\n\
         baseurl={address}\n\
         enabled=1\n\
         # The index is signed and has the checksum of every package, so the packages have no signature of their own.\n\
         repo_gpgcheck=1\n\
         gpgcheck=0\n\
         gpgkey={address}/{KEY_FILE}\n",
        product.name
    )
}

//! Signatures of the package repositories, made with GnuPG.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::text::write_text;
use crate::command;
use crate::failure::Failure;

/// Name of the file with the public key, in each repository.
pub const KEY_FILE: &str = "countersign.asc";

/// A key of GnuPG on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningKey {
    name: String,
    ring: Option<PathBuf>,
}

impl SigningKey {
    /// Finds a key by its fingerprint or its owner's address, in the user's key ring or in the folder `ring`. One
    /// without a private part is refused.
    pub fn find(name: &str, ring: Option<&Path>) -> Result<Self, Failure> {
        let key = Self {
            name: name.to_owned(),
            ring: ring.map(Path::to_owned),
        };
        let mut gpg = key.gpg_command();
        gpg.args(["--list-secret-keys", name]);
        match command::read_output(&mut gpg) {
            Some(_) => Ok(key),
            None => Err(Failure::new(
                format!("GnuPG has no private key `{name}` to sign the repositories with."),
                "Import it with `gpg --import`, or leave out `--sign-with`.",
            )),
        }
    }

    /// Writes a signature of `file` beside it, as `signature`.
    pub fn sign_detached(&self, file: &Path, signature: &Path) -> Result<(), Failure> {
        self.sign(&["--detach-sign"], file, signature)
    }

    /// Writes a copy of `file` that contains its signature.
    pub fn sign_inline(&self, file: &Path, signed: &Path) -> Result<(), Failure> {
        self.sign(&["--clear-sign"], file, signed)
    }

    fn sign(&self, how: &[&str], file: &Path, output: &Path) -> Result<(), Failure> {
        let mut gpg = self.gpg_command();
        gpg.args(["--yes", "--armor", "--local-user", &self.name]);
        gpg.arg("--output").arg(output).args(how).arg(file);
        let what = format!("{} could not be signed.", file.display());
        command::run_command(&mut gpg, &what, "Read the message of `gpg` above.")
    }

    /// Writes the public key into a folder, as [`KEY_FILE`].
    pub fn write_public_key(&self, folder: &Path) -> Result<(), Failure> {
        let mut gpg = self.gpg_command();
        gpg.args(["--armor", "--export", &self.name]);
        let key = command::read_output(&mut gpg).filter(|key| !key.is_empty());
        let key = key.ok_or_else(|| {
            Failure::new(
                format!("GnuPG did not export the public key `{}`.", self.name),
                "Run `gpg --armor --export` with it.",
            )
        })?;
        write_text(&folder.join(KEY_FILE), &key)
    }

    fn gpg_command(&self) -> Command {
        let mut gpg = Command::new("gpg");
        gpg.arg("--batch");
        if let Some(ring) = &self.ring {
            gpg.arg("--homedir").arg(ring);
        }
        gpg
    }
}

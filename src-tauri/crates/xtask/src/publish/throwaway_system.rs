//! Systems below a folder, which apt and dnf install packages into. Those of the machine are left alone.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::signing::KEY_FILE;
use super::text::write_text;
use crate::command;
use crate::failure::Failure;
use crate::run::ENGINE_NAME;
use crate::system_packages;

/// Folders that apt and dpkg take as given.
const APT_FOLDERS: [&str; 8] = [
    "etc/apt/apt.conf.d",
    "etc/apt/preferences.d",
    "etc/apt/sources.list.d",
    "var/cache/apt/archives/partial",
    "var/lib/apt/lists/partial",
    "var/lib/dpkg/info",
    "var/lib/dpkg/updates",
    "var/log/apt",
];

/// One system for apt and one for dnf, with nothing installed, and the repositories as their only source.
pub struct ThrowawaySystem {
    apt_root: PathBuf,
    dnf_root: PathBuf,
    repositories: PathBuf,
    prefix: &'static [&'static str],
}

/// What a program said, and whether it succeeded.
struct ProgramOutcome {
    is_success: bool,
    said: String,
}

impl ThrowawaySystem {
    /// Makes both systems below `home`.
    pub fn new(home: &Path, repositories: &Path) -> Result<Self, Failure> {
        let system = Self {
            apt_root: home.join("apt"),
            dnf_root: home.join("dnf"),
            repositories: repositories.to_owned(),
            prefix: system_packages::root_prefix().ok_or_else(|| {
                Failure::new(
                    "Packages are installed as root, also below a folder.",
                    "Run it as root, or where sudo asks for no password.",
                )
            })?,
        };
        for folder in APT_FOLDERS {
            let folder = system.apt_root.join(folder);
            std::fs::create_dir_all(&folder)
                .map_err(|e| Failure::file_error("make", &folder, &e))?;
        }
        write_text(&system.apt_root.join("var/lib/dpkg/status"), "")?;
        system.write_apt_settings()?;
        Ok(system)
    }

    /// Checks that apt takes no index that is not signed.
    pub fn refuse_update_with_apt(&self) -> Result<(), Failure> {
        self.write_apt_source()?;
        let outcome = self.run_apt(&["update"])?;
        expect_refusal("apt", &outcome, "is not signed")
    }

    /// Installs the command line with apt, and starts it.
    pub fn install_with_apt(&self, version: &str) -> Result<(), Failure> {
        self.write_apt_source()?;
        expect_success("apt-get update", &self.run_apt(&["update"])?)?;
        let outcome = self.run_apt(&["install", "--yes", ENGINE_NAME])?;
        expect_success("apt-get install", &outcome)?;
        check_program(&self.apt_root, version)
    }

    /// Installs the command line with dnf, and starts it.
    pub fn install_with_dnf(&self, version: &str) -> Result<(), Failure> {
        expect_success("dnf install", &self.run_dnf("install")?)?;
        check_program(&self.dnf_root, version)
    }

    /// Checks that apt takes no package, and dnf no index, that was changed after it was signed.
    pub fn refuse_changed_packages(&self) -> Result<(), Failure> {
        expect_success("apt-get clean", &self.run_apt(&["clean"])?)?;
        let outcome = self.run_apt(&["install", "--yes", "--reinstall", ENGINE_NAME])?;
        expect_refusal("apt", &outcome, "Hash Sum mismatch")?;
        let outcome = self.run_dnf("reinstall")?;
        expect_refusal("dnf", &outcome, "GPG signature verification")
    }

    /// Puts `countersign.sources` where a person puts it, with the key where this system has it.
    fn write_apt_source(&self) -> Result<(), Failure> {
        let file = format!("{ENGINE_NAME}.sources");
        let published = self.repositories.join("apt").join(&file);
        let source = std::fs::read_to_string(&published)
            .map_err(|e| Failure::file_error("read", &published, &e))?;
        let key = self.repositories.join("apt").join(KEY_FILE);
        let source = source.replace(
            &format!("/etc/apt/keyrings/{KEY_FILE}"),
            &key.display().to_string(),
        );
        let folder = self.apt_root.join("etc/apt/sources.list.d");
        write_text(&folder.join(file), &source)
    }

    /// Writes the settings of apt. Read first, they keep it from those of the machine, whose hooks it would run.
    fn write_apt_settings(&self) -> Result<(), Failure> {
        let root = self.apt_root.display();
        let settings = format!(
            "Dir \"{root}\";\n\
             Dir::State::status \"{root}/var/lib/dpkg/status\";\n\
             Dpkg::Options {{ \"--root={root}\"; }};\n\
             Dpkg::Use-Pty \"0\";\n\
             APT::Architecture \"amd64\";\n\
             APT::Sandbox::User \"root\";\n"
        );
        write_text(&self.apt_settings(), &settings)
    }

    fn apt_settings(&self) -> PathBuf {
        self.apt_root.join("apt.conf")
    }

    fn run_apt(&self, arguments: &[&str]) -> Result<ProgramOutcome, Failure> {
        let settings = format!("APT_CONFIG={}", self.apt_settings().display());
        self.run_as_root(&[&["env", &settings, "apt-get"], arguments].concat())
    }

    fn run_dnf(&self, verb: &str) -> Result<ProgramOutcome, Failure> {
        let root = format!("--installroot={}", self.dnf_root.display());
        let repositories = self.repositories.join("dnf");
        let repositories = format!("--setopt=reposdir={}", repositories.display());
        let cache = self.dnf_root.join("var/cache/dnf");
        let cache = format!("--setopt=cachedir={}", cache.display());
        self.run_as_root(&[
            "dnf",
            &root,
            &repositories,
            &cache,
            "--releasever=1",
            "--forcearch=x86_64",
            "--refresh",
            "--assumeyes",
            verb,
            ENGINE_NAME,
        ])
    }

    fn run_as_root(&self, words: &[&str]) -> Result<ProgramOutcome, Failure> {
        let words = [self.prefix, &["env", "LC_ALL=C"], words].concat();
        let output = Command::new(words[0]).args(&words[1..]).output();
        let output = output.map_err(|e| {
            Failure::new(
                format!("`{}` could not be started: {e}.", words[0]),
                "Install it, then run the same command again.",
            )
        })?;
        let said = [output.stdout, output.stderr].concat();
        Ok(ProgramOutcome {
            is_success: output.status.success(),
            said: String::from_utf8_lossy(&said).into_owned(),
        })
    }
}

/// Checks that the command line below `root` says its version.
fn check_program(root: &Path, version: &str) -> Result<(), Failure> {
    let program = root.join("usr/bin").join(ENGINE_NAME);
    let said = command::read_output(&mut Command::new(&program)).unwrap_or_default();
    match said.trim() == format!("{ENGINE_NAME} {version}") {
        true => Ok(()),
        false => Err(Failure::new(
            format!("{} did not say its version: {said:?}.", program.display()),
            "Look at what the made-up package installs.",
        )),
    }
}

fn expect_success(what: &str, outcome: &ProgramOutcome) -> Result<(), Failure> {
    match outcome.is_success {
        true => Ok(()),
        false => Err(Failure::new(
            format!("`{what}` did not succeed:\n{}", outcome.said.trim_end()),
            "Look at what was published, target/publish-check/out/repositories.",
        )),
    }
}

/// Checks that a program refused, for the reason that it names with `word`.
fn expect_refusal(who: &str, outcome: &ProgramOutcome, word: &str) -> Result<(), Failure> {
    match !outcome.is_success && outcome.said.contains(word) {
        true => Ok(()),
        false => Err(Failure::new(
            format!(
                "{who} took what it has to refuse, or refused it without saying `{word}`:\n{}",
                outcome.said.trim_end()
            ),
            "Look at the settings of the repository, countersign.sources and countersign.repo.",
        )),
    }
}

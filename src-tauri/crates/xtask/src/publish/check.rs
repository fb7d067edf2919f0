//! Publishes a made-up release and tries it out with the programs that people would use.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::product::Product;
use super::text::write_text;
use super::throwaway_system::ThrowawaySystem;
use super::{PublishOptions, manifest_check, publish_release, release, sample_release, updates};
use crate::command;
use crate::failure::Failure;
use crate::paths;
use crate::progress::Progress;
use crate::system_packages;
use crate::tauri_cli;

/// Packages with the programs that the check runs.
const PACKAGES: [&str; 11] = [
    "apt-utils",
    "appstream",
    "createrepo-c",
    "dnf",
    "fakeroot",
    "gnupg",
    "libarchive-tools",
    "makepkg",
    "pacman-package-manager",
    "rpm",
    "ruby",
];

/// Owner of the key that is made for the check.
const KEY_OWNER: &str = "check@countersign.example";

/// Repository that the made-up release is in.
const REPOSITORY: &str = "https://code.example/owner/countersign";

/// Publishes a made-up release, installs it from the repositories, and has the manifests read by their programs.
pub fn check_sample_release() -> Result<(), Failure> {
    let progress = Progress::start();
    progress.stage("system packages", || {
        system_packages::ensure_debian_packages(&PACKAGES)
    })?;
    let check = SampleCheck::prepare(paths::target_dir().join("publish-check"))?;
    let result = check.run(&progress);
    check.clean_up()?;
    result?;
    println!("The made-up release installs with apt and dnf, and its manifests are read.");
    Ok(())
}

/// A made-up release, a key, and what is published of it.
struct SampleCheck {
    product: Product,
    home: PathBuf,
    site: String,
}

impl SampleCheck {
    /// Prepares a fresh folder.
    fn prepare(home: PathBuf) -> Result<Self, Failure> {
        let check = Self {
            product: Product::read()?,
            site: format!("file://{}", home.join("out/repositories").display()),
            home,
        };
        check.clean_up()?;
        Ok(check)
    }

    fn run(&self, progress: &Progress) -> Result<(), Failure> {
        let folder = self.home.join("release");
        progress.stage("made-up release", || {
            sample_release::write_files(&folder, &self.product)?;
            sample_release::write_packages(&folder, &self.product)?;
            self.make_key().map(|()| true)
        })?;
        progress.stage("Tauri command line", tauri_cli::ensure_tauri_cli)?;
        progress.stage("signatures of updates", || {
            self.sign_updates().map(|()| true)
        })?;
        let system = ThrowawaySystem::new(&self.home, &self.home.join("out/repositories"))?;
        progress.stage("apt refuses what is not signed", || {
            self.publish(None)?;
            system.refuse_update_with_apt().map(|()| true)
        })?;
        progress.stage("apt installs what is signed", || {
            self.publish(Some(KEY_OWNER))?;
            system
                .install_with_apt(&self.product.version)
                .map(|()| true)
        })?;
        progress.stage("dnf installs what is signed", || {
            system
                .install_with_dnf(&self.product.version)
                .map(|()| true)
        })?;
        progress.stage("manifests", || {
            let manifests = self.home.join("out/manifests");
            manifest_check::check_manifests(&manifests)?;
            manifest_check::check_manifest(&self.home.join("out/latest.json"))?;
            let [deb, ..] = release::file_names(&self.product);
            let (aur, work) = (manifests.join("aur"), self.home.join("arch"));
            manifest_check::check_arch_package(&aur, &folder.join(deb), &work).map(|()| true)
        })?;
        progress.stage("apt and dnf refuse what was changed", || {
            let repositories = self.home.join("out/repositories");
            let [deb, ..] = release::file_names(&self.product);
            let deb = repositories.join("apt/pool/main").join(deb);
            let index = repositories.join("dnf/repodata/repomd.xml");
            for file in [deb, index] {
                write_text(&file, "something else\n")?;
            }
            system.refuse_changed_packages().map(|()| true)
        })
    }

    fn publish(&self, sign_with: Option<&str>) -> Result<(), Failure> {
        publish_release(&PublishOptions {
            from: &self.home.join("release"),
            out: &self.home.join("out"),
            repository: REPOSITORY,
            site: &self.site,
            sign_with,
            key_ring: Some(&self.key_ring()),
        })
    }

    fn key_ring(&self) -> PathBuf {
        self.home.join("keys")
    }

    fn make_key(&self) -> Result<(), Failure> {
        let mut ring = Command::new("install");
        ring.args(["-d", "-m", "700"]).arg(self.key_ring());
        let what = "No key could be made for the check.";
        command::run_command(&mut ring, what, "Read the message above.")?;
        let mut gpg = Command::new("gpg");
        gpg.args(["--batch", "--quiet", "--passphrase", "", "--homedir"])
            .arg(self.key_ring())
            .args(["--quick-generate-key", KEY_OWNER])
            .stderr(Stdio::null());
        command::run_command(&mut gpg, what, "Run `gpg --quick-generate-key` by hand.")
    }

    /// Signs the files that replace an app, as the bundler does.
    fn sign_updates(&self) -> Result<(), Failure> {
        let key = self.home.join("updates.key");
        let mut generate = Command::new(tauri_cli::tauri_cli_path());
        generate.args([
            "signer",
            "generate",
            "--ci",
            "--password",
            "",
            "--write-keys",
        ]);
        let what = "No key for updates could be made.";
        let next = "Read the message above.";
        command::run_command(generate.arg(&key).stdout(Stdio::null()), what, next)?;
        for file in updates::list_files(&self.product) {
            let mut sign = Command::new(tauri_cli::tauri_cli_path());
            sign.args(["signer", "sign", "--password", "", "--private-key-path"]);
            sign.arg(&key)
                .args(["--app-version", &self.product.version]);
            sign.arg(self.home.join("release").join(&file.name));
            let what = format!("{} could not be signed.", file.name);
            command::run_command(sign.stdout(Stdio::null()), &what, next)?;
        }
        Ok(())
    }

    /// Removes everything, also what apt and dnf wrote as root.
    fn clean_up(&self) -> Result<(), Failure> {
        if !self.home.exists() {
            return Ok(());
        }
        let mut agent = Command::new("gpgconf");
        agent.arg("--homedir").arg(self.key_ring());
        let _ = command::read_output(agent.args(["--kill", "gpg-agent"]));
        let prefix = system_packages::root_prefix().unwrap_or_default();
        let words = [prefix, &["rm", "-rf"][..]].concat();
        let mut remove = Command::new(words[0]);
        remove.args(&words[1..]).arg(&self.home);
        let what = format!("{} could not be removed.", self.home.display());
        command::run_command(&mut remove, &what, "Remove it by hand.")
    }
}

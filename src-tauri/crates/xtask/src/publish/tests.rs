//! What is written of a made-up release.

use std::path::PathBuf;
use std::process::Command;

use super::product::Product;
use super::release::{Release, ReleaseFile};
use super::updates::{self, UpdateFile};
use super::{PublishOptions, manifest_check, parse_options, sample_release, write_manifests};
use crate::paths;

const REPOSITORY: &str = "https://code.example/owner/countersign";

/// A folder that is gone after the test.
struct SampleFolder(PathBuf);

impl SampleFolder {
    /// Makes a folder with a made-up release.
    fn new(test: &str) -> Self {
        let folder = paths::target_dir().join(format!("publish-{test}-{}", std::process::id()));
        let sample = Self(folder);
        sample_release::write_files(&sample.release_folder(), &Product::read().unwrap()).unwrap();
        sample
    }

    fn release_folder(&self) -> PathBuf {
        self.0.join("release")
    }

    /// Returns what is said of the release when it is read.
    fn read_refusal(&self) -> String {
        let product = Product::read().unwrap();
        let read = Release::read(&self.release_folder(), &product, REPOSITORY);
        read.unwrap_err().what
    }
}

impl Drop for SampleFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn files_of(release: &Release) -> [&ReleaseFile; 10] {
    [
        &release.deb,
        &release.rpm,
        &release.dmg_arm,
        &release.dmg_intel,
        &release.msi,
        &release.setup,
        &release.archive_linux,
        &release.archive_mac_arm,
        &release.archive_mac_intel,
        &release.archive_windows,
    ]
}

/// Replaces what Homebrew and Scoop fill in.
fn fill_in(manifest: &str, version: &str) -> String {
    let versions = manifest
        .replace("#{version}", version)
        .replace("$version", version);
    let arm = versions.replace("#{arch}", "aarch64");
    let intel = versions.replace("#{arch}", "x64");
    match arm == intel {
        true => arm,
        false => arm + &intel,
    }
}

/// Returns every word of 64 hexadecimal digits, in small letters.
fn find_checksums(manifest: &str) -> Vec<String> {
    let words = manifest.split(|letter: char| !letter.is_ascii_alphanumeric());
    words
        .filter(|word| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .map(str::to_ascii_lowercase)
        .collect()
}

/// Each manifest leads to files of the release, and to each with that file's checksum.
#[test]
fn manifests_lead_to_the_files_of_the_release() {
    let sample = SampleFolder::new("manifests");
    let product = Product::read().unwrap();
    let release = Release::read(&sample.release_folder(), &product, REPOSITORY).unwrap();
    let out = sample.0.join("out");
    write_manifests(&out, &product, &release).unwrap();

    let downloads = format!("{REPOSITORY}/releases/download/v{}/", product.version);
    let mut led_to: Vec<String> = Vec::new();
    for path in manifest_check::list_files(&out).unwrap() {
        let text = fill_in(&std::fs::read_to_string(&path).unwrap(), &product.version);
        let shown = path.display();
        let checksums = find_checksums(&text);
        let mut expected = Vec::new();
        for address in text.split(&downloads).skip(1) {
            let name: String = address
                .chars()
                .take_while(|letter| !letter.is_whitespace() && !"\"'".contains(*letter))
                .collect();
            let file = files_of(&release)
                .into_iter()
                .find(|file| file.name == name);
            let file = file.unwrap_or_else(|| panic!("{shown} leads to {name}"));
            expected.push(file.sha256.clone());
            led_to.push(name);
        }
        expected.sort();
        expected.dedup();
        let mut stated = checksums.clone();
        stated.sort();
        stated.dedup();
        assert_eq!(stated, expected, "{shown}");
        assert!(!text.contains("{}"), "{shown} has a gap");
    }
    for file in files_of(&release) {
        // The packages for dnf are in the repository.
        let is_led_to = led_to.contains(&file.name) || file == &release.rpm;
        assert!(is_led_to, "no manifest leads to {}", file.name);
    }
}

#[test]
fn manifests_say_the_version_and_the_licence() {
    let sample = SampleFolder::new("versions");
    let product = Product::read().unwrap();
    let release = Release::read(&sample.release_folder(), &product, REPOSITORY).unwrap();
    let out = sample.0.join("out");
    write_manifests(&out, &product, &release).unwrap();
    let read = |file: &str| std::fs::read_to_string(out.join(file)).unwrap();
    let version = &product.version;
    let winget = format!("winget/manifests/c/Countersign/Countersign/{version}");
    let table = [
        (
            "homebrew/Formula/countersign.rb".to_owned(),
            format!("  version \"{version}\"\n"),
        ),
        (
            "homebrew/Formula/countersign.rb".to_owned(),
            "any_of: [\"MIT\", \"Apache-2.0\"]".to_owned(),
        ),
        (
            "homebrew/Casks/countersign-app.rb".to_owned(),
            format!("  version \"{version}\"\n"),
        ),
        (
            format!("{winget}/Countersign.Countersign.yaml"),
            format!("PackageVersion: \"{version}\"\n"),
        ),
        (
            format!("{winget}/Countersign.Countersign.installer.yaml"),
            format!("PackageVersion: \"{version}\"\n"),
        ),
        (
            format!("{winget}/Countersign.Countersign.locale.en-US.yaml"),
            "License: \"MIT OR Apache-2.0\"\n".to_owned(),
        ),
        (
            "scoop/bucket/countersign.json".to_owned(),
            format!("\"version\": \"{version}\""),
        ),
        ("aur/PKGBUILD".to_owned(), format!("pkgver={version}\n")),
        ("aur/.SRCINFO".to_owned(), format!("\tpkgver = {version}\n")),
        (
            "flatpak/app.countersign.Countersign.metainfo.xml".to_owned(),
            "<id>app.countersign.Countersign</id>".to_owned(),
        ),
    ];
    for (file, text) in table {
        assert!(read(&file).contains(&text), "{file} does not say {text}");
    }
}

#[test]
fn a_file_that_is_missing_is_refused_by_name() {
    let sample = SampleFolder::new("missing");
    let version = Product::read().unwrap().version;
    let name = format!("Countersign_{version}_x64.dmg");
    std::fs::remove_file(sample.release_folder().join(&name)).unwrap();
    assert_eq!(sample.read_refusal(), format!("The release has no {name}."));
}

#[test]
fn a_checksum_that_is_missing_or_wrong_is_refused_by_name() {
    let sample = SampleFolder::new("checksum");
    let version = Product::read().unwrap().version;
    let name = format!("Countersign-{version}-1.x86_64.rpm");
    let checksum = sample.release_folder().join(format!("{name}.sha256"));
    for missing in ["", "0123  short\n"] {
        std::fs::write(&checksum, missing).unwrap();
        assert!(
            sample
                .read_refusal()
                .starts_with(&format!("There is no checksum of {name}:"))
        );
    }
    std::fs::remove_file(&checksum).unwrap();
    assert!(
        sample
            .read_refusal()
            .starts_with(&format!("There is no checksum of {name}:"))
    );
    std::fs::write(&checksum, format!("{}  {name}\n", "0".repeat(64))).unwrap();
    assert!(
        sample
            .read_refusal()
            .starts_with(&format!("{name} is not the file"))
    );
}

/// Writes what stands in the place of a signature beside each file that replaces an app: its comments, and no signature.
fn write_signatures(sample: &SampleFolder, version: &str) {
    for UpdateFile { name, .. } in updates::list_files(&Product::read().unwrap()) {
        let comment = sample.0.join("comment");
        let text = format!(
            "untrusted comment: made up\ntrusted comment: file:{name}\tversion:{version}\n"
        );
        std::fs::write(&comment, text).unwrap();
        let encoded = Command::new("base64")
            .arg("--wrap=0")
            .arg(&comment)
            .output();
        let signature = sample.release_folder().join(updates::signature_name(&name));
        std::fs::write(signature, encoded.unwrap().stdout).unwrap();
    }
}

/// Writes `latest.json` of a made-up release, and returns its text; none if nothing is signed.
fn write_latest(sample: &SampleFolder) -> Result<Option<String>, String> {
    let latest = sample.0.join("latest.json");
    let product = Product::read().unwrap();
    let written = updates::write_latest(&latest, &product, &sample.release_folder(), REPOSITORY);
    let is_written = written.map_err(|failure| failure.what)?;
    Ok(is_written.then(|| std::fs::read_to_string(&latest).unwrap()))
}

#[test]
fn an_app_learns_of_the_files_that_replace_it_with_their_signatures() {
    let sample = SampleFolder::new("updates");
    let product = Product::read().unwrap();
    let version = &product.version;
    write_signatures(&sample, version);
    let text = write_latest(&sample).unwrap().unwrap();
    assert!(
        text.contains(&format!("\"version\": \"{version}\"")),
        "{text}"
    );
    for UpdateFile { target, name } in updates::list_files(&product) {
        let signature = sample.release_folder().join(updates::signature_name(&name));
        let signature = std::fs::read_to_string(signature).unwrap();
        let lines = format!(
            "    \"{target}\": {{\n      \"signature\": \"{signature}\",\n      \
             \"url\": \"{REPOSITORY}/releases/download/v{version}/{name}\"\n    }}"
        );
        assert!(text.contains(&lines), "{text} has no {lines}");
    }
}

#[test]
fn a_release_is_signed_for_updates_whole_or_not_at_all() {
    let sample = SampleFolder::new("unsigned");
    assert_eq!(write_latest(&sample), Ok(None));
    let product = Product::read().unwrap();
    write_signatures(&sample, "0.0.9");
    let [first, .., last] = updates::list_files(&product);
    let first = updates::signature_name(&first.name);
    assert_eq!(
        write_latest(&sample).unwrap_err(),
        format!("{first} is no signature of version {}.", product.version)
    );
    write_signatures(&sample, &product.version);
    let last = updates::signature_name(&last.name);
    std::fs::remove_file(sample.release_folder().join(&last)).unwrap();
    let refusal = write_latest(&sample).unwrap_err();
    assert!(refusal.contains(&last), "{refusal}");
}

#[test]
fn options_are_whole_or_not_understood() {
    let words = |line: &'static str| line.split(' ').collect::<Vec<_>>();
    let whole =
        "--from a --out b --repository https://code.example/o/c --site https://site.example/";
    let options = PublishOptions {
        from: "a".as_ref(),
        out: "b".as_ref(),
        repository: "https://code.example/o/c",
        site: "https://site.example",
        sign_with: None,
        key_ring: None,
    };
    assert_eq!(parse_options(&words(whole)), Ok(options));
    for line in [
        "--from a --out b",
        "--from a --out b --repository c --site",
        "--from a --out b --repository c --site d --sign",
        "--from a --out b --repository c --site d --other e",
    ] {
        assert!(parse_options(&words(line)).is_err(), "{line}");
    }
}

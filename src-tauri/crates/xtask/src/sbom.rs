//! `cargo xtask sbom`: what the programs are built from, as bills of materials in CycloneDX.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo_tools::CargoTool;
use crate::command;
use crate::failure::Failure;
use crate::paths;
use crate::progress::Progress;
use crate::run::{APP_NAME, ENGINE_NAME, SANDBOX_NAME};

/// Writes the bills of Rust programs.
const CARGO_CYCLONEDX: CargoTool = CargoTool {
    name: "cargo-cyclonedx",
    version: "0.5.9",
};

/// Programs that a release contains.
const PROGRAMS: [&str; 3] = [APP_NAME, ENGINE_NAME, SANDBOX_NAME];

/// Writes a bill for each program and one for the interface into a folder.
pub fn run_sbom(own: &[String]) -> Result<(), Failure> {
    let words: Vec<&str> = own.iter().map(String::as_str).collect();
    let ["--out", folder] = words[..] else {
        return Err(Failure::new(
            format!("`cargo xtask sbom {}` is not understood.", words.join(" ")),
            "Use `--out DIR`.",
        ));
    };
    let folder = Path::new(folder);
    std::fs::create_dir_all(folder).map_err(|e| Failure::file_error("make", folder, &e))?;
    let progress = Progress::start();
    progress.stage("cargo-cyclonedx", || CARGO_CYCLONEDX.ensure_installed())?;
    progress.stage("bills of the programs", || {
        run_cyclonedx()?;
        collect_bills(&paths::repo_root(), folder).map(|()| true)
    })?;
    progress.stage("bill of the interface", || write_ui_bill(folder))?;
    println!("{} has the bills of materials.", folder.display());
    Ok(())
}

/// Lets cargo-cyclonedx write the bills, each beside the `Cargo.toml` of its program.
fn run_cyclonedx() -> Result<(), Failure> {
    let mut cyclonedx = Command::new(CARGO_CYCLONEDX.path());
    cyclonedx.current_dir(paths::repo_root()).args([
        "cyclonedx",
        "--format=json",
        "--spec-version=1.5",
        "--describe=binaries",
        // The installers of all systems are in one release.
        "--target=all",
    ]);
    command::run_command(
        &mut cyclonedx,
        "The bills of the programs could not be written.",
        "Read the message of cargo-cyclonedx above.",
    )
}

/// Moves the bills of our programs from the checkout to a folder, and removes those of other programs of the workspace.
fn collect_bills(checkout: &Path, folder: &Path) -> Result<(), Failure> {
    let mut missing = PROGRAMS.to_vec();
    for bill in find_bills(checkout)? {
        let name = bill.file_name().unwrap_or_default().to_string_lossy();
        let program = name.trim_end_matches("_bin.cdx.json");
        if let Some(at) = missing.iter().position(|wanted| *wanted == program) {
            let copy = folder.join(format!("{}.cdx.json", missing.swap_remove(at)));
            std::fs::copy(&bill, &copy).map_err(|e| Failure::file_error("copy", &bill, &e))?;
        }
        std::fs::remove_file(&bill).map_err(|e| Failure::file_error("remove", &bill, &e))?;
    }
    match missing[..] {
        [] => Ok(()),
        _ => Err(Failure::new(
            format!("There is no bill of {}.", missing.join(", ")),
            "Look at what cargo-cyclonedx writes: its version may name the files otherwise.",
        )),
    }
}

/// Returns the bills that stand beside a `Cargo.toml` of the workspace.
fn find_bills(checkout: &Path) -> Result<Vec<PathBuf>, Failure> {
    let crates = checkout.join("src-tauri").join("crates");
    let mut folders = list_folder(&crates)?;
    folders.extend([checkout.to_owned(), checkout.join("tests")]);
    let mut bills = Vec::new();
    for folder in folders.into_iter().filter(|folder| folder.is_dir()) {
        bills.extend(list_folder(&folder)?);
    }
    bills.retain(|file| file.to_string_lossy().ends_with("_bin.cdx.json"));
    Ok(bills)
}

fn list_folder(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = std::fs::read_dir(folder).map_err(|e| Failure::file_error("read", folder, &e))?;
    entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(|e| Failure::file_error("read", folder, &e))
}

/// Writes the bill of the packages that are built into the interface; those that only build or test it are left out.
fn write_ui_bill(folder: &Path) -> Result<bool, Failure> {
    let mut npm = command::npm_command();
    npm.args(["sbom", "--sbom-format=cyclonedx", "--package-lock-only"]);
    let bill = command::read_output(npm.arg("--omit=dev")).ok_or_else(|| {
        Failure::new(
            "npm wrote no bill of the interface.",
            "Run `npm sbom --sbom-format=cyclonedx --package-lock-only --omit=dev` in ui/; npm 10 or newer has it.",
        )
    })?;
    let file = folder.join(format!("{ENGINE_NAME}-ui.cdx.json"));
    std::fs::write(&file, bill).map_err(|e| Failure::file_error("write", &file, &e))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bills_are_taken_out_of_the_checkout() {
        let home = paths::target_dir().join(format!("sbom-{}", std::process::id()));
        let (checkout, out) = (home.join("checkout"), home.join("out"));
        let crates = checkout.join("src-tauri/crates");
        for folder in [
            &crates.join("cli"),
            &crates.join("sandbox"),
            &crates.join("xtask"),
            &out,
        ] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let files = [
            "countersign-desktop_bin.cdx.json",
            "src-tauri/crates/cli/countersign_bin.cdx.json",
            "src-tauri/crates/xtask/xtask_bin.cdx.json",
        ];
        for file in files {
            std::fs::write(checkout.join(file), file).unwrap();
        }
        let without_sandbox = collect_bills(&checkout, &out);
        let left = find_bills(&checkout).unwrap();
        let written = list_folder(&out).unwrap();
        std::fs::remove_dir_all(&home).unwrap();
        let refusal = without_sandbox.unwrap_err().what;
        assert_eq!(refusal, "There is no bill of countersign-sandbox.");
        assert!(left.is_empty(), "{left:?}");
        let mut names: Vec<_> = written.iter().filter_map(|file| file.file_name()).collect();
        names.sort();
        assert_eq!(
            names,
            ["countersign-desktop.cdx.json", "countersign.cdx.json"]
        );
    }
}

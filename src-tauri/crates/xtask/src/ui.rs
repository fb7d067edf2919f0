//! The UI: its packages, its build, and when each can be skipped.

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::command;
use crate::failure::Failure;
use crate::paths;

/// npm writes its two lockfiles one after the other; within this time they belong to the same installation.
const LOCKFILE_GRACE: Duration = Duration::from_secs(2);

/// Generated folders of the UI.
const GENERATED_FOLDERS: [&str; 3] = ["node_modules", "dist", ".svelte-kit"];

/// Ending of the names of tests, which no build contains.
const TEST_ENDING: &str = ".test.ts";

/// Installs the UI's packages as locked. Returns whether there was work to do.
pub fn install_packages() -> Result<bool, Failure> {
    install_packages_in(&paths::ui_dir())
}

/// Installs the packages of a folder as its lockfile names them. Returns whether there was work to do.
pub fn install_packages_in(folder: &Path) -> Result<bool, Failure> {
    let lockfile = folder.join("package-lock.json");
    if !lockfile.is_file() {
        return Err(Failure::new(
            format!("{} is missing.", lockfile.display()),
            "Take it from the repository again: it names the exact packages.",
        ));
    }
    if is_installed(folder) {
        return Ok(false);
    }
    check_node_version()?;
    command::run_command(
        command::npm_command()
            .current_dir(folder)
            .args(["ci", "--no-progress"]),
        "The npm packages could not be installed.",
        "Check that the npm registry can be reached, then run the same command again.",
    )?;
    Ok(true)
}

/// Builds the UI into ui/dist. Returns whether anything had changed since the last build.
pub fn build_ui() -> Result<bool, Failure> {
    let ui = paths::ui_dir();
    let stamp_file = paths::target_dir().join("xtask").join("ui.stamp");
    let stamp = fingerprint(&ui).map_err(|e| Failure::file_error("read", &ui, &e))?;
    let built = ui.join("dist").join("index.html").is_file();
    if built && std::fs::read_to_string(&stamp_file).is_ok_and(|last| last == stamp) {
        return Ok(false);
    }
    command::run_command(
        command::npm_command().args(["run", "--silent", "build"]),
        "The UI could not be built.",
        "Read Vite's message above; `npm run build` in ui/ repeats it.",
    )?;
    let made = stamp_file.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| std::fs::write(&stamp_file, stamp))
        .map_err(|e| Failure::file_error("write", &stamp_file, &e))?;
    Ok(true)
}

/// Whether the packages are installed: npm leaves a copy of the lockfile when it has finished, also when a person ran
/// it.
fn is_installed(ui: &Path) -> bool {
    let modified = |path: PathBuf| std::fs::metadata(path).and_then(|m| m.modified()).ok();
    let locked = modified(ui.join("package-lock.json"));
    let installed = modified(ui.join("node_modules").join(".package-lock.json"));
    match (locked, installed) {
        (Some(locked), Some(installed)) => installed + LOCKFILE_GRACE >= locked,
        _ => false,
    }
}

fn check_node_version() -> Result<(), Failure> {
    let next = "Install Node.js 20.19 or newer, which brings npm, then run the same command again.";
    let version = command::read_output(std::process::Command::new("node").arg("--version"))
        .ok_or_else(|| Failure::new("Node.js is not installed.", next))?;
    let mut numbers = version
        .trim()
        .trim_start_matches('v')
        .split('.')
        .map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) if (major, minor) >= (20, 19) => Ok(()),
        _ => Err(Failure::new(
            format!("Node.js {} is too old.", version.trim()),
            next,
        )),
    }
}

/// Returns a hash of the names and contents of all files that the UI is built from.
fn fingerprint(ui: &Path) -> std::io::Result<String> {
    let mut files = Vec::new();
    collect_files(ui, &mut files)?;
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        hasher.write(file.to_string_lossy().as_bytes());
        hasher.write_u8(0);
        let contents = std::fs::read(&file)?;
        hasher.write_usize(contents.len());
        hasher.write(&contents);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

fn collect_files(dir: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let made = GENERATED_FOLDERS
            .iter()
            .any(|name| entry.file_name() == *name);
        if entry.file_type()?.is_dir() {
            if !made {
                collect_files(&entry.path(), files)?;
            }
        } else if !entry.file_name().to_string_lossy().ends_with(TEST_ENDING) {
            files.push(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_follows_contents_and_names_but_not_tests_and_what_was_made() {
        let ui = std::env::temp_dir().join(format!("xtask-ui-{}", std::process::id()));
        std::fs::create_dir_all(ui.join("src")).unwrap();
        std::fs::create_dir_all(ui.join("dist")).unwrap();
        std::fs::write(ui.join("src/a.ts"), "1").unwrap();
        let first = fingerprint(&ui).unwrap();
        std::fs::write(ui.join("dist/index.html"), "made").unwrap();
        assert_eq!(fingerprint(&ui).unwrap(), first, "a build is not a change");
        std::fs::write(ui.join("src/a.test.ts"), "test('…')").unwrap();
        assert_eq!(fingerprint(&ui).unwrap(), first, "a test is not built");
        std::fs::write(ui.join("src/a.ts"), "2").unwrap();
        let changed = fingerprint(&ui).unwrap();
        assert_ne!(changed, first, "contents count");
        std::fs::rename(ui.join("src/a.ts"), ui.join("src/b.ts")).unwrap();
        assert_ne!(fingerprint(&ui).unwrap(), changed, "names count");
        std::fs::remove_dir_all(&ui).unwrap();
    }
}

//! `cargo xtask gallery`: photographs every component and screen, and compares each picture with its reference.
//! `cargo xtask test` compares those that have one.
//!
//! The work is done by the tests in `ui/gallery/`; this module starts them where there is a browser.

use std::path::PathBuf;
use std::process::Command;

use crate::command;
use crate::failure::Failure;
use crate::paths;
use crate::progress::Progress;
use crate::system_packages::{self, PackagePurpose};
use crate::ui;

/// Programs that draw pages unseen, with the packages of Debian that bring them.
const PROGRAMS: [(&str, &str); 2] = [("WebKitWebDriver", "webkit2gtk-driver"), ("Xvfb", "xvfb")];

/// Takes all pictures and shows where they are; `--accept` makes them the references.
pub fn run_gallery(own: &[String], passed_on: &[String]) -> Result<(), Failure> {
    let words: Vec<&str> = own.iter().map(String::as_str).collect();
    let accepts = match words[..] {
        [] => false,
        ["--accept"] => true,
        _ => {
            return Err(Failure::new(
                format!(
                    "`cargo xtask gallery {}` is not understood.",
                    words.join(" ")
                ),
                "Use `--accept` to make the pictures the references, or nothing; `-- -t NAME` takes some of them.",
            ));
        }
    };
    let progress = Progress::start();
    if cfg!(target_os = "linux") {
        progress.stage("system packages", || {
            system_packages::ensure_packages(PackagePurpose::Tests)
        })?;
    }
    if let Some(why) = find_obstacle() {
        return Err(Failure::new(
            why,
            "Leaf through the pages themselves with `npm run gallery` in ui/.",
        ));
    }
    progress.stage("UI packages", ui::install_packages)?;
    let mut tests = gallery_tests(passed_on);
    tests.arg("pictures");
    // A person looks at all pictures, also at those that need no reference.
    let wish = match accepts {
        true => "COUNTERSIGN_GALLERY_ACCEPT",
        false => "COUNTERSIGN_GALLERY_ALL",
    };
    tests.env(wish, "1");
    let result = command::run_command(
        &mut tests,
        "Some pages do not look as their references do.",
        "Look at what differs; where that is right, `cargo xtask gallery --accept` makes it the reference.",
    );
    println!("\n{}", index_file().display());
    result
}

/// Returns the command that compares the pictures which have a reference, and tries out the comparison.
pub fn comparison_command() -> Command {
    gallery_tests(&[])
}

/// Returns the page that shows the pictures of the last run.
pub fn index_file() -> PathBuf {
    pictures_dir().join("index.html")
}

/// Returns why no page can be photographed here, if so.
pub fn find_obstacle() -> Option<String> {
    if !cfg!(target_os = "linux") {
        return Some(
            "the gallery is photographed on Linux only, by the web view of that system.".into(),
        );
    }
    PROGRAMS
        .into_iter()
        .find(|(program, _)| paths::find_on_path(program).is_none())
        .map(|(program, package)| {
            format!("the gallery needs {program} to be photographed; Debian's package {package} brings it.")
        })
}

fn gallery_tests(passed_on: &[String]) -> Command {
    let mut npm = command::npm_command();
    npm.args(["run", "--silent", "gallery:pictures", "--"])
        .args(passed_on)
        .env("COUNTERSIGN_GALLERY", pictures_dir());
    npm
}

/// Returns the folder of the pictures.
fn pictures_dir() -> PathBuf {
    paths::target_dir().join("gallery")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_is_not_known_is_named() {
        let failure = run_gallery(&["--acept".into()], &[]).unwrap_err();
        assert_eq!(
            failure.what,
            "`cargo xtask gallery --acept` is not understood."
        );
    }
}

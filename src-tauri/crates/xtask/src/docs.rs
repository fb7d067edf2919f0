//! `cargo xtask docs`: the documentation in docs/ as a site. VitePress fails where a link leads nowhere.

use std::path::PathBuf;
use std::process::Command;

use crate::command;
use crate::failure::Failure;
use crate::paths;
use crate::progress::Progress;
use crate::ui;

/// Builds the site.
pub fn run_docs(own: &[String]) -> Result<(), Failure> {
    if !own.is_empty() {
        return Err(Failure::new(
            format!("`cargo xtask docs {}` is not understood.", own.join(" ")),
            "`cargo xtask docs` takes no options.",
        ));
    }
    let progress = Progress::start();
    progress.stage("packages of the documentation", install_packages)?;
    progress.stage("documentation", build_site)?;
    println!("The site is {}.", site_dir().display());
    Ok(())
}

/// Installs the packages that build the site, as locked. Returns whether there was work to do.
pub fn install_packages() -> Result<bool, Failure> {
    ui::install_packages_in(&paths::docs_dir())
}

/// Returns the command that builds the site.
pub fn build_command() -> Command {
    let mut npm = command::npm_command();
    npm.current_dir(paths::docs_dir())
        .args(["run", "--silent", "build", "--", "--outDir"])
        .arg(site_dir());
    npm
}

fn build_site() -> Result<bool, Failure> {
    let next = "Read VitePress's message above: a dead link is named with its page.";
    command::run_command(
        &mut build_command(),
        "The documentation could not be built.",
        next,
    )?;
    Ok(true)
}

fn site_dir() -> PathBuf {
    paths::target_dir().join("docs-site")
}

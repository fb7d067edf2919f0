//! Has each manifest read by the program that it is for, or by a parser of its language.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command;
use crate::failure::Failure;
use crate::system_packages;

/// Programs in Ruby, whose parsers read both languages.
const PARSE_JSON: &str = "JSON.parse(File.read(ARGV[0]))";
const PARSE_YAML: &str = "YAML.safe_load(File.read(ARGV[0])) or abort('empty')";

/// The end of a manifest's name, and the command that reads it.
const READERS: [(&str, &[&str]); 6] = [
    (".rb", &["ruby", "-c"]),
    (".json", &["ruby", "-rjson", "-e", PARSE_JSON]),
    (".yaml", &["ruby", "-ryaml", "-e", PARSE_YAML]),
    (".yml", &["ruby", "-ryaml", "-e", PARSE_YAML]),
    (".metainfo.xml", &["appstreamcli", "validate", "--no-net"]),
    ("PKGBUILD", &["bash", "-n"]),
];

/// Files that the package of Arch has to contain.
const ARCH_FILES: [&str; 3] = [
    "usr/bin/countersign",
    "usr/share/licenses/countersign-bin/LICENSE-MIT",
    "usr/share/zsh/site-functions/_countersign",
];

/// Checks every manifest below a folder.
pub fn check_manifests(folder: &Path) -> Result<(), Failure> {
    for file in list_files(folder)? {
        check_manifest(&file)?;
    }
    Ok(())
}

/// Checks one manifest; a file that no program is known for passes.
pub fn check_manifest(file: &Path) -> Result<(), Failure> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let reader = READERS.iter().find(|(end, _)| name.ends_with(end));
    match reader {
        Some((_, [program, arguments @ ..])) => {
            run_reader(Command::new(program).args(arguments).arg(file), file)
        }
        _ => Ok(()),
    }
}

/// Builds the package of Arch from the `.deb` of a release, in `work`, a folder that is made for it.
pub fn check_arch_package(folder: &Path, deb: &Path, work: &Path) -> Result<(), Failure> {
    let mut install = Command::new("install");
    // makepkg refuses to be run by root, and what runs it instead owns nothing here.
    install.args(["-d", "-m", "777"]).arg(work);
    let what = "There is no folder for makepkg.";
    command::run_command(&mut install, what, "Read the message above.")?;
    let source = work.join(deb.file_name().unwrap_or_default());
    std::fs::copy(deb, &source).map_err(|e| Failure::file_error("copy", deb, &e))?;

    check_srcinfo(folder, work)?;
    let mut build = makepkg_command(folder, work);
    let pkgbuild = folder.join("PKGBUILD");
    run_reader(build.args(["--nodeps", "--noprogressbar"]), &pkgbuild)?;
    let files = list_files(work)?;
    let package = files
        .iter()
        .find(|file| file.extension().is_some_and(|ending| ending == "tar"));
    let listed = package
        .and_then(|package| command::read_output(Command::new("bsdtar").arg("-tf").arg(package)))
        .unwrap_or_default();
    let is_missing = |file: &&&str| !listed.lines().any(|line| line == **file);
    match ARCH_FILES.iter().find(is_missing) {
        None => Ok(()),
        Some(missing) => Err(Failure::new(
            format!("The package of Arch has no {missing}:\n{listed}"),
            "Look at `package` in publish/aur.rs.",
        )),
    }
}

/// Checks that `.SRCINFO` is what makepkg makes of `PKGBUILD`.
fn check_srcinfo(folder: &Path, work: &Path) -> Result<(), Failure> {
    let output = makepkg_command(folder, work).arg("--printsrcinfo").output();
    let said = output
        .map(|output| [output.stdout, output.stderr].concat())
        .unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let file = folder.join(".SRCINFO");
    let written =
        std::fs::read_to_string(&file).map_err(|e| Failure::file_error("read", &file, &e))?;
    match said.trim() == written.trim() {
        true => Ok(()),
        false => Err(Failure::new(
            format!("`makepkg --printsrcinfo` says something else than .SRCINFO:\n{said}"),
            "Bring publish/aur.rs up to it.",
        )),
    }
}

/// Returns a command for makepkg in `folder`, which takes its sources from `work` and writes there.
fn makepkg_command(folder: &Path, work: &Path) -> Command {
    let words: &[&str] = match system_packages::root_prefix() {
        Some([]) => &["setpriv", "--reuid=65534", "--clear-groups", "makepkg"],
        _ => &["makepkg"],
    };
    let mut makepkg = Command::new(words[0]);
    makepkg.args(&words[1..]).current_dir(folder);
    makepkg.env("PKGEXT", ".pkg.tar");
    for variable in [
        "BUILDDIR",
        "HOME",
        "LOGDEST",
        "PKGDEST",
        "SRCDEST",
        "SRCPKGDEST",
    ] {
        makepkg.env(variable, work);
    }
    makepkg
}

fn run_reader(reader: &mut Command, file: &Path) -> Result<(), Failure> {
    let output = reader.output();
    let output = output.map_err(|e| {
        Failure::new(
            format!("{} was not read: {e}.", file.display()),
            "Install the program that reads it.",
        )
    })?;
    let said = [output.stdout, output.stderr].concat();
    match output.status.success() {
        true => Ok(()),
        false => Err(Failure::new(
            format!(
                "{} is refused:\n{}",
                file.display(),
                String::from_utf8_lossy(&said)
            ),
            "Correct what writes it, in publish/.",
        )),
    }
}

/// Returns all files below a folder, in order.
pub fn list_files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = std::fs::read_dir(folder).map_err(|e| Failure::file_error("read", folder, &e))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry
            .map_err(|e| Failure::file_error("read", folder, &e))?
            .path();
        match path.is_dir() {
            true => files.extend(list_files(&path)?),
            false => files.push(path),
        }
    }
    files.sort();
    Ok(files)
}

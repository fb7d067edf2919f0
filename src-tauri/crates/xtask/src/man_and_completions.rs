//! The manual pages and completions in the packages for Linux, written by the command line itself.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command;
use crate::failure::Failure;
use crate::paths;

/// Each shell with the file name under which it finds its completions.
const COMPLETION_FILES: [(&str, &str); 3] = [
    ("bash", "countersign"),
    ("zsh", "_countersign"),
    ("fish", "countersign.fish"),
];

/// Returns the folder from which `bundle.linux` in tauri.conf.json takes the manual pages and completions.
pub fn documents_folder() -> PathBuf {
    paths::target_dir().join("release").join("documents")
}

/// Makes a program write manual pages and completions into a folder, replacing the previous content: compressed pages
/// below `man1`, and a folder for each shell.
pub fn write_documents(countersign: &Path, folder: &Path) -> Result<(), Failure> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(|e| Failure::file_error("remove", folder, &e))?;
    }
    write_man_pages(countersign, &folder.join("man1"))?;
    for (shell, file) in COMPLETION_FILES {
        let script = command::read_output(Command::new(countersign).args(["completions", shell]));
        let script = script.ok_or_else(|| {
            Failure::new(
                format!("The command line wrote no completions for {shell}."),
                format!("Run `{} completions {shell}`.", countersign.display()),
            )
        })?;
        let folder = folder.join(shell);
        std::fs::create_dir_all(&folder).map_err(|e| Failure::file_error("make", &folder, &e))?;
        let file = folder.join(file);
        std::fs::write(&file, script).map_err(|e| Failure::file_error("write", &file, &e))?;
    }
    Ok(())
}

fn write_man_pages(countersign: &Path, folder: &Path) -> Result<(), Failure> {
    let next = format!("Run `{} man FOLDER`.", countersign.display());
    let mut man = Command::new(countersign);
    man.arg("man").arg(folder);
    command::run_command(&mut man, "The command line wrote no manual pages.", &next)?;
    let mut gzip = Command::new("gzip");
    // Without a time, the same pages are the same files.
    gzip.args(["--best", "--no-name", "--recursive"])
        .arg(folder);
    let what = "The manual pages could not be packed.";
    command::run_command(&mut gzip, what, "Read the message of `gzip` above.")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns everything below the folder of documents that a package contains, with its path in the package.
    fn places(package: &str) -> [(&'static str, &'static str); 5] {
        let zsh = match package {
            "deb" => "/usr/share/zsh/vendor-completions/_countersign",
            _ => "/usr/share/zsh/site-functions/_countersign",
        };
        [
            ("/usr/share/man/man1", "man1"),
            (
                "/usr/share/bash-completion/completions/countersign",
                "bash/countersign",
            ),
            (zsh, "zsh/_countersign"),
            (
                "/usr/share/fish/vendor_completions.d/countersign.fish",
                "fish/countersign.fish",
            ),
            (
                "/usr/share/metainfo/app.countersign.desktop.metainfo.xml",
                "app.countersign.desktop.metainfo.xml",
            ),
        ]
    }

    #[test]
    fn packages_carry_what_is_written() {
        let settings = std::fs::read_to_string(paths::repo_root().join("tauri.conf.json")).unwrap();
        for package in ["deb", "rpm"] {
            let start = format!("\"{package}\": {{");
            let files = settings.split(&start).nth(1).unwrap();
            let files = files.split("\"files\": {").nth(1).unwrap();
            let files = files.split('}').next().unwrap();
            for (place, source) in places(package) {
                let line = format!("\"{place}\": \"target/release/documents/{source}\"");
                assert!(files.contains(&line), "{package}: {line}");
            }
        }
        for (shell, file) in COMPLETION_FILES {
            let source = format!("{shell}/{file}");
            let mut sources = places("deb").into_iter();
            assert!(sources.any(|(_, known)| known == source), "{source}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn pages_and_completions_are_written_anew() {
        use std::os::unix::fs::PermissionsExt;

        const PROGRAM: &str = "#!/bin/sh\ncase $1 in\nman) mkdir -p \"$2\"; echo page > \"$2/countersign.1\" ;;\n\
             completions) echo \"for $2\" ;;\nesac\n";
        let home = paths::target_dir().join(format!("documents-{}", std::process::id()));
        let (program, folder) = (home.join("program"), home.join("documents"));
        std::fs::create_dir_all(folder.join("man1")).unwrap();
        std::fs::write(folder.join("man1/gone.1.gz"), "").unwrap();
        std::fs::write(&program, PROGRAM).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let written = write_documents(&program, &folder);
        let read = |file: &str| std::fs::read(folder.join(file)).unwrap_or_default();
        let page = read("man1/countersign.1.gz");
        let completions = COMPLETION_FILES.map(|(shell, file)| read(&format!("{shell}/{file}")));
        let is_old_there = folder.join("man1/gone.1.gz").exists();
        std::fs::remove_dir_all(&home).unwrap();
        assert!(written.is_ok());
        assert_eq!(page[..2], [0x1f, 0x8b], "a gzip file");
        let told = completions.map(|script| String::from_utf8(script).unwrap());
        assert_eq!(told, ["for bash\n", "for zsh\n", "for fish\n"]);
        assert!(!is_old_there);
    }
}

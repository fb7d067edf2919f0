//! The `.deb`, compressed with xz: Tauri knows gzip only, with which it is two fifths larger.

use std::path::Path;
use std::process::Command;

use crate::command;
use crate::failure::Failure;
use crate::paths;
use crate::publish::updates::signature_name;

/// Writes a package anew with xz. Returns whether it did: a system without `dpkg-deb` leaves it as it is.
pub fn recompress_package(deb: &Path) -> Result<bool, Failure> {
    if paths::find_on_path("dpkg-deb").is_none() {
        return Ok(false);
    }
    let (folder, packed) = (deb.with_extension("unpacked"), deb.with_extension("packed"));
    let run = |arguments: &[&str], from: &Path, to: &Path| {
        let mut dpkg = Command::new("dpkg-deb");
        dpkg.args(arguments).args([from, to]);
        let what = format!("{} could not be compressed with xz.", deb.display());
        command::run_command(&mut dpkg, &what, "Read the message of `dpkg-deb` above.")
    };
    run(&["--raw-extract"], deb, &folder)?;
    let build = ["--root-owner-group", "-Zxz", "-z9", "--build"];
    run(&build, &folder, &packed)?;
    std::fs::remove_dir_all(&folder).map_err(|e| Failure::file_error("remove", &folder, &e))?;
    std::fs::rename(&packed, deb).map_err(|e| Failure::file_error("replace", deb, &e))?;
    // Tauri may have signed the file as it was. A package is replaced by its package manager, which checks its repository's key.
    let signature = deb.with_file_name(signature_name(
        &deb.file_name().unwrap_or_default().to_string_lossy(),
    ));
    match std::fs::remove_file(&signature) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::file_error("remove", &signature, &e))
        }
        Ok(()) | Err(_) => Ok(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_keeps_its_files_and_loses_its_signature() {
        let home = std::env::temp_dir().join(format!("xtask-deb-{}", std::process::id()));
        let deb = home.join("a_1_all.deb");
        if paths::find_on_path("dpkg-deb").is_none() {
            assert!(!recompress_package(&deb).unwrap());
            return;
        }
        let tree = home.join("tree");
        std::fs::create_dir_all(tree.join("DEBIAN")).unwrap();
        std::fs::create_dir_all(tree.join("usr/bin")).unwrap();
        std::fs::write(tree.join("usr/bin/a"), "made up\n").unwrap();
        let control = "Package: a\nVersion: 1\nArchitecture: all\nMaintainer: A <a@b.example>\nDescription: a\n";
        std::fs::write(tree.join("DEBIAN/control"), control).unwrap();
        let run = |arguments: &[&str]| {
            let mut dpkg = Command::new("dpkg-deb");
            command::read_output(dpkg.current_dir(&home).args(arguments)).unwrap()
        };
        run(&[
            "--root-owner-group",
            "-Zgzip",
            "--build",
            "tree",
            "a_1_all.deb",
        ]);
        std::fs::write(home.join("a_1_all.deb.sig"), "").unwrap();
        let holds = |name: &str| {
            let bytes = std::fs::read(&deb).unwrap();
            bytes.windows(name.len()).any(|it| it == name.as_bytes())
        };
        assert!(holds("data.tar.gz"));
        let listed = run(&["--contents", "a_1_all.deb"]);

        assert!(recompress_package(&deb).unwrap());
        assert!(holds("data.tar.xz"));
        assert_eq!(run(&["--contents", "a_1_all.deb"]), listed);
        assert_eq!(run(&["--field", "a_1_all.deb"]), control);
        std::fs::remove_dir_all(&tree).unwrap();
        let left = std::fs::read_dir(&home)
            .unwrap()
            .map(|it| it.unwrap().file_name());
        assert_eq!(left.collect::<Vec<_>>(), ["a_1_all.deb"]);
        std::fs::remove_dir_all(&home).unwrap();
    }
}

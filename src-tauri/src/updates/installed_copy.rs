//! How this copy of the app was installed, which says what updates it.

use std::path::{Path, PathBuf};

use protocol::update::UpdateWay;
use tauri::utils::config::BundleType;
use tauri::utils::platform::{bundle_type, current_exe};

/// Where package managers of Linux put programs.
const SYSTEM_FOLDER: &str = "/usr";
/// Where people put programs by hand.
const LOCAL_FOLDER: &str = "/usr/local";

/// How this copy of the app was installed.
#[derive(Debug, Clone)]
pub(crate) struct InstalledCopy {
    /// The installer that its program was put into; none for one that was built from the sources.
    bundle: Option<BundleType>,
    program: PathBuf,
    appimage: Option<AppImage>,
}

/// A mounted AppImage.
#[derive(Debug, Clone)]
struct AppImage {
    file: PathBuf,
    mount: PathBuf,
}

impl InstalledCopy {
    /// Finds out how the copy that runs was installed.
    pub(crate) fn find() -> Self {
        let variable = |name| std::env::var_os(name).map(PathBuf::from);
        Self {
            bundle: bundle_type(),
            program: current_exe().unwrap_or_default(),
            appimage: variable("APPIMAGE")
                .zip(variable("APPDIR"))
                .map(|(file, mount)| AppImage { file, mount }),
        }
    }

    /// Returns a copy that was started from an AppImage.
    #[cfg(test)]
    pub(super) fn in_appimage(file: PathBuf, mount: PathBuf) -> Self {
        Self {
            bundle: None,
            program: mount.join("usr/bin/countersign-desktop"),
            appimage: Some(AppImage { file, mount }),
        }
    }

    /// Returns what updates this copy; `has_source` says whether this build knows a key, and where releases are told of.
    pub(super) fn find_way(&self, has_source: bool) -> UpdateWay {
        match (self.replaces_itself(), has_source) {
            (true, true) => UpdateWay::App,
            (true, false) => UpdateWay::NoKey,
            (false, _) if self.belongs_to_package_manager() => UpdateWay::PackageManager,
            (false, _) => UpdateWay::Sources,
        }
    }

    /// Returns the file that a newer version replaces, where it is not the program itself.
    pub(super) fn replaced_file(&self) -> Option<&Path> {
        self.own_appimage().map(|image| image.file.as_path())
    }

    fn replaces_itself(&self) -> bool {
        match self.bundle {
            Some(BundleType::Msi | BundleType::Nsis) => true,
            Some(BundleType::App) => is_in_app_bundle(&self.program),
            Some(BundleType::AppImage) | None => self.own_appimage().is_some(),
            Some(_) => false,
        }
    }

    /// Returns the AppImage that this copy was started from. The variables that name one are also those of another
    /// program's, from which this copy was started.
    fn own_appimage(&self) -> Option<&AppImage> {
        let image = self.appimage.as_ref()?;
        self.program.starts_with(&image.mount).then_some(image)
    }

    fn belongs_to_package_manager(&self) -> bool {
        let lies_in = |folder: &str| self.program.starts_with(folder);
        matches!(self.bundle, Some(BundleType::Deb | BundleType::Rpm))
            || lies_in(SYSTEM_FOLDER) && !lies_in(LOCAL_FOLDER)
    }
}

/// Whether a program lies in an application of macOS: `Countersign.app/Contents/MacOS/countersign-desktop`.
fn is_in_app_bundle(program: &Path) -> bool {
    let bundle = program.ancestors().nth(3);
    bundle
        .and_then(Path::extension)
        .is_some_and(|it| it == "app")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(bundle: Option<BundleType>, program: &str, appimage: Option<[&str; 2]>) -> UpdateWay {
        let copy = InstalledCopy {
            bundle,
            program: program.into(),
            appimage: appimage.map(|[file, mount]| AppImage {
                file: file.into(),
                mount: mount.into(),
            }),
        };
        copy.find_way(true)
    }

    #[test]
    fn a_copy_of_a_package_manager_is_left_to_it() {
        for (bundle, program) in [
            (Some(BundleType::Deb), "/usr/bin/countersign-desktop"),
            (Some(BundleType::Rpm), "/usr/bin/countersign-desktop"),
            (Some(BundleType::Deb), "/app/bin/countersign-desktop"),
            (
                Some(BundleType::Deb),
                "/home/me/unpacked/countersign-desktop",
            ),
            (None, "/usr/bin/countersign-desktop"),
        ] {
            assert_eq!(way(bundle, program, None), UpdateWay::PackageManager);
        }
    }

    #[test]
    fn an_app_replaces_itself_where_its_installer_can_be_replaced() {
        let mounted = "/tmp/.mount_CountX/usr/bin/countersign-desktop";
        let image = Some(["/home/me/Countersign.AppImage", "/tmp/.mount_CountX"]);
        assert_eq!(
            way(Some(BundleType::AppImage), mounted, image),
            UpdateWay::App
        );
        let bundled = "/Applications/Countersign.app/Contents/MacOS/countersign-desktop";
        assert_eq!(way(Some(BundleType::App), bundled, None), UpdateWay::App);
        let installed = r"C:\Users\me\AppData\Local\Countersign\countersign-desktop.exe";
        assert_eq!(way(Some(BundleType::Nsis), installed, None), UpdateWay::App);
        assert_eq!(way(Some(BundleType::Msi), installed, None), UpdateWay::App);
    }

    /// A terminal that is an AppImage itself leaves its variables to all that is started in it.
    #[test]
    fn the_appimage_of_another_program_is_never_replaced() {
        let image = Some(["/home/me/Terminal.AppImage", "/tmp/.mount_TermX"]);
        for program in ["/home/me/code/target/debug/app", "/usr/local/bin/app"] {
            assert_eq!(way(None, program, image), UpdateWay::Sources);
        }
        let unpacked = "/home/me/squashfs-root/usr/bin/countersign-desktop";
        assert_eq!(
            way(Some(BundleType::AppImage), unpacked, image),
            UpdateWay::Sources
        );
        assert_eq!(
            way(Some(BundleType::App), "/home/me/target/debug/app", None),
            UpdateWay::Sources
        );
    }

    #[test]
    fn a_build_without_a_key_replaces_nothing() {
        let copy = InstalledCopy::in_appimage("/a.AppImage".into(), "/mount".into());
        assert_eq!(copy.find_way(false), UpdateWay::NoKey);
    }
}

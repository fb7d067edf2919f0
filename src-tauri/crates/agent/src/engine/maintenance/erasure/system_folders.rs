//! What the window and its web view have beside the data folder, below the folders of the system.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// Name of the window's folders: the identifier of the app.
const WINDOW_FOLDER: &str = "app.countersign.desktop";
/// Folders of macOS, in the home folder, in which a web view keeps something for an app.
const WEB_VIEW_FOLDERS: [&str; 3] = ["Library/WebKit", "Library/HTTPStorages", "Library/Logs"];

/// The file of the start at login, in the home folder; other systems than Linux and macOS have none.
const LOGIN_ENTRY: &str = if cfg!(target_os = "macos") {
    "Library/LaunchAgents/Countersign.plist"
} else {
    ".config/autostart/Countersign.desktop"
};

/// Returns the window's folders that are there, and the entry of its start at login.
pub(super) fn find_window_folders() -> Vec<PathBuf> {
    let Some(dirs) = directories::BaseDirs::new() else {
        return Vec::new();
    };
    let system = [
        dirs.data_dir(),
        dirs.data_local_dir(),
        dirs.config_dir(),
        dirs.config_local_dir(),
        dirs.cache_dir(),
    ];
    let system = system.map(|folder| folder.join(WINDOW_FOLDER)).into_iter();
    let web_view = WEB_VIEW_FOLDERS
        .iter()
        .filter(|_| cfg!(target_os = "macos"))
        .map(|folder| dirs.home_dir().join(folder).join(WINDOW_FOLDER));
    let login = std::iter::once(dirs.home_dir().join(LOGIN_ENTRY)).filter(|_| cfg!(unix));
    let all: BTreeSet<PathBuf> = system.chain(web_view).chain(login).collect();
    let exists = |path: &PathBuf| !matches!(runtime::list_all_names(path), Ok(None));
    all.into_iter().filter(exists).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folders_have_the_name_of_the_app() {
        let config = include_str!("../../../../../../../tauri.conf.json");
        let config: serde_json::Value = serde_json::from_str(config).unwrap();
        assert_eq!(config["identifier"], WINDOW_FOLDER);
    }
}

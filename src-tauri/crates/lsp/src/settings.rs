//! The language servers set up by the person: validation, and views for display.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use protocol::UserError;
use protocol::server::language_servers::{LanguageServer, LanguageServerView};
use protocol::text::display_text::to_single_line;

use crate::limits::{ARGS_MAX, FILE_EXTENSIONS_MAX, ID_BYTES_MAX, SERVERS_MAX, VALUE_BYTES_MAX};
use crate::presets::{SERVER_PRESETS, find_preset};

/// Returns the problems in the configuration of the servers.
pub fn validate_settings(servers: &[LanguageServer]) -> Vec<UserError> {
    let mut ids = BTreeSet::new();
    let mut faults: Vec<UserError> = servers
        .iter()
        .filter_map(|server| validate_server(server, !ids.insert(&server.id)))
        .collect();
    if servers.len() > SERVERS_MAX {
        faults.push(UserError::new(
            format!("There are more than {SERVERS_MAX} language servers."),
            "Remove some.",
        ));
    }
    faults
}

fn validate_server(server: &LanguageServer, is_double: bool) -> Option<UserError> {
    let shown_id = to_single_line(&server.id, ID_BYTES_MAX);
    let fault = |what: String, hint: &str| Some(UserError::new(what, hint));
    if !is_valid_id(&server.id) {
        let what = format!("`{shown_id}` is not an id of a language server.");
        return fault(what, "Give it one of small letters, digits, `-` and `_`.");
    }
    if is_double {
        let what = format!("There are two language servers `{shown_id}`.");
        return fault(what, "Give one of them another id.");
    }
    let too_long = |value: &String| value.len() > VALUE_BYTES_MAX || value.contains('\0');
    let command = &server.command;
    let is_whole = Path::new(command).is_absolute() || !command.contains(['/', '\\']);
    if command.trim().is_empty() || too_long(command) || !is_whole {
        let what = format!("The command of the language server `{shown_id}` is none.");
        return fault(
            what,
            "Write the name of a program that is on PATH, or its whole path.",
        );
    }
    if server.args.len() > ARGS_MAX || server.args.iter().any(too_long) {
        let what = format!("The language server `{shown_id}` has too many or too long arguments.");
        return fault(what, "Shorten them.");
    }
    let is_ending = |ending: &str| {
        !ending.is_empty()
            && ending.len() <= ID_BYTES_MAX
            && !ending.contains(['.', '/', '\\', '*'])
            && ending == ending.to_lowercase()
    };
    let is_language = |id: &str| !id.trim().is_empty() && id.len() <= ID_BYTES_MAX;
    let mut files = server.files.iter();
    let right = files.all(|(ending, language)| is_ending(ending) && is_language(language));
    if server.files.is_empty() || server.files.len() > FILE_EXTENSIONS_MAX || !right {
        let what = format!("The files of the language server `{shown_id}` are not named rightly.");
        return fault(
            what,
            "Name at least one ending in small letters without its dot, each with the id of a language: `py = \"python\"`.",
        );
    }
    None
}

fn is_valid_id(id: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    !id.is_empty() && id.len() <= ID_BYTES_MAX && id.chars().all(fits)
}

/// Finds the program of a server; `None` if it is not installed.
pub fn find_program(server: &LanguageServer) -> Option<PathBuf> {
    runtime::find_program(&server.command)
}

/// Returns the views of every server that is set up or offered, with whether its program is installed.
pub fn build_views(servers: &[LanguageServer]) -> Vec<LanguageServerView> {
    let view = |settings: LanguageServer| {
        let maker = find_preset(&settings.id);
        LanguageServerView {
            title: maker.map_or_else(|| settings.id.clone(), |maker| maker.title.to_owned()),
            language: match maker {
                Some(maker) => maker.language.to_owned(),
                None => language_names(&settings),
            },
            runs: maker.map_or_else(
                || "May run whatever it finds in the folder.".to_owned(),
                |maker| maker.execution_note.to_owned(),
            ),
            own: maker.is_none(),
            found: find_program(&settings).map(|file| file.display().to_string()),
            settings,
        }
    };
    let offered = SERVER_PRESETS.iter().map(|offered| {
        let set = servers.iter().find(|server| server.id == offered.id);
        set.cloned().unwrap_or_else(|| offered.to_settings())
    });
    let own = servers
        .iter()
        .filter(|server| find_preset(&server.id).is_none());
    offered.chain(own.cloned()).map(view).collect()
}

fn language_names(server: &LanguageServer) -> String {
    let ids: BTreeSet<&str> = server.files.values().map(String::as_str).collect();
    ids.into_iter().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn good() -> LanguageServer {
        LanguageServer {
            id: "mine".to_owned(),
            enabled: true,
            command: "mine-server".to_owned(),
            args: Vec::new(),
            files: BTreeMap::from([("x".to_owned(), "xlang".to_owned())]),
        }
    }

    #[test]
    fn what_is_offered_is_right_and_off() {
        let offered: Vec<_> = SERVER_PRESETS
            .iter()
            .map(super::super::presets::ServerPreset::to_settings)
            .collect();
        assert_eq!(validate_settings(&offered), []);
        assert!(offered.iter().all(|server| !server.enabled));
        let shown = build_views(&[]);
        assert_eq!(shown.len(), SERVER_PRESETS.len());
        assert!(shown.iter().all(|view| !view.own && !view.runs.is_empty()));
    }

    #[test]
    fn what_is_wrong_is_said() {
        type Change = fn(&mut LanguageServer);
        let table: [(Change, &str); 9] = [
            (|_| {}, ""),
            (|one| one.id = "A b".to_owned(), "is not an id"),
            (|one| one.command = " ".to_owned(), "command"),
            (|one| one.command = "bin/server".to_owned(), "command"),
            (|one| one.command = "./server".to_owned(), "command"),
            (|one| one.files.clear(), "files"),
            (|one| one.args = vec![String::new(); 51], "arguments"),
            (
                |one| _ = one.files.insert(".y".to_owned(), "y".to_owned()),
                "files",
            ),
            (
                |one| _ = one.files.insert("y".to_owned(), String::new()),
                "files",
            ),
        ];
        for (change, told) in table {
            let mut server = good();
            change(&mut server);
            let said: String = validate_settings(&[server])
                .iter()
                .map(ToString::to_string)
                .collect();
            assert_eq!(said.is_empty(), told.is_empty(), "{told}: {said}");
            assert!(said.contains(told), "{told}: {said}");
        }
        let twice = validate_settings(&[good(), good()]);
        assert!(twice[0].message.contains("two language servers `mine`"));
    }

    /// A person's own servers are shown after those that are offered, as they are set up.
    #[test]
    fn own_ones_are_shown_too() {
        let mut on = find_preset("pyright").unwrap().to_settings();
        on.enabled = true;
        let shown = build_views(&[good(), on]);
        let own = shown.last().unwrap();
        assert_eq!(
            (own.own, own.title.as_str(), own.language.as_str()),
            (true, "mine", "xlang")
        );
        let pyright = shown.iter().find(|view| view.title == "Pyright").unwrap();
        assert!(pyright.settings.enabled);
    }
}

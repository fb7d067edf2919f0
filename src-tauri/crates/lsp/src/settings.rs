//! What the person set up: what is wrong with it, and what is shown of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use protocol::Fault;
use protocol::languages::{LanguageServer, LanguageServerView};
use protocol::shown::in_a_sentence;

use crate::known::{KNOWN, known};
use crate::limits::{ARGS_MAX, ENDINGS_MAX, ID_BYTES_MAX, SERVERS_MAX, VALUE_BYTES_MAX};

/// What is wrong with the servers that are set up.
pub fn wrong(servers: &[LanguageServer]) -> Vec<Fault> {
    let mut ids = BTreeSet::new();
    let mut faults: Vec<Fault> = servers
        .iter()
        .filter_map(|server| wrong_with(server, !ids.insert(&server.id)))
        .collect();
    if servers.len() > SERVERS_MAX {
        faults.push(Fault::new(
            format!("There are more than {SERVERS_MAX} language servers."),
            "Remove some.",
        ));
    }
    faults
}

fn wrong_with(server: &LanguageServer, is_double: bool) -> Option<Fault> {
    let told = in_a_sentence(&server.id, ID_BYTES_MAX);
    let fault = |what: String, hint: &str| Some(Fault::new(what, hint));
    if !is_name(&server.id) {
        let what = format!("`{told}` is no id of a language server.");
        return fault(what, "Give it one of small letters, digits, `-` and `_`.");
    }
    if is_double {
        let what = format!("There are two language servers `{told}`.");
        return fault(what, "Give one of them another id.");
    }
    let too_long = |value: &String| value.len() > VALUE_BYTES_MAX || value.contains('\0');
    let command = &server.command;
    let is_whole = Path::new(command).is_absolute() || !command.contains(['/', '\\']);
    if command.trim().is_empty() || too_long(command) || !is_whole {
        let what = format!("The command of the language server `{told}` is none.");
        return fault(
            what,
            "Write the name of a program that is on PATH, or its whole path.",
        );
    }
    if server.args.len() > ARGS_MAX || server.args.iter().any(too_long) {
        let what = format!("The language server `{told}` has too many or too long arguments.");
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
    if server.files.is_empty() || server.files.len() > ENDINGS_MAX || !right {
        let what = format!("The files of the language server `{told}` are not named rightly.");
        return fault(
            what,
            "Name at least one ending in small letters without its dot, each with the id of a language: `py = \"python\"`.",
        );
    }
    None
}

fn is_name(id: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    !id.is_empty() && id.len() <= ID_BYTES_MAX && id.chars().all(fits)
}

/// Where the program of a server is; none where it is not installed.
pub fn program(server: &LanguageServer) -> Option<PathBuf> {
    runtime::program_of(&server.command)
}

/// Every server that is set up or offered, and whether its program is there.
pub fn views(servers: &[LanguageServer]) -> Vec<LanguageServerView> {
    let view = |settings: LanguageServer| {
        let maker = known(&settings.id);
        LanguageServerView {
            title: maker.map_or_else(|| settings.id.clone(), |maker| maker.title.to_owned()),
            language: match maker {
                Some(maker) => maker.language.to_owned(),
                None => languages(&settings),
            },
            runs: maker.map_or_else(
                || "May run whatever it finds in the folder.".to_owned(),
                |maker| maker.runs.to_owned(),
            ),
            own: maker.is_none(),
            found: program(&settings).map(|file| file.display().to_string()),
            settings,
        }
    };
    let offered = KNOWN.iter().map(|offered| {
        let set = servers.iter().find(|server| server.id == offered.id);
        set.cloned().unwrap_or_else(|| offered.settings())
    });
    let own = servers.iter().filter(|server| known(&server.id).is_none());
    offered.chain(own.cloned()).map(view).collect()
}

fn languages(server: &LanguageServer) -> String {
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
        let offered: Vec<_> = KNOWN
            .iter()
            .map(super::super::known::KnownServer::settings)
            .collect();
        assert_eq!(wrong(&offered), []);
        assert!(offered.iter().all(|server| !server.enabled));
        let shown = views(&[]);
        assert_eq!(shown.len(), KNOWN.len());
        assert!(shown.iter().all(|view| !view.own && !view.runs.is_empty()));
    }

    #[test]
    fn what_is_wrong_is_said() {
        type Change = fn(&mut LanguageServer);
        let table: [(Change, &str); 9] = [
            (|_| {}, ""),
            (|one| one.id = "A b".to_owned(), "is no id"),
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
            let said: String = wrong(&[server]).iter().map(ToString::to_string).collect();
            assert_eq!(said.is_empty(), told.is_empty(), "{told}: {said}");
            assert!(said.contains(told), "{told}: {said}");
        }
        let twice = wrong(&[good(), good()]);
        assert!(twice[0].message.contains("two language servers `mine`"));
    }

    /// Own ones are shown after those that are offered, as they are set up.
    #[test]
    fn own_ones_are_shown_too() {
        let mut on = known("pyright").unwrap().settings();
        on.enabled = true;
        let shown = views(&[good(), on]);
        let own = shown.last().unwrap();
        assert_eq!(
            (own.own, own.title.as_str(), own.language.as_str()),
            (true, "mine", "xlang")
        );
        let pyright = shown.iter().find(|view| view.title == "Pyright").unwrap();
        assert!(pyright.settings.enabled);
    }
}

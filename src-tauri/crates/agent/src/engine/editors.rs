//! Opens files of a workspace in the person's editor. A file is never handed to the program that the system has for its
//! kind: that may run it.

use std::path::{Path, PathBuf};

use protocol::UserError;
use protocol::query::Answer;
use protocol::settings::{EditorSettings, EditorView};
use runtime::Workspace;

use crate::engine::Engine;
use crate::session::engine_state::EngineState;

/// An editor that is known: its name, its program, and its arguments with `{file}` and `{line}`.
struct KnownEditor {
    title: &'static str,
    program: &'static str,
    args: &'static [&'static str],
}

const fn known(
    title: &'static str,
    program: &'static str,
    args: &'static [&'static str],
) -> KnownEditor {
    KnownEditor {
        title,
        program,
        args,
    }
}

const GOTO: &[&str] = &["--goto", "{file}:{line}"];
const COLON: &[&str] = &["{file}:{line}"];
const LINE: &[&str] = &["--line", "{line}", "{file}"];
const PLUS: &[&str] = &["+{line}", "{file}"];

/// Editors with a window of their own, in the order in which the first installed one is chosen.
const KNOWN_EDITORS: [KnownEditor; 17] = [
    known("Cursor", "cursor", GOTO),
    known("Visual Studio Code", "code", GOTO),
    known("VSCodium", "codium", GOTO),
    known("Windsurf", "windsurf", GOTO),
    known("Zed", "zed", COLON),
    known("Zed", "zeditor", COLON),
    known("Sublime Text", "subl", COLON),
    known("RustRover", "rustrover", LINE),
    known("IntelliJ IDEA", "idea", LINE),
    known("PyCharm", "pycharm", LINE),
    known("WebStorm", "webstorm", LINE),
    known("GoLand", "goland", LINE),
    known("Kate", "kate", LINE),
    known("GNOME Builder", "gnome-builder", &["{file}"]),
    known("Text Editor", "gnome-text-editor", PLUS),
    known("gedit", "gedit", PLUS),
    known("GVim", "gvim", PLUS),
];

impl Engine {
    /// Returns the absolute path of an existing file of a workspace, given by its path from the workspace root.
    ///
    /// # Errors
    /// The path leads out of the workspace, or there is nothing.
    pub fn find_file(&self, workspace: &str, path: &str) -> Result<PathBuf, UserError> {
        find_file(workspace, path)
    }
}

/// Lists the known editors that are installed, in the order in which the first one is chosen.
pub(crate) fn list_editors() -> Answer {
    let installed = KNOWN_EDITORS
        .iter()
        .filter(|editor| runtime::find_program(editor.program).is_some());
    Answer::Editors {
        editors: installed
            .map(|editor| EditorView {
                title: editor.title.to_owned(),
                program: editor.program.to_owned(),
            })
            .collect(),
    }
}

/// Opens a file of a workspace in the person's editor, at a line, from 1.
///
/// # Errors
/// There is no such file in the workspace, no editor is installed, or the editor cannot be started.
pub(crate) fn open_in_editor(
    engine: &EngineState,
    workspace: &str,
    path: &str,
    line: Option<u32>,
) -> Result<(), UserError> {
    let file = find_file(workspace, path)?;
    let command = EditorCommand::choose(&engine.settings().editor)?;
    let args = command.fill_args(&file, line.unwrap_or(1));
    let started = runtime::start_detached(&command.file, args);
    started.map_err(|error| {
        UserError::new(
            format!("`{}` could not be started.", command.file.display()),
            "Choose another editor in Settings.",
        )
        .with_source(&error)
    })
}

/// Returns the absolute path of an existing file of a workspace.
///
/// # Errors
/// The path leads out of the workspace, or there is nothing.
fn find_file(workspace: &str, path: &str) -> Result<PathBuf, UserError> {
    let workspace = Workspace::open(Path::new(workspace))?;
    match workspace.path_kind(path)? {
        Some(_) => Ok(workspace.root().join(path)),
        None => Err(UserError::new(
            format!("`{path}` is not there any more."),
            "If it was deleted, undo that in History first.",
        )),
    }
}

/// A program and its arguments, not yet filled in.
#[derive(Debug, PartialEq, Eq)]
struct EditorCommand {
    file: PathBuf,
    args: Vec<String>,
}

impl EditorCommand {
    /// Chooses the person's editor, else the first known one that is installed.
    fn choose(settings: &EditorSettings) -> Result<Self, UserError> {
        Self::choose_among(settings, runtime::find_program)
    }

    fn choose_among(
        settings: &EditorSettings,
        find: impl Fn(&str) -> Option<PathBuf>,
    ) -> Result<Self, UserError> {
        let named = settings.program.as_str();
        if named.is_empty() {
            return KNOWN_EDITORS
                .iter()
                .find_map(|editor| Some(Self::known(editor, find(editor.program)?)))
                .ok_or_else(|| {
                    UserError::new(
                        "No known editor is installed.",
                        "Name yours in `settings.toml`, as `program` below `[editor]`.",
                    )
                });
        }
        let file = find(named).ok_or_else(|| {
            UserError::new(
                format!("The editor `{named}` was not found."),
                "Choose another one in Settings, or install it.",
            )
        })?;
        let editor = KNOWN_EDITORS.iter().find(|editor| editor.program == named);
        Ok(match (settings.args.as_slice(), editor) {
            ([], Some(editor)) => Self::known(editor, file),
            ([], None) => Self {
                file,
                args: vec!["{file}".to_owned()],
            },
            (args, _) => Self {
                file,
                args: args.to_vec(),
            },
        })
    }

    fn known(editor: &KnownEditor, file: PathBuf) -> Self {
        Self {
            file,
            args: editor.args.iter().map(ToString::to_string).collect(),
        }
    }

    /// Returns the arguments for a file; the file is an argument of its own, or a part of one, and never more.
    fn fill_args(&self, file: &Path, line: u32) -> Vec<String> {
        let file = file.display().to_string();
        self.args
            .iter()
            // The file comes last: a name with `{line}` in it stays as it is.
            .map(|arg| {
                arg.replace("{line}", &line.to_string())
                    .replace("{file}", &file)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(program: &str, args: &[&str], installed: &[&str]) -> Result<Vec<String>, UserError> {
        let settings = EditorSettings {
            program: program.to_owned(),
            args: args.iter().map(ToString::to_string).collect(),
        };
        let find = |name: &str| {
            installed
                .contains(&name)
                .then(|| PathBuf::from(format!("/bin/{name}")))
        };
        let command = EditorCommand::choose_among(&settings, find)?;
        let mut words = vec![command.file.display().to_string()];
        words.extend(command.fill_args(Path::new("/w/a {line} b.rs"), 7));
        Ok(words)
    }

    #[test]
    fn the_chosen_editor_opens_the_file_at_its_line_else_the_first_that_is_installed() {
        for (program, args, words) in [
            ("", &[][..], ["/bin/code", "--goto", "/w/a {line} b.rs:7"]),
            ("kate", &[], ["/bin/kate", "--line", "7"]),
            (
                "mine",
                &["-n", "{file}"],
                ["/bin/mine", "-n", "/w/a {line} b.rs"],
            ),
            (
                "code",
                &["-r", "{file}"],
                ["/bin/code", "-r", "/w/a {line} b.rs"],
            ),
        ] {
            let chosen = choose(program, args, &["kate", "mine", "code"]).unwrap();
            assert_eq!(chosen[..3], words, "{program}");
        }
        let plain = choose("mine", &[], &["mine"]).unwrap();
        assert_eq!(plain, ["/bin/mine", "/w/a {line} b.rs"]);
    }

    #[test]
    fn a_missing_editor_is_said_with_the_next_step() {
        let none = choose("", &[], &["vi"]).unwrap_err();
        assert!(none.hint.contains("settings.toml"), "{none:?}");
        let missing = choose("nowhere", &[], &["code"]).unwrap_err();
        assert!(missing.message.contains("`nowhere`"), "{missing:?}");
    }
}

//! Finds a program on Windows as its shells do: a name without an extension stands for one that has an extension of
//! `PATHEXT`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Extensions where the environment names none.
const DEFAULT_EXTENSIONS: &str = ".COM;.EXE;.BAT;.CMD";

/// Returns the file that a program's name stands for: `npx.cmd` in a folder of `PATH` for `npx`. `None` where the
/// system finds the program by itself, or it cannot be found.
pub(super) fn find_with_extension(
    program: &str,
    variables: &[(String, String)],
    is_there: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let named = Path::new(program);
    if named.extension().is_some() || program.is_empty() {
        return None;
    }
    // Windows does not care how the names of variables are spelt; the one that stands last holds.
    let variable = |name: &str| {
        let mut found = variables.iter().rev();
        let found = found.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    };
    let endings = variable("PATHEXT").unwrap_or(DEFAULT_EXTENSIONS);
    let endings = endings.split(';').filter(|ending| ending.starts_with('.'));
    let folders: Vec<PathBuf> = match named.components().count() {
        // One that is relative would lead into whatever folder something is started in.
        1 => std::env::split_paths(OsStr::new(variable("PATH")?))
            .filter(|folder| folder.is_absolute())
            .collect(),
        // It names its folder.
        _ => vec![PathBuf::new()],
    };
    let all = folders.iter().flat_map(|folder| {
        let endings = endings.clone();
        endings.map(move |ending| folder.join(format!("{program}{}", ending.to_ascii_lowercase())))
    });
    all.into_iter().find(|file| is_there(file))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_for_the_first_file_with_an_ending() {
        let path = std::env::join_paths([".", "/one", "/two"]).unwrap();
        let path = path.into_string().unwrap();
        let there = [
            "/one/uvx.exe",
            "/two/npx.cmd",
            "/two/uvx.cmd",
            "/own/tool.bat",
        ];
        let files = there.map(|file| Path::new(file).to_owned());
        for (program, endings, expected) in [
            ("npx", None, Some("/two/npx.cmd")),
            ("uvx", None, Some("/one/uvx.exe")),
            ("npx", Some(".EXE;.CMD"), Some("/two/npx.cmd")),
            ("npx", Some(".EXE"), None),
            ("/own/tool", None, Some("/own/tool.bat")),
            ("npx.cmd", None, None),
            ("here", None, None),
            ("nobody", None, None),
            ("", None, None),
        ] {
            let mut variables = vec![("Path".to_owned(), path.clone())];
            variables.extend(endings.map(|endings| ("PathExt".to_owned(), endings.to_owned())));
            let found =
                find_with_extension(program, &variables, |file| files.contains(&file.to_owned()));
            assert_eq!(found.as_deref(), expected.map(Path::new), "{program}");
        }
    }
}

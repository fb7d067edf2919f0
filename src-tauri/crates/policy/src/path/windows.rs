//! Paths of Windows: drives, shares, devices, streams, short names, and names whose ends are cut off.

use super::{AbsolutePath, ParsedPath, begins_at_home};

/// Names that are devices wherever they stand, whatever ending follows.
const DEVICE_NAMES: [&str; 8] = [
    "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "COM", "LPT",
];

/// Reads a path from a folder on.
pub(super) fn parse_path(base: &AbsolutePath, path: &str) -> ParsedPath {
    let path = path.replace('/', "\\");
    if begins_at_home(&path, |c| c == '\\') {
        return ParsedPath::Home;
    }
    let is_verbatim = path.starts_with(r"\\?\") || path.starts_with(r"\??\");
    if let Some(rest) = [r"\\?\", r"\\.\", r"\??\"]
        .iter()
        .find_map(|start| path.strip_prefix(start))
    {
        return parse_device_path(rest, is_verbatim);
    }
    if let Some(share) = path.strip_prefix(r"\\") {
        return parse_share(share);
    }
    if let Some((drive, rest)) = split_drive(&path) {
        return match rest.strip_prefix('\\') {
            Some(rest) => resolve_names(drive, Vec::new(), rest),
            None => ParsedPath::Unresolved(
                "it begins in the folder that its drive happens to stand in.".to_owned(),
            ),
        };
    }
    match path.strip_prefix('\\') {
        Some(rest) => resolve_names(base.prefix.clone(), Vec::new(), rest),
        None => resolve_names(base.prefix.clone(), base.names.clone(), &path),
    }
}

/// Parses the rest of a path behind `\\?\` or `\\.\`: a drive or a share whose names are taken verbatim, else a device.
fn parse_device_path(rest: &str, is_verbatim: bool) -> ParsedPath {
    let untidy = rest
        .split('\\')
        .any(|name| matches!(name, "." | "..") || name.ends_with(['.', ' ']));
    if is_verbatim && untidy {
        return ParsedPath::Unresolved(
            "its names are taken as they stand, dots included.".to_owned(),
        );
    }
    if let Some(share) = strip_prefix_ignoring_case(rest, r"UNC\") {
        return parse_share(share);
    }
    match split_drive(rest) {
        Some((drive, rest)) if rest.starts_with('\\') => {
            resolve_names(drive, Vec::new(), &rest[1..])
        }
        Some(_) | None => ParsedPath::Unresolved("it names a device.".to_owned()),
    }
}

fn parse_share(path: &str) -> ParsedPath {
    let mut parts = path.splitn(3, '\\');
    let (server, share) = (parts.next(), parts.next());
    let (Some(server), Some(share)) = (server, share.filter(|share| !share.is_empty())) else {
        return ParsedPath::Unresolved("it names a server without a share.".to_owned());
    };
    resolve_names(
        format!("//{server}/{share}"),
        Vec::new(),
        parts.next().unwrap_or_default(),
    )
}

fn split_drive(path: &str) -> Option<(String, &str)> {
    let mut letters = path.chars();
    let drive = letters.next().filter(char::is_ascii_alphabetic)?;
    let rest = letters.as_str().strip_prefix(':')?;
    Some((format!("{}:", drive.to_ascii_uppercase()), rest))
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    let head = text.get(..start.len())?;
    head.eq_ignore_ascii_case(start)
        .then(|| &text[start.len()..])
}

fn resolve_names(prefix: String, mut names: Vec<String>, path: &str) -> ParsedPath {
    for written in path.split('\\') {
        match written {
            "" | "." => continue,
            ".." => {
                names.pop();
                continue;
            }
            _ => {}
        }
        // The system cuts dots and spaces off the end of a name.
        let name = written.trim_end_matches(['.', ' ']);
        if let Some(why) = find_name_doubt(written, name) {
            return ParsedPath::Unresolved(why);
        }
        names.push(name.to_owned());
    }
    ParsedPath::Absolute(AbsolutePath { prefix, names })
}

/// Why a name does not say which file it means, if it does not.
fn find_name_doubt(original: &str, name: &str) -> Option<String> {
    let why = match () {
        () if name.is_empty() => format!("`{original}` consists of dots and spaces only."),
        () if name.contains(':') => format!("`{name}` names a stream beside the file."),
        () if name.contains(['<', '>', '"', '|', '?', '*']) || name.chars().any(|c| c < ' ') => {
            format!("`{name}` cannot be a name.")
        }
        () if is_device_name(name) => format!("`{name}` is a device."),
        () if is_short_name(name) => {
            format!("`{name}` is a short name, and only the disk knows of which file.")
        }
        () => return None,
    };
    Some(why)
}

fn is_device_name(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end();
    let stem = stem.to_uppercase();
    DEVICE_NAMES.iter().any(|device| match *device {
        "COM" | "LPT" => stem.strip_prefix(device).is_some_and(|number| {
            let mut digits = number.chars();
            let digit = digits.next();
            digit.is_some_and(|c| c.is_ascii_digit() || matches!(c, '¹' | '²' | '³'))
                && digits.next().is_none()
        }),
        _ => stem == *device,
    })
}

/// `PROGRA~1`, `GIT~1.TXT`: up to eight signs with a tilde and a number, and up to three more behind a dot.
fn is_short_name(name: &str) -> bool {
    let (stem, ending) = name.split_once('.').unwrap_or((name, ""));
    let Some((_, number)) = stem.rsplit_once('~') else {
        return false;
    };
    stem.chars().count() <= 8
        && ending.chars().count() <= 3
        && !ending.contains('.')
        && !number.is_empty()
        && number.chars().all(|c| c.is_ascii_digit())
}

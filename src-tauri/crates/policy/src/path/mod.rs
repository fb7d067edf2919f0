//! Resolution of a path by a system's own rules, without a disk.
//!
//! The runtime asks the kernel, which knows links; this module is for the paths of another system, and for names that
//! mean something else than they show, which no kernel reports.

mod case_folding;
mod unix;
mod windows;

use protocol::text::display_text::is_hidden;

pub use case_folding::CaseFolded;

use crate::limits::PATH_BYTES_MAX;

/// The system whose path rules apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Os {
    /// Names are bytes: what differs in anything is another file.
    Linux,
    /// Case and the way in which accents are written do not count.
    Macos,
    /// Case does not count, `\` divides like `/`, and many names mean something else.
    Windows,
}

impl Os {
    /// The system that this was built for.
    pub const CURRENT: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_vendor = "apple") {
        Self::Macos
    } else {
        Self::Linux
    };

    /// The system of a name: `linux`, `macos` or `windows`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "linux" => Some(Self::Linux),
            "macos" => Some(Self::Macos),
            "windows" => Some(Self::Windows),
            _ => None,
        }
    }
}

/// The granted folders, absolute.
#[derive(Debug, Clone, Copy)]
pub struct Roots<'a> {
    /// The workspace.
    pub workspace: &'a str,
    /// Further folders that may be read.
    pub readable: &'a [String],
}

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathFact {
    /// Inside the workspace relative to its root, else absolute; `/` between the names, without `.` and `..`.
    pub real: String,
    /// Whether the path lies in a granted folder.
    pub inside: bool,
    /// Whether the path lies in a folder that may only be read.
    pub read_only: bool,
    /// Reason why the path cannot be resolved, if it cannot: judged as outside.
    pub unresolved: Option<String>,
    /// Reason why no rule may allow the path although it can be resolved.
    pub doubt: Option<String>,
}

/// An absolute path, split into its names.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AbsolutePath {
    /// `C:`, `//server/share`, or empty.
    prefix: String,
    names: Vec<String>,
}

impl AbsolutePath {
    fn display_text(&self) -> String {
        format!("{}/{}", self.prefix, self.names.join("/"))
    }

    /// The names below a folder; none if it is not below it.
    fn names_below<'a>(&'a self, folder: &Self, os: Os) -> Option<&'a [String]> {
        let same = |a: &str, b: &str| CaseFolded::new(os, a) == CaseFolded::new(os, b);
        let starts = self.names.len() >= folder.names.len()
            && same(&self.prefix, &folder.prefix)
            && self
                .names
                .iter()
                .zip(&folder.names)
                .all(|(mine, theirs)| same(mine, theirs));
        starts.then(|| &self.names[folder.names.len()..])
    }
}

/// A path as parsed by the rules of one system.
enum ParsedPath {
    Absolute(AbsolutePath),
    /// The home folder of some user, whose location is not known here.
    Home,
    /// The path cannot be resolved, for this reason.
    Unresolved(String),
}

/// Where `target` leads on a system, seen from `cwd` (absolute, or relative to the workspace). No disk is looked at, so
/// a link is a name like any other.
pub fn resolve_path(os: Os, roots: &Roots<'_>, cwd: &str, target: &str) -> PathFact {
    let fact = |real: String| PathFact {
        real,
        inside: false,
        read_only: false,
        unresolved: None,
        doubt: find_hidden_char(target),
    };
    let unresolved = |why: &str| PathFact {
        unresolved: Some(why.to_owned()),
        doubt: None,
        ..fact(target.to_owned())
    };
    if target.contains('\0') {
        return unresolved("a path cannot hold a NUL character.");
    }
    if target.len() > PATH_BYTES_MAX {
        return unresolved("it is too long for a path.");
    }
    let read = |base: &AbsolutePath, path: &str| match os {
        Os::Linux | Os::Macos => unix::parse_path(os, base, path),
        Os::Windows => windows::parse_path(base, path),
    };
    let nowhere = AbsolutePath {
        prefix: String::new(),
        names: Vec::new(),
    };
    let absolute = |base: &AbsolutePath, path: &str| match read(base, path) {
        ParsedPath::Absolute(resolved) => Ok(resolved),
        ParsedPath::Home => Err(None),
        ParsedPath::Unresolved(why) => Err(Some(why)),
    };
    let Ok(workspace) = absolute(&nowhere, roots.workspace) else {
        return unresolved("the workspace itself cannot be found.");
    };
    let resolved = absolute(&workspace, cwd).and_then(|cwd| absolute(&cwd, target));
    let resolved = match resolved {
        Ok(resolved) => resolved,
        Err(Some(why)) => return unresolved(&why),
        Err(None) => {
            return fact(target.replace('\\', "/"));
        }
    };
    if let Some(below) = resolved.names_below(&workspace, os) {
        return PathFact {
            inside: true,
            ..fact(below.join("/"))
        };
    }
    let readable = roots.readable.iter().any(|root| {
        absolute(&nowhere, root).is_ok_and(|root| resolved.names_below(&root, os).is_some())
    });
    PathFact {
        inside: readable,
        read_only: readable,
        ..fact(resolved.display_text())
    }
}

/// Returns why a path is not what it seems, if it holds an invisible character.
pub fn find_hidden_char(target: &str) -> Option<String> {
    let hidden = target.chars().find(|c| is_hidden(*c) || c.is_control())?;
    Some(format!(
        "its name holds U+{:04X}, a character that cannot be seen.",
        hidden as u32
    ))
}

/// The part of a path that stands for a home folder: `~` or `~name` at its beginning.
fn begins_at_home(path: &str, is_separator: impl Fn(char) -> bool) -> bool {
    let Some(rest) = path.strip_prefix('~') else {
        return false;
    };
    let name = rest.split(is_separator).next().unwrap_or_default();
    let mut letters = name.chars();
    let starts = letters
        .next()
        .is_none_or(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '+' | '-'));
    starts && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

#[cfg(test)]
mod tests;

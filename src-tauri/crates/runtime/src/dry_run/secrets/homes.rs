//! Home folders on this machine: those of the current user, by the password database and by the environment, and those
//! of other people.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use nix::unistd::{Uid, User};

use crate::FileError;

/// Folders that hold a home for each person.
const HOME_PARENTS: &[&str] = &["/home", "/Users", "/var/home", "/export/home"];
/// The home of root, which lies in none of `HOME_PARENTS`.
const ROOT_HOME: &str = "/root";
/// User ids of people, as opposed to programs: `login.defs(5)`.
const PERSON_UIDS: std::ops::Range<u32> = 1_000..60_000;
/// Folders of programs and devices, which the password database of a system names as homes, and where nothing keeps
/// credentials.
const NOBODYS_HOMES: &[&str] = &[
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/games",
    "/dev",
];
/// Names beside homes that are not homes.
const NON_HOME_NAMES: &[&str] = &["Shared", "lost+found", "Public"];

/// Home folders, with all links followed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::dry_run) struct HomeFolders {
    /// Homes of the current user: the one in the password database, and the one that the environment names.
    pub ours: BTreeSet<PathBuf>,
    /// Homes of other people.
    pub others: BTreeSet<PathBuf>,
    /// Homes of programs that have a user of their own, and of everybody else in the password database.
    pub system: BTreeSet<PathBuf>,
}

/// Finds all homes.
///
/// # Errors
/// [`FileError::SandboxUnavailable`] where the home of the current user is not known.
pub(in crate::dry_run) fn find_homes() -> Result<HomeFolders, FileError> {
    let me = Uid::current();
    let known = User::from_uid(me).map_err(|error| {
        homes_unknown_error(&format!(
            "the password database cannot be read for user {me}: {error}"
        ))
    })?;
    let named = std::env::var_os("HOME").map(PathBuf::from);
    let own = known.map(|user| user.dir).into_iter().chain(named);
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    from_passwd(own, &users, HOME_PARENTS).ok_or_else(|| {
        homes_unknown_error(&format!(
            "user {me} is not in the password database, and HOME names no folder"
        ))
    })
}

fn homes_unknown_error(why: &str) -> FileError {
    FileError::sandbox_unavailable(format!(
        "Which folder is your home is not known, so the credentials in it cannot be closed: {why}. Set HOME to your home folder."
    ))
}

/// Returns the homes, with `own` as those of the current user; `None` if none of those is the path of a folder. `users`
/// has the format of `passwd(5)`.
fn from_passwd(
    own_homes: impl Iterator<Item = PathBuf>,
    users: &str,
    of_people: &[&str],
) -> Option<HomeFolders> {
    let own_homes: BTreeSet<PathBuf> = own_homes
        .filter(|home| home.is_absolute() && home != Path::new("/"))
        .map(|home| fs::canonicalize(&home).unwrap_or(home))
        .collect();
    if own_homes.is_empty() {
        return None;
    }
    let mut homes = HomeFolders {
        ours: own_homes,
        ..HomeFolders::default()
    };
    let beside = of_people.iter().flat_map(fs::read_dir);
    let beside = beside.flatten().flatten().filter_map(|entry| {
        let name = entry.file_name();
        let is_home = !NON_HOME_NAMES.iter().any(|other| name == *other);
        is_home.then(|| entry.path())
    });
    for home in beside.chain([PathBuf::from(ROOT_HOME)]) {
        homes.add_home(&home, true);
    }
    for line in users.lines() {
        let fields: Vec<_> = line.split(':').collect();
        if let [_, _, id, _, _, home, ..] = fields[..] {
            let is_person = id.parse().is_ok_and(|id| PERSON_UIDS.contains(&id));
            homes.add_home(Path::new(home), is_person);
        }
    }
    Some(homes)
}

impl HomeFolders {
    /// Adds the home of another user, if it is a folder and not one of ours. A home that is part of the system, or that
    /// contains one of ours, is never taken for a person's.
    fn add_home(&mut self, home: &Path, is_person: bool) {
        const LEAST_NAMES: usize = 2;
        let Ok(home) = fs::canonicalize(home) else {
            return;
        };
        let is_nobodys = NOBODYS_HOMES.iter().any(|other| home == Path::new(other));
        if is_nobodys || !home.is_dir() || home == Path::new("/") || self.ours.contains(&home) {
            return;
        }
        let is_deep = home.components().count() > LEAST_NAMES || home == Path::new(ROOT_HOME);
        let holds_ours = self.ours.iter().any(|own| own.starts_with(&home));
        match is_person && is_deep && !holds_ours {
            true => drop(self.others.insert(home)),
            false if !self.others.contains(&home) => drop(self.system.insert(home)),
            false => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn homes_come_from_the_password_database_and_the_environment() {
        let disk = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(disk.path()).unwrap();
        for folder in [
            "homes/me",
            "homes/other",
            "homes/lost+found",
            "far/person",
            "far/program",
        ] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let at = |path: &str| root.join(path);
        let line = |id: u32, path: &str| format!("x:x:{id}:0::{}:/bin/sh\n", at(path).display());
        let users = [
            line(1_000, "homes/me"),
            line(1_001, "far/person"),
            line(33, "far/program"),
            line(1_002, "nowhere"),
            "broken\n".to_owned(),
        ];
        let people = at("homes").display().to_string();
        let found = from_passwd(
            [at("homes/me"), at("elsewhere")].into_iter(),
            &users.concat(),
            &[&people],
        );
        let mut found = found.unwrap();
        found.others.remove(Path::new(ROOT_HOME));
        let expected = HomeFolders {
            ours: [at("homes/me"), at("elsewhere")].into(),
            others: [at("homes/other"), at("far/person")].into(),
            system: [at("far/program")].into(),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn without_a_home_of_ours_nothing_is_known() {
        for own in ["", "/", "home"] {
            assert_eq!(
                from_passwd([PathBuf::from(own)].into_iter(), "", &[]),
                None,
                "{own}"
            );
        }
        assert_eq!(from_passwd(std::iter::empty(), "", &[]), None);
    }

    #[test]
    fn what_is_part_of_the_system_is_nobodys_home() {
        let users = "a:x:1000:0::/:/bin/sh\nb:x:1001:0::/usr:/bin/sh\nc:x:2:0::/usr/bin:/bin/sh\n";
        let found = from_passwd([PathBuf::from("/nonexistent")].into_iter(), users, &[]).unwrap();
        assert!(!found.others.contains(Path::new("/usr")), "{found:?}");
        assert_eq!(found.system, [PathBuf::from("/usr")].into());
    }
}

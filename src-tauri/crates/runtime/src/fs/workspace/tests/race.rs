//! Paths that change between resolving and opening: the file that opens is the one that was judged, or none does
//! (`S002-97`).

use std::path::Path;

use protocol::Plan;
use protocol::call::plan::{FileChange, Removal};
use tokio_util::sync::CancellationToken;

use crate::fs::fault_injection::strike::swapping;
use crate::fs::workspace::tests::*;
use crate::search::{GlobQuery, GrepQuery, find_files, search_lines};

/// Three similar places, of which one was judged.
struct Field {
    home: TempDir,
    whole: Workspace,
}

/// How a path comes to lead elsewhere.
#[derive(Debug, Clone, Copy)]
enum Swap {
    /// The file becomes a link to one that was not judged.
    File(&'static str),
    /// The folder in the middle becomes a link.
    Folder(&'static str),
    /// A link on the way is turned.
    Link(&'static str),
}

const SWAPS: [Swap; 6] = [
    Swap::File("../priv/a.txt"),
    Swap::File("../../outside/a.txt"),
    Swap::Folder("priv"),
    Swap::Folder("../outside"),
    Swap::Link("priv"),
    Swap::Link("../outside"),
];

const JUDGED: &str = "ws/pub/a.txt";
const BAITS: [&str; 2] = ["ws/priv/a.txt", "outside/a.txt"];

impl Field {
    /// `pub/a.txt` with one content and its like elsewhere with another; `way` leads to `pub`.
    fn new(judged: &str, bait: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let at = |path: &str| home.path().join(path);
        for folder in ["ws/pub", "ws/priv", "outside"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at(JUDGED), judged).unwrap();
        for path in BAITS {
            fs::write(at(path), bait).unwrap();
        }
        symlink("pub", at("ws/way")).unwrap();
        Self {
            whole: Workspace::open(&at("ws")).unwrap(),
            home,
        }
    }

    /// Returns the workspace for a call that was judged on the present target of a path.
    fn judged(&self, capability: Capability, path: &str) -> Workspace {
        let fact = self.whole.resolve(&Access::new(capability, path));
        assert!(fact.inside, "{path}");
        self.whole.restricted_to(&[fact])
    }

    fn swap(&self, swap: Swap) -> impl FnOnce() + 'static {
        let ws = self.home.path().join("ws");
        move || {
            let (from, to) = match swap {
                Swap::File(to) => ("pub/a.txt", to),
                Swap::Folder(to) => ("pub", to),
                Swap::Link(to) => ("way", to),
            };
            fs::rename(ws.join(from), ws.join("was")).unwrap();
            symlink(to, ws.join(from)).unwrap();
        }
    }

    fn content(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.home.path().join(path)).ok()
    }

    fn baits(&self) -> Vec<Option<String>> {
        BAITS.iter().map(|path| self.content(path)).collect()
    }
}

/// Runs an operation with every swap at every look, until the operation has no such look. The operation gets the field,
/// the workspace of the call and the path, and returns the text of everything that it learned.
fn played(
    judged: &str,
    bait: &str,
    capability: Capability,
    name: &str,
    work: impl Fn(&Field, &Workspace, &str) -> Result<String, FileError>,
) {
    let mut refused = 0;
    for swap in SWAPS {
        let way = match swap {
            Swap::File(_) | Swap::Folder(_) => "pub",
            Swap::Link(_) => "way",
        };
        let path = format!("{way}{name}");
        let mut look = 0;
        loop {
            let field = Field::new(judged, bait);
            let workspace = field.judged(capability, &path);
            let baits = field.baits();
            let (told, came) = swapping(look, field.swap(swap), || work(&field, &workspace, &path));
            assert_eq!(field.baits(), baits, "{swap:?} at look {look}");
            match told {
                Ok(told) => assert!(!told.contains("secret"), "{swap:?} at {look}: {told}"),
                Err(_) => refused += 1,
            }
            if !came {
                break;
            }
            look += 1;
        }
        assert!(look > 0, "{swap:?}: nothing was looked at");
    }
    assert!(refused > 0, "no swap came to anything");
}

#[test]
fn a_file_that_is_read() {
    let read = |_: &Field, workspace: &Workspace, path: &str| {
        let bytes = workspace.read(path, 0, 99)?.bytes;
        Ok(String::from_utf8(bytes).unwrap())
    };
    played("public", "secret", Capability::FsRead, "/a.txt", read);
}

#[test]
fn a_folder_that_is_searched() {
    let search = |_: &Field, workspace: &Workspace, path: &str| {
        let query = GrepQuery {
            pattern: ".".to_owned(),
            under: Some(path.to_owned()),
            ..GrepQuery::default()
        };
        let found = search_lines(workspace, &query, 9, &CancellationToken::new())?;
        Ok(format!("{:?}", found.matches))
    };
    played("public", "secret", Capability::FsRead, "", search);
}

/// Where nothing is opened, the names alone would disclose another folder.
#[test]
fn a_folder_whose_names_are_listed() {
    let list = |field: &Field, workspace: &Workspace, path: &str| {
        for folder in ["ws/priv", "outside"] {
            fs::write(field.home.path().join(folder).join("secret.txt"), "").unwrap();
        }
        let query = GlobQuery {
            under: Some(path),
            ..GlobQuery::files_matching("**", 9)
        };
        let found = find_files(workspace, &query, &CancellationToken::new())?;
        Ok(format!("{:?}", found.paths))
    };
    played("public", "secret", Capability::FsRead, "", list);
}

/// The content is the same everywhere, so only the place can tell that it is the wrong file.
#[test]
fn a_file_that_is_written() {
    let write = |_: &Field, workspace: &Workspace, path: &str| {
        let change = FileChange {
            path: path.to_owned(),
            before: Some(b"same".to_vec()),
            after: Some(b"new".to_vec()),
            from: None,
        };
        crate::apply_plan(workspace, &Plan::Write(vec![change])).map(|()| String::new())
    };
    played("same", "same", Capability::FsWrite, "/a.txt", write);
    let create = |_: &Field, workspace: &Workspace, path: &str| {
        let change = FileChange {
            path: path.to_owned(),
            before: None,
            after: Some(b"new".to_vec()),
            from: None,
        };
        crate::apply_plan(workspace, &Plan::Write(vec![change])).map(|()| String::new())
    };
    played(
        "same",
        "same",
        Capability::FsWrite,
        "/new.txt",
        |field, workspace, path| {
            let created = create(field, workspace, path);
            for folder in ["ws/priv", "outside"] {
                assert_eq!(field.content(&format!("{folder}/new.txt")), None);
            }
            created
        },
    );
}

#[test]
fn a_file_that_goes() {
    let delete = |_: &Field, workspace: &Workspace, path: &str| {
        let tree = workspace.list_tree(path, TreeLimits::default())?;
        let removal = Removal {
            path: path.to_owned(),
            listing: tree.digest,
            files: tree.files,
            bytes: tree.bytes,
        };
        crate::apply_plan(workspace, &Plan::Remove(removal)).map(|()| String::new())
    };
    played("same", "same", Capability::FsDelete, "/a.txt", delete);
}

/// A judged place opens; any other does not, whatever its use, and a command is judged word for word.
#[test]
fn only_what_was_judged_opens() {
    let field = Field::new("public", "secret");
    let changed = |path: &str| FileError::Changed { path: path.into() };
    let reads = field.judged(Capability::FsRead, "way/a.txt");
    assert_eq!(
        reads.read_whole("pub/a.txt", 99),
        Ok(Some(b"public".to_vec()))
    );
    assert_eq!(
        reads.read_whole("priv/a.txt", 99),
        Err(changed("priv/a.txt"))
    );
    assert_eq!(reads.list_names("pub", 9), Err(changed("pub")));
    let write = |workspace: &Workspace| {
        let change = FileChange {
            path: "pub/a.txt".into(),
            before: Some(b"public".to_vec()),
            after: Some(b"new".to_vec()),
            from: None,
        };
        crate::apply_plan(workspace, &Plan::Write(vec![change]))
    };
    assert_eq!(write(&reads), Err(changed("pub/a.txt")));
    let folder = field.judged(Capability::FsRead, "pub");
    assert_eq!(
        folder.read_whole("pub/a.txt", 99),
        Ok(Some(b"public".to_vec()))
    );
    let closing = folder.with_closed_files(ClosedFiles::new(|path| path == "pub/a.txt"));
    assert_eq!(
        closing.read_whole("pub/a.txt", 99),
        Err(changed("pub/a.txt"))
    );
    let writes = field.judged(Capability::FsWrite, "pub/a.txt");
    assert_eq!(
        writes.read_whole("pub/a.txt", 99),
        Ok(Some(b"public".to_vec())),
        "for its preview"
    );
    assert_eq!(write(&writes), Ok(()));

    let command = field.judged(Capability::ShellRun, "git status");
    assert_eq!(command.check_command("git status"), Ok(()));
    assert!(command.check_command("git status; rm x").is_err());
    assert!(reads.check_command("git status").is_err());

    let names = reads.names_only();
    let found = find_files(
        &names,
        &GlobQuery::files_matching("**", 9),
        &CancellationToken::new(),
    )
    .unwrap();
    assert!(found.paths.contains(&"priv/a.txt".to_owned()), "{found:?}");
    assert_eq!(names.read_whole("pub/a.txt", 99), Err(changed("pub/a.txt")));
    let none = command.names_only();
    assert!(
        find_files(
            &none,
            &GlobQuery::files_matching("**", 9),
            &CancellationToken::new()
        )
        .is_err()
    );
}

/// A link that was judged as a link is removed as one, and its target stays.
#[test]
fn a_link_that_goes_leaves_what_it_leads_to() {
    let field = Field::new("public", "secret");
    let workspace = field.judged(Capability::FsDelete, "way");
    let tree = workspace.list_tree("way", TreeLimits::default()).unwrap();
    let removal = Removal {
        path: "way".into(),
        listing: tree.digest,
        files: tree.files,
        bytes: tree.bytes,
    };
    assert_eq!(
        crate::apply_plan(&workspace, &Plan::Remove(removal)),
        Ok(())
    );
    assert!(!Path::new(&field.home.path().join("ws/way")).is_symlink());
    assert_eq!(field.content(JUDGED).as_deref(), Some("public"));
}

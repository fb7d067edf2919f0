//! Which remotes are known, and what makes one unknown.

use super::*;

const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\
    [remote \"origin\"]\n\turl = https://git.example/app.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
    [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";
const ID: &str = "1234567890123456789012345678901234567890\n";
const ADDRESS: &str = "https://git.example/app.git";

/// A repository with a `main` that its remote has, and a branch `new` that it does not have.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new(config: &str) -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        desk.write(".git/config", config);
        desk.write(".git/HEAD", "ref: refs/heads/new\n");
        for name in ["heads/main", "heads/new", "remotes/origin/main"] {
            desk.write(&format!(".git/refs/{name}"), ID);
        }
        desk
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn open(&self) -> Option<Remotes> {
        let personal = self.0.path().join("personal");
        Remotes::open(self.0.path(), &[personal])
    }

    fn fetch(&self, named: Option<&str>) -> Option<String> {
        Some(self.open()?.find_fetch(named)?.address)
    }

    fn push(&self, refspecs: &[&str]) -> Option<String> {
        Some(self.open()?.find_push("origin", refspecs)?.address)
    }
}

#[test]
fn a_remote_of_the_repository_is_known_by_its_name_and_where_git_chooses_it() {
    let desk = Desk::new(CONFIG);
    assert_eq!(desk.fetch(Some("origin")).as_deref(), Some(ADDRESS));
    assert_eq!(desk.fetch(Some("fork")), None);
    // The branch that is checked out follows none, and there is one remote.
    assert_eq!(desk.fetch(None).as_deref(), Some(ADDRESS));
    let fork = "[remote \"fork\"]\n\turl = https://other.example/app.git\n\tfetch = +refs/heads/*:refs/remotes/fork/*\n";
    let two = Desk::new(&[CONFIG, fork].concat());
    assert_eq!(two.fetch(None), None);
    two.write(".git/HEAD", "ref: refs/heads/main\n");
    assert_eq!(two.fetch(None).as_deref(), Some(ADDRESS));
    let follows = "[branch \"new\"]\n\tremote = fork\n";
    let followed = Desk::new(&[CONFIG, fork, follows].concat());
    assert_eq!(
        followed.fetch(None).as_deref(),
        Some("https://other.example/app.git")
    );
}

#[test]
fn only_a_branch_that_the_remote_is_not_known_to_have_is_new() {
    let desk = Desk::new(CONFIG);
    desk.write(".git/refs/heads/both", ID);
    desk.write(".git/refs/tags/both", ID);
    desk.write(".git/refs/tags/v1", ID);
    for (refspecs, is_new) in [
        (&["new"][..], true),
        (&["HEAD"], true),
        (&["HEAD:other"], true),
        (&["main:other"], true),
        (&["HEAD:refs/heads/a/b"], true),
        (&["main"], false),
        (&["new", "main"], false),
        (&["new:main"], false),
        (&["HEAD:refs/heads/main"], false),
        (&["HEAD:refs/tags/v2"], false),
        (&["HEAD:heads/main"], false),
        (&["new:HEAD"], false),
        (&["v1"], false),
        (&["both"], false),
        (&["absent"], false),
        (&[], false),
    ] {
        assert_eq!(desk.push(refspecs).is_some(), is_new, "{refspecs:?}");
    }
    // What the remote has is not forgotten with the ref that tracked it.
    fs::remove_file(desk.0.path().join(".git/refs/remotes/origin/main")).unwrap();
    assert_eq!(desk.push(&["new"]), None);
    desk.write(".git/refs/remotes/origin/other", ID);
    assert!(desk.push(&["new"]).is_some());
    assert_eq!(desk.push(&["main"]), None);
    let forgot = Desk::new(&CONFIG.replace("\tmerge = refs/heads/main\n", ""));
    forgot.write(
        ".git/refs/remotes/origin/HEAD",
        "ref: refs/remotes/origin/main\n",
    );
    forgot.write(".git/refs/remotes/origin/other", ID);
    fs::remove_file(forgot.0.path().join(".git/refs/remotes/origin/main")).unwrap();
    assert_eq!(forgot.push(&["main"]), None);
}

#[test]
fn a_push_goes_where_pushes_go() {
    let pushed = "[remote \"origin\"]\n\tpushurl = https://push.example/app.git\n";
    let desk = Desk::new(&[CONFIG, pushed].concat());
    assert_eq!(
        desk.push(&["new"]).as_deref(),
        Some("https://push.example/app.git")
    );
    assert_eq!(desk.fetch(Some("origin")).as_deref(), Some(ADDRESS));
    let twice = Desk::new(&[CONFIG, pushed, pushed].concat());
    assert_eq!(twice.push(&["new"]), None);
}

#[test]
fn a_setting_of_the_repository_that_is_not_known_makes_its_remotes_unknown() {
    for added in [
        "[core]\n\tsshCommand = ./run\n",
        "[core]\n\thooksPath = hooks\n",
        "[core]\n\tgitProxy = ./run\n",
        "[core]\n\taskPass = ./run\n",
        "[credential]\n\thelper = ./run\n",
        "[http]\n\tproxy = other.example\n",
        "[url \"https://other.example/\"]\n\tinsteadOf = https://git.example/\n",
        "[url \"https://other.example/\"]\n\tpushInsteadOf = https://git.example/\n",
        "[include]\n\tpath = more\n",
        "[remote \"origin\"]\n\turl = https://other.example/app.git\n",
        "[remote \"origin\"]\n\tuploadpack = ./run\n",
        "[remote \"origin\"]\n\treceivepack = ./run\n",
        "[remote \"origin\"]\n\tvcs = run\n",
        "[remote \"origin\"]\n\tmirror = true\n",
        "[remote \"origin\"]\n\tprune = true\n",
        "[remote \"origin\"]\n\tpush = +refs/heads/*:refs/heads/*\n",
        "[remotes]\n\torigin = fork\n",
        "[extensions]\n\tworktreeConfig = true\n",
        "[submodule \"x\"]\n\turl = https://other.example/x.git\n",
        "[user]\n\tname = a\\\n",
        "[broken\n",
    ] {
        let desk = Desk::new(&[CONFIG, added].concat());
        assert_eq!(desk.fetch(Some("origin")), None, "{added}");
        assert_eq!(desk.push(&["new"]), None, "{added}");
    }
    let local = Desk::new(
        &[
            CONFIG,
            "[remote \"origin\"]\n\tfetch = refs/heads/*:refs/heads/*\n",
        ]
        .concat(),
    );
    assert_eq!(local.fetch(Some("origin")), None);
    let upstream = Desk::new(&[CONFIG, "[push]\n\tdefault = upstream\n"].concat());
    assert_eq!(upstream.push(&["new"]), None);
}

#[test]
fn settings_of_the_person_count_where_they_change_the_way() {
    for (personal, is_known) in [
        (
            "[user]\n\tname = A\n[alias]\n\tst = status\n[credential]\n\thelper = store\n",
            true,
        ),
        (
            "[url \"ssh://git@other.example/\"]\n\tinsteadOf = https://other.example/\n",
            true,
        ),
        (
            "[url \"https://other.example/\"]\n\tinsteadOf = https://git.example/\n",
            false,
        ),
        (
            "[url \"https://other.example/\"]\n\tinsteadOf = https:\n",
            false,
        ),
        (
            "[remote \"origin\"]\n\tpushurl = https://other.example/app.git\n",
            false,
        ),
        ("[remotes]\n\torigin = origin fork\n", false),
        ("[core]\n\thooksPath = .hooks\n", false),
        ("[include]\n\tpath = included\n", false),
        ("[includeIf \"gitdir:/**\"]\n\tpath = included\n", false),
        ("[push]\n\tfollowTags = true\n", false),
        ("[push]\n\tdefault = upstream\n", false),
        ("[broken\n", false),
    ] {
        let desk = Desk::new(CONFIG);
        desk.write("personal", personal);
        desk.write("included", "[core]\n\thooksPath = .hooks\n");
        assert_eq!(desk.push(&["new"]).is_some(), is_known, "{personal}");
    }
}

#[test]
fn what_git_does_beyond_its_settings_makes_remotes_unknown() {
    for part in [
        ".git/hooks/pre-push",
        ".git/hooks/reference-transaction",
        ".git/config.worktree",
        ".git/commondir",
        ".git/modules/x/config",
        ".gitmodules",
        ".git/index",
    ] {
        let desk = Desk::new(CONFIG);
        desk.write(part, "x");
        assert_eq!(desk.fetch(Some("origin")), None, "{part}");
    }
    let desk = Desk::new(CONFIG);
    let elsewhere = tempfile::tempdir().unwrap();
    fs::rename(desk.0.path().join(".git"), elsewhere.path().join("git")).unwrap();
    desk.write(
        ".git",
        &format!("gitdir: {}\n", elsewhere.path().join("git").display()),
    );
    assert_eq!(desk.fetch(Some("origin")), None);
}

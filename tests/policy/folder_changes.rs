//! Lines that go into folders: where their paths begin is either certain or counts from everywhere.

use std::os::unix::fs::symlink;

use agent::rulebook::simulation::{PolicySimulation, SimulationOptions};
use policy::path::Os;
use protocol::{RuleScope, Verdict};
use serde_json::json;

/// Every command may run, so only the places that it names are judged.
const RULES: &str = "[[rule]]\npermission = \"*\"\naction = \"allow\"\n\
    [[rule]]\npermission = \"fs.read\"\npattern = \".env\"\naction = \"deny\"\n";

/// A workspace with folders and links, in a folder that has a file of its own.
pub(super) struct Workspace {
    _outside: tempfile::TempDir,
    simulation: PolicySimulation,
}

impl Workspace {
    pub fn new() -> Self {
        let outside = tempfile::tempdir().unwrap();
        let root = outside.path().join("workspace");
        for folder in ["ui/src", "a/b/c"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in ["workspace/x", "workspace/ui/x", "x"] {
            std::fs::write(outside.path().join(file), "x").unwrap();
        }
        symlink("../../ui", root.join("a/b/to_ui")).unwrap();
        symlink(outside.path(), root.join("to_outside")).unwrap();
        let rules = outside.path().join("rules.toml");
        std::fs::write(&rules, RULES).unwrap();
        let simulation = PolicySimulation::open(SimulationOptions {
            rules: vec![(RuleScope::User, rules)],
            workspace: root,
            os: Os::CURRENT,
            headless: false,
            only_rules: true,
            agent: None,
            data_dir: None,
        });
        Self {
            _outside: outside,
            simulation: simulation.unwrap(),
        }
    }

    /// Whether something that a command names lies outside.
    pub fn leads_outside(&self, command: &str) -> bool {
        let arguments = json!({ "command": command });
        let trail = self
            .simulation
            .simulate("bash", arguments.as_object().unwrap())
            .unwrap();
        trail.verdict == Verdict::Deny && trail.lead.contains("outside the workspace")
    }
}

#[test]
fn a_line_that_comes_back_stays_inside() {
    let workspace = Workspace::new();
    for command in [
        "cd ui && npm run build && cd ..",
        "cd ui && cat ../x",
        "cd ui && cat ../x && cd .. && cat x",
        "cd ui/ && cat ../x",
        "cd ./ui/src && cat ../../x && cd ../.. && cat ui/x",
        "cd ui/src && cd .. && cat ../x",
        "cd ui && npm test 2>&1 | tail -5 && cat ../x",
        "cd ui && echo done > ../log && cp ../x y && mv y ../z",
        "(cd ui && cat ../x) && cat x",
        "{ cd ui && cat ../x; }",
        "cd ui || exit 1; cat ../x",
        "cd ui || { echo none; exit 1; }; cat ../x",
        "set -euo pipefail; export CI=1; cd ui && printf '%s' y && cat ../x",
        "cd ui && timeout 5 cat ../x && cd .. && timeout 5 cat x",
        "cd ui && git -C .. status && make -C ../a && npm --prefix ../ui test",
        "cd ui && cargo test --manifest-path ../Cargo.toml",
        "cd ui && sh -c 'cat ../x'",
        "bash -c 'cd ui && cat ../x && cd ..' && cat x",
        "bash -lc \"cd ui && npm run build\" && sh -c 'set -e; cd ui && cat ../x'",
        "cd ui && env CI=1 bash -c 'cd src && cat ../../x' && cat ../x",
        "cd ui && find . -name x -exec cat ../x {} + && ls | xargs cat ../x",
        "cd ui && cat > ../x <<'E'\nsome text\nE",
        "cd ui; ls; cd ..",
        "ls; cd ui && cat ../x",
        "cd a/b/to_ui && cat x",
        "cd ui && command -v node && cat ../x",
        "[[ -d ui ]] && cd ui && cat ../x",
        "if [ -d ui ]; then cd ui && cat ../x && cd ..; fi; cat x",
        "cd ui && if true; then cat ../x; elif false; then cat x; else cat ../x; fi && cat ../x",
        "cd ui && for f in x y; do cat ../$f ../x; done && cat ../x",
        "for d in ui a; do (cd ui && cat ../x); done; cat x",
        "cd ui && while true; do cat ../x; done",
    ] {
        assert!(!workspace.leads_outside(command), "{command}");
    }
}

#[test]
fn a_line_that_may_leave_is_not_let_through() {
    let workspace = Workspace::new();
    for command in [
        "cd ui; cat ../x",
        "cd ui; cat ../../x",
        "cd ui\ncat ../x",
        "cd ui # && true\ncat ../x",
        "cd ui && cat ../../x",
        "cd ui && cat ../x; cat ../x",
        "cd ui && true; cat ../x",
        "cd ui || cat ../x",
        "cd ui || true; cat ../x",
        "cd ui && true || cd ..; cat ../x",
        "cd ui && cd .. && cd .. && rm -rf x",
        "cd ui && cd ../.. && ls",
        "cd .. && ls",
        "cd /etc && ls",
        "ls && cd .. && cd workspace",
        "! cd ui && cat ../x",
        "cd ui & cat ../x",
        "cd ui | cat ../x",
        "true | cd ui && cat ../x",
        "(cd ui) && cat ../x",
        "(cd ui && ls); cat ../x",
        "{ cd ui; } && cat ../x",
        "cd ui && (cd ..) && cat ../../x",
        "cd ui && { cd ..; } && cat ../x",
        "cd - && cat ../x",
        "cd && cat ../x",
        "cd -P ui && cat ../x",
        "cd -- ui && cat ../x",
        "cd '' && cat ../x",
        "cd ui more && cat ../x",
        "cd u* && cat ../x",
        "cd $d && cat ../x",
        "cd \"$(echo ui)\" && cat ../x",
        "time cd ui && cat ../x",
        "time -p cd ui && cat ../x",
        "if cd ui; then ls; fi; cat ../x",
        "if cd ui; then ls; else cat ../x; fi",
        "if true; then cd ui; fi && cat ../x",
        "cd ui && if true; then cd ..; fi; cat ../x",
        "cd ui && if true; then ls; elif cd ..; then ls; fi; cat ../x",
        "cd ui && until cd ..; do true; done; cat ../x",
        "[[ -d ui ]] || cd ui && cat ../x",
        "while cd ui; do cat ../x; done",
        "for i in 1 2; do cat ../x; cd ui; done",
        "cd ui && for i in 1 2; do cat ../x; cd ..; done",
        "case x in x) cd ui;; esac && cat ../x",
        "f() { cd ..; }; cd ui && f && cat ../x",
        "cd() { true; }; cd ui && cat ../x",
        "alias cd=true; cd ui && cat ../x",
        "cd ui && eval 'cd ..' && cat ../x",
        "cd ui && . ./go.sh && cat ../x",
        "cd ui && source go.sh && cat ../x",
        "cd ui && command cd .. && cat ../x",
        "cd ui && builtin cd .. && cat ../x",
        "cd ui && c\\d .. && cat ../x",
        "cd ui && $go .. && cat ../x",
        "cd ui && $(echo cd ..) && cat ../x",
        "cd ui && pushd .. && cat ../x",
        "pushd ui && popd && cat ../x",
        "cd ui && chdir .. && cat ../x",
        "trap 'cd ..' DEBUG; cd ui && cat ../x",
        "exec cd ui && cat ../x",
        "CDPATH=/etc cd ui && cat ../x",
        "CDPATH=/etc; cd ui && cat ../x",
        "export CDPATH=/etc && cd ui && cat ../x",
        "export 'CD'PATH=/etc && cd ui && cat ../x",
        "export A=CD && export $A\"PATH=/etc\" && cd ui && cat ../x",
        "printf -v CD\"PATH\" /etc && cd ui && cat ../x",
        "read -r CD\"PATH\" && cd ui && cat ../x",
        ": ${CDPATH:=/etc} && cd ui && cat ../x",
        "cd ui && PWD=/a/b/c && cd .. && cat ../x",
        "cd ui > /no/such/log; cat ../x",
        "cd ui || exit 1 2; cat ../x",
        "cd ui || exit 1 > /no/such/log; cat ../x",
        "cd ui || exit one; cat ../x",
        "cd ui || return 1; cat ../x",
        "(cd ui || exit 1); cat ../x",
        "sh -c 'cd ui' && cat ../x",
        "sh -c 'cd ui; cat ../x'",
        "sh -c 'cd ui && cat ../../x'",
        "sh -c 'cd ui || cat ../x'",
        "cd .. | sh -c 'cd ui && cat ../../x'",
        "eval 'cd ui' && cat ../x",
        "eval 'cd ui && cat x' && cat ../x",
        "eval 'cd ui && cd ..'; cat ../x",
        "cd ui && bash -c 'cd .. && cat ../x'",
        "cd ui && git -c alias.y='!cat ../x' y",
        "cd ui && GIT_SSH_COMMAND='cat ../x' git fetch",
        "cd ui && find .. -name x -execdir cat ../x {} +",
        "cd ui && find .. -execdir sh -c 'cat ../x' \\;",
        "cd ui && env -C .. cat ../x",
        "cd ui && env -C .. sh -c 'cat ../x'",
        "cd ui && env --chdir=.. sh -c 'cat ../x'",
        "cd ui && sudo -D .. cat ../x",
        "cd ui && npx -c 'cat ../x'",
        "cd ui && sh -c 'cd ..; cat ../x'",
        "cd ui && sh -c 'cat ../x' && cd .. && sh -c 'cat ../x'",
        "cd ui && timeout 5 cat ../x && cd .. && timeout 5 cat ../x",
        "cd ui && bash <<'E'\ncd ..\ncat ../x\nE",
        "cd ui && cat <<E\n$(cd .. && cat ../x)\nE",
        "cd ui && cat $(cd .. && echo ../x)",
        "cd ui && diff <(cd .. && cat ../x) x",
        "cd ui && find . -exec cat ../../x {} +",
        "cd ui && echo y > ../../x",
        "cd ui > ../log && ls",
        "cd ui && git -C ../.. log",
        "cd ui && make -C ../../y",
        "cd ui && npm --prefix ../.. test",
        "cd ui && cargo test --manifest-path ../../Cargo.toml",
        "cd to_outside && cat x",
        "cd a/b/to_ui && cat ../../x",
        "cd a/b/to_ui && cd ../.. && cat x",
        "cd a/b/c && cd ../to_ui && cat ../../x",
        "set -P; cd a/b/to_ui && cd .. && cat ../x",
        "set -o physical; cd a/b/to_ui && cd .. && cat ../x",
    ] {
        assert!(workspace.leads_outside(command), "{command}");
    }
}

/// A path that a rule denies is found from the folder in which the command runs.
#[test]
fn a_rule_holds_in_every_folder() {
    let workspace = Workspace::new();
    let verdict = |command: &str| {
        let arguments = json!({ "command": command });
        let arguments = arguments.as_object().unwrap();
        workspace
            .simulation
            .simulate("bash", arguments)
            .unwrap()
            .verdict
    };
    for (command, expected) in [
        ("cd ui && cat ../.env", Verdict::Deny),
        ("cd ui/src && cd ../.. && cat .env", Verdict::Deny),
        ("cd ui || cat .env", Verdict::Deny),
        ("cd ui; cat .env", Verdict::Deny),
        (
            "cd ui && timeout 5 grep -r y src && cd .. && timeout 5 grep -r y .",
            Verdict::Ask,
        ),
        ("cd ui && cat x && cd ..", Verdict::Allow),
    ] {
        assert_eq!(verdict(command), expected, "{command}");
    }
}

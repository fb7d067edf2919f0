//! Caches and state that programs keep in the home folder: a command finds them, and what it changes there is thrown away.

use agent::Host;
use protocol::query::{Answer, Query};
use protocol::settings::Posture;
use protocol::{CallState, CallView, Decision, Op};
use support::{Fixture, expect_variant, rule_text, shown_effects};

use super::commits::effect_lines;
use super::own_home::{given_home, list_files, own_home, run_with_home};
use super::postures::open_in;

const FILES: [(&str, &str); 7] = [
    (".bashrc", "export A=1\n"),
    (".cache/tool/kept", "kept before\n"),
    (".cargo/bin/tool", "#!/bin/sh\n"),
    (".cargo/config.toml", "[build]\n"),
    (".cargo/credentials.toml", "token = 'aaaaaaaaaaaa'\n"),
    (".cargo/registry/index", "index\n"),
    ("pip-cache/kept", "kept elsewhere\n"),
];

/// A desk whose agent runs a program that does this, in the posture that looks at effects.
async fn open_program(script: &str) -> Fixture {
    let mut desk = open_in(Posture::AskAboutEffects, "sh program", Host::Person).await;
    desk.write_file("program", script);
    desk
}

#[tokio::test]
async fn a_program_finds_its_cache_and_what_it_changes_there_is_thrown_away() {
    let test = "a_program_finds_its_cache_and_what_it_changes_there_is_thrown_away";
    if own_home(module_path!(), test, &FILES).is_none() {
        return;
    }
    let script = "cat ~/.cache/tool/kept; rm ~/.cache/tool/kept; mkdir ~/.cache/new; echo new > ~/.cache/new/file; \
        echo more >> ~/.cargo/registry/index; cat ~/.cache/new/file ~/.cargo/registry/index";
    let mut desk = open_program(script).await;
    desk.play().await;
    let (state, text) = desk.call_outcomes().await.remove(0);
    assert_eq!(state, CallState::Done, "{text}");
    assert!(text.contains("kept before\nnew\nindex\nmore\n"), "{text}");
    let call = desk.only_call().await;
    assert_eq!(effect_lines(&call), [""; 0]);
    assert_eq!(
        shown_effects(&call).notes,
        [
            "In your home folder it wrote 2 files of the cache folder, 1 file of Cargo's cache, thrown away with the sandbox."
        ]
    );
    assert!(call.undo.is_none());
}

/// The card on which a program ends that does this.
async fn ask_about(script: &str) -> CallView {
    let mut desk = open_program(script).await;
    desk.start("Go.").await;
    let shown = desk.wait_for_call().await;
    desk.decide_call(&shown, Decision::reject("No."))
        .await
        .unwrap();
    desk.wait_until_ended().await;
    shown
}

#[tokio::test]
async fn settings_programs_and_secrets_of_the_home_stay_closed() {
    let test = "settings_programs_and_secrets_of_the_home_stay_closed";
    let Some(home) = own_home(module_path!(), test, &FILES) else {
        return;
    };
    for (script, refused) in [
        ("echo x >> ~/.bashrc", "refused write .bashrc"),
        ("echo x > ~/.npmrc", "refused write .npmrc"),
        (
            "echo x > ~/.cargo/bin/tool",
            "refused write .cargo/bin/tool",
        ),
        ("echo x > ~/.cargo/bin/new", "refused write .cargo/bin/new"),
        ("mv ~/.cargo/bin ~/.cargo/b", "refused write .cargo/bin"),
        (
            "rm ~/.cargo/config.toml",
            "refused write .cargo/config.toml",
        ),
        ("mv ~/.cargo ~/.moved", "refused write .cargo"),
        (
            "cat ~/.cargo/credentials.toml",
            "refused secret .cargo/credentials.toml",
        ),
        (
            "ln ~/.cargo/credentials.toml ~/.cargo/name || mv ~/.cargo/credentials.toml ~/.cargo/name",
            "refused secret .cargo/credentials.toml",
        ),
    ] {
        let lines = effect_lines(&ask_about(script).await);
        let (what, path) = refused.rsplit_once(' ').unwrap();
        let line = format!("{what} {}", home.join(path).display());
        assert!(lines.contains(&line), "{script}: {lines:?}");
    }
}

#[tokio::test]
async fn a_place_that_a_variable_names_is_a_cache_as_well() {
    let test = "a_place_that_a_variable_names_is_a_cache_as_well";
    if own_home(module_path!(), test, &FILES).is_none() {
        return;
    }
    let mut desk = open_program("cd ~/pip-cache; echo new > new; cat kept new").await;
    desk.play().await;
    let (state, text) = desk.call_outcomes().await.remove(0);
    assert_eq!(state, CallState::Done, "{text}");
    assert!(text.contains("kept elsewhere\nnew\n"), "{text}");
}

#[tokio::test]
async fn a_folder_that_the_home_does_not_have_is_no_question() {
    let test = "a_folder_that_the_home_does_not_have_is_no_question";
    let Some(home) = own_home(module_path!(), test, &FILES) else {
        return;
    };
    let script = "mkdir ~/.terraform.d || echo none; mkdir $npm_config_cache && echo made > $npm_config_cache/a; \
        cat $npm_config_cache/a; echo $npm_config_cache";
    let mut desk = open_program(script).await;
    desk.play().await;
    let (state, text) = desk.call_outcomes().await.remove(0);
    assert_eq!(state, CallState::Done, "{text}");
    assert!(text.contains("none\nmade\n/tmp/.npm\n"), "{text}");
    let call = desk.only_call().await;
    assert_eq!(effect_lines(&call), [""; 0]);
    let notes = &shown_effects(&call).notes;
    let place = format!("`{}`", home.join(".terraform.d").display());
    assert!(notes.iter().any(|note| note.contains(&place)), "{notes:?}");
}

#[tokio::test]
async fn a_command_may_name_what_it_reads_of_caches_and_nothing_else_there() {
    let test = "a_command_may_name_what_it_reads_of_caches_and_nothing_else_there";
    let Some(home) = own_home(module_path!(), test, &FILES) else {
        return;
    };
    let whole = format!("cat {}/.cache/tool/kept", home.display());
    for (command, expected) in [
        ("ls ~/.cargo/registry", Some("index")),
        ("cat ~/.cache/tool/kept", Some("kept before")),
        ("grep -r kept $HOME/.cache", Some("kept before")),
        ("du -sh ~/.cache/tool", Some(".cache/tool")),
        (&whole, Some("kept before")),
        ("cat ~/.cargo/credentials.toml", None),
        ("cat ~/.cargo/config.toml", None),
        ("cat ~/.bashrc", None),
        ("ls ~/.cargo/bin", None),
        ("cat ~/.cache/../.bashrc", None),
        ("cat ~/.cache/$PLACE", None),
        ("echo x > ~/.cache/tool/new", None),
        ("rm ~/.cache/tool/kept", None),
    ] {
        let mut desk = open_in(Posture::AskAboutEffects, command, Host::Person).await;
        desk.play().await;
        let (state, text) = desk.call_outcomes().await.remove(0);
        match expected {
            Some(said) => assert!(
                state == CallState::Done && text.contains(said),
                "{command}: {text}"
            ),
            None => assert_eq!(state, CallState::Denied, "{command}: {text}"),
        }
    }
}

/// npm's cache, with a program in the place of npm that does what the workspace says.
const NPM_FILES: [(&str, &str); 4] = [
    (".npm/_cacache/gone", "gone\n"),
    (".npm/_cacache/index", "old\n"),
    (".npm/_other/log", "log\n"),
    ("tools/npm", "#!/bin/sh\nexec sh ./program\n"),
];

/// A desk whose agent runs this command, in which npm does what the script says.
async fn open_npm(command: &str, script: &str, rules: &str) -> Fixture {
    let mut desk = open_in(Posture::AskAboutEffects, command, Host::Person).await;
    desk.write_file("program", script);
    desk.write_rules(rules);
    desk
}

#[tokio::test]
async fn a_rule_keeps_what_a_program_writes_in_its_cache() {
    let test = "a_rule_keeps_what_a_program_writes_in_its_cache";
    let Some(home) = given_home() else {
        let home = run_with_home(module_path!(), test, &NPM_FILES);
        assert_eq!(list_files(home.path()).len(), NPM_FILES.len());
        return;
    };
    let script = "cd ~/.npm; echo new >> _cacache/index; rm _cacache/gone; mkdir -p _cacache/content; \
        echo more > _cacache/content/more; echo lost >> _other/log";
    let rule = rule_text("home.keep", "~/.npm/_cacache", "allow");
    let mut desk = open_npm("cd . && npm run build", script, &rule).await;
    desk.play().await;
    let (state, text) = desk.call_outcomes().await.remove(0);
    assert_eq!(state, CallState::Done, "{text}");
    let read = |path: &str| std::fs::read_to_string(home.join(".npm").join(path)).ok();
    let cached = || ["index", "gone", "content/more"].map(|path| read(&format!("_cacache/{path}")));
    let kept = [
        Some("old\nnew\n".to_owned()),
        None,
        Some("more\n".to_owned()),
    ];
    assert_eq!(cached(), kept, "{text}");
    assert_eq!(read("_other/log").as_deref(), Some("log\n"));
    let call = desk.only_call().await;
    assert_eq!(
        shown_effects(&call).notes,
        [
            "In `~/.npm/_cacache` it wrote 3 files, which a rule keeps.",
            "In your home folder it wrote 1 file of npm's cache, thrown away with the sandbox.",
        ]
    );
    let query = Query::Timeline {
        workspace: None,
        offset: 0,
        limit: 10,
    };
    let timeline = expect_variant!(desk.query(query).await, Answer::Timeline(timeline) => timeline);
    let [entry] = timeline.entries.as_slice() else {
        panic!("{timeline:?}");
    };
    assert_eq!(entry.title, "Kept in ~/.npm/_cacache");
    desk.submit(Op::Undo {
        entry: entry.id.clone(),
    })
    .await;
    let before = [Some("old\n".to_owned()), Some("gone\n".to_owned()), None];
    assert_eq!(cached(), before);
}

#[tokio::test]
async fn what_no_rule_keeps_for_certain_is_thrown_away() {
    let test = "what_no_rule_keeps_for_certain_is_thrown_away";
    let Some(home) = own_home(module_path!(), test, &NPM_FILES) else {
        return;
    };
    let rule = rule_text("home.keep", "~/.npm/_cacache", "allow");
    let closed = rule_text("fs.write", &format!("{}/.npm/**", home.display()), "deny");
    let both = format!("{rule}{closed}");
    let write = "echo new >> ~/.npm/_cacache/index";
    let offer = "thrown away with the sandbox. The rule `home.keep` for `~/.npm/_cacache` would keep what it wrote there.";
    let lost = "it wrote 1 file of npm's cache, thrown away with the sandbox.";
    let needless = "is not kept, though a rule says so";
    for (command, script, rules, says) in [
        ("npm run build", write, "", offer),
        ("npm run build && sh program", write, &rule, lost),
        ("sh program", write, &rule, lost),
        (
            "npm run build",
            "ln -s /etc ~/.npm/_cacache/etc",
            &rule,
            needless,
        ),
        (
            "npm run build",
            "ln -s ../../.ssh ~/.npm/_cacache/ssh",
            &rule,
            needless,
        ),
        (
            "npm run build",
            "mkfifo ~/.npm/_cacache/pipe",
            &rule,
            needless,
        ),
        (
            "npm run build",
            "chmod 666 ~/.npm/_cacache/index",
            &rule,
            needless,
        ),
        ("npm run build", write, &both, "which a rule keeps"),
    ] {
        let mut desk = open_npm(command, script, rules).await;
        desk.play().await;
        let (state, text) = desk.call_outcomes().await.remove(0);
        assert_eq!(state, CallState::Done, "{command}: {script}: {text}");
        let notes = shown_effects(&desk.only_call().await).notes.join(" ");
        assert!(notes.contains(says), "{command}: {script}: {notes}");
        let is_restricted = text.contains("is not kept: a rule restricts changing");
        assert_eq!(is_restricted, rules == both, "{text}");
    }
}

//! The syntax of a rules file, and the errors of one that is wrong.

use protocol::RuleAction;

use super::*;

fn user(text: &str) -> Result<RulesFile, UserError> {
    parse_rules_file(text, &RulesFileSource::new("rules.toml", RuleScope::User))
}

#[test]
fn a_rule_without_action_asks() {
    let file = user("[[rule]]\npermission = \"bash\"\n").unwrap();
    assert_eq!(file.rules[0].rule.action, RuleAction::Ask, "S002-81");
    assert_eq!(file.rules[0].rule.line, Some(1));
    assert_eq!(file.default, None);
}

/// `S002-78`: permission, pattern, action, and what stands beside them.
#[test]
fn everything_that_a_file_can_say() {
    let file = user(
        "default = \"deny\"\n\n[[rule]]\npermission = \"bash\"\npattern = \"git status*\"\naction = \"allow\"\nreason = \
         \"reads only\"\nmatch = [\"git status -s\"]\nnot_match = [\"git stash\"]\nexpires = 2026-12-01T00:00:00Z\n\
         max_uses = 5\n",
    )
    .unwrap();
    assert_eq!(file.default, Some(RuleAction::Deny));
    assert_eq!(
        file.rules[0].rule,
        Rule {
            permission: "bash".into(),
            pattern: Some("git status*".into()),
            action: RuleAction::Allow,
            reason: Some("reads only".into()),
            scope: RuleScope::User,
            file: Some("rules.toml".into()),
            line: Some(3),
            expires_ms: Some(1_796_083_200_000),
            max_uses: Some(5),
            grant: None,
        }
    );
}

#[test]
fn errors_name_file_line_and_what() {
    for (text, line, what) in [
        ("[[rule]]\npermission = 3", 2, "invalid type"),
        (
            "\n[[rule]]\npermission = \"bash\"\nactoin = \"deny\"",
            4,
            "`actoin` is not known here (did you mean `action`?)",
        ),
        (
            "defualt = \"ask\"",
            1,
            "`defualt` is not known here (did you mean `default`?)",
        ),
        (
            "[[rule]]\npermission = \"bash\"\naction = \"alow\"",
            3,
            "`alow` is not known here (did you mean `allow`?)",
        ),
        ("default = \"maybe\"", 1, "`maybe` is not known"),
        (
            "[[rule]]\npermission = \"mode:locale\"",
            2,
            "not a mode; the modes are read, safe_write, destructive, local, external (did you mean `local`?)",
        ),
        (
            "[[rule]]\npermission = \"fs.wriet\"",
            2,
            "(did you mean `fs.write`?)",
        ),
        ("[[rule]]\npermission = \"ba*h\"", 2, "not a permission"),
        (
            "[[rule]]\npermission = \"edit\"\npattern = \"a[\"",
            3,
            "not a glob",
        ),
        (
            "[[rule]]\npermission = \"edit\"\npattern = \" \"",
            3,
            "empty",
        ),
        (
            "[[rule]]\npermission = \"edit\"\npattern = \"a\u{202e}b\"",
            3,
            "U+202E",
        ),
        (
            "[[rule]]\npermission = \"bash\"\naction = \"allow\"\npattern = \"git status*\"\nmatch = [\n  \"git status\",\n  \"git stash\"]",
            7,
            "does not match its example `git stash`",
        ),
        (
            "[[rule]]\npermission = \"bash\"\npattern = \"git*\"\nnot_match = [\"git push\"]",
            4,
            "matches its counter-example `git push`",
        ),
        (
            "[[rule]]\npermission = \"bash\"\nexpires = 2026-12-01",
            3,
            "no date, time or offset",
        ),
        (
            "[[rule]]\npermission = \"bash\"\nexpires = \"2026-02-30T00:00:00Z\"",
            3,
            "`2026-02-30T00:00:00Z` is not a time",
        ),
        (
            "[[rule]]\npermission = \"bash\"\nmax_uses = 0",
            1,
            "never applies",
        ),
        ("rule = 3", 1, "invalid type"),
        ("[[rule]\n", 1, ""),
    ] {
        let fault = user(text).unwrap_err();
        assert!(
            fault
                .message
                .starts_with(&format!("rules.toml, line {line}: ")),
            "{text:?}: {fault}"
        );
        assert!(fault.message.contains(what), "{text:?}: {fault}");
    }
}

#[test]
fn examples_speak_of_what_the_rule_speaks_of() {
    for rule in [
        "permission = \"bash\"\npattern = \"rm*\"\naction = \"deny\"\nmatch = [\"sudo rm x\", \"ls; rm x\", \"rmdir x\"]",
        "permission = \"bash\"\npattern = \"rm*\"\naction = \"deny\"\nmatch = [\"rm x\"]\nnot_match = [\"rmdir x\"]",
        "permission = \"bash\"\npattern = \"ls*\"\naction = \"allow\"\nmatch = [\"ls -l\"]\nnot_match = [\"lsof\", \"ls; rm x\"]",
        "permission = \"fs.read\"\npattern = \".env*\"\naction = \"deny\"\nmatch = [\".env\", \"a/.env.local\", \"/x/.env\"]\nnot_match = [\"env\"]",
        "permission = \"fs.write\"\npattern = \"src/**\"\naction = \"allow\"\nmatch = [\"src/a\"]\nnot_match = [\"a/src/b\"]",
        "permission = \"net.fetch\"\npattern = \"*.example.com\"\naction = \"allow\"\nmatch = [\"https://a.example.com/x\"]\nnot_match = [\"example.org\"]",
    ] {
        let read = user(&format!("[[rule]]\n{rule}\n"));
        assert!(read.is_ok(), "{rule}: {}", read.unwrap_err());
    }
}

#[test]
fn what_is_hardly_meant_is_told() {
    let text = "[[rule]]\npermission = \"*\"\naction = \"allow\"\n\
                [[rule]]\npermission = \"bash\"\npattern = \"./b?ild*\"\naction = \"allow\"\n\
                [[rule]]\npermission = \"bash\"\npattern = \"*\"\naction = \"deny\"\n\
                [[rule]]\npermission = \"fs.read\"\npattern = \"~/x\"\naction = \"allow\"\n\
                [[rule]]\npermission = \"web_fetch\"\npattern = \"https://a.example/b\"\naction = \"allow\"\n\
                [[rule]]\npermission = \"bsh\"\naction = \"ask\"\n\
                [[rule]]\npermission = \"bsh\"\naction = \"deny\"\n\
                [[rule]]\npermission = \"bash\"\npattern = \"python3*\"\naction = \"allow\"\n";
    let source = RulesFileSource {
        known_tools: &["bash", "read"],
        ..RulesFileSource::new("r", RuleScope::User)
    };
    let told: Vec<(u32, String)> = parse_rules_file(text, &source)
        .unwrap()
        .warnings
        .into_iter()
        .map(|warning| (warning.line, warning.text))
        .collect();
    let expected = [
        (1, "every call of every tool"),
        (1, "commands that reach other machines"),
        (4, "a path that is spelled out"),
        (8, "can be left out"),
        (12, "outside the workspace"),
        (16, "for whole hosts"),
        (20, "did you mean `bash`"),
        (23, "did you mean `bash`"),
        (23, "same as the rule in line 20"),
        (26, "lets any program run"),
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for ((line, text), (expected_line, part)) in told.iter().zip(expected) {
        assert!(
            *line == expected_line && text.contains(part),
            "{line}: {text}"
        );
    }
}

#[test]
fn a_rule_about_a_remote_allows_and_names_its_address() {
    let rule = |permission: &str, rest: &str| {
        user(&format!(
            "[[rule]]\npermission = \"{permission}\"\n{rest}\n"
        ))
    };
    let address = "pattern = \"https://git.example/app.git\"";
    let allow = format!("{address}\naction = \"allow\"");
    for permission in ["git.fetch", "git.push"] {
        let file = rule(permission, &allow).unwrap();
        assert_eq!(file.warnings, []);
        let example = "match = [\"https://git.example/app.git\"]\nnot_match = [\"https://git.example/b.git\"]";
        assert!(rule(permission, &format!("{allow}\n{example}")).is_ok());
        for (rest, what) in [
            (address.to_owned(), "can only allow"),
            (format!("{address}\naction = \"deny\""), "can only allow"),
            ("action = \"allow\"".to_owned(), "needs the address"),
            (
                "pattern = \"*\"\naction = \"allow\"".to_owned(),
                "no address",
            ),
            (
                "pattern = \"origin\"\naction = \"allow\"".to_owned(),
                "no address",
            ),
            (
                format!("{allow}\nmatch = [\"https://git.example/b.git\"]"),
                "does not match its example",
            ),
        ] {
            let fault = rule(permission, &rest).unwrap_err();
            assert!(fault.message.contains(what), "{rest}: {}", fault.message);
        }
    }
    let fault = rule("git.pull", &allow).unwrap_err();
    assert!(fault.message.contains("git.fetch, git.push"), "{fault}");
}

#[test]
fn a_rule_that_keeps_a_cache_allows_and_names_its_folder() {
    let rule = |rest: &str| user(&format!("[[rule]]\npermission = \"home.keep\"\n{rest}\n"));
    let allow = "pattern = \"~/.npm/_cacache\"\naction = \"allow\"";
    let file = rule(allow).unwrap();
    assert_eq!(file.warnings, []);
    let example = "match = [\"~/.npm/_cacache\"]\nnot_match = [\"~/.npm\"]";
    assert!(rule(&format!("{allow}\n{example}")).is_ok());
    for (rest, what) in [
        ("pattern = \"~/.npm/_cacache\"", "can only allow"),
        (
            "pattern = \"~/.npm/_cacache\"\naction = \"deny\"",
            "can only allow",
        ),
        ("action = \"allow\"", "needs a cache"),
        ("pattern = \"*\"\naction = \"allow\"", "needs a cache"),
        ("pattern = \"~\"\naction = \"allow\"", "needs a cache"),
        (
            "pattern = \"~/.npm/**\"\naction = \"allow\"",
            "needs a cache",
        ),
        (
            "pattern = \"~/.npm/../.ssh\"\naction = \"allow\"",
            "needs a cache",
        ),
        (
            "pattern = \"/home/a/.npm\"\naction = \"allow\"",
            "needs a cache",
        ),
        (&format!("{allow}\nmax_uses = 3"), "not counted"),
        (
            &format!("{allow}\nmatch = [\"~/.npm\"]"),
            "does not match its example",
        ),
    ] {
        let fault = rule(rest).unwrap_err();
        assert!(fault.message.contains(what), "{rest}: {}", fault.message);
    }
}

//! Rules files written by the person through the desk: whole, one rule more, and one rule changed where it stands.

use protocol::query::{Answer, Query};
use protocol::rule::rules_view::{NewRule, RuleLocation, RuleState};
use protocol::{Op, RuleAction, RuleScope, Trust};
use serde_json::json;
use support::{Fixture, call_bash, expect_variant};

use crate::rules::changes_and_backtests::{load_rules, new_rule, workspace_path};

/// A file is saved as it was edited, and only if nobody changed it meanwhile; a project's is trusted by that act.
#[tokio::test]
async fn rules_are_saved_and_hold_at_once() {
    let mut desk = Fixture::new([call_bash("echo a")]).await;
    let save = |scope, text: &str, base| Op::SaveRules {
        scope,
        workspace: workspace_path(&desk),
        text: text.to_owned(),
        base,
    };
    for scope in [RuleScope::User, RuleScope::Project] {
        let broken = save(scope, "[[rule]]\npermission = 3\n", None);
        let fault = desk.engine.submit(broken).await.unwrap_err();
        assert!(fault.message.contains("line 2"), "{fault}");
        let text = "# mine\n[[rule]]\npermission = \"bash\"\npattern = \"ls*\"\naction = \"allow\"\nmatch = [\"ls -l\"]\n";
        desk.submit(save(scope, text, None)).await;
        let stale = desk.engine.submit(save(scope, "", None)).await.unwrap_err();
        assert!(stale.message.contains("changed since"), "{stale}");
        let add = Op::AddRules {
            scope,
            workspace: workspace_path(&desk),
            rules: vec![new_rule("echo a", RuleAction::Allow)],
        };
        desk.submit(add).await;
        let seen = load_rules(&desk).await;
        let source = seen.sources.iter().find(|one| one.scope == scope).unwrap();
        let written = source.text.clone().unwrap();
        assert!(written.starts_with(text), "{written}");
        assert_eq!(source.rules.len(), 2);
        assert_eq!(source.rules[0].matches, ["ls -l"]);
        assert_eq!(source.rules[1].state, RuleState::Active);
        let trusted = (scope == RuleScope::Project).then_some(Trust::Trusted);
        assert_eq!((source.trust, &source.fault), (trusted, &None));
    }
    desk.start("go").await;
    desk.wait_until_ended().await;
    let seen = load_rules(&desk).await;
    let hits: u64 = seen
        .sources
        .iter()
        .flat_map(|one| &one.rules)
        .map(|rule| rule.hits)
        .sum();
    assert_eq!(hits, 1, "one of both spoke, once");
}

/// One rule of a file is changed where it stands, and taken out; a person who read the file before somebody else wrote it
/// is told.
#[tokio::test]
async fn one_rule_of_a_file_is_changed_where_it_stands() {
    let desk = Fixture::new(json!([])).await;
    let text =
        "# mine\n[[rule]]\npermission = \"bash\"\npattern = \"ls*\" # short\naction = \"allow\"\n";
    for scope in [RuleScope::User, RuleScope::Project] {
        let save = Op::SaveRules {
            scope,
            workspace: workspace_path(&desk),
            text: text.to_owned(),
            base: None,
        };
        desk.submit(save).await;
        let place = RuleLocation {
            scope,
            workspace: workspace_path(&desk),
            line: 2,
            base: policy::trust::text_digest(text),
        };
        let check = Query::CheckRule {
            rule: new_rule("ls -l*", RuleAction::Allow),
            instead: Some(place.clone()),
        };
        let checked =
            expect_variant!(desk.query(check.clone()).await, Answer::CheckRule(checked) => checked);
        let block = text.replace("ls*", "ls -l*").replace("# mine\n", "");
        assert_eq!((checked.fault, checked.text), (None, block));
        let change = |rule: Option<NewRule>| Op::ChangeRule {
            place: place.clone(),
            rule,
        };
        let wrong = NewRule {
            matches: vec!["rm x".to_owned()],
            ..new_rule("ls -l*", RuleAction::Allow)
        };
        let fault = desk.engine.submit(change(Some(wrong))).await.unwrap_err();
        assert!(fault.message.contains("rm x"), "{fault}");
        let other = change(Some(new_rule("ls -l*", RuleAction::Allow)));
        desk.submit(other).await;
        let written = text.replace("ls*", "ls -l*");
        let seen = load_rules(&desk).await;
        let source = seen.sources.iter().find(|one| one.scope == scope).unwrap();
        assert_eq!(source.text.as_deref(), Some(written.as_str()));
        // The file is not any more what was read before.
        let stale = desk.engine.submit(change(None)).await.unwrap_err();
        assert!(stale.message.contains("changed since"), "{stale}");
        let checked =
            expect_variant!(desk.query(check).await, Answer::CheckRule(checked) => checked);
        assert!(checked.fault.unwrap().message.contains("changed since"));
        let gone = Op::ChangeRule {
            place: RuleLocation {
                base: source.digest.clone().unwrap(),
                ..place.clone()
            },
            rule: None,
        };
        desk.submit(gone).await;
        let seen = load_rules(&desk).await;
        let source = seen.sources.iter().find(|one| one.scope == scope).unwrap();
        assert_eq!(source.text.as_deref(), Some("# mine\n"));
    }
    // A file that nobody trusts is not trusted because one of its rules was changed.
    let file = desk.workspace_root().join(".countersign/rules.toml");
    std::fs::write(&file, text).unwrap();
    let change = Op::ChangeRule {
        place: RuleLocation {
            scope: RuleScope::Project,
            workspace: workspace_path(&desk),
            line: 2,
            base: policy::trust::text_digest(text),
        },
        rule: Some(new_rule("ls -l*", RuleAction::Allow)),
    };
    let fault = desk.engine.submit(change).await.unwrap_err();
    assert!(fault.message.contains("is not trusted"), "{fault}");
}

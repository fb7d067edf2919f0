//! The rules that are imported from each product's file, and the notes on the rest.

use super::*;

mod never_loosened;

/// Returns the lines shown for each permission: as written, the rule in short, the note.
fn shown(product: RuleImportProduct, text: &str) -> Vec<(String, String, String)> {
    let read = import_permissions(product, text, ConfigOwner::Project).unwrap();
    read.into_iter()
        .map(|one| {
            let rule = one.rule.map_or("-".to_owned(), |rule| {
                let action = format!("{:?}", rule.action).to_lowercase();
                let pattern = rule.pattern.unwrap_or("(all)".into());
                format!("{action} {} {pattern}", rule.permission)
            });
            (one.written, rule, one.note)
        })
        .collect()
}

fn check(product: RuleImportProduct, text: &str, wanted: &[(&str, &str, &str)]) {
    let is = shown(product, text);
    let wanted: Vec<_> = wanted
        .iter()
        .map(|(written, rule, note)| (*written, *rule, *note))
        .collect();
    let is: Vec<_> = is
        .iter()
        .map(|(written, rule, note)| (written.as_str(), rule.as_str(), note.as_str()))
        .collect();
    assert_eq!(is, wanted);
}

#[test]
fn claude_code() {
    let outside = "What lies outside the workspace is denied here, whatever rules say.";
    check(
        RuleImportProduct::ClaudeCode,
        r#"{ "model": "x", "permissions": {
            "allow": ["Bash(npm run test:*)", "Bash(git diff *)", "Bash(make)", "Bash(ls*)", "Bash(git * main)",
                      "Bash(git push origin:*)", "Bash(echo \"a b\")", "Read(src/**)", "Read(/docs/*.md)", "Read(~/.zshrc)", "Edit(./a/)",
                      "Write(b/**)", "WebFetch(domain:docs.rs)", "WebFetch(url:x)", "WebSearch", "mcp__git__log",
                      "mcp__github", "Nothing(x)", "Bash(open"],
            "deny": ["Bash(git push *)", "Read(.env)", "Read(//etc/**)", "Bash(rm * -rf)", "Bash(wget*)"],
            "ask": ["Bash(make:*)"], "defaultMode": "plan" } }"#,
        &[
            ("Bash(npm run test:*)", "allow bash npm run test *", ""),
            ("Bash(git diff *)", "allow bash git diff *", ""),
            ("Bash(make)", "allow bash make", ""),
            (
                "Bash(ls*)",
                "allow bash ls *",
                "Narrower than there: the last word does not go on.",
            ),
            (
                "Bash(git * main)",
                "allow bash git * main",
                "Narrower than there: a `*` within is one word here.",
            ),
            (
                "Bash(git push origin:*)",
                "-",
                "`Bash(git push *)` wins there, and would not here.",
            ),
            (
                "Bash(echo \"a b\")",
                "-",
                "Only plain words can be taken over, and this has others.",
            ),
            ("Read(src/**)", "allow fs.read src/**", ""),
            ("Read(/docs/*.md)", "allow fs.read docs/*.md", ""),
            ("Read(~/.zshrc)", "-", outside),
            ("Edit(./a/)", "allow fs.write a/**", ""),
            ("Write(b/**)", "-", "It has no effect there: `Edit(…)` has."),
            ("WebFetch(domain:docs.rs)", "allow net.fetch docs.rs", ""),
            (
                "WebFetch(url:x)",
                "-",
                "Only `domain:` and a host can be taken over.",
            ),
            ("WebSearch", "allow web_search (all)", ""),
            ("mcp__git__log", "allow git__log (all)", ""),
            ("mcp__github", "allow github__* (all)", ""),
            ("Nothing(x)", "-", "That tool is not known here."),
            ("Bash(open", "-", "Its bracket is not closed."),
            ("Bash(git push *)", "deny bash git push *", ""),
            ("Read(.env)", "deny fs.read .env", ""),
            ("Read(//etc/**)", "-", outside),
            (
                "Bash(rm * -rf)",
                "deny bash rm *",
                "Wider than there: everything that begins so.",
            ),
            (
                "Bash(wget*)",
                "deny bash wget*",
                "Wider than there: everything that begins so.",
            ),
            ("Bash(make:*)", "ask bash make *", ""),
            (
                "defaultMode",
                "-",
                "It is not a permission, and is not taken over.",
            ),
        ],
    );
}

#[test]
fn opencode() {
    check(
        RuleImportProduct::Opencode,
        r#"{ // settings
            "permission": {
              "*": "ask",
              "bash": { "*": "ask", "git *": "allow", "git push *": "deny", "git push origin *": "allow", "npm ?": "allow" },
              "edit": { "*": "deny", "docs/*.md": "allow", "src/*.ts": "deny" },
              "webfetch": "allow",
              "external_directory": { "~/x/**": "allow" },
              "own": "deny",
            } }"#,
        &[
            ("*", "ask * (all)", ""),
            ("bash: *", "ask bash (all)", ""),
            ("bash: git *", "allow bash git *", ""),
            ("bash: git push *", "deny bash git push *", ""),
            (
                "bash: git push origin *",
                "allow bash git push origin *",
                "",
            ),
            (
                "bash: npm ?",
                "-",
                "Only plain words can be taken over, and this has others.",
            ),
            ("edit: *", "deny fs.write (all)", ""),
            ("edit: docs/*.md", "allow fs.write docs/*.md", ""),
            (
                "edit: src/*.ts",
                "deny fs.write src/**",
                "Wider than there: the whole folder.",
            ),
            ("webfetch", "allow net.fetch (all)", ""),
            (
                "external_directory: ~/x/**",
                "-",
                "What lies outside the workspace is denied here, whatever rules say.",
            ),
            ("own", "-", "That tool is not known here."),
        ],
    );
    check(
        RuleImportProduct::Opencode,
        r#"{"permission": {"bash": {"git *": "allow", "*": "deny"}}}"#,
        &[
            (
                "bash: git *",
                "-",
                "`bash: *` wins there, and would not here.",
            ),
            ("bash: *", "deny bash (all)", ""),
        ],
    );
    check(
        RuleImportProduct::Opencode,
        r#"{"permission": "ask"}"#,
        &[("*", "ask * (all)", "")],
    );
    check(RuleImportProduct::Opencode, "{}", &[]);
}

#[test]
fn codex() {
    check(
        RuleImportProduct::Codex,
        r#"# rules
prefix_rule(
    pattern = ["git", ["push", "fetch"]],
    decision = "prompt",
    justification = "leaves the machine",
    match = [["git", "push", "origin"], "git fetch"],
    not_match = ["git status"],
)
prefix_rule(pattern = ["ls"])
prefix_rule(pattern=["git", "push", "--force"], decision="forbidden")
prefix_rule(pattern=["git", "push", "--dry-run"], decision="allow")
prefix_rule(pattern=["echo", "a b"], decision="allow")
host_executable(name="git", paths=["/usr/bin/git"])
"#,
        &[
            ("git push|fetch", "ask bash git {push,fetch} *", ""),
            ("ls", "allow bash ls *", ""),
            ("git push --force", "deny bash git push --force *", ""),
            (
                "git push --dry-run",
                "-",
                "`git push|fetch` wins there, and would not here.",
            ),
            (
                "echo a b",
                "-",
                "Only plain words can be taken over, and this has others.",
            ),
            (
                "host_executable(…)",
                "-",
                "It is not a rule for commands, and is not taken over.",
            ),
        ],
    );
    let first = import_permissions(
        RuleImportProduct::Codex,
        r#"prefix_rule(pattern=["ls"], match=["ls -l"], justification="lists")"#,
        ConfigOwner::Person,
    );
    let rule = first.unwrap().remove(0).rule.unwrap();
    assert_eq!(
        (rule.matches, rule.reason.as_deref()),
        (vec!["ls -l".to_owned()], Some("lists"))
    );
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    for (product, text, named) in [
        (
            RuleImportProduct::ClaudeCode,
            "{\n \"permissions\": {\n \"allow\": [1] } }",
            "Line 3",
        ),
        (
            RuleImportProduct::ClaudeCode,
            "{\n \"permissions\": [] }",
            "Line 2",
        ),
        (RuleImportProduct::ClaudeCode, "[]", "not an object"),
        (
            RuleImportProduct::ClaudeCode,
            "{\n\n \"permissions\" {} }",
            "Line 3",
        ),
        (
            RuleImportProduct::Opencode,
            "{\"permission\": {\n\"bash\": \"maybe\"}}",
            "Line 2",
        ),
        (
            RuleImportProduct::Opencode,
            "{\"permission\": 7}",
            "neither allow nor ask nor deny",
        ),
        (
            RuleImportProduct::Codex,
            "prefix_rule(\n pattern = [\"a\",",
            "Line 2",
        ),
        (RuleImportProduct::Codex, "for x in y:\n  pass", "Line 1"),
        (
            RuleImportProduct::Codex,
            "prefix_rule(pattern=[])",
            "list of texts",
        ),
        (
            RuleImportProduct::Codex,
            "prefix_rule(pattern=[\"a\"], decision=\"no\")",
            "neither allow",
        ),
        (
            RuleImportProduct::Codex,
            "prefix_rule(pattern=[\"a",
            "no end",
        ),
        (RuleImportProduct::Codex, "x = y", "only calls"),
    ] {
        let fault = import_permissions(product, text, ConfigOwner::Person).unwrap_err();
        assert!(fault.message.contains(named), "{text} gave {fault}");
        assert!(!fault.hint.is_empty());
    }
    for product in [
        RuleImportProduct::ClaudeCode,
        RuleImportProduct::Opencode,
        RuleImportProduct::Codex,
    ] {
        assert_eq!(
            import_permissions(product, "", ConfigOwner::Person).unwrap(),
            Vec::new()
        );
    }
}

//! Reads an agent's manifest, `agent.toml`: its name, prompt, tools, requirements and rules.

use protocol::{RequirementSet, RuleAction, RuleScope, UserError};
use serde::Deserialize;
use serde_json::{Map, Value};
use toml::Spanned;

use super::raw::{RawRule, RawRulesFile};
use super::{
    LineStarts, RulesFile, RulesFileError, RulesFileSource, check_rules, explain_toml_error,
};
use crate::Surface;
use crate::limits::{AGENT_NAME_CHARS_MAX, AGENT_PROMPT_BYTES_MAX, PATTERN_BYTES_MAX, ROOTS_MAX};

/// An agent as its manifest has it.
#[derive(Debug, Clone)]
pub struct AgentManifest {
    /// Name of the agent.
    pub name: String,
    /// Purpose of the agent, for a caller that gives it work; empty if the manifest names none.
    pub description: String,
    /// Prompt of the agent, beside the one that every agent is given; empty for none.
    pub prompt: String,
    /// The only tools that the agent may call; all tools if none are named.
    pub tools: Option<Vec<String>>,
    /// Provider of the agent's model; its caller's if the manifest names none.
    pub provider: Option<String>,
    /// Model of the agent; its caller's if the manifest names none.
    pub model: Option<String>,
    /// Further folders that `{workspace}` stands for in the agent's requirements (`S002-56`): relative to the
    /// workspace, or whole paths.
    pub roots: Vec<String>,
    /// Requirements of the agent, beside those of each of its tools (`S002-09`).
    pub requires: RequirementSet,
    /// Whether the manifest declares requirements. An agent that works for another one may touch no more than it
    /// declares.
    pub declares_requirements: bool,
    /// Its rules. Their denies are final (`S002-84`).
    pub rules: RulesFile,
}

/// The manifest as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawManifest {
    name: Spanned<String>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    prompt: Option<Spanned<String>>,
    tools: Option<Vec<String>>,
    provider: Option<String>,
    model: Option<String>,
    #[serde(default)]
    roots: Vec<Spanned<String>>,
    #[serde(default)]
    requires: Option<Spanned<RequirementSet>>,
    default: Option<RuleAction>,
    #[serde(default)]
    rule: Vec<Spanned<RawRule>>,
}

/// Reads the text of a manifest.
///
/// # Errors
/// Anything that is not as it must be: with file, line, what is wrong and what to do. A session of such an agent is not
/// opened.
pub fn parse_manifest(text: &str, file: &str) -> Result<AgentManifest, UserError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = LineStarts::new(text);
    parse_toml(text, &lines, file).map_err(|wrong| {
        let at = format!("line {}", lines.line_at(wrong.at));
        to_user_error(file, &at, &wrong)
    })
}

/// Reads a manifest that is written as a Markdown file: its front matter, and its prompt below. Gives it as a manifest
/// in TOML too, by which it can be read again.
///
/// # Errors
/// As [`parse_manifest`], without a line.
pub fn parse_markdown_manifest(
    mut head: Map<String, Value>,
    prompt: &str,
    file: &str,
) -> Result<(AgentManifest, String), UserError> {
    let wrong = |what: String| {
        let next = "Correct it.";
        to_user_error(file, "front matter", &RulesFileError::new(0, what, next))
    };
    if head.contains_key("prompt") {
        return Err(wrong(
            "the key `prompt` is not known here: the prompt is the text below".to_owned(),
        ));
    }
    head.retain(|_, value| !value.is_null());
    head.insert("prompt".to_owned(), prompt.into());
    let text = toml::to_string(&head).map_err(|error| wrong(error.to_string()))?;
    let manifest = parse_toml(&text, &LineStarts::new(&text), file);
    let manifest = manifest.map_err(|wrong| to_user_error(file, "front matter", &wrong))?;
    Ok((manifest, text))
}

fn to_user_error(file: &str, at: &str, wrong: &RulesFileError) -> UserError {
    UserError::new(
        format!("{file}, {at}: {}.", wrong.what),
        format!(
            "{} Until then no session of this agent is opened.",
            wrong.next
        ),
    )
}

fn parse_toml(text: &str, lines: &LineStarts, file: &str) -> Result<AgentManifest, RulesFileError> {
    let written: RawManifest = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        RulesFileError::new(at, explain_toml_error(error.message()), "Correct the line.")
    })?;
    let name = written.name.get_ref();
    let hidden = name.chars().any(protocol::text::display_text::is_hidden);
    if name.trim().is_empty() || hidden || name.chars().count() > AGENT_NAME_CHARS_MAX {
        return Err(RulesFileError::new(
            written.name.span().start,
            format!(
                "the name is empty, longer than {AGENT_NAME_CHARS_MAX} characters, or holds what cannot be seen"
            ),
            "Give it a name.",
        ));
    }
    if let Some(prompt) = &written.prompt
        && prompt.get_ref().len() > AGENT_PROMPT_BYTES_MAX
    {
        return Err(RulesFileError::new(
            prompt.span().start,
            format!("the prompt is longer than {AGENT_PROMPT_BYTES_MAX} bytes"),
            "Put the text in a file of the workspace and name the file.",
        ));
    }
    let roots = check_roots(written.roots)?;
    let declares = written.requires.is_some();
    let requires_at = written.requires.as_ref().map_or(0, |set| set.span().start);
    let requires = written
        .requires
        .map(Spanned::into_inner)
        .unwrap_or_default();
    Surface::validate(&requires, &format!("the agent `{name}`")).map_err(|fault| {
        RulesFileError::new(
            requires_at,
            fault.message.trim_end_matches('.').to_owned(),
            "Correct what it requires.",
        )
    })?;
    let rules = RawRulesFile {
        default: written.default,
        rule: written.rule,
    };
    Ok(AgentManifest {
        rules: check_rules(
            rules,
            lines,
            &RulesFileSource::new(file, RuleScope::Manifest),
        )?,
        name: written.name.into_inner(),
        description: written.description,
        provider: written.provider,
        model: written.model,
        declares_requirements: declares,
        prompt: written.prompt.map(Spanned::into_inner).unwrap_or_default(),
        tools: written.tools,
        roots,
        requires,
    })
}

/// The further roots of a manifest; each names one folder.
fn check_roots(roots: Vec<Spanned<String>>) -> Result<Vec<String>, RulesFileError> {
    let next =
        "Name the folders that are needed, relative to the workspace or by their whole paths.";
    if let Some(first) = roots.get(ROOTS_MAX) {
        let what = format!("there are more than {ROOTS_MAX} roots");
        return Err(RulesFileError::new(first.span().start, what, next));
    }
    let checked = roots.into_iter().map(|root| {
        let wrong = |what| Err(RulesFileError::new(root.span().start, what, next));
        match root.get_ref().as_str() {
            "" => wrong("a root is empty".to_owned()),
            text if text.len() > PATTERN_BYTES_MAX => {
                wrong(format!("a root is longer than {PATTERN_BYTES_MAX} bytes"))
            }
            text if text.starts_with('~') => wrong(format!(
                "the root `{text}` begins with `~`, which only a shell knows"
            )),
            text if text.chars().any(protocol::text::display_text::is_hidden) => {
                wrong("a root holds what cannot be seen".to_owned())
            }
            text => Ok(text.to_owned()),
        }
    });
    checked.collect()
}

#[cfg(test)]
mod tests {
    use protocol::interface::requirements::{ArgPattern, ShellRunRequirement};

    use super::*;

    const WHOLE: &str = r#"
name = "reviewer"
description = "Reads and says what it thinks."
prompt = "You review."
tools = ["read", "grep"]
default = "ask"

[requires]
fs = { read = ["docs/**"] }
shell = [{ cmd = "git", args = ["log"] }]

[[rule]]
permission = "fs.read"
pattern = "docs/secret/**"
action = "deny"
"#;

    #[test]
    fn a_whole_manifest() {
        let read = parse_manifest(WHOLE, "agent.toml").unwrap();
        assert_eq!(
            (read.name.as_str(), read.prompt.as_str()),
            ("reviewer", "You review.")
        );
        assert_eq!(read.tools, Some(vec!["read".to_owned(), "grep".to_owned()]));
        assert_eq!(read.rules.default, Some(RuleAction::Ask));
        let rule = &read.rules.rules[0].rule;
        assert_eq!(
            (rule.scope, rule.action, rule.line),
            (RuleScope::Manifest, RuleAction::Deny, Some(12))
        );
        let log = ShellRunRequirement {
            cmd: "git".to_owned(),
            args: Some(vec![ArgPattern::Exact("log".to_owned())]),
        };
        let requires = RequirementSet {
            shell: vec![log],
            ..RequirementSet::empty().with_read("docs/**")
        };
        assert_eq!(read.requires, requires);
        let least = super::parse_manifest("name = \"x\"\n", "agent.toml").unwrap();
        assert!(least.requires.is_empty() && least.tools.is_none() && least.rules.rules.is_empty());
    }

    /// `S002-56`: further roots, each of which names a folder.
    #[test]
    fn further_roots_are_declared() {
        let read = |roots: &str| {
            parse_manifest(&format!("name = \"x\"\nroots = [{roots}]\n"), "agent.toml")
        };
        let roots = read("\"../words\", \"/data/more\"").unwrap().roots;
        assert_eq!(roots, ["../words", "/data/more"]);
        for (roots, told) in [
            ("\"\"", "a root is empty"),
            ("\"a\", \"~/b\"", "the root `~/b` begins with `~`"),
            ("\"a\\u202eb\"", "holds what cannot be seen"),
            (&"\"a\",".repeat(ROOTS_MAX + 1), "there are more than"),
            ("7", "invalid type"),
        ] {
            let fault = read(roots).unwrap_err();
            let place = "agent.toml, line 2: ";
            assert!(fault.message.starts_with(place), "{fault}");
            assert!(fault.message.contains(told), "{fault}");
        }
    }

    #[test]
    fn a_manifest_in_markdown_reads_like_one_in_toml() {
        let head = serde_json::json!({
            "requires": { "fs": { "read": ["docs/**"] } },
            "name": "reviewer",
            "tools": ["read", "grep"],
            "model": null,
            "rule": [{ "permission": "fs.read", "pattern": "docs/secret/**", "action": "deny" }],
        });
        let Value::Object(head) = head else {
            unreachable!()
        };
        let (manifest, text) =
            parse_markdown_manifest(head.clone(), "You review.\n", "a.md").unwrap();
        assert!(manifest.declares_requirements && manifest.model.is_none());
        assert_eq!(manifest.rules.rules[0].rule.action, RuleAction::Deny);
        let again = parse_manifest(&text, "a.md").unwrap();
        assert_eq!(
            (again.prompt.as_str(), again.requires),
            ("You review.\n", manifest.requires)
        );
        for (key, told) in [
            ("promt", "the key `promt` is not known here"),
            ("prompt", "the text below"),
        ] {
            let mut head = head.clone();
            head.insert(key.to_owned(), "x".into());
            let fault = parse_markdown_manifest(head, "", "a.md").unwrap_err();
            assert!(
                fault.message.starts_with("a.md, front matter: ") && fault.message.contains(told),
                "{fault}"
            );
        }
    }

    /// `S002-60`: what cannot be understood is told when the manifest is read, with its line and what may be meant.
    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (from, to, line, what) in [
            (
                "prompt =",
                "promt =",
                4,
                "the key `promt` is not known here (did you mean `prompt`?)",
            ),
            ("name = \"reviewer\"", "", 1, "missing field `name`"),
            ("\"reviewer\"", "\" \"", 2, "the name is empty"),
            (
                "\"reviewer\"",
                "\"re\u{202e}v\"",
                2,
                "holds what cannot be seen",
            ),
            (
                "read = [\"docs",
                "reed = [\"docs",
                9,
                "the key `reed` is not known here (did you mean `read`?)",
            ),
            (
                "docs/**\"] }",
                "{workspce}/**\"] }",
                8,
                "`{workspce}`, which is not defined",
            ),
            ("docs/**\"] }", "a/[b\"] }", 8, "is not a glob"),
            ("cmd = \"git\"", "cmd = \"\"", 8, "has no name"),
            (
                "\"deny\"",
                "\"dney\"",
                15,
                "the word `dney` is not known here (did you mean `deny`?)",
            ),
            (
                "permission = \"fs.read\"",
                "permission = \"fs.reed\"",
                13,
                "is not a capability",
            ),
            ("tools = [", "tools = {", 5, ""),
        ] {
            let text = WHOLE.replacen(from, to, 1);
            assert_ne!(text, WHOLE, "{from}");
            let fault = parse_manifest(&text, "agent.toml").unwrap_err();
            let place = format!("agent.toml, line {line}: ");
            assert!(fault.message.starts_with(&place), "{from}: {fault}");
            assert!(fault.message.contains(what), "{from}: {fault}");
            assert!(
                fault.hint.contains("no session of this agent is opened"),
                "{fault}"
            );
        }
    }
}

//! `policy check | explain | lint`: what the rules say of calls that nobody makes.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use agent::DeskConfig;
use agent::trial::{self, Setup, Trial};
use policy::path::Os;
use protocol::{Fault, RuleScope, Trail, Verdict};
use serde_json::{Map, Value, json};

use super::trust;
use crate::args::{Judging, Policy};
use crate::ending::{Code, Ended, Ending};
use crate::limits::LINE_BYTES_MAX;
use crate::out::{Ink, Out};

/// Answers.
pub(crate) fn run(data_dir: Option<PathBuf>, asked: Policy, out: &mut Out) -> Ended {
    match asked {
        Policy::Check(judging) => check(&open(data_dir, judging)?, out),
        Policy::Explain {
            tool,
            arguments,
            judging,
        } => explain(&open(data_dir, judging)?, &tool, &arguments, out),
        Policy::Lint { files } => lint(&files, out),
        // Answered by a desk.
        Policy::Backtest(_) | Policy::Import(_) | Policy::Grants { .. } => Ok(Code::Done),
        Policy::Trust {
            workspace,
            accept,
            revoke,
        } => trust::run(data_dir, &workspace, accept, revoke, out),
    }
}

fn open(data_dir: Option<PathBuf>, judging: Judging) -> Result<Trial, Ending> {
    let rules = judging
        .rules
        .iter()
        .map(|written| scoped(written))
        .collect();
    let os = judging.os.as_deref().and_then(Os::named);
    Trial::open(Setup {
        rules,
        workspace: judging.workspace,
        os: os.unwrap_or(Os::HERE),
        headless: judging.headless,
        only_rules: judging.only_rules,
        agent: judging.agent,
        // Where no folder can be found there are no rules of the person's.
        data_dir: DeskConfig::data_dir(data_dir).ok(),
    })
    .map_err(Ending::unusable)
}

/// `user:file.toml`; the project's where no scope is written.
pub(super) fn scoped(written: &str) -> (RuleScope, PathBuf) {
    let scopes = [
        ("manifest:", RuleScope::Manifest),
        ("user:", RuleScope::User),
        ("project:", RuleScope::Project),
        ("session:", RuleScope::Session),
    ];
    let found = scopes
        .into_iter()
        .find_map(|(start, scope)| Some((scope, PathBuf::from(written.strip_prefix(start)?))));
    found.unwrap_or_else(|| (RuleScope::Project, PathBuf::from(written)))
}

/// Judges line by line. A line that cannot be read is denied and does not stop the rest; the exit code tells of it.
fn check(trial: &Trial, out: &mut Out) -> Ended {
    let mut input = std::io::stdin().lock();
    let mut code = Code::Done;
    let mut number = 0_u64;
    while let Some(line) = next_line(&mut input)? {
        number += 1;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let answer = match judged(trial, &line) {
            Ok((id, trail)) => {
                json!({ "id": id, "verdict": trail.verdict, "trail": trail.steps })
            }
            Err((id, what)) => {
                code = Code::Failed;
                json!({
                    "id": id,
                    "verdict": Verdict::Deny,
                    "trail": [],
                    "error": format!("Line {number}: {what}"),
                })
            }
        };
        out.json(&answer)?;
    }
    Ok(code)
}

/// The next line without its end; at most a little more than is taken, so that no input fills the memory.
fn next_line(input: &mut impl BufRead) -> Result<Option<Vec<u8>>, Ending> {
    let unreadable =
        |error: std::io::Error| Ending::failed("The input cannot be read.").because(&error);
    let mut line = Vec::new();
    let limit = LINE_BYTES_MAX as u64 + 1;
    let read = input
        .by_ref()
        .take(limit)
        .read_until(b'\n', &mut line)
        .map_err(unreadable)?;
    if read == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') && line.len() > LINE_BYTES_MAX {
        input.skip_until(b'\n').map_err(unreadable)?;
    }
    Ok(Some(line))
}

type Bad = (Value, String);

fn judged(trial: &Trial, line: &[u8]) -> Result<(Value, Trail), Bad> {
    let bad = |what: String| (Value::Null, what);
    if line.len() > LINE_BYTES_MAX {
        return Err(bad(format!("it is longer than {LINE_BYTES_MAX} bytes.")));
    }
    let call: Value =
        serde_json::from_slice(line).map_err(|error| bad(format!("it is not JSON: {error}.")))?;
    let Value::Object(call) = call else {
        return Err(bad("it is not an object.".to_owned()));
    };
    let id = call.get("id").cloned().unwrap_or_default();
    let wrong = |what: &str| (id.clone(), what.to_owned());
    let Some(tool) = call.get("tool").and_then(Value::as_str) else {
        return Err(wrong("`tool` is not a text."));
    };
    let nothing = Map::new();
    let arguments = match call.get("args") {
        Some(Value::Object(arguments)) => arguments,
        None | Some(Value::Null) => &nothing,
        Some(_) => return Err(wrong("`args` is not an object.")),
    };
    match trial.weigh(tool, arguments) {
        Ok(trail) => Ok((id, trail)),
        Err(fault) => Err((id, fault.message)),
    }
}

fn explain(trial: &Trial, tool: &str, arguments: &str, out: &mut Out) -> Ended {
    let arguments: Map<String, Value> = serde_json::from_str(arguments).map_err(|error| {
        Ending::usage(Fault::new(
            format!("The arguments are not a JSON object: {error}."),
            r#"Write them like '{"path":"src/main.rs"}'."#,
        ))
    })?;
    let trail = trial.weigh(tool, &arguments).map_err(Ending::usage)?;
    if out.is_json() {
        out.json(&trail)?;
        return Ok(Code::Done);
    }
    let text = crate::story::trail(out, &trail);
    out.text(&text)?;
    Ok(Code::Done)
}

/// Tells all that is wrong. Warnings are no errors.
fn lint(files: &[PathBuf], out: &mut Out) -> Ended {
    let mut code = Code::Done;
    for file in files {
        match trial::lint(file) {
            Ok(warnings) => {
                if !out.is_json() && warnings.is_empty() {
                    let line = format!("{}: nothing is wrong", file.display());
                    let line = out.ink(Ink::Good, &line);
                    out.line(&line)?;
                }
                for warning in warnings {
                    tell(out, file, Some(warning.line), "warning", &warning.text)?;
                }
            }
            Err(fault) => {
                code = Code::Unusable;
                tell(out, file, None, "error", &fault.message)?;
            }
        }
    }
    Ok(code)
}

fn tell(
    out: &mut Out,
    file: &Path,
    line: Option<u32>,
    kind: &str,
    text: &str,
) -> Result<(), Ending> {
    if out.is_json() {
        return out.json(&json!({ "file": file, "line": line, "kind": kind, "text": text }));
    }
    let ink = match kind {
        "error" => Ink::Bad,
        _ => Ink::Warn,
    };
    let place = match line {
        Some(line) => format!("{}, line {line}: ", file.display()),
        None => String::new(),
    };
    let told = format!(
        "{} {}",
        out.ink(ink, kind),
        out.ink(Ink::Plain, &format!("{place}{text}"))
    );
    out.line(&told)
}

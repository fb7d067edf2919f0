//! `policy check | explain | lint`: what the rules say of calls that nobody makes.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use agent::explain::{self, Explained, Explainer, Explanation};
use agent::trial::{self, Setup, Trial};
use agent::{Desk, DeskConfig, Host};
use policy::path::Os;
use protocol::{Fault, RuleScope, Verdict};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::trust;
use crate::args::{Judging, Policy};
use crate::ending::{Code, Ended, Ending};
use crate::limits::LINE_BYTES_MAX;
use crate::out::{Ink, Out};

/// Answers.
pub(crate) async fn run(data_dir: Option<PathBuf>, asked: Policy, out: &mut Out) -> Ended {
    match asked {
        Policy::Check(judging) => check(&Judge::open(data_dir, judging).await?, out).await,
        Policy::Explain {
            tool,
            arguments,
            judging,
        } => {
            let judge = Judge::open(data_dir, judging).await?;
            explain(&judge, &tool, &arguments, out).await
        }
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

/// Who says what would become of a call.
enum Judge {
    /// The pipeline of a desk over the data folder; over an empty one where there is none yet.
    Pipeline {
        explainer: Explainer,
        _desk: Desk,
        _empty: Option<TempDir>,
    },
    /// Rules alone, or names on a system or in a folder that is not here: there is no pipeline to ask.
    Rules(Box<Trial>),
}

impl Judge {
    async fn open(data_dir: Option<PathBuf>, judging: Judging) -> Result<Self, Ending> {
        let rules: Vec<_> = judging
            .rules
            .iter()
            .map(|written| scoped(written))
            .collect();
        let os = judging.os.as_deref().and_then(Os::named);
        let os = os.unwrap_or(Os::HERE);
        // Where no folder can be found there are no rules of the person's.
        let data_dir = DeskConfig::data_dir(data_dir).ok();
        if judging.only_rules || os != Os::HERE || !explain::is_folder(&judging.workspace) {
            let setup = Setup {
                rules,
                workspace: judging.workspace,
                os,
                headless: judging.headless,
                only_rules: judging.only_rules,
                agent: judging.agent,
                data_dir,
            };
            let trial = Trial::open(setup).map_err(Ending::unusable)?;
            return Ok(Self::Rules(Box::new(trial)));
        }
        let (data_dir, empty) = match data_dir.filter(|data_dir| explain::is_folder(data_dir)) {
            Some(data_dir) => (data_dir, None),
            None => {
                let empty = tempfile::tempdir().map_err(|error| {
                    Ending::failed("No temporary folder can be made.").because(&error)
                })?;
                (empty.path().to_owned(), Some(empty))
            }
        };
        let host = match judging.headless {
            true => Host::Headless { approve_all: false },
            false => Host::Person,
        };
        let desk = super::open(super::config(Some(data_dir), host)?).await?;
        let explained = Explained {
            workspace: judging.workspace,
            rules,
            agent: judging.agent,
        };
        let explainer = desk.explainer(explained).map_err(Ending::unusable)?;
        Ok(Self::Pipeline {
            explainer,
            _desk: desk,
            _empty: empty,
        })
    }

    /// What would become of a call.
    async fn explain(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Explanation, Fault> {
        match self {
            Self::Pipeline { explainer, .. } => explainer.explain(tool, arguments).await,
            Self::Rules(trial) => Ok(Explanation {
                trail: trial.weigh(tool, arguments)?,
                fails: None,
            }),
        }
    }
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
async fn check(judge: &Judge, out: &mut Out) -> Ended {
    let mut input = BufReader::new(std::io::stdin());
    let mut code = Code::Done;
    let mut number = 0_u64;
    while let Some(line) = next_line(&mut input)? {
        number += 1;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let answer = match judged(judge, &line).await {
            Ok((id, Explanation { trail, fails })) => {
                let mut answer =
                    json!({ "id": id, "verdict": trail.verdict, "trail": trail.steps });
                if let Some(fails) = fails {
                    answer["fails"] = fails.into();
                }
                answer
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

async fn judged(judge: &Judge, line: &[u8]) -> Result<(Value, Explanation), Bad> {
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
    match judge.explain(tool, arguments).await {
        Ok(explanation) => Ok((id, explanation)),
        Err(fault) => Err((id, fault.message)),
    }
}

async fn explain(judge: &Judge, tool: &str, arguments: &str, out: &mut Out) -> Ended {
    let arguments: Map<String, Value> = serde_json::from_str(arguments).map_err(|error| {
        Ending::usage(Fault::new(
            format!("The arguments are not a JSON object: {error}."),
            r#"Write them like '{"path":"src/main.rs"}'."#,
        ))
    })?;
    let explained = judge.explain(tool, &arguments).await;
    let Explanation { trail, fails } = explained.map_err(Ending::usage)?;
    if out.is_json() {
        out.json(&trail)?;
        return Ok(Code::Done);
    }
    let text = crate::story::trail(out, &trail);
    out.text(&text)?;
    if let Some(fails) = fails {
        let line = format!("The call would fail before it is judged: {fails}");
        let line = out.ink(Ink::Warn, &line);
        out.line(&line)?;
    }
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

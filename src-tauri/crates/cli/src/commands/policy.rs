//! `policy check | explain | lint`: evaluates the rules for calls without making them.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use agent::rulebook::explain::{self, ExplainOptions, Explainer, Explanation};
use agent::rulebook::simulation::{self, PolicySimulation, SimulationOptions};
use agent::{Engine, EngineConfig, Host};
use policy::path::Os;
use protocol::{UserError, Verdict};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::call::parse_arguments;
use super::policy_rules::parse_scoped_file;
use super::{policy_replay, policy_rules, policy_trust};
use crate::args::{EvaluationArgs, PolicyCommand};
use crate::exit::{CliError, CliResult, ExitReason};
use crate::json_lines;
use crate::output::{OutputWriter, TextStyle};

/// Runs the given subcommand.
pub(crate) async fn run_policy(
    data_dir: Option<PathBuf>,
    command: PolicyCommand,
    out: &mut OutputWriter,
) -> CliResult {
    match command {
        PolicyCommand::Check(judging) => {
            check_calls(&Evaluator::open(data_dir, judging).await?, out).await
        }
        PolicyCommand::Explain {
            tool,
            arguments,
            judging,
        } => {
            let judge = Evaluator::open(data_dir, judging).await?;
            explain_call(&judge, &tool, &arguments, out).await
        }
        PolicyCommand::Lint { files } => lint_rules(&files, out),
        PolicyCommand::Backtest(args) => {
            let desk = super::open_readonly_engine(data_dir).await?;
            policy_rules::backtest_rule_change(&desk, args, out).await
        }
        PolicyCommand::Replay(args) => policy_replay::run_replay(data_dir, args, out).await,
        PolicyCommand::Import(args) => policy_rules::import_rules(data_dir, args, out).await,
        PolicyCommand::Grants { asked } => {
            let desk = super::open_readonly_engine(data_dir).await?;
            policy_rules::manage_grants(&desk, asked, out).await
        }
        PolicyCommand::Trust {
            workspace,
            accept,
            revoke,
        } => policy_trust::run_trust(data_dir, &workspace, accept, revoke, out),
    }
}

/// Source of the verdicts on hypothetical calls.
enum Evaluator {
    /// The pipeline of an engine over the data folder; over an empty one if there is none yet.
    Pipeline {
        explainer: Explainer,
        _desk: Engine,
        _empty: Option<TempDir>,
    },
    /// Rules alone, or names on a system or in a folder that is not here: there is no pipeline to ask.
    Rules(Box<PolicySimulation>),
}

impl Evaluator {
    async fn open(data_dir: Option<PathBuf>, judging: EvaluationArgs) -> Result<Self, CliError> {
        let rules: Vec<_> = judging
            .rules
            .iter()
            .map(|written| parse_scoped_file(written))
            .collect();
        let os = judging.os.as_deref().and_then(Os::from_name);
        let os = os.unwrap_or(Os::CURRENT);
        // Where no folder can be found there are no rules of the person's.
        let data_dir = EngineConfig::resolve_data_dir(data_dir).ok();
        if judging.only_rules || os != Os::CURRENT || !explain::is_folder(&judging.workspace) {
            let setup = SimulationOptions {
                rules,
                workspace: judging.workspace,
                os,
                headless: judging.headless,
                only_rules: judging.only_rules,
                agent: judging.agent,
                data_dir,
            };
            let trial = PolicySimulation::open(setup).map_err(CliError::config_error)?;
            return Ok(Self::Rules(Box::new(trial)));
        }
        let (data_dir, empty) = match data_dir.filter(|data_dir| explain::is_folder(data_dir)) {
            Some(data_dir) => (data_dir, None),
            None => {
                let empty = tempfile::tempdir().map_err(|error| {
                    CliError::failure("No temporary folder can be made.").with_cause(&error)
                })?;
                (empty.path().to_owned(), Some(empty))
            }
        };
        let host = match judging.headless {
            true => Host::Headless { approve_all: false },
            false => Host::Person,
        };
        let desk = super::open_engine(super::engine_config(Some(data_dir), host)?).await?;
        let explained = ExplainOptions {
            workspace: judging.workspace,
            rules,
            agent: judging.agent,
        };
        let explainer = desk
            .open_explainer(explained)
            .map_err(CliError::config_error)?;
        Ok(Self::Pipeline {
            explainer,
            _desk: desk,
            _empty: empty,
        })
    }

    /// Returns the verdict that a call would get.
    async fn explain(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Explanation, UserError> {
        match self {
            Self::Pipeline { explainer, .. } => explainer.explain(tool, arguments).await,
            Self::Rules(trial) => Ok(Explanation {
                trail: trial.simulate(tool, arguments)?,
                failure: None,
            }),
        }
    }
}

/// Judges calls line by line. A line that cannot be parsed is denied and does not stop the rest; the exit code reports
/// it.
async fn check_calls(judge: &Evaluator, out: &mut OutputWriter) -> CliResult {
    let mut input = BufReader::new(std::io::stdin());
    let mut code = ExitReason::Done;
    let mut number = 0_u64;
    while let Some(line) = json_lines::read_next_line(&mut input)? {
        number += 1;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let answer = match evaluate_line(judge, &line).await {
            Ok((id, Explanation { trail, failure })) => {
                let mut answer =
                    json!({ "id": id, "verdict": trail.verdict, "trail": trail.steps });
                if let Some(failure) = failure {
                    answer["fails"] = failure.into();
                }
                answer
            }
            Err((id, what)) => {
                code = ExitReason::Failed;
                json!({
                    "id": id,
                    "verdict": Verdict::Deny,
                    "trail": [],
                    "error": format!("Line {number}: {what}"),
                })
            }
        };
        out.write_json(&answer)?;
    }
    Ok(code)
}

type InvalidLine = (Value, String);

async fn evaluate_line(
    judge: &Evaluator,
    line: &[u8],
) -> Result<(Value, Explanation), InvalidLine> {
    let call = json_lines::parse_object(line).map_err(|what| (Value::Null, what))?;
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

async fn explain_call(
    judge: &Evaluator,
    tool: &str,
    arguments: &str,
    out: &mut OutputWriter,
) -> CliResult {
    let explained = judge.explain(tool, &parse_arguments(arguments)?).await;
    let Explanation { trail, failure } = explained.map_err(CliError::usage_error)?;
    out.write_answer(&trail, |out| {
        let text = crate::transcript::format_trail(out, &trail);
        out.write_text(&text)?;
        failure.iter().try_for_each(|failure| {
            let line = format!("The call would fail before it is judged: {failure}");
            out.write_styled(TextStyle::Warn, &line)
        })
    })
}

/// Reports all problems of rules files. Warnings are no errors.
fn lint_rules(files: &[PathBuf], out: &mut OutputWriter) -> CliResult {
    let mut code = ExitReason::Done;
    for file in files {
        match simulation::lint_rules(file) {
            Ok(warnings) => {
                if !out.is_json() && warnings.is_empty() {
                    let line = format!("{}: nothing is wrong", file.display());
                    out.write_styled(TextStyle::Good, &line)?;
                }
                for warning in warnings {
                    print_problems(out, file, Some(warning.line), "warning", &warning.text)?;
                }
            }
            Err(fault) => {
                code = ExitReason::Unusable;
                print_problems(out, file, None, "error", &fault.message)?;
            }
        }
    }
    Ok(code)
}

fn print_problems(
    out: &mut OutputWriter,
    file: &Path,
    line: Option<u32>,
    kind: &str,
    text: &str,
) -> Result<(), CliError> {
    if out.is_json() {
        return out.write_json(&json!({ "file": file, "line": line, "kind": kind, "text": text }));
    }
    let ink = match kind {
        "error" => TextStyle::Bad,
        _ => TextStyle::Warn,
    };
    let place = match line {
        Some(line) => format!("{}, line {line}: ", file.display()),
        None => String::new(),
    };
    let kind = out.apply_style(ink, kind);
    let text = out.apply_style(TextStyle::Plain, &format!("{place}{text}"));
    out.write_line(&format!("{kind} {text}"))
}

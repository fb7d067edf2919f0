//! `policy backtest | import | grants`: tests rules against the record, imports them from other products, and manages
//! those granted on cards.

use std::path::PathBuf;

use agent::Engine;
use agent::rulebook::simulation;
use agent::rulebook::{RulebookScope, imports};
use policy::import::ConfigOwner;
use policy::rules_file::format_rule;
use protocol::query::{Answer, Query};
use protocol::rule::backtest::{Backtest, RecordedDecision, RuleChange};
use protocol::rule::grants::{GrantScope, GrantView};
use protocol::rule::import::{ImportSource, RuleImportProduct};
use protocol::rule::rules_view::NewRule;
use protocol::{Op, RuleAction, RuleScope, Verdict};

use super::{absolute_workspace, open_readonly_engine};
use crate::args;
use crate::exit::{CliError, CliResult, ExitReason};
use crate::output::{OutputWriter, TextStyle, escape_hidden};
use crate::short_ids::ShortIds;
use crate::transcript::verdict_name;

/// Tests a rule change against the record.
pub(crate) async fn backtest_rule_change(
    desk: &Engine,
    args: args::BacktestArgs,
    out: &mut OutputWriter,
) -> CliResult {
    let change = parse_rule_change(&args.change)?;
    let workspace = match args.everywhere {
        true => None,
        false => Some(absolute_workspace(&args.workspace)?),
    };
    let query = Query::Backtest {
        workspace,
        change,
        calls_max: args.calls,
    };
    let Answer::Backtest(tested) = desk.query(query).await.map_err(CliError::usage_error)? else {
        return Ok(ExitReason::Failed);
    };
    out.write_answer(&tested, |out| print_backtest(&tested, out))
}

/// Parses `user:file.toml`; without a scope, the project's is assumed.
pub(super) fn parse_scoped_file(text: &str) -> (RuleScope, PathBuf) {
    let scopes = [
        ("manifest:", RuleScope::Manifest),
        ("user:", RuleScope::User),
        ("project:", RuleScope::Project),
        ("session:", RuleScope::Session),
    ];
    let found = scopes
        .into_iter()
        .find_map(|(start, scope)| Some((scope, PathBuf::from(text.strip_prefix(start)?))));
    found.unwrap_or_else(|| (RuleScope::Project, PathBuf::from(text)))
}

fn parse_rule_change(args: &args::RuleChangeArgs) -> Result<RuleChange, CliError> {
    if let Some(written) = &args.rules {
        let (scope, file) = parse_scoped_file(written);
        let text = simulation::rules_text(&file).map_err(CliError::usage_error)?;
        return Ok(RuleChange::Replace { scope, text });
    }
    let written = args.rule.as_deref().unwrap_or_default().trim();
    let mut words = written.splitn(3, char::is_whitespace);
    let action = match words.next() {
        Some("allow") => RuleAction::Allow,
        Some("ask") => RuleAction::Ask,
        Some("deny") => RuleAction::Deny,
        _ => {
            return Err(CliError::usage(
                "A rule begins with allow, ask or deny.",
                "Write it like `allow bash cargo test*`.",
            ));
        }
    };
    Ok(RuleChange::Add {
        rule: NewRule {
            permission: words.next().unwrap_or_default().to_owned(),
            pattern: words.next().map(|pattern| pattern.trim().to_owned()),
            action,
            ..NewRule::default()
        },
        scope: RuleScope::User,
    })
}

fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allowed",
        Verdict::Ask => "asked about",
        Verdict::Deny => "denied",
    }
}

fn print_backtest(tested: &Backtest, out: &mut OutputWriter) -> Result<(), CliError> {
    let ms = tested.took_us / 1_000;
    out.write_line(&format!("{} recorded calls in {ms} ms", tested.calls))?;
    if tested.changed.is_empty() {
        out.write_line("Nothing would change.")?;
    }
    for group in &tested.changed {
        let summary = format!(
            "{} would be {} instead of {}; you allowed {} of them and rejected {}",
            group.calls,
            verdict_word(group.to),
            verdict_word(group.from),
            group.by_person_allowed,
            group.by_person_rejected
        );
        let ink = match group.by_person_rejected {
            0 => TextStyle::Plain,
            _ => TextStyle::Warn,
        };
        out.write_styled(ink, &summary)?;
    }
    for call in &tested.examples {
        let decision = match call.person {
            Some(RecordedDecision::Rejected) => "rejected",
            Some(RecordedDecision::Allowed) => "allowed",
            None => "not asked",
        };
        let target = escape_hidden(&call.target);
        out.write_line(&format!("  {decision:9} {} {target}", call.tool))?;
    }
    for unclear in &tested.unclear {
        let summary = format!(
            "{} cannot be judged again: {}",
            unclear.calls, unclear.reason
        );
        out.write_styled(TextStyle::Warn, &summary)?;
    }
    Ok(())
}

/// Shows the permissions of other products as rules; writes them only on request.
pub(crate) async fn import_rules(
    data_dir: Option<PathBuf>,
    args: args::ImportRulesArgs,
    out: &mut OutputWriter,
) -> CliResult {
    let workspace = absolute_workspace(&args.workspace)?;
    let place = RulebookScope::from_folder(Some(&workspace)).map_err(CliError::usage_error)?;
    let product = args.from.as_deref().map(|name| match name {
        "claude-code" => RuleImportProduct::ClaudeCode,
        "opencode" => RuleImportProduct::Opencode,
        _ => RuleImportProduct::Codex,
    });
    let sources = match (product, &args.file) {
        (Some(product), Some(file)) => {
            let file = super::absolute_path("file", file)?;
            let whose = match file.starts_with(&workspace) {
                true => ConfigOwner::Project,
                false => ConfigOwner::Person,
            };
            vec![imports::source_from_file(product, &file, whose)]
        }
        _ => {
            let mut sources = imports::found(&place);
            sources.retain(|one| product.is_none_or(|product| one.product == product));
            sources
        }
    };
    out.write_answer(&sources, |out| print_import(&sources, out))?;
    if let Some(scope) = args.write {
        let rules = sources.iter().flat_map(|one| &one.suggestions);
        let rules = rules.filter_map(|one| one.rule.clone()).collect();
        let (scope, workspace) = match scope.as_str() {
            "user" => (RuleScope::User, None),
            _ => (RuleScope::Project, Some(workspace)),
        };
        let add = Op::AddRules {
            scope,
            workspace,
            rules,
        };
        open_readonly_engine(data_dir).await?.submit(add).await?;
    }
    Ok(match sources.iter().any(|one| one.fault.is_some()) {
        true => ExitReason::Unusable,
        false => ExitReason::Done,
    })
}

/// Prints an import as the text of a rules file: a permission that is not imported becomes a comment with the reason.
fn print_import(sources: &[ImportSource], out: &mut OutputWriter) -> Result<(), CliError> {
    if sources.is_empty() {
        return out.write_line("# No permissions of other products were found.");
    }
    for source in sources {
        out.write_line(&format!("# {}", escape_hidden(&source.file)))?;
        if let Some(fault) = &source.fault {
            out.write_line(&format!(
                "# {} {}",
                escape_hidden(&fault.message),
                escape_hidden(&fault.hint)
            ))?;
        }
        for suggestion in &source.suggestions {
            let line = match suggestion.line {
                Some(line) => format!("line {line}: "),
                None => String::new(),
            };
            out.write_line(&format!("\n# {line}{}", escape_hidden(&suggestion.written)))?;
            if !suggestion.note.is_empty() {
                out.write_line(&format!("# {}", escape_hidden(&suggestion.note)))?;
            }
            match &suggestion.rule {
                Some(rule) => out.write_line(format_rule(rule).trim_end())?,
                None => out.write_line("# not taken")?,
            }
        }
        out.write_line("")?;
    }
    Ok(())
}

/// Lists the grants, or revokes one.
pub(crate) async fn manage_grants(
    desk: &Engine,
    command: Option<args::GrantsCommand>,
    out: &mut OutputWriter,
) -> CliResult {
    let mut grants = load_grants(desk).await?;
    if let Some(args::GrantsCommand::Revoke { id }) = command {
        let ids = ShortIds {
            thing: "grant",
            hint: "Look at the list: countersign policy grants.",
            all: grants.iter().map(|grant| grant.id.as_str()).collect(),
        };
        let grant = grants[ids.find(&id)?].id.clone();
        desk.submit(Op::RevokeGrant { grant })
            .await
            .map_err(CliError::usage_error)?;
        grants = load_grants(desk).await?;
    }
    out.write_answer(&grants, |out| {
        if grants.is_empty() {
            out.write_line("Nothing was granted on a card.")?;
        }
        grants.iter().try_for_each(|grant| {
            let ink = match grant.in_force {
                true => TextStyle::Plain,
                false => TextStyle::Faint,
            };
            out.write_styled(ink, &format_grant(grant))
        })
    })
}

/// Loads every grant, the newest first.
async fn load_grants(desk: &Engine) -> Result<Vec<GrantView>, CliError> {
    let query = Query::Rules {
        workspace: None,
        session: None,
    };
    match desk.query(query).await? {
        Answer::Rules(view) => Ok(view.grants),
        _ => Err(CliError::unexpected_answer()),
    }
}

fn format_grant(grant: &GrantView) -> String {
    let action = verdict_name(Verdict::from(grant.rule.action));
    let lasts = match grant.lasts {
        GrantScope::Session => "session",
        GrantScope::Project => "project",
        GrantScope::Everywhere => "everywhere",
    };
    let state = match (grant.revoked.is_some(), grant.in_force) {
        (true, _) => ", revoked",
        (false, false) => ", over",
        (false, true) => "",
    };
    let place = match &grant.workspace {
        Some(workspace) => format!(", {}", escape_hidden(workspace)),
        None => String::new(),
    };
    format!(
        "{} {action} {} ({lasts}{place}{state}), {} hits, on card {} of {}",
        grant.id,
        escape_hidden(&grant.words),
        grant.hits,
        grant.made_by.call,
        grant.made_by.session
    )
}

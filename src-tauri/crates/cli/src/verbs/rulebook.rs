//! `policy backtest | import | grants`: rules held against the record, taken from other products, and made on cards.

use std::path::{Path, PathBuf};

use agent::Desk;
use agent::rulebook::{Place, imports};
use agent::trial;
use policy::import::Whose;
use policy::rules_file::text_of;
use protocol::backtest::{Backtest, PersonSaid, RuleChange};
use protocol::import::{ImportSource, Product};
use protocol::ledger::{GrantScope, GrantView};
use protocol::query::{Answer, Query};
use protocol::rules_view::NewRule;
use protocol::{Action, Fault, Op, RuleScope, Verdict};

use super::{look, policy::scoped};
use crate::args;
use crate::ending::{Code, Ended, Ending};
use crate::ids::Ids;
use crate::out::{Ink, Out, named};

/// Holds a change against the record.
pub(crate) async fn backtest(desk: &Desk, asked: args::Backtest, out: &mut Out) -> Ended {
    let change = change(&asked.change)?;
    let workspace = match asked.everywhere {
        true => None,
        false => Some(folder(&asked.workspace)?),
    };
    let query = Query::Backtest {
        workspace,
        change,
        calls_max: asked.calls,
    };
    let Answer::Backtest(tested) = desk.query(query).await.map_err(Ending::usage)? else {
        return Ok(Code::Failed);
    };
    match out.is_json() {
        true => out.json(&tested)?,
        false => tell(&tested, out)?,
    }
    Ok(Code::Done)
}

fn change(asked: &args::Change) -> Result<RuleChange, Ending> {
    if let Some(written) = &asked.rules {
        let (scope, file) = scoped(written);
        let text = trial::rules_text(&file).map_err(Ending::usage)?;
        return Ok(RuleChange::Replace { scope, text });
    }
    let written = asked.rule.as_deref().unwrap_or_default().trim();
    let mut words = written.splitn(3, char::is_whitespace);
    let action = match words.next() {
        Some("allow") => Action::Allow,
        Some("ask") => Action::Ask,
        Some("deny") => Action::Deny,
        _ => {
            return Err(Ending::usage(Fault::new(
                "A rule begins with allow, ask or deny.",
                "Write it like `allow bash cargo test*`.",
            )));
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

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allowed",
        Verdict::Ask => "asked about",
        Verdict::Deny => "denied",
    }
}

fn tell(tested: &Backtest, out: &mut Out) -> Result<(), Ending> {
    let ms = tested.took_us / 1_000;
    out.line(&format!("{} recorded calls in {ms} ms", tested.calls))?;
    if tested.changed.is_empty() {
        out.line("Nothing would change.")?;
    }
    for group in &tested.changed {
        let told = format!(
            "{} would be {} instead of {}; you allowed {} of them and rejected {}",
            group.calls,
            word(group.to),
            word(group.from),
            group.by_person_allowed,
            group.by_person_rejected
        );
        let ink = match group.by_person_rejected {
            0 => Ink::Plain,
            _ => Ink::Warn,
        };
        let told = out.ink(ink, &told);
        out.line(&told)?;
    }
    for call in &tested.examples {
        let said = match call.person {
            Some(PersonSaid::Rejected) => "rejected",
            Some(PersonSaid::Allowed) => "allowed",
            None => "not asked",
        };
        let target = named(&call.target);
        out.line(&format!("  {said:9} {} {target}", call.tool))?;
    }
    for unclear in &tested.unclear {
        let told = format!(
            "{} cannot be judged again: {}",
            unclear.calls, unclear.reason
        );
        let told = out.ink(Ink::Warn, &told);
        out.line(&told)?;
    }
    Ok(())
}

/// Shows what other products permit as rules; writes only where it is told to.
pub(crate) async fn import(data_dir: Option<PathBuf>, asked: args::Import, out: &mut Out) -> Ended {
    let workspace = folder(&asked.workspace)?;
    let place = Place::of(Some(&workspace)).map_err(Ending::usage)?;
    let product = asked.from.as_deref().map(|name| match name {
        "claude-code" => Product::ClaudeCode,
        "opencode" => Product::Opencode,
        _ => Product::Codex,
    });
    let found = match (product, &asked.file) {
        (Some(product), Some(file)) => {
            let file = PathBuf::from(folder(file)?);
            let whose = match file.starts_with(&workspace) {
                true => Whose::Project,
                false => Whose::Person,
            };
            vec![imports::of_file(product, &file, whose)]
        }
        _ => {
            let mut found = imports::found(&place);
            found.retain(|one| product.is_none_or(|product| one.product == product));
            found
        }
    };
    match out.is_json() {
        true => out.json(&found)?,
        false => show(&found, out)?,
    }
    if let Some(scope) = asked.write {
        let rules = found.iter().flat_map(|one| &one.suggestions);
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
        look(data_dir).await?.submit(add).await?;
    }
    Ok(match found.iter().any(|one| one.fault.is_some()) {
        true => Code::Unusable,
        false => Code::Done,
    })
}

/// As the text of a rules file: what is not taken stands there as a comment, with the reason.
fn show(found: &[ImportSource], out: &mut Out) -> Result<(), Ending> {
    if found.is_empty() {
        return out.line("# No permissions of other products were found.");
    }
    for source in found {
        out.line(&format!("# {}", named(&source.file)))?;
        if let Some(fault) = &source.fault {
            out.line(&format!(
                "# {} {}",
                named(&fault.message),
                named(&fault.hint)
            ))?;
        }
        for suggestion in &source.suggestions {
            let line = match suggestion.line {
                Some(line) => format!("line {line}: "),
                None => String::new(),
            };
            out.line(&format!("\n# {line}{}", named(&suggestion.written)))?;
            if !suggestion.note.is_empty() {
                out.line(&format!("# {}", named(&suggestion.note)))?;
            }
            match &suggestion.rule {
                Some(rule) => out.line(text_of(rule).trim_end())?,
                None => out.line("# not taken")?,
            }
        }
        out.line("")?;
    }
    Ok(())
}

/// Lists the grants, or takes one back.
pub(crate) async fn grants(desk: &Desk, asked: Option<args::Grants>, out: &mut Out) -> Ended {
    let mut grants = granted(desk).await?;
    if let Some(args::Grants::Revoke { id }) = asked {
        let ids = Ids {
            thing: "grant",
            hint: "Look at the list: countersign policy grants.",
            all: grants.iter().map(|grant| grant.id.as_str()).collect(),
        };
        let grant = grants[ids.find(&id)?].id.clone();
        desk.submit(Op::RevokeGrant { grant })
            .await
            .map_err(Ending::usage)?;
        grants = granted(desk).await?;
    }
    if out.is_json() {
        out.json(&grants)?;
        return Ok(Code::Done);
    }
    if grants.is_empty() {
        out.line("Nothing was granted on a card.")?;
    }
    for grant in &grants {
        let line = listed(grant);
        let ink = match grant.in_force {
            true => Ink::Plain,
            false => Ink::Faint,
        };
        let line = out.ink(ink, &line);
        out.line(&line)?;
    }
    Ok(Code::Done)
}

/// Every grant, the newest first.
async fn granted(desk: &Desk) -> Result<Vec<GrantView>, Ending> {
    let query = Query::Rules {
        workspace: None,
        session: None,
    };
    super::ask(desk, query, |answer| match answer {
        Answer::Rules(view) => Some(view.grants),
        _ => None,
    })
    .await
}

fn listed(grant: &GrantView) -> String {
    let action = match grant.rule.action {
        Action::Allow => "allow",
        Action::Ask => "ask",
        Action::Deny => "deny",
    };
    let lasts = match grant.lasts {
        GrantScope::Session => "session",
        GrantScope::Project => "project",
        GrantScope::Everywhere => "everywhere",
    };
    let state = match (grant.revoked.is_some(), grant.in_force) {
        (true, _) => ", taken back",
        (false, false) => ", over",
        (false, true) => "",
    };
    let place = match &grant.workspace {
        Some(workspace) => format!(", {}", named(workspace)),
        None => String::new(),
    };
    format!(
        "{} {action} {} ({lasts}{place}{state}), {} hits, on card {} of {}",
        grant.id,
        named(&grant.words),
        grant.hits,
        grant.made_by.call,
        grant.made_by.session
    )
}

/// A path from the root on, as the desk wants it.
fn folder(path: &Path) -> Result<String, Ending> {
    let real = std::path::absolute(path).map_err(|error| {
        let message = format!("There is no {}.", path.display());
        Ending::usage(Fault::new(message, "Check the path.")).because(&error)
    })?;
    Ok(real.display().to_string())
}

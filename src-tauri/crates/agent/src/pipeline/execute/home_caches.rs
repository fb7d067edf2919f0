//! The caches of the home folder whose changes rules keep (M28): found before a dry run, and committed with its effects.

use policy::{Approved, CallFacts};
use protocol::{ResolvedAccess, UserError};
use runtime::{CacheUse, History, KeptCache, UndoEntryMeta, Workspace, list_home_caches};

use crate::pipeline::dry_run::plan_effects;
use crate::pipeline::execute::internal_error;
use crate::pipeline::snapshot::entry_meta;
use crate::session::Session;

/// Finds the caches of the programs that the commands of a call run, if they run nothing else. A replay has none.
pub(crate) fn find_caches(session: &Session, facts: &CallFacts) -> Vec<CacheUse> {
    if session.engine.config.contained {
        return Vec::new();
    }
    let (rules, now) = (session.rules(), session.engine.now());
    let caches = list_home_caches().iter();
    let used = caches.filter(|cache| runs_only(facts, &cache.programs));
    used.map(|cache| CacheUse {
        folder: cache.folder.clone(),
        is_kept: rules.keeps_cache(&cache.folder, now),
    })
    .collect()
}

/// Whether the commands of a call run these programs alone, for certain.
fn runs_only(facts: &CallFacts, programs: &[String]) -> bool {
    let is_known = |words: &Vec<String>| {
        let program = words.first();
        program.is_some_and(|program| program == "cd" || programs.contains(program))
    };
    let mut commands = facts.commands().peekable();
    commands.peek().is_some()
        && commands.all(|(_, read)| read.plain().is_some_and(|all| all.iter().all(is_known)))
}

/// Commits what a call changed in caches, each with copies for undo; returns a sentence on each of which nothing is kept.
pub(crate) async fn commit_caches(
    session: &Session,
    approved: &Approved,
    kept: &[KeptCache],
) -> Vec<String> {
    let mut failed = Vec::new();
    for one in kept {
        if let Err(why) = commit_cache(session, approved, one).await {
            failed.push(format!("What it wrote in {} is not kept: {why}", one.cache));
        }
    }
    failed
}

async fn commit_cache(
    session: &Session,
    approved: &Approved,
    kept: &KeptCache,
) -> Result<(), String> {
    let (rules, now) = (session.rules(), session.engine.now());
    let changed = outside_accesses(kept);
    if let Some(fact) = changed
        .iter()
        .find(|fact| rules.restricts_change(approved.tool(), fact, now))
    {
        return Err(format!("a rule restricts changing {}.", fact.real));
    }
    let meta = entry_meta(session, approved.call(), &format!("Kept in {}", kept.cache));
    let (history, kept) = (session.engine.history.clone(), kept.clone());
    let committed = tokio::task::spawn_blocking(move || apply_plan(&history, &kept, meta)).await;
    match committed {
        Ok(Ok(())) => Ok(()),
        Ok(Err(fault)) => Err(fault.message),
        Err(_) => Err(internal_error().to_string()),
    }
}

/// Returns the changes in a cache as rules see them, outside the workspace.
fn outside_accesses(kept: &KeptCache) -> Vec<ResolvedAccess> {
    let accesses = plan_effects(&kept.plan).into_iter();
    let outside = accesses.map(|fact| ResolvedAccess {
        real: kept.folder.join(&fact.real).to_string_lossy().into_owned(),
        inside: false,
        ..fact
    });
    outside.collect()
}

fn apply_plan(history: &History, kept: &KeptCache, meta: UndoEntryMeta) -> Result<(), UserError> {
    let id = meta.id.clone();
    let folder = Workspace::open(&kept.folder)?;
    history.prepare_entry(&folder, &kept.plan, meta)?;
    let folder = folder.restricted_to(&plan_effects(&kept.plan));
    match history.apply_plan(&folder, &kept.plan) {
        Ok(()) => Ok(history.mark_applied(&id)?),
        Err(error) => {
            history.settle_failed(&id)?;
            Err(error.into())
        }
    }
}

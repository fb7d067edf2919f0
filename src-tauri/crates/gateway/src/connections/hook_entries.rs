//! The hooks of an agent's configuration: those that belong there, and ours among those that stand there.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::agents::ConnectableAgent;
use super::hook_command::{HookTarget, fill_template, format_hook_command, parse_hook_command};

/// Name of the part of a configuration that holds the hooks, and of the list in an entry.
pub(super) const HOOKS: &str = "hooks";

/// One step from a value to a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathStep {
    /// The member of an object with this name.
    Key(String),
    /// The item of a list at this place.
    Index(usize),
}

/// Our hooks in a configuration.
#[derive(Debug, Default, PartialEq)]
pub(super) struct OwnHooks {
    /// The entries with one of ours in them, by their event.
    pub(super) entries: Vec<(String, Value)>,
    /// What they call.
    pub(super) targets: BTreeSet<HookTarget>,
}

/// Returns the entries that belong into an agent's configuration, by their event; `None` if the program's path cannot
/// stand in a command.
pub(super) fn entries_for(
    agent: &ConnectableAgent,
    target: &HookTarget,
) -> Option<Map<String, Value>> {
    let mut entries = agent.hooks.clone();
    for entry in entries.values_mut() {
        fill_commands(entry, &|template| {
            format_hook_command(template, target, &agent.id)
        })?;
    }
    Some(entries)
}

/// Returns the entries for a session of ours: their hook is called with these words, and the agent waits so long for it,
/// in seconds. `None` if the words cannot stand in a command.
pub(super) fn session_entries(
    agent: &ConnectableAgent,
    hook: &[&str],
    wait: u64,
) -> Option<Map<String, Value>> {
    let mut entries = agent.hooks.clone();
    for entry in entries.values_mut() {
        fill_commands(entry, &|template| fill_template(template, hook))?;
        set_timeouts(entry, wait);
    }
    Some(entries)
}

/// Sets the time limits of the hooks in an entry.
fn set_timeouts(entry: &mut Value, wait: u64) {
    if let Some(timeout) = entry.get_mut("timeout") {
        *timeout = wait.into();
    }
    let listed = entry.get_mut(HOOKS).and_then(Value::as_array_mut);
    for hook in listed.into_iter().flatten() {
        set_timeouts(hook, wait);
    }
}

/// Replaces the commands in an entry; `None` if one of them cannot be replaced.
fn fill_commands(entry: &mut Value, fill: &impl Fn(&str) -> Option<String>) -> Option<()> {
    if let Some(Value::String(command)) = entry.get_mut("command") {
        *command = fill(command)?;
    }
    let listed = entry.get_mut(HOOKS).and_then(Value::as_array_mut);
    let mut listed = listed.into_iter().flatten();
    listed.try_for_each(|hook| fill_commands(hook, fill))
}

/// Returns what a hook calls if it is ours.
fn own_target(hook: &Value, agent: &ConnectableAgent) -> Option<HookTarget> {
    parse_hook_command(hook.get("command")?.as_str()?, &agent.id)
}

/// Returns the hooks in the list of an entry.
fn listed_hooks(entry: &Value) -> &[Value] {
    let list = entry.get(HOOKS).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// Returns our hooks in a configuration.
pub(super) fn find_own_hooks(config: &Value, agent: &ConnectableAgent) -> OwnHooks {
    let mut own = OwnHooks::default();
    for (event, entry) in
        events_of(config).flat_map(|(event, list)| list.iter().map(move |entry| (event, entry)))
    {
        let hooks = std::iter::once(entry).chain(listed_hooks(entry));
        let targets: Vec<HookTarget> = hooks.filter_map(|hook| own_target(hook, agent)).collect();
        if !targets.is_empty() {
            own.entries.push((event.clone(), entry.clone()));
            own.targets.extend(targets);
        }
    }
    own
}

/// Returns the command of our first hook for an event, if there is one.
pub(super) fn find_own_command(
    config: &Value,
    agent: &ConnectableAgent,
    event: &str,
) -> Option<String> {
    let (_, list) = events_of(config).find(|(name, _)| *name == event)?;
    let mut hooks = list
        .iter()
        .flat_map(|entry| std::iter::once(entry).chain(listed_hooks(entry)));
    let own = hooks.find(|hook| own_target(hook, agent).is_some())?;
    Some(own.get("command")?.as_str()?.to_owned())
}

fn events_of(config: &Value) -> impl Iterator<Item = (&String, &Vec<Value>)> {
    let events = config
        .get(HOOKS)
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    events.filter_map(|(event, list)| Some((event, list.as_array()?)))
}

/// Returns the paths of the parts that go with our hooks, so that each can be removed after the one before: entries,
/// lists, and the part with the hooks where nothing else is in them, unless `before`, the configuration as it was, had
/// them.
pub(super) fn paths_of_own_hooks(
    config: &Value,
    before: Option<&Value>,
    agent: &ConnectableAgent,
) -> Vec<Vec<PathStep>> {
    let had = |pointer: &str| before.is_some_and(|before| before.pointer(pointer).is_some());
    let root = PathStep::Key(HOOKS.to_owned());
    let mut paths = Vec::new();
    let mut is_emptied = true;
    for (event, list) in events_of(config) {
        let event_path = [root.clone(), PathStep::Key(event.clone())];
        let own: Vec<Vec<PathStep>> = list
            .iter()
            .enumerate()
            .flat_map(|(index, entry)| own_paths_in_entry(index, entry, agent))
            .collect();
        let is_whole =
            !own.is_empty() && own.len() == list.len() && own.iter().all(|path| path.len() == 1);
        if is_whole && !had(&format!("/{HOOKS}/{event}")) {
            paths.push(event_path.to_vec());
            continue;
        }
        is_emptied = false;
        paths.extend(
            own.into_iter()
                .map(|path| [&event_path[..], &path].concat()),
        );
    }
    let events_total = config
        .get(HOOKS)
        .and_then(Value::as_object)
        .map_or(0, Map::len);
    if is_emptied && events_total > 0 && paths.len() == events_total && !had(&format!("/{HOOKS}")) {
        return vec![vec![root]];
    }
    paths.reverse();
    paths
}

/// Returns the paths, from a list of entries on, of what is ours in one of them: all of it, or hooks in its list.
fn own_paths_in_entry(index: usize, entry: &Value, agent: &ConnectableAgent) -> Vec<Vec<PathStep>> {
    let is_own = |hook: &Value| own_target(hook, agent).is_some();
    let listed = listed_hooks(entry);
    let own: Vec<usize> = (0..listed.len())
        .filter(|at| is_own(&listed[*at]))
        .collect();
    let whole = PathStep::Index(index);
    if is_own(entry) || (!own.is_empty() && own.len() == listed.len()) {
        return vec![vec![whole]];
    }
    let parts = own.into_iter().map(|at| {
        vec![
            whole.clone(),
            PathStep::Key(HOOKS.to_owned()),
            PathStep::Index(at),
        ]
    });
    parts.collect()
}

/// Removes the part of a value at a path.
pub(super) fn remove_value(value: &mut Value, path: &[PathStep]) {
    let Some((last, above)) = path.split_last() else {
        return;
    };
    let mut parent = Some(value);
    for step in above {
        parent = parent.and_then(|value| match step {
            PathStep::Key(name) => value.get_mut(name),
            PathStep::Index(index) => value.get_mut(index),
        });
    }
    match (parent, last) {
        (Some(Value::Object(members)), PathStep::Key(name)) => {
            members.shift_remove(name);
        }
        (Some(Value::Array(items)), PathStep::Index(index)) if *index < items.len() => {
            items.remove(*index);
        }
        _ => {}
    }
}

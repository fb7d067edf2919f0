//! Which permissions would not be held back here by what holds them back where they come from.

use protocol::Action;

use super::{Form, Reading, Said, Wins};
use crate::pattern::literal_prefix_chars;

/// For each permission the first stricter one that wins there and would not win here; none: it can be taken.
pub(super) fn shadows(all: &[Said], wins: Wins) -> Vec<Option<String>> {
    let mut shadows = vec![None; all.len()];
    // From the strictest on: what is not taken holds back nothing here, so nothing laxer may count on it.
    for action in [Action::Ask, Action::Allow] {
        for (at, said) in all.iter().enumerate() {
            if said.action == action {
                shadows[at] = shadow(all, at, wins, &shadows);
            }
        }
    }
    shadows
}

fn shadow(all: &[Said], at: usize, wins: Wins, shadows: &[Option<String>]) -> Option<String> {
    let said = &all[at];
    let Reading::Rule { rule, .. } = &said.reading else {
        return None;
    };
    let holds_back = |(other, one): &(usize, &Said)| {
        // What comes before is overruled there; but not by a pattern that grew wider on its way here.
        let counts = *other > at || wins == Wins::Strictest || said.action != Action::Allow;
        counts
            && strictness(one.action) > strictness(said.action)
            && is_lost(rule, &one.reading, shadows[*other].is_none())
    };
    let mut beside = all.iter().enumerate();
    let (_, other) = beside.find(holds_back)?;
    Some(other.written.clone())
}

/// Whether what is stricter there could speak of the same call and would not win here.
fn is_lost(rule: &Form, stricter: &Reading, is_taken: bool) -> bool {
    match stricter {
        Reading::Needless(_) => false,
        Reading::Unsayable { about, .. } => about
            .as_ref()
            .is_none_or(|about| meets(about, &rule.permission)),
        Reading::Rule { rule: other, .. } => {
            meets(&other.permission, &rule.permission)
                && !apart(
                    &other.permission,
                    other.pattern.as_deref(),
                    rule.pattern.as_deref(),
                )
                && !(is_taken && strength(other) >= strength(rule))
        }
    }
}

fn strictness(action: Action) -> u8 {
    match action {
        Action::Allow => 0,
        Action::Ask => 1,
        Action::Deny => 2,
    }
}

/// How strong a rule is here; of two equals the stricter wins.
fn strength(rule: &Form) -> (u8, usize) {
    let rank = match rule.permission.as_str() {
        "*" => 0,
        permission if permission.contains('.') => 1,
        permission if permission.ends_with('*') => 2,
        _ => 3,
    };
    let prefix = rule.pattern.as_deref().map_or(0, literal_prefix_chars);
    (rank, prefix)
}

/// Whether two permissions can be about one call.
fn meets(one: &str, other: &str) -> bool {
    let family = |one: &str, other: &str| {
        one.strip_suffix('*')
            .is_some_and(|family| other.starts_with(family))
    };
    one == other || family(one, other) || family(other, one)
}

/// Whether no call fits both patterns: the stricter one's and the other's.
fn apart(permission: &str, stricter: Option<&str>, other: Option<&str>) -> bool {
    let (Some(stricter), Some(other)) = (stricter, other) else {
        return false;
    };
    match permission {
        // With all hosts below it.
        "net.fetch" => false,
        "fs.read" | "fs.write" | "fs.delete" => match stricter.contains('/') {
            true => differ(stricter.split('/'), other.split('/')),
            // A name alone is meant at any depth, with everything below it.
            false => other.split('/').all(|name| differs(stricter, name)),
        },
        _ => {
            let both_exact = !stricter.contains(['*', '{']) && !other.contains(['*', '{']);
            (both_exact && stricter != other) || differ(stricter.split(' '), other.split(' '))
        }
    }
}

/// Whether two lists of names differ at a place up to which both are certain.
fn differ<'a>(one: impl Iterator<Item = &'a str>, other: impl Iterator<Item = &'a str>) -> bool {
    for (one, other) in one.zip(other) {
        if differs(one, other) {
            return true;
        }
        // Beyond it may stand several names.
        if one.contains('*') || other.contains('*') {
            return false;
        }
    }
    false
}

/// Whether nothing is both: what they begin with, or what they end with, differs.
fn differs(one: &str, other: &str) -> bool {
    if one.contains('{') || other.contains('{') {
        return false;
    }
    let ends = |text: &str| match (text.find('*'), text.rfind('*')) {
        (Some(first), Some(last)) => (text[..first].to_owned(), text[last + 1..].to_owned(), true),
        _ => (text.to_owned(), text.to_owned(), false),
    };
    let ((start, end, open), (their_start, their_end, their_open)) = (ends(one), ends(other));
    if !open && !their_open {
        return one != other;
    }
    let begins = start.starts_with(&their_start) || their_start.starts_with(&start);
    let finishes = end.ends_with(&their_end) || their_end.ends_with(&end);
    !(begins && finishes)
}

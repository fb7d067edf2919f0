//! Permissions whose stricter neighbours restrict them in the other product, and would not do so here.

use protocol::{RuleAction, Verdict};

use super::{ConflictOrder, ImportedPermission, TranslatedRule, Translation};
use crate::patterns::count_literal_prefix;

/// Returns for each permission the first stricter one that wins in the other product and would not win here; none if
/// the permission can be imported.
pub(super) fn find_shadows(all: &[ImportedPermission], wins: ConflictOrder) -> Vec<Option<String>> {
    let mut shadows = vec![None; all.len()];
    // From the strictest on: what is not taken holds back nothing here, so nothing laxer may count on it.
    for action in [RuleAction::Ask, RuleAction::Allow] {
        for (at, said) in all.iter().enumerate() {
            if said.action == action {
                shadows[at] = find_shadow(all, at, wins, &shadows);
            }
        }
    }
    shadows
}

fn find_shadow(
    all: &[ImportedPermission],
    at: usize,
    wins: ConflictOrder,
    shadows: &[Option<String>],
) -> Option<String> {
    let permission = &all[at];
    let Translation::Rule { rule, .. } = &permission.reading else {
        return None;
    };
    let holds_back = |(other, one): &(usize, &ImportedPermission)| {
        // An earlier permission is overruled by this one in the product, unless the pattern of this one grew wider in
        // the translation.
        let counts = *other > at
            || wins == ConflictOrder::StrictestWins
            || permission.action != RuleAction::Allow;
        counts
            && Verdict::from(one.action) > Verdict::from(permission.action)
            && is_shadow_lost(rule, &one.reading, shadows[*other].is_none())
    };
    let mut beside = all.iter().enumerate();
    let (_, other) = beside.find(holds_back)?;
    Some(other.written.clone())
}

/// Whether a stricter permission could speak of the same call and would not win here.
fn is_shadow_lost(rule: &TranslatedRule, stricter: &Translation, is_taken: bool) -> bool {
    match stricter {
        Translation::Unneeded(_) => false,
        Translation::Unsupported { about, .. } => about
            .as_ref()
            .is_none_or(|about| permissions_overlap(about, &rule.permission)),
        Translation::Rule { rule: other, .. } => {
            permissions_overlap(&other.permission, &rule.permission)
                && !are_disjoint(
                    &other.permission,
                    other.pattern.as_deref(),
                    rule.pattern.as_deref(),
                )
                && !(is_taken && rule_strength(other) >= rule_strength(rule))
        }
    }
}

/// How strong a rule is here; of two equals the stricter wins.
fn rule_strength(rule: &TranslatedRule) -> (u8, usize) {
    let rank = match rule.permission.as_str() {
        "*" => 0,
        permission if permission.contains('.') => 1,
        permission if permission.ends_with('*') => 2,
        _ => 3,
    };
    let prefix = rule.pattern.as_deref().map_or(0, count_literal_prefix);
    (rank, prefix)
}

/// Whether two permissions can be about one call.
fn permissions_overlap(one: &str, other: &str) -> bool {
    let family = |one: &str, other: &str| {
        one.strip_suffix('*')
            .is_some_and(|family| other.starts_with(family))
    };
    one == other || family(one, other) || family(other, one)
}

/// Whether no call fits both patterns: the stricter one's and the other's.
fn are_disjoint(permission: &str, stricter: Option<&str>, other: Option<&str>) -> bool {
    let (Some(stricter), Some(other)) = (stricter, other) else {
        return false;
    };
    match permission {
        // With all hosts below it.
        "net.fetch" => false,
        "fs.read" | "fs.write" | "fs.delete" => match stricter.contains('/') {
            true => names_differ(stricter.split('/'), other.split('/')),
            // A name alone is meant at any depth, with everything below it.
            false => other.split('/').all(|name| texts_differ(stricter, name)),
        },
        _ => {
            let both_exact = !stricter.contains(['*', '{']) && !other.contains(['*', '{']);
            (both_exact && stricter != other) || names_differ(stricter.split(' '), other.split(' '))
        }
    }
}

/// Whether two lists of names differ at a place up to which both are certain.
fn names_differ<'a>(
    one: impl Iterator<Item = &'a str>,
    other: impl Iterator<Item = &'a str>,
) -> bool {
    for (one, other) in one.zip(other) {
        if texts_differ(one, other) {
            return true;
        }
        // Beyond it may stand several names.
        if one.contains('*') || other.contains('*') {
            return false;
        }
    }
    false
}

/// Whether no text matches both patterns, because their beginnings or their ends differ.
fn texts_differ(one: &str, other: &str) -> bool {
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

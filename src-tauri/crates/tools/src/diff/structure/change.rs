//! Changes between the structures of two versions of a file, place by place.

use std::collections::HashMap;
use std::ops::Range;

use protocol::view::preview::ChangeKind;

use super::tree::{Content, Node};
use crate::limits::STRUCTURE_CHANGES_MAX;

/// The change of one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// Labels on the way to the place.
    pub way: Vec<String>,
    /// Kind of the change.
    pub kind: ChangeKind,
    /// Value before; none if there was no single value.
    pub before: Option<String>,
    /// Value after; none if there is no single value.
    pub after: Option<String>,
    /// Lines of the place before, counted from 0; none if it is added, or is the whole file.
    pub old_lines: Option<Range<usize>>,
    /// Lines of the place after, counted from 0; none if it is removed, or is the whole file.
    pub new_lines: Option<Range<usize>>,
}

/// Compares two structures. None if there are more changes than can be told.
pub(super) fn compare_structures(old: &Node<'_>, new: &Node<'_>) -> Option<Vec<Change>> {
    let mut comparison = Comparison::default();
    if old.content != new.content {
        comparison.changes.push(Change {
            way: vec!["top level".to_owned()],
            kind: ChangeKind::Changed,
            before: None,
            after: None,
            old_lines: None,
            new_lines: None,
        });
    }
    comparison.compare_children(old, new)?;
    Some(comparison.changes)
}

#[derive(Default)]
struct Comparison {
    way: Vec<String>,
    changes: Vec<Change>,
}

impl Comparison {
    /// Compares the places within two places: first those that are equal pair off, then those with the same label.
    fn compare_children(&mut self, old: &Node<'_>, new: &Node<'_>) -> Option<()> {
        let mut equal: HashMap<&Node<'_>, usize> = HashMap::new();
        for child in &old.children {
            *equal.entry(child).or_default() += 1;
        }
        let changed_new: Vec<&Node<'_>> = new
            .children
            .iter()
            .filter(|child| !take_one(&mut equal, child))
            .collect();
        let changed_old = old
            .children
            .iter()
            .filter(|child| take_one(&mut equal, child));
        let mut partners: HashMap<&str, &Node<'_>> = changed_new
            .iter()
            .map(|child| (child.label.as_str(), *child))
            .collect();
        for child in changed_old {
            match partners.remove(child.label.as_str()) {
                Some(partner) => self.compare_pair(child, partner)?,
                None => self.push(Some(child), None)?,
            }
        }
        for child in changed_new {
            if partners.contains_key(child.label.as_str()) {
                self.push(None, Some(child))?;
            }
        }
        Some(())
    }

    fn compare_pair(&mut self, old: &Node<'_>, new: &Node<'_>) -> Option<()> {
        let is_same_kind =
            std::mem::discriminant(&old.content) == std::mem::discriminant(&new.content);
        if old.content != new.content {
            self.push(Some(old), Some(new))?;
        }
        if is_same_kind {
            self.way.push(new.label.clone());
            self.compare_children(old, new)?;
            self.way.pop();
        }
        Some(())
    }

    fn push(&mut self, old: Option<&Node<'_>>, new: Option<&Node<'_>>) -> Option<()> {
        let node = new.or(old)?;
        let mut way = self.way.clone();
        way.push(node.label.clone());
        let differs = old.and_then(Node::value) != new.and_then(Node::value);
        let value = |node: Option<&Node<'_>>| match &node?.content {
            Content::Empty | Content::Lines(_) => None,
            Content::Text(text) if !differs || text.is_empty() => Some(format!("\"{text}\"")),
            Content::Value(value) | Content::Text(value) => Some(value.to_string()),
        };
        let change = Change {
            kind: match (old, new) {
                (None, _) => ChangeKind::Added,
                (_, None) => ChangeKind::Removed,
                (Some(_), Some(_)) => ChangeKind::Changed,
            },
            before: value(old),
            after: value(new),
            old_lines: old.map(|node| node.lines.clone()),
            new_lines: new.map(|node| node.lines.clone()),
            way,
        };
        self.changes.push(change);
        (self.changes.len() <= STRUCTURE_CHANGES_MAX).then_some(())
    }
}

/// Takes one of the places that are equal to this; returns whether there was one.
fn take_one<'n, 'a>(places: &mut HashMap<&'n Node<'a>, usize>, place: &'n Node<'a>) -> bool {
    match places.get_mut(place) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        Some(_) | None => false,
    }
}

//! The structure of a text as a tree of named places, each with its lines, within limits.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::ops::Range;

use super::label::label_children;
use crate::limits::{STRUCTURE_DEPTH_MAX, STRUCTURE_NODES_MAX};

/// What a place is called in the text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key<'a> {
    /// By a name of its own.
    Name(Cow<'a, str>),
    /// By its position, after this word: `#` or `cell `.
    Item(&'static str),
}

/// What a place holds besides other places.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Content<'a> {
    /// Nothing.
    Empty,
    /// One value, which can be shown.
    Value(Cow<'a, str>),
    /// One value that is a text, where the format tells `"1"` from `1`.
    Text(Cow<'a, str>),
    /// Lines of text.
    Lines(Vec<&'a str>),
}

/// One place. Two places are equal if their keys and what they hold are, wherever they stand.
#[derive(Debug)]
pub(super) struct Node<'a> {
    /// Name in the text.
    pub key: Key<'a>,
    /// Name that tells the place from its siblings, for display.
    pub label: String,
    /// Lines of the place, counted from 0.
    pub lines: Range<usize>,
    /// What the place holds itself.
    pub content: Content<'a>,
    /// The places within it.
    pub children: Vec<Node<'a>>,
}

impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.content == other.content && self.children == other.children
    }
}

impl Eq for Node<'_> {}

impl Hash for Node<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.key, &self.content, &self.children).hash(state);
    }
}

impl<'a> Node<'a> {
    fn new(key: Key<'a>, line: usize) -> Self {
        Self {
            key,
            label: String::new(),
            lines: line..line + 1,
            content: Content::Empty,
            children: Vec::new(),
        }
    }

    /// Returns the value; none if the place holds other things.
    pub fn value(&self) -> Option<&str> {
        match &self.content {
            Content::Value(value) | Content::Text(value) => Some(value),
            Content::Empty | Content::Lines(_) => None,
        }
    }
}

/// Builds the tree of a text from its start to its end. Every method returns none past a limit, and if more is closed
/// than was opened: then the text has no structure that could be shown.
pub(super) struct TreeBuilder<'a> {
    open: Vec<Node<'a>>,
    nodes: usize,
}

impl<'a> TreeBuilder<'a> {
    pub fn new() -> Self {
        Self {
            open: vec![Node::new(Key::Item(""), 0)],
            nodes: 0,
        }
    }

    /// Opens a place within the current one.
    pub fn open(&mut self, key: Key<'a>, line: usize) -> Option<()> {
        self.nodes += 1;
        let fits = self.nodes <= STRUCTURE_NODES_MAX && self.open.len() <= STRUCTURE_DEPTH_MAX;
        fits.then(|| self.open.push(Node::new(key, line)))
    }

    /// Opens a place that has a name.
    pub fn open_name(&mut self, name: impl Into<Cow<'a, str>>, line: usize) -> Option<()> {
        self.open(Key::Name(name.into()), line)
    }

    /// Sets the value of the current place, which ends in `last_line`.
    pub fn set_value(&mut self, value: impl Into<Cow<'a, str>>, last_line: usize) -> Option<()> {
        self.set_content(Content::Value(value.into()), last_line)
    }

    /// Sets the text that is the value of the current place, which ends in `last_line`.
    pub fn set_text(&mut self, text: impl Into<Cow<'a, str>>, last_line: usize) -> Option<()> {
        self.set_content(Content::Text(text.into()), last_line)
    }

    fn set_content(&mut self, content: Content<'a>, last_line: usize) -> Option<()> {
        let node = self.open.last_mut()?;
        node.content = content;
        node.lines.end = node.lines.end.max(last_line + 1);
        Some(())
    }

    /// Adds a line of text to the current place.
    pub fn push_line(&mut self, text: &'a str, line: usize) -> Option<()> {
        let node = self.open.last_mut()?;
        node.lines.end = node.lines.end.max(line + 1);
        match &mut node.content {
            Content::Lines(lines) => lines.push(text),
            Content::Empty | Content::Value(_) | Content::Text(_) => {
                node.content = Content::Lines(vec![text])
            }
        }
        Some(())
    }

    /// Closes the current place, which ends in `last_line` or with the last place in it.
    pub fn close(&mut self, last_line: usize) -> Option<()> {
        let mut node = self.open.pop()?;
        label_children(&mut node.children);
        node.lines.end = node.lines.end.max(last_line + 1);
        for child in &node.children {
            node.lines.start = node.lines.start.min(child.lines.start);
            node.lines.end = node.lines.end.max(child.lines.end);
        }
        self.open.last_mut()?.children.push(node);
        Some(())
    }

    /// Returns how many places are open.
    pub fn depth(&self) -> usize {
        self.open.len() - 1
    }

    /// Returns the tree; its root has no name. None if a place is still open, or there is none.
    pub fn finish(mut self) -> Option<Node<'a>> {
        let mut root = self.open.pop()?;
        label_children(&mut root.children);
        (self.open.is_empty() && !root.children.is_empty()).then_some(root)
    }
}

/// Finds the line of an offset in bytes.
pub(super) struct LineIndex {
    first_line: usize,
    ends: Vec<usize>,
}

impl LineIndex {
    /// Indexes a text that begins in `first_line`, counted from 0.
    pub fn new(text: &str, first_line: usize) -> Self {
        Self {
            first_line,
            ends: text.match_indices('\n').map(|(end, _)| end).collect(),
        }
    }

    pub fn line_at(&self, offset: usize) -> usize {
        self.first_line + self.ends.partition_point(|end| *end < offset)
    }
}

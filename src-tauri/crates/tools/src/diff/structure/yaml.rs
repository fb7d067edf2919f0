//! YAML: mappings and sequences of all documents of a stream. Aliases are values, so that nothing grows.

use granit_parser::{Event, Parser, Span};

use super::tree::{Key, Node, TreeBuilder};

/// A collection whose members are being read.
enum Collection {
    Mapping { has_key: bool },
    Sequence,
}

/// Reads a YAML stream.
pub(super) fn read_yaml(text: &str) -> Option<Node<'_>> {
    let mut builder = TreeBuilder::new();
    let mut collections: Vec<Collection> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.ok()?;
        let line = span.start.line().saturating_sub(1);
        match event {
            Event::DocumentStart(..) => builder.open(Key::Item("document "), line)?,
            Event::DocumentEnd => builder.close(0)?,
            Event::Scalar(value, ..) => {
                if let Some(Collection::Mapping { has_key }) = collections.last_mut()
                    && !*has_key
                {
                    *has_key = true;
                    builder.open_name(value, line)?;
                    continue;
                }
                open_item(&mut builder, &collections, line)?;
                builder.set_value(value, last_line(&span))?;
                close_member(&mut builder, &mut collections)?;
            }
            Event::Alias(_) => {
                open_item(&mut builder, &collections, line)?;
                builder.set_value(span.slice(text)?, line)?;
                close_member(&mut builder, &mut collections)?;
            }
            Event::MappingStart(..) => {
                open_item(&mut builder, &collections, line)?;
                collections.push(Collection::Mapping { has_key: false });
            }
            Event::SequenceStart(..) => {
                open_item(&mut builder, &collections, line)?;
                collections.push(Collection::Sequence);
            }
            Event::MappingEnd | Event::SequenceEnd => {
                collections.pop();
                close_member(&mut builder, &mut collections)?;
            }
            _ => {}
        }
    }
    let mut root = builder.finish()?;
    match root.children.len() {
        1 => root.children.pop(),
        _ => Some(root),
    }
}

/// Opens the place of a value, unless it is that of a key, which is open already. None for a key that is a collection.
fn open_item(builder: &mut TreeBuilder<'_>, collections: &[Collection], line: usize) -> Option<()> {
    match collections.last() {
        Some(Collection::Sequence) => builder.open(Key::Item("#"), line),
        Some(Collection::Mapping { has_key: true }) | None => Some(()),
        Some(Collection::Mapping { has_key: false }) => None,
    }
}

/// Closes the place of a value that has ended.
fn close_member(builder: &mut TreeBuilder<'_>, collections: &mut [Collection]) -> Option<()> {
    match collections.last_mut() {
        Some(Collection::Mapping { has_key }) => *has_key = false,
        Some(Collection::Sequence) => {}
        None => return Some(()),
    }
    builder.close(0)
}

/// Returns the last line of a value: a block ends at the start of the line after it.
fn last_line(span: &Span) -> usize {
    let end = span.end.line().saturating_sub(1);
    match span.end.col() {
        0 => end.saturating_sub(1),
        _ => end,
    }
}

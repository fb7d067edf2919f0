//! XML: elements with their attributes and texts.

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use super::tree::{LineIndex, Node, TreeBuilder};

/// Reads an XML document.
pub(super) fn read_xml(text: &str) -> Option<Node<'_>> {
    let lines = LineIndex::new(text, 0);
    let mut builder = TreeBuilder::new();
    let mut reader = Reader::from_str(text);
    loop {
        let start = lines.line_at(usize::try_from(reader.buffer_position()).ok()?);
        let event = reader.read_event().ok()?;
        let end = lines.line_at(usize::try_from(reader.buffer_position()).ok()?);
        match event {
            Event::Start(element) => open_element(&mut builder, &element, start)?,
            Event::Empty(element) => {
                open_element(&mut builder, &element, start)?;
                builder.close(end)?;
            }
            Event::End(_) => builder.close(end)?,
            Event::Text(content) => set_text(&mut builder, content.xml10_content().trim(), end)?,
            Event::CData(content) => set_text(&mut builder, content.xml10_content().trim(), end)?,
            Event::Eof => return builder.finish(),
            Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_)
            | Event::GeneralRef(_) => {}
        }
    }
}

fn open_element(
    builder: &mut TreeBuilder<'_>,
    element: &BytesStart<'_>,
    line: usize,
) -> Option<()> {
    builder.open_name(element.name().into_inner().to_owned(), line)?;
    for attribute in element.attributes() {
        let attribute = attribute.ok()?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).ok()?;
        builder.open_name(attribute.key.into_inner().to_owned(), line)?;
        builder.set_value(value.into_owned(), line)?;
        builder.close(line)?;
    }
    Some(())
}

/// Sets the text of the current element. Text outside of elements, and blanks between them, are no value.
fn set_text(builder: &mut TreeBuilder<'_>, text: &str, last_line: usize) -> Option<()> {
    if text.is_empty() || builder.depth() == 0 {
        return Some(());
    }
    builder.set_value(text.to_owned(), last_line)
}

//! TOML: tables, arrays of tables, and their values.

use toml_edit::{Document, Item, Key as TomlKey, Table, Value};

use super::tree::{Key, LineIndex, Node, TreeBuilder};

/// Reads a TOML document.
pub(super) fn read_toml(text: &str) -> Option<Node<'_>> {
    let document = Document::parse(text).ok()?;
    let mut reader = Reader {
        text,
        lines: LineIndex::new(text, 0),
        builder: TreeBuilder::new(),
    };
    reader.add_table(document.as_table(), 0)?;
    reader.builder.finish()
}

struct Reader<'a> {
    text: &'a str,
    lines: LineIndex,
    builder: TreeBuilder<'a>,
}

impl Reader<'_> {
    fn add_table(&mut self, table: &Table, line: usize) -> Option<()> {
        for (name, item) in table.iter() {
            let key = table.key(name)?;
            self.add_member(key, item, line)?;
        }
        Some(())
    }

    fn add_member(&mut self, key: &TomlKey, item: &Item, parent_line: usize) -> Option<()> {
        let start = item.span().into_iter().chain(key.span());
        let line = start
            .map(|span| self.lines.line_at(span.start))
            .min()
            .unwrap_or(parent_line);
        self.builder.open_name(key.get().to_owned(), line)?;
        match item {
            Item::None => {}
            Item::Value(value) => self.add_value(value, line)?,
            Item::Table(table) => self.add_table(table, line)?,
            Item::ArrayOfTables(tables) => {
                for table in tables.iter() {
                    let line = table
                        .span()
                        .map_or(line, |span| self.lines.line_at(span.start));
                    self.builder.open(Key::Item("#"), line)?;
                    self.add_table(table, line)?;
                    self.builder.close(line)?;
                }
            }
        }
        self.builder.close(line)
    }

    fn add_value(&mut self, value: &Value, line: usize) -> Option<()> {
        let span = value.span()?;
        let last_line = self.lines.line_at(span.end);
        match value {
            Value::InlineTable(table) => {
                for (name, value) in table.iter() {
                    self.builder.open_name(name.to_owned(), line)?;
                    self.add_value(value, line)?;
                    self.builder.close(line)?;
                }
                Some(())
            }
            Value::Array(array) => {
                for item in array.iter() {
                    let line = self.lines.line_at(item.span()?.start);
                    self.builder.open(Key::Item("#"), line)?;
                    self.add_value(item, line)?;
                    self.builder.close(line)?;
                }
                Some(())
            }
            Value::String(text) => self.builder.set_text(text.value().to_owned(), last_line),
            Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => {
                self.builder.set_value(self.text.get(span)?, last_line)
            }
        }
    }
}

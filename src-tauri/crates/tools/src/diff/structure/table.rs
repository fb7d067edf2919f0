//! Tables of values with a separator: rows by their first field, columns by their head.

use csv::{ReaderBuilder, StringRecord};

use super::tree::{Node, TreeBuilder};

/// Reads a table; its first row is the head.
pub(super) fn read_table(text: &str, delimiter: u8) -> Option<Node<'_>> {
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .from_reader(text.as_bytes());
    let head = reader.headers().ok()?.clone();
    let mut builder = TreeBuilder::new();
    let mut row = StringRecord::new();
    while reader.read_record(&mut row).ok()? {
        let first = usize::try_from(row.position()?.line())
            .ok()?
            .saturating_sub(1);
        let breaks: usize = row.iter().map(|field| field.matches('\n').count()).sum();
        builder.open_name(row.get(0).unwrap_or_default().to_owned(), first)?;
        for (index, field) in row.iter().enumerate().skip(1) {
            let column = head.get(index).filter(|name| !name.trim().is_empty());
            let name = column.map_or_else(|| format!("column {}", index + 1), str::to_owned);
            builder.open_name(name, first)?;
            builder.set_value(field.to_owned(), first + breaks)?;
            builder.close(first + breaks)?;
        }
        builder.close(first + breaks)?;
    }
    builder.finish()
}

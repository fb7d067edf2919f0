//! Rows of a SQLite database, read from its pages: whether a change keeps all of them.
//!
//! Only what the tables hold is read, no index, and no SQL is run. What cannot be read counts as lost.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};

/// Beginning of a database.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Length of the header of the first page, in bytes.
const HEADER_BYTES: usize = 100;

/// Deepest tree that is followed.
const DEPTH_MAX: usize = 32;

/// Whether a file is a database.
pub(super) fn is_database(content: &[u8]) -> bool {
    content.starts_with(MAGIC)
}

/// Whether a row or a table of a database is not in another state of it any more.
pub(super) fn loses_rows(before: &[u8], after: &[u8]) -> bool {
    let Some((before, after)) = Tables::read(before).zip(Tables::read(after)) else {
        return true;
    };
    let has_row = |(row, count): (&Row, &u64)| after.rows.get(row).is_some_and(|it| it >= count);
    !before.names.is_subset(&after.names) || !before.rows.iter().all(has_row)
}

/// A row of a table: its number, where the table numbers its rows, and its values as they are stored.
#[derive(PartialEq, Eq, Hash)]
struct Row {
    table: Vec<u8>,
    number: Option<u64>,
    values: Vec<u8>,
}

/// The tables of a database, and how often each row stands in them.
struct Tables {
    names: BTreeSet<Vec<u8>>,
    rows: HashMap<Row, u64>,
}

impl Tables {
    fn read(content: &[u8]) -> Option<Self> {
        let pages = Pages::open(content)?;
        let mut tables = Self {
            names: BTreeSet::new(),
            rows: HashMap::new(),
        };
        let mut schema = Vec::new();
        pages.visit_rows(1, 0, &mut |_, values| schema.push(values))?;
        for values in schema {
            let Some(table) = SchemaEntry::parse(&values)?.into_table() else {
                continue;
            };
            pages.visit_rows(table.root, 0, &mut |number, values| {
                let row = Row {
                    table: table.name.clone(),
                    number,
                    values,
                };
                *tables.rows.entry(row).or_default() += 1;
            })?;
            tables.names.insert(table.name);
        }
        Some(tables)
    }
}

/// A row of the schema: `type, name, tbl_name, rootpage, sql`.
struct SchemaEntry {
    kind: Vec<u8>,
    name: Vec<u8>,
    root: u64,
}

impl SchemaEntry {
    fn parse(record: &[u8]) -> Option<Self> {
        let (header_bytes, mut at) = read_varint(record, 0)?;
        let mut value_at = usize::try_from(header_bytes).ok()?;
        let mut values = Vec::new();
        while values.len() < 4 {
            let (kind, next) = read_varint(record, at)?;
            let length = match kind {
                0 | 8 | 9 => 0,
                1..=4 => usize::try_from(kind).ok()?,
                5 => 6,
                6 | 7 => 8,
                _ => usize::try_from(kind.checked_sub(12)? / 2).ok()?,
            };
            let value = record.get(value_at..value_at.checked_add(length)?)?;
            // Two of the numbers are said by their kind alone.
            values.push(if kind == 9 { &[1][..] } else { value });
            (at, value_at) = (next, value_at + length);
        }
        let number = values[3].iter();
        Some(Self {
            kind: values[0].to_owned(),
            name: values[1].to_owned(),
            root: number.fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
        })
    }

    /// Returns the entry if it is a table with rows of its own.
    fn into_table(self) -> Option<Self> {
        (self.kind == b"table" && self.root > 0).then_some(self)
    }
}

/// The pages of a database.
struct Pages<'a> {
    content: &'a [u8],
    page_bytes: usize,
    /// Length of the part of a page that is used, in bytes.
    used_bytes: usize,
    /// How many pages of trees may still be visited: each stands in one tree, once.
    unvisited: Cell<usize>,
    /// How many bytes of rows may still be read: each stands in one row, once. A file that an agent made may say otherwise.
    unread: Cell<usize>,
}

/// Kind of a page of a tree, by its first byte.
#[derive(Clone, Copy, PartialEq)]
enum PageKind {
    IndexInside,
    TableInside,
    IndexLeaf,
    TableLeaf,
}

impl PageKind {
    fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            2 => Some(Self::IndexInside),
            5 => Some(Self::TableInside),
            10 => Some(Self::IndexLeaf),
            13 => Some(Self::TableLeaf),
            _ => None,
        }
    }

    fn is_inside(self) -> bool {
        matches!(self, Self::IndexInside | Self::TableInside)
    }
}

impl<'a> Pages<'a> {
    fn open(content: &'a [u8]) -> Option<Self> {
        let page_bytes = match read_number(content.get(16..18)?) {
            1 => 65_536,
            bytes => bytes,
        };
        let reserved = usize::from(*content.get(20)?);
        let used_bytes = page_bytes.checked_sub(reserved)?;
        let is_database = is_database(content) && page_bytes.is_power_of_two() && used_bytes >= 480;
        is_database.then_some(Self {
            content,
            page_bytes,
            used_bytes,
            unvisited: Cell::new(content.len() / page_bytes),
            unread: Cell::new(content.len()),
        })
    }

    /// Returns a page by its number, which begins at 1.
    fn page(&self, number: u64) -> Option<&'a [u8]> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        let start = index.checked_mul(self.page_bytes)?;
        self.content.get(start..start.checked_add(self.page_bytes)?)
    }

    /// Visits the rows of a tree, each with its number; none if a page cannot be read.
    fn visit_rows(
        &self,
        root: u64,
        depth: usize,
        visit: &mut dyn FnMut(Option<u64>, Vec<u8>),
    ) -> Option<()> {
        let page = self.page(root).filter(|_| depth < DEPTH_MAX)?;
        self.unvisited.set(self.unvisited.get().checked_sub(1)?);
        let start = if root == 1 { HEADER_BYTES } else { 0 };
        let kind = PageKind::from_byte(*page.get(start)?)?;
        let cells = read_number(page.get(start + 3..start + 5)?);
        let pointers = start + if kind.is_inside() { 12 } else { 8 };
        for cell in 0..cells {
            let at = pointers + cell * 2;
            let mut at = read_number(page.get(at..at + 2)?);
            if kind.is_inside() {
                let child = read_number(page.get(at..at + 4)?);
                self.visit_rows(child as u64, depth + 1, visit)?;
                at += 4;
            }
            if kind != PageKind::TableInside {
                let (length, next) = read_varint(page, at)?;
                let (number, next) = match kind {
                    PageKind::TableLeaf => {
                        let (number, next) = read_varint(page, next)?;
                        (Some(number), next)
                    }
                    PageKind::IndexInside | PageKind::TableInside | PageKind::IndexLeaf => {
                        (None, next)
                    }
                };
                let values = self.read_values(page, next, usize::try_from(length).ok()?, kind)?;
                visit(number, values);
            }
        }
        if kind.is_inside() {
            let last = read_number(page.get(start + 8..start + 12)?);
            self.visit_rows(last as u64, depth + 1, visit)?;
        }
        Some(())
    }

    /// Reads the values of a row, of which a page holds the beginning and a chain of pages the rest.
    fn read_values(
        &self,
        page: &[u8],
        at: usize,
        length: usize,
        kind: PageKind,
    ) -> Option<Vec<u8>> {
        self.unread.set(self.unread.get().checked_sub(length)?);
        let local = self.local_bytes(length, kind);
        let mut values = page.get(at..at.checked_add(local)?)?.to_owned();
        if local == length {
            return Some(values);
        }
        let mut next = read_number(page.get(at + local..at + local + 4)?) as u64;
        while values.len() < length {
            let page = self.page(next)?;
            let part = (length - values.len()).min(self.used_bytes - 4);
            values.extend_from_slice(page.get(4..4 + part)?);
            next = read_number(page.get(..4)?) as u64;
        }
        Some(values)
    }

    /// Returns how many bytes of a row stand in the page of its tree.
    fn local_bytes(&self, length: usize, kind: PageKind) -> usize {
        let used = self.used_bytes;
        let most = match kind {
            PageKind::TableLeaf => used - 35,
            PageKind::IndexInside | PageKind::TableInside | PageKind::IndexLeaf => {
                (used - 12) * 64 / 255 - 23
            }
        };
        if length <= most {
            return length;
        }
        let least = (used - 12) * 32 / 255 - 23;
        let local = least + (length - least) % (used - 4);
        if local <= most { local } else { least }
    }
}

/// Reads a number of up to four bytes, the highest first.
fn read_number(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .fold(0, |sum, byte| sum << 8 | usize::from(*byte))
}

/// Reads a number of one to nine bytes; returns it with the place behind it.
fn read_varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut number = 0;
    for index in 0..8 {
        let byte = *bytes.get(at + index)?;
        number = number << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((number, at + index + 1));
        }
    }
    let last = *bytes.get(at + 8)?;
    Some((number << 8 | u64::from(last), at + 9))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE_BYTES: usize = 512;
    const ROW_BYTES: u8 = 100;

    /// A database of one table, with so many rows that all stand in the same place.
    fn write_database(rows: u8) -> Vec<u8> {
        let mut pages = vec![0; 2 * PAGE_BYTES];
        let mut put = |at: usize, bytes: &[u8]| pages[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, MAGIC);
        put(16, &[2, 0]);
        // One row of the schema: a table on the second page.
        put(HEADER_BYTES, &[13, 0, 0, 0, 1]);
        put(HEADER_BYTES + 8, &[1, 0x90]);
        put(400, b"\x0e\x01\x06\x17\x0f\x0f\x01\x00tablett\x02");
        put(PAGE_BYTES, &[13, 0, 0, 0, rows]);
        for row in 0..usize::from(rows) {
            put(PAGE_BYTES + 8 + row * 2, &[1, 0x2c]);
        }
        put(PAGE_BYTES + 300, &[ROW_BYTES, 1]);
        pages
    }

    #[test]
    fn a_file_tells_of_no_more_than_stands_in_it() {
        let sound = write_database(1);
        assert!(!loses_rows(&sound, &sound));
        assert!(loses_rows(&sound, &write_database(0)));
        // Read as it says, such a file would be many times as large as it is.
        let folded = write_database(20);
        assert!(loses_rows(&folded, &folded));
    }
}

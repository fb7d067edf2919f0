//! Migrations of databases: what a new one destroys, and whether one that was committed changes.

use std::collections::HashSet;
use std::sync::OnceLock;

use protocol::text::display_text::to_single_line;
use regex::Regex;

use super::changes::{ChangedFile, IsKnownContent};

/// Folders with the migrations of a project.
const FOLDERS: &[&str] = &["migrations", "migrate"];

/// Endings of migrations.
const ENDINGS: &[&str] = &[
    ".sql", ".py", ".php", ".rb", ".js", ".ts", ".go", ".ex", ".exs", ".cs",
];

/// What the name of a migration holds that takes another one back.
const REVERSALS: &[&str] = &["down", "rollback", "undo", "revert"];

/// Statements that destroy data.
const DESTRUCTION: &str = r"(?im)^[ \t]*(DROP\s+(?:TABLE|SCHEMA|DATABASE)\b[^\n;]*|TRUNCATE\b[^\n;]*|DELETE\s+FROM\b[^\n;]*|ALTER\s+TABLE\b[^\n;]*\bDROP\b[^\n;]*)";

/// The line from which a migration says how it is taken back.
const REVERSAL_LINE: &str = r"(?im)^--[^\n]*\b(?:down|rollback|undo)\b";

/// Longest statement in a sentence, in characters.
const STATEMENT_CHARS_MAX: usize = 120;

struct Expressions {
    destruction: Regex,
    reversal_line: Regex,
}

/// Returns the expressions; none if one cannot be read, which a test would tell.
fn expressions() -> Option<&'static Expressions> {
    static EXPRESSIONS: OnceLock<Option<Expressions>> = OnceLock::new();
    let made = EXPRESSIONS.get_or_init(|| {
        Some(Expressions {
            destruction: Regex::new(DESTRUCTION).ok()?,
            reversal_line: Regex::new(REVERSAL_LINE).ok()?,
        })
    });
    made.as_ref()
}

/// Whether a file is a migration.
pub(super) fn is_migration(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    folders.split('/').any(|folder| FOLDERS.contains(&folder))
        && ENDINGS.iter().any(|ending| name.ends_with(ending))
        && name != "__init__.py"
}

/// Describes what a migration destroys that did not before, and that one changes which git has.
pub(super) fn describe_changed_migration(
    file: &ChangedFile<'_>,
    is_known: IsKnownContent<'_>,
) -> Option<String> {
    let after = file.after.filter(|_| is_migration(file.path))?;
    let destroys = file
        .path
        .ends_with(".sql")
        .then(|| find_destruction(file, after))
        .flatten();
    if let Some(statement) = destroys {
        let statement = to_single_line(&statement, STATEMENT_CHARS_MAX);
        return Some(format!("The next migration destroys data: `{statement}`."));
    }
    let before = file.before?;
    let says_else = loses_statements(before, after) && is_known(file.path, Some(before));
    says_else.then(|| {
        format!(
            "`{}` was committed: a database that has run it stays as it is.",
            file.path
        )
    })
}

/// Returns the first statement that destroys data and is new. How a migration is taken back does not count.
fn find_destruction(file: &ChangedFile<'_>, after: &[u8]) -> Option<String> {
    let name = file.path.rsplit('/').next()?.to_ascii_lowercase();
    if REVERSALS.iter().any(|word| name.contains(word)) {
        return None;
    }
    let after = list_destructions(after)?;
    let before = file.before.and_then(list_destructions).unwrap_or_default();
    after
        .into_iter()
        .find(|statement| !before.contains(statement))
}

fn list_destructions(content: &[u8]) -> Option<Vec<String>> {
    let (expressions, text) = (expressions()?, std::str::from_utf8(content).ok()?);
    let end = expressions.reversal_line.find(text);
    let text = &text[..end.map_or(text.len(), |line| line.start())];
    let found = expressions.destruction.captures_iter(text);
    Some(found.map(|one| one[1].trim_end().to_owned()).collect())
}

/// Whether a line other than a comment is gone, or says something else.
fn loses_statements(before: &[u8], after: &[u8]) -> bool {
    let kept: HashSet<&[u8]> = split_lines(after).collect();
    split_lines(before).any(|line| !is_comment(line) && !kept.contains(line))
}

fn split_lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = content.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| !line.is_empty())
}

fn is_comment(line: &[u8]) -> bool {
    [&b"--"[..], b"#", b"//", b"/*", b"*"]
        .iter()
        .any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(path: &str, before: Option<&str>, after: &str) -> Option<String> {
        let file = ChangedFile {
            path,
            before: before.map(str::as_bytes),
            after: Some(after.as_bytes()),
        };
        describe_changed_migration(&file, &|_, _| true)
    }

    #[test]
    fn what_a_migration_destroys_is_told() {
        for statement in [
            "DROP TABLE tickets",
            "delete from customers where id > 4",
            "TRUNCATE TABLE log",
            "ALTER TABLE customers DROP COLUMN mail",
        ] {
            let text = format!("CREATE TABLE a (id INTEGER);\n{statement};\n");
            let said = format!("The next migration destroys data: `{statement}`.");
            assert_eq!(describe("migrations/0005_b.sql", None, &text), Some(said));
            assert_eq!(describe("db/migrations/0005_b.down.sql", None, &text), None);
            assert_eq!(describe("notes/b.sql", None, &text), None);
            let back = format!("CREATE TABLE a (id INTEGER);\n-- +goose Down\n{statement};\n");
            assert_eq!(describe("migrations/0005_b.sql", None, &back), None);
        }
    }

    #[test]
    fn a_committed_migration_that_says_something_else_is_told() {
        let before = "-- Customers\nCREATE TABLE customers (mail TEXT UNIQUE);\n";
        let path = "migrations/0002_customers.sql";
        let said = "`migrations/0002_customers.sql` was committed: a database that has run it stays as it is.";
        let weaker = before.replace(" UNIQUE", "");
        assert_eq!(describe(path, Some(before), &weaker).as_deref(), Some(said));
        let comment = before.replace("-- Customers", "-- All customers");
        assert_eq!(describe(path, Some(before), &comment), None);
        let file = ChangedFile {
            path,
            before: Some(before.as_bytes()),
            after: Some(weaker.as_bytes()),
        };
        assert_eq!(describe_changed_migration(&file, &|_, _| false), None);
    }
}

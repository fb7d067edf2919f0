//! The tree that the searches walk: 20,000 files, 200 MB, nested, with a `.gitignore`; always the same.

use std::fmt::Write as _;
use std::path::Path;

use crate::Outcome;

/// Files that are not ignored.
pub const FILES: usize = 20_000;
/// Folders that they lie in.
const FOLDERS: usize = 400;
/// Lines of each file; about 10 kB.
const LINES: usize = 200;
/// Every so many files one has the rare word.
const RARE_EVERY: usize = 500;
/// Ignored files.
const IGNORED: usize = 2_000;

/// The word that stands in few files.
pub const RARE: &str = "needle_in_the_haystack";

/// Makes the tree below an empty folder.
pub fn make(root: &Path) -> Outcome<()> {
    std::fs::write(root.join(".gitignore"), "target/\n*.log\n")?;
    let words = [
        "account", "balance", "channel", "domain", "engine", "filter", "gateway", "handle",
    ];
    for number in 0..FILES + IGNORED {
        let folder = match number {
            ..FILES => {
                let place = number % FOLDERS;
                root.join(format!(
                    "part{}/module{}/src{}",
                    place / 80,
                    place / 8 % 10,
                    place % 8
                ))
            }
            _ => root.join(format!("target/debug{}", number % 20)),
        };
        std::fs::create_dir_all(&folder)?;
        let mut text = String::new();
        for line in 0..LINES {
            let word = words[(number * 7 + line * 13) % words.len()];
            writeln!(
                text,
                "    let {word}_{line} = compute_{word}({number}, {line}); // seed"
            )?;
            if number % RARE_EVERY == 0 && line == LINES / 2 {
                writeln!(text, "    // {RARE} {number}")?;
            }
        }
        let ending = if number % 3 == 0 { "rs" } else { "txt" };
        std::fs::write(folder.join(format!("file{number}.{ending}")), text)?;
    }
    Ok(())
}

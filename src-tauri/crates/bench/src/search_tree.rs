//! The tree for the searches: 20,000 files, 200 MB, nested, with a `.gitignore`; always the same.

use std::fmt::Write as _;
use std::path::Path;

use crate::BenchResult;

/// Number of files that are not ignored.
pub const FILE_COUNT: usize = 20_000;
/// Number of folders that contain them.
const FOLDER_COUNT: usize = 400;
/// Number of lines of each file; about 10 kB.
const LINES_PER_FILE: usize = 200;
/// Interval of files that contain the rare word.
const RARE_WORD_INTERVAL: usize = 500;
/// Number of ignored files.
const IGNORED_FILE_COUNT: usize = 2_000;

/// A word that occurs in few files.
pub const RARE_WORD: &str = "needle_in_the_haystack";

/// Creates the tree below an empty folder.
pub fn create_tree(root: &Path) -> BenchResult<()> {
    std::fs::write(root.join(".gitignore"), "target/\n*.log\n")?;
    let words = [
        "account", "balance", "channel", "domain", "engine", "filter", "gateway", "handle",
    ];
    for number in 0..FILE_COUNT + IGNORED_FILE_COUNT {
        let folder = match number {
            ..FILE_COUNT => {
                let place = number % FOLDER_COUNT;
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
        for line in 0..LINES_PER_FILE {
            let word = words[(number * 7 + line * 13) % words.len()];
            writeln!(
                text,
                "    let {word}_{line} = compute_{word}({number}, {line}); // seed"
            )?;
            if number % RARE_WORD_INTERVAL == 0 && line == LINES_PER_FILE / 2 {
                writeln!(text, "    // {RARE_WORD} {number}")?;
            }
        }
        let ending = if number % 3 == 0 { "rs" } else { "txt" };
        std::fs::write(folder.join(format!("file{number}.{ending}")), text)?;
    }
    Ok(())
}

//! Markdown: headings, one within the other by their level.

use super::tree::{Node, TreeBuilder};

/// Reads the headings of a Markdown text, with the lines below each.
pub(super) fn read_markdown(text: &str) -> Option<Node<'_>> {
    let mut builder = TreeBuilder::new();
    let mut levels: Vec<usize> = Vec::new();
    let mut fence: Option<&str> = None;
    for (line, text) in text.lines().enumerate() {
        let trimmed = text.trim_start();
        match fence {
            Some(mark) if trimmed.starts_with(mark) => fence = None,
            Some(_) => {}
            None => {
                fence = ["```", "~~~"]
                    .into_iter()
                    .find(|mark| trimmed.starts_with(mark))
            }
        }
        let heading = parse_heading(text).filter(|_| fence.is_none());
        let Some((level, title)) = heading.map(|it| (it.level, it.title)) else {
            if !trimmed.is_empty() {
                builder.push_line(text, line)?;
            }
            continue;
        };
        while levels.last().is_some_and(|open| *open >= level) {
            levels.pop();
            builder.close(0)?;
        }
        levels.push(level);
        builder.open_name(title, line)?;
    }
    for _ in levels {
        builder.close(0)?;
    }
    builder.finish()
}

struct Heading<'a> {
    level: usize,
    title: &'a str,
}

fn parse_heading(line: &str) -> Option<Heading<'_>> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let title = line.get(level..)?.strip_prefix(' ')?;
    (1..=6).contains(&level).then(|| Heading {
        level,
        title: title.trim().trim_end_matches('#').trim_end(),
    })
}

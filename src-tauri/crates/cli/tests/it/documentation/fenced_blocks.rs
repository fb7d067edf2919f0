//! Fenced blocks of a page, with what their info strings say.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use super::read_page;

/// A fenced block.
#[derive(Debug)]
pub(super) struct FencedBlock {
    pub(super) page: String,
    /// Line of its opening fence.
    pub(super) line: usize,
    pub(super) language: String,
    /// What is done with it.
    pub(super) purpose: BlockPurpose,
    pub(super) text: String,
}

/// What is done with a block: the words after its language.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BlockPurpose {
    /// Nothing is said.
    Plain,
    /// `file=PATH`: it is that file in the project for the commands after it; with `~/`, in the home folder.
    File(String),
    /// `exit=CODE`: its last command ends so.
    Exit(i32),
    /// `no-run: REASON`.
    NotRun(String),
    /// `settings`, `rules` or `manifest`: what a block in TOML is where no file says it.
    Kind(String),
}

impl FencedBlock {
    /// Returns the blocks of a page in their order.
    pub(super) fn read_page(page: &str) -> Vec<Self> {
        let text = read_page(page);
        let mut blocks: Vec<Self> = Vec::new();
        let mut is_inside = false;
        for (event, range) in Parser::new(&text).into_offset_iter() {
            match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                    let line = text[..range.start].matches('\n').count() + 1;
                    let (language, rest) = info.split_once(' ').unwrap_or((&*info, ""));
                    let purpose = parse_purpose(rest.trim())
                        .unwrap_or_else(|| panic!("{page}:{line}: `{rest}` is not understood"));
                    blocks.push(Self {
                        page: page.to_owned(),
                        line,
                        language: language.to_owned(),
                        purpose,
                        text: String::new(),
                    });
                    is_inside = true;
                }
                Event::Text(part) if is_inside => {
                    let block = blocks.last_mut().unwrap();
                    block.text.push_str(&part);
                }
                Event::End(pulldown_cmark::TagEnd::CodeBlock) => is_inside = false,
                _ => {}
            }
        }
        blocks
    }

    /// Where the block stands.
    pub(super) fn place(&self) -> String {
        format!("{}:{}", self.page, self.line)
    }
}

fn parse_purpose(words: &str) -> Option<BlockPurpose> {
    if words.is_empty() {
        return Some(BlockPurpose::Plain);
    }
    if let Some(reason) = words.strip_prefix("no-run:") {
        let reason = reason.trim();
        return (!reason.is_empty()).then(|| BlockPurpose::NotRun(reason.to_owned()));
    }
    match words.split_once('=') {
        Some(("file", path)) => Some(BlockPurpose::File(path.to_owned())),
        Some(("exit", code)) => code.parse().ok().map(BlockPurpose::Exit),
        None if ["settings", "rules", "manifest"].contains(&words) => {
            Some(BlockPurpose::Kind(words.to_owned()))
        }
        _ => None,
    }
}

#[test]
fn an_info_string_says_what_is_done_with_a_block() {
    for (words, purpose) in [
        ("", Some(BlockPurpose::Plain)),
        (
            "no-run: it asks",
            Some(BlockPurpose::NotRun("it asks".into())),
        ),
        ("no-run:", None),
        ("file=a/b.toml", Some(BlockPurpose::File("a/b.toml".into()))),
        ("exit=3", Some(BlockPurpose::Exit(3))),
        ("exit=no", None),
        ("rules", Some(BlockPurpose::Kind("rules".into()))),
        ("sandbox", None),
    ] {
        assert_eq!(parse_purpose(words), purpose, "{words}");
    }
}

//! Converts a tree to Markdown, however deep it is and whatever it contains.
//!
//! There are crates for this. Those that fold a table into columns of one width need the product of its rows and its
//! longest cell, recursive ones overflow the stack, and neither has a size limit: a page may well be hostile. So this
//! module has its own walk, without recursion and with a limit.

use dom_query::NodeRef;

use super::markdown_writer::{MarkdownWriter, WriterMark};

/// The Markdown of a tree.
pub(super) struct MarkdownText {
    /// Text in Markdown.
    pub text: String,
    /// Whether the text was cut because it was too long.
    pub is_full: bool,
}

/// The action to take when an element ends.
enum CloseAction {
    Nothing,
    Gap(usize),
    Mark(WriterMark, &'static str),
    Heading(WriterMark),
    Link(WriterMark, String),
    List,
    Item,
    Quote,
    Table,
    Row,
    Cell,
}

/// The treatment of an element by the walk.
enum EnterResult {
    /// Descend into the element, and take this action at its end.
    Descend(CloseAction),
    /// The element was handled.
    Consumed,
}

/// A walk over a tree, with the state of the open elements.
#[derive(Default)]
struct MarkdownWalk {
    out: MarkdownWriter,
    /// Open lists, each with its next number if it is numbered.
    lists: Vec<Option<u64>>,
    /// Open tables: the number of cells in the current row, and whether a row was written.
    tables: Vec<(usize, bool)>,
}

/// Converts everything below a node.
pub(super) fn write_markdown(root: &NodeRef<'_>) -> MarkdownText {
    let mut walk = MarkdownWalk::default();
    let mut open: Vec<(NodeRef<'_>, CloseAction)> = Vec::new();
    let mut at = root.first_child();
    loop {
        match at {
            _ if walk.out.is_full() => break,
            Some(node) if node.is_text() => {
                walk.out.write_words(&node.text());
                at = node.next_sibling();
            }
            Some(node) if node.is_element() => match walk.enter_node(&node) {
                EnterResult::Descend(close) => {
                    open.push((node, close));
                    at = node.first_child();
                }
                EnterResult::Consumed => at = node.next_sibling(),
            },
            Some(node) => at = node.next_sibling(),
            None => match open.pop() {
                Some((node, close)) => {
                    walk.leave_node(close);
                    at = node.next_sibling();
                }
                None => break,
            },
        }
    }
    let (text, is_full) = walk.out.finish();
    MarkdownText { text, is_full }
}

impl MarkdownWalk {
    fn enter_node(&mut self, node: &NodeRef<'_>) -> EnterResult {
        let Some(name) = node.node_name() else {
            return EnterResult::Descend(CloseAction::Nothing);
        };
        match name.as_ref() {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" if !self.out.is_inline() => {
                let level = name
                    .as_bytes()
                    .get(1)
                    .map_or(1, |digit| usize::from(digit - b'0'));
                self.out.request_gap(2);
                EnterResult::Descend(CloseAction::Heading(
                    self.out.open(&format!("{} ", "#".repeat(level))),
                ))
            }
            "p" | "dl" | "figure" | "fieldset" => self.enter_block(2),
            "div" | "section" | "article" | "main" | "header" | "footer" | "aside" | "nav"
            | "form" | "address" | "details" | "summary" | "figcaption" | "caption" | "dt"
            | "dd" | "legend" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.enter_block(1),
            "br" => {
                self.out.request_gap(1);
                EnterResult::Consumed
            }
            "hr" => {
                self.out.request_gap(2);
                self.out.write_literal("---");
                self.out.request_gap(2);
                EnterResult::Consumed
            }
            "strong" | "b" => EnterResult::Descend(CloseAction::Mark(self.out.open("**"), "**")),
            "em" | "i" => EnterResult::Descend(CloseAction::Mark(self.out.open("*"), "*")),
            "del" | "s" | "strike" => {
                EnterResult::Descend(CloseAction::Mark(self.out.open("~~"), "~~"))
            }
            "code" | "kbd" | "samp" | "tt" => self.enter_inline_code(node),
            "pre" => self.write_code_block(node),
            "a" => self.enter_link(node),
            "img" => self.write_image(node),
            "ul" | "menu" => self.enter_list(None),
            "ol" => {
                let start = node
                    .attr("start")
                    .and_then(|start| start.trim().parse().ok());
                self.enter_list(Some(start.unwrap_or(1)))
            }
            "li" => self.enter_list_item(),
            "blockquote" if !self.out.is_inline() => {
                self.out.request_gap(2);
                self.out.indent("> ", "> ");
                EnterResult::Descend(CloseAction::Quote)
            }
            "table" | "tr" | "td" | "th" => self.enter_table_part(&name),
            _ => EnterResult::Descend(CloseAction::Nothing),
        }
    }

    fn enter_block(&mut self, lines: usize) -> EnterResult {
        self.out.request_gap(lines);
        EnterResult::Descend(CloseAction::Gap(lines))
    }

    fn enter_inline_code(&mut self, node: &NodeRef<'_>) -> EnterResult {
        let text = node.text();
        let words: Vec<&str> = text.split_whitespace().collect();
        let fence = match text.contains('`') {
            true => "``",
            false => "`",
        };
        if text.starts_with(char::is_whitespace) {
            self.out.write_words(" ");
        }
        if !words.is_empty() {
            self.out
                .write_literal(&format!("{fence}{}{fence}", words.join(" ")));
        }
        EnterResult::Consumed
    }

    fn write_code_block(&mut self, node: &NodeRef<'_>) -> EnterResult {
        let mut text = String::new();
        for below in node.descendants_it() {
            if below.is_text() {
                text.push_str(&below.text());
            } else if below.has_name("br") {
                text.push('\n');
            }
        }
        if self.out.is_inline() {
            self.out.write_words(&text);
            return EnterResult::Consumed;
        }
        let text = text.trim_matches('\n');
        if text.trim().is_empty() {
            return EnterResult::Consumed;
        }
        let longest = text
            .split(|c| c != '`')
            .map(str::len)
            .max()
            .unwrap_or_default();
        let fence = "`".repeat(longest.clamp(2, 32) + 1);
        self.out.request_gap(2);
        let head = format!("{fence}{}", code_language(node));
        self.out.write_lines(std::iter::once(head.as_str()));
        self.out.write_lines(text.lines());
        self.out.write_lines(std::iter::once(fence.as_str()));
        self.out.request_gap(2);
        EnterResult::Consumed
    }

    fn enter_link(&mut self, node: &NodeRef<'_>) -> EnterResult {
        match node.attr("href").filter(|href| !href.is_empty()) {
            Some(href) if !self.out.is_inline() || !self.tables.is_empty() => {
                let place = self.out.open("[");
                self.out.begin_inline();
                EnterResult::Descend(CloseAction::Link(place, href.to_string()))
            }
            Some(_) | None => EnterResult::Descend(CloseAction::Nothing),
        }
    }

    fn write_image(&mut self, node: &NodeRef<'_>) -> EnterResult {
        let alt = node.attr("alt").unwrap_or_default();
        let words: Vec<&str> = alt.split_whitespace().collect();
        let alt = words.join(" ").replace(['[', ']'], "");
        if !alt.is_empty() {
            let src = node.attr("src").unwrap_or_default();
            match src.starts_with("http") {
                true => self.out.write_literal(&format!("![{alt}]({src})")),
                false => self.out.write_literal(&format!("[image: {alt}]")),
            }
        }
        EnterResult::Consumed
    }

    fn enter_list(&mut self, from: Option<u64>) -> EnterResult {
        self.out.request_gap(match self.lists.is_empty() {
            true => 2,
            false => 1,
        });
        self.lists.push(from);
        EnterResult::Descend(CloseAction::List)
    }

    fn enter_list_item(&mut self) -> EnterResult {
        self.out.request_gap(1);
        if self.out.is_inline() {
            return EnterResult::Descend(CloseAction::Nothing);
        }
        let bullet = match self.lists.last_mut() {
            Some(Some(number)) => {
                let bullet = format!("{number}. ");
                *number = number.saturating_add(1);
                bullet
            }
            Some(None) | None => "- ".to_owned(),
        };
        self.out.indent(&bullet, &" ".repeat(bullet.len()));
        EnterResult::Descend(CloseAction::Item)
    }

    /// Enters a table or a part of one. Tables within a cell are written as plain words.
    fn enter_table_part(&mut self, name: &str) -> EnterResult {
        if self.out.is_inline() {
            return self.enter_block(1);
        }
        match (name, self.tables.last_mut()) {
            ("table", _) => {
                self.out.request_gap(2);
                self.tables.push((0, false));
                EnterResult::Descend(CloseAction::Table)
            }
            ("tr", Some((cells, _))) => {
                *cells = 0;
                self.out.request_gap(1);
                EnterResult::Descend(CloseAction::Row)
            }
            (_, Some((cells, _))) => {
                *cells += 1;
                self.out.write_table_bar(match *cells {
                    1 => "| ",
                    _ => " | ",
                });
                self.out.begin_inline();
                EnterResult::Descend(CloseAction::Cell)
            }
            (_, None) => self.enter_block(1),
        }
    }

    fn leave_node(&mut self, close: CloseAction) {
        match close {
            CloseAction::Nothing => {}
            CloseAction::Gap(lines) => self.out.request_gap(lines),
            CloseAction::Mark(place, mark) => self.out.close_mark(place, mark),
            CloseAction::Heading(place) => {
                self.out.close_mark(place, "");
                self.out.request_gap(2);
            }
            CloseAction::Link(place, href) => {
                self.out.end_inline();
                self.out.close_mark(place, &format!("]({href})"));
            }
            CloseAction::List => {
                self.lists.pop();
                self.out.request_gap(match self.lists.is_empty() {
                    true => 2,
                    false => 1,
                });
            }
            CloseAction::Item => {
                self.out.outdent();
                self.out.request_gap(1);
            }
            CloseAction::Quote => {
                self.out.outdent();
                self.out.request_gap(2);
            }
            CloseAction::Cell => self.out.end_inline(),
            CloseAction::Row => self.end_row(),
            CloseAction::Table => {
                self.tables.pop();
                self.out.request_gap(2);
            }
        }
    }

    fn end_row(&mut self) {
        let Some((cells @ 1.., has_rows)) = self.tables.last_mut() else {
            return;
        };
        let is_first = !std::mem::replace(has_rows, true);
        let rule = format!("|{}", " --- |".repeat(*cells));
        self.out.write_table_bar(" |");
        if is_first {
            self.out.request_gap(1);
            self.out.write_literal(&rule);
        }
        self.out.request_gap(1);
    }
}

/// Returns the language of a code block, if its class names one.
fn code_language(node: &NodeRef<'_>) -> String {
    const CHARS_MAX: usize = 20;
    let inner = node
        .first_element_child()
        .filter(|child| child.has_name("code"));
    let classes = [Some(*node), inner].into_iter().flatten();
    let mut classes = classes.filter_map(|node| node.attr("class"));
    let language = classes.find_map(|class| {
        let mut names = class.split_ascii_whitespace();
        names.find_map(|name| name.strip_prefix("language-").map(str::to_owned))
    });
    let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-');
    language
        .unwrap_or_default()
        .chars()
        .filter(plain)
        .take(CHARS_MAX)
        .collect()
}

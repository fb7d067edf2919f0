//! From a tree to Markdown, however deep it is and whatever stands in it.
//!
//! There are crates for it. Those that fold a table into columns of one width need the product of its rows and its longest
//! cell, those that go down by recursion end with the stack, and neither knows where to stop: a page is an enemy's as
//! easily as a friend's. So the walk is our own, without recursion and with an end.

use dom_query::NodeRef;

use super::written::{Place, Writer};

/// What was written.
pub(super) struct Written {
    /// The Markdown.
    pub text: String,
    /// Whether there was more than fits.
    pub is_full: bool,
}

/// What follows when an element ends.
enum Close {
    Nothing,
    Gap(usize),
    Mark(Place, &'static str),
    Heading(Place),
    Link(Place, String),
    List,
    Item,
    Quote,
    Table,
    Row,
    Cell,
}

/// What an element is to the walk.
enum Entered {
    /// Go in, and do this at its end.
    In(Close),
    /// It was dealt with.
    Done,
}

/// A walk with what is open.
#[derive(Default)]
struct Walk {
    out: Writer,
    /// Lists, each with its next number if it counts.
    lists: Vec<Option<u64>>,
    /// Tables: how many cells the row has, and whether a row was written.
    tables: Vec<(usize, bool)>,
}

/// Everything below a node.
pub(super) fn written(root: &NodeRef<'_>) -> Written {
    let mut walk = Walk::default();
    let mut open: Vec<(NodeRef<'_>, Close)> = Vec::new();
    let mut at = root.first_child();
    loop {
        match at {
            _ if walk.out.is_full() => break,
            Some(node) if node.is_text() => {
                walk.out.words(&node.text());
                at = node.next_sibling();
            }
            Some(node) if node.is_element() => match walk.enter(&node) {
                Entered::In(close) => {
                    open.push((node, close));
                    at = node.first_child();
                }
                Entered::Done => at = node.next_sibling(),
            },
            Some(node) => at = node.next_sibling(),
            None => match open.pop() {
                Some((node, close)) => {
                    walk.leave(close);
                    at = node.next_sibling();
                }
                None => break,
            },
        }
    }
    let (text, is_full) = walk.out.end();
    Written { text, is_full }
}

impl Walk {
    fn enter(&mut self, node: &NodeRef<'_>) -> Entered {
        let Some(name) = node.node_name() else {
            return Entered::In(Close::Nothing);
        };
        match name.as_ref() {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" if !self.out.is_inline() => {
                let level = name
                    .as_bytes()
                    .get(1)
                    .map_or(1, |digit| usize::from(digit - b'0'));
                self.out.gap(2);
                Entered::In(Close::Heading(
                    self.out.open(&format!("{} ", "#".repeat(level))),
                ))
            }
            "p" | "dl" | "figure" | "fieldset" => self.block(2),
            "div" | "section" | "article" | "main" | "header" | "footer" | "aside" | "nav"
            | "form" | "address" | "details" | "summary" | "figcaption" | "caption" | "dt"
            | "dd" | "legend" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.block(1),
            "br" => {
                self.out.gap(1);
                Entered::Done
            }
            "hr" => {
                self.out.gap(2);
                self.out.literal("---");
                self.out.gap(2);
                Entered::Done
            }
            "strong" | "b" => Entered::In(Close::Mark(self.out.open("**"), "**")),
            "em" | "i" => Entered::In(Close::Mark(self.out.open("*"), "*")),
            "del" | "s" | "strike" => Entered::In(Close::Mark(self.out.open("~~"), "~~")),
            "code" | "kbd" | "samp" | "tt" => self.code(node),
            "pre" => self.block_of_code(node),
            "a" => self.link(node),
            "img" => self.image(node),
            "ul" | "menu" => self.list(None),
            "ol" => {
                let start = node
                    .attr("start")
                    .and_then(|start| start.trim().parse().ok());
                self.list(Some(start.unwrap_or(1)))
            }
            "li" => self.item(),
            "blockquote" if !self.out.is_inline() => {
                self.out.gap(2);
                self.out.indent("> ", "> ");
                Entered::In(Close::Quote)
            }
            "table" | "tr" | "td" | "th" => self.table(&name),
            _ => Entered::In(Close::Nothing),
        }
    }

    fn block(&mut self, lines: usize) -> Entered {
        self.out.gap(lines);
        Entered::In(Close::Gap(lines))
    }

    fn code(&mut self, node: &NodeRef<'_>) -> Entered {
        let text = node.text();
        let words: Vec<&str> = text.split_whitespace().collect();
        let fence = match text.contains('`') {
            true => "``",
            false => "`",
        };
        if text.starts_with(char::is_whitespace) {
            self.out.words(" ");
        }
        if !words.is_empty() {
            self.out
                .literal(&format!("{fence}{}{fence}", words.join(" ")));
        }
        Entered::Done
    }

    fn block_of_code(&mut self, node: &NodeRef<'_>) -> Entered {
        let mut text = String::new();
        for below in node.descendants_it() {
            if below.is_text() {
                text.push_str(&below.text());
            } else if below.has_name("br") {
                text.push('\n');
            }
        }
        if self.out.is_inline() {
            self.out.words(&text);
            return Entered::Done;
        }
        let text = text.trim_matches('\n');
        if text.trim().is_empty() {
            return Entered::Done;
        }
        let longest = text
            .split(|c| c != '`')
            .map(str::len)
            .max()
            .unwrap_or_default();
        let fence = "`".repeat(longest.clamp(2, 32) + 1);
        self.out.gap(2);
        let head = format!("{fence}{}", language(node));
        self.out.lines(std::iter::once(head.as_str()));
        self.out.lines(text.lines());
        self.out.lines(std::iter::once(fence.as_str()));
        self.out.gap(2);
        Entered::Done
    }

    fn link(&mut self, node: &NodeRef<'_>) -> Entered {
        match node.attr("href").filter(|href| !href.is_empty()) {
            Some(href) if !self.out.is_inline() || !self.tables.is_empty() => {
                let place = self.out.open("[");
                self.out.begin_inline();
                Entered::In(Close::Link(place, href.to_string()))
            }
            Some(_) | None => Entered::In(Close::Nothing),
        }
    }

    fn image(&mut self, node: &NodeRef<'_>) -> Entered {
        let alt = node.attr("alt").unwrap_or_default();
        let words: Vec<&str> = alt.split_whitespace().collect();
        let alt = words.join(" ").replace(['[', ']'], "");
        if !alt.is_empty() {
            let src = node.attr("src").unwrap_or_default();
            match src.starts_with("http") {
                true => self.out.literal(&format!("![{alt}]({src})")),
                false => self.out.literal(&format!("[image: {alt}]")),
            }
        }
        Entered::Done
    }

    fn list(&mut self, from: Option<u64>) -> Entered {
        self.out.gap(match self.lists.is_empty() {
            true => 2,
            false => 1,
        });
        self.lists.push(from);
        Entered::In(Close::List)
    }

    fn item(&mut self) -> Entered {
        self.out.gap(1);
        if self.out.is_inline() {
            return Entered::In(Close::Nothing);
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
        Entered::In(Close::Item)
    }

    /// Tables within a cell are read along as words.
    fn table(&mut self, name: &str) -> Entered {
        if self.out.is_inline() {
            return self.block(1);
        }
        match (name, self.tables.last_mut()) {
            ("table", _) => {
                self.out.gap(2);
                self.tables.push((0, false));
                Entered::In(Close::Table)
            }
            ("tr", Some((cells, _))) => {
                *cells = 0;
                self.out.gap(1);
                Entered::In(Close::Row)
            }
            (_, Some((cells, _))) => {
                *cells += 1;
                self.out.bar(match *cells {
                    1 => "| ",
                    _ => " | ",
                });
                self.out.begin_inline();
                Entered::In(Close::Cell)
            }
            (_, None) => self.block(1),
        }
    }

    fn leave(&mut self, close: Close) {
        match close {
            Close::Nothing => {}
            Close::Gap(lines) => self.out.gap(lines),
            Close::Mark(place, mark) => self.out.close(place, mark),
            Close::Heading(place) => {
                self.out.close(place, "");
                self.out.gap(2);
            }
            Close::Link(place, href) => {
                self.out.end_inline();
                self.out.close(place, &format!("]({href})"));
            }
            Close::List => {
                self.lists.pop();
                self.out.gap(match self.lists.is_empty() {
                    true => 2,
                    false => 1,
                });
            }
            Close::Item => {
                self.out.outdent();
                self.out.gap(1);
            }
            Close::Quote => {
                self.out.outdent();
                self.out.gap(2);
            }
            Close::Cell => self.out.end_inline(),
            Close::Row => self.end_row(),
            Close::Table => {
                self.tables.pop();
                self.out.gap(2);
            }
        }
    }

    fn end_row(&mut self) {
        let Some((cells @ 1.., has_rows)) = self.tables.last_mut() else {
            return;
        };
        let is_first = !std::mem::replace(has_rows, true);
        let rule = format!("|{}", " --- |".repeat(*cells));
        self.out.bar(" |");
        if is_first {
            self.out.gap(1);
            self.out.literal(&rule);
        }
        self.out.gap(1);
    }
}

/// The language of a block of code, where its class says so.
fn language(node: &NodeRef<'_>) -> String {
    const CHARS_MAX: usize = 20;
    let inner = node
        .first_element_child()
        .filter(|child| child.has_name("code"));
    let classes = [Some(*node), inner].into_iter().flatten();
    let mut classes = classes.filter_map(|node| node.attr("class"));
    let said = classes.find_map(|class| {
        let mut names = class.split_ascii_whitespace();
        names.find_map(|name| name.strip_prefix("language-").map(str::to_owned))
    });
    let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-');
    said.unwrap_or_default()
        .chars()
        .filter(plain)
        .take(CHARS_MAX)
        .collect()
}

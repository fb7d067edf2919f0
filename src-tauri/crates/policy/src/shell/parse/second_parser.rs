//! The second opinion: the commands that another parser sees, written by other people from another grammar.

use tree_sitter::{Node, ParseOptions, ParseState, Parser};

/// The result of the second parser.
#[derive(Debug)]
pub(in crate::shell) struct SecondParse {
    /// Whether the parser could not read some of the text.
    pub has_error: bool,
    /// The words of every command as they are written, in the order in which they begin.
    pub commands: Vec<Vec<String>>,
}

/// Whether the second parser reads all of a text.
pub(in crate::shell) fn can_parse(text: &str) -> bool {
    !parse_second(text).has_error
}

/// Reads a text. One that takes too long holds an error and no command.
pub(in crate::shell) fn parse_second(text: &str) -> SecondParse {
    try_parse(text).unwrap_or(SecondParse {
        has_error: true,
        commands: Vec::new(),
    })
}

fn try_parse(text: &str) -> Option<SecondParse> {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .ok()?;
    // The parser asks now and then whether to go on; that counts its steps without a clock.
    let mut steps = 0_usize;
    let steps_max = 1_000 + text.len();
    let mut progress = |_: &ParseState| {
        steps += 1;
        steps > steps_max
    };
    let bytes = text.as_bytes();
    let tree = parser.parse_with_options(
        &mut |at, _| bytes.get(at..).unwrap_or_default(),
        None,
        Some(ParseOptions::new().progress_callback(&mut progress)),
    )?;
    let root = tree.root_node();
    let mut opinion = SecondParse {
        has_error: root.has_error(),
        commands: Vec::new(),
    };
    let mut cursor = root.walk();
    'tree: loop {
        opinion.collect_node(cursor.node(), text);
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                break 'tree;
            }
        }
    }
    Some(opinion)
}

impl SecondParse {
    fn collect_node(&mut self, node: Node<'_>, text: &str) {
        match node.kind() {
            "command" | "declaration_command" | "unset_command" => {
                let words = node_words(node, text);
                self.commands.push(words);
            }
            "test_command" => {
                let words = split_words(&node_text(node, text));
                if words.first().is_some_and(|word| word == "[") {
                    self.commands.push(words);
                }
            }
            // Words after a redirect belong to the command before it: `ls >x -l`.
            "file_redirect" => self.collect_more(node, "destination", 1, text),
            "heredoc_redirect" => self.collect_more(node, "argument", 0, text),
            _ => {}
        }
    }

    fn collect_more(&mut self, node: Node<'_>, field: &str, skip: usize, text: &str) {
        let mut cursor = node.walk();
        let extra: Vec<String> = node
            .children_by_field_name(field, &mut cursor)
            .skip(skip)
            .map(|child| node_text(child, text))
            .collect();
        if let Some(last) = self.commands.last_mut() {
            last.extend(extra);
        }
    }
}

fn node_words(node: Node<'_>, text: &str) -> Vec<String> {
    let declares = node.kind() != "command";
    let mut words = Vec::new();
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        match child.kind() {
            "variable_assignment" if !declares => {}
            "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {}
            _ => words.push(node_text(child, text)),
        }
    }
    words
}

fn node_text(node: Node<'_>, text: &str) -> String {
    text.get(node.byte_range()).unwrap_or_default().to_owned()
}

/// The words of a text in which nothing but blanks and quotes has a meaning.
fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, ' ' | '\t' | '\n') => {
                words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
                continue;
            }
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if c == open => quote = None,
            (None | Some('"'), '\\') => {
                word.push(c);
                word.extend(chars.next());
                continue;
            }
            _ => {}
        }
        word.push(c);
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

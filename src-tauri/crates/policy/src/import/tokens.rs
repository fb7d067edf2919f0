//! The words of a file of prefix rules: names, texts, signs, each with its line.

use protocol::UserError;

use super::parse_error;

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Name(String),
    Text(String),
    /// One of `( ) [ ] = ,`.
    Sign(char),
}

/// Splits a text; comments are left out.
pub(super) fn tokenize(text: &str, product: &str) -> Result<Vec<(u32, Token)>, UserError> {
    let mut tokens = Vec::new();
    let mut line = 1_u32;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let token = match c {
            '\n' => {
                line += 1;
                continue;
            }
            _ if c.is_whitespace() => continue,
            '#' => {
                while chars.next_if(|c| *c != '\n').is_some() {}
                continue;
            }
            '(' | ')' | '[' | ']' | '=' | ',' => Token::Sign(c),
            '"' | '\'' => {
                let bad = |what: &str| parse_error(product, line as usize, what);
                let mut literal = String::new();
                loop {
                    match chars.next() {
                        Some(end) if end == c => break,
                        Some('\\') => literal.push(match chars.next() {
                            Some('n') => '\n',
                            Some('t') => '\t',
                            Some(same @ ('\\' | '"' | '\'')) => same,
                            _ => return Err(bad("an escape in a text is not understood")),
                        }),
                        Some('\n') | None => return Err(bad("a text has no end")),
                        Some(c) => literal.push(c),
                    }
                }
                Token::Text(literal)
            }
            _ if c.is_alphabetic() || c == '_' => {
                let mut name = String::from(c);
                while let Some(c) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    name.push(c);
                }
                Token::Name(name)
            }
            _ => {
                return Err(parse_error(
                    product,
                    line as usize,
                    &format!("`{c}` is not understood"),
                ));
            }
        };
        tokens.push((line, token));
    }
    Ok(tokens)
}

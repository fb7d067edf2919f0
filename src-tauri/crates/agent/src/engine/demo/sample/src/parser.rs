//! A Pratt parser for one line of arithmetic.

use crate::{Expr, Token};

/// How tightly an operator holds its operands.
const ADD: u8 = 10;
const MUL: u8 = 20;
const POW: u8 = 30;

/// Reads tokens from left to right.
pub struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

impl Parser {
    pub fn new(tokens: Vec<Token>) -> Self {
        Self { tokens, at: 0 }
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    /// Reads a number, a bracket, or a sign and what it belongs to.
    fn prefix(&mut self) -> Result<Expr, String> {
        match self.next() {
            Some(Token::Number(value)) => Ok(Expr::Number(value)),
            Some(Token::Minus) => Ok(Expr::negate(self.expression(POW + 1)?)),
            Some(Token::Open) => {
                let inner = self.expression(0)?;
                self.close()?;
                Ok(inner)
            }
            other => Err(format!("unexpected {other:?}")),
        }
    }

    fn close(&mut self) -> Result<(), String> {
        match self.next() {
            Some(Token::Close) => Ok(()),
            other => Err(format!("expected a bracket, found {other:?}")),
        }
    }

    /// Reads an expression whose operators hold at least as tightly as `least`.
    pub fn expression(&mut self, least: u8) -> Result<Expr, String> {
        let mut left = self.prefix()?;
        while let Some((operator, power)) = self.peek().and_then(Token::operator) {
            if power < least {
                break;
            }
            self.at += 1;
            let right = self.expression(power + 1)?;
            left = Expr::binary(left, operator, right);
        }
        Ok(left)
    }
}

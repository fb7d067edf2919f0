//! Tally: a tiny calculator.

mod parser;

pub use parser::Parser;

/// One word of the input.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    Number(f64),
    Plus,
    Minus,
    Times,
    Power,
    Open,
    Close,
}

impl Token {
    /// The operator and how tightly it holds, if this is one.
    pub fn operator(&self) -> Option<(char, u8)> {
        match self {
            Self::Plus => Some(('+', 10)),
            Self::Minus => Some(('-', 10)),
            Self::Times => Some(('*', 20)),
            Self::Power => Some(('^', 30)),
            Self::Number(_) | Self::Open | Self::Close => None,
        }
    }
}

/// What was understood.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    Number(f64),
    Negate(Box<Expr>),
    Binary(Box<Expr>, char, Box<Expr>),
}

impl Expr {
    pub fn negate(inner: Expr) -> Self {
        Self::Negate(Box::new(inner))
    }

    pub fn binary(left: Expr, operator: char, right: Expr) -> Self {
        Self::Binary(Box::new(left), operator, Box::new(right))
    }
}

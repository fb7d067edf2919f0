//! What an agent can ask for: the registry, the built-in tools, and the differences that a person reads.
//!
//! **It knows no rule, no verdict, no session state and no event.** A tool declares what a call would touch and never
//! judges it; it shows what it would do and then does exactly that, with the approval that the one pipeline made.
//!
//! Start reading at [`diff::file_diff`].

pub mod diff;
pub mod limits;
pub mod text;

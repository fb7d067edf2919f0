//! OpenAPI documents as tools: one for each operation, and the HTTP request that a call of it sends.
//!
//! **It knows no rule, no verdict and no session.** A tool of a document says which host it reaches and what its method
//! means; what it sends is shown first, to the byte, with secrets by the names of their references. **It opens no file and
//! no connection itself**: `runtime` does, where it was judged. **What is not as it was approved is not called.**
//!
//! Documents are read as plain JSON values and not by types of their own: of the libraries there are, those for 3.0 know no
//! 3.1 and the other way round, and each gives up the whole document for one operation that is not right.
//!
//! Start reading at [`Document`], what a document says; then [`Request`], what a call sends; then [`ApiTool`].

mod answer;
mod api;
mod auth;
pub mod base;
mod body;
pub mod config;
pub mod document;
pub mod limits;
mod names;
pub mod operation;
mod parameter;
pub mod pin;
mod preview;
mod reader;
mod request;
mod schema;
mod searching;
mod security;
mod sending;
pub mod source;
mod style;
mod swagger2;
mod token;
mod tool;

pub use api::{Api, Ground, is_address};
pub use base::Bases;
pub use document::{Document, Filters};
pub use operation::Operation;
pub use pin::Pins;
pub use request::{Content, Request};
pub use source::Source;
pub use tool::ApiTool;

//! OpenAPI documents as tools: one tool for each operation, and the HTTP request that a call of it sends.
//!
//! **This crate knows no rule, no verdict and no session.** A tool of a document declares the host that it reaches and
//! the mode of its method; its request is shown first, to the byte, with the names of references in place of secrets.
//! **It opens no file and no connection itself**: `runtime` does, where policy judged them. **An operation that differs
//! from its approved definition is not called.**
//!
//! Documents are read as plain JSON values and not as types of a library: the existing libraries for 3.0 do not support
//! 3.1 and the other way round, and each rejects the whole document for one invalid operation.
//!
//! Start reading at [`ApiDocument`], the content of a document; then [`ApiRequest`], the request that a call sends;
//! then [`ApiTool`].

pub(crate) mod call;
pub mod config;
pub mod document;
pub mod limits;
mod names;
mod service;
mod web_search;

pub use crate::call::request::{ApiRequest, RequestContent};
pub use crate::document::base_url::BaseUrlOptions;
pub use crate::document::operation::Operation;
pub use crate::document::source::DocumentSource;
pub use document::{ApiDocument, OperationFilter, OperationPins};
pub use service::tool::ApiTool;
pub use service::{ApiContext, ApiService, is_document_url};

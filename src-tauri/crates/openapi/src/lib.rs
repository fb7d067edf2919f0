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

pub(crate) mod call;
pub mod config;
pub mod document;
pub mod limits;
mod names;
pub mod pins;
mod service;
mod web_search;

pub use crate::call::request::{ApiRequest, RequestContent};
pub use crate::document::base_url::BaseUrlOptions;
pub use crate::document::operation::Operation;
pub use crate::document::source::DocumentSource;
pub use document::{ApiDocument, OperationFilter};
pub use pins::OperationPins;
pub use service::tool::ApiTool;
pub use service::{ApiContext, ApiService, is_document_url};

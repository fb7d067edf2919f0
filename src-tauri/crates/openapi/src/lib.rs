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
//!
//! From a document to the request that a call would send:
//!
//! ```
//! use openapi::{ApiDocument, ApiRequest, BaseUrlOptions, DocumentSource, OperationFilter};
//! use serde_json::{Map, json};
//!
//! let source = DocumentSource::from_value(json!({
//!     "openapi": "3.1.0",
//!     "servers": [{ "url": "https://pets.example" }],
//!     "paths": { "/pets/{id}": { "get": { "operationId": "get_pet" } } },
//! }))?;
//! let options = BaseUrlOptions::default();
//! let document = ApiDocument::parse(&source, &options, &OperationFilter::default())?;
//! let arguments = Map::from_iter([("id".to_owned(), json!("7"))]);
//! let request = ApiRequest::new(&document.operations[0], &arguments, &|_| Ok(Vec::new()))?;
//! assert_eq!(request.address, "https://pets.example/pets/7");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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

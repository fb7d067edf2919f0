//! Limits of the content of a document, and of the responses of its service.

/// Size of a document, or of a file that it refers to, in bytes.
pub const DOCUMENT_BYTES_MAX: usize = 96 * 1024 * 1024;
/// Timeout for fetching a document, in milliseconds.
pub const DOCUMENT_TIMEOUT_MS: u64 = 60_000;
/// Nesting depth of a document.
pub const DOCUMENT_DEPTH_MAX: usize = 120;
/// Number of scalars, lists and maps of a YAML document; those that an alias stands for count again.
pub const YAML_NODES_MAX: usize = 2_000_000;
/// Number of aliases of a YAML document.
pub const YAML_ALIASES_MAX: usize = 10_000;
/// Stack size for parsing a YAML document, in bytes.
pub const YAML_STACK_BYTES: usize = 64 * 1024 * 1024;
/// Number of files that a document may refer to.
pub const FILES_MAX: usize = 200;
/// Number of operations of one document that become tools.
pub const OPERATIONS_MAX: usize = 4_000;
/// Length of a chain of references before it is taken for circular.
pub const REFERENCES_MAX: usize = 32;
/// Number of parameters of one operation.
pub const PARAMETERS_MAX: usize = 200;
/// Size of the schema of one operation, in bytes of JSON: further references are cut.
pub const SCHEMA_BYTES_MAX: usize = 48 * 1024;
/// Nesting depth of the schema of one operation: deeper levels are cut.
pub const SCHEMA_DEPTH_MAX: usize = 40;
/// Length of a description within a schema, in characters.
pub const MEMBER_CHARS_MAX: usize = 1_000;
/// Length of the description of an operation for the model, in characters.
pub const DESCRIPTION_CHARS_MAX: usize = 4_000;
/// Length of the name of an operation, in characters.
pub const NAME_CHARS_MAX: usize = 64;
/// Length of the title and of the version of a document, in characters.
pub const TITLE_CHARS_MAX: usize = 120;
/// Length of a quotation from a document within a sentence for a person, in characters.
pub use tools::limits::QUOTED_CHARS_MAX;
/// Number of enum values of one property of a schema that are kept.
pub const ENUM_MAX: usize = 500;
/// Number of documents of one engine.
pub const APIS_MAX: usize = 100;
/// Size of `apis.toml`, in bytes.
pub const FILE_BYTES_MAX: usize = 1024 * 1024;
/// Size of the body of one request, in bytes.
pub const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Size of the part of a request's body that a card shows, in bytes.
pub const PREVIEW_BYTES_MAX: usize = 16 * 1024;
/// Size of the response to one request, in bytes; further bytes are not read.
pub const RESPONSE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Length of the part of an error response that is reported, in characters.
pub const REASON_CHARS_MAX: usize = 4_000;
/// Length of one response header that a model gets, in characters.
pub const HEADER_CHARS_MAX: usize = 1_000;
/// Size of the response with a token, in bytes.
pub const TOKEN_BYTES_MAX: usize = 256 * 1024;
/// Time before its expiry at which a token is renewed, in milliseconds.
pub const TOKEN_MARGIN_MS: i64 = 30_000;
/// Assumed lifetime of a token that states none, in milliseconds.
pub const TOKEN_DEFAULT_LIFETIME_MS: i64 = 5 * 60_000;
/// Minimum length of secrets that are masked in a service's response, in bytes.
pub const SECRET_BYTES_MIN: usize = 6;
/// Margin for a call besides its request and that for a token, in milliseconds.
pub const CALL_MARGIN_MS: u64 = 5_000;
/// Length of the line that names the target of a call, in characters.
pub const TARGET_CHARS_MAX: usize = 200;

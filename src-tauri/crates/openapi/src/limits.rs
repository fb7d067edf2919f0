//! Limits of what a document may say, and of what its service may answer.

/// A document, or a file that it refers to, in bytes.
pub const DOCUMENT_BYTES_MAX: usize = 96 * 1024 * 1024;
/// How long it may take to fetch a document, in milliseconds.
pub const DOCUMENT_TIMEOUT_MS: u64 = 60_000;
/// Levels of a document.
pub const DOCUMENT_DEPTH_MAX: usize = 120;
/// Scalars, lists and maps of a YAML document, those counted again that an alias stands for.
pub const YAML_NODES_MAX: usize = 2_000_000;
/// Aliases of a YAML document.
pub const YAML_ALIASES_MAX: usize = 10_000;
/// Room for the levels of a YAML document while it is read, in bytes.
pub const YAML_STACK_BYTES: usize = 64 * 1024 * 1024;
/// Files that a document may refer to.
pub const FILES_MAX: usize = 200;
/// Operations of one document that become tools.
pub const OPERATIONS_MAX: usize = 4_000;
/// References that lead from one to the next before they are taken for a circle.
pub const REFERENCES_MAX: usize = 32;
/// Parameters of one operation.
pub const PARAMETERS_MAX: usize = 200;
/// The schema of one operation, in bytes of JSON: what refers to more is cut there.
pub const SCHEMA_BYTES_MAX: usize = 48 * 1024;
/// Levels of the schema of one operation: what is deeper is cut there.
pub const SCHEMA_DEPTH_MAX: usize = 40;
/// A description within a schema, in characters.
pub const MEMBER_CHARS_MAX: usize = 1_000;
/// What a model reads of an operation, in characters.
pub const DESCRIPTION_CHARS_MAX: usize = 4_000;
/// What an operation is called, in characters.
pub const NAME_CHARS_MAX: usize = 64;
/// The title and the version of a document, in characters.
pub const TITLE_CHARS_MAX: usize = 120;
/// Sentences that are kept on what was left out of a document.
pub const LEFT_OUT_MAX: usize = 20;
/// What a person sees of a member of a document within a sentence, in characters.
pub use tools::limits::QUOTED_CHARS_MAX;
/// Values of one property of a schema that are kept.
pub const ENUM_MAX: usize = 500;
/// Documents of one desk.
pub const APIS_MAX: usize = 100;
/// The file of the documents, in bytes.
pub const FILE_BYTES_MAX: usize = 1024 * 1024;
/// Filters, variables, headers or secrets of one document.
pub const VALUES_MAX: usize = 256;
/// What is kept of what a person approved of one document, in bytes.
pub const PINS_BYTES_MAX: u64 = 128 * 1024 * 1024;
/// The body of one request, in bytes.
pub const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Of the body of a request, in bytes, what a card shows.
pub const PREVIEW_BYTES_MAX: usize = 16 * 1024;
/// The answer to one request, in bytes; what is beyond is not read.
pub const RESPONSE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The beginning of an answer that says what went wrong, in characters.
pub const REASON_CHARS_MAX: usize = 4_000;
/// One header of an answer that a model gets, in characters.
pub const HEADER_CHARS_MAX: usize = 1_000;
/// The answer with a token, in bytes.
pub const TOKEN_BYTES_MAX: usize = 256 * 1024;
/// A token is asked for anew so long before it ends, in milliseconds.
pub const TOKEN_MARGIN_MS: i64 = 30_000;
/// A token that does not say how long it holds, in milliseconds.
pub const TOKEN_DEFAULT_LIFETIME_MS: i64 = 5 * 60_000;
/// Secrets shorter than this are not looked for in what a service answers, in bytes.
pub const SECRET_BYTES_MIN: usize = 6;
/// What a call may take beside its request and that for a token, in milliseconds.
pub const CALL_MARGIN_MS: u64 = 5_000;
/// The line that says what a call acts on, in characters.
pub const TARGET_CHARS_MAX: usize = 200;
/// Length of a difference that is shown, in bytes.
pub const DIFF_BYTES_MAX: usize = 64 * 1024;

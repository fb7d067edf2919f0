//! Limits of what a server may say and cost.

use std::time::Duration;

/// One message of a server, in bytes. A server that writes a longer line is ended.
pub const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Tools of one server; what it has beyond them is left out, and said so.
pub const TOOLS_MAX: usize = 1_000;
/// Pages of one list of tools.
pub const PAGES_MAX: usize = 200;
/// One tool's definition, in bytes of JSON; a larger one is left out.
pub const DEFINITION_BYTES_MAX: usize = 64 * 1024;
/// All definitions of one server, in bytes of JSON.
pub const CATALOGUE_BYTES_MAX: usize = 2 * 1024 * 1024;
/// What is kept of a list that waits for an approval, in bytes.
pub const PENDING_CATALOGUE_BYTES_MAX: u64 = 2 * CATALOGUE_BYTES_MAX as u64;
/// What is kept of how a server said that it wants to know who asks, in bytes.
pub const CHALLENGE_BYTES_MAX: u64 = 64 * 1024;
/// Sentences that are kept on what was left out of a list.
pub const LEFT_OUT_MAX: usize = 20;
/// What a server calls a tool, in characters, within a sentence.
pub const NAME_CHARS_MAX: usize = 64;
/// What a server says went wrong, in characters, within a sentence.
pub const REASON_CHARS_MAX: usize = 1_000;
/// Lines that are kept of what a server says.
pub const LOG_LINES_MAX: usize = 500;
/// One of these lines, in characters.
pub const LOG_LINE_CHARS_MAX: usize = 2_000;
/// Lines of one second that are kept; of more only the number is.
pub const LOG_LINES_PER_SECOND_MAX: u32 = 200;
/// Items of one answer that are kept.
pub const CONTENT_ITEMS_MAX: usize = 256;
/// Text of one answer, in bytes; the pipeline cuts what the model gets of it.
pub const TEXT_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Servers of one desk.
pub const SERVERS_MAX: usize = 100;
/// The file of the servers, in bytes.
pub const FILE_BYTES_MAX: usize = 1024 * 1024;
/// Arguments, variables or headers of one server.
pub const VALUES_MAX: usize = 256;
/// One such value, in bytes, also after its references were looked up.
pub const VALUE_BYTES_MAX: usize = tools::limits::VALUE_BYTES_MAX;
/// When a server that was lost is tried again: after the first try so many seconds, and so on, then always the last.
pub const RETRY_AFTER_S: [u32; 5] = [1, 2, 5, 15, 60];
/// A connection that held for so long was a good one: when it is lost, the pauses begin anew.
pub const STEADY_AFTER: Duration = Duration::from_secs(60);
/// What a call may take beside its start and its answer, in milliseconds.
pub const START_MARGIN_MS: u64 = 5_000;
/// What a model reads of a tool, in characters.
pub const DESCRIPTION_CHARS_MAX: usize = 16_000;
/// The line that says what a call acts on, in characters.
pub const TARGET_CHARS_MAX: usize = 200;
/// A changed list is asked for at most this often.
pub const RELIST_EVERY: Duration = Duration::from_millis(500);
/// How long a call waits to tell a server that it was cancelled.
pub const CANCEL_NOTICE_TIMEOUT: Duration = Duration::from_millis(250);
/// How often a server may ask back before it answers a call.
pub const ROUNDS_MAX: usize = 10;
/// Length of a difference that is shown, in bytes.
pub const DIFF_BYTES_MAX: usize = 64 * 1024;
/// Fields of one form of a server.
pub const FORM_FIELDS_MAX: usize = 64;
/// Things to choose from in one field.
pub const FORM_OPTIONS_MAX: usize = 256;
/// A title, a description or a default of a field, in characters.
pub const FORM_TEXT_CHARS_MAX: usize = 2_000;
/// A field's name, or one thing to choose, in characters.
pub const FORM_VALUE_CHARS_MAX: usize = 200;
/// What a person writes into one field, in characters.
pub const FORM_ANSWER_CHARS_MAX: u64 = 100_000;
/// What a server says that it wants, in characters; of more it gets a no.
pub const ELICITATION_CHARS_MAX: usize = 8_000;
/// An address that a server wants opened, in characters.
pub const ELICITATION_URL_CHARS_MAX: usize = 4_000;
/// How often a server may ask the person in one call.
pub const ELICITATIONS_PER_CALL_MAX: u32 = 10;
/// Addresses that a person is sent to before a server answers.
pub const ELICITATION_URLS_MAX: usize = 5;
/// Messages that a model is sent for a server at once.
pub const SAMPLING_MESSAGES_MAX: usize = 100;
/// All of them, in characters.
pub const SAMPLING_CHARS_MAX: usize = 100_000;
/// How often a model answers for a server in one call.
pub const SAMPLINGS_PER_CALL_MAX: u32 = 3;
/// Resources that one question for the list tells.
pub const RESOURCES_LISTED_MAX: usize = 200;
/// What is told of one of them, in characters.
pub const RESOURCE_CHARS_MAX: usize = 300;
/// The address of a resource, in characters.
pub const URI_CHARS_MAX: usize = 4_000;
/// How long a person has to sign in, from when they were told the address.
pub const SIGN_IN_TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// One request to whoever signs the person in, in milliseconds.
pub const SIGN_IN_REQUEST_MS: u64 = 20_000;
/// One answer of theirs, in bytes.
pub const SIGN_IN_ANSWER_BYTES_MAX: usize = 256 * 1024;
/// What is kept of a sign-in, in bytes.
pub const SIGN_IN_RECORD_BYTES_MAX: usize = 16_000;
/// Messages of one prompt that are told.
pub const PROMPT_MESSAGES_MAX: usize = 100;
/// Hosts that a server in a room may reach.
pub const SANDBOX_HOSTS_MAX: usize = 32;
/// Things that a server was refused in its room, told when it ended.
pub const REFUSALS_REPORTED_MAX: usize = 5;
/// What one prompt is filled in with, in number.
pub const PROMPT_ARGUMENTS_MAX: usize = 32;

//! Limits of the size, number and duration of a server's messages, lists and requests.

use std::time::Duration;

/// Length of one message of a server, in bytes. A server that writes a longer line is ended.
pub const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Number of tools of one server; further tools are left out, and that is reported.
pub const TOOLS_MAX: usize = 1_000;
/// Number of pages of one list of tools.
pub const PAGES_MAX: usize = 200;
/// Size of one tool's definition, in bytes of JSON; a larger one is left out.
pub const DEFINITION_BYTES_MAX: usize = 64 * 1024;
/// Size of all definitions of one server, in bytes of JSON.
pub const CATALOGUE_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Size of a stored list that waits for an approval, in bytes.
pub const PENDING_CATALOGUE_BYTES_MAX: u64 = 2 * CATALOGUE_BYTES_MAX as u64;
/// Size of the stored authentication challenge of a server, in bytes.
pub const CHALLENGE_BYTES_MAX: u64 = 64 * 1024;
/// Length of a server's name for a tool within a sentence, in characters.
pub const NAME_CHARS_MAX: usize = 64;
/// Length of a server's error message within a sentence, in characters.
pub const REASON_CHARS_MAX: usize = 1_000;
/// Number of log lines that are kept of one server.
pub const LOG_LINES_MAX: usize = 500;
/// Length of one log line, in characters.
pub const LOG_LINE_CHARS_MAX: usize = 2_000;
/// Number of log lines that are kept of one second; further lines are only counted.
pub const LOG_LINES_PER_SECOND_MAX: u32 = 200;
/// Number of log messages that may wait for a client of a gateway; further ones are dropped and counted.
pub const LOG_MESSAGES_QUEUE_MAX: usize = 256;
/// Length of the data of a log message that is passed on, in bytes of JSON; a longer one is cut.
pub const LOG_MESSAGE_BYTES_MAX: usize = 64 * 1024;
/// Number of content items that are kept of one answer.
pub const CONTENT_ITEMS_MAX: usize = 256;
/// Length of the text of one answer, in bytes; the pipeline cuts the part that the model gets.
pub const TEXT_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Number of servers of one engine.
pub const SERVERS_MAX: usize = 100;
/// Size of `servers.toml`, in bytes.
pub const FILE_BYTES_MAX: usize = 1024 * 1024;
/// Pauses before a lost server is connected again, in seconds, in order; the last one repeats.
pub const RETRY_AFTER_S: [u32; 5] = [1, 2, 5, 15, 60];
/// Duration after which a connection counts as stable: when it is lost, the pauses begin anew.
pub const STEADY_AFTER: Duration = Duration::from_secs(60);
/// Margin for a call besides its start and its answer, in milliseconds.
pub const START_MARGIN_MS: u64 = 5_000;
/// Length of the description of a tool for the model, in characters.
pub const DESCRIPTION_CHARS_MAX: usize = 16_000;
/// Length of the line that names the target of a call, in characters.
pub const TARGET_CHARS_MAX: usize = 200;
/// Minimum interval between two requests for a changed list.
pub const RELIST_EVERY: Duration = Duration::from_millis(500);
/// How long a call waits to notify a server of its cancellation.
pub const CANCEL_NOTICE_TIMEOUT: Duration = Duration::from_millis(250);
/// How often a server may request input before it answers a call.
pub const ROUNDS_MAX: usize = 10;
/// How long is waited between two looks at a task, where the server wants nothing else.
pub const TASK_POLL_DEFAULT: Duration = Duration::from_secs(1);
/// Shortest time between two looks at a task.
pub const TASK_POLL_MIN: Duration = Duration::from_millis(50);
/// Longest time between two looks at a task.
pub const TASK_POLL_MAX: Duration = Duration::from_secs(30);
/// How long a server of 2025 is asked to keep a task beyond the timeout of its call: the time for which a person may think about
/// what it asks.
pub const TASK_KEPT_FOR: Duration = Duration::from_secs(60 * 60);
/// How long a server has to take note that a task is waited for no more.
pub const TASK_CANCEL_TIMEOUT: Duration = Duration::from_secs(5);
/// Number of fields of one form of a server.
pub const FORM_FIELDS_MAX: usize = 64;
/// Number of options of one field.
pub const FORM_OPTIONS_MAX: usize = 256;
/// Length of the title, the description or the default of a field, in characters.
pub const FORM_TEXT_CHARS_MAX: usize = 2_000;
/// Length of a field's name or of one option, in characters.
pub const FORM_VALUE_CHARS_MAX: usize = 200;
/// Length of a person's answer to one field, in characters.
pub const FORM_ANSWER_CHARS_MAX: u64 = 100_000;
/// Length of the message of an elicitation, in characters; a longer one is declined.
pub const ELICITATION_CHARS_MAX: usize = 8_000;
/// Length of a URL that a server wants opened, in characters.
pub const ELICITATION_URL_CHARS_MAX: usize = 4_000;
/// Number of elicitations per call.
pub const ELICITATIONS_PER_CALL_MAX: u32 = 10;
/// Number of URLs that a person is sent to before a server answers.
pub const ELICITATION_URLS_MAX: usize = 5;
/// Time after the end of a call in which log messages of the server still belong to it.
pub const ENDED_CALL_TIME: Duration = Duration::from_millis(500);
/// Number of messages that one sampling request sends to a model.
pub const SAMPLING_MESSAGES_MAX: usize = 100;
/// Length of all messages of a sampling request, in characters.
pub const SAMPLING_CHARS_MAX: usize = 100_000;
/// Number of tools that one sampling request gives a model.
pub const SAMPLING_TOOLS_MAX: usize = 64;
/// Longest name of such a tool that all providers take.
pub const SAMPLING_TOOL_NAME_CHARS_MAX: usize = 64;
/// Number of sampling requests per call.
pub const SAMPLINGS_PER_CALL_MAX: u32 = 8;
/// Number of resources in the output of one listing.
pub const RESOURCES_LISTED_MAX: usize = 200;
/// Length of the line for one resource in a listing, in characters.
pub const RESOURCE_CHARS_MAX: usize = 300;
/// Length of the URI of a resource, in characters.
pub const URI_CHARS_MAX: usize = 4_000;
/// Number of resources of a server that are watched for changes at the same time.
pub const WATCHED_RESOURCES_MAX: usize = 1_000;
/// How long a person has to sign in, from the moment when the URL is shown.
pub const SIGN_IN_TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// Timeout of one request to an authorization server, in milliseconds.
pub const SIGN_IN_REQUEST_MS: u64 = 20_000;
/// Size of one answer of an authorization server, in bytes.
pub const SIGN_IN_ANSWER_BYTES_MAX: usize = 256 * 1024;
/// Size of a stored sign-in, in bytes.
pub const SIGN_IN_RECORD_BYTES_MAX: usize = 16_000;
/// Number of messages of one prompt that are shown.
pub const PROMPT_MESSAGES_MAX: usize = 100;
/// Number of hosts that a sandboxed server may reach.
pub const SANDBOX_HOSTS_MAX: usize = 32;
/// Number of refused accesses of a sandboxed server that are reported when the server ends.
pub const REFUSALS_REPORTED_MAX: usize = 5;
/// Number of arguments of one prompt.
pub const PROMPT_ARGUMENTS_MAX: usize = 32;

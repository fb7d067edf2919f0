//! Limits of the gateway.

use std::time::Duration;

/// Longest message of a client, in bytes: the longest arguments of a call, as encoded in JSON. A longer message is not
/// read, and is answered with an error.
pub const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Number of sessions on one page of an editor's list.
pub const LIST_PAGE_SESSIONS: usize = 100;
/// Number of entries of a session that are read at a time.
pub const HISTORY_PAGE_ENTRIES: u32 = 200;
/// Longest title of a session that an editor's first prompt gives, in characters.
pub const TITLE_CHARS_MAX: usize = 64;
/// Longest live output of a call that an editor is sent with each update, in bytes; its end is sent.
pub const LIVE_OUTPUT_BYTES_MAX: usize = 8 * 1024;
/// Time that runs may take to end once their editor has closed its side.
pub const RUN_END_TIMEOUT: Duration = Duration::from_secs(5);
/// Number of tools on one page of the list.
pub const LIST_PAGE_TOOLS: usize = 250;
/// Time that a client of 2026 has to answer what a call asks in between; then the call is ended.
pub const HELD_CALL_MAX: Duration = Duration::from_secs(10 * 60);
/// Number of resources whose changes one client is told.
pub const SUBSCRIPTIONS_MAX: usize = 256;
/// Number of progress messages of a call that may wait to be sent; further ones are dropped.
pub const PROGRESS_QUEUE_MAX: usize = 64;
/// Time after which progress of a call is told again where nothing happens. Clients that give a call up after a time
/// without progress wait for 60 s.
pub const PROGRESS_PAUSE_MAX: Duration = Duration::from_secs(10);
/// Time that running calls may take to end once the client has closed its side; then they are cancelled. Clients wait 2
/// s before they kill their server.
pub const CALLS_DRAIN_TIMEOUT: Duration = Duration::from_millis(1_000);
/// Number of lines that may wait to be written; beyond it no input is read until the client reads them.
pub const LINES_QUEUE_MAX: usize = 64;
/// Time that a client may take to read the last answers once the connection is over.
pub const FINAL_WRITE_TIMEOUT: Duration = Duration::from_millis(1_000);
/// Number of requests to the local endpoint that are open at the same time; a further one is refused.
pub const CONNECTIONS_MAX: usize = 1_024;
/// Time within which a client of the local endpoint has to send its request.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest text of a result that is kept of a call that an agent ran itself, in characters.
pub const RESULT_CHARS_MAX: usize = 200_000;
/// Number of agents' sessions that are open at the same time; beyond it the one that was used longest ago is closed.
pub const AGENT_SESSIONS_MAX: usize = 256;
/// Longest environment of an agent's terminal, in bytes; systems start no program with a longer one. A call with a longer
/// one is denied.
pub const TERMINAL_ENV_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Time between the answer to a hook and the end of the agent's own time limit.
pub const ANSWER_MARGIN: Duration = Duration::from_secs(5);
/// Time that an engine without a window may take until it listens.
pub const HOST_START_MAX: Duration = Duration::from_secs(15);
/// Time without a hook after which an engine without a window ends.
pub const HOST_IDLE_MAX: Duration = Duration::from_secs(15 * 60);
/// Time that a hook may take to answer a made-up event.
pub const HOOK_CHECK_TIMEOUT: Duration = Duration::from_secs(60);
/// Number of bytes that are read of a hook's answer, and of what it says on standard error.
pub const HOOK_ANSWER_BYTES_MAX: u64 = 64 * 1024;
/// Time for which sessions of an agent count as recent, in milliseconds.
pub const RECENT_SESSIONS_MS: i64 = 7 * 24 * 60 * 60 * 1_000;
/// Number of images that a message of a transcript can name by their files.
pub const TRANSCRIPT_IMAGE_FILES_MAX: usize = 20;
/// Most transcripts of an agent that are read.
pub const TRANSCRIPT_FILES_MAX: usize = 50_000;
/// Most calls that are taken from transcripts.
pub const TRANSCRIPT_CALLS_MAX: usize = 100_000;
/// Most bytes of entries with calls that are taken from transcripts.
pub const TRANSCRIPT_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Longest line of a transcript, in bytes; a longer one is skipped and named.
pub const TRANSCRIPT_LINE_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Largest transcript that is one document, in bytes.
pub const TRANSCRIPT_FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Bytes of a transcript that are read at a time.
pub const TRANSCRIPT_PIECE_BYTES: usize = 1024 * 1024;
/// Longest file that names the folder of a transcript, in bytes.
pub const PROJECT_ROOT_BYTES_MAX: u64 = 16 * 1024;
/// Number of files and lines that cannot be read and are named.
pub const TRANSCRIPT_FAULTS_SHOWN: usize = 5;
/// Time that the agent before may take to give up the endpoint of its session.
pub const ENDPOINT_BIND_MAX: Duration = Duration::from_secs(5);
/// Time that a hook of an agent's session of ours waits for a person: as long as a card stays.
pub const SESSION_HOOK_WAIT: Duration = Duration::from_secs(24 * 60 * 60);
/// Largest file that an agent is given through its client, in bytes.
pub const AGENT_FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Number of terminals that an agent has at the same time in one turn.
pub const TERMINALS_MAX: usize = 32;
/// Longest message of an agent, in bytes. A longer one ends the agent.
pub const AGENT_MESSAGE_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Number of bytes that are kept of the end of what an agent writes to standard error.
pub const AGENT_ERROR_BYTES_MAX: usize = 4 * 1024;
/// Longest line of an agent's standard error that a reason names, in characters.
pub const AGENT_ERROR_CHARS_MAX: usize = 500;
/// Time that is waited for the end of an agent's standard error before a reason is given.
pub const AGENT_ERROR_WAIT: Duration = Duration::from_millis(500);
/// Time that an agent may take to start and to open a session.
pub const AGENT_START_MAX: Duration = Duration::from_secs(120);
/// Number of sessions that an agent may list.
pub const AGENT_SESSIONS_LISTED_MAX: usize = 1_000;
/// Time that an agent may take to end its turn once it was told to stop; then it is ended.
pub const AGENT_CANCEL_MAX: Duration = Duration::from_secs(10);
/// Largest number of tokens of one kind that is taken of an agent for one prompt.
pub const AGENT_TURN_TOKENS_MAX: u64 = 1_000_000_000_000;
/// Time that an agent may take to set an option.
pub const AGENT_OPTION_MAX: Duration = Duration::from_secs(30);
/// Number of options that are taken of an agent.
pub const AGENT_OPTIONS_MAX: usize = 32;
/// Number of values that are taken of an agent's option.
pub const AGENT_OPTION_VALUES_MAX: usize = 200;
/// Longest id of an agent's option or value, in bytes; one with a longer id is not offered.
pub const AGENT_OPTION_ID_BYTES_MAX: usize = 256;
/// Longest name or description of an agent's option or value, in characters.
pub const AGENT_OPTION_TEXT_CHARS_MAX: usize = 200;
/// Time that an agent may take to end by itself, once its input has ended.
pub const AGENT_END_MAX: Duration = Duration::from_secs(2);
/// Number of agents that run at the same time; beyond it the one that was used longest ago is ended.
pub const AGENTS_MAX: usize = 32;
/// Time between two looks at whether the text of an agent that pauses is on record.
pub const TEXT_FLUSH_EVERY: Duration = Duration::from_millis(50);
/// Number of prompts of one turn that give the agent the person's reasons for rejecting its calls.
pub const FEEDBACK_PROMPTS_MAX: usize = 3;
/// Number of sessions of clients over HTTP that are open at the same time; beyond it the one that was unused longest is
/// ended, or no further one begins.
pub const HTTP_SESSIONS_MAX: usize = 64;
/// Number of requests over HTTP that are open at the same time; a further one is refused.
pub const HTTP_REQUESTS_MAX: usize = 256;
/// Time within which a client over HTTP has to connect again once it broke off a response; then its session ends, and
/// what it asked for is withdrawn.
pub const HTTP_RECONNECT_MAX: Duration = Duration::from_secs(30);
/// Time without a request and without an open response after which a session over HTTP ends.
pub const HTTP_IDLE_MAX: Duration = Duration::from_secs(60 * 60);
/// Time between two looks for sessions over HTTP that nobody uses any more.
pub const HTTP_SWEEP_EVERY: Duration = Duration::from_secs(5);
/// Number of tokens of clients.
pub const CLIENT_TOKENS_MAX: usize = 256;
/// Longest name of a client with a token, in characters.
pub const CLIENT_NAME_CHARS_MAX: usize = 64;
/// Longest file of the tokens of clients, in bytes.
pub const CLIENT_TOKENS_BYTES_MAX: u64 = 256 * 1024;

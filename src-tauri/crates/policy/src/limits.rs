//! Limits of judging. Every one of them can only make a verdict stricter.

/// Longest command that rules may allow, in bytes. A longer one is still searched for what is denied.
pub const COMMAND_BYTES_MAX: usize = 64 * 1024;
/// Most rules in one file; more are an error, and the file counts as broken.
pub const RULES_MAX: usize = 10_000;
/// Most path patterns that are matched with a file's name all at once; beyond that, each is matched by itself.
pub const PATTERNS_AT_ONCE_MAX: usize = 1_000;
/// Longest pattern, in bytes.
pub const PATTERN_BYTES_MAX: usize = 4 * 1024;
/// Most expansions of a command line that hold more than a name. One more, and it is not parsed.
pub const SHELL_NESTING_MAX: usize = 64;
/// Most constructs of a command line that can hold others: the parser's stack.
pub const SHELL_CONSTRUCTS_MAX: usize = 100;
/// Most here-documents, and whatever else is written `<<`.
pub const SHELL_DOCUMENTS_MAX: usize = 64;
/// Most constructs that the parser tries to read twice: each doubles its work if they are nested.
pub const SHELL_RETRIED_MAX: usize = 12;
/// How deep texts that a command gives to another shell are followed.
pub const SHELL_SCRIPTS_DEEP_MAX: usize = 8;
/// Most bytes of all such texts together.
pub const SHELL_SCRIPT_BYTES_MAX: usize = 4 * COMMAND_BYTES_MAX;
/// Most commands that are recorded of one command line; more are searched for denied commands, and never allowed.
pub const SHELL_COMMANDS_MAX: usize = 2_000;
/// Most files and hosts that are recorded of one command line; a command that names more is denied.
pub const SHELL_ACCESSES_MAX: usize = 20_000;
/// Most programs running one another that are followed; the words behind them are searched for denied commands.
pub const SHELL_WRAPPERS_DEEP_MAX: usize = 128;
/// Most reasons that are given why no rule may allow a command.
pub const SHELL_REASONS_MAX: usize = 8;
/// Most ways in which the braces of one command pattern may be read.
pub const PATTERN_READINGS_MAX: usize = 64;
/// Most calls that a rule with a number of uses may decide.
pub const USES_MAX: u32 = 1_000;
/// Longest path, in bytes.
pub const PATH_BYTES_MAX: usize = 4 * 1024;
/// Most examples at one rule, of each kind.
pub const EXAMPLES_MAX: usize = 100;
/// Most characters of a name from a call that a sentence quotes.
pub const QUOTED_CHARS_MAX: usize = 120;
/// Most bytes that are read in search of commands in texts which no parser can be trusted with; the rest is searched
/// with its quotes removed and no other way.
pub const SHELL_SEARCH_BYTES_MAX: usize = 2 * 1024 * 1024;
/// The name of an agent, in characters.
pub const AGENT_NAME_CHARS_MAX: usize = 64;
/// Most folders beside the workspace that an agent's manifest declares.
pub const ROOTS_MAX: usize = 16;
/// Most bytes of an agent manifest's prompt.
pub const AGENT_PROMPT_BYTES_MAX: usize = 64 * 1024;

//! Every limit of this crate that is not in a tool's published interface.

/// Largest file that is read whole to be changed, in bytes. Reading in ranges has no such limit.
pub const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Output that the model gets inline, in bytes (`S002-72`, `S002-75`).
pub const OUTPUT_BYTES_MAX: u64 = 200 * 1024;

/// Time limit of a call of another agent's tool, in milliseconds: a sub-agent may work for hours.
pub const AGENT_TOOL_TIMEOUT_MS: u64 = 6 * 60 * 60 * 1000;

/// Longest line of what the arguments of a third-party tool name, in characters.
pub const MENTION_TARGET_CHARS_MAX: usize = 200;

/// What is kept of each stream of a command in whose place another program runs, in bytes.
pub const STREAM_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Room within [`OUTPUT_BYTES_MAX`] for the words around a file's text, in bytes.
pub const OUTPUT_NOTE_BYTES: usize = 1024;

/// Bytes that are read from disk at once while searching for lines.
pub const READ_CHUNK_BYTES: u64 = 1024 * 1024;

/// A file's lines are counted to its end only up to this size, in bytes.
pub const COUNT_LINES_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Largest image that is given as one, in bytes: what the strictest provider takes, counted before base64.
pub const IMAGE_BYTES_MAX: u64 = 3_750_000;

/// Entries that `glob` gives inline (`S002-73`).
pub const GLOB_ENTRIES_MAX: usize = 1_000;

/// Entries that `glob` puts in the sidecar file.
pub const GLOB_TOTAL_MAX: usize = 100_000;

/// Files that an overview of a repository counts; of more it says that there are more.
pub const OVERVIEW_FILES_MAX: usize = 200_000;

/// Levels of folders that an overview shows, unless it is asked for others.
pub const OVERVIEW_DEPTH_DEFAULT: u64 = 3;

/// Levels of folders that an overview shows at most.
pub const OVERVIEW_DEPTH_MAX: u64 = 6;

/// Lines of an overview that are given inline.
pub const OVERVIEW_LINES_MAX: usize = 400;

/// Files in the top folder that an overview names.
pub const OVERVIEW_TOP_FILES_MAX: usize = 60;

/// Manifests that an overview names.
pub const OVERVIEW_MANIFESTS_MAX: usize = 60;

/// Source files of all languages up to which an overview counts their lines, in bytes.
pub const OVERVIEW_COUNTED_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Largest file of git's own that is read, in bytes.
pub const GIT_FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Longest call of a language server including its start, in milliseconds.
pub const LSP_TIMEOUT_MS: u64 = 150_000;

/// Largest file that a language server is asked about, in bytes.
pub const DOCUMENT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Last line that a call may name.
pub const LINE_MAX: u64 = 10_000_000;

/// Last column that a call may name.
pub const COLUMN_MAX: u64 = 1_000_000;

/// Longest symbol that a call may name, in characters.
pub const SYMBOL_CHARS_MAX: usize = 500;

/// Lines that an error lists where a symbol is not on the given line.
pub const SYMBOL_LINES_SHOWN_MAX: usize = 10;

/// Longest excerpt of the given line that an error repeats, in characters.
pub const SYMBOL_LINE_CHARS_MAX: usize = 120;

/// Places, problems or symbols of one answer that are given inline.
pub const LSP_RESULTS_SHOWN_MAX: usize = 300;

/// Places, problems or symbols of one answer that are processed.
pub const LSP_RESULTS_MAX: usize = 10_000;

/// Longest excerpt of a line at a place, or of a problem, that is shown, in characters.
pub const LSP_LINE_CHARS_MAX: usize = 300;

/// Places outside of the workspace that are named.
pub const OUTSIDE_PATHS_SHOWN_MAX: usize = 10;

/// Size of the files that are kept in memory while the places of one answer are resolved, in bytes.
pub const LSP_READ_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Files that one renaming changes.
pub const RENAME_FILES_MAX: usize = 500;

/// Places that one renaming changes.
pub const RENAME_EDITS_MAX: usize = 20_000;

/// Matches that `grep` gives inline (`S002-74`).
pub const GREP_MATCHES_MAX: usize = 200;

/// Matches that `grep` puts in the sidecar file.
pub const GREP_TOTAL_MAX: usize = 10_000;

/// Longest line that `grep` shows, in characters.
pub const GREP_LINE_CHARS_MAX: usize = 400;

/// Default time of a command, in milliseconds (M06).
pub const COMMAND_TIMEOUT_MS: u64 = 120_000;

/// Longest time that a command may ask for, in milliseconds.
pub const COMMAND_TIMEOUT_MS_MAX: u64 = 600_000;

/// Longest command, in characters.
pub const COMMAND_CHARS_MAX: usize = 32_768;

/// Most facts that the card of a command lists.
pub const COMMAND_FACTS_MAX: usize = 64;

/// Most questions in one form.
pub const QUESTIONS_MAX: usize = 10;

/// Most answers to choose from in one question.
pub const OPTIONS_MAX: usize = 20;

/// Longest question, in characters.
pub const QUESTION_CHARS_MAX: usize = 2_000;

/// Longest label of an answer, in characters.
pub const LABEL_CHARS_MAX: usize = 200;

/// Most things in a list of things to do.
pub const TODO_ITEMS_MAX: usize = 200;

/// Longest plan, in characters.
pub const PLAN_CHARS_MAX: usize = 60_000;
/// Longest thing to do, in characters.
pub const TODO_CHARS_MAX: usize = 1_000;

/// Paths below a folder that a deletion is counted and secured for.
pub const DELETE_ENTRIES_MAX: usize = 200_000;

/// Longest patch, in characters.
pub const PATCH_CHARS_MAX: usize = 1024 * 1024;

/// Files that one patch changes.
pub const PATCH_FILES_MAX: usize = 100;

/// Hunks of one patch.
pub const PATCH_HUNKS_MAX: usize = 1_000;

/// Size of all files of one patch together, before and after, in bytes.
pub const PATCH_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Size of all files of one patch of which the differences are shown, in bytes; the other files are only said to
/// change.
pub const PATCH_SHOWN_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Entries of a folder that are searched for a name similar to a missing one.
pub const CLOSE_NAMES_SCANNED_MAX: usize = 2_000;

/// Suggestions that an error gives.
pub const CLOSE_NAMES_MAX: usize = 3;

/// Problems that one error about arguments names.
pub const PROBLEMS_MAX: usize = 5;

/// Time that one file's line difference may take, in milliseconds; past it the difference is coarser, never wrong.
pub const DIFF_DEADLINE_MS: u64 = 1_000;

/// Changed lines of both sides together up to which a difference is computed; beyond it one block replaces the other.
pub const DIFF_LINES_MAX: usize = 200_000;

/// Lines of one file's difference that are shown.
pub const DIFF_SHOWN_LINES_MAX: usize = 4_000;

/// Bytes of one file's difference that are shown.
pub const DIFF_SHOWN_BYTES_MAX: usize = 1024 * 1024;

/// Bytes of one line that are shown.
pub const DIFF_SHOWN_LINE_BYTES_MAX: usize = 4_096;

/// Lines of one replaced block, both sides together, up to which marks within lines are computed.
pub const MARKED_LINES_MAX: usize = 200;

/// Bytes of one replaced block, both sides together, up to which marks within lines are computed.
pub const MARKED_BYTES_MAX: usize = 32 * 1024;

/// Longest text whose structure is read, in bytes.
pub const STRUCTURE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Places of one text's structure; a text with more has none.
pub const STRUCTURE_NODES_MAX: usize = 200_000;

/// Places within each other of one text's structure; a text with more has none.
pub const STRUCTURE_DEPTH_MAX: usize = 64;

/// Changes between the structures of a file; where there are more, none is told.
pub const STRUCTURE_CHANGES_MAX: usize = 20_000;

/// Longest name of one place, in characters.
pub const STRUCTURE_LABEL_CHARS_MAX: usize = 60;

/// Longest way to a place, in characters; of a longer one the end is shown.
pub const STRUCTURE_WAY_CHARS_MAX: usize = 200;

/// Lines in which the changes of one file are summarized.
pub const SUMMARY_LINES_MAX: usize = 3;

/// Lines that a change is compared with to be told in one of them.
pub const SUMMARY_GROUPS_COMPARED_MAX: usize = 100;

/// Places that one line of a summary names.
pub const SUMMARY_NAMES_MAX: usize = 3;

/// Longest value in a summary, in characters.
pub const SUMMARY_VALUE_CHARS_MAX: usize = 60;

/// Lines of a file that are compared with a text that was not found in it.
pub const SIMILAR_LINES_MAX: usize = 20_000;

/// Longest answer in a composed schema, in bytes.
pub const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Longest answer of an activity, in bytes; it is read whole, since JSON cannot be cut.
pub const ACTIVITY_OUTPUT_BYTES_MAX: u64 = 1024 * 1024;

/// Time of an activity, in milliseconds.
pub const ACTIVITY_TIMEOUT_MS: u64 = 120_000;

/// Largest program of an activity, in bytes: it is read before each call, so that what was shown is what runs.
pub const ACTIVITY_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Longest excerpt of an activity's standard error in an error, in characters.
pub const ACTIVITY_ERROR_CHARS_MAX: usize = 2_000;

/// Time of a delegate's whole run, in milliseconds; people who decide on its calls may take their time.
pub const DELEGATE_TIMEOUT_MS: u64 = 24 * 60 * 60 * 1000;

/// Instances of one request.
pub const INSTANCES_MAX: usize = 100;

/// Longest name of an instance, in characters.
pub const INSTANCE_CHARS_MAX: usize = 64;

/// Files in one folder of definitions, activities or delegates.
pub const FILES_PER_FOLDER_MAX: usize = 1_000;

/// Longest file of definitions, in bytes.
pub const DEFINITIONS_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Tools in one file of definitions.
pub const TOOLS_PER_FILE_MAX: usize = 1_000;

/// Longest id or alias of a tool, in bytes; the limit of the model providers.
pub const ID_BYTES_MAX: usize = 64;

/// Other names that one tool may have.
pub const ALIASES_MAX: usize = 16;

/// Tools that an error about an unknown name lists.
pub const NAMES_LISTED_MAX: usize = 40;

/// Levels of a schema.
pub const SCHEMA_DEPTH_MAX: usize = 64;

/// Levels of a call's arguments.
pub const ARGUMENTS_DEPTH_MAX: usize = 64;

/// Files changed by a command of which the differences are shown; the other files are only said to have changed.
pub const EFFECTS_DIFFS_MAX: usize = 500;

/// Longest file of which a command's difference is shown, in bytes.
pub const EFFECTS_DIFF_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Bytes that are compared for one command in total, both sides.
pub const EFFECTS_DIFF_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Longest front matter of a file, in bytes.
pub const FRONT_MATTER_BYTES_MAX: usize = 16 * 1024;

/// Skills of a session.
pub const SKILLS_MAX: usize = 512;

/// Largest `SKILL.md`, in bytes.
pub const SKILL_BYTES_MAX: u64 = 256 * 1024;

/// Size of the list of skills that a model gets, in bytes.
pub const SKILL_INDEX_BYTES_MAX: usize = 16 * 1024;

/// Longest name of a skill, in characters, as the open specification has it.
pub const SKILL_NAME_CHARS_MAX: usize = 64;

/// Longest description of a skill, in characters, as the open specification has it.
pub const SKILL_DESCRIPTION_CHARS_MAX: usize = 1_024;

/// Longest compatibility note of a skill, in characters, as the open specification has it.
pub const SKILL_COMPATIBILITY_CHARS_MAX: usize = 500;

/// Files beside a skill that its loading names.
pub const SKILL_FILES_LISTED_MAX: usize = 50;

/// Files and folders in a skill's folder beyond which no file is named.
pub const SKILL_TREE_ITEMS_MAX: usize = 2_000;

/// Entries of one folder that are looked through for skills or agents.
pub const FOLDERS_SCANNED_MAX: usize = 20_000;

/// Agents of a session that work can be given to.
pub const AGENTS_MAX: usize = 128;

/// Largest manifest of an agent, in bytes.
pub const AGENT_BYTES_MAX: u64 = 256 * 1024;

/// Longest name of an agent in a sentence, in characters.
pub const AGENT_NAME_CHARS_MAX: usize = 64;

/// Longest task for a sub-agent, in characters.
pub const TASK_CHARS_MAX: usize = 100_000;

/// Longest title of a sub-agent task, in characters.
pub const TASK_TITLE_CHARS_MAX: usize = 80;

/// Tools of servers and documents that a model sees at once; if there are more, they are found by search.
pub const TOOLS_AT_ONCE_MAX: usize = 20;

/// Tools that one search finds, unless it says how many.
pub const MATCHES_DEFAULT: u64 = 10;

/// Tools that one search finds at most.
pub const MATCHES_MAX: usize = 50;

/// Longest description of a tool in search results, in characters.
pub const MATCH_CHARS_MAX: usize = 200;

/// Longest query for tools, in characters.
pub const SEARCH_CHARS_MAX: usize = 1_000;

/// Part of a tool's description and of its hint that is indexed for search, in bytes.
pub const INDEXED_BYTES_MAX: usize = 4 * 1024;

/// Largest page, in bytes, both as received and decompressed; a larger page is rejected.
pub const PAGE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Time from requesting a page to its last byte, in milliseconds.
pub const FETCH_TIMEOUT_MS: u64 = 30_000;

/// Time for converting a fetched body into text, in milliseconds.
pub const PAGE_PARSE_MS_MAX: u64 = 20_000;

/// Conversions that run at the same time; a conversion that does not return keeps its slot.
pub const PAGE_PARSES_MAX: usize = 4;

/// Stack of the thread that converts a page, in bytes.
pub const PAGE_PARSE_STACK_BYTES: usize = 16 * 1024 * 1024;

/// Most elements of a page that is converted.
pub const ELEMENTS_MAX: usize = 300_000;

/// Bytes of a page that are parsed between two checks of the deadline.
pub const PARSE_CHUNK_BYTES: usize = 16 * 1024;

/// Most elements of a page in which the main content is searched for.
pub const READABLE_ELEMENTS_MAX: usize = 30_000;

/// Greatest depth of a page in which the main content is searched for.
pub const READABLE_DEPTH_MAX: usize = 200;

/// Longest Markdown or text that is made of one page or document, in bytes.
pub const MARKDOWN_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Longest address of one link, in bytes.
pub const LINK_BYTES_MAX: usize = 2_000;

/// Addresses of all links of a page together, in bytes.
pub const LINKS_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Longest title of a page, in characters.
pub const TITLE_CHARS_MAX: usize = 300;

/// Pages of a document that are read.
pub const PDF_PAGES_MAX: usize = 1_000;

/// Largest decompressed stream of a document, in bytes.
pub const PDF_STREAM_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Longest address that can be fetched, in characters.
pub const URL_CHARS_MAX: usize = 8_000;

/// Longest excerpt of the page that an error repeats, in bytes.
pub const ERROR_PAGE_BYTES_MAX: usize = 2_000;

/// Results of one web search, unless it says how many.
pub const RESULTS_DEFAULT: usize = 8;

/// Most results of one web search: a number that every provider supports.
pub const RESULTS_MAX: usize = 20;

/// Depth to which the answer of a search operation is searched for the list of results.
pub const ANSWER_DEPTH_MAX: usize = 4;

/// Values of the answer of a search operation that are searched for the list of results.
pub const ANSWER_NODES_MAX: usize = 10_000;

/// Largest answer of a provider, in bytes.
pub const RESULTS_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Longest snippet of one result, in characters.
pub const SNIPPET_CHARS_MAX: usize = 600;

/// Longest excerpt of a query that is repeated, in characters.
pub const SEARCH_CHARS_SHOWN_MAX: usize = 200;

/// Most searches that a person may allow a session.
pub const SEARCH_CALLS_MAX: u32 = 10_000;

/// Longest time that a person may set for one search, in milliseconds.
pub const SEARCH_MS_MAX: u64 = 120_000;

/// Most arguments, variables, headers, filters, or secrets of one source of tools.
pub const VALUES_MAX: usize = 256;
/// Most sentences about parts of a source that were left out.
pub const LEFT_OUT_MAX: usize = 20;
/// Largest file with the approvals of one source, in bytes.
pub const PINS_BYTES_MAX: u64 = 128 * 1024 * 1024;
/// Longest difference between an approved tool and the current one that is shown, in bytes.
pub const PIN_DIFF_BYTES_MAX: usize = 64 * 1024;
/// Longest value with references, in bytes, both before and after they are resolved.
pub const VALUE_BYTES_MAX: usize = 32 * 1024;
/// Longest name that an error in a person's file repeats, in characters.
pub const QUOTED_CHARS_MAX: usize = 100;

/// Longest argument of a third-party tool whose value alone may be taken for a path or an address, in bytes.
pub const MENTION_BYTES_MAX: usize = 4 * 1024;

/// Paths, hosts and words of one call of a third-party tool that are collected.
pub const MENTIONS_MAX: usize = 512;

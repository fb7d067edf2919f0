//! The limits of this crate, in one place.

use std::time::Duration;

/// Links followed on the way to one path before it counts as a loop; the limit of Linux.
pub const LINKS_MAX: usize = 40;
/// Length of a path in bytes.
pub const PATH_BYTES_MAX: usize = 4096;
/// How often a path is looked up again when it changes between look-up and opening.
pub const RACES_MAX: usize = 4;
/// Entries in one tree that is to be removed.
pub const TREE_ITEMS_MAX: usize = 200_000;
/// Depth of one tree.
pub const TREE_DEPTH_MAX: usize = 256;
/// Bytes read to count the lines of a tree; in a larger tree the number of lines is not known.
pub const TREE_LINES_BYTES_MAX: u64 = 64 << 20;
/// Free disk space that a copy must leave.
pub const DISK_RESERVE_BYTES: u64 = 64 << 20;
/// Up to so many files are synced one by one; a larger number by one sync of the file system.
pub const SYNC_SINGLY_MAX: usize = 32;
/// Paths shown with a history entry.
pub const ENTRY_PATHS_SHOWN_MAX: usize = 20;
/// Conflicts listed by one check.
pub const CONFLICTS_MAX: usize = 200;
/// Files up to this length are copied through memory.
pub const COPY_BYTES: usize = 1 << 20;
/// Contents up to this length are kept as one file, longer ones in pieces.
pub const UNCHUNKED_BYTES_MAX: usize = 64 << 10;
/// Average length of a piece, in bytes, for contents up to a length in bytes: a few hundred pieces each, and from a
/// gigabyte on one more for each further megabyte. A piece is between a quarter of the average and four times the
/// average long.
pub const CHUNK_BYTES: [(u64, usize); 3] = [
    (4 << 20, 16 << 10),
    (64 << 20, 64 << 10),
    (1 << 30, 256 << 10),
];
/// Average length of a piece of longer contents, in bytes.
pub const CHUNK_BYTES_LAST: usize = 1 << 20;
/// Length of the longest piece.
pub const CHUNK_BYTES_MAX: usize = 4 * CHUNK_BYTES_LAST;
/// Length of one list of pieces on disk.
pub const CHUNK_LIST_BYTES_MAX: u64 = 64 << 20;
/// Allocation unit of a disk, in bytes: a copy is packed only where that takes fewer of these.
pub const BLOCK_BYTES: usize = 4 << 10;
/// Shortest run of zeros, in whole pieces, that is not written when a file is restored: it becomes a hole in the file.
pub const HOLE_BYTES_MIN: usize = 64 << 10;
/// Compression level for a copy: the zstd level that is as fast as the disk.
pub const COMPRESSION_LEVEL: i32 = 1;
/// Length of one text of a three-way merge, and of a text for which a conflict shows a difference.
pub const MERGE_BYTES_MAX: u64 = 1 << 20;
/// Paths that a receipt lists.
pub const RECEIPT_PATHS_MAX: usize = 1_000;
/// Entries that one restore takes back.
pub const RESTORE_ENTRIES_MAX: usize = 1_000;
/// Length of the extended attributes of one file.
pub const ATTRIBUTES_BYTES_MAX: usize = 64 << 10;
/// Length of one manifest on disk.
pub const MANIFEST_BYTES_MAX: u64 = 512 << 20;
/// Length of one matching line; the rest is cut.
pub const LINE_BYTES_MAX: usize = 2_000;
/// Compiled size of one regular expression.
pub const REGEX_BYTES_MAX: usize = 10 << 20;
/// Files that one search looks at.
pub const SEARCH_FILES_MAX: usize = 2_000_000;
/// Files searched before the matches are counted for the first time; the number doubles after each count.
pub const SEARCH_BATCH_FIRST: usize = 256;
/// Files searched between two counts.
pub const SEARCH_BATCH_MAX: usize = 16_384;
/// Memory for the lines of one file.
pub const SEARCH_HEAP_BYTES_MAX: usize = 128 << 20;
/// Threads of one search.
pub const SEARCH_THREADS_MAX: usize = 12;
/// Length of one spill file; further output is counted and dropped.
pub const SPILL_BYTES_MAX: u64 = 256 << 20;
/// Length of the standard error of a program; the rest is dropped.
pub const STDERR_BYTES_MAX: usize = 1 << 20;
/// Length of one piece of live output.
pub const OUTPUT_PIECE_BYTES_MAX: usize = 16 << 10;
/// How long a program may take to end by itself after its lifetime is dropped.
pub const COMPANION_EXIT_GRACE: Duration = Duration::from_millis(300);
/// Time from TERM to KILL.
pub const TERM_GRACE: Duration = Duration::from_millis(1_000);
/// Time from the end of the shell to the end of every process that still holds its output.
pub const LEFTOVER_GRACE: Duration = Duration::from_millis(250);
/// How long a killed group is waited for; processes that are never reaped remain as names only.
pub const KILL_GRACE: Duration = Duration::from_millis(500);
/// Changes within this interval count as one.
pub const DEBOUNCE: Duration = Duration::from_millis(80);
/// Length of one text file of settings or rules.
pub const TEXT_BYTES_MAX: u64 = 4 << 20;
/// Redirects followed before a fetch is given up.
pub const REDIRECTS_MAX: usize = 10;
/// Addresses of one host that are tried.
pub const ADDRESSES_MAX: usize = 16;
/// Length of an address on the web in bytes.
pub const URL_BYTES_MAX: usize = 8 << 10;
/// Time from the first packet to a connection.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Browsers that return to the callback address at the same time.
pub const CALLBACKS_MAX: usize = 16;
/// Length of the request of a returning browser, in bytes.
pub const CALLBACK_BYTES_MAX: usize = 16 << 10;
/// How long a returning browser may take to send its request.
pub const CALLBACK_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a returning browser may take to receive the answer.
pub const CALLBACK_RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);
/// Connections of one command to its proxy at the same time; further ones wait.
pub const PROXY_CONNECTIONS_MAX: usize = 128;
/// Bytes that one command may send and receive through its proxy.
pub const PROXY_BYTES_MAX: u64 = 16 << 30;
/// Head of one request to the proxy, in bytes.
pub const PROXY_HEAD_BYTES_MAX: usize = 64 << 10;
/// Refused destinations of the proxy that are listed.
pub const PROXY_REFUSED_MAX: usize = 256;
/// How often a lock held by another process is tried.
pub const LOCK_TRIES: u32 = 100;
/// Time from one try to the next.
pub const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(20);
/// Bytes on disk that one command may change in a sandbox.
pub const LAYER_BYTES_MAX: u64 = 8 << 30;
/// Bytes that one command may change in a sandbox where they are kept in memory.
pub const LAYER_MEMORY_BYTES_MAX: u64 = 1 << 30;
/// Paths that one command may change in a sandbox.
pub const LAYER_PATHS_MAX: usize = 200_000;
/// Bytes of a workspace that is copied for a command, where no layer can lie over it.
pub const COPY_BYTES_MAX: u64 = 512 << 20;
/// Paths of a workspace that is copied for a command.
pub const COPY_PATHS_MAX: usize = 50_000;
/// How often the size of a command's changes is checked.
pub const LAYER_CHECK_INTERVAL: Duration = Duration::from_millis(200);
/// Length of the files that are read to find the changes of a command, before and after together. A file that stands on
/// both sides with the same length and time counts once.
pub const DIFF_READ_BYTES_MAX: u64 = 8 << 30;
/// Names looked at to find the secrets of a workspace. A workspace with more names has no sandbox.
pub const SECRETS_NAMES_MAX: usize = 4_000_000;
/// Least memory that a sandbox may be given, in bytes: less than a compiler needs is of no use.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub const SANDBOX_MEMORY_BYTES_MIN: u64 = 256 << 20;
/// Longest secret that is compared with what git has of it, in bytes.
#[cfg(target_os = "linux")]
pub const STAGED_FILE_BYTES_MAX: u64 = 16 << 20;
/// How long a folder must have stayed unchanged before its names are remembered, in nanoseconds: file systems
/// distinguish only changes that are at least their time resolution apart, the coarsest of them two seconds.
pub const FOLDER_STABLE_NS: i64 = 3_000_000_000;
/// Folders of all workspaces whose names are remembered.
pub const FOLDERS_CACHED_MAX: usize = 400_000;
/// Folders of all workspaces that the kernel watches, and never more than an eighth of those that it can watch for all
/// programs of a person: it keeps a kilobyte or more for each.
#[cfg(target_os = "linux")]
pub const FOLDERS_WATCHED_MAX: usize = 8_192;
/// Names looked at in search of the other names of one file.
pub(crate) const LINK_NAMES_SCANNED_MAX: usize = 50_000;
/// Secrets of one workspace that are masked. A workspace with more secrets has no sandbox.
pub const SECRETS_MAX: usize = 10_000;
/// Names below closed folders looked at in search of files with more than one name.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) const CLOSED_NAMES_MAX: usize = 500;
/// Outputs looked at in one session's folder.
pub const OUTPUTS_SCANNED_MAX: usize = 1_000_000;
/// Age at which an output is packed, in milliseconds.
pub const COMPRESS_OUTPUTS_AFTER_MS: i64 = 24 * 60 * 60 * 1000;
/// Length of the list of a session's removed outputs, in bytes.
pub const REMOVED_LIST_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Paths that a private copy names as not copied.
pub const SKIPPED_PATHS_MAX: usize = 20;

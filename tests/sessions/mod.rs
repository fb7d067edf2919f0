//! Sessions from their start to their recovery, and what is told of them.

// What goes with a message beside its text.
pub(crate) mod attachments;
// What the person's attention was spent on.
pub(crate) mod attention;
// Briefing of a session's model: instructions, skills, agents.
pub(crate) mod briefing;
// Accounts of calls, from their events alone.
pub(crate) mod call_account;
// Sessions that the person deletes.
pub(crate) mod deletions;
// The demo, whole, as a golden stream that the interface's tests replay.
pub(crate) mod demo;
// Files of calls, opened in the person's editor.
pub(crate) mod editor;
// Sessions that are exported into a file.
pub(crate) mod exports;
// Sessions that go on from a message of another one.
pub(crate) mod forks;
// Sessions that the person pins and archives.
pub(crate) mod list_places;
// Settings and rules files with errors; databases that cannot be used; a full disk.
pub(crate) mod lost_record;
// The model of a session, chosen anew while it goes on.
pub(crate) mod model_options;
// Questions and their answers.
// Planning first.
pub(crate) mod planning;
pub(crate) mod questions;
pub(crate) mod startup_faults;
// Steering, stopping, and what is left of a session after a crash.
pub(crate) mod steering_and_recovery;
// The log in the words of the specifications, as golden streams.
pub(crate) mod vocabularies;

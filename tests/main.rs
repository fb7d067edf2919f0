//! Every engine test: a table of contents.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests fail by panicking, and set up real files"
)]

// Verdicts: rules and calls in `cases/*.toml`, with the verdict and the gate that they must come to.
mod verdicts;
// What a shell really runs is among what was seen in the command.
#[cfg(unix)]
mod shell_facts;
// The table that engine and interface share.
mod classify;
// Paths of three systems, each with its verdict and reason.
mod paths;
// The page that a call walks: modes, consent, partial acceptance, edits, denials.
mod pipeline;
// What every tool can count on, and what is asked of every tool.
mod contract;
// What the names of tools stand for.
mod names;
// A tool's own word on its result, and what each reader gets of it.
mod faces;
// What a model can write in the place of a call, at any size and depth.
mod bad_input;
// What comes from outside, at random: the fuzz targets with a fixed budget.
mod fuzz;
// Calls that cannot be: each is a result that the model can act on.
mod bad_calls;
// Calls side by side, in batches, one after the other; several that wait at once.
mod strategies;
// A running call: updates, progress, cancelling, steering.
mod execution;
// What the watchdogs say before a call, built in and the person's own.
#[cfg(unix)]
mod watchdogs;
// Which calls they are asked about, and what they are told of the agent.
#[cfg(unix)]
mod watchdog_sight;
// What a person answers a watchdog for good.
#[cfg(unix)]
mod watchdog_grants;
// Commands that read whole folders, and programs that are named by a path.
mod readers;
// What other programs for the same purpose stop, and what was once let through.
mod gate;
// Which files commands name, beside the real programs.
#[cfg(unix)]
mod shell_uses;
// Sessions of an agent with a manifest.
mod agents;
// What a session's model is told first: instructions, skills, agents.
mod briefing;
// Work that an agent gives to another.
mod tasks;
// Tools that are too many to be shown at once.
mod tool_search;
// What a tool can reach at all.
mod surface;
// Pages of the web, and searches of it.
mod search_operations;
mod web;
mod web_search;
// What works for an agent has no more than that agent.
mod children;
// What a host hears of a call and may keep from happening.
#[cfg(unix)]
mod hook_programs;
mod hooks;
// What a host and a tool put into a call, and what a classifier is given of it.
mod put_in;
// What a person allows or refuses from now on, how far it reaches and how it ends.
mod grants;
// Rules looked at, tried out, and held against what happened.
mod rulebook;
// Rules files as a person writes them through the desk.
mod rules_saved;
// Limits of a run.
mod run_limits;
// Calls that repeat themselves, and long work that does not.
mod repeats;
// Long outputs: packed, removed, read again.
#[cfg(unix)]
mod outputs;
// What is kept and told of a result: empty, cut, masked, replayed.
mod results;
// Secrets in arguments: shown while a call waits, masked once it is over.
mod masked_calls;
// Steering, stopping, and what is left of a session after a crash.
mod sessions;
// Deletions and changes taken back and brought again.
mod undo;
// Patches over several files: judged path by path, accepted in part, taken back as one.
mod patches;
// Commands in the sealed copy: shown, judged, carried out as they were, taken back.
#[cfg(target_os = "linux")]
mod rehearsals;
// Which variables of the app's own environment reach what it starts.
#[cfg(target_os = "linux")]
mod variables;
// Commands that run for real, over a picture of the workspace.
#[cfg(target_os = "linux")]
mod in_place;
// What each of the layers keeps from happening, alone and whatever the others are.
#[cfg(target_os = "linux")]
mod layers;
mod lsp;
// Commands with a way to the network.
#[cfg(target_os = "linux")]
mod way_out;
// Questions and their answers.
// Planning first.
mod planning;
mod questions;
// Settings and rules files with errors; databases that cannot be used; a full disk.
mod lost_record;
mod trouble;
// Tools as the person set them, and tried by hand.
mod tool_settings;
// Services by their documents.
mod apis;

// Other people's servers of tools.
mod servers;
// Rules for their tools, by what the arguments name.
mod server_rules;
// What their tools change in the workspace.
mod server_effects;
// Those that run in a sealed room.
#[cfg(target_os = "linux")]
mod server_rooms;
// What is explained of calls, held against what the pipeline says of them.
mod explained;
// What they ask the person.
mod asks;
// Tools that are schemas: latent, explicit, delegated; runs that must come to an output.
mod schema_first;
// The demo, whole, as a golden stream that the interface's tests replay.
mod demo;
// What the runtime can state about each call, from its events alone.
mod account;
// The log in the words of the specifications, as golden streams.
mod words;
// Which facts of a tool's interface are acted on, as the window says.
mod information;
// Every requirement of the specifications has its test, or a reason.
mod requirements;
// The walls between tools and the machine.
mod walls;
// What the app is built on: licences, and one version of each large crate.
mod dependencies;
// The house itself: layers, file length, fresh bindings, nothing left over.
mod tidy;

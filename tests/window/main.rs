//! The real app in a real window: what a person sees and does, through WebDriver.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests fail by panicking, and set up real files and processes"
)]
#![allow(
    clippy::cognitive_complexity,
    reason = "a walk through the window is one story, step by step"
)]

mod acp_agents;
mod agent_hooks;
mod agents;
mod approvals;
mod attention;
mod beside;
mod blank;
mod connections;
mod demo;
mod dry_run;
mod from_outside;
mod in_place;
mod languages;
mod long_diff;
mod many_cards;
mod mouse;
mod opens;
mod prompts;
mod reach;
mod restart;
mod rules;
mod safety;
mod screen_reader;
mod search;
mod servers;
mod sessions;
mod smoke;
mod support;
mod taken_over;
mod themes;
mod tools;
mod trouble;
mod undo;
mod zoom;

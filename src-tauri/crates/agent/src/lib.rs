//! The life of a session: a desk, its sessions, their turns, and the one page that every tool call walks.
//!
//! **It knows no window.** The same engine serves the desktop, the command line and continuous integration; where no
//! person is there, *ask* means *deny*. **It opens no file and no database itself**: `runtime` and `record` do.
//! **A tool runs only through [`pipeline::walk`]**, because running needs a `policy::Approved`, which only a judgement
//! makes. **An event is recorded before anybody hears of it**: the record publishes what it has committed.
//!
//! Start reading at [`pipeline`]; then [`turn`] (what happens around it) and [`desk`] (who calls whom).

mod alarms;
#[cfg(feature = "openapi")]
mod apis;
#[cfg(not(feature = "openapi"))]
#[path = "apis_left_out.rs"]
mod apis;
mod asks;
pub mod attention;
mod background;
mod beside;
mod briefing;
mod caller;
mod composed;
pub mod config;
mod conversation;
mod coverage;
mod decide;
mod delegate;
pub mod demo;
pub mod desk;
mod desk_tools;
mod door;
mod dry_run;
pub mod explain;
mod facts;
mod faults;
mod grant;
mod grants;
mod held;
pub mod hooks;
mod hub;
mod journal;
mod ledger;
mod lend;
mod limits;
mod lost_record;
mod manifest;
mod model_turn;
mod one_call;
mod ops;
mod pipeline;
mod planning;
mod programs;
mod prompt;
mod queries;
mod recover;
mod repeats;
mod request;
mod retention;
pub mod rulebook;
mod rules;
mod run_limits;
mod said;
mod seeks;
mod servers;
mod session;
mod settings;
pub mod settings_file;
mod shelf;
mod stages;
mod state;
mod stops;
mod strategy;
mod surface;
mod toolbox;
pub mod trial;
pub mod trust;
mod try_tool;
mod turn;
mod undo;
mod uses;
mod waiting;
mod way_out;
mod weighed;
mod why;
mod worked;

pub use caller::{Answered, BY_HAND, Caller, Heard};
pub use config::{DeskConfig, Host};
pub use desk::Desk;
pub use dry_run::DryRun;
pub use hub::{Batch, Events};
pub use runtime::environment::room_beside;
#[cfg(target_os = "linux")]
pub use runtime::graphics::has_render_node;
pub use servers::servers_of_file;
pub use tools::Offer;
pub use tools::schema_first::Request;
pub use tools::text::amount;

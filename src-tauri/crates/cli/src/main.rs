//! `countersign`: the headless host and every inspection verb.
//!
//! The same engine as the window has, for terminals, scripts, continuous integration and servers. On a terminal `run` asks
//! there; where nobody can be asked, what asks is denied, unless the caller approved it beforehand.
//!
//! **It decides nothing and opens no database: it hands a request to the desk and writes down what comes of it.**
//!
//! The exit code says how it ended:
//!
//! | code | meaning |
//! | --- | --- |
//! | 0 | done |
//! | 1 | the run or the call failed, or what was asked could not be done |
//! | 2 | usage: the command line, or something that it names, is wrong |
//! | 3 | denied: the call, or at least one call of the run |
//! | 4 | the record, the settings or the rules cannot be used |
//! | 5 | the run came to one of its limits |
//! | 6 | an undo or redo would overwrite what changed since |
//! | 130 | interrupted by the keyboard |
//!
//! Start reading at [`args`] (what can be asked) and `verbs/run.rs` (the longest road).

mod args;
mod columns;
mod ending;
mod exact;
mod ids;
mod limits;
mod live;
mod out;
mod previews;
mod story;
mod terminal;
mod verbs;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::FromArgMatches;
use protocol::Fault;

use crate::args::{Args, Verb};
use crate::ending::Ending;
use crate::out::Out;

fn main() -> ExitCode {
    // Usage errors, --help and --version are answered by the parser: code 2 for the first, 0 for the others.
    let matches = args::command().get_matches();
    let args = Args::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    log(&args);
    let mut out = Out::new(args.json, args.quiet, args.color);
    if let Some(folder) = &args.chdir
        && let Err(error) = std::env::set_current_dir(folder)
    {
        let message = format!("The folder {} cannot be entered.", folder.display());
        let fault = Fault::new(message, "Check the path after -C.");
        return ExitCode::from(out.end(&Ending::usage(fault).because(&error)) as u8);
    }
    // Whose standard input may be read when the work is done.
    let serves = matches!(args.verb, Verb::Gateway(_));
    let ended = match tokio::runtime::Runtime::new() {
        Ok(runtime) => {
            let ended = runtime.block_on(verbs::run(args, &mut out));
            if serves {
                // A read of standard input goes on until something comes, and nothing may come any more.
                runtime.shutdown_background();
            }
            ended
        }
        Err(error) => Err(Ending::failed("The program could not start.").because(&error)),
    };
    match ended {
        Ok(code) => ExitCode::from(code as u8),
        Err(ending) => ExitCode::from(out.end(&ending) as u8),
    }
}

/// What goes wrong is told once, as a fault; the log is for whoever asks for it.
fn log(args: &Args) {
    // Whose standard output is a client's tells in the log what the client did wrong.
    let level = match (args.verbose, &args.verb) {
        (0, Verb::Gateway(_)) => "warn",
        (0, _) => "off",
        (1, _) => "info",
        (_, _) => "debug",
    };
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_default_env()
                .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(level)),
        )
        .with_writer(std::io::stderr)
        .with_ansi(out::in_colours(args.color, std::io::stderr().is_terminal()))
        .init();
}

//! The `tierscope` command: scenarios in, reports out.
//!
//! Exit codes: 0 done, 1 an expectation failed or two runs differ, 2 bad usage or input, 3 dead end or invariant violated. All
//! decisions about blocks and time are made below, in pure crates; here are files, terminals and exit codes.
//!
//! Deliberately absent: a second way to do what a scenario says (flags only override its keys).

mod args;
mod calibrate;
mod conform;
mod convert;
mod diff;
mod drive;
mod exit;
mod import;
mod input;
mod interrupt;
mod junit;
mod link;
mod media;
mod output;
mod progress;
mod run;
mod serve;
mod shell;
mod sink;
mod sweep;
mod test;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use exit::Exit;

/// The loader of Vulkan drivers complains four times where this is not set, though nothing of a desktop is wanted.
const DESKTOP: &str = "XDG_RUNTIME_DIR";

#[expect(unsafe_code, reason = "the environment is changed before there is a second thread")]
fn quiet_drivers() {
    if std::env::var_os(DESKTOP).is_none() {
        // SAFETY: this is the first thing that the process does: nobody else reads or changes the environment.
        unsafe { std::env::set_var(DESKTOP, std::env::temp_dir()) };
    }
}

fn main() -> ExitCode {
    quiet_drivers();
    let args = Args::parse();
    if let Command::Run(_)
    | Command::Diff(_)
    | Command::Convert(_)
    | Command::Sweep(_)
    | Command::Drive(_)
    | Command::Calibrate(_) = &args.command
    {
        interrupt::listen();
    }
    let answered = std::panic::catch_unwind(|| match &args.command {
        Command::Run(args) => run::run(args),
        Command::Test(args) => test::test(args),
        Command::Diff(args) => diff::diff(args),
        Command::Link(args) => link::link(args),
        Command::Convert(args) => convert::convert(args),
        Command::Import(args) => import::import(args),
        Command::Sweep(args) => sweep::sweep(args),
        Command::Drive(args) => drive::drive(args),
        Command::Calibrate(args) => calibrate::calibrate(args),
        Command::Conform(args) => conform::conform(args),
        Command::Serve(args) => serve::serve(args),
        Command::Completions(args) => shell::completions(args),
        Command::Man => shell::man(),
    });
    match answered {
        Ok(Ok(exit)) => exit.into(),
        Ok(Err(error)) => {
            output::complain(&format!("{error:#}"));
            Exit::BadInput.into()
        }
        Err(_) => {
            // The panic's own message is on standard error already.
            output::complain(
                "error: an invariant of Tierscope is violated: this is a fault of the program, not of your input\n  \
                 mend: please report it with the scenario (`tierscope link SCENARIO` packs it into one line)",
            );
            Exit::Broken.into()
        }
    }
}

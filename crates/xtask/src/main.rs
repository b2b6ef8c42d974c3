//! The house's own commands: set-up, play, test, ci, bench, tidy. `cargo xtask` lists them.
//!
//! No dependencies, so that the first command on a new machine starts in seconds. Everything is run as a plain
//! child process whose command line is shown, so that each step can be repeated by hand.
//!
//! Deliberately absent: anything that the product needs. Removing this crate leaves Tierscope whole.

mod apt;
mod bench;
mod browser;
mod check;
mod hyperqueue;
mod page;
mod run;
mod seaweed;
mod serve;
mod source;
mod sweep;
mod tidy;
mod tools;
mod transactions;
mod vulkan;
mod wasm_imports;

use std::process::ExitCode;

use run::{Failure, Result};

const USAGE: &str = "\
The house's own commands.

Usage: cargo xtask COMMAND

  play [--port N]   install what is missing, build the page, serve it on 127.0.0.1 (port 8080 if free)
  test [PART]       every test, or only those of PART: native, scenarios, wasm, browser
  ci                format, clippy (native and wasm32), tidy, docs, wasm imports, then everything of `test`
  build-page        only build dist/, optimized
  setup             only install what is missing (Rust target, trunk, wasm-bindgen, node packages, Chromium,
                    HyperQueue, SeaweedFS)
                    HyperQueue, Mesa's software Vulkan)
  tidy              sizes, forbidden words, documents in step
  bench [NAME]      criterion benches, transactions, whole-run timings; NAME is `transactions`, `whole`, `sweep`, or a filter
  screenshots [CASE [AT]]   pictures of the page (all scenes, or one case), into target/screenshots/; AT: 0 to 1000
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("\n{failure}");
            ExitCode::from(failure.code)
        }
    }
}

fn dispatch(args: &[&str]) -> Result {
    match args {
        [] | ["help" | "--help" | "-h", ..] => {
            println!("{USAGE}");
            Ok(())
        }
        ["play"] => play(None),
        ["play", "--port", port] => play(Some(parse_port(port)?)),
        ["test"] => check::test(None),
        ["test", part] => check::test(Some(part)),
        ["ci"] => check::ci(),
        ["build-page"] => page::build(),
        ["setup"] => setup(),
        ["tidy"] => tidy::run(),
        ["bench"] => bench::run(None),
        ["bench", "sweep"] => sweep::run(),
        ["bench", name] => bench::run(Some(name)),
        ["screenshots", choice @ ..] => browser::screenshots(choice),
        other => {
            Err(Failure::usage(format!("`cargo xtask {}` is not a command.\n\n{USAGE}", other.join(" "))))
        }
    }
}

fn parse_port(text: &str) -> Result<u16> {
    text.parse().map_err(|_| Failure::usage(format!("--port takes a number from 0 to 65535, not `{text}`")))
}

fn play(port: Option<u16>) -> Result {
    page::build_if_stale()?;
    serve::forever(&page::dist(), port)
}

fn setup() -> Result {
    tools::for_page()?;
    browser::ensure()?;
    hyperqueue::ensure()?;
    seaweed::ensure()?;
    vulkan::ensure()?;
    println!("everything is in place: `cargo xtask play` and `cargo xtask test` can start");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_command_is_bad_usage_and_shows_the_known_ones() {
        let failure = dispatch(&["plya"]).expect_err("there is no such command");
        assert_eq!(failure.code, 2);
        assert!(failure.to_string().contains("play [--port N]"));
    }

    #[test]
    fn a_port_out_of_range_is_refused() {
        let failure = dispatch(&["play", "--port", "70000"]).expect_err("no such port");
        assert!(failure.to_string().contains("not `70000`"));
    }
}

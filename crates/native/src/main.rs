//! The binary `parkbench`: reads the command line, runs one command, prints its result or one error.
//!
//! Nothing is computed here.

// `eprintln!` ends the program where standard error cannot be written; `say` does not.
#![warn(clippy::print_stderr)]

mod bounded;
mod calibrate;
mod cli;
mod compare;
mod empirical;
mod explain;
mod figures;
mod findings;
mod flat;
mod input;
mod measure;
mod presets;
mod profiles;
mod published;
mod say;
mod simulate;
mod text;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser as _;
use cli::{Cli, Command, FileKind};
use input::InputError;
use parkbench_engine::{ProfileFile, Scenario};
use say::say;

/// Why a command did not end well.
#[derive(Debug)]
enum Failure {
    /// The command line or the scenario is wrong.
    Input(InputError),
    /// It could not be done here.
    Runtime(anyhow::Error),
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Runtime(error)
    }
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Input(error)) => {
            say(format_args!("error: {error}"));
            ExitCode::from(2)
        }
        Err(Failure::Runtime(error)) => {
            say(format_args!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Simulate(args) => print(&simulate::run(&args)?),
        Command::Measure(args) => {
            let measured = measure::run(&args)?;
            print(&measured.text)?;
            measured.finish()
        }
        Command::Compare(args) => {
            let compared = compare::run(&args)?;
            print(&compared.text)?;
            compared.failure.map_or(Ok(()), |reason| Err(Failure::Runtime(anyhow::anyhow!(reason))))
        }
        Command::Calibrate(args) => print(&calibrate::run(&args)?),
        Command::Doctor(args) => print(&measure::doctor(args.format)?),
        Command::Explain(args) => print(&explain::run(&args)?),
        Command::Presets(args) => print(&presets::run(&args)?),
        Command::Schema(args) => print(&schema(args.file)?),
        Command::ExecOne => Ok(measure::exec_one()?),
    }
}

fn schema(file: FileKind) -> anyhow::Result<String> {
    let schema = match file {
        FileKind::Scenario => Scenario::json_schema(),
        FileKind::Profile => ProfileFile::json_schema().into(),
    };
    Ok(serde_json::to_string_pretty(&schema)? + "\n")
}

/// Writes a whole result; a reader that has seen enough, such as `head`, is no failure.
fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Runtime(anyhow::Error::new(error).context("cannot write the result to standard output")))
        }
        _ => Ok(()),
    }
}

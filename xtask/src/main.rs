//! `cargo xtask`: set-up, serving and tests, for everything that cargo alone cannot say.
//! This file only parses the command line and calls the command; each command lives in its own module.

mod agreement;
mod bench;
mod cli;
mod deny;
mod fidelity;
mod go;
mod jvm;
mod layers;
mod metrics;
mod page;
mod paths;
mod process;
mod serve;
mod server;
mod suite;
mod tidy;
mod tools;
mod versions;

use std::process::ExitCode;

use cli::Command;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(err) => {
            eprintln!("error: {err:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<ExitCode> {
    let command = match cli::parse(std::env::args().skip(1)) {
        Ok(command) => command,
        Err(message) => {
            eprintln!("error: {message}\n\n{}", cli::USAGE);
            return Ok(ExitCode::from(2));
        }
    };
    let paths = paths::Paths::find()?;
    match command {
        Command::Help => println!("{}", cli::USAGE),
        Command::Serve(options) => serve::serve(&paths, &options)?,
        Command::Static(options) => serve::serve_directory(&options)?,
        Command::ListSteps => suite::list(),
        Command::Test { only } => return Ok(suite::run(&paths, &only)),
        Command::BenchPage => bench::bench_page(&paths)?,
        Command::BenchEngine { only, peers } => bench::bench_engine(&paths, &only, peers)?,
        Command::Fidelity(options) => fidelity::fidelity(&paths, &options)?,
        Command::Agreement(options) => agreement::agreement(&paths, &options)?,
        Command::Go(options) => go::go(&paths, &options)?,
        Command::Deny => deny::deny(&paths)?,
        Command::Setup => tools::Toolbox::start(&paths, tools::Tool::ALL).wait_for(tools::Tool::ALL)?,
    }
    Ok(ExitCode::SUCCESS)
}

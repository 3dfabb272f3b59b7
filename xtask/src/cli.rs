//! The command line of xtask: text in, a [`Command`] out.
//! Nothing here runs anything.

use std::path::PathBuf;

use crate::agreement::Options as Agreement;
use crate::fidelity::Options as Fidelity;
use crate::go::Options as Go;

pub(crate) const USAGE: &str = "\
Usage: cargo xtask COMMAND

Commands:
  serve [--port N] [--debug]      Install what is missing, build the page, serve it on 127.0.0.1 until Ctrl+C
  test [--only STEP,…] [--list]   Install what is missing and run every check
  setup                           Only install what is missing
  bench-page                      Measure the page's frames while it plays, in headless Chromium
  bench-engine [--only SECTION,…] [--peers]
                                  Measure the engine's speed and memory, and count its instructions; with --peers,
                                  also beside other engines, which are built first
  fidelity [--runtime NAME,…] [--seeds] [--reps N] [--profile FILE]
                                  Calibrate the simulation here and compare it with scenarios that no cost was
                                  fitted to; with --seeds, with the workloads of the seeds
  agreement [--only WORKLOAD,…] [--runtime NAME,…] [--reps N]
                                  Run the seeds' workloads by independent programs and by `parkbench measure` in turn,
                                  and print how far the totals are apart
  go [--only SCENARIO,…] [--reps N] [--record]
                                  Run scenarios on the real scheduler of Go 1.26 and by simulation, and compare who
                                  runs when; with --record, write the real orders down for the engine's tests
  deny                            Check licences, sources and bans with cargo-deny, if it is installed
  static --dir DIR [--port N] [--base /PATH/] [--csp POLICY] [--until-stdin-closes]
                                  Serve a directory as it is; the end-to-end tests use it

Options:
  --port N    Port to serve on; 0 takes a free one. Without it: 8080, or a free one when 8080 is taken
  --release   Optimised build of the page (the default)
  --debug     Build the page without optimisation; needs no wasm-opt

Environment:
  PARKBENCH_CACHE      Where tools are kept (default: ~/.cache/parkbench)
  PARKBENCH_CHROMIUM   The Chromium or Chrome to test in
  CHROMEDRIVER         The chromedriver that fits it";

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Serve(ServeOptions),
    Static(StaticOptions),
    ListSteps,
    /// Empty means every step.
    Test {
        only: Vec<String>,
    },
    BenchPage,
    /// Empty means every section.
    BenchEngine {
        only: Vec<String>,
        /// Other engines too.
        peers: bool,
    },
    Fidelity(Fidelity),
    Agreement(Agreement),
    Go(Go),
    Deny,
    Setup,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ServeOptions {
    /// `None`: 8080, or a free port when 8080 is taken.
    pub(crate) port: Option<u16>,
    pub(crate) debug: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StaticOptions {
    pub(crate) dir: PathBuf,
    pub(crate) port: u16,
    /// Begins and ends with a slash.
    pub(crate) base: String,
    pub(crate) csp: Option<String>,
    pub(crate) until_stdin_closes: bool,
}

/// Errors are sentences for the person at the keyboard.
pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Command, String> {
    let mut args = args.into_iter();
    let Some(name) = args.next() else { return Ok(Command::Help) };
    let rest = &mut Rest { command: name.clone(), args: args.collect::<Vec<_>>().into_iter() };
    match name.as_str() {
        "help" | "--help" | "-h" => Ok(Command::Help),
        "serve" => parse_serve(rest),
        "static" => parse_static(rest),
        "test" => parse_test(rest),
        "bench-page" => rest.nothing().map(|()| Command::BenchPage),
        "bench-engine" => parse_bench(rest),
        "fidelity" => parse_fidelity(rest),
        "agreement" => parse_agreement(rest),
        "go" => parse_go(rest),
        "deny" => rest.nothing().map(|()| Command::Deny),
        "setup" => rest.nothing().map(|()| Command::Setup),
        other => Err(format!("unknown command {other:?}")),
    }
}

fn parse_serve(rest: &mut Rest) -> Result<Command, String> {
    let mut options = ServeOptions::default();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--port" => options.port = Some(rest.port()?),
            "--debug" => options.debug = true,
            "--release" => options.debug = false,
            "--help" | "-h" => return Ok(Command::Help),
            other => return Err(rest.unknown(other)),
        }
    }
    Ok(Command::Serve(options))
}

fn parse_static(rest: &mut Rest) -> Result<Command, String> {
    let mut options =
        StaticOptions { dir: PathBuf::new(), port: 0, base: "/".to_owned(), csp: None, until_stdin_closes: false };
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--dir" => options.dir = PathBuf::from(rest.value("--dir")?),
            "--port" => options.port = rest.port()?,
            "--base" => options.base = rest.value("--base")?,
            "--csp" => options.csp = Some(rest.value("--csp")?),
            "--until-stdin-closes" => options.until_stdin_closes = true,
            "--help" | "-h" => return Ok(Command::Help),
            other => return Err(rest.unknown(other)),
        }
    }
    if options.dir.as_os_str().is_empty() {
        return Err("static needs --dir DIR".to_owned());
    }
    if !(options.base.starts_with('/') && options.base.ends_with('/')) {
        return Err(format!("--base {:?} must begin and end with a slash", options.base));
    }
    Ok(Command::Static(options))
}

fn parse_test(rest: &mut Rest) -> Result<Command, String> {
    let mut only = Vec::new();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--only" => only.extend(rest.value("--only")?.split(',').map(|step| step.trim().to_owned())),
            "--list" => return Ok(Command::ListSteps),
            "--help" | "-h" => return Ok(Command::Help),
            other => return Err(rest.unknown(other)),
        }
    }
    Ok(Command::Test { only })
}

fn parse_bench(rest: &mut Rest) -> Result<Command, String> {
    let (mut only, mut peers) = (Vec::new(), false);
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--only" => only.extend(rest.value("--only")?.split(',').map(|section| section.trim().to_owned())),
            "--peers" => peers = true,
            "--help" | "-h" => return Ok(Command::Help),
            other => return Err(rest.unknown(other)),
        }
    }
    Ok(Command::BenchEngine { only, peers })
}

fn parse_fidelity(rest: &mut Rest) -> Result<Command, String> {
    let mut options = Fidelity::default();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--runtime" => options.runtime = Some(rest.value("--runtime")?),
            "--seeds" => options.seeds = true,
            "--reps" => options.reps = Some(rest.value("--reps")?),
            "--profile" => options.profile = Some(PathBuf::from(rest.value("--profile")?)),
            "--help" | "-h" => return Ok(Command::Help),
            other => return Err(rest.unknown(other)),
        }
    }
    Ok(Command::Fidelity(options))
}

fn parse_go(rest: &mut Rest) -> Result<Command, String> {
    let mut options = Go::default();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--only" => options.only.extend(rest.list("--only")?),
            "--reps" => options.reps = Some(rest.count("--reps")?),
            "--record" => options.record = true,
            "--help" | "-h" => return Ok(Command::Help),
            other => return Err(rest.unknown(other)),
        }
    }
    if options.record && !options.only.is_empty() {
        return Err("--record writes all orders down, so there is no --only with it".into());
    }
    Ok(Command::Go(options))
}

fn parse_agreement(rest: &mut Rest) -> Result<Command, String> {
    let mut options = Agreement::default();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--only" => options.only.extend(rest.list("--only")?),
            "--runtime" => options.runtimes.extend(rest.list("--runtime")?),
            "--reps" => options.reps = Some(rest.count("--reps")?),
            "--help" | "-h" => return Ok(Command::Help),
            other => return Err(rest.unknown(other)),
        }
    }
    Ok(Command::Agreement(options))
}

/// The arguments behind the command's name.
struct Rest {
    command: String,
    args: std::vec::IntoIter<String>,
}

impl Rest {
    fn next(&mut self) -> Option<String> {
        self.args.next()
    }

    fn value(&mut self, option: &str) -> Result<String, String> {
        self.next().ok_or_else(|| format!("{option} needs a value"))
    }

    fn port(&mut self) -> Result<u16, String> {
        let text = self.value("--port")?;
        text.parse().map_err(|_| format!("--port {text:?} must be a number from 0 to 65535"))
    }

    /// Names, separated by commas.
    fn list(&mut self, option: &str) -> Result<Vec<String>, String> {
        Ok(self.value(option)?.split(',').map(str::to_owned).collect())
    }

    fn count(&mut self, option: &str) -> Result<u32, String> {
        let text = self.value(option)?;
        let count = text.parse().ok().filter(|count| (1..=1_000).contains(count));
        count.ok_or_else(|| format!("{option} {text:?} must be a number from 1 to 1000"))
    }

    fn nothing(&mut self) -> Result<(), String> {
        self.next().map_or(Ok(()), |arg| Err(self.unknown(&arg)))
    }

    fn unknown(&self, arg: &str) -> String {
        format!("{} does not know {arg:?}", self.command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expect: Result<Command, &str>) {
        assert_eq!(parse(line.split_whitespace().map(str::to_owned)), expect.map_err(str::to_owned));
    }

    #[test]
    fn commands_and_their_options() {
        check("", Ok(Command::Help));
        check("serve", Ok(Command::Serve(ServeOptions { port: None, debug: false })));
        check("serve --port 0 --debug", Ok(Command::Serve(ServeOptions { port: Some(0), debug: true })));
        check("test", Ok(Command::Test { only: vec![] }));
        check(
            "test --only fmt,tidy --only e2e",
            Ok(Command::Test { only: vec!["fmt".into(), "tidy".into(), "e2e".into()] }),
        );
        check("test --list", Ok(Command::ListSteps));
        check("bench-page", Ok(Command::BenchPage));
        let only = vec!["bare".into(), "full".into()];
        check("bench-engine --only bare,full", Ok(Command::BenchEngine { only, peers: false }));
        let seeds = Fidelity { runtime: Some("pool".into()), seeds: true, reps: Some("3".into()), profile: None };
        check("fidelity --runtime pool --seeds --reps 3", Ok(Command::Fidelity(seeds)));
        let some = Agreement {
            only: vec!["io-bound".into()],
            runtimes: vec!["tokio".into(), "java-pool".into()],
            reps: Some(5),
        };
        check("agreement --only io-bound --runtime tokio,java-pool --reps 5", Ok(Command::Agreement(some)));
        check("go", Ok(Command::Go(Go::default())));
        let some = Go { only: vec!["hogs".into(), "mutex".into()], reps: Some(5), record: false };
        check("go --only hogs,mutex --reps 5", Ok(Command::Go(some)));
        check("go --record", Ok(Command::Go(Go { record: true, ..Go::default() })));
        check("bench-engine --peers", Ok(Command::BenchEngine { only: Vec::new(), peers: true }));
        check(
            "static --dir dist --base /a/b/ --until-stdin-closes",
            Ok(Command::Static(StaticOptions {
                dir: "dist".into(),
                port: 0,
                base: "/a/b/".into(),
                csp: None,
                until_stdin_closes: true,
            })),
        );
    }

    #[test]
    fn errors_name_the_argument() {
        check("serv", Err("unknown command \"serv\""));
        check("serve --prot 1", Err("serve does not know \"--prot\""));
        check("serve --port", Err("--port needs a value"));
        check("serve --port 70000", Err("--port \"70000\" must be a number from 0 to 65535"));
        check("agreement --reps 0", Err("--reps \"0\" must be a number from 1 to 1000"));
        check("go --reps none", Err("--reps \"none\" must be a number from 1 to 1000"));
        check("go --now", Err("go does not know \"--now\""));
        check("go --only hogs --record", Err("--record writes all orders down, so there is no --only with it"));
        check("deny now", Err("deny does not know \"now\""));
        check("static", Err("static needs --dir DIR"));
        check("static --dir d --base a", Err("--base \"a\" must begin and end with a slash"));
    }
}

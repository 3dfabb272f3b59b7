//! `cargo xtask serve` and `cargo xtask static`.

use std::io::{self, Read as _};
use std::net::TcpListener;
use std::process;
use std::thread;

use anyhow::{Context as _, Result};

use crate::cli::{ServeOptions, StaticOptions};
use crate::page;
use crate::paths::Paths;
use crate::server::Site;
use crate::tools::Toolbox;

/// Where people expect a page that is being worked on.
const USUAL_PORT: u16 = 8080;

/// Installs, builds, serves; returns only with an error.
pub(crate) fn serve(paths: &Paths, options: &ServeOptions) -> Result<()> {
    // Bound before the build, so that a port in use is reported at once and not after minutes.
    let listener = listen(options.port)?;
    let tools = if options.debug { page::DEBUG_TOOLS } else { page::TOOLS };
    Toolbox::start(paths, tools).wait_for(tools)?;
    page::build(paths, options.debug)?;
    let address = listener.local_addr()?;
    println!("\nParkbench is at http://{address}/\nCtrl+C ends it.");
    let site = Site { dir: paths.dist(), base: "/".to_owned(), csp: None };
    site.serve(&listener);
    Ok(())
}

/// Prints the address as its first line, for the program that started it.
pub(crate) fn serve_directory(options: &StaticOptions) -> Result<()> {
    let listener = listen(Some(options.port))?;
    println!("http://{}{}", listener.local_addr()?, options.base);
    if options.until_stdin_closes {
        // The end-to-end tests hold the other end, so the server ends with them, however they end.
        thread::spawn(|| {
            let _ = io::stdin().read_to_end(&mut Vec::new());
            process::exit(0);
        });
    }
    Site { dir: options.dir.clone(), base: options.base.clone(), csp: options.csp.clone() }.serve(&listener);
    Ok(())
}

fn listen(port: Option<u16>) -> Result<TcpListener> {
    match port {
        Some(port) => TcpListener::bind(("127.0.0.1", port))
            .with_context(|| format!("cannot serve on 127.0.0.1:{port}; another --port or --port 0 may be free")),
        None => TcpListener::bind(("127.0.0.1", USUAL_PORT))
            .or_else(|_| TcpListener::bind(("127.0.0.1", 0)))
            .context("cannot serve on 127.0.0.1"),
    }
}

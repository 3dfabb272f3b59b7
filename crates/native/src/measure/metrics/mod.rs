//! What a measurement tells Prometheus: the counts and figures so far, served over HTTP and written to a file.
//!
//! Nothing is measured here, and what a measurement could not have has no series.

mod exposition;
mod file;
mod server;
mod state;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use parkbench_engine::Scenario;

pub(crate) use state::Metrics;

use super::stop::Stop;
use crate::Failure;
use crate::say::say;
use file::Target;
use server::Server;

/// Where the metrics of a measurement go.
#[derive(Debug)]
pub(crate) struct Monitor {
    pub(crate) metrics: Arc<Metrics>,
    server: Option<Server>,
    target: Option<Target>,
}

impl Monitor {
    /// Takes the port and tries the file, before anything is measured.
    pub(crate) fn start(scenario: &Scenario, listen: Option<SocketAddr>, path: Option<&Path>) -> Result<Self, Failure> {
        let metrics = Arc::new(Metrics::new(scenario));
        let target = path.map(Target::open).transpose()?;
        let server = listen.map(|address| Server::start(address, Arc::clone(&metrics))).transpose()?;
        if let Some(server) = &server {
            say(format_args!("metrics: serving {}", server.url()));
        }
        Ok(Self { metrics, server, target })
    }

    /// Writes the file, where there is one.
    pub(crate) fn write(&self) -> anyhow::Result<()> {
        self.target.as_ref().map_or(Ok(()), |target| target.write(&exposition::text(&self.metrics)))
    }

    /// Goes on serving, where something is served, until the user asks to end.
    pub(crate) fn serve_until(&self, stop: &Stop) -> anyhow::Result<()> {
        let Some(server) = self.server.as_ref().filter(|_| !stop.is_requested()) else {
            return Ok(());
        };
        let url = server.url();
        say(format_args!("metrics: the measurement is over; still serving {url} until interrupted (Ctrl-C)"));
        stop.wait(None).map(drop)
    }
}

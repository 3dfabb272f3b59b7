//! The options of `measure` that repeat it and tell Prometheus; nothing is run from here.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use parkbench_engine::Nanos;

const LONGEST_INTERVAL: Duration = Duration::from_hours(24);

/// Options about what happens with figures over time.
#[derive(Args, Debug)]
#[command(next_help_heading = "Monitoring")]
pub(crate) struct MonitorArgs {
    /// Measure again and again until interrupted; a table has one line for each runtime and round
    #[arg(long, conflicts_with = "out")]
    pub(crate) watch: bool,
    /// With --watch, the pause between two rounds: a time from 0s to 24h, such as 30s or "5 min"
    #[arg(long, value_name = "TIME", default_value = "10 s", value_parser = parse_interval, requires = "watch")]
    #[arg(allow_hyphen_values = true)]
    pub(crate) interval: Duration,
    /// Serve metrics for Prometheus at this address and port, such as 127.0.0.1:9464, under /metrics
    ///
    /// They are served while it measures, and after the result is printed until interrupted, so that the last figures can
    /// be read; docs/metrics.md says what each is. Port 0 takes a free one, which is printed on standard error.
    #[arg(long, value_name = "ADDRESS", value_parser = parse_address)]
    pub(crate) metrics_listen: Option<SocketAddr>,
    #[allow(clippy::doc_markdown, reason = "the text is shown as it is")]
    /// Write the same metrics to this file after each round, for the textfile collector of node_exporter
    ///
    /// The file is replaced as a whole. The collector reads files whose names end in .prom.
    #[arg(long, value_name = "PATH")]
    pub(crate) metrics_file: Option<PathBuf>,
}

fn parse_interval(text: &str) -> Result<Duration, String> {
    match Nanos::parse(text).map(|Nanos(ns)| Duration::from_nanos(ns)) {
        Ok(interval) if interval <= LONGEST_INTERVAL => Ok(interval),
        _ => Err("allowed: a time from 0 s to 24 h, such as \"10 s\" or 5min".to_owned()),
    }
}

fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let allowed = "allowed: an IP address and a port from 0 to 65535, such as 127.0.0.1:9464 or [::1]:9464";
    text.parse().map_err(|_| allowed.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_and_addresses_are_read_or_refused() {
        for (text, expect) in [
            ("0 s", Some(Duration::ZERO)),
            ("5min", Some(Duration::from_mins(5))),
            ("24 h", Some(LONGEST_INTERVAL)),
            ("25 h", None),
            ("10", None),
            ("-1 s", None),
            ("", None),
        ] {
            assert_eq!(parse_interval(text).ok(), expect, "{text}");
        }
        for (text, good) in [
            ("127.0.0.1:9464", true),
            ("[::1]:0", true),
            ("9464", false),
            ("localhost:9464", false),
            ("1.2.3.4:65536", false),
        ] {
            assert_eq!(parse_address(text).is_ok(), good, "{text}");
        }
    }
}

//! One measurement after the other until the user asks to end: a few lines on standard output for each, and the metrics.
//!
//! How one is made is in `collect`.

use std::io::{self, Write as _};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, anyhow};
use parkbench_view::format;

use super::collect::{self, Collected, Request};
use super::metrics::Monitor;
use super::report::{Report, Run};
use super::stop::Stop;
use super::{markdown, table};
use crate::Failure;
use crate::cli::MeasureFormat;
use crate::figures::{WIDTH, or_absent};
use crate::say::say;

/// What precedes the lines of a table; each figure is that of the repetition with the median total time.
const HEADER: &str = "Round       UTC      Total    Tasks/s       Mean        p95     Growth  Runtime\n";

/// Repeats the measurement; an error where not even the first gives figures, or where some round was not complete.
pub(crate) fn watch(
    request: Request<'_>,
    form: MeasureFormat,
    pause: Duration,
    monitor: &Monitor,
    stop: &Stop,
) -> Result<(), Failure> {
    let (mut with_figures, mut incomplete, mut trouble) = (0_u64, 0_u64, None);
    for round in 1.. {
        let collected = collect::collect(Request { announce: round == 1, ..request });
        match collected {
            Ok(Collected { report, .. }) => {
                with_figures += 1;
                incomplete += u64::from(report.absent.iter().any(|absent| absent.failed));
                monitor.metrics.round(&report);
                if !print(&render(&report, form, round)?)? {
                    return Ok(());
                }
            }
            // The user has ended it before there was anything to keep.
            Err(_) if stop.is_requested() && with_figures > 0 => break,
            Err(Failure::Runtime(error)) if with_figures > 0 => {
                incomplete += 1;
                monitor.metrics.round_without_figures();
                say(format_args!("error: round {round}: {error:#}"));
            }
            Err(failure) => return Err(failure),
        }
        if let Err(error) = monitor.write() {
            // The next may succeed, for someone may make room.
            say(format_args!("error: round {round}: {error:#}"));
            trouble = Some(error);
        }
        if stop.wait(Some(pause))? {
            break;
        }
    }
    match (incomplete, trouble) {
        (0, None) => Ok(()),
        (0, Some(error)) => Err(error.into()),
        (rounds, _) => Err(Failure::Runtime(anyhow!("{rounds} of the rounds were not complete"))),
    }
}

fn render(report: &Report, form: MeasureFormat, round: u64) -> anyhow::Result<String> {
    let first = round == 1;
    Ok(match form {
        MeasureFormat::Table => {
            let header = if first { HEADER } else { "" };
            header.to_owned() + &lines(report, round, SystemTime::now())
        }
        MeasureFormat::Markdown => markdown::render(report, &[]),
        // One line for each round, so that a reader knows where it ends.
        MeasureFormat::Json => serde_json::to_string(report).context("the result cannot be written as JSON")? + "\n",
        MeasureFormat::Csv => {
            let text = table::csv(report)?;
            let rows = text.split_once('\n').map_or("", |(_, rows)| rows).to_owned();
            if first { text } else { rows }
        }
    })
}

/// A line for each runtime.
fn lines(report: &Report, round: u64, now: SystemTime) -> String {
    let second = now.duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs() % 86_400);
    let place = format!("{round:>5}  {:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60);
    let mut lines = String::new();
    for run in &report.runs {
        lines += &line(&place, &figures(run), &run.result.variant);
    }
    for absent in report
        .absent
        .iter()
        .filter(|absent| absent.failed && !report.runs.iter().any(|run| run.result.variant == absent.variant))
    {
        lines += &line(
            &place,
            &[const { String::new() }; 5].map(|_| or_absent(None::<u64>, format::count)),
            &absent.variant,
        );
    }
    lines
}

fn figures(run: &Run) -> [String; 5] {
    let latency = Some(run.result.latency_ns).filter(|summary| summary.count > 0);
    [
        format::duration(run.result.makespan_ns),
        or_absent(run.result.throughput_per_s, format::rate),
        or_absent(latency, |latency| format::duration(latency.mean)),
        or_absent(latency, |latency| format::duration(latency.p95)),
        or_absent(run.resident_growth_bytes, format::bytes),
    ]
}

fn line(place: &str, figures: &[String; 5], runtime: &str) -> String {
    let [total, rate, mean, p95, growth] = figures;
    let begin = format!("{place} {total:>10} {rate:>10} {mean:>10} {p95:>10} {growth:>10}  ");
    // What tells two of a kind apart is at the end of the name.
    let (room, length) = (WIDTH.saturating_sub(begin.chars().count()), runtime.chars().count());
    let end: String = runtime.chars().skip((length + 1).saturating_sub(room)).collect();
    if length <= room { begin + runtime + "\n" } else { format!("{begin}…{end}\n") }
}

/// Writes the lines of a round; false where the reader has seen enough.
fn print(text: &str) -> anyhow::Result<bool> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(anyhow!(error).context("cannot write the result to standard output")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_keep_what_tells_two_names_apart() {
        let figures = ["42.1 s", "239 /s", "50.1 ms", "50.3 ms", "1.02 MB"].map(str::to_owned);
        let place = "    7  04:48:08";
        assert_eq!(HEADER.find("Runtime"), line(place, &figures, "pool-12").find("pool-12"));
        let long = "java-virtual-jdk25-max256-min12-reentrant";
        let cut = line(place, &figures, long);
        assert_eq!(cut.trim_end().chars().count(), WIDTH);
        assert!(cut.ends_with("-max256-min12-reentrant\n") && cut.contains('…'), "{cut}");
    }
}

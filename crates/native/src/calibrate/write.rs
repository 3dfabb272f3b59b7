//! The profile that a calibration writes, and what it says about it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use parkbench_engine::{CostEntry, ProfileFile, ProfileMachine, Unit};
use parkbench_view::format;

use super::machine::Found;
use super::runtime::Calibrated;
use crate::figures::WIDTH;
use crate::profiles;
use crate::text::{Grid, wrap};

/// [ns] A slice for each doubling of the processors, from Linux 6.13 on.
const SLICE: u64 = 700_000;
/// Processors above which slices grow no longer.
const MOST: u32 = 8;

/// The costs of the machine as they stand in a profile.
pub(super) fn of_machine(found: &[Found], cores: u32) -> BTreeMap<String, CostEntry> {
    let mut costs = BTreeMap::new();
    for Found { name, sample, how } in found {
        let unit = profiles::unit(name);
        let suffix = if unit == Unit::Picos { "ps" } else { "ns" };
        let at = |part| format!("{:.0} {suffix}", sample.quantile(part));
        let source = format!("M median {} of {}, IQR {} to {}; {how}", at(0.5), sample.count(), at(0.25), at(0.75));
        let value = profiles::text(unit, sample.median().round() as u64);
        costs.insert((*name).to_owned(), CostEntry { value, source });
    }
    let slice = SLICE * u64::from(1 + cores.clamp(1, MOST).ilog2());
    let source = "V kernel/sched/fair.c: 0.70 ms x (1 + log2(cpus)), cpus at most 8; not measured".to_owned();
    costs.insert("base_slice".to_owned(), CostEntry { value: profiles::text(Unit::Nanos, slice), source });
    costs
}

/// The whole file.
pub(super) fn profile(
    machine: ProfileMachine,
    costs: BTreeMap<String, CostEntry>,
    calibrated: &[Calibrated],
    now: SystemTime,
) -> ProfileFile {
    let cores = format!("{} core{}", machine.cores, if machine.cores == 1 { "" } else { "s" });
    let cpu = machine.cpu.clone().unwrap_or_else(|| "an unknown processor".to_owned());
    let load = machine.load_percent.map_or_else(String::new, |load| {
        format!(" In the minute before, {}.{:02} threads wanted to run.", load / 100, load % 100)
    });
    ProfileFile {
        version: 1,
        name: "calibrated".to_owned(),
        title: format!("Calibrated: {cores}, {cpu}"),
        description: format!(
            "Measured by parkbench {} calibrate on {}.{load} What no probe tells is from {}.",
            env!("CARGO_PKG_VERSION"),
            date(now),
            profiles::BASE
        ),
        base: Some(profiles::BASE.to_owned()),
        machine: Some(machine),
        costs,
        runtimes: calibrated.iter().map(|one| (one.kind.as_str().to_owned(), one.costs.clone())).collect(),
    }
}

/// What was found, how well the simulation meets the probes with it, and how to go on.
pub(super) fn summary(
    file: &ProfileFile,
    calibrated: &[Calibrated],
    path: &Path,
    took: Duration,
    named: bool,
) -> String {
    let mut out = wrap(&format!("{}. {}", file.title, file.description), WIDTH, "", "");
    let mut grid = Grid::default();
    grid.row(["Machine", "value"]);
    for (name, entry) in &file.costs {
        grid.row([format!("  {name}"), entry.value.clone()]);
    }
    out.push('\n');
    out.push_str(&grid.render());
    for one in calibrated {
        let mut grid = Grid::default();
        grid.row([one.kind.as_str(), "value"]);
        for (name, entry) in &one.costs {
            grid.row([format!("  {name}"), entry.value.clone()]);
        }
        out.push('\n');
        out.push_str(&grid.render());
        let mut grid = Grid::default();
        grid.row(["  probe", "measured", "simulated", "error"]);
        for (name, measured, simulated) in &one.probes {
            let error = (*simulated as f64 / (*measured).max(1) as f64 - 1.0) * 100.0;
            grid.row([
                format!("  {name}"),
                format::duration(*measured),
                format::duration(*simulated),
                format::percent_signed(error),
            ]);
        }
        out.push_str(&grid.render());
    }
    let option = if named { format!(" --profile {}", path.display()) } else { String::new() };
    let text = format!(
        "Written to {} after {}; each cost has its source in there. Go on with: parkbench compare PRESET|FILE{option}",
        path.display(),
        format::duration(took.as_nanos() as u64)
    );
    out.push('\n');
    out.push_str(&wrap(&text, WIDTH, "", ""));
    out
}

/// The day, in UTC.
fn date(now: SystemTime) -> String {
    let days = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs() / 86_400;
    // Civil date of a day number, with years that begin in March.
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let part = (5 * of_year + 2) / 153;
    let month = if part < 10 { part + 3 } else { part - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{:02}", of_year - (153 * part + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        for (days, expect) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (20_788, "2026-12-01"),
            (20_818, "2026-12-31"),
        ] {
            assert_eq!(date(SystemTime::UNIX_EPOCH + Duration::from_secs(days * 86_400 + 5)), expect, "{days}");
        }
    }

    #[test]
    fn slices_grow_with_the_processors_up_to_eight() {
        for (cores, expect) in [(1, "700000 ns"), (2, "1400000 ns"), (8, "2800000 ns"), (64, "2800000 ns")] {
            assert_eq!(of_machine(&[], cores)["base_slice"].value, expect);
        }
    }
}

//! `--out`: the directory of a measurement. Nothing that is there is ever overwritten.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use super::report::Report;
use super::{chart, disk, markdown, table};

/// A directory that is empty and can be written to.
#[derive(Debug)]
pub(crate) struct Directory(PathBuf);

impl Directory {
    /// Makes the directory, or takes an empty one; an error before anything is measured.
    pub(crate) fn claim(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        fs::create_dir_all(path).with_context(|| format!("cannot make the directory {shown} of --out"))?;
        let mut entries = fs::read_dir(path).with_context(|| format!("cannot read the directory {shown} of --out"))?;
        if entries.next().is_some() {
            bail!(
                "the directory {shown} of --out is not empty, and nothing is overwritten; name one that is new or empty"
            );
        }
        let trial = path.join(".parkbench");
        create(&trial, "")
            .and_then(|()| fs::remove_file(&trial))
            .with_context(|| format!("cannot write into the directory {shown} of --out"))?;
        Ok(Self(path.to_owned()))
    }

    /// Writes everything that there is to say; the figures first, in case the disk is full before the end.
    pub(crate) fn write(&self, report: &Report) -> anyhow::Result<()> {
        let charts = chart::charts(report);
        let json = serde_json::to_string_pretty(report).context("the result cannot be written as JSON")? + "\n";
        let mut files = vec![
            ("result.json", json),
            ("runs.csv", table::csv(report)?),
            ("report.md", markdown::render(report, &charts)),
        ];
        files.extend(charts.into_iter().map(|chart| (chart.file, chart.svg)));
        for (name, text) in files {
            let path = self.0.join(name);
            if let Err(error) = create(&path, &text) {
                if error.kind() != io::ErrorKind::AlreadyExists {
                    // A part of a file is worse than none.
                    let _ = fs::remove_file(&path);
                }
                return Err(anyhow::Error::new(error).context(format!("cannot write {}", path.display())));
            }
        }
        Ok(())
    }
}

/// Writes a new file down to the disk, where a disk that is full says so.
fn create(path: &Path, text: &str) -> io::Result<()> {
    disk::fill(File::options().write(true).create_new(true).open(path)?, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::table::tests::report;

    #[test]
    fn a_directory_is_made_and_filled_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/deep");
        let report = report();
        Directory::claim(&path).unwrap().write(&report).unwrap();
        let mut names: Vec<_> =
            fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["latency.svg", "report.md", "result.json", "runs.csv", "spread.svg", "totals.svg"]);
        let again = format!("{:#}", Directory::claim(&path).unwrap_err());
        assert!(again.contains("is not empty, and nothing is overwritten"), "{again}");
        // One that came into being in the meantime is kept as well.
        let before = fs::read(path.join("result.json")).unwrap();
        let error = format!("{:#}", Directory(path.clone()).write(&report).unwrap_err());
        assert!(error.contains("result.json") && error.contains("exists"), "{error}");
        assert_eq!(fs::read(path.join("result.json")).unwrap(), before);
    }

    #[test]
    fn what_is_no_directory_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for path in [file.path().to_owned(), file.path().join("x"), PathBuf::from("/proc/parkbench")] {
            let error = format!("{:#}", Directory::claim(&path).unwrap_err());
            assert!(error.contains("cannot make the directory"), "{error}");
        }
    }
}

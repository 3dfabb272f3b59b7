//! The file of `--trace`: opened before anything is measured, put in place when all of it is written.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::ValueEnum;
use parkbench_engine::FieldError;
use parkbench_trace::TraceFile;

use super::chrome;
use crate::Failure;
use crate::input::InputError;
use crate::measure::disk;
use crate::say::say;

/// How the file is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceFormat {
    /// For the page of Parkbench
    #[default]
    Parkbench,
    /// For Perfetto and Chrome: trace events as JSON
    Chrome,
}

/// A file that is being written; until it is finished, what was there before stays.
#[derive(Debug)]
pub(crate) struct Output {
    path: PathBuf,
    part: PathBuf,
    file: Option<File>,
    format: TraceFormat,
}

impl Output {
    /// Opens a new file beside the one that is asked for.
    ///
    /// What is no place for a file is wrong input; what cannot be written is a failure.
    pub(crate) fn open(path: &Path, format: TraceFormat) -> Result<Self, Failure> {
        let wrong = |reason: &str| {
            let value = format!("{} ({reason})", path.display());
            let allowed = "the name of a file in a directory that exists";
            Failure::Input(InputError::Field(FieldError::new("--trace", value, allowed)))
        };
        if path.file_name().is_none() || fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(wrong("it is no regular file"));
        }
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if directory.is_some_and(|directory| !directory.is_dir()) {
            return Err(wrong("it is in no directory"));
        }
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let file = File::create(&part).with_context(|| format!("--trace: {} cannot be written", path.display()))?;
        Ok(Self { path: path.to_owned(), part, file: Some(file), format })
    }

    /// Writes everything and puts it in place.
    pub(crate) fn finish(mut self, traces: &TraceFile) -> anyhow::Result<()> {
        let place = || format!("cannot write {}", self.path.display());
        let Some(file) = self.file.take() else { return Ok(()) };
        fill(&file, self.format, traces).with_context(place)?;
        fs::rename(&self.part, &self.path).with_context(place)
    }
}

fn fill(file: &File, format: TraceFormat, traces: &TraceFile) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    match format {
        TraceFormat::Parkbench => out.write_all(&traces.encode()),
        TraceFormat::Chrome => chrome::write(traces, &mut out),
    }?;
    out.flush()?;
    disk::sync(file)
}

impl Drop for Output {
    fn drop(&mut self) {
        // After it was put in place there is none.
        match fs::remove_file(&self.part) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                say(format_args!("warning: {} could not be removed: {error}", self.part.display()));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parkbench_engine::preset;

    #[test]
    fn the_file_is_there_when_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.pbtrace");
        fs::write(&path, "before").unwrap();
        let names = || {
            let entries = fs::read_dir(dir.path()).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        drop(Output::open(&path, TraceFormat::Parkbench).unwrap());
        assert_eq!(
            (names(), fs::read_to_string(&path).unwrap()),
            (vec!["run.pbtrace".to_owned()], "before".to_owned())
        );
        let traces = TraceFile { scenario: preset("io-bound").unwrap(), runs: Vec::new() };
        let output = Output::open(&path, TraceFormat::Parkbench).unwrap();
        assert_eq!(names(), ["run.pbtrace", "run.pbtrace.part"]);
        output.finish(&traces).unwrap();
        assert_eq!(names(), ["run.pbtrace"]);
        assert_eq!(TraceFile::decode(&fs::read(&path).unwrap()).unwrap(), traces);
    }

    #[test]
    fn what_cannot_be_written_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        for path in [dir.path().to_owned(), dir.path().join("none/x"), PathBuf::from("/dev/null"), PathBuf::from("/")] {
            match Output::open(&path, TraceFormat::Parkbench).unwrap_err() {
                Failure::Input(error) => assert!(error.to_string().starts_with("--trace: "), "{error}"),
                Failure::Runtime(error) => panic!("{error}"),
            }
        }
        let nowhere = Output::open(Path::new("/proc/parkbench"), TraceFormat::Parkbench).unwrap_err();
        assert!(
            matches!(nowhere, Failure::Runtime(error) if error.to_string().starts_with("--trace: /proc/parkbench"))
        );
    }
}

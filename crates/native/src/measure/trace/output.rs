//! The file of `--trace`: opened before anything is measured, put in place when all of it is written.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::ValueEnum;
use parkbench_engine::FieldError;
use parkbench_trace::TraceFile;

use super::chrome;
use crate::input::InputError;

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
    pub(crate) fn open(path: &Path, format: TraceFormat) -> Result<Self, InputError> {
        let refused = |reason: String| {
            let value = format!("{} ({reason})", path.display());
            InputError::Field(FieldError::new(
                "--trace",
                value,
                "the name of a file in a directory that can be written",
            ))
        };
        if path.file_name().is_none() || fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(refused("it is no regular file".to_owned()));
        }
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let file = File::create(&part).map_err(|error| refused(error.to_string()))?;
        Ok(Self { path: path.to_owned(), part, file: Some(file), format })
    }

    /// Writes everything and puts it in place.
    pub(crate) fn finish(mut self, traces: &TraceFile) -> anyhow::Result<()> {
        let place = || format!("cannot write {}", self.path.display());
        let Some(file) = self.file.take() else { return Ok(()) };
        let mut out = BufWriter::new(file);
        let written = match self.format {
            TraceFormat::Parkbench => out.write_all(&traces.encode()),
            TraceFormat::Chrome => chrome::write(traces, &mut out),
        };
        written.and_then(|()| out.flush()).with_context(place)?;
        fs::rename(&self.part, &self.path).with_context(place)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // After it was put in place there is none.
        match fs::remove_file(&self.part) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                eprintln!("warning: {} could not be removed: {error}", self.part.display());
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
            let error = Output::open(&path, TraceFormat::Parkbench).unwrap_err().to_string();
            assert!(error.starts_with("--trace: "), "{error}");
        }
    }
}

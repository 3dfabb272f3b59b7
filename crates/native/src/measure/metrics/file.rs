//! The metrics as a file for the textfile collector of `node_exporter`: replaced as a whole, so that no reader sees half
//! of it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use parkbench_engine::FieldError;

use crate::Failure;
use crate::input::InputError;
use crate::measure::disk;

const OPTION: &str = "--metrics-file";

/// A file that was found to be writable.
#[derive(Debug)]
pub(super) struct Target {
    path: PathBuf,
}

impl Target {
    /// Tries to write beside the file, and leaves the file as it is.
    ///
    /// What is no place for a file is wrong input; what cannot be written is a failure.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let wrong = |why: &str| {
            let allowed = "a file in a directory that exists, such as metrics.prom; the file may exist";
            let value = format!("{} {why}", path.display());
            Failure::Input(InputError::Field(FieldError::new(OPTION, value, allowed)))
        };
        if path.file_name().is_none() {
            return Err(wrong("names no file"));
        }
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => return Err(wrong("is a directory")),
            // A device would be replaced, not written to.
            Ok(found) if !found.is_file() => return Err(wrong("is no regular file")),
            _ => {}
        }
        // A link stays, and what it points to is replaced.
        let path_itself = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if !directory(&path_itself).is_dir() {
            return Err(wrong("is in no directory"));
        }
        let target = Self { path: path_itself };
        let part = target.part();
        let tried = write(&part, "").with_context(|| format!("{OPTION}: {} cannot be written", path.display()));
        let _ = fs::remove_file(&part);
        tried?;
        Ok(target)
    }

    /// Replaces the file.
    pub(super) fn write(&self, text: &str) -> anyhow::Result<()> {
        let part = self.part();
        let written = write(&part, text).and_then(|()| fs::rename(&part, &self.path).map_err(|error| anyhow!(error)));
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        written.with_context(|| format!("{OPTION}: {} cannot be written", self.path.display()))
    }

    /// Beside the file, so that it can be renamed; with another ending, so that the collector does not read it.
    fn part(&self) -> PathBuf {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        self.path.with_file_name(format!(".{name}.{}.part", std::process::id()))
    }
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A disk that is full is noticed here, and not when the kernel writes it back.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    File::create(path).and_then(|file| disk::fill(file, text)).map_err(|error| anyhow!(error))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.prom");
        let target = Target::open(&path).unwrap();
        assert!(!path.exists(), "nothing is written before there is something to write");
        for text in ["x 1\n", "x 2\n"] {
            target.write(text).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        let link = dir.path().join("link.prom");
        symlink(&path, &link).unwrap();
        Target::open(&link).unwrap().write("x 3\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "x 3\n");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_write_that_fails_leaves_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.prom");
        let target = Target::open(&path).unwrap();
        target.write("x 1\n").unwrap();
        // Every write to this device ends as on a full disk.
        symlink("/dev/full", target.part()).unwrap();
        let error = format!("{:#}", target.write("x 2\n").unwrap_err());
        assert!(error.starts_with("--metrics-file: ") && error.contains("a.prom cannot be written"), "{error}");
        assert!(error.contains("No space left on device"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "x 1\n");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}

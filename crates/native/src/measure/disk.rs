//! Files that are written down to the disk, where a disk that is full says so.
//!
//! What is written, and where to, is the caller's.

use std::fs::File;
use std::io::{self, Write as _};

/// Writes the file's whole text.
pub(crate) fn fill(mut file: File, text: &str) -> io::Result<()> {
    file.write_all(text.as_bytes())?;
    sync(&file)
}

/// Returns when all that was written is on the disk.
pub(crate) fn sync(file: &File) -> io::Result<()> {
    match file.sync_all() {
        // Some file systems cannot.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput || error.kind() == io::ErrorKind::Unsupported => {
            Ok(())
        }
        synced => synced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_an_error() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        assert_eq!(fill(full, "text").unwrap_err().kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn what_cannot_be_synced_is_written_all_the_same() {
        let null = File::options().write(true).open("/dev/null").unwrap();
        assert!(null.sync_all().is_err(), "a device that syncs tests nothing");
        fill(null, "text").unwrap();
    }
}

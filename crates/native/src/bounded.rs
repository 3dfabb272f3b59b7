//! Files that are read whole, and no further than they may be large: a device or a pipe tells no length and has no end.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The bytes of a file; `None` if there are more than `most`.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    read_from(File::open(path)?, most)
}

/// All bytes of a source; `None` if there are more than `most`.
pub(crate) fn read_from(source: impl Read, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    source.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: impl Read, most: u64, expect: Option<usize>) {
        assert_eq!(read_from(source, most).unwrap().map(|bytes| bytes.len()), expect);
    }

    #[test]
    fn what_has_no_end_is_not_read_to_it() {
        check(io::repeat(0), 1_000, None);
        check(io::repeat(0).take(1_000), 1_000, Some(1_000));
        check(io::repeat(0).take(1_001), 1_000, None);
        check(io::empty(), 0, Some(0));
        check(io::repeat(0).take(5), u64::MAX, Some(5));
    }
}

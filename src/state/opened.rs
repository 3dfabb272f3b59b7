//! What a file that was opened is: recognised by its first bytes, and read. The limit is checked before anything is.

use std::rc::Rc;

use super::compared::ComparedFile;
use super::measured::MeasuredSet;

/// Largest file that is opened: a copy of it and what is made of it have to fit into what a page can address.
pub const MAX_FILE_BYTES: u64 = 512 << 20;

/// Largest comparison; the others are text that is no comparison, and would only take memory.
const MAX_TEXT_BYTES: usize = 16 << 20;

const ALLOWED: &str = "a file of parkbench measure --trace, or of parkbench compare --format json";

/// A file that can stand beside simulated runs.
#[derive(Clone, Debug)]
pub enum Opened {
    /// Measured runs with all that happened in them.
    Measured(Rc<MeasuredSet>),
    /// Figures of simulation and measurement, of one scenario or of several.
    Compared(Rc<ComparedFile>),
}

impl Opened {
    /// Why a file of this size cannot be opened.
    pub fn refuse_size(bytes: u64) -> Option<String> {
        match bytes {
            0 => Some(format!("file: 0 bytes; allowed: {ALLOWED}")),
            1..=MAX_FILE_BYTES => None,
            _ => Some(format!("file: {bytes} bytes; allowed: up to {MAX_FILE_BYTES} bytes")),
        }
    }

    /// Reads a file; an error names the place, the value and what is allowed.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Self, String> {
        if let Some(why) = Self::refuse_size(bytes.len() as u64) {
            return Err(why);
        }
        if bytes.starts_with(b"PBT") {
            let set = MeasuredSet::read(name, bytes).map_err(|error| error.to_string())?;
            return Ok(Self::Measured(Rc::new(set)));
        }
        let text = std::str::from_utf8(bytes).ok().map(|text| text.trim_start_matches('\u{feff}').trim_start());
        match text {
            Some(text) if text.starts_with('{') && text.len() > MAX_TEXT_BYTES => {
                Err(format!("file: {} bytes of text; allowed: up to {MAX_TEXT_BYTES}", text.len()))
            }
            Some(text) if text.starts_with('{') => Ok(Self::Compared(Rc::new(ComparedFile::read(name, text)?))),
            _ => {
                let start: String = String::from_utf8_lossy(&bytes[..bytes.len().min(8)]).into_owned();
                Err(format!("file: begins with {start:?}; allowed: {ALLOWED}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expect: &str) {
        let error = Opened::read("a", bytes).unwrap_err();
        assert!(error.contains(expect), "{error}");
    }

    #[test]
    fn a_file_is_recognised_by_how_it_begins() {
        let comparison = super::super::compared::tests::file().to_string();
        let bom = format!("\u{feff}\n {comparison}");
        let several = super::super::compared::tests::several(2).to_string();
        for text in [&comparison, &bom, &several] {
            assert!(matches!(Opened::read("a", text.as_bytes()), Ok(Opened::Compared(_))));
        }
        check(b"", "file: 0 bytes; allowed: a file of parkbench measure --trace");
        check(b"version = 1\n", "file: begins with \"version \"; allowed: ");
        check(b"\xff\xfe{", "allowed: a file of parkbench");
        check(b"PBTF", "length: 4 bytes");
        check(b"{}", "missing field");
    }

    #[test]
    fn a_file_that_is_too_large_is_not_read() {
        assert_eq!(Opened::refuse_size(MAX_FILE_BYTES), None);
        let why = Opened::refuse_size(MAX_FILE_BYTES + 1).unwrap();
        assert_eq!(why, "file: 536870913 bytes; allowed: up to 536870912 bytes");
    }
}

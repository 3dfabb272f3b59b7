//! Durations from CSV files: `{ empirical = { file = "calls.csv" } }` becomes the list of the values in the file.
//!
//! The engine reads no files, so a scenario that names one is completed here before it is read.

use std::io;
use std::path::Path;

use parkbench_engine::{FieldError, Nanos};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::bounded;

/// Largest CSV file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;
/// Most values that a scenario takes.
const MAX_VALUES: usize = 100_000;

/// Why the values could not be had.
#[derive(Debug, Error)]
pub(crate) enum CsvError {
    /// The table beside `empirical` is wrong.
    #[error("{0}")]
    Field(FieldError),
    /// The file cannot be read.
    #[error("{field}.file: {file:?} cannot be read ({error}); allowed: a CSV file, relative to the scenario file")]
    Unreadable {
        /// Path of the distribution in the scenario.
        field: String,
        /// The file as the scenario names it.
        file: String,
        /// Why.
        error: io::Error,
    },
    /// A value in it is none.
    #[error("{field}: {file:?}, line {line}: {problem}")]
    Line {
        /// Path of the distribution in the scenario.
        field: String,
        /// The file as the scenario names it.
        file: String,
        /// Its line, from 1.
        line: u64,
        /// The value and what is allowed.
        problem: String,
    },
}

/// Whether some distribution names a file.
pub(crate) fn names_a_file(scenario: &Value) -> bool {
    match scenario {
        Value::Object(fields) => {
            fields.get("empirical").is_some_and(Value::is_object) || fields.values().any(names_a_file)
        }
        Value::Array(values) => values.iter().any(names_a_file),
        _ => false,
    }
}

/// Puts the values of every file that is named in the place of its name; files are relative to `folder`.
pub(crate) fn fill(scenario: &mut Value, folder: &Path) -> Result<(), CsvError> {
    walk(scenario, "", folder)
}

fn walk(value: &mut Value, path: &str, folder: &Path) -> Result<(), CsvError> {
    match value {
        Value::Array(values) => values
            .iter_mut()
            .enumerate()
            .try_for_each(|(index, value)| walk(value, &format!("{path}[{index}]"), folder)),
        Value::Object(fields) => fields.iter_mut().try_for_each(|(name, value)| {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            match value {
                Value::Object(source) if name == "empirical" => {
                    *value = Source::of(source, &path)?.read(folder)?;
                    Ok(())
                }
                value => walk(value, &path, folder),
            }
        }),
        _ => Ok(()),
    }
}

/// The file of a distribution, and where in it the values stand.
struct Source {
    field: String,
    file: String,
    column: Option<String>,
    unit: Option<String>,
}

impl Source {
    fn of(table: &Map<String, Value>, field: &str) -> Result<Self, CsvError> {
        let wrong = |name: &str, value: String, allowed: &str| {
            Err(CsvError::Field(FieldError::new(format!("{field}.{name}"), value, allowed)))
        };
        let allowed = |name: &str| match name {
            "file" => Some("the name of a CSV file, relative to the scenario file"),
            "column" => Some("the name of a column; without it the first is read"),
            "unit" => Some("ns, us, ms, s, min, h: the unit of numbers that have none"),
            _ => None,
        };
        let (mut file, mut column, mut unit) = (None, None, None);
        for (name, value) in table {
            let Some(allowed) = allowed(name) else {
                return wrong(name, "an unknown field".to_owned(), "file, column, unit");
            };
            let Some(text) = value.as_str().filter(|text| !text.is_empty()) else {
                return wrong(name, value.to_string(), allowed);
            };
            if name == "unit" && Nanos::parse(&format!("1 {text}")).is_err() {
                return wrong(name, format!("{text:?}"), allowed);
            }
            let place = match name.as_str() {
                "file" => &mut file,
                "column" => &mut column,
                _ => &mut unit,
            };
            *place = Some(text.to_owned());
        }
        match file {
            Some(file) => Ok(Self { field: field.to_owned(), file, column, unit }),
            None => wrong("file", "none".to_owned(), allowed("file").unwrap_or_default()),
        }
    }

    fn read(&self, folder: &Path) -> Result<Value, CsvError> {
        let path = folder.join(&self.file);
        let unreadable = |error| CsvError::Unreadable { field: self.field.clone(), file: self.file.clone(), error };
        let Some(bytes) = bounded::read(&path, MAX_FILE_BYTES).map_err(unreadable)? else {
            let value = format!("more than {MAX_FILE_BYTES} bytes");
            return Err(self.wrong("file", value, format!("up to {MAX_FILE_BYTES} bytes")));
        };
        self.values(&bytes)
    }

    fn wrong(&self, name: &str, value: String, allowed: String) -> CsvError {
        CsvError::Field(FieldError::new(format!("{}.{name}", self.field), value, allowed))
    }

    /// The column's values, each with a unit.
    fn values(&self, text: &[u8]) -> Result<Value, CsvError> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let mut reader =
            csv::ReaderBuilder::new().has_headers(false).flexible(true).trim(csv::Trim::All).from_reader(text);
        let line = |line: u64, problem: String| CsvError::Line {
            field: self.field.clone(),
            file: self.file.clone(),
            line,
            problem,
        };
        let mut values = Vec::new();
        let mut column = None;
        for record in reader.records() {
            let record = record.map_err(|error| {
                let at = error.position().map_or(1, csv::Position::line);
                line(at, format!("it is no CSV as UTF-8 text ({error})"))
            })?;
            let at = record.position().map_or(1, csv::Position::line);
            let column = if let Some(column) = column {
                column
            } else {
                let (index, is_header) = self.column(&record)?;
                column = Some(index);
                if is_header {
                    continue;
                }
                index
            };
            let Some(cell) = record.get(column).filter(|cell| !cell.is_empty()) else {
                return Err(line(at, format!("column {} is empty; allowed: a duration", column + 1)));
            };
            match self.duration(cell) {
                Ok(value) => values.push(Value::String(value.to_string())),
                Err(problem) => return Err(line(at, problem)),
            }
            if values.len() > MAX_VALUES {
                let allowed = format!("up to {MAX_VALUES} values");
                return Err(self.wrong("file", format!("more than {MAX_VALUES} values"), allowed));
            }
        }
        if values.is_empty() {
            return Err(self.wrong(
                "file",
                format!("{:?} without values", self.file),
                format!("1 to {MAX_VALUES} values"),
            ));
        }
        Ok(Value::Array(values))
    }

    /// Which column is read, by the first record, and whether that is the header.
    fn column(&self, first: &csv::StringRecord) -> Result<(usize, bool), CsvError> {
        let Some(name) = &self.column else {
            // A value begins with a digit, or with the sign of what is then refused.
            let is_value = |cell: &str| cell.starts_with(|c: char| c.is_ascii_digit() || ".-".contains(c));
            return Ok((0, !first.get(0).is_some_and(is_value)));
        };
        first.iter().position(|cell| cell == name).map(|index| (index, true)).ok_or_else(|| {
            let names: Vec<&str> = first.iter().collect();
            let allowed = format!("{} (the first line of {:?})", names.join(", "), self.file);
            self.wrong("column", format!("{name:?}"), allowed)
        })
    }

    fn duration(&self, cell: &str) -> Result<Nanos, String> {
        let text = match &self.unit {
            Some(unit) if cell.ends_with(|c: char| c.is_ascii_digit() || c == '.') => format!("{cell} {unit}"),
            _ => cell.to_owned(),
        };
        Nanos::parse(&text).map_err(|error| match error.problem {
            "the unit is missing" => {
                format!("{cell:?} is not allowed: the unit is missing; allowed: a unit in each value such as \"{cell} ms\", or unit = \"ms\" beside the file")
            }
            _ => error.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(table: &Value, text: &str, expect: Result<&[&str], &[&str]>) {
        let values =
            Source::of(table.as_object().unwrap(), "io.empirical").and_then(|source| source.values(text.as_bytes()));
        match (values, expect) {
            (Ok(values), Ok(expect)) => assert_eq!(values, json!(expect)),
            (Err(error), Err(words)) => {
                let error = error.to_string();
                assert!(words.iter().all(|word| error.contains(word)), "{error}");
            }
            (got, _) => panic!("{got:?}"),
        }
    }

    #[test]
    fn values_stand_in_a_column() {
        check(&json!({ "file": "a" }), "12 ms\n1.5 s\n", Ok(&["12 ms", "1.5 s"]));
        check(&json!({ "file": "a" }), "time\r\n12 ms\r\n", Ok(&["12 ms"]));
        check(&json!({ "file": "a", "unit": "ms" }), "\u{feff}ms\n12\n0.5\n", Ok(&["12 ms", "500 us"]));
        check(&json!({ "file": "a", "column": "ms", "unit": "ms" }), "id,ms\n1, 12\n2,\"9\"\n", Ok(&["12 ms", "9 ms"]));
        check(&json!({ "file": "a", "unit": "us" }), "7\n8 ms", Ok(&["7 us", "8 ms"]));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        check(
            &json!({ "file": "a" }),
            "12 ms\nabc\n",
            Err(&["io.empirical", "\"a\", line 2", "\"abc\" is not allowed"]),
        );
        check(&json!({ "file": "a" }), "12\n", Err(&["line 1", "\"12\"", "unit = \"ms\""]));
        check(&json!({ "file": "a" }), "12 ms\n-1 ms\n", Err(&["line 2", "\"-1 ms\"", "negative"]));
        check(&json!({ "file": "a" }), "1 ms\n9999999 h\n", Err(&["line 2", "too long", "8760 h"]));
        check(&json!({ "file": "a", "column": "x" }), "id,ms\n1,2\n", Err(&["io.empirical.column", "\"x\"", "id, ms"]));
        check(&json!({ "file": "a", "column": "ms" }), "id,ms\n1\n", Err(&["line 2", "column 2 is empty"]));
        check(&json!({ "file": "a" }), "", Err(&["io.empirical.file", "without values", "1 to 100000"]));
        check(&json!({ "file": "a" }), &"1 ms\n".repeat(100_001), Err(&["more than 100000 values"]));
        check(&json!({ "unit": "ms" }), "", Err(&["io.empirical.file", "none", "CSV"]));
        check(&json!({ "file": "a", "unit": "parsec" }), "", Err(&["io.empirical.unit", "\"parsec\"", "ns, us, ms"]));
        check(&json!({ "file": 5 }), "", Err(&["io.empirical.file", "5"]));
        check(&json!({ "file": "a", "sheet": "b" }), "", Err(&["io.empirical.sheet", "unknown", "file, column, unit"]));
    }
}

//! Reading amounts that are a text or a table: `"50 ms"`, `{ iterations = 100000 }`, `{ uniform = ["2 s", "2.2 s"] }`.
//!
//! Derived readers of such choices forget why a text was refused; these keep the reason.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess};

use super::{CpuWork, Distribution, Duration, Iterations};
use crate::quantity::Nanos;

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Duration;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(r#"a duration such as "50 ms" from 0 ns to 8760 h, or { uniform = ["2 s", "2.2 s"] }"#)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Duration, E> {
                Nanos::parse(text).map(Duration::Constant).map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Duration, A::Error> {
                Distribution::deserialize(MapAccessDeserializer::new(map)).map(Duration::Drawn)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// The tables that a `cpu` step may hold.
#[derive(serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
enum CpuTable {
    Iterations(u64),
    Uniform(Nanos, Nanos),
}

impl<'de> Deserialize<'de> for CpuWork {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = CpuWork;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    r#"a duration such as "20 us" from 0 ns to 8760 h, { iterations = 100000 } or { uniform = ["1 us", "2 us"] }"#,
                )
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<CpuWork, E> {
                Nanos::parse(text).map(|nanos| CpuWork::Time(Duration::Constant(nanos))).map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<CpuWork, A::Error> {
                Ok(match CpuTable::deserialize(MapAccessDeserializer::new(map))? {
                    CpuTable::Iterations(iterations) => CpuWork::Iterations(Iterations { iterations }),
                    CpuTable::Uniform(from, to) => CpuWork::Time(Duration::Drawn(Distribution::Uniform(from, to))),
                })
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

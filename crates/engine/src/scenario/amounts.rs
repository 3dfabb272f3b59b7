//! Reading what is one of several things: steps by their one key, amounts that are a text or a table.
//!
//! Derived readers of such choices forget why a value was refused, or speak of variants; these name the key, the
//! reason and what is allowed.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};

use super::{Arrival, Block, BlockKind, CpuWork, Distribution, Duration, Iterations, LockSpec, Step};
use crate::quantity::Nanos;

/// Something that is written as a table with exactly one key, or, for some, as a text.
trait OneKey: Sized {
    const EXPECTED: &'static str;
    const KEYS: &'static [&'static str];

    /// Reads the value of a key that is one of `KEYS`.
    fn read<'de, A: MapAccess<'de>>(key: &str, map: &mut A) -> Result<Self, A::Error>;

    /// Reads a text, where one is allowed.
    fn from_text<E: de::Error>(text: &str) -> Result<Self, E> {
        Err(E::invalid_type(de::Unexpected::Str(text), &Self::EXPECTED))
    }
}

struct OneKeyVisitor<T>(PhantomData<T>);

impl<'de, T: OneKey> Visitor<'de> for OneKeyVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        T::from_text(text)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let Some(key) = map.next_key::<String>()? else {
            return Err(de::Error::custom(format!("the table is empty; allowed: {}", T::EXPECTED)));
        };
        if !T::KEYS.contains(&key.as_str()) {
            return Err(de::Error::unknown_field(&key, T::KEYS));
        }
        let value = T::read(&key, &mut map)?;
        match map.next_key::<String>()? {
            None => Ok(value),
            Some(second) => {
                Err(de::Error::custom(format!("{second:?} is not allowed beside {key:?}; allowed: {}", T::EXPECTED)))
            }
        }
    }
}

macro_rules! deserialize_one_key {
    ($($type:ty),*) => {$(
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(OneKeyVisitor::<$type>(PhantomData))
            }
        }
    )*};
}
deserialize_one_key!(Step, CpuWork, Duration, Arrival);

impl OneKey for Step {
    const EXPECTED: &'static str = r#""yield", "join", or a step with one key of cpu, io, block, lock, unlock, acquire, release, spawn, repeat, such as { io = "50 ms" }"#;
    const KEYS: &'static [&'static str] =
        &["cpu", "io", "block", "lock", "unlock", "acquire", "release", "spawn", "repeat"];

    fn read<'de, A: MapAccess<'de>>(key: &str, map: &mut A) -> Result<Self, A::Error> {
        Ok(match key {
            "cpu" => Self::Cpu(map.next_value()?),
            "io" => Self::Io(map.next_value()?),
            "block" => Self::Block(map.next_value()?),
            "lock" => Self::Lock(map.next_value::<LockSpec>()?),
            "unlock" => Self::Unlock(map.next_value()?),
            "acquire" => Self::Acquire(map.next_value()?),
            "release" => Self::Release(map.next_value()?),
            "spawn" => Self::Spawn(map.next_value()?),
            _ => Self::Repeat(map.next_value()?),
        })
    }

    fn from_text<E: de::Error>(text: &str) -> Result<Self, E> {
        match text {
            "yield" => Ok(Self::Yield),
            "join" => Ok(Self::Join),
            _ => Err(E::invalid_value(de::Unexpected::Str(text), &Self::EXPECTED)),
        }
    }
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BlockVisitor)
    }
}

/// A duration as a text or a table, or a table of `time` and `kind`.
struct BlockVisitor;

impl<'de> Visitor<'de> for BlockVisitor {
    type Value = Block;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            r#"a duration such as "50 ms" from 0 ns to 8760 h, a distribution such as { uniform = ["2 s", "2.2 s"] }, or { time = "50 ms", kind = "file" }"#,
        )
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Block, E> {
        Duration::from_text(text).map(Block::from)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Block, A::Error> {
        const KEYS: &[&str] = &["time", "kind", "uniform", "exponential", "lognormal", "pareto", "empirical"];
        let (mut time, mut kind, mut drawn) = (None, None, false);
        while let Some(key) = map.next_key::<String>()? {
            let twice = match key.as_str() {
                "kind" => kind.replace(map.next_value::<BlockKind>()?).is_some(),
                "time" => time.replace(map.next_value()?).is_some(),
                name if DISTRIBUTIONS.contains(&name) => {
                    drawn = true;
                    time.replace(Duration::read(name, &mut map)?).is_some()
                }
                name => return Err(de::Error::unknown_field(name, KEYS)),
            };
            if twice || drawn && kind.is_some() {
                return Err(de::Error::custom(format_args!(
                    "{key:?} is not allowed beside the others; allowed: a time and a kind, or one distribution"
                )));
            }
        }
        let time = time.ok_or_else(|| de::Error::missing_field("time"))?;
        Ok(Block { time, kind: kind.unwrap_or_default() })
    }
}

impl OneKey for Arrival {
    const EXPECTED: &'static str = r#""at-once" or a table with one key of every, poisson, bursts, closed-loop, times, such as { poisson = "1 ms" }"#;
    const KEYS: &'static [&'static str] = &["every", "poisson", "bursts", "closed-loop", "times"];

    fn read<'de, A: MapAccess<'de>>(key: &str, map: &mut A) -> Result<Self, A::Error> {
        Ok(match key {
            "every" => Self::Every(map.next_value()?),
            "poisson" => Self::Poisson(map.next_value()?),
            "bursts" => Self::Bursts(map.next_value()?),
            "closed-loop" => Self::ClosedLoop(map.next_value()?),
            _ => Self::Times(map.next_value()?),
        })
    }

    fn from_text<E: de::Error>(text: &str) -> Result<Self, E> {
        if text == "at-once" {
            return Ok(Self::AtOnce);
        }
        Err(E::invalid_value(de::Unexpected::Str(text), &Self::EXPECTED))
    }
}

/// The keys of a table that stands for a duration.
const DISTRIBUTIONS: &[&str] = &["uniform", "exponential", "lognormal", "pareto", "empirical"];

impl OneKey for Duration {
    const EXPECTED: &'static str = r#"a duration such as "50 ms" from 0 ns to 8760 h, or a table with one key of uniform, exponential, lognormal, pareto, empirical, such as { uniform = ["2 s", "2.2 s"] }"#;
    const KEYS: &'static [&'static str] = DISTRIBUTIONS;

    fn read<'de, A: MapAccess<'de>>(key: &str, map: &mut A) -> Result<Self, A::Error> {
        Ok(Self::Drawn(match key {
            "uniform" => {
                let (from, to) = map.next_value()?;
                Distribution::Uniform(from, to)
            }
            "exponential" => Distribution::Exponential(map.next_value()?),
            "lognormal" => Distribution::Lognormal(map.next_value()?),
            "pareto" => Distribution::Pareto(map.next_value()?),
            _ => Distribution::Empirical(map.next_value::<Values>()?.0),
        }))
    }

    fn from_text<E: de::Error>(text: &str) -> Result<Self, E> {
        Nanos::parse(text).map(Self::Constant).map_err(E::custom)
    }
}

/// The list of an empirical distribution.
struct Values(Vec<Nanos>);

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Values;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    r#"a list of durations such as ["10 ms", "12 ms"]; only the command line reads them from a CSV file"#,
                )
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Values, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    values.push(value);
                }
                Ok(Values(values))
            }
        }
        deserializer.deserialize_any(List)
    }
}

impl OneKey for CpuWork {
    const EXPECTED: &'static str = r#"a duration such as "20 us" from 0 ns to 8760 h, { iterations = 100000 }, or a table with one key of uniform, exponential, lognormal, pareto, empirical, such as { uniform = ["1 us", "2 us"] }"#;
    const KEYS: &'static [&'static str] = &["iterations", "uniform", "exponential", "lognormal", "pareto", "empirical"];

    fn read<'de, A: MapAccess<'de>>(key: &str, map: &mut A) -> Result<Self, A::Error> {
        if key == "iterations" {
            return Ok(Self::Iterations(Iterations { iterations: map.next_value()? }));
        }
        Duration::read(key, map).map(Self::Time)
    }

    fn from_text<E: de::Error>(text: &str) -> Result<Self, E> {
        Duration::from_text(text).map(Self::Time)
    }
}

/// Reads a table of texts in which no name may stand twice; JSON has no such rule of its own.
pub(super) fn no_name_twice<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    struct Visitor;
    impl<'de> de::Visitor<'de> for Visitor {
        type Value = BTreeMap<String, String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(r#"a table of names and values such as { vt_spawn = "2 us" }"#)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut table = BTreeMap::new();
            while let Some((name, value)) = map.next_entry::<String, String>()? {
                if table.contains_key(&name) {
                    return Err(de::Error::custom(format_args!("{name:?} stands twice; allowed: once")));
                }
                table.insert(name, value);
            }
            Ok(table)
        }
    }
    deserializer.deserialize_map(Visitor)
}

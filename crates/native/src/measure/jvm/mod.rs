//! Runtimes of the JVM: a Java and Maven are found, the runner in `jvm/` is built once, and one process of it measures
//! every repetition of one runtime.

mod find;
mod jar;
mod plan;
mod process;

pub(crate) use find::{Java, JavaError, OLDEST, Version, find_java, maven, on_path};
pub(crate) use jar::{built, cache, can_build, jar};
pub(crate) use process::{JvmReadings, Process, SLACK};

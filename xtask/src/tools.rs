//! What the other commands need installed, and the two lanes that install it in the background.
//! One lane waits for the network (system and npm packages), the other for the compiler (cargo tools).

mod cargo;
mod debian;
mod environment;
mod java;
mod npm;
mod prometheus;
mod search;
mod turn;

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::{Result, bail};

use crate::paths::Paths;

pub(crate) use cargo::find_tool;
pub(crate) use environment::Environment;
pub(crate) use java::home as java_home;
pub(crate) use prometheus::find as prometheus;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// The standard library for `wasm32-unknown-unknown`.
    WasmTarget,
    /// `wasm-bindgen` and `wasm-bindgen-test-runner`.
    WasmBindgen,
    Trunk,
    /// Node.js and the packages of `e2e/package.json`, `wasm-opt` among them.
    NodePackages,
    Chromium,
    Chromedriver,
    /// A Java with virtual threads.
    Java,
    Maven,
    /// Prometheus, promtool and `node_exporter`.
    Prometheus,
}

impl Tool {
    pub(crate) const ALL: &[Self] = &[
        Self::WasmTarget,
        Self::WasmBindgen,
        Self::Trunk,
        Self::NodePackages,
        Self::Chromium,
        Self::Chromedriver,
        Self::Java,
        Self::Maven,
        Self::Prometheus,
    ];

    /// Whether a step that needs it is skipped, rather than failed, where it cannot be had.
    pub(crate) const fn is_optional(self) -> bool {
        matches!(self, Self::Java | Self::Maven | Self::Prometheus)
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WasmTarget => "the wasm32 target",
            Self::WasmBindgen => "wasm-bindgen",
            Self::Trunk => "Trunk",
            Self::NodePackages => "the npm packages",
            Self::Chromium => "Chromium",
            Self::Chromedriver => "chromedriver",
            Self::Java => "Java",
            Self::Maven => "Maven",
            Self::Prometheus => "Prometheus",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Installing,
    Ready,
    /// With the reason and what to do.
    Missing(String),
}

/// The tools that were asked for and how far they are.
pub(crate) struct Toolbox {
    shared: Arc<Shared>,
}

struct Shared {
    states: Mutex<Vec<(Tool, State)>>,
    changed: Condvar,
}

impl Toolbox {
    /// Starts to install whatever of `tools` is missing and returns at once.
    pub(crate) fn start(paths: &Paths, tools: &[Tool]) -> Self {
        let states = tools.iter().map(|&tool| (tool, State::Installing)).collect();
        let shared = Arc::new(Shared { states: Mutex::new(states), changed: Condvar::new() });
        for lane in [system_lane as fn(&Paths, &Shared), cargo_lane] {
            let shared = Arc::clone(&shared);
            let paths = Paths { root: paths.root.clone(), cache: paths.cache.clone() };
            thread::spawn(move || lane(&paths, &shared));
        }
        Self { shared }
    }

    /// Tools that nobody asked for count as installing, so asking for them is a mistake that shows.
    pub(crate) fn state(&self, tool: Tool) -> State {
        let states = self.shared.lock();
        states.iter().find(|(known, _)| *known == tool).map_or(State::Installing, |(_, state)| state.clone())
    }

    /// Returns when all of `tools` are ready; an error names the first that cannot be had and is not optional.
    pub(crate) fn wait_for(&self, tools: &[Tool]) -> Result<()> {
        for &tool in tools {
            self.wait_until(|| self.state(tool) != State::Installing);
            match self.state(tool) {
                State::Missing(reason) if tool.is_optional() => eprintln!("setup: {tool}: {reason}"),
                State::Missing(reason) => bail!("{tool}: {reason}"),
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns as soon as `done` holds; looks again each time that a tool's state changes.
    pub(crate) fn wait_until(&self, done: impl Fn() -> bool) {
        while !done() {
            let states = self.shared.lock();
            // The time limit covers a change between the look and the lock.
            let limit = std::time::Duration::from_millis(200);
            drop(self.shared.changed.wait_timeout(states, limit).unwrap_or_else(PoisonError::into_inner));
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Vec<(Tool, State)>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wants(&self, tool: Tool) -> bool {
        self.lock().iter().any(|(known, _)| *known == tool)
    }

    /// Installs one tool, if it is wanted, and tells those who wait.
    fn settle(&self, tool: Tool, install: impl FnOnce() -> Result<()>) {
        if !self.wants(tool) {
            return;
        }
        let state = install().map_or_else(|err| State::Missing(format!("{err:#}")), |()| State::Ready);
        for (_, slot) in self.lock().iter_mut().filter(|(known, _)| *known == tool) {
            *slot = state.clone();
        }
        self.changed.notify_all();
    }
}

fn cargo_lane(paths: &Paths, shared: &Shared) {
    shared.settle(Tool::WasmTarget, || cargo::ensure_wasm_target(paths));
    shared.settle(Tool::WasmBindgen, || cargo::ensure_wasm_bindgen(paths));
    shared.settle(Tool::Trunk, || cargo::ensure_trunk(paths));
}

fn system_lane(paths: &Paths, shared: &Shared) {
    let mut packages = Vec::new();
    if shared.wants(Tool::NodePackages) {
        packages.extend(npm::missing_system_packages(paths));
    }
    if shared.wants(Tool::Chromium) && search::chromium().is_none() {
        packages.push("chromium");
    }
    if shared.wants(Tool::Chromedriver) && search::chromedriver().is_none() {
        packages.push("chromium-driver");
    }
    if shared.wants(Tool::Java) {
        packages.extend(java::missing_system_packages(paths));
    }
    if shared.wants(Tool::Maven) && search::on_path("mvn").is_none() {
        packages.push("maven");
    }
    let installed = debian::install(paths, &packages).map_err(|err| format!("{err:#}"));
    let reason = installed.err().unwrap_or_default();
    shared.settle(Tool::Chromium, || {
        let advice = "install Chromium or Chrome, or set PARKBENCH_CHROMIUM to its path";
        search::required(search::chromium(), advice, &reason)
    });
    shared.settle(Tool::Chromedriver, || {
        let advice = "install the chromedriver that fits the browser, or set CHROMEDRIVER to its path";
        search::required(search::chromedriver(), advice, &reason)
    });
    shared.settle(Tool::Maven, || {
        search::required(search::on_path("mvn"), "install Maven (https://maven.apache.org)", &reason)
    });
    shared.settle(Tool::Prometheus, || prometheus::ensure(paths));
    shared.settle(Tool::Java, || java::ensure(paths, &reason));
    shared.settle(Tool::NodePackages, || npm::ensure_packages(paths, &reason));
}

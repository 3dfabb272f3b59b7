//! The user's wish to end: SIGINT and SIGTERM, heard from the first time that anyone asks until the process ends.
//!
//! Nothing is ended here but the process itself, where the user has to ask twice.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// What a shell reports for a program that SIGINT has ended.
const EXIT_CODE: i32 = 130;

/// Knows whether the user wants everything to end; once wished, it stays wished.
#[derive(Clone, Debug)]
pub(crate) struct Stop(watch::Receiver<bool>);

/// Starts to listen, unless something listens already.
///
/// A signal that comes between two measurements is heard too, which a listener for each would miss: once a program has
/// asked for a signal, the signal ends it no more.
pub(crate) fn listen() -> anyhow::Result<Stop> {
    static LISTENER: Mutex<Option<Stop>> = Mutex::new(None);
    let mut listener = LISTENER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(stop) = &*listener {
        return Ok(stop.clone());
    }
    let (sender, receiver) = watch::channel(false);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .context("cannot start the runtime that waits for signals")?;
    let mut signals = {
        let _inside = runtime.enter();
        Signals::watch()?
    };
    let wait = move || {
        runtime.block_on(async {
            signals.any().await;
            // The sender stays here, so those who wait always hear.
            sender.send_replace(true);
            signals.any().await;
            std::process::exit(EXIT_CODE);
        });
    };
    thread::Builder::new().name("signals".to_owned()).spawn(wait).context("cannot start the thread for signals")?;
    Ok(listener.insert(Stop(receiver)).clone())
}

impl Stop {
    /// Whether the user has asked to end.
    pub(crate) fn is_requested(&self) -> bool {
        *self.0.borrow()
    }

    /// Holds this thread until the user asks to end, or for so long; true for the user.
    pub(crate) fn wait(&self, limit: Option<Duration>) -> anyhow::Result<bool> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .context("cannot start the runtime that waits for the user")?;
        runtime.block_on(async {
            match limit {
                // Whether it was in time is asked once more, for both may have happened.
                Some(limit) => drop(tokio::time::timeout(limit, self.requested()).await),
                None => self.requested().await,
            }
        });
        Ok(self.is_requested())
    }

    /// Returns as soon as the user has asked to end.
    pub(crate) async fn requested(&self) {
        // An error would mean that nothing listens any more, which ends with the process only.
        let _ = self.0.clone().wait_for(|requested| *requested).await;
    }
}

/// Both signals by which a user ends a program.
struct Signals(Signal, Signal);

impl Signals {
    fn watch() -> anyhow::Result<Self> {
        let watch = |kind, name| signal(kind).with_context(|| format!("cannot watch for {name}"));
        Ok(Self(watch(SignalKind::interrupt(), "SIGINT")?, watch(SignalKind::terminate(), "SIGTERM")?))
    }

    async fn any(&mut self) {
        tokio::select! {
            _ = self.0.recv() => {}
            _ = self.1.recv() => {}
        }
    }
}

//! One process at a time: two clones that set themselves up at once take turns at the cache, which they share.

use std::fs::{self, File};

use anyhow::{Context as _, Result};

use crate::paths::Paths;

/// Waits until no other process has this turn. It is over when the file is dropped, or the process ends.
pub(crate) fn take(paths: &Paths, name: &str) -> Result<File> {
    let dir = paths.cache.join("lock");
    fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let path = dir.join(name);
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    if file.try_lock().is_err() {
        eprintln!("setup: waiting for another process that installs {name}");
        file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn the_second_waits_for_the_first() {
        let cache = std::env::temp_dir().join(format!("parkbench-turn-{}", std::process::id()));
        let paths = || Paths { root: cache.clone(), cache: cache.clone() };
        let (said, hears) = mpsc::channel();
        let first = take(&paths(), "tool").unwrap();
        // The other turn is free.
        drop(take(&paths(), "other").unwrap());
        let second = thread::spawn({
            let (paths, said) = (paths(), said.clone());
            move || {
                let turn = take(&paths, "tool").unwrap();
                said.send("second").unwrap();
                drop(turn);
            }
        });
        said.send("first").unwrap();
        drop(first);
        second.join().unwrap();
        assert_eq!(hears.try_iter().collect::<Vec<_>>(), ["first", "second"]);
        fs::remove_dir_all(cache).unwrap();
    }
}

//! Names the build: a hash of every source that page and worker are made of, so that a stale worker is told apart.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or_else(|| io::Error::other("no manifest directory"))?);
    let mut files = Vec::new();
    for part in ["Cargo.lock", "src", "crates/engine", "crates/trace/src", "crates/view/src"] {
        println!("cargo::rerun-if-changed={part}");
        collect(&root.join(part), &mut files)?;
    }
    files.sort();
    // FNV-1a, 64 bits.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in &files {
        for byte in fs::read(file)? {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=PARKBENCH_BUILD_ID={hash:016x}");
    Ok(())
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    } else if path.is_file() {
        files.push(path.to_owned());
    }
    Ok(())
}

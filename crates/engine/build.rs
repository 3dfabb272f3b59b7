//! Turns the TOML files of `presets/` and `profiles/` into JSON inside the library, so that the page needs no TOML
//! reader. What the files mean is checked by the library's tests, not here.

use std::{env, error::Error, fmt::Write as _, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let out = env::var("OUT_DIR")?;
    // The order in which menus and tables show them.
    let presets = [
        "io-bound",
        "cpu-bound",
        "high-concurrency",
        "llm-agents",
        "pinning",
        "tool-chain",
        "connection-pool",
        "web-server",
        "cpu-hog",
        "native-threads",
        "blocking-in-coroutine",
        "pinned-upgrade",
    ];
    let profiles = ["seed-1", "seed-2", "linux-default", "zero"];
    write_table(&Path::new(&out).join("presets.rs"), "presets", "PRESET", "scenarios", &presets)?;
    write_table(&Path::new(&out).join("profiles.rs"), "profiles", "PROFILE", "profiles", &profiles)?;
    Ok(())
}

fn write_table(target: &Path, folder: &str, prefix: &str, what: &str, names: &[&str]) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={folder}");
    let found = fs::read_dir(folder)?.count();
    if found != names.len() {
        return Err(format!("{folder} holds {found} files and build.rs lists {}", names.len()).into());
    }
    let mut code = format!(
        "/// Names of the {what} that ship with the engine.\npub const {prefix}_NAMES: [&str; {}] = {names:?};\n",
        names.len()
    );
    writeln!(code, "const {prefix}S: [(&str, &str); {}] = [", names.len())?;
    for name in names {
        let path = Path::new(folder).join(name).with_extension("toml");
        let value: toml::Value =
            toml::from_str(&fs::read_to_string(&path)?).map_err(|e| format!("{}: {e}", path.display()))?;
        writeln!(code, "    ({name:?}, {:?}),", serde_json::to_string(&value)?)?;
    }
    code.push_str("];\n");
    fs::write(target, code)?;
    Ok(())
}

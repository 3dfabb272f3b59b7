//! The Go scheduler (G-1) against orders seen on real Go with one P, whose version the first line of `orders.txt` says.
//!
//! `cargo xtask go --record` runs the same scenarios on goroutines and writes that file. The costs do not decide these
//! orders, as long as they are those of a machine.

use std::fs;
use std::path::PathBuf;

use parkbench_engine::{Scenario, Simulation};

#[path = "../../examples/order/order.rs"]
mod order;

/// Costs that `cargo xtask go` has measured, on a small virtual machine.
const MEASURED: &str = r#"{"go_spawn": "1210 ns", "go_switch": "400 ns", "go_timer_fire": "821 ns",
    "go_timer_insert": "547 ns", "go_unpark": "2631 ns", "go_usleep": "97 us", "sleep_lateness_1ms": "127 us",
    "sleep_lateness_10ms": "237 us", "sleep_lateness_50ms": "247 us", "thread_wake": "1766 ns", "timer_lateness": "135 us"}"#;

#[test]
fn goroutines_run_in_the_order_of_real_go() {
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/go");
    let mut checked = 0;
    for line in fs::read_to_string(data.join("orders.txt")).unwrap().lines().filter(|line| !line.starts_with('#')) {
        let (name, seen) = line.split_once(": ").unwrap();
        let text = fs::read_to_string(data.join("order").join(format!("{name}.json"))).unwrap();
        for costs in ["{}", MEASURED] {
            let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
            json["costs"] = serde_json::from_str(costs).unwrap();
            let scenario = Scenario::from_json(&json.to_string()).unwrap();
            let recording = Simulation::new(&scenario, 0).unwrap().run();
            let got: Vec<String> = order::order(&recording).into_iter().map(|(_, name)| name).collect();
            assert_eq!(got.join(" "), seen, "{name} with the costs {costs}");
        }
        checked += 1;
    }
    assert_eq!(checked, fs::read_dir(data.join("order")).unwrap().count());
}

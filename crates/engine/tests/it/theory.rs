//! Queueing theory: mean waits against the closed formulas, under no costs.
//!
//! A thread pool with as many threads as cores is a queue with that many servers. Each case runs 20 replications with
//! seeds of their own; the formula must lie within the 99 % confidence interval of their mean.

use parkbench_engine::{Scenario, Simulation, TaskState, TaskTag};

const REPLICATIONS: u64 = 20;
/// Customers of a replication, of which the first quarter is left out, for the queue starts empty.
const CUSTOMERS: usize = 16_000;
/// Two-sided 99 % quantile of Student's distribution with 19 degrees of freedom.
const T_99: f64 = 2.861;

/// [ns] Mean service time of every case.
const SERVICE: f64 = 1_000_000.0;

/// The queue of a case: Poisson arrivals of `customers` that all need the service, on `cores` under no costs but these.
struct Queue<'a> {
    customers: usize,
    /// [ns] Mean time between arrivals.
    gap: f64,
    service: &'a str,
    cores: u32,
    /// Threads of the pool; the cores if it is not said.
    size: Option<usize>,
    costs: &'a str,
}

impl Queue<'_> {
    /// [ns] Mean time from arriving until this state, of all tasks but the first quarter.
    fn mean_until(&self, state: TaskState, seed: u64) -> f64 {
        let &Self { customers, gap, service, cores, size, costs } = self;
        let size = size.map_or_else(String::new, |size| format!(", size = {size}"));
        let text = format!(
            "version = 1\nname = \"queue\"\nseed = {seed}\nprofile = \"zero\"\ncosts = {{ {costs} }}\n\
             tasks = [{{ count = {customers}, arrival = {{ poisson = \"{gap} ns\" }}, steps = [{{ cpu = {service} }}] }}]\n\
             runs = [{{ model = \"thread-pool\"{size} }}]\n[machine]\ncores = {cores}\n"
        );
        let scenario = Scenario::from_toml(&text).unwrap_or_else(|e| panic!("{e}"));
        let records = Simulation::new(&scenario, 0).unwrap().run().tasks;
        let mut arrived = vec![0; customers];
        let (mut sum, mut count) = (0_u64, 0_u32);
        for i in 0..records.len() {
            let (time, task) = (records.time[i], records.subject[i] as usize);
            let now = TaskTag::unpack(records.tag[i]).unwrap().state;
            if now == TaskState::Pending {
                arrived[task] = time;
            } else if now == state && task >= customers / 4 {
                sum += time - arrived[task];
                count += 1;
            }
        }
        sum as f64 / f64::from(count)
    }
}

/// Runs the replications and compares with `expect_ns`.
#[track_caller]
fn check(servers: u32, load: f64, service: &str, expect_ns: f64) {
    let gap = (SERVICE / load / f64::from(servers)).round();
    let queue = Queue { customers: CUSTOMERS, gap, service, cores: servers, size: None, costs: "" };
    check_mean(&format!("{servers} servers, load {load}, service {service}"), expect_ns, |seed| {
        queue.mean_until(TaskState::Running, seed)
    });
}

/// The expected mean must lie within the confidence interval of the replications, each of which gives one mean.
#[track_caller]
fn check_mean(what: &str, expect_ns: f64, replication: impl Fn(u64) -> f64) {
    let waits: Vec<f64> = (0..REPLICATIONS).map(replication).collect();
    let n = REPLICATIONS as f64;
    let mean = waits.iter().sum::<f64>() / n;
    let variance = waits.iter().map(|wait| (wait - mean) * (wait - mean)).sum::<f64>() / (n - 1.0);
    let half = T_99 * (variance / n).sqrt();
    assert!((mean - expect_ns).abs() <= half, "{what}: {mean:.0} +- {half:.0} ns, expected {expect_ns:.0} ns");
}

/// Probability that an arrival waits in M/M/c (Erlang C), by the recursion of Erlang B.
fn erlang_c(servers: u32, load: f64) -> f64 {
    let offered = load * f64::from(servers);
    let b = (1..=servers).fold(1.0, |b, n| offered * b / (f64::from(n) + offered * b));
    b / (1.0 - load * (1.0 - b))
}

#[track_caller]
fn check_mmc(servers: u32) {
    for load in [0.5, 0.8, 0.95] {
        let expect = erlang_c(servers, load) * SERVICE / (f64::from(servers) * (1.0 - load));
        check(servers, load, "{ exponential = \"1 ms\" }", expect);
    }
}

#[test]
fn erlang_c_is_what_tables_say() {
    assert!((erlang_c(8, 0.9) - 0.701_533).abs() < 1e-6);
    assert!((erlang_c(1, 0.5) - 0.5).abs() < 1e-12);
}

#[test]
fn mm1() {
    check_mmc(1);
}

#[test]
fn mm2() {
    check_mmc(2);
}

#[test]
fn mm8() {
    check_mmc(8);
}

#[test]
fn mm32() {
    check_mmc(32);
}

/// Pollaczek and Khinchine: W = load / (1 - load) * (1 + cv^2) / 2 * service.
#[track_caller]
fn check_mg1(service: &str, cv_squared: f64) {
    for load in [0.5, 0.8, 0.95] {
        check(1, load, service, load / (1.0 - load) * f64::midpoint(1.0, cv_squared) * SERVICE);
    }
}

/// One core whose slices are short beside the work is a server that all share: the mean response is
/// service / (1 - load) for every distribution of the work, where first come, first served depends on its variance.
#[track_caller]
fn check_shared(load: f64, service: &str) {
    const TASKS: usize = 6_000;
    let gap = (SERVICE / load).round();
    let costs = "base_slice = \"20 us\"";
    let queue = Queue { customers: TASKS, gap, service, cores: 1, size: Some(TASKS), costs };
    check_mean(&format!("shared core, load {load}, service {service}"), SERVICE / (1.0 - load), |seed| {
        queue.mean_until(TaskState::Done, seed)
    });
}

#[test]
fn mm1_on_a_shared_core() {
    for load in [0.5, 0.8, 0.95] {
        check_shared(load, "{ exponential = \"1 ms\" }");
    }
}

#[test]
fn mg1_on_a_shared_core_does_not_depend_on_the_variance() {
    // Median exp(-s^2 / 2) for a mean of 1 ms; cv^2 = exp(s^2) - 1 = 3.2 with s = 1.2, so that first come, first
    // served would give 9.4 ms instead of 5 ms at a load of 0.8.
    for load in [0.5, 0.8] {
        check_shared(load, "{ lognormal = { median = \"486752 ns\", sigma = 1.2 } }");
    }
}

#[test]
fn md1() {
    check_mg1("\"1 ms\"", 0.0);
}

#[test]
fn mg1_lognormal() {
    // Median exp(-s^2 / 2) for a mean of 1 ms; cv^2 = exp(s^2) - 1 with s = 0.8.
    check_mg1("{ lognormal = { median = \"726149 ns\", sigma = 0.8 } }", 0.896_481);
}

//! What each preset's sentence says is true of the figures: they are compared with each other and with what the
//! workload's own arithmetic gives, not with figures noted down earlier.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use parkbench_engine::{Arrival, Nanos, Reason, Scenario, Simulation, Step, TaskState, TaskTag, preset};
use parkbench_trace::{Failures, Metrics, Trace};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;

/// The metrics of every run.
fn metrics(scenario: &Scenario) -> Vec<Metrics> {
    let metrics = |run| Metrics::of(&Trace::new(Simulation::new(scenario, run).unwrap().run()).unwrap());
    (0..scenario.runs.len()).map(metrics).collect()
}

/// Whether a figure is the one in the sentence, which is rounded.
#[track_caller]
fn says(figure: u64, sentence: u64) {
    assert!(figure.abs_diff(sentence) * 100 <= sentence * 3, "{figure} is not about {sentence}");
}

#[test]
fn tool_chain_agents_keep_their_threads_while_they_wait() {
    let scenario = preset("tool-chain").unwrap();
    let (agents, threads) = (scenario.task_count(), u64::from(scenario.runs[0].size.unwrap()));
    let tool_calls = scenario.task_count_with_spawned().unwrap() - agents;
    assert_eq!((agents, threads, tool_calls), (2_500, 3_000, 7_500));
    let [pool, green, coroutines] = metrics(&scenario).try_into().unwrap();
    // Three calls of 2 to 2.2 s one after the other, for the two tools in the middle run beside each other.
    for run in [&green, &coroutines] {
        assert!((6 * SECOND..6_700 * MS).contains(&run.makespan_ns), "{}", run.makespan_ns);
        says(run.makespan_ns, 6_600 * MS);
        assert!(u64::from(run.in_flight_peak) > threads);
    }
    // All threads are taken, and those that no agent holds make one tool call after the other.
    assert_eq!(u64::from(pool.in_flight_peak), threads);
    assert!(pool.makespan_ns > 4 * green.makespan_ns);
    says(pool.makespan_ns, 29 * SECOND);

    // With as many threads as agents nothing is left for the tools; with a thread for every task all run at once.
    let with_size = |size| {
        let mut scenario = scenario.clone();
        scenario.runs[0].size = Some(size);
        Simulation::new(&scenario, 0).unwrap().run().totals
    };
    assert_eq!(u64::from(with_size(2_500).unfinished), agents + tool_calls);
    assert!(with_size(10_000).makespan_ns < 7 * SECOND);
}

#[test]
fn connection_pool_what_holds_the_makespan_is_the_connections() {
    let floor_ms = |permits: u64| 10_000 * 5 / permits;
    let mut scenario = preset("connection-pool").unwrap();
    for permits in [20, 40, 10] {
        let Step::Acquire(semaphore) = &mut scenario.tasks[0].steps[1] else { panic!("no semaphore") };
        if permits == 20 {
            assert_eq!(semaphore.permits, 20);
        }
        semaphore.permits = permits;
        let runs = metrics(&scenario);
        let floor = floor_ms(u64::from(permits)) * MS;
        for run in &runs {
            assert!((floor..floor + floor / 20).contains(&run.makespan_ns), "{permits}: {}", run.makespan_ns);
        }
        // The pool waits with 200 threads and the others with all tasks, and neither is faster by it.
        assert_eq!(runs[0].in_flight_peak, 200);
        assert!(runs[1..].iter().all(|run| run.in_flight_peak > 9_900));
        let times = runs.iter().map(|run| run.makespan_ns);
        assert!(times.clone().max().unwrap() - times.min().unwrap() < floor / 50);
    }
    says(floor_ms(20) * MS, 2_500 * MS);
}

#[test]
fn web_server_p99_grows_where_the_threads_do_not_suffice() {
    let mut scenario = preset("web-server").unwrap();
    let p99 = |scenario: &Scenario| metrics(scenario).iter().map(|run| run.response_ns.p99).collect::<Vec<_>>();
    let at_the_preset = p99(&scenario);
    says(at_the_preset[0], 252 * MS);
    says(at_the_preset[1], 35 * MS);
    says(at_the_preset[2], 35 * MS);

    // 3,300 arrive in a second, and 100 threads serve 100 / 32 ms = 3,125.
    let Arrival::Poisson(Nanos(gap)) = scenario.tasks[0].arrival else { panic!("no Poisson process") };
    assert_eq!((SECOND / gap, SECOND / gap * 32 / 1_000), (3_300, 105));
    // With fewer requests the threads suffice, and the models are alike; p99 rises with the load in each.
    let mut before = vec![32 * MS; 3];
    for per_second in [1_500, 2_500, 3_300, 3_600] {
        scenario.tasks[0].arrival = Arrival::Poisson(Nanos(SECOND / per_second));
        let now = p99(&scenario);
        assert!(before.iter().zip(&now).all(|(before, now)| before <= now), "{per_second}: {before:?} {now:?}");
        let enough = per_second < 3_125;
        assert_eq!(now[0] < 2 * now[1].min(now[2]), enough, "{per_second}: {now:?}");
        assert!(now[1..].iter().all(|&p99| p99 < 45 * MS), "{per_second}: {now:?}");
        before = now;
    }
    // A hundred more threads, and the pool does as the others do.
    scenario.tasks[0].arrival = Arrival::Poisson(Nanos(gap));
    scenario.runs[0].size = Some(200);
    assert!(p99(&scenario)[0] < 45 * MS);
}

#[test]
fn cpu_hog_starves_the_others_where_there_are_no_time_slices() {
    let mut scenario = preset("cpu-hog").unwrap();
    let hogs = scenario.tasks[0].count as u32;
    // [ns] The first answer to a request, and how many there are in the first second.
    let answers = |scenario: &Scenario, run| {
        let records = Simulation::new(scenario, run).unwrap().run().tasks;
        let done = |&i: &usize| TaskTag::unpack(records.tag[i]).unwrap().state == TaskState::Done;
        let ends = (0..records.len()).filter(done).filter(|&i| records.subject[i] >= hogs).map(|i| records.time[i]);
        let ends: Vec<u64> = ends.collect();
        (ends[0], ends.iter().filter(|&&end| end < SECOND).count())
    };
    let [pool, java, go] = [0, 1, 2].map(|run| answers(&scenario, run));
    assert!(java.0 > SECOND && java.1 == 0, "{java:?}");
    // About 4,950 arrive in that time.
    assert!(pool.0 < 20 * MS && pool.1 > 4_800, "{pool:?}");
    assert!(go.0 < 60 * MS && go.1 > 4_000, "{go:?}");

    let p95: Vec<u64> = metrics(&scenario).iter().map(|run| run.response_ns.p95).collect();
    says(p95[0], 8 * MS);
    says(p95[2], 134 * MS);
    assert!(p95[1] > 7 * p95[2]);

    // With cores to spare nobody starves: 6 hogs for 8 carriers.
    scenario.tasks[0].count = 6;
    let spared: Vec<u64> = metrics(&scenario).iter().map(|run| run.response_ns.p95).collect();
    assert!(spared.iter().all(|&p95| p95 < 12 * MS), "{spared:?}");
}

#[test]
fn native_threads_are_refused_beyond_the_limit_and_pools_and_green_threads_need_none() {
    let scenario = preset("native-threads").unwrap();
    let limit = scenario.machine.max_threads.unwrap();
    assert_eq!((scenario.task_count(), limit), (10_000, 32_768 * 15 / 100));
    let [each, pool, green] = metrics(&scenario).try_into().unwrap();
    // P-6: all but main; the last is created long before the first ends.
    assert_eq!((each.tasks_done, each.tasks_failed), (limit - 1, 10_000 - (limit - 1)));
    assert_eq!((each.tasks_done, each.tasks_failed), (4_914, 5_086));
    assert_eq!(each.failures, [Failures { reason: Reason::NativeThreads, tasks: 5_086 }]);
    assert_eq!(each.in_flight_peak, 4_914);
    // P-7: a stack for each.
    let stacks = u64::from(limit) << 20;
    assert!((stacks..stacks * 11 / 10).contains(&each.memory_bytes.reserved), "{}", each.memory_bytes.reserved);
    for run in [&pool, &green] {
        assert_eq!((run.tasks_done, run.tasks_failed, run.failures.len()), (10_000, 0, 0));
    }
    says(pool.makespan_ns, 40 * SECOND);
    says(green.makespan_ns, 2 * SECOND);

    // With room for all, none fails.
    let mut scenario = scenario;
    scenario.machine.max_threads = Some(10_001);
    assert_eq!(metrics(&scenario)[0].tasks_failed, 0);
}

#[test]
fn blocking_in_coroutine_costs_a_round_for_each_wave_of_workers() {
    let mut scenario = preset("blocking-in-coroutine").unwrap();
    let sleeps = scenario.tasks[0].count;
    let all = metrics(&scenario);
    // K-9, K-7, R-2: so many sleeps at a time, and nobody is faster than the rounds they take.
    for (run, at_once, sentence) in
        [(0, 12, 2_700 * MS), (1, 64, 560 * MS), (2, 128, 310 * MS), (3, 12, 2_700 * MS), (4, 512, 100 * MS)]
    {
        let floor = sleeps.div_ceil(at_once) * 50 * MS;
        let makespan = all[run].makespan_ns;
        assert!(makespan >= floor, "run {run}: {makespan} and {floor}");
        says(makespan, sentence);
    }
    // The delays wait for a worker on Default, and on tokio for one that polls the timers.
    let last_delay = |scenario: &Scenario, run| {
        let first = scenario.task_count() - 640;
        let records = Simulation::new(scenario, run).unwrap().run().tasks;
        let done = |&i: &usize| TaskTag::unpack(records.tag[i]).unwrap().state == TaskState::Done;
        let ends = (0..records.len()).filter(done).filter(|&i| u64::from(records.subject[i]) >= first);
        ends.map(|i| records.time[i]).max().unwrap()
    };
    assert!(last_delay(&scenario, 0) > 2 * SECOND);
    assert!(last_delay(&scenario, 3) > 2 * SECOND);
    assert!(last_delay(&scenario, 4) < 110 * MS);
    // Without the sleeps nothing waits: a delay holds no thread.
    scenario.tasks.remove(0);
    for run in 0..scenario.runs.len() {
        assert!(last_delay(&scenario, run) < 60 * MS, "run {run}");
    }
}

#[test]
fn pinned_upgrade_frees_the_carriers_of_the_same_code() {
    let scenario = preset("pinned-upgrade").unwrap();
    let (orders, checks) = (scenario.tasks[0].count, scenario.tasks[1].count);
    assert_eq!((orders, checks, scenario.machine.cores), (2_000, 100, 8));
    // [ns] When the last order and the last check end, and how long the slowest check took from its arrival.
    let ends = |run| {
        let recording = Simulation::new(&scenario, run).unwrap().run();
        let records = &recording.tasks;
        let done = |&i: &usize| TaskTag::unpack(records.tag[i]).unwrap().state == TaskState::Done;
        let mut ends = vec![0; scenario.task_count() as usize];
        (0..records.len()).filter(done).for_each(|i| ends[records.subject[i] as usize] = records.time[i]);
        let checks = ends.split_off(orders as usize);
        let responses = (20..).zip(&checks).map(|(at, end)| end - at * MS);
        (ends.into_iter().max().unwrap(), checks.iter().copied().min().unwrap(), responses.max().unwrap())
    };
    // T-12: 8 at a time on 21.
    let (last_order, first_check, _) = ends(0);
    assert!(last_order >= orders / 8 * 100 * MS, "{last_order}");
    says(last_order, 25 * SECOND);
    assert!(first_check > 24 * SECOND, "{first_check}");
    // T-14: all at once from 24 on.
    for run in [1, 2] {
        let (last_order, _, slowest_check) = ends(run);
        assert!((100 * MS..110 * MS).contains(&last_order), "{last_order}");
        says(slowest_check, 5 * MS);
    }
}

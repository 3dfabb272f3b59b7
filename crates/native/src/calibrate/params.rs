//! Which costs the probes of a runtime are to tell, and how far each may be from its first guess.

use crate::measure::kind::Kind;

/// A cost to be found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Param {
    /// Its name in profiles.
    pub(super) name: &'static str,
    /// How far its logarithm may well be from the guess: what is measured directly as well has little freedom.
    pub(super) freedom: f64,
}

const fn free(name: &'static str) -> Param {
    Param { name, freedom: 1.3 }
}

const fn tight(name: &'static str) -> Param {
    Param { name, freedom: 0.5 }
}

const POOL: &[Param] = &[
    free("thread_create"),
    tight("context_switch"),
    free("sleep_cpu"),
    free("sleep_lateness_1ms"),
    free("sleep_lateness_10ms"),
    free("sleep_lateness_50ms"),
    free("pool_submit"),
    free("pool_unpark"),
    free("pool_dispatch"),
    tight("thread_wake"),
];
const THREADS: &[Param] = &[
    free("thread_create"),
    free("thread_end"),
    free("thread_end_cold"),
    tight("context_switch"),
    free("sleep_cpu"),
    tight("sleep_lateness_10ms"),
];
const GREEN: &[Param] = &[
    free("vt_spawn"),
    free("vt_first_run"),
    free("vt_resume"),
    free("vt_timer_insert"),
    free("vt_timer_fire"),
    tight("timer_lateness"),
    tight("thread_wake"),
    tight("context_switch"),
];
const TOKIO: &[Param] = &[
    free("tokio_spawn"),
    free("tokio_unpark"),
    free("tokio_poll"),
    free("tokio_timer_insert"),
    free("tokio_timer_fire"),
    free("tokio_driver"),
    tight("timer_lateness"),
    tight("thread_wake"),
    tight("context_switch"),
];
const KOTLIN: &[Param] = &[
    free("kt_launch"),
    free("kt_dispatch"),
    free("kt_unpark"),
    free("kt_run"),
    free("kt_timer_insert"),
    free("kt_timer_fire"),
    tight("timer_lateness"),
    tight("thread_wake"),
    tight("context_switch"),
];
const LOOP: &[Param] = &[free("loop_launch"), free("loop_delay"), free("loop_resume"), tight("timer_lateness")];
const IO_EXTRA: Param = free("kt_io_extra");
/// Each compiler makes another loop, and it runs with as many neighbours as the runtime has workers.
const ITERATION: Param = free("cpu_iteration");
/// Only `may` maps stacks.
const STACKS: [Param; 2] = [free("vt_stack"), free("vt_unmap")];

/// The costs of a runtime that its probes are to tell.
pub(super) fn of(kind: Kind, quick: bool) -> Vec<Param> {
    let mut params = match kind {
        Kind::Pool | Kind::JavaPool => POOL,
        Kind::ThreadPerTask | Kind::JavaThreadPerTask => THREADS,
        Kind::May | Kind::JavaVirtual => GREEN,
        Kind::Tokio | Kind::TokioCurrent | Kind::Smol => TOKIO,
        Kind::KotlinDefault | Kind::KotlinIo => KOTLIN,
        Kind::KotlinEventLoop => LOOP,
    }
    .to_vec();
    if kind == Kind::May {
        params.extend(STACKS);
    }
    if kind == Kind::KotlinIo {
        params.push(IO_EXTRA);
    }
    if !(kind.is_jvm() && quick) {
        params.push(ITERATION);
    }
    params
}

/// Where the memory of a task, and that of the process before the first, stand in a profile.
pub(super) const fn memory(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Pool | Kind::JavaPool | Kind::ThreadPerTask | Kind::JavaThreadPerTask => {
            ("base_resident", "thread_resident")
        }
        Kind::May | Kind::JavaVirtual => ("base_resident", "vt_parked_bytes"),
        Kind::Tokio | Kind::TokioCurrent | Kind::Smol => ("tokio_base_resident", "tokio_bytes"),
        Kind::KotlinDefault | Kind::KotlinIo | Kind::KotlinEventLoop => ("base_resident", "kt_bytes"),
    }
}

#[cfg(test)]
mod tests {
    use parkbench_engine::COSTS;

    use super::*;

    #[test]
    fn every_cost_that_is_looked_for_is_one() {
        let known = |name: &str| COSTS.iter().any(|info| info.name == name);
        for kind in Kind::ALL {
            assert!(of(kind, false).iter().all(|param| known(param.name)), "{kind:?}");
            let (base, task) = memory(kind);
            assert!(known(base) && known(task));
        }
    }
}

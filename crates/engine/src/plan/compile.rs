//! Steps of a file become operations: repetitions are written out, names become numbers, spawned tasks get classes.
//!
//! The scenario has been validated; nothing is checked here.

use super::{ChildRef, Class, Guard, GuardKind, LockRef, Op, Parent};
use crate::draw::Span;
use crate::profile::Costs;
use crate::scenario::{
    Block, BlockKind, CpuWork, LockScope, LockSpec, RunSpec, Scenario, SemaphoreSpec, SpawnSpec, Step, TaskClass,
};
use crate::submissions::Arrivals;

/// The classes with their operations, not yet numbered, and the guards.
pub(super) fn compile(scenario: &Scenario, spec: &RunSpec, costs: &Costs) -> (Vec<Class>, Vec<Guard>) {
    let mut compiler = Compiler { spec, costs, guards: Vec::new(), classes: Vec::new() };
    // The clock starts with the first submission, as in a measurement.
    let start = scenario.tasks.iter().map(|class| class.at.0).min().unwrap_or_default();
    for class in &scenario.tasks {
        compiler.class(class, start);
    }
    (compiler.classes, compiler.guards)
}

struct Compiler<'a> {
    spec: &'a RunSpec,
    costs: &'a Costs,
    guards: Vec<Guard>,
    classes: Vec<Class>,
}

/// The operations of one class under construction.
struct Program<'a> {
    class: u8,
    ops: Vec<Op>,
    /// Locks held at this point, and the step that took the first of them.
    held: Vec<(&'a str, LockRef)>,
    permits: Vec<(&'a str, LockRef)>,
    first_lock: u16,
    /// Operations to fill in with what to do when a lock could not be taken.
    tries: Vec<(usize, Vec<LockRef>, Span, u16)>,
    /// Steps that spawn, with the index of the class of the tasks.
    sites: Vec<(&'a SpawnSpec, u8)>,
}

impl<'a> Compiler<'a> {
    fn class(&mut self, class: &'a TaskClass, start: u64) {
        let index = self.add_class(&class.name, None);
        self.classes[index].count = class.count as u32;
        self.classes[index].at = class.at.0 - start;
        self.classes[index].arrivals = Arrivals::from(&class.arrival);
        self.fill(index, &class.steps);
    }

    fn add_class(&mut self, name: &str, parent: Option<Parent>) -> usize {
        self.classes.push(Class {
            name: name.to_owned(),
            first: 0,
            count: 0,
            at: 0,
            arrivals: Arrivals::AtOnce,
            parent,
            ops: Vec::new(),
            end: 0,
        });
        self.classes.len() - 1
    }

    fn fill(&mut self, index: usize, steps: &'a [Step]) {
        let mut program = Program {
            class: index as u8,
            ops: Vec::new(),
            held: Vec::new(),
            permits: Vec::new(),
            first_lock: 0,
            tries: Vec::new(),
            sites: Vec::new(),
        };
        self.steps(&mut program, steps);
        self.classes[index].end = program.ops.len() as u16;
        program.ops.push(Op::End);
        for (at, held, retry, again) in std::mem::take(&mut program.tries) {
            let otherwise = program.ops.len() as u16;
            program.ops.extend(held.into_iter().rev().map(Op::Unlock));
            program.ops.extend([Op::Backoff(retry), Op::Jump(again)]);
            if let Op::TryLock(_, target) = &mut program.ops[at] {
                *target = otherwise;
            }
        }
        self.classes[index].ops = program.ops;
        for (spawn, class) in program.sites {
            self.fill(usize::from(class), &spawn.steps);
        }
    }

    fn steps(&mut self, program: &mut Program<'a>, steps: &'a [Step]) {
        for step in steps {
            self.step(program, step);
        }
    }

    fn step(&mut self, program: &mut Program<'a>, step: &'a Step) {
        let op = match step {
            Step::Cpu(CpuWork::Iterations(n)) => {
                let ns = (u128::from(n.iterations) * u128::from(self.costs.cpu_iteration) + 500) / 1_000;
                Op::Iterations(n.iterations, Span::Constant(ns as u64))
            }
            Step::Cpu(CpuWork::Time(duration)) => Op::Cpu(duration.into()),
            Step::Io(duration) => Op::Io(duration.into()),
            Step::Block(block) => return block_ops(program, block),
            Step::Lock(lock) => return self.lock(program, lock),
            Step::Unlock(_) => match program.held.pop() {
                Some((_, lock)) => Op::Unlock(lock),
                None => return,
            },
            Step::Acquire(semaphore) => {
                let lock = self.semaphore(semaphore);
                program.permits.push((&semaphore.name, lock));
                Op::Lock(lock)
            }
            Step::Release(name) => match program.permits.iter().rposition(|(held, _)| held == name) {
                Some(index) => Op::Unlock(program.permits.remove(index).1),
                None => return,
            },
            Step::Yield => Op::Yield,
            Step::Spawn(spawn) => return self.spawn(program, spawn),
            Step::Join => Op::Join,
            Step::Repeat(repeat) => {
                for _ in 0..repeat.times {
                    self.steps(program, &repeat.steps);
                }
                return;
            }
        };
        program.ops.push(op);
    }

    fn lock(&mut self, program: &mut Program<'a>, lock: &'a LockSpec) {
        let kind = if lock.kind.is_replaceable() { self.spec.lock.unwrap_or(lock.kind) } else { lock.kind };
        let kind = GuardKind::from(kind);
        let fair = lock.fair && kind == GuardKind::Reentrant;
        let shared = (lock.scope == LockScope::Shared).then(|| self.guard(&lock.name, 1, fair));
        let reference = LockRef { shared, kind };
        if program.held.is_empty() {
            program.first_lock = program.ops.len() as u16;
        }
        if let Some(retry) = lock.retry.as_ref().filter(|_| kind == GuardKind::Reentrant) {
            let held = program.held.iter().map(|(_, lock)| *lock).collect();
            program.tries.push((program.ops.len(), held, Span::from(retry), program.first_lock));
            program.ops.push(Op::TryLock(reference, 0));
        } else {
            program.ops.push(Op::Lock(reference));
        }
        program.held.push((&lock.name, reference));
    }

    fn semaphore(&mut self, semaphore: &SemaphoreSpec) -> LockRef {
        let shared = Some(self.guard(&semaphore.name, semaphore.permits, semaphore.fair));
        LockRef { shared, kind: GuardKind::Semaphore }
    }

    fn guard(&mut self, name: &str, permits: u32, fair: bool) -> u32 {
        let known = self.guards.iter().position(|guard| guard.name == name);
        known.unwrap_or_else(|| {
            self.guards.push(Guard { name: name.to_owned(), permits, fair });
            self.guards.len() - 1
        }) as u32
    }

    fn spawn(&mut self, program: &mut Program<'a>, spawn: &'a SpawnSpec) {
        let known = program.sites.iter().find(|(site, _)| std::ptr::eq(*site, spawn)).map(|(_, class)| *class);
        let class = known.unwrap_or_else(|| {
            let class = self.add_class(&spawn.name, Some(Parent { class: program.class, each: 0 })) as u8;
            program.sites.push((spawn, class));
            class
        });
        for _ in 0..spawn.count {
            let Some(parent) = &mut self.classes[usize::from(class)].parent else { return };
            let child = ChildRef { class, number: parent.each };
            parent.each += 1;
            program.ops.extend([Op::Prepare(child), Op::Spawn(child)]);
        }
    }
}

/// `Object.wait` gives the innermost monitor up and takes it again; any other call just waits.
fn block_ops(program: &mut Program<'_>, block: &Block) {
    let wait = Op::Block(block.kind, Span::from(&block.time));
    let monitor = program.held.last().map(|(_, lock)| *lock).filter(|lock| lock.kind == GuardKind::Monitor);
    match monitor.filter(|_| block.kind == BlockKind::ObjectWait) {
        Some(lock) => program.ops.extend([Op::Unlock(lock), wait, Op::Lock(lock)]),
        None => program.ops.push(wait),
    }
}

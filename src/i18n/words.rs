//! Words for the closed lists of the vocabulary: models, states, reasons, metrics, presets.

use parkbench_engine::{
    Blocking, Dispatcher, Flavor, Metric, Model, PoolKind, Reason, Rejection, Runtime, TaskState, preset,
};

use super::Locale;

/// A model.
pub const fn model(locale: Locale, model: Model) -> &'static str {
    match (locale, model) {
        (Locale::En, Model::ThreadPool) => "Thread pool",
        (Locale::En, Model::GreenThreads) => "Green threads",
        (Locale::En, Model::Coroutines) => "Coroutines",
        (Locale::Ko, Model::ThreadPool) => "스레드 풀",
        (Locale::Ko, Model::GreenThreads) => "그린 스레드",
        (Locale::Ko, Model::Coroutines) => "코루틴",
    }
}

/// A kind of thread pool, as the name of a run.
pub const fn pool_kind(locale: Locale, kind: PoolKind) -> &'static str {
    match (locale, kind) {
        (Locale::En, PoolKind::Fixed) => "Fixed pool",
        (Locale::En, PoolKind::Cached) => "Cached pool",
        (Locale::En, PoolKind::ThreadPerTask) => "Thread per task",
        (Locale::Ko, PoolKind::Fixed) => "고정 풀",
        (Locale::Ko, PoolKind::Cached) => "캐시 풀",
        (Locale::Ko, PoolKind::ThreadPerTask) => "작업당 스레드",
    }
}

/// What becomes of a task for which a pool has no room.
pub const fn rejection(locale: Locale, rejection: Rejection) -> &'static str {
    match (locale, rejection) {
        (Locale::En, other) => other.as_str(),
        (Locale::Ko, Rejection::Abort) => "작업 실패",
        (Locale::Ko, Rejection::CallerRuns) => "제출자가 실행",
    }
}

/// A runtime of tokio.
pub const fn flavor(locale: Locale, flavor: Flavor) -> &'static str {
    match (locale, flavor) {
        (Locale::En, other) => other.as_str(),
        (Locale::Ko, Flavor::MultiThread) => "멀티스레드",
        (Locale::Ko, Flavor::CurrentThread) => "현재 스레드",
    }
}

/// Where calls that block run on tokio.
pub const fn blocking(locale: Locale, blocking: Blocking) -> &'static str {
    match (locale, blocking) {
        (Locale::En, other) => other.as_str(),
        (Locale::Ko, Blocking::OnWorker) => "작업자에서",
        (Locale::Ko, Blocking::SpawnBlocking) => "spawn_blocking에서",
    }
}

/// A state of a task.
pub const fn state(locale: Locale, state: TaskState) -> &'static str {
    match (locale, state) {
        (Locale::En, TaskState::LockWait) => "lock wait",
        (Locale::En, other) => other.as_str(),
        (Locale::Ko, TaskState::Pending) => "제출 전",
        (Locale::Ko, TaskState::Queued) => "대기열",
        (Locale::Ko, TaskState::Running) => "실행",
        (Locale::Ko, TaskState::Preempted) => "선점됨",
        (Locale::Ko, TaskState::Waiting) => "대기",
        (Locale::Ko, TaskState::Blocked) => "막힘",
        (Locale::Ko, TaskState::LockWait) => "잠금 대기",
        (Locale::Ko, TaskState::Done) => "완료",
        (Locale::Ko, TaskState::Failed) => "실패",
    }
}

/// A state of a task under a runtime: a virtual thread that holds its carrier while it waits is called pinned.
pub const fn state_under(locale: Locale, runtime: Option<Runtime>, item: TaskState) -> &'static str {
    match (locale, runtime, item) {
        (Locale::En, Some(Runtime::Java), TaskState::Blocked) => "pinned",
        (Locale::Ko, Some(Runtime::Java), TaskState::Blocked) => "고정됨",
        _ => state(locale, item),
    }
}

/// Why a task is in its state.
pub const fn reason(locale: Locale, reason: Reason) -> &'static str {
    match (locale, reason) {
        (_, Reason::None) => "",
        (Locale::En, Reason::NotSubmitted) => "the submitter has not reached it",
        (Locale::En, Reason::NoWorker) => "every worker is taken",
        (Locale::En, Reason::NoCore) => "every core is taken by another thread",
        (Locale::En, Reason::Io) => "suspended until its call returns; holds no worker",
        (Locale::En, Reason::TimerBacklog) => "its wait is over, and its timer has not been fired yet",
        (Locale::En, Reason::BlockingCall) => "in a call that holds its worker",
        (Locale::En, Reason::Pinned) => "pinned: a monitor keeps it on its carrier",
        (Locale::En, Reason::Monitor) => "another task holds the monitor",
        (Locale::En, Reason::Lock) => "another task holds the lock",
        (Locale::En, Reason::Resumed) => "resumed, and every worker is taken",
        (Locale::En, Reason::Arrived) => "it has arrived, and the submitter has not reached it",
        (Locale::En, Reason::Children) => "it waits for the tasks that it has spawned",
        (Locale::En, Reason::Permit) => "every permit of the semaphore is taken",
        (Locale::En, Reason::Yielded) => "it has let others run first",
        (Locale::En, Reason::Retry) => "it could not take a lock and will try again",
        (Locale::En, Reason::ClassInitializer) => "another task runs the initialiser of the class",
        (Locale::En, Reason::NativeThreads) => "unable to create native thread",
        (Locale::En, Reason::Rejected) => "the queue of the pool was full",
        (Locale::En, Reason::ParentFailed) => "the task that would have spawned it has failed",
        (Locale::En, Reason::TimeSlice) => "its time slice is over, and others run first",
        (Locale::Ko, Reason::TimeSlice) => "시간 조각을 다 써서 다른 작업이 먼저 실행됩니다",
        (Locale::Ko, Reason::Children) => "자신이 시작한 작업들이 끝나기를 기다립니다",
        (Locale::Ko, Reason::Permit) => "세마포어의 허가가 모두 쓰이고 있습니다",
        (Locale::Ko, Reason::Yielded) => "다른 작업에 차례를 양보했습니다",
        (Locale::Ko, Reason::Retry) => "잠금을 얻지 못해 나중에 다시 시도합니다",
        (Locale::Ko, Reason::ClassInitializer) => "다른 작업이 클래스 초기화를 실행하고 있습니다",
        (Locale::Ko, Reason::NativeThreads) => "네이티브 스레드를 만들 수 없습니다",
        (Locale::Ko, Reason::Rejected) => "풀의 대기열이 가득 찼습니다",
        (Locale::Ko, Reason::ParentFailed) => "이 작업을 시작할 작업이 실패했습니다",
        (Locale::Ko, Reason::Arrived) => "도착했지만 제출 스레드가 아직 이 작업에 이르지 않았습니다",
        (Locale::Ko, Reason::NotSubmitted) => "제출 스레드가 아직 이 작업에 이르지 않았습니다",
        (Locale::Ko, Reason::NoWorker) => "비어 있는 작업자가 없습니다",
        (Locale::Ko, Reason::NoCore) => "모든 코어를 다른 스레드가 쓰고 있습니다",
        (Locale::Ko, Reason::Io) => "호출이 돌아올 때까지 중단됨; 작업자를 잡지 않습니다",
        (Locale::Ko, Reason::TimerBacklog) => "대기는 끝났지만 타이머가 아직 처리되지 않았습니다",
        (Locale::Ko, Reason::BlockingCall) => "작업자를 잡은 채 호출 안에 있습니다",
        (Locale::Ko, Reason::Pinned) => "고정됨(pinned): 모니터 때문에 캐리어를 놓지 못합니다",
        (Locale::Ko, Reason::Monitor) => "다른 작업이 모니터를 쥐고 있습니다",
        (Locale::Ko, Reason::Lock) => "다른 작업이 잠금을 쥐고 있습니다",
        (Locale::Ko, Reason::Resumed) => "재개되었지만 비어 있는 작업자가 없습니다",
    }
}

/// What a published figure measures.
pub const fn metric(locale: Locale, metric: Metric) -> &'static str {
    match (locale, metric) {
        (Locale::En, Metric::Makespan) => "Makespan",
        (Locale::En, Metric::Throughput) => "Throughput",
        (Locale::En, Metric::Resident) => "Memory, resident",
        (Locale::En, Metric::SwitchesPerSecond) => "OS context switches",
        (Locale::En, Metric::InFlight) => "In flight, peak",
        (Locale::Ko, Metric::Makespan) => "전체 시간",
        (Locale::Ko, Metric::Throughput) => "처리량",
        (Locale::Ko, Metric::Resident) => "메모리, 상주",
        (Locale::Ko, Metric::SwitchesPerSecond) => "OS 문맥 교환",
        (Locale::Ko, Metric::InFlight) => "동시 진행, 최대",
    }
}

/// A dispatcher as Kotlin code names it.
pub const fn dispatcher(dispatcher: Dispatcher) -> &'static str {
    match dispatcher {
        Dispatcher::Default => "Dispatchers.Default",
        Dispatcher::Io => "Dispatchers.IO",
        Dispatcher::EventLoop => "runBlocking",
    }
}

/// The title of a shipped scenario; `None` for one's own, whose title is in the file.
pub fn preset_title(locale: Locale, name: &str) -> Option<&'static str> {
    Some(match (locale, name) {
        (Locale::Ko, "io-bound") => "I/O 중심",
        (Locale::Ko, "cpu-bound") => "CPU 중심",
        (Locale::Ko, "high-concurrency") => "높은 동시성",
        (Locale::Ko, "llm-agents") => "LLM 에이전트",
        (Locale::Ko, "pinning") => "피닝(pinning)",
        (Locale::Ko, "tool-chain") => "도구 체인",
        (Locale::Ko, "connection-pool") => "커넥션 풀",
        (Locale::Ko, "web-server") => "웹 서버",
        (Locale::Ko, "cpu-hog") => "CPU를 독차지하는 작업",
        (Locale::Ko, "native-threads") => "네이티브 스레드",
        (Locale::Ko, "blocking-in-coroutine") => "코루틴 안의 블로킹",
        (Locale::Ko, "pinned-upgrade") => "피닝과 업그레이드",
        _ => return None,
    })
}

/// The title of a scenario from a file: a shipped one, which has kept its title, has it in every language.
pub fn scenario_title<'a>(locale: Locale, name: &str, title: &'a str) -> &'a str {
    let shipped = preset(name).is_ok_and(|shipped| shipped.title == title);
    preset_title(locale, name).filter(|_| shipped).unwrap_or(title)
}

/// What to see in a shipped scenario; `None` where the file's own sentence is to be shown.
pub fn preset_description(locale: Locale, name: &str) -> Option<&'static str> {
    Some(match (locale, name) {
        (Locale::Ko, "io-bound") => {
            "풀 스레드 12개는 작업과 함께 기다리느라 42초가 걸리고, 그린 스레드와 코루틴은 작업 10,000개를 한꺼번에 기다리게 하여 0.1초 남짓에 끝냅니다."
        }
        (Locale::Ko, "cpu-bound") => {
            "아무것도 기다리지 않으므로 코어가 결정합니다. 풀과 그린 스레드는 비기고, Default에서 하나씩 시작한 코루틴은 작업자의 절반을 놀립니다."
        }
        (Locale::Ko, "high-concurrency") => {
            "1 ms 대기는 전환 비용을 드러냅니다. 이벤트 루프 하나가, 모든 타이머가 스레드 하나를 거치는 캐리어 12개를 이깁니다."
        }
        (Locale::Ko, "llm-agents") => {
            "스레드 500개짜리 풀은 2초짜리 원격 호출 10,000개를 20번에 나누어 처리하고, 그린 스레드는 모든 호출을 한꺼번에 합니다."
        }
        (Locale::Ko, "pinning") => {
            "Java 21에서 synchronized 안의 호출은 캐리어를 고정하므로 캐리어 8개는 한 번에 8건만 호출합니다. ReentrantLock이나 Java 25에서는 10,000개가 모두 한꺼번에 기다립니다."
        }
        (Locale::Ko, "tool-chain") => {
            "에이전트는 도구를 기다리는 동안 풀 스레드를 놓지 않으므로 스레드 3,000개 중 2,500개가 묶이고, 남은 500개가 도구 호출 7,500개를 맡아 29초가 걸립니다. 그린 스레드와 코루틴은 스레드 없이 기다려 6.6초에 끝냅니다."
        }
        (Locale::Ko, "connection-pool") => {
            "여기서는 그린 스레드 10,000개도 풀 스레드 200개보다 빠르지 않습니다. 5 ms짜리 질의 10,000개가 커넥션 20개를 지나려면 무엇이 기다리든 2.5초가 걸립니다."
        }
        (Locale::Ko, "native-threads") => {
            "작업마다 스레드를 하나씩 만들면 OS가 한 번에 4,914개까지만 허락하므로, 2초짜리 호출 10,000개 중 5,086개가 unable to create native thread로 실패합니다. 스레드 500개짜리 풀은 하나도 잃지 않지만 40초가 걸리고, 그린 스레드는 모두 2초에 끝냅니다."
        }
        (Locale::Ko, "web-server") => {
            "초당 요청 3,300개가 32 ms씩 걸리면 한 번에 106개가 진행됩니다. 코어 8개로는 충분하지만 풀 스레드 100개로는 모자라므로, 풀에서는 대기열과 함께 응답 시간의 p99가 252 ms까지 늘고 그린 스레드와 코루틴에서는 35 ms에 머뭅니다."
        }
        (Locale::Ko, "cpu-hog") => {
            "1초짜리 계산 10개가 코어 8개를 두고 다툽니다. 가상 스레드는 기다릴 때까지 캐리어를 놓지 않으므로 처음 1초 동안은 어떤 요청도 응답을 받지 못합니다. OS는 2.8 ms 뒤에, Go는 10 ms 뒤에 코어를 빼앗으므로 요청 100개 중 95개가 각각 8 ms와 0.13초 안에 응답을 받습니다."
        }
        (Locale::Ko, "blocking-in-coroutine") => {
            "코루틴 640개가 Thread.sleep(50 ms)를, 나란히 다른 640개가 delay(50 ms)를 호출합니다. delay는 스레드를 붙잡지 않고 sleep은 워커를 붙잡습니다. Default나 tokio의 워커 12개에서는 sleep에 2.7초가 걸리고 delay도 함께 기다립니다. Dispatchers.IO의 64개에서는 0.56초, 128개짜리 IO 뷰에서는 0.31초, spawn_blocking으로는 0.10초 만에 모두 끝납니다."
        }
        (Locale::Ko, "pinned-upgrade") => {
            "주문 2,000건이 synchronized 안에서 0.1초를 기다리고, 상태 확인 100건은 락이 필요 없습니다. Java 21에서는 주문마다 캐리어 8개 중 하나를 붙잡아 모두 25초가 걸리고, 상태 확인도 전부 그 뒤에서 기다립니다. 같은 코드가 Java 24와 25에서는 캐리어를 놓아주므로 주문은 모두 합쳐 0.1초, 상태 확인은 5 ms가 걸립니다."
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use parkbench_engine::PRESET_NAMES;

    use super::*;

    #[test]
    fn every_preset_has_korean_words() {
        for name in PRESET_NAMES {
            assert!(preset_title(Locale::Ko, name).is_some(), "{name}");
            assert!(preset_description(Locale::Ko, name).is_some(), "{name}");
        }
    }

    #[test]
    fn a_title_is_translated_where_it_is_the_shipped_one() {
        for (locale, name, title, expect) in [
            (Locale::Ko, "io-bound", "I/O bound", "I/O 중심"),
            (Locale::Ko, "io-bound", "Mine", "Mine"),
            (Locale::Ko, "mine", "I/O bound", "I/O bound"),
            (Locale::En, "io-bound", "I/O bound", "I/O bound"),
        ] {
            assert_eq!(scenario_title(locale, name, title), expect, "{locale:?} {name} {title}");
        }
    }

    #[test]
    fn every_choice_has_korean_words() {
        let words = [
            PoolKind::ALL.map(|item| pool_kind(Locale::Ko, item)).to_vec(),
            Rejection::ALL.map(|item| rejection(Locale::Ko, item)).to_vec(),
            Flavor::ALL.map(|item| flavor(Locale::Ko, item)).to_vec(),
            Blocking::ALL.map(|item| blocking(Locale::Ko, item)).to_vec(),
        ];
        for word in words.concat() {
            assert!(word.chars().any(|c| ('가'..='힣').contains(&c)), "{word}");
        }
    }

    #[test]
    fn every_reason_has_words() {
        for item in Reason::ALL {
            for locale in [Locale::En, Locale::Ko] {
                assert_eq!(reason(locale, item).is_empty(), item == Reason::None, "{item:?}");
            }
        }
    }
}

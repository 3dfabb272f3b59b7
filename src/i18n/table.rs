//! The table of words, English and Korean side by side. `{places}` are the same in both; a test keeps that.

macro_rules! strings {
    ($($id:ident: $en:literal, $ko:literal;)*) => {
        /// Every text of the page in one language.
        #[derive(Debug, PartialEq, Eq)]
        pub struct Strings { $(#[doc = $en] pub $id: &'static str,)* }
        /// English.
        pub const EN: Strings = Strings { $($id: $en,)* };
        /// Korean.
        pub const KO: Strings = Strings { $($id: $ko,)* };
        /// Name, English and Korean of every text.
        pub const IDS: &[(&str, &str, &str)] = &[$((stringify!($id), $en, $ko),)*];
    };
}

strings! {
    // Header.
    tagline: "{n} tasks on one clock", "하나의 시계 위의 작업 {n}개";
    scenario: "Scenario", "시나리오";
    describe_changed: "With changed parameters; what the scenario as it ships shows may not hold.", "매개변수를 바꾸었으므로 원래 시나리오의 설명이 맞지 않을 수 있습니다.";
    scenario_custom: "Your scenario", "직접 쓴 시나리오";
    theme: "Theme", "테마";
    theme_auto: "Theme: system", "테마: 시스템";
    theme_light: "Theme: light", "테마: 밝게";
    theme_dark: "Theme: dark", "테마: 어둡게";
    language_other: "한국어", "English";
    link: "Copy link", "링크 복사";
    link_copied: "Link copied", "링크를 복사했습니다";
    link_manual: "Copy this link", "이 링크를 복사하세요";
    export: "Export JSON", "JSON 내보내기";
    shortcuts: "Keyboard shortcuts", "키보드 단축키";
    close: "Close", "닫기";
    skip: "Skip to the simulation", "시뮬레이션으로 건너뛰기";
    ignored: "Ignored in the link: {what}", "링크에서 무시한 부분: {what}";
    dismiss: "Dismiss", "닫기";

    // Measured runs.
    open_measured: "Open a measurement…", "측정 파일 열기…";
    open_help: "A file of parkbench measure --trace, or of parkbench compare --format json. It can be dropped on the page.", "parkbench measure --trace 또는 parkbench compare --format json으로 만든 파일. 페이지에 끌어다 놓아도 됩니다.";
    open_wrong: "{name} is not shown. {why}", "{name} 파일은 표시하지 않습니다. {why}";
    measured_shown: "{name}: {n} measured", "{name}: 측정한 실행 {n}개";
    measured_close: "Remove", "빼기";
    measured_other: "Not shown: the scenario has other tasks or another seed than the measurement", "표시하지 않음: 작업이나 시드가 측정한 시나리오와 다릅니다";
    measured_name: "{variant}, measured", "{variant}, 측정";
    measured_detail: "Measured: {runtime}", "측정: {runtime}";
    measured_lanes: "A measured thread is empty where no task runs on it: it is idle or does the runtime's own work. What its tasks cannot see, such as a core that the kernel has taken away, is not shown.", "측정한 스레드는 작업이 없는 동안 비어 있습니다. 쉬고 있거나 런타임 자체의 일을 하는 시간입니다. 커널이 코어를 거두어 간 때처럼 작업이 스스로 볼 수 없는 것은 나타내지 않습니다.";
    measured_cost: "{variant}: the traced repetition took {traced}, the median of the others {untraced}; it took down {n} times at {each} each", "{variant}: 추적한 반복은 {traced}, 나머지의 중앙값은 {untraced}입니다. 시각을 {n}번 기록했고 한 번에 {each} 걸렸습니다";
    measured: "Measured", "측정";
    simulated: "Simulated", "시뮬레이션";
    m_origin: "Origin", "출처";
    mark_seed: "seed", "시드 문서";
    mark_measured: "measured", "측정";

    // Comparisons.
    compared_shown: "{name}: {n} runtimes measured on {place}", "{name}: {place}에서 측정한 런타임 {n}개";
    comparison: "Comparison", "비교";
    comparison_none: "{name} (nothing could be measured)", "{name}(측정한 것 없음)";
    comparison_of: "{n} of {all} in the file", "파일의 {all}개 중 {n}번째";
    compared_other: "Not beside the runs: none of them is a run that the comparison simulated", "실행 옆에 표시하지 않음: 비교에서 시뮬레이션한 실행이 하나도 없습니다";
    beside_measured: "measured {measured},", "측정 {measured},";
    beside_error: "error of the simulation {error}", "시뮬레이션 오차 {error}";
    compared_title: "Simulated beside measured", "시뮬레이션과 측정의 비교";
    compared_source: "Measured on {place}, with parkbench {version} ({build} build): the repetition with the median total. Simulated with the costs of {profile}. The error is how far the simulation is above the measurement.", "측정: {place}, parkbench {version}({build} 빌드), 전체 시간이 중앙값인 반복. 시뮬레이션: {profile}의 비용. 오차는 시뮬레이션이 측정보다 얼마나 큰지를 나타냅니다.";
    compared_spread: "{n} repetitions, {shortest} to {longest}", "반복 {n}회, {shortest}~{longest}";
    compared_engine: "{variant}: this page simulates {here}, the file says {file}; it is of another version of the engine", "{variant}: 이 페이지의 시뮬레이션은 {here}, 파일은 {file}입니다. 다른 버전의 엔진으로 만든 파일입니다";
    col_runtime: "Runtime", "런타임";
    col_error: "Error", "오차";

    // Transport.
    transport: "Playback", "재생";
    play: "Play", "재생";
    pause: "Pause", "일시 정지";
    restart: "Restart", "처음으로";
    step_back: "Previous event", "이전 이벤트";
    step_forward: "Next event", "다음 이벤트";
    time: "Simulated time", "시뮬레이션 시각";
    time_of: "{now} of {end}", "{end} 중 {now}";
    time_end: "of {end}", "(전체 {end})";
    parameters_show: "Change parameters", "매개변수 바꾸기";
    parameters_hide: "Hide parameters", "매개변수 숨기기";
    summary: "Time to finish", "완료까지 걸린 시간";
    overview: "Whole run, with the part in view", "전체 실행과 보고 있는 부분";
    speed: "Speed", "속도";
    speed_label: "{rate} per second", "초당 {rate}";
    speed_auto: "Follow the view", "보기에 맞춤";
    speed_auto_label: "{rate} per second, follows the view", "초당 {rate}, 보기에 맞춤";

    // Controls.
    controls: "Parameters", "매개변수";
    workload: "Workload", "작업 부하";
    machine: "Machine", "기계";
    models: "Models", "모델";
    simulation: "Simulation", "시뮬레이션";
    field_tasks: "Tasks", "작업 수";
    field_wait: "Wait per task", "작업당 대기";
    field_cpu: "CPU per task", "작업당 CPU";
    field_cores: "Cores", "코어 수";
    field_pool_kind: "Kind of pool", "풀 종류";
    field_pool: "Pool threads", "풀 스레드 수";
    field_queue: "Pool queue, at most", "풀 대기열 한도";
    field_rejection: "When the queue is full", "대기열이 가득 차면";
    field_green: "Runtime of the green threads", "그린 스레드의 런타임";
    field_workers: "Workers (GOMAXPROCS, tokio)", "워커 수(GOMAXPROCS, tokio)";
    field_jdk: "JDK of the green threads", "그린 스레드의 JDK";
    field_carriers: "Carriers (parallelism)", "캐리어 수(parallelism)";
    field_max_pool: "Carriers, at most (maxPoolSize)", "캐리어 한도(maxPoolSize)";
    field_min_runnable: "Carriers not blocked, at least (minRunnable)", "막히지 않은 캐리어 최소(minRunnable)";
    hint_class: "the first class, {class}; {n} tasks in all. The others are in the JSON", "첫 번째 작업 종류 {class}. 작업은 모두 {n}개이며 나머지 종류는 JSON에 있습니다";
    field_coroutine: "Runtime of the coroutines", "코루틴의 런타임";
    field_flavor: "Runtime of tokio", "tokio 런타임 종류";
    field_dispatcher: "Coroutine dispatcher", "코루틴 디스패처";
    field_slide: "{field}: slider, simulates at once", "{field}: 슬라이더, 바로 시뮬레이션";
    field_parallelism: "limitedParallelism, at most", "limitedParallelism 한도";
    field_blocking: "Blocking calls on tokio", "tokio의 블로킹 호출";
    field_seed: "Random seed", "난수 시드";
    field_profile: "Cost profile", "비용 프로파일";
    hint_wait: "50 ms, or 2 s .. 2.2 s", "50 ms 또는 2 s .. 2.2 s";
    hint_cpu: "20 us, or 100000 iterations", "20 us 또는 100000 iterations";
    hint_queue: "a number, or none", "숫자 또는 없음";
    no_limit: "none", "없음";
    absent_varies: "differs between the runs; see the JSON", "실행마다 다릅니다. JSON에서 바꿀 수 있습니다";
    absent_model: "no run of this model in the scenario", "이 시나리오에는 이 모델의 실행이 없습니다";
    absent_fixed: "only in a fixed pool", "고정 풀에만 있습니다";
    absent_java: "only for Java", "Java에만 있습니다";
    absent_kotlin: "only for Kotlin", "Kotlin에만 있습니다";
    absent_view: "the event loop has no limited views", "이벤트 루프에는 제한된 뷰가 없습니다";
    absent_tokio: "only for tokio", "tokio에만 있습니다";
    absent_workers: "only for Go and the threads of tokio", "Go와 tokio 멀티스레드에만 있습니다";
    reset_nothing: "nothing was changed", "바꾼 것이 없습니다";
    not_yet: "when the run is done", "실행이 끝나면 쓸 수 있습니다";
    run: "Run", "실행";
    cancel: "Cancel", "취소";
    reset: "Reset", "되돌리기";
    edit_scenario: "Scenario as JSON…", "JSON으로 편집…";
    errors: "{n} to correct before this can run. The previous run is still shown.", "실행하려면 {n}개를 고쳐야 합니다. 이전 실행을 계속 보여 줍니다.";
    changed: "Changed, not run yet", "바뀌었지만 아직 실행하지 않았습니다";
    running: "Simulating: {percent}", "시뮬레이션 중: {percent}";
    ran: "Simulated in {ms}, seed {seed}", "{ms} 만에 시뮬레이션함, 시드 {seed}";
    cancelled: "Cancelled", "취소했습니다";
    failed: "The simulation broke off: {why}", "시뮬레이션이 중단되었습니다: {why}";
    figures_only: "Run for the figures alone", "값만 구하기";
    no_picture: "Figures alone: their {n} records were not kept, so there is nothing to draw. Starvation at the workers was not looked for.", "값만 구했습니다. 기록 {n}개를 남기지 않아 그릴 것이 없고, 작업자에서의 기아(starvation)는 찾지 않았습니다.";
    no_picture_task: "Figures alone: no task was recorded", "값만 구했으므로 작업의 기록이 없습니다";
    on_page: "Simulating in the page: a worker could not be started ({why})", "워커를 시작할 수 없어 페이지에서 시뮬레이션합니다 ({why})";

    // Scenario dialog.
    scenario_json: "Scenario as JSON", "JSON 시나리오";
    scenario_json_help: "Edit the scenario, or open a file. It is checked before it runs.", "시나리오를 고치거나 파일을 여세요. 실행 전에 검사합니다.";
    open_file: "Open a file", "파일 열기";
    not_utf8: "file: {name} is not UTF-8 text; allowed: a scenario as JSON in UTF-8", "파일: {name} 은(는) UTF-8 텍스트가 아닙니다. UTF-8로 쓴 JSON 시나리오만 열 수 있습니다";
    run_scenario: "Run this scenario", "이 시나리오 실행";

    // Columns.
    tasks_as_dots: "Tasks, one dot each", "작업 하나가 점 하나";
    legend: "States", "상태";
    legend_all: "All states", "모든 상태";
    legend_only: "Light only {state}", "{state}만 강조";
    done_in: "simulated, done in", "시뮬레이션, 완료까지";
    done_at: "simulated, all done in", "시뮬레이션, 모두 완료";
    ended_at: "simulated, all ended in", "시뮬레이션, 모두 끝남";
    measured_done_in: "measured, done in", "측정, 완료까지";
    measured_done_at: "measured, all done in", "측정, 모두 완료";
    measured_ended_at: "measured, all ended in", "측정, 모두 끝남";
    failed_count: "{n} failed", "{n}개 실패";
    still_running: "{percent} done", "{percent} 완료";
    show_until_done: "Show the time until {model} is done", "{model} 완료까지 보기";
    grid_label: "{model}, {variant}: {n} tasks as dots", "{model}, {variant}: 작업 {n}개를 점으로 표시";
    grid_help: "Arrow keys select a task.", "화살표 키로 작업을 고릅니다.";
    per_dot: "Each dot stands for {n} tasks", "점 하나가 작업 {n}개";
    waiting_for_run: "waiting for the run", "실행을 기다리는 중";
    threads_cores: "{threads} threads on {cores} cores", "코어 {cores}개에 스레드 {threads}개";
    threads_cached: "a new thread when none is idle, {cores} cores", "쉬는 스레드가 없으면 새로 만듦, 코어 {cores}개";
    threads_each: "a thread for each task, {cores} cores", "작업마다 스레드 하나, 코어 {cores}개";
    threads_limit: "at most {n} threads", "스레드 최대 {n}개";
    queue_limit: "queue of {n}", "대기열 {n}개";
    queue_caller: "the caller runs what is refused", "거부된 작업은 제출한 쪽이 실행";
    carriers_cores: "Java {jdk}, {threads} carriers on {cores} cores", "Java {jdk}, 코어 {cores}개에 캐리어 {threads}개";
    dispatcher_cores: "Kotlin {dispatcher}, {cores} cores", "Kotlin {dispatcher}, 코어 {cores}개";
    procs_cores: "{runtime}, GOMAXPROCS {workers} on {cores} cores", "{runtime}, 코어 {cores}개에 GOMAXPROCS {workers}";
    workers_cores: "{dispatcher}, {workers} workers on {cores} cores", "{dispatcher}, 코어 {cores}개에 워커 {workers}개";
    runtime_cores: "{dispatcher}, {cores} cores", "{dispatcher}, 코어 {cores}개";
    lock_kind: "lock: {lock}", "잠금: {lock}";

    // What is wrong with a run.
    finding_deadlock: "Deadlock after {from}, tasks that cannot go on: {n}", "교착 상태(deadlock), {from} 이후: 작업 {n}개가 더 나아갈 수 없습니다";
    finding_livelock: "Livelock from {from} on, tasks that try again for ever: {n}", "라이브락(livelock), {from}부터: 작업 {n}개가 끝없이 다시 시도합니다";
    finding_starvation: "Starvation, {from} to {to}: no ready task got a worker. Tasks that waited: {n}", "기아(starvation), {from}부터 {to}까지: 실행 준비된 작업이 하나도 작업자를 얻지 못해 {n}개가 기다렸습니다";
    finding_overtaken: "Starvation, {from} to {to}: others took {what} {times} times over. Tasks that waited: {n}", "기아(starvation), {from}부터 {to}까지: 다른 작업이 {times}번 가져가는 동안 {n}개가 기다렸습니다 ({what})";
    finding_others: "and {n} others", "외 {n}개";
    finding_has: "has {what}", "{what} 보유";
    finding_waits: "waits for {what}", "{what}: 기다리는 중";
    finding_waits_by: "waits for {what}, taken by {who}", "{what}: 기다리는 중 ({who} 보유)";
    finding_waited_by: "waited for {what}, taken by {who}", "{what}: 기다렸음 ({who} 보유)";
    finding_tries: "tries {what} in vain, taken by {who}", "{what}: 얻지 못하고 다시 시도하는 중 ({who} 보유)";
    finding_task: "{class} {id}", "작업 {class} {id}";
    resource_lock: "lock {name}", "잠금 {name}";
    resource_permit: "a permit of {name}", "{name}의 허가";
    resource_turn: "the turn at {name}", "{name}의 차례";
    resource_worker: "a worker", "작업자";
    resource_children: "the end of {who}", "{who}의 끝";

    // Task panel.
    task: "Task", "작업";
    task_section: "One task under every model", "모든 모델에서 본 한 작업";
    task_number: "Task number, 0 to {last}", "작업 번호, 0부터 {last}까지";
    task_on: "on {worker}", "{worker} 위에서";
    task_since: "since {start}, until {end}", "{start}부터 {end}까지";
    task_life: "queued {queued}, run {run}, waited {waited}, response {response}", "대기열 {queued}, 실행 {run}, 대기 {waited}, 응답 {response}";
    task_strip: "Life of task {task} under {model} in the view", "보기 안에서 {model}의 작업 {task} 생애";

    // Timeline.
    timeline: "Timeline", "타임라인";
    timeline_help: "Ctrl+wheel or W and S zoom, A and D move, 0 shows everything.", "Ctrl+휠 또는 W, S로 확대·축소, A, D로 이동, 0으로 전체 보기.";
    density: "Tasks by state over time", "시간에 따른 상태별 작업 수";
    workers: "Workers", "작업자";
    lanes_of: "{shown} of {total} shown, {rule}", "{total}개 중 {shown}개 표시, {rule}";
    lanes_label: "{model}: what {shown} of {total} threads did, {window}", "{model}: 스레드 {total}개 중 {shown}개가 한 일, {window}";
    density_label: "{model}: tasks by state, {window}", "{model}: 상태별 작업 수, {window}";
    density_peak: "at most {n} in flight", "동시 진행 최대 {n}개";
    view_opening: "First ends", "먼저 끝난 곳까지";
    view_all: "Everything", "전체";
    zoom_in: "Zoom in", "확대";
    zoom_out: "Zoom out", "축소";
    pan_left: "Earlier", "앞으로";
    pan_right: "Later", "뒤로";
    view_range: "Shown: {from} to {to} of {end}", "표시 범위: {end} 중 {from} ~ {to}";
    worker_table: "Worker time as a table", "작업자 시간을 표로 보기";
    col_worker: "Worker", "작업자";
    col_busy: "Busy", "실행";
    col_blocked: "Blocked", "막힘";
    col_idle: "Idle", "쉼";
    col_overhead: "Overhead", "오버헤드";
    col_preempted: "Preempted", "선점됨";
    table_of: "{shown} of {total} shown, in order of their number", "{total}개 중 {shown}개 표시, 번호 순";
    activity_legend: "In lanes, overhead is the scheduler's own work and idle is left empty. A strip at the top of a merged pixel shows its worst part.", "레인에서 오버헤드는 스케줄러 자체의 일이며 쉬는 시간은 비워 둡니다. 합쳐진 픽셀은 위쪽 띠에 가장 나쁜 부분을 보여 줍니다.";
    activity_overhead: "overhead", "오버헤드";
    activity_waking: "waking", "깨어나는 중";

    // Results.
    results: "Results, simulated", "결과 (시뮬레이션)";
    results_note: "All figures are simulated with profile {profile} and seed {seed}. Latency counts from the start of a task's code; response time counts from its submission.", "모든 값은 프로파일 {profile}, 시드 {seed}(으)로 시뮬레이션했습니다. 지연은 작업 코드가 시작된 때부터, 응답 시간은 제출된 때부터 셉니다.";
    results_mixed: "Results, simulated and measured", "결과 (시뮬레이션과 측정)";
    results_mixed_note: "Simulated figures are of profile {profile} and seed {seed}; measured ones are those of the traced repetition. Latency counts from the start of a task's code; response time counts from its submission.", "시뮬레이션 값은 프로파일 {profile}, 시드 {seed}(으)로 얻었고 측정값은 추적한 반복의 값입니다. 지연은 작업 코드가 시작된 때부터, 응답 시간은 제출된 때부터 셉니다.";
    col_metric: "Metric", "지표";
    m_makespan: "Makespan", "전체 시간";
    m_throughput: "Throughput", "처리량";
    m_latency_mean: "Latency, mean", "지연, 평균";
    m_latency_p50: "Latency, p50", "지연, p50";
    m_latency_p95: "Latency, p95", "지연, p95";
    m_latency_p99: "Latency, p99", "지연, p99";
    m_latency_max: "Latency, max", "지연, 최대";
    m_response_mean: "Response time, mean", "응답 시간, 평균";
    m_response_p50: "Response time, p50", "응답 시간, p50";
    m_response_p95: "Response time, p95", "응답 시간, p95";
    m_response_p99: "Response time, p99", "응답 시간, p99";
    m_response_max: "Response time, max", "응답 시간, 최대";
    m_queue_mean: "Queued, mean", "대기열 시간, 평균";
    m_in_flight: "In flight, peak", "동시 진행, 최대";
    m_resident: "Memory, resident", "메모리, 상주";
    m_reserved: "Memory, reserved", "메모리, 예약";
    m_switches: "OS context switches", "OS 문맥 교환";
    m_switch_rate: "OS context switches per second", "초당 OS 문맥 교환";
    m_busy: "Core time busy", "코어 사용률";
    m_failed: "Tasks failed", "실패한 작업";
    m_events: "Events simulated", "시뮬레이션한 이벤트";
    m_digest: "Digest of the run", "실행 다이제스트";
    unit_tasks: "tasks", "개";
    per_second: "/s", "/s";
    seed_table: "Published figures beside simulated ones", "공개된 값과 시뮬레이션 값의 비교";
    seed_none: "This scenario has no published figures, or its workload was changed, so there is nothing to compare with.", "이 시나리오에는 공개된 값이 없거나 작업 부하가 바뀌어 비교할 것이 없습니다.";
    col_model: "Model", "모델";
    col_seed: "Seed", "시드 문서";
    col_simulated: "Simulated", "시뮬레이션";
    col_residual: "Residual", "차이";
    contradicts: "The seed contradicts itself", "시드 문서가 스스로 모순됩니다";
    contradiction_note: "Note {n}", "주 {n}";
    consistent: "its own rules allow {value}; residual to that {residual}", "스스로의 규칙으로는 {value}; 그 값과의 차이 {residual}";
    chart_throughput: "Throughput, tasks per second", "처리량, 초당 작업 수";
    chart_latency: "Response time, submission to end", "응답 시간, 제출부터 끝까지";
    chart_throughput_label: "Throughput, simulated unless it says measured: {what}", "처리량, 측정이라고 쓰지 않은 것은 시뮬레이션: {what}";
    chart_latency_label: "Response time p50, p95 and p99, simulated unless it says measured: {what}", "응답 시간 p50, p95, p99, 측정이라고 쓰지 않은 것은 시뮬레이션: {what}";
    no_result: "The figures appear when the run is done.", "실행이 끝나면 값이 나타납니다.";

    // Shortcuts.
    keys_where: "These keys work while the focus is in the simulation, and never while typing.", "초점이 시뮬레이션 안에 있을 때만 작동하며, 입력 중에는 작동하지 않습니다.";
    key_play: "Play or pause", "재생 또는 일시 정지";
    key_step: "Previous or next event", "이전 또는 다음 이벤트";
    key_ends: "Start or end of the run", "실행의 처음 또는 끝";
    key_zoom: "Zoom in or out", "확대 또는 축소";
    key_pan: "Move the view", "보기 이동";
    key_fit: "Show everything", "전체 보기";
    key_help: "This list", "이 목록";
    key_dots: "In a grid: select another task", "격자에서: 다른 작업 선택";
    key_space: "Space", "스페이스";
    key_arrows: "Arrow keys", "화살표 키";

    // Footer.
    footer_mixed: "Simulated, except what is called measured.", "측정이라고 쓴 것 외에는 모두 시뮬레이션입니다.";
    footer: "Simulated, not measured. Measure on your own machine with the command parkbench measure.", "측정이 아니라 시뮬레이션입니다. 직접 측정하려면 parkbench measure 명령을 쓰세요.";
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str) -> Vec<&str> {
        let mut places: Vec<&str> =
            text.split('{').skip(1).filter_map(|part| part.split_once('}').map(|(name, _)| name)).collect();
        places.sort_unstable();
        places
    }

    #[test]
    fn both_languages_have_the_same_places() {
        for (id, en, ko) in IDS {
            assert_eq!(places(en), places(ko), "{id}");
            assert!(!en.trim().is_empty() && !ko.trim().is_empty(), "{id}");
        }
    }

    #[test]
    fn korean_is_korean() {
        for (id, _, ko) in IDS {
            let hangul = ko.chars().any(|c| ('가'..='힣').contains(&c));
            assert!(hangul || ["language_other", "per_second"].contains(id), "{id}: {ko}");
        }
    }
}

/** What is to be run: tasks, their steps, their durations. All draws were made before, so nothing is random here. */
package parkbench

/** What a step does. */
internal enum class Kind { SPIN, CPU, IO, BLOCK, SPAWN, MONITOR, REENTRANT, INITIALIZER, NATIVE, UNLOCK, ACQUIRE, RELEASE, YIELD, JOIN }

/** One step of a class of tasks. */
internal class Step(
    val kind: Kind,
    /** Iterations, nanoseconds, or the number of a shared lock or semaphore; -1: each task has a value or a lock of its own. */
    val value: Long,
) {
    /** Whether it can hold its task up; a lock of the task's own cannot. */
    val stops = when (kind) {
        Kind.IO, Kind.BLOCK, Kind.ACQUIRE, Kind.YIELD, Kind.JOIN -> true
        Kind.MONITOR, Kind.REENTRANT -> value >= 0
        else -> false
    }
}

internal class Plan(
    val runtime: String,
    /** Threads of a pool. */
    val threads: Int,
    /** Most tasks in the queue of a pool; `null` where it is not bounded. */
    val queueCapacity: Int?,
    /** Whether the thread that submits a task runs it where there is no room; otherwise nobody does. */
    val callerRuns: Boolean,
    /** Coroutines that run at once by `limitedParallelism`; `null` for the dispatcher itself. */
    val parallelism: Int?,
    /** Whether coroutines are started by `async` rather than by `launch`. */
    val async: Boolean,
    /** Permits of every lock and semaphore that tasks share, by its number; 1 for a lock. */
    val permits: IntArray,
    /** Whether nobody overtakes those who wait for it. */
    val fair: List<Boolean>,
    val classes: List<Array<Step>>,
    /** Class of every task: those that arrive, in the order of submission, then those that others start. */
    val classOf: IntArray,
    /** The task that starts each of those that others start; an earlier one. */
    private val parents: IntArray,
    /** When every task that arrives is due, in nanoseconds after the first submission. */
    val due: LongArray,
    /** Tasks that arrive because others have ended; what `due` says of them does not count. */
    val loops: List<ClosedLoop>,
    /** The values of the tasks' own, task after task, in the order of their steps. */
    private val values: LongArray,
    /** Where the values of each task begin. */
    private val offsets: IntArray,
    val warmup: Warmup,
) {
    /** Runs before the first repetition: at most so many, of so many tasks, for so long. */
    class Warmup(val runs: Int, val tasks: Int, val limitMs: Long)

    /** Tasks in all. */
    val tasks: Int get() = classOf.size

    /** Tasks that arrive. */
    val roots: Int get() = classOf.size - parents.size

    /** How many tasks each one is with all that it starts, and those start. */
    private val families = IntArray(tasks) { 1 }.also { sizes ->
        // A task comes after the one that starts it.
        for (child in parents.indices.reversed()) sizes[parents[child]] += sizes[roots + child]
    }

    /** How many tasks this one is with all that it starts. */
    fun familyOf(task: Int): Int = families[task]

    /** How many tasks the first `arriving` are with all that they start. */
    fun family(arriving: Int): Int = (0 until arriving).sumOf(::familyOf)

    fun steps(task: Int): Array<Step> = classes[classOf[task]]

    /** Value number `own` among the task's own. */
    fun value(task: Int, own: Int): Long = values[offsets[task] + own]

    companion object {
        @Suppress("UNCHECKED_CAST")
        fun of(text: String): Plan {
            val plan = Json.parse(text) as Map<String, Any?>
            fun number(name: String) = plan[name] as? Long ?: throw IllegalArgumentException("the plan has no number `$name`")
            fun ints(values: Any?) = (values as List<Long>).map { it.toInt() }.toIntArray()
            fun longs(name: String) = (plan[name] as List<Long>).toLongArray()
            require(number("version") == 1L) { "plan version ${plan["version"]}: this runner knows version 1" }
            val classes = (plan["classes"] as List<List<List<Any?>>>).map { steps ->
                steps.map { (kind, value) -> Step(Kind.valueOf(kind as String), value as? Long ?: -1L) }.toTypedArray()
            }
            val classOf = ints(plan["class_of"])
            val own = classes.map { steps -> steps.count { it.kind <= Kind.SPAWN && it.value < 0 } }
            val offsets = IntArray(classOf.size)
            var end = 0
            for (task in classOf.indices) {
                offsets[task] = end
                end += own[classOf[task]]
            }
            val values = longs("values")
            require(values.size == end) { "the plan has ${values.size} values and its steps need $end" }
            val parents = ints(plan["parents"])
            val roots = classOf.size - parents.size
            val due = longs("due").let { if (it.isEmpty()) LongArray(roots) else it }
            require(due.size == roots) { "the plan has $roots tasks and ${due.size} arrivals" }
            val loops = (plan["loops"] as List<Map<String, Any?>>).map { loop ->
                val users = ClosedLoop((loop["users"] as Long).toInt(), loop["due"] as Long, ints(loop["tasks"]), (loop["think"] as List<Long>).toLongArray())
                require(users.tasks.size == users.think.size) { "a closed loop has ${users.tasks.size} tasks and ${users.think.size} times to think" }
                users
            }
            val warmup = Warmup(number("warmup_runs").toInt(), number("warmup_tasks").toInt(), number("warmup_limit_ms"))
            return Plan(
                plan["runtime"] as String, number("threads").toInt(), (plan["queue_capacity"] as Long?)?.toInt(), plan["caller_runs"] == true, (plan["parallelism"] as Long?)?.toInt(), plan["builder"] == "async",
                ints(plan["permits"]), plan["fair"] as List<Boolean>, classes, classOf, parents, due, loops, values, offsets, warmup,
            )
        }
    }
}

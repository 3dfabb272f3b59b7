/**
 * The runner: reads a plan as one line of JSON, then runs it as often as it is told; answers one line of JSON each time.
 *
 * Lines on standard input: the plan, then `run` for a repetition, `trace` for one in which every task takes down what it
 * does, `pinning` for a run that counts pinned threads, `count` for one that another program counts, whose times are nobody's.
 * The end of standard input ends the process, so it never outlives the program that started it.
 */
package parkbench

import java.io.PrintStream
import java.util.concurrent.LinkedBlockingQueue
import kotlin.system.exitProcess

private val out = PrintStream(java.io.FileOutputStream(java.io.FileDescriptor.out), false, Charsets.UTF_8)

fun main() {
    val lines = LinkedBlockingQueue<String>()
    val reader = Thread({
        val input = System.`in`.bufferedReader()
        while (true) lines.put(input.readLine() ?: Runtime.getRuntime().halt(0).let { "" })
    }, "commands")
    reader.isDaemon = true
    reader.start()
    try {
        val runner = Runner(Plan.of(lines.take()))
        answer(runner.prepare())
        while (true) {
            when (val command = lines.take()) {
                "run" -> answer(runner.measure())
                "trace" -> answer(runner.trace())
                "count" -> {
                    runner.execute(Slots(runner.plan, runner.plan.roots))
                    answer("\"ran\"")
                }
                "pinning" -> answer("{\"pinned\":${runner.pinned()}}")
                else -> throw IllegalArgumentException("unknown command $command")
            }
        }
    } catch (error: Throwable) {
        // Out of memory has no more words than these.
        answer("{\"failed\":${Json.quote(if (error is Refused) error.message!! else error.toString())}}")
        exitProcess(1)
    }
}

private fun answer(line: String) {
    out.println(line)
    out.flush()
}

/** Runs of a warm-up that are worth more than its limit. */
private const val FEWEST_WARMUPS = 8

internal class Runner(internal val plan: Plan) {
    private val threads = Threads(plan, plan.runtime == "java-virtual")
    private val coroutines = Coroutines(plan)

    /** Calibrates and warms up; says on what. */
    fun prepare(): String {
        if (plan.runtime in Coroutines.DISPATCHERS) coroutines.check()
        Work.warmUp()
        val begin = System.nanoTime()
        var runs = 0
        while (runs < plan.warmup.runs) {
            val limits = (System.nanoTime() - begin) / 1_000_000L / plan.warmup.limitMs
            // On a busy machine a few runs more, for the compiler is late there too.
            if (limits >= 3 || limits >= 1 && runs >= FEWEST_WARMUPS) break
            execute(Slots(plan, plan.warmup.tasks))
            runs++
        }
        // By now the compiler has had its time, on a busy machine too.
        Work.calibrate()
        val taskPs = Slots.costPs(plan)
        // What all this has left is no part of the repetitions; between those the collector works when it wants to.
        System.gc()
        val version = Json.quote(System.getProperty("java.version"))
        val vendor = Json.quote(System.getProperty("java.vendor"))
        return "{\"ready\":{\"java\":$version,\"vendor\":$vendor,\"kotlin\":\"${KotlinVersion.CURRENT}\"," +
            "\"iteration_ps\":${Work.iterationPs},\"task_ps\":$taskPs,\"warmup_runs\":$runs}}"
    }

    fun measure(): String = measured(Slots(plan, plan.roots))

    fun trace(): String {
        val marks = Marks(plan)
        val measured = measured(Slots(plan, plan.roots, marks))
        return buildString {
            // The answer is an object already; what the marks say goes into it.
            append("{\"traced\":").append(measured, 0, measured.length - 1).append(',')
            marks.write(this)
            append(",\"event_ps\":").append(Marks.costPs()).append("}}")
        }
    }

    private fun measured(slots: Slots): String {
        val probe = Probe()
        val makespan = execute(slots)
        val readings = probe.finish()
        return buildString(plan.tasks * 32) {
            append("{\"measured\":{\"makespan_ns\":").append(makespan).append(',').append(readings)
            for ((name, times) in listOf("submitted" to slots.submitted, "began" to slots.began, "ended" to slots.ended)) {
                append(",\"").append(name).append("\":[")
                for (task in times.indices) {
                    if (task > 0) append(',')
                    append(times[task])
                }
                append(']')
            }
            append("}}")
        }
    }

    fun pinned(): Long = Pinning.count { execute(Slots(plan, plan.roots)) }

    internal fun execute(slots: Slots): Long = when (plan.runtime) {
        "java-pool" -> threads.run(slots) { Threads.pool(plan.threads, plan.queueCapacity, plan.callerRuns) }
        "java-thread-per-task" -> threads.runThreadPerTask(slots)
        "java-virtual" -> threads.run(slots) { Threads.virtual() }
        in Coroutines.DISPATCHERS -> coroutines.run(slots, Coroutines.DISPATCHERS[plan.runtime])
        else -> throw IllegalArgumentException("unknown runtime ${plan.runtime}")
    }
}

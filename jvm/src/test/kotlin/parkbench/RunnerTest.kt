/** The runner on this JVM. Only facts that no slow machine can break: lower bounds, order, counts. */
package parkbench

import java.io.File
import java.util.concurrent.TimeUnit
import kotlin.test.Test
import kotlin.test.assertContentEquals
import kotlin.test.assertEquals
import kotlin.test.assertFailsWith
import kotlin.test.assertTrue

private const val MS = 1_000_000L
private val THREADS = listOf("java-pool", "java-thread-per-task", "java-virtual")
private val COROUTINES = listOf("kotlin-default", "kotlin-io", "kotlin-event-loop")

private fun text(runtime: String, steps: String, tasks: Int, values: String = "", due: String = "", builder: String = "launch", parallelism: Int? = null,
    classOf: List<Int> = List(tasks) { 0 }, parents: String = "", threads: Int = 2, capacity: Int? = null, callerRuns: Boolean = false, loops: String = "") =
    """{"version":1,"runtime":"$runtime","threads":$threads,"queue_capacity":$capacity,"caller_runs":$callerRuns,"parallelism":$parallelism,"builder":"$builder","permits":[1,3],"fair":[false,true],"classes":[$steps],
        "class_of":[${classOf.joinToString(",")}],"parents":[$parents],"values":[$values],"due":[$due],"loops":[$loops],
        "warmup_runs":1,"warmup_tasks":1,"warmup_limit_ms":1000}""".replace("\n", "")

/** Runs the plan; checks what holds for every run; its slots and its length. */
private fun run(text: String): Pair<Slots, Long> {
    val plan = Plan.of(text)
    val slots = Slots(plan, plan.roots)
    val makespan = Runner(plan).execute(slots)
    for (task in 0 until plan.tasks) {
        assertTrue(slots.submitted[task] <= slots.began[task] && slots.began[task] <= slots.ended[task], "${plan.runtime}, task $task")
    }
    assertTrue(makespan >= slots.ended.max() - slots.submitted[0], plan.runtime)
    return slots to makespan
}

/** The most tasks that had begun and not ended at one time. */
private fun inFlight(slots: Slots): Int = slots.began.indices.maxOf { task ->
    slots.began.indices.count { slots.began[it] <= slots.began[task] && slots.began[task] < slots.ended[it] }
}

class RunnerTest {
    @Test
    fun `waits and arrivals on every runtime`() {
        for (runtime in THREADS + COROUTINES) for (builder in listOf("launch", "async")) {
            val (slots) = run(text(runtime, """[["IO",null]]""", 3, "2000000,3000000,4000000", "0,0,40000000", builder))
            for (task in 0..2) assertTrue(slots.ended[task] - slots.began[task] >= (2 + task) * MS, runtime)
            assertTrue(slots.submitted[2] - slots.submitted[0] >= 40 * MS, runtime)
        }
    }

    @Test
    fun `users of a closed loop think after the end of their last task`() {
        // Tasks 0, 1, 3, 4 are of two users, who think for 4 and 6 ms; task 2 comes after 5 ms.
        val loop = """{"users":2,"due":0,"tasks":[0,1,3,4],"think":[0,0,4000000,6000000]}"""
        for (runtime in THREADS + COROUTINES) {
            val (slots) = run(text(runtime, """[["IO",2000000]]""", 5, due = "0,0,5000000,0,0", loops = loop))
            val ends = longArrayOf(slots.ended[0], slots.ended[1]).apply { sort() }
            assertTrue(slots.submitted[2] - slots.submitted[0] >= 5 * MS, runtime)
            val sent = longArrayOf(slots.submitted[3] - ends[0], slots.submitted[4] - ends[1])
            assertTrue(sent[0] >= 4 * MS && sent[1] >= 6 * MS, "$runtime ${sent.toList()}")
        }
        // A pool that refuses one lets its user go on; one of a warm-up run sends no more than it has.
        val refusing = Plan.of(text("java-pool", """[["IO",300000000]]""", 5, due = "0,0,5000000,0,0", loops = loop, capacity = 0, threads = 1))
        val slots = Slots(refusing, 5).also { Runner(refusing).execute(it) }
        assertTrue(slots.submitted.all { it >= 0 } && slots.began[1] < 0 && slots.submitted[3] - slots.submitted[1] >= 4 * MS)
        val warm = Slots(refusing, 1).also { Runner(refusing).execute(it) }
        assertEquals(listOf(true, false, false, false, false), warm.ended.map { it >= 0 })
    }

    @Test
    fun `a shared lock of either kind makes its section serial`() {
        for (runtime in THREADS + COROUTINES) for (kind in listOf("MONITOR", "REENTRANT")) {
            val (_, makespan) = run(text(runtime, """[["$kind",0],["IO",2000000],["UNLOCK",null]]""", 20))
            assertTrue(makespan >= 40 * MS, "$runtime $kind")
        }
    }

    @Test
    fun `as many tasks hold a permit as there are`() {
        for (runtime in THREADS + COROUTINES) {
            val (_, makespan) = run(text(runtime, """[["ACQUIRE",1],["IO",2000000],["RELEASE",1],["YIELD",null]]""", 20))
            // Seven rounds of three; a pool of two has ten rounds.
            assertTrue(makespan >= 14 * MS, runtime)
        }
    }

    @Test
    fun `tasks start others and wait for them`() {
        // Two parents start two children each, wait for them, and wait 2 ms more.
        val steps = """[["SPAWN",null],["SPAWN",null],["JOIN",null],["IO",2000000]],[["IO",3000000]]"""
        for (runtime in listOf("java-thread-per-task", "java-virtual") + COROUTINES) {
            val (slots) = run(text(runtime, steps, 2, "2,3,4,5", classOf = listOf(0, 0, 1, 1, 1, 1), parents = "0,0,1,1"))
            for (child in 2..5) {
                val parent = (child - 2) / 2
                assertTrue(slots.began[parent] <= slots.submitted[child], runtime)
                assertTrue(slots.ended[child] + 2 * MS <= slots.ended[parent], runtime)
            }
        }
        for (runtime in THREADS + COROUTINES) {
            val (_, makespan) = run(text(runtime, """[["SPAWN",null]],[["IO",5000000]]""", 1, "1", classOf = listOf(0, 1), parents = "0"))
            assertTrue(makespan >= 5 * MS, "$runtime does not wait for a task that its parent does not wait for")
        }
        val warm = Plan.of(text("java-virtual", steps, 2, "2,3,4,5", classOf = listOf(0, 0, 1, 1, 1, 1), parents = "0,0,1,1"))
        assertEquals(listOf(0, 3, 6), (0..2).map { warm.family(it) })
    }

    @Test
    fun `a permit inside a monitor is refused for coroutines`() {
        val plan = Plan.of(text("kotlin-io", """[["MONITOR",0],["ACQUIRE",1],["RELEASE",1],["UNLOCK",null]]""", 2))
        assertFailsWith<Refused> { Runner(plan).prepare() }
    }

    @Test
    fun `locks nest and tasks have locks of their own`() {
        val steps = """[["MONITOR",null],["REENTRANT",0],["CPU",1000],["UNLOCK",null],["SPIN",7],["UNLOCK",null],["IO",null]]"""
        for (runtime in THREADS) {
            val (slots) = run(text(runtime, steps, 12, List(12) { "1000000" }.joinToString(",")))
            for (task in 0 until 12) assertTrue(slots.ended[task] - slots.began[task] >= MS, runtime)
        }
        for (runtime in COROUTINES) {
            val plan = Plan.of(text(runtime, steps, 12, List(12) { "1000000" }.joinToString(",")))
            assertFailsWith<Refused>(runtime) { Runner(plan).prepare() }
        }
    }

    @Test
    fun `a class initialiser and native code hold their thread, and a task goes on after them`() {
        for (frame in listOf("INITIALIZER", "NATIVE")) {
            val steps = """[["$frame",null],["IO",null],["$frame",null],["CPU",1000],["UNLOCK",null],["UNLOCK",null],["IO",null]]"""
            for (runtime in THREADS + COROUTINES) {
                val (slots) = run(text(runtime, steps, 6, List(12) { "1000000" }.joinToString(",")))
                for (task in 0 until 6) assertTrue(slots.ended[task] - slots.began[task] >= 2 * MS, "$runtime $frame")
            }
            // Nothing can suspend inside, so that one loop has one task after the other in there.
            val (_, makespan) = run(text("kotlin-event-loop", """[["$frame",null],["IO",2000000],["UNLOCK",null]]""", 5))
            assertTrue(makespan >= 5 * 2 * MS, frame)
            val refused = Plan.of(text("kotlin-io", """[["$frame",null],["ACQUIRE",1],["RELEASE",1],["UNLOCK",null]]""", 2))
            assertFailsWith<Refused> { Runner(refused).prepare() }
            val fails = assertFailsWith<IllegalStateException> {
                if (frame == "NATIVE") Frames.inNativeFrame { error("inside") } else Frames.inInitialiser { error("inside") }
            }
            assertEquals("inside", fails.message)
        }
    }

    @Test
    fun `a pool runs as many tasks at once as it has threads (P-2)`() {
        val (slots, makespan) = run(text("java-pool", """[["BLOCK",5000000]]""", 9))
        assertTrue(inFlight(slots) <= 2 && makespan >= 25 * MS)
    }

    @Test
    fun `a queue with a limit refuses or lets the caller run, and nobody waits for what was refused`() {
        fun pool(capacity: Int, callerRuns: Boolean, steps: String, classOf: List<Int>, parents: String = "", values: String = ""): Slots {
            val roots = classOf.size - parents.split(",").count { it.isNotEmpty() }
            val plan = Plan.of(text("java-pool", steps, roots, values, classOf = classOf, parents = parents, capacity = capacity, callerRuns = callerRuns))
            return Slots(plan, plan.roots).also { Runner(plan).execute(it) }
        }
        // Longer than a busy machine may hold the submitter up.
        val wait = """[["IO",300000000]]"""
        val refused = pool(1, false, wait, List(6) { 0 })
        assertEquals(listOf(false, false, false, true, true, true), refused.began.map { it < 0 })
        assertTrue(refused.submitted.all { it >= 0 })
        val run = pool(1, true, wait, List(6) { 0 })
        assertTrue(run.ended.all { it >= 0 } && inFlight(run) == 3)
        // The third parent is refused, so its child is not submitted; those of the others find no thread.
        val steps = """[["IO",5000000],["SPAWN",null],["JOIN",null]],[["IO",1000000]]"""
        val family = pool(0, false, steps, listOf(0, 0, 0, 1, 1, 1), "0,1,2", "3,4,5")
        assertTrue(family.ended[0] >= 0 && family.ended[1] >= 0 && family.began[2] < 0 && family.submitted[5] < 0)
    }

    @Test
    fun `a cached pool starts a thread where none is idle`() {
        // Each task waits for the one that it starts, so that all of them need a thread at one time, however slow the machine is.
        val steps = List(7) { """[["SPAWN",null],["JOIN",null]]""" } + """[["IO",1000000]]"""
        val text = text("java-pool", steps.joinToString(","), 1, (1..7).joinToString(","), classOf = (0..7).toList(), parents = (0..6).joinToString(","),
            threads = Int.MAX_VALUE, capacity = 0)
        assertEquals(8, inFlight(run(text).first))
    }

    @Test
    fun `a call that blocks holds the loop of runBlocking (K-1)`() {
        val (slots, makespan) = run(text("kotlin-event-loop", """[["BLOCK",3000000]]""", 8))
        assertEquals(1, inFlight(slots))
        assertTrue(makespan >= 24 * MS)
    }

    @Test
    fun `limitedParallelism runs so many coroutines at once (K-7)`() {
        for (runtime in listOf("kotlin-default", "kotlin-io")) {
            val (slots, makespan) = run(text(runtime, """[["BLOCK",5000000]]""", 6, parallelism = 1))
            assertTrue(inFlight(slots) == 1 && makespan >= 30 * MS, runtime)
        }
    }

    @Test
    fun `a task that throws ends the run with its words`() {
        for (runtime in THREADS) {
            // No thread sleeps for less than no time.
            val plan = Plan.of(text(runtime, """[["IO",null]]""", 2, "1000000,-5"))
            val error = assertFailsWith<IllegalStateException>(runtime) { Runner(plan).execute(Slots(plan, plan.roots)) }
            assertTrue(error.message!!.startsWith("a task failed: java.lang.IllegalArgumentException"), error.message)
        }
    }

    @Test
    fun `virtual threads wait together inside monitors of their own since JDK 24 (T-12, T-14)`() {
        val plan = Plan.of(text("java-virtual", """[["MONITOR",null],["IO",20000000],["UNLOCK",null]]""", 50))
        val pinned = Runner(plan).pinned()
        assertEquals(Runtime.version().feature() < 24, pinned > 0, "$pinned events")
    }

    @Test
    fun `plans that are none say why`() {
        for ((plan, expect) in listOf(
            "{" to "byte 1 of the plan: expected more",
            """{"version":2}""" to "plan version 2: this runner knows version 1",
            text("java-pool", """[["IO",null]]""", 2, "1") to "the plan has 1 values and its steps need 2",
            text("java-pool", """[["IO",1]]""", 2, "", "0") to "the plan has 2 tasks and 1 arrivals",
        )) {
            assertEquals(expect, assertFailsWith<IllegalArgumentException>(plan) { Plan.of(plan) }.message)
        }
        assertEquals(mapOf("a\"é" to listOf(-1L, true, null)), Json.parse(""" {"a\"\u00e9":[-1, true,null]} """))
        assertEquals("\"a\\\"\\u000a\"", Json.quote("a\"\n"))
    }

    @Test
    fun `the process answers each command and ends with its input`() {
        val java = File(System.getProperty("java.home"), "bin/java").path
        val process = ProcessBuilder(java, "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"), "parkbench.MainKt")
            .redirectError(ProcessBuilder.Redirect.INHERIT).start()
        val answers = process.inputStream.bufferedReader()
        process.outputStream.bufferedWriter().use { commands ->
            fun ask(line: String): Map<*, *> {
                commands.write(line + "\n")
                commands.flush()
                return Json.parse(answers.readLine()) as Map<*, *>
            }
            val ready = ask(text("java-virtual", """[["IO",1000000]]""", 5))["ready"] as Map<*, *>
            assertEquals(1L, ready["warmup_runs"])
            // Anything faster cannot be the loop: the compiler has removed it.
            assertTrue(ready["iteration_ps"] as Long > 50)
            // Three readings of the clock take longer.
            assertTrue(ready["task_ps"] as Long > 1_000)
            repeat(2) {
                val measured = ask("run")["measured"] as Map<*, *>
                assertTrue(measured["makespan_ns"] as Long >= MS)
                for (name in listOf("submitted", "began", "ended")) assertEquals(5, (measured[name] as List<*>).size)
                assertContentEquals(listOf("gc_ns", "gc_count", "heap_peak_bytes", "threads_peak"), (measured["jvm"] as Map<*, *>).keys.toList())
                val readings = measured["readings"] as Map<*, *>
                assertEquals(6, readings.size)
                assertTrue((readings["resident"] as Map<*, *>)["Ok"] as Long > 0)
            }
        }
        assertTrue(process.waitFor(20, TimeUnit.SECONDS))
        assertEquals(0, process.exitValue())
    }
}

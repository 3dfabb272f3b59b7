/**
 * The bodies of tasks as coroutines, and the three places where they run: `Dispatchers.Default`, `Dispatchers.IO`, and
 * the loop of `runBlocking`.
 *
 * `io` is `delay`, `block` is `Thread.sleep`, a reentrant lock is a `Mutex`, always fair. Inside a monitor, an initialiser or native
 * code nothing can suspend, so waits there hold the thread; the monitor itself is `synchronized`.
 */
package parkbench

import kotlin.time.Duration.Companion.nanoseconds
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.async
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.delay
import kotlinx.coroutines.job
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.Semaphore
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield

internal class Coroutines(private val plan: Plan) {
    private val monitors = Array(plan.permits.size) { Any() }
    private val mutexes = Array(plan.permits.size) { Mutex() }
    private val semaphores = Array(plan.permits.size) { Semaphore(plan.permits[it]) }

    /**
     * Refuses a `Mutex` or a `Semaphore` inside a monitor: to wait for it, a body that cannot suspend has to hold its event loop, and the
     * coroutine that has it may need that loop to go on.
     */
    fun check() {
        for (steps in plan.classes) {
            val held = ArrayList<Kind>()
            for (step in steps) {
                when (step.kind) {
                    Kind.UNLOCK -> held.removeLast()
                    Kind.MONITOR, Kind.INITIALIZER, Kind.NATIVE -> held.add(step.kind)
                    Kind.REENTRANT, Kind.ACQUIRE, Kind.JOIN -> {
                        if (held.any { it != Kind.REENTRANT }) throw Refused("a Mutex, Semaphore or join inside a monitor, an initialiser or native code may hold its event loop for ever")
                        if (step.kind == Kind.REENTRANT) held.add(step.kind)
                    }
                    else -> {}
                }
            }
        }
    }

    /** Runs the first `slots.roots` tasks and what they start; nanoseconds from the first submission until the last end was seen. */
    fun run(slots: Slots, dispatcher: CoroutineDispatcher?): Long = runBlocking {
        val view = plan.parallelism?.let { dispatcher?.limitedParallelism(it) } ?: dispatcher
        val scope = if (view == null) this else CoroutineScope(coroutineContext + view)
        val run = Run(slots, scope)
        // Both are jobs; `awaitAll` would only collect results that nobody uses.
        val tasks = ArrayList<Job>(slots.roots)
        val wakes = Channel<Unit>(Channel.CONFLATED)
        slots.wake = { wakes.trySend(Unit) }
        while (!slots.allSubmitted()) {
            val task = slots.next()
            if (task != Arrivals.NOBODY) {
                tasks.add(start(run, task))
                continue
            }
            // Suspends, so that the loop goes on with the tasks that it has.
            val early = slots.early()
            when {
                early == Arrivals.NEVER -> wakes.receive()
                slots.closed -> withTimeoutOrNull(early.nanoseconds) { wakes.receive() }
                else -> delay(early.nanoseconds)
            }
        }
        // One wait for all: to join one after the other would wake this thread for many of them, on a core that they need.
        run.allEnded.join()
        tasks.joinAll()
        // Tasks that others have started and not waited for are children of this one too.
        while (true) coroutineContext.job.children.toList().ifEmpty { null }?.joinAll() ?: break
        slots.sinceFirst()
    }

    /** Where the tasks of a run are started and what they write. */
    private class Run(val slots: Slots, val scope: CoroutineScope) {
        /** Complete once every task has ended; a task that fails cancels who waits for it. */
        val allEnded = Job()

        /** Does what can hold the task up, and takes the times before and after it down where the run is traced. */
        inline fun stop(task: Int, step: Step, wait: () -> Unit) {
            slots.mark(task, step)
            wait()
            slots.mark(task, step)
        }
    }

    private fun start(run: Run, task: Int): Job {
        run.slots.submitted(task)
        return if (plan.async) run.scope.async { body(run, task) } else run.scope.launch { body(run, task) }
    }

    private suspend fun body(run: Run, task: Int) {
        run.slots.began(task)
        perform(run, task, plan.steps(task))
        if (run.slots.ended(task)) run.allEnded.complete()
    }

    private suspend fun perform(run: Run, task: Int, steps: Array<Step>) {
        var at = 0
        var own = 0
        var held: ArrayList<Mutex>? = null
        val children = ArrayList<Job>(0)
        while (at < steps.size) {
            val step = steps[at++]
            when (step.kind) {
                Kind.UNLOCK -> held!!.removeLast().unlock()
                Kind.REENTRANT -> {
                    val mutex = if (step.value < 0) Mutex() else mutexes[step.value.toInt()]
                    run.stop(task, step) { mutex.lock() }
                    (held ?: ArrayList<Mutex>().also { held = it }).add(mutex)
                }
                Kind.MONITOR, Kind.INITIALIZER, Kind.NATIVE -> {
                    val end = section(Inside(run, task, children), steps, at, own, step)
                    at = (end shr 32).toInt()
                    own = end.toInt()
                }
                Kind.ACQUIRE -> run.stop(task, step) { semaphores[step.value.toInt()].acquire() }
                Kind.RELEASE -> semaphores[step.value.toInt()].release()
                Kind.YIELD -> run.stop(task, step) { yield() }
                Kind.JOIN -> {
                    run.stop(task, step) { children.joinAll() }
                    children.clear()
                }
                else -> {
                    val value = if (step.value < 0) plan.value(task, own++) else step.value
                    when (step.kind) {
                        Kind.SPIN -> Work.spin(value)
                        Kind.CPU -> Work.compute(value)
                        Kind.IO -> run.stop(task, step) { delay(value.nanoseconds) }
                        Kind.SPAWN -> children.add(start(run, value.toInt()))
                        else -> run.stop(task, step) { Work.sleep(value) }
                    }
                }
            }
        }
    }

    /** A task inside a monitor or a frame. */
    private class Inside(val run: Run, val task: Int, val children: ArrayList<Job>)

    private fun section(inside: Inside, steps: Array<Step>, at: Int, own: Int, step: Step): Long {
        if (step.kind == Kind.INITIALIZER) return Frames.inInitialiser { holding(inside, steps, at, own) }
        if (step.kind == Kind.NATIVE) return Frames.inNativeFrame { holding(inside, steps, at, own) }
        val monitor = if (step.value < 0) Any() else monitors[step.value.toInt()]
        inside.run.slots.mark(inside.task, step)
        return synchronized(monitor) {
            inside.run.slots.mark(inside.task, step)
            holding(inside, steps, at, own)
        }
    }

    /** The steps inside a monitor or a frame, up to the `unlock` that closes it; all of them hold the thread. */
    private fun holding(inside: Inside, steps: Array<Step>, from: Int, firstOwn: Int): Long {
        var at = from
        var own = firstOwn
        while (at < steps.size) {
            val step = steps[at++]
            when (step.kind) {
                Kind.UNLOCK -> break
                Kind.REENTRANT, Kind.ACQUIRE, Kind.JOIN -> throw IllegalStateException("`check` refuses it inside a monitor")
                Kind.RELEASE -> semaphores[step.value.toInt()].release()
                Kind.YIELD -> inside.run.stop(inside.task, step) { Thread.yield() }
                Kind.MONITOR, Kind.INITIALIZER, Kind.NATIVE -> {
                    val end = section(inside, steps, at, own, step)
                    at = (end shr 32).toInt()
                    own = end.toInt()
                }
                else -> {
                    val value = if (step.value < 0) plan.value(inside.task, own++) else step.value
                    when (step.kind) {
                        Kind.SPIN -> Work.spin(value)
                        Kind.CPU -> Work.compute(value)
                        Kind.SPAWN -> inside.children.add(start(inside.run, value.toInt()))
                        else -> inside.run.stop(inside.task, step) { Work.sleep(value) }
                    }
                }
            }
        }
        return at.toLong() shl 32 or own.toLong()
    }

    companion object {
        val DISPATCHERS = mapOf("kotlin-default" to Dispatchers.Default, "kotlin-io" to Dispatchers.IO, "kotlin-event-loop" to null)
    }
}

/**
 * The bodies of tasks as coroutines, and the three places where they run: `Dispatchers.Default`, `Dispatchers.IO`, and
 * the loop of `runBlocking`.
 *
 * `io` is `delay`, `block` is `Thread.sleep`, a reentrant lock is a `Mutex`, always fair. Inside a monitor nothing can suspend, so
 * waits there hold the thread; the monitor itself is `synchronized`.
 */
package parkbench

import kotlin.time.Duration.Companion.nanoseconds
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.delay
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.Semaphore
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
                    Kind.MONITOR -> held.add(step.kind)
                    Kind.REENTRANT, Kind.ACQUIRE -> {
                        if (Kind.MONITOR in held) throw Refused("a Mutex or Semaphore inside a monitor may hold its event loop for ever")
                        if (step.kind == Kind.REENTRANT) held.add(step.kind)
                    }
                    else -> {}
                }
            }
        }
    }

    /** Runs the first `slots.tasks` tasks; nanoseconds from the first submission until the last end was seen. */
    fun run(slots: Slots, dispatcher: CoroutineDispatcher?): Long = runBlocking {
        val view = plan.parallelism?.let { dispatcher?.limitedParallelism(it) } ?: dispatcher
        val scope = if (view == null) this else CoroutineScope(coroutineContext + view)
        if (plan.async) {
            val tasks = ArrayList<Deferred<Unit>>(slots.tasks)
            for (task in 0 until slots.tasks) {
                submit(slots, task)
                tasks.add(scope.async { body(slots, task) })
            }
            tasks.awaitAll()
        } else {
            val tasks = ArrayList<Job>(slots.tasks)
            for (task in 0 until slots.tasks) {
                submit(slots, task)
                tasks.add(scope.launch { body(slots, task) })
            }
            tasks.joinAll()
        }
        slots.sinceFirst()
    }

    private suspend fun submit(slots: Slots, task: Int) {
        val early = slots.early(task)
        // Suspends, so that the loop goes on with the tasks that it has.
        if (early > 0) delay(early.nanoseconds)
        slots.submitted(task)
    }

    private suspend fun body(slots: Slots, task: Int) {
        slots.began(task)
        perform(task, plan.steps(task))
        slots.ended(task)
    }

    private suspend fun perform(task: Int, steps: Array<Step>) {
        var at = 0
        var own = 0
        var held: ArrayList<Mutex>? = null
        while (at < steps.size) {
            val step = steps[at++]
            when (step.kind) {
                Kind.UNLOCK -> held!!.removeLast().unlock()
                Kind.REENTRANT -> {
                    val mutex = if (step.value < 0) Mutex() else mutexes[step.value.toInt()]
                    mutex.lock()
                    (held ?: ArrayList<Mutex>().also { held = it }).add(mutex)
                }
                Kind.MONITOR -> {
                    val end = monitor(task, steps, at, own, step)
                    at = (end shr 32).toInt()
                    own = end.toInt()
                }
                Kind.ACQUIRE -> semaphores[step.value.toInt()].acquire()
                Kind.RELEASE -> semaphores[step.value.toInt()].release()
                Kind.YIELD -> yield()
                else -> {
                    val value = if (step.value < 0) plan.value(task, own++) else step.value
                    when (step.kind) {
                        Kind.SPIN -> Work.spin(value)
                        Kind.CPU -> Work.compute(value)
                        Kind.IO -> delay(value.nanoseconds)
                        else -> Work.sleep(value)
                    }
                }
            }
        }
    }

    private fun monitor(task: Int, steps: Array<Step>, at: Int, own: Int, step: Step): Long {
        val monitor = if (step.value < 0) Any() else monitors[step.value.toInt()]
        return synchronized(monitor) { holding(task, steps, at, own) }
    }

    /** The steps inside a monitor, up to the `unlock` that closes it; all of them hold the thread. */
    private fun holding(task: Int, steps: Array<Step>, from: Int, firstOwn: Int): Long {
        var at = from
        var own = firstOwn
        while (at < steps.size) {
            val step = steps[at++]
            when (step.kind) {
                Kind.UNLOCK -> break
                Kind.REENTRANT, Kind.ACQUIRE -> throw IllegalStateException("`check` refuses it inside a monitor")
                Kind.RELEASE -> semaphores[step.value.toInt()].release()
                Kind.YIELD -> Thread.yield()
                Kind.MONITOR -> {
                    val end = monitor(task, steps, at, own, step)
                    at = (end shr 32).toInt()
                    own = end.toInt()
                }
                else -> {
                    val value = if (step.value < 0) plan.value(task, own++) else step.value
                    when (step.kind) {
                        Kind.SPIN -> Work.spin(value)
                        Kind.CPU -> Work.compute(value)
                        else -> Work.sleep(value)
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

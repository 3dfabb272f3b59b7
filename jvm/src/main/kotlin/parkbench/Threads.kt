/** The bodies of tasks and the runtimes that are made of threads: pools, one thread for each task, virtual threads. */
package parkbench

import java.util.concurrent.Executor
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.Semaphore
import java.util.concurrent.SynchronousQueue
import java.util.concurrent.ThreadPoolExecutor
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock

internal class Threads(private val plan: Plan, private val virtual: Boolean) {
    private val monitors = Array(plan.permits.size) { Any() }
    private val locks = Array(plan.permits.size) { ReentrantLock(plan.fair[it]) }
    private val semaphores = Array(plan.permits.size) { Semaphore(plan.permits[it], plan.fair[it]) }

    /** Runs the first `slots.roots` tasks and what they start; nanoseconds from the first submission until the last end was seen. */
    fun run(slots: Slots, executor: () -> ExecutorService): Long {
        val threads = executor()
        try {
            slots.submitAll { submit(slots, it, threads) }
            return slots.awaitAll().also { threads.close() }
        } finally {
            // After a failure nobody waits for the tasks that are left.
            threads.shutdownNow()
        }
    }

    /** As [run], with a new platform thread for each task. */
    fun runThreadPerTask(slots: Slots): Long {
        val threads = Executor { Thread(it).start() }
        slots.submitAll { submit(slots, it, threads) }
        return slots.awaitAll()
    }

    /** Hands the task over; its end opens `parent`'s count. */
    private fun submit(slots: Slots, task: Int, threads: Executor, parent: Children? = null) {
        slots.submitted(task)
        try {
            threads.execute { body(slots, task, threads, parent) }
        } catch (_: RejectedExecutionException) {
            slots.rejected(task)
            parent?.ended()
        } catch (error: OutOfMemoryError) {
            throw Refused("task ${task + 1} of ${plan.tasks} got no thread: ${error.message}")
        }
    }

    private fun body(slots: Slots, task: Int, threads: Executor, parent: Children?) {
        try {
            slots.began(task)
            perform(Body(slots, task, threads), plan.steps(task), 0, 0)
            slots.ended(task)
            parent?.ended()
        } catch (error: Throwable) {
            slots.failed(error)
        }
    }

    /** A task under way. */
    private class Body(val slots: Slots, val task: Int, val threads: Executor) {
        /** What it has started. */
        val children by lazy(LazyThreadSafetyMode.NONE) { Children() }

        /** Does what can hold the task up, and takes the times before and after it down where the run is traced. */
        inline fun stop(step: Step, wait: () -> Unit) {
            slots.mark(task, step)
            wait()
            slots.mark(task, step)
        }
    }

    /** Counts the tasks that one task has started and that have not ended. */
    private class Children {
        private val lock = ReentrantLock()
        private val none = lock.newCondition()
        private var open = 0

        fun started() = lock.withLock { open++ }

        fun ended() = lock.withLock { if (--open == 0) none.signalAll() }

        fun join() = lock.withLock { while (open > 0) none.await() }
    }

    /**
     * Performs the steps from `from` to the end or to the `unlock` that closes this section; locks are given back in
     * reverse order, so a section is a call. Returns the next step and the next own value, packed into one number.
     */
    private fun perform(body: Body, steps: Array<Step>, from: Int, firstOwn: Int): Long {
        var at = from
        var own = firstOwn
        while (at < steps.size) {
            val step = steps[at++]
            when (step.kind) {
                Kind.UNLOCK -> return at.toLong() shl 32 or own.toLong()
                Kind.MONITOR, Kind.REENTRANT, Kind.INITIALIZER, Kind.NATIVE -> {
                    val end = section(body, steps, at, own, step)
                    at = (end shr 32).toInt()
                    own = end.toInt()
                }
                Kind.ACQUIRE -> body.stop(step) { semaphores[step.value.toInt()].acquire() }
                Kind.RELEASE -> semaphores[step.value.toInt()].release()
                Kind.YIELD -> body.stop(step) { Thread.yield() }
                Kind.JOIN -> body.stop(step) { body.children.join() }
                else -> {
                    val value = if (step.value < 0) plan.value(body.task, own++) else step.value
                    when (step.kind) {
                        Kind.SPIN -> Work.spin(value)
                        Kind.CPU -> Work.compute(value)
                        Kind.IO -> body.stop(step) { Work.sleep(value) }
                        Kind.SPAWN -> {
                            body.children.started()
                            submit(body.slots, value.toInt(), body.threads, body.children)
                        }
                        else -> body.stop(step) { if (virtual) Work.hold(value) else Work.sleep(value) }
                    }
                }
            }
        }
        return at.toLong() shl 32 or own.toLong()
    }

    private fun section(body: Body, steps: Array<Step>, at: Int, own: Int, step: Step): Long {
        if (step.kind == Kind.INITIALIZER) return Frames.inInitialiser { perform(body, steps, at, own) }
        if (step.kind == Kind.NATIVE) return Frames.inNativeFrame { perform(body, steps, at, own) }
        if (step.kind == Kind.MONITOR) {
            val monitor = if (step.value < 0) Any() else monitors[step.value.toInt()]
            body.slots.mark(body.task, step)
            return synchronized(monitor) {
                body.slots.mark(body.task, step)
                perform(body, steps, at, own)
            }
        }
        val lock = if (step.value < 0) ReentrantLock() else locks[step.value.toInt()]
        body.stop(step) { lock.lock() }
        try {
            return perform(body, steps, at, own)
        } finally {
            lock.unlock()
        }
    }

    companion object {
        /** A pool of so many threads whose queue has this capacity, or any; one without a queue and of any number of threads is cached. */
        fun pool(size: Int, capacity: Int?, callerRuns: Boolean): ExecutorService = when {
            capacity == null -> Executors.newFixedThreadPool(size)
            size == Int.MAX_VALUE -> Executors.newCachedThreadPool()
            else -> {
                // That of a fixed pool, but bounded.
                val queue = if (capacity == 0) SynchronousQueue<Runnable>() else LinkedBlockingQueue(capacity)
                val handler = if (callerRuns) ThreadPoolExecutor.CallerRunsPolicy() else ThreadPoolExecutor.AbortPolicy()
                ThreadPoolExecutor(size, size, 0L, TimeUnit.MILLISECONDS, queue, handler)
            }
        }

        fun virtual(): ExecutorService = Executors.newVirtualThreadPerTaskExecutor()
    }
}

/** Something that this machine does not allow; the message says what. */
internal class Refused(message: String) : Exception(message)

/** When each task was submitted, began and ended: three arrays of nanoseconds, -1 for not yet, written without locks. */
package parkbench

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.locks.LockSupport

/** The slots of the first `roots` tasks of a plan, and of all that they start. */
internal class Slots(private val plan: Plan, val roots: Int, val marks: Marks? = null) {
    private val origin = System.nanoTime()
    val submitted = LongArray(plan.tasks) { ABSENT }
    val began = LongArray(plan.tasks) { ABSENT }
    val ended = LongArray(plan.tasks) { ABSENT }
    private val remaining = AtomicInteger(plan.family(roots))
    private val done = CountDownLatch(1)
    private val arrivals = Arrivals(plan, roots)

    /** Lets the submitter look again; set by it where tasks arrive because others have ended. */
    @Volatile
    var wake: () -> Unit = {}

    @Volatile
    private var failure: Throwable? = null

    private fun now() = System.nanoTime() - origin

    fun submitted(task: Int) {
        submitted[task] = now()
    }

    fun began(task: Int) {
        val now = now()
        began[task] = now
        marks?.take(task, now)
    }

    /** The task is about to take a step that can hold it up, or has taken it. */
    fun mark(task: Int, step: Step) {
        if (marks != null && step.stops) marks.take(task, now())
    }

    /** The task has ended; whether it is the last. */
    fun ended(task: Int): Boolean {
        val now = now()
        ended[task] = now
        marks?.take(task, now)
        if (arrivals.closed && arrivals.ended(task, now - submitted[0])) wake()
        val last = remaining.decrementAndGet() == 0
        if (last) done.countDown()
        return last
    }

    /** The pool has refused the task: it will not begin, and nobody waits for what it would have started. */
    fun rejected(task: Int) {
        if (arrivals.closed && arrivals.ended(task, sinceFirst())) wake()
        if (remaining.addAndGet(-plan.familyOf(task)) == 0) done.countDown()
    }

    /** The task's body has thrown: the run is over. */
    fun failed(error: Throwable) {
        failure = error
        done.countDown()
        wake()
    }

    /** Whether tasks arrive because others have ended. */
    val closed: Boolean get() = arrivals.closed

    /** Whether there is nothing more to hand over. */
    fun allSubmitted(): Boolean = arrivals.done() || failure != null

    /** The next task to hand over; [Arrivals.NOBODY] where none is due yet. */
    fun next(): Int = arrivals.next(::sinceFirst)

    /** After [next] has said nobody: how many nanoseconds are left until a task is due; [Arrivals.NEVER] where the end of another decides that. */
    fun early(): Long {
        val due = arrivals.due()
        return if (due == Arrivals.NEVER) due else due - sinceFirst()
    }

    /** Hands every task over when it is due; in between it holds the submitter's thread, which is this one. */
    inline fun submitAll(submit: (task: Int) -> Unit) {
        val submitter = Thread.currentThread()
        wake = { LockSupport.unpark(submitter) }
        while (!allSubmitted()) {
            val task = next()
            if (task != Arrivals.NOBODY) submit(task) else park()
        }
    }

    private fun park() {
        val early = early()
        if (early == Arrivals.NEVER) LockSupport.park() else LockSupport.parkNanos(early)
    }

    /** Waits for the last task; nanoseconds since the first submission. */
    fun awaitAll(): Long {
        done.await()
        val end = sinceFirst()
        failure?.let { throw IllegalStateException("a task failed: $it", it) }
        return end
    }

    /** Nanoseconds since the first submission; 0 before it. */
    fun sinceFirst(): Long = if (submitted[0] == ABSENT) 0 else now() - submitted[0]

    companion object {
        /** Stands for "not yet". */
        const val ABSENT = -1L

        private const val COST_TASKS = 100_000
        private const val COST_ROUNDS = 5

        /** Picoseconds to note the times of one task, on this thread: the best of some rounds, after the compiler has had its time. */
        fun costPs(plan: Plan): Long {
            val slots = Slots(plan, plan.roots)
            var best = Long.MAX_VALUE
            repeat(COST_ROUNDS) {
                var noted = 0
                val begin = System.nanoTime()
                while (noted < COST_TASKS) {
                    for (task in 0 until plan.tasks) {
                        slots.submitted(task)
                        slots.began(task)
                        slots.ended(task)
                    }
                    noted += plan.tasks
                }
                best = minOf(best, (System.nanoTime() - begin) * 1_000L / noted)
            }
            return best
        }
    }
}

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
        val last = remaining.decrementAndGet() == 0
        if (last) done.countDown()
        return last
    }

    /** The pool has refused the task: it will not begin, and nobody waits for what it would have started. */
    fun rejected(task: Int) {
        if (remaining.addAndGet(-plan.familyOf(task)) == 0) done.countDown()
    }

    /** The task's body has thrown: the run is over. */
    fun failed(error: Throwable) {
        failure = error
        done.countDown()
    }

    /** How many nanoseconds are left until the task is due; the first is due at once. */
    fun early(task: Int): Long = if (plan.due[task] == 0L) 0 else submitted[0] + plan.due[task] - now()

    /** Holds the submitter's thread until the task is due. */
    fun awaitDue(task: Int) {
        while (true) {
            val early = early(task)
            if (early <= 0) return
            LockSupport.parkNanos(early)
        }
    }

    /** Waits for the last task; nanoseconds since the first submission. */
    fun awaitAll(): Long {
        done.await()
        val end = sinceFirst()
        failure?.let { throw IllegalStateException("a task failed: $it", it) }
        return end
    }

    fun sinceFirst(): Long = now() - submitted[0]

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

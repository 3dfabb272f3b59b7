/** What the submitter is to hand over next, and when: times that are known, or in a closed loop the ends of tasks. Nothing here waits. */
package parkbench

import java.util.PriorityQueue

/** One closed loop: each user sends the next task a while after the last one has ended. */
internal class ClosedLoop(
    val users: Int,
    /** When the users send their first tasks, in nanoseconds after the first submission. */
    val due: Long,
    /** Its tasks, in the order in which they are sent. */
    val tasks: IntArray,
    /** For each of them how long its user thinks before, in nanoseconds. */
    val think: LongArray,
)

/** The arrivals of the first `roots` tasks of a plan. */
internal class Arrivals(plan: Plan, private val roots: Int) {
    /** What is still to be sent of one closed loop. */
    private class Course(loop: ClosedLoop, roots: Int) {
        /** Those of its tasks that are among the first. */
        private val tasks = loop.tasks.filter { it < roots }
        private val think = loop.think
        /** When the users that have thought of their next task send it. */
        private val sends = PriorityQueue<Long>()
        private var sent = 0
        private var released = minOf(loop.users, tasks.size)

        init {
            repeat(released) { sends.add(loop.due) }
        }

        val due: Long get() = sends.peek() ?: NEVER

        /** Its next task, where one is due. */
        val first: Int get() = tasks[sent]

        fun send(): Int {
            sends.remove()
            return tasks[sent++]
        }

        fun ended(now: Long) {
            if (released < tasks.size) sends.add(now + think[released++])
        }
    }

    private val courses = plan.loops.map { Course(it, roots) }
    /** The loop of each task that has one; the others are known beforehand. */
    private val courseOf = arrayOfNulls<Course>(if (courses.isEmpty()) 0 else roots).also { all ->
        for ((course, loop) in courses.zip(plan.loops)) for (task in loop.tasks) if (task < roots) all[task] = course
    }
    private val known = plan.due
    private var next = 0
    private var left = roots
    /** Until when the submitter waits; an arrival before that has to wake it. */
    private var waitsUntil = 0L

    /** Whether tasks arrive because others have ended. */
    val closed: Boolean get() = courses.isNotEmpty()

    /** The next task, if it is due by `now`, which counts from the first submission; otherwise [NOBODY], and [due] says when to ask again. */
    inline fun next(now: () -> Long): Int {
        // Reading the clock costs more than the rest.
        if (!closed) return if (known[next] == 0L || known[next] <= now()) next++ else NOBODY
        return nextOfAll(now())
    }

    private fun nextOfAll(now: Long): Int = synchronized(this) {
        while (next < roots && courseOf[next] != null) next++
        val ofKnown = if (next < roots) known[next] else NEVER
        // At one time they come in the order of their numbers.
        val course = courses.minWith(compareBy({ it.due }, { if (it.due == NEVER) NOBODY else it.first }))
        val due = minOf(ofKnown, course.due)
        if (due > now) {
            waitsUntil = due
            return NOBODY
        }
        waitsUntil = 0
        left--
        if (course.due > due || ofKnown == due && next < course.first) next++ else course.send()
    }

    /** When the next task is due, counted from the first submission; [NEVER] where that depends on the end of another. */
    fun due(): Long = if (closed) synchronized(this) { waitsUntil } else known[next]

    /** Whether every task has been handed over. */
    fun done(): Boolean = if (closed) left == 0 else next == roots

    /** The task has ended at `now`, or never begins; whether the submitter waits for longer than it should. */
    fun ended(task: Int, now: Long): Boolean {
        val course = if (closed && task < roots) courseOf[task] else null
        if (course == null) return false
        synchronized(this) {
            course.ended(now)
            val wakes = course.due < waitsUntil
            // Once is enough.
            if (wakes) waitsUntil = 0
            return wakes
        }
    }

    companion object {
        /** No task. */
        const val NOBODY = -1
        /** No time. */
        const val NEVER = Long.MAX_VALUE
    }
}

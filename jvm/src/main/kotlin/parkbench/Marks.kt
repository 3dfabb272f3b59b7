/**
 * The times at which each task began, waited, went on and ended, each with its thread, taken down by the task itself.
 *
 * Every task has its own stretch of two arrays, so nothing is locked; the program that reads them knows from the plan what
 * each time means.
 */
package parkbench

import java.lang.invoke.MethodHandle
import java.lang.invoke.MethodHandles
import java.lang.invoke.MethodType
import java.util.IdentityHashMap

internal class Marks(plan: Plan) {
    private val offsets = IntArray(plan.tasks + 1)
    private val taken = IntArray(plan.tasks)
    private val times: LongArray
    private val threads: Array<Thread?>

    init {
        val counts = IntArray(plan.classes.size) { 2 + 2 * plan.classes[it].count { step -> step.stops } }
        for (task in 0 until plan.tasks) offsets[task + 1] = offsets[task] + counts[plan.classOf[task]]
        times = LongArray(offsets[plan.tasks])
        threads = arrayOfNulls(times.size)
    }

    /** Takes this time down for the task, on the present thread; a task is on one thread at a time. */
    fun take(task: Int, now: Long) {
        val place = offsets[task] + taken[task]
        if (place == offsets[task + 1]) return
        taken[task]++
        times[place] = now
        threads[place] = carrier()
    }

    /** The times of every task, one task after the other, and the threads, as members of a JSON object. */
    fun write(out: StringBuilder) {
        val numbers = IdentityHashMap<Thread, Int>()
        val names = ArrayList<String>()
        val places = (0 until taken.size).asSequence().flatMap { offsets[it] until offsets[it] + taken[it] }
        taken.joinTo(out, ",", "\"taken\":[", "]")
        places.joinTo(out, ",", ",\"times\":[", "]") { times[it].toString() }
        places.joinTo(out, ",", ",\"threads\":[", "]") {
            val thread = threads[it]!!
            numbers.getOrPut(thread) { names.add(thread.name); names.size - 1 }.toString()
        }
        names.joinTo(out, ",", ",\"names\":[", "]") { Json.quote(it) }
    }

    companion object {
        private const val COST_MARKS = 1_000_000

        /** `Thread.currentCarrierThread`, where the JVM was started so that it can be called. */
        private val CARRIER: MethodHandle? = try {
            val lookup = MethodHandles.privateLookupIn(Thread::class.java, MethodHandles.lookup())
            lookup.findStatic(Thread::class.java, "currentCarrierThread", MethodType.methodType(Thread::class.java))
        } catch (_: ReflectiveOperationException) {
            null
        }

        /** The thread that a virtual thread is on; the thread itself where that cannot be had, and for one that is not virtual. */
        private fun carrier(): Thread {
            val thread = Thread.currentThread()
            return if (!thread.isVirtual || CARRIER == null) thread else CARRIER.invoke() as Thread
        }

        /** Picoseconds to read the clock and to take the time down, on this thread, after the compiler has had its time. */
        fun costPs(): Long {
            val times = LongArray(1 shl 10)
            val threads = arrayOfNulls<Thread>(1 shl 10)
            var best = Long.MAX_VALUE
            repeat(3) {
                val begin = System.nanoTime()
                for (mark in 0 until COST_MARKS) {
                    val place = mark and (1 shl 10) - 1
                    times[place] = System.nanoTime() - begin
                    threads[place] = carrier()
                }
                best = minOf(best, System.nanoTime() - begin)
            }
            return best * 1_000L / COST_MARKS
        }
    }
}

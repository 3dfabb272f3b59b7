/** Real computation, and waits that hold the thread. */
package parkbench

import java.lang.foreign.FunctionDescriptor
import java.lang.foreign.Linker
import java.lang.foreign.ValueLayout
import java.lang.invoke.MethodHandle

internal object Work {
    private const val LONGEST_LOOP = 1_000_000_000L

    /** Iterations between two looks at the clock: they take less than a look does. */
    private const val CHUNK = 16

    /** Nanoseconds between two looks that are counted at most: a thread that was away for longer did not compute. */
    private const val AWAY = 3_000L

    @JvmField
    @Volatile
    var sink = 0L

    /** Picoseconds for one iteration of [spin], measured by [calibrate]. */
    @Volatile
    var iterationPs = 300L

    /** Computes for so many iterations. */
    @JvmStatic
    fun spin(iterations: Long) {
        var left = iterations
        while (left > LONGEST_LOOP) {
            loop(LONGEST_LOOP.toInt())
            left -= LONGEST_LOOP
        }
        loop(left.toInt())
    }

    /**
     * The loop of the published benchmark, `sum += i * i` over an `int`: over a `long` the compiler makes half as much
     * again of it.
     */
    @JvmStatic
    private fun loop(iterations: Int) {
        var sum = 0L
        var i = 0
        while (i < iterations) {
            sum += i.toLong() * i
            i++
        }
        // Keeps the loop: its result is used, and no compiler knows by whom.
        if (sum == 42L) sink = sum
    }

    /**
     * Computes until so many nanoseconds have passed on a core, to a few tens of nanoseconds; not for so many
     * iterations, for what a core does in a microsecond changes with what its neighbours do.
     */
    @JvmStatic
    fun compute(nanos: Long) {
        var left = nanos
        var last = System.nanoTime()
        while (left > 0L) {
            loop(CHUNK)
            val now = System.nanoTime()
            val took = minOf(now - last, AWAY)
            last = now
            // The end is at the nearest look.
            left = if (left > took / 2L) left - took else 0L
        }
    }

    /** Lets the compiler see both ways to compute. */
    fun warmUp() {
        calibrate()
        repeat(1_000) { compute(20_000L) }
    }

    /** The fastest of many blocks, after the compiler has had its time. */
    fun calibrate() {
        val block = 100_000L
        var best = Long.MAX_VALUE
        val end = System.nanoTime() + 150_000_000L
        while (System.nanoTime() < end) {
            val begin = System.nanoTime()
            spin(block)
            best = minOf(best, System.nanoTime() - begin)
        }
        iterationPs = maxOf(1L, best * 1_000L / block)
    }

    private val usleep: MethodHandle? = if (Runtime.version().feature() < 22) null else {
        val linker = Linker.nativeLinker()
        linker.defaultLookup().find("usleep").map {
            linker.downcallHandle(it, FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT))
        }.orElse(null)
    }

    /**
     * Waits in a way that a virtual thread cannot give its carrier away in: a native call, which the scheduler does not
     * see. Before JDK 22, which has no native calls without preview features, a sleep inside a monitor, which pins there.
     */
    @JvmStatic
    fun hold(nanos: Long) {
        val call = usleep
        if (call == null) {
            synchronized(Any()) { sleep(nanos) }
            return
        }
        val end = System.nanoTime() + nanos
        while (true) {
            val left = end - System.nanoTime()
            if (left <= 0) return
            val micros = minOf(900_000L, (left + 999L) / 1_000L).toInt()
            call.invoke(micros)
        }
    }

    /** `Thread.sleep` to the nanosecond. */
    @JvmStatic
    fun sleep(nanos: Long) = Thread.sleep(nanos / 1_000_000L, (nanos % 1_000_000L).toInt())
}

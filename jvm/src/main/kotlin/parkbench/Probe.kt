/** What the JVM and the operating system say about this process. A figure that cannot be had is absent with its reason. */
package parkbench

import java.lang.foreign.Arena
import java.lang.foreign.FunctionDescriptor
import java.lang.foreign.Linker
import java.lang.foreign.MemorySegment
import java.lang.foreign.ValueLayout
import java.lang.management.ManagementFactory
import java.lang.management.MemoryType
import java.nio.file.Files
import java.nio.file.Path

/** A figure, or why there is none. */
internal class Reading(val value: Long?, val reason: String = "") {
    override fun toString() = if (value != null) "{\"Ok\":$value}" else "{\"Err\":${Json.quote(reason)}}"

    companion object {
        inline fun of(what: String, read: () -> Long): Reading = try {
            Reading(read())
        } catch (error: Exception) {
            Reading(null, "$what: ${error.message ?: error}")
        }

        fun change(before: Reading, after: Reading): Reading =
            if (before.value != null && after.value != null) Reading(maxOf(0L, after.value - before.value))
            else if (after.value == null) after else before
    }
}

/** Readings before a run, to be compared with those after it. */
internal class Probe {
    private val usage: Usage
    private val gcNs: Long
    private val gcRuns: Long
    private val resident: Reading

    init {
        // Sets the peak back to the present resident set, where that is allowed.
        runCatching { Files.writeString(Path.of("/proc/self/clear_refs"), "5") }
        ManagementFactory.getMemoryPoolMXBeans().forEach { it.resetPeakUsage() }
        ManagementFactory.getThreadMXBean().resetPeakThreadCount()
        resident = status("VmRSS")
        gcNs = gcTime()
        gcRuns = gcCount()
        usage = Usage.read()
    }

    /** The fields of the outcome that this probe knows. */
    fun finish(): String {
        val after = Usage.read()
        val peak = status("VmHWM")
        val heap = ManagementFactory.getMemoryPoolMXBeans().filter { it.type == MemoryType.HEAP }.sumOf { it.peakUsage.used }
        val readings = mapOf(
            "resident" to peak,
            "resident_growth" to Reading.change(resident, peak),
            "reserved" to status("VmPeak"),
            "voluntary_switches" to Reading.change(usage.voluntary, after.voluntary),
            "involuntary_switches" to Reading.change(usage.involuntary, after.involuntary),
            "cpu_ns" to Reading.change(usage.cpuNs, after.cpuNs),
        )
        val threads = ManagementFactory.getThreadMXBean().peakThreadCount
        return "\"readings\":${readings.entries.joinToString(",", "{", "}") { "\"${it.key}\":${it.value}" }}," +
            "\"jvm\":{\"gc_ns\":${gcTime() - gcNs},\"gc_count\":${gcCount() - gcRuns},\"heap_peak_bytes\":$heap," +
            "\"threads_peak\":$threads}"
    }

    private fun gcTime() = ManagementFactory.getGarbageCollectorMXBeans().sumOf { maxOf(0, it.collectionTime) } * 1_000_000L

    private fun gcCount() = ManagementFactory.getGarbageCollectorMXBeans().sumOf { maxOf(0, it.collectionCount) }

    private fun status(key: String): Reading = Reading.of("/proc/self/status has no $key") {
        val line = Files.readAllLines(Path.of("/proc/self/status")).first { it.startsWith("$key:") }
        line.filter(Char::isDigit).toLong() * 1_024
    }
}

/** `getrusage(RUSAGE_SELF)`: all threads, those that have ended too. */
private class Usage(val cpuNs: Reading, val voluntary: Reading, val involuntary: Reading) {
    companion object {
        private val getrusage = if (Runtime.version().feature() < 22) null else {
            val linker = Linker.nativeLinker()
            linker.defaultLookup().find("getrusage").map {
                linker.downcallHandle(it, FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS))
            }.orElse(null)
        }
        private val record: MemorySegment? = if (getrusage == null) null else Arena.global().allocate(144, 8)

        fun read(): Usage {
            val call = getrusage
            val record = record
            if (call == null || record == null) {
                val absent = Reading(null, "getrusage: the JVM cannot call it before JDK 22")
                return Usage(absent, absent, absent)
            }
            call.invoke(0, record)
            // struct rusage on 64-bit Linux: two struct timeval, then 14 longs; the last two count context switches.
            fun long(index: Long) = record.getAtIndex(ValueLayout.JAVA_LONG, index)
            val cpu = (long(0) + long(2)) * 1_000_000_000L + (long(1) + long(3)) * 1_000L
            return Usage(Reading(cpu), Reading(long(16)), Reading(long(17)))
        }
    }
}

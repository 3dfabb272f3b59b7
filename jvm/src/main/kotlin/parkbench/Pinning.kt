/**
 * How often a virtual thread was pinned, counted by the flight recorder in a run of its own: its times are not used, so
 * the recorder costs the measured runs nothing.
 */
package parkbench

import java.nio.file.Files
import java.time.Duration
import jdk.jfr.Recording
import jdk.jfr.consumer.RecordingFile

internal object Pinning {
    /** Events `jdk.VirtualThreadPinned` of any length during the run. */
    fun count(run: () -> Unit): Long {
        val file = Files.createTempFile("parkbench", ".jfr")
        try {
            Recording().use { recording ->
                recording.enable("jdk.VirtualThreadPinned").withThreshold(Duration.ZERO).withoutStackTrace()
                recording.start()
                run()
                recording.stop()
                recording.dump(file)
            }
            return RecordingFile(file).use { events ->
                var count = 0L
                while (events.hasMoreEvents()) if (events.readEvent().eventType.name == "jdk.VirtualThreadPinned") count++
                count
            }
        } finally {
            Files.deleteIfExists(file)
        }
    }
}

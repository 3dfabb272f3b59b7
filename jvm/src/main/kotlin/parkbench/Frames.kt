/** Frames from which no JDK can unmount a virtual thread (T-15), around a section of steps: the initialiser of a class, and native code. */
package parkbench

import java.lang.foreign.Arena
import java.lang.foreign.FunctionDescriptor
import java.lang.foreign.Linker
import java.lang.foreign.MemorySegment
import java.lang.foreign.ValueLayout
import java.lang.invoke.MethodHandle
import java.lang.invoke.MethodHandles
import java.lang.invoke.MethodType

internal object Frames {
    /** What the frame that this thread is about to enter runs; it never throws, for an exception out of native code ends the JVM. */
    private val section = ThreadLocal<() -> Unit>()

    /** Called inside the frame. */
    @JvmStatic
    fun enter() = section.get()()

    /** Runs `body` in the initialiser of a class of its own. */
    fun <T> inInitialiser(body: () -> T): T = inFrame(body) { lookup.defineHiddenClass(bytes, true) }

    /** Runs `body` in a call from native code; needs Java 22. */
    fun <T> inNativeFrame(body: () -> T): T = inFrame(body) { native.call() }

    private inline fun <T> inFrame(noinline body: () -> T, frame: () -> Unit): T {
        val outer = section.get()
        var result: Result<T>? = null
        section.set { result = runCatching(body) }
        try {
            frame()
        } finally {
            section.set(outer)
        }
        return result!!.getOrThrow()
    }

    private val lookup = MethodHandles.lookup()
    private val bytes: ByteArray by lazy {
        Frames::class.java.getResourceAsStream("Initialised.class")!!.use { it.readAllBytes() }
    }

    /** `bsearch` in one element calls its comparison once. */
    private class Native {
        private val linker = Linker.nativeLinker()
        private val bsearch: MethodHandle = linker.downcallHandle(
            linker.defaultLookup().find("bsearch").get(),
            FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS),
        )
        private val element: MemorySegment = Arena.global().allocate(8L)
        private val compare: MemorySegment = linker.upcallStub(
            lookup.findStatic(Frames::class.java, "compare", MethodType.methodType(Int::class.java, MemorySegment::class.java, MemorySegment::class.java)),
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS),
            Arena.global(),
        )

        fun call() {
            bsearch.invoke(element, element, 1L, 8L, compare)
        }
    }

    private val native by lazy { Native() }

    @JvmStatic
    @Suppress("unused", "UNUSED_PARAMETER") // Native code calls it.
    fun compare(left: MemorySegment, right: MemorySegment): Int {
        enter()
        return 0
    }
}

/**
 * The workloads of the seeds as coroutines on a dispatcher or in the loop of `runBlocking`, in a program that does nothing
 * else, to hold `parkbench measure` against: `default|io|loop io|cpu|high|agents TASKS REPETITIONS WARM_UP_MS`
 *
 * Prints the total of each repetition in nanoseconds. It shares no code with parkbench; `cargo xtask agreement` builds it
 * with the versions of Kotlin and coroutines that the runner has, and runs both in turn.
 */
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.random.Random
import kotlin.system.exitProcess
import kotlin.system.measureNanoTime
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking

fun main(args: Array<String>) {
    if (args.size != 5) {
        System.err.println("usage: default|io|loop io|cpu|high|agents TASKS REPETITIONS WARM_UP_MS")
        exitProcess(2)
    }
    val (place, workload, tasks, reps, warmUp) = args
    val random = Random(1)
    val waits = LongArray(tasks.toInt()) {
        when (workload) {
            "agents" -> 2_000 + random.nextLong(200)
            "high" -> 1
            else -> 50
        }
    }
    val context = when (place) {
        "default" -> Dispatchers.Default
        "io" -> Dispatchers.IO
        // That of `runBlocking`.
        else -> EmptyCoroutineContext
    }
    val run = { if (workload == "cpu") computing(context, waits.size) else waiting(context, waits) }
    // So that the compiler has seen the code.
    val end = System.nanoTime() + warmUp.toLong() * 1_000_000
    while (System.nanoTime() < end) run()
    repeat(reps.toInt()) { println(run()) }
}

fun waiting(context: CoroutineContext, waits: LongArray): Long = runBlocking {
    measureNanoTime {
        waits.map { async(context) { delay(it) } }.awaitAll()
    }
}

fun computing(context: CoroutineContext, tasks: Int): Long = runBlocking {
    measureNanoTime {
        List(tasks) { async(context) { compute() } }.awaitAll()
    }
}

fun compute(): Long {
    var sum = 0L
    for (i in 0 until 100_000) sum += i.toLong() * i
    return sum
}

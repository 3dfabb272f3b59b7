// The four workloads of the seeds in a program that does nothing else, to hold `parkbench measure` against:
//
//   java jvm/examples/Minimal.java pool|virtual THREADS io|cpu|high|agents TASKS REPETITIONS
//
// Prints the total of each repetition and their median, in milliseconds. It shares no code with parkbench.

import java.util.ArrayList;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

void main(String[] args) throws Exception {
    if (args.length != 5) {
        System.err.println("usage: java Minimal.java pool|virtual THREADS io|cpu|high|agents TASKS REPETITIONS");
        System.exit(2);
    }
    int threads = Integer.parseInt(args[1]), tasks = Integer.parseInt(args[3]), reps = Integer.parseInt(args[4]);
    long[] totals = new long[reps];
    for (int run = -3; run < reps; run++) {
        var random = new SplittableRandom(1);
        long[] waits = new long[tasks];
        Arrays.setAll(waits, i -> args[2].equals("agents") ? 2_000 + random.nextInt(200) : args[2].equals("high") ? 1 : 50);
        ExecutorService executor = args[0].equals("pool")
            ? Executors.newFixedThreadPool(threads) : Executors.newVirtualThreadPerTaskExecutor();
        var futures = new ArrayList<Future<?>>(tasks);
        long begin = System.nanoTime();
        for (int i = 0; i < tasks; i++) {
            long wait = waits[i];
            futures.add(args[2].equals("cpu") ? executor.submit(this::compute) : executor.submit(() -> {
                Thread.sleep(wait);
                return 0L;
            }));
        }
        for (var future : futures) {
            future.get();
        }
        long total = System.nanoTime() - begin;
        executor.shutdown();
        // The first three let the compiler see the code.
        if (run >= 0) {
            totals[run] = total;
            System.out.printf("%.2f ms%n", total / 1e6);
        }
    }
    Arrays.sort(totals);
    System.out.printf("median %.2f ms%n", totals[reps / 2] / 1e6);
}

Long compute() {
    long sum = 0;
    for (int i = 0; i < 100_000; i++) {
        sum += (long) i * i;
    }
    return sum;
}

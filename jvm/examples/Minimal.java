// The workloads of the seeds in a program that does nothing else, to hold `parkbench measure` against:
//
//   java jvm/examples/Minimal.java pool|threads|virtual THREADS io|cpu|high|agents TASKS REPETITIONS WARM_UP_MS
//
// Prints the total of each repetition in nanoseconds. It shares no code with parkbench; `cargo xtask agreement` runs
// both in turn. How many carriers virtual threads have is -Djdk.virtualThreadScheduler.parallelism.

import java.util.ArrayList;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class Minimal {
    public static void main(String[] args) throws Exception {
        if (args.length != 6) {
            System.err.println("usage: java Minimal.java pool|threads|virtual THREADS io|cpu|high|agents TASKS REPETITIONS WARM_UP_MS");
            System.exit(2);
        }
        int threads = Integer.parseInt(args[1]), tasks = Integer.parseInt(args[3]), reps = Integer.parseInt(args[4]);
        long warmUp = Long.parseLong(args[5]) * 1_000_000;
        var random = new SplittableRandom(1);
        long[] waits = new long[tasks];
        Arrays.setAll(waits, i -> switch (args[2]) {
            case "agents" -> 2_000 + random.nextInt(200);
            case "high" -> 1;
            default -> 50;
        });
        // So that the compiler has seen the code.
        long begin = System.nanoTime();
        while (System.nanoTime() - begin < warmUp) {
            run(args[0], threads, args[2].equals("cpu"), waits);
        }
        for (int rep = 0; rep < reps; rep++) {
            System.out.println(run(args[0], threads, args[2].equals("cpu"), waits));
        }
    }

    static long run(String kind, int threads, boolean compute, long[] waits) throws Exception {
        ExecutorService executor = switch (kind) {
            case "pool" -> Executors.newFixedThreadPool(threads);
            case "threads" -> Executors.newThreadPerTaskExecutor(Executors.defaultThreadFactory());
            default -> Executors.newVirtualThreadPerTaskExecutor();
        };
        var futures = new ArrayList<Future<?>>(waits.length);
        long begin = System.nanoTime();
        for (long wait : waits) {
            Callable<Long> task = compute ? Minimal::compute : () -> {
                Thread.sleep(wait);
                return 0L;
            };
            futures.add(executor.submit(task));
        }
        for (var future : futures) {
            future.get();
        }
        long total = System.nanoTime() - begin;
        executor.close();
        return total;
    }

    static Long compute() {
        long sum = 0;
        for (int i = 0; i < 100_000; i++) {
            sum += (long) i * i;
        }
        return sum;
    }
}

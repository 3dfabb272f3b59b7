"""The bare shape on SimPy: run for 2 us, wait 50 ms without a worker, run for 1 us, on 12 workers.

Prints MAKESPAN_NS WALL_NS for the number of tasks in the first argument.
"""

import sys
import time

import simpy


def task(env, workers):
    with workers.request() as request:
        yield request
        yield env.timeout(2_000)
    yield env.timeout(50_000_000)
    with workers.request() as request:
        yield request
        yield env.timeout(1_000)


start = time.perf_counter_ns()
env = simpy.Environment()
workers = simpy.Resource(env, capacity=12)
for _ in range(int(sys.argv[1])):
    env.process(task(env, workers))
env.run()
print(env.now, time.perf_counter_ns() - start)

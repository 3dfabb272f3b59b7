package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// printCosts measures what the scheduler's own work takes here, as costs of a scenario file. Others stay the profile's.
func printCosts() {
	costs := map[string]string{}
	set := func(name string, value time.Duration) {
		costs[name] = fmt.Sprintf("%d ns", max(value.Nanoseconds(), 0))
	}
	runtime.GOMAXPROCS(1)
	// By the tasks of scenarios, so that what those write down is in it. Ending a goroutine is a part of starting one.
	turn := probe(100, step{kind: stepRepeat, count: 300, steps: []step{work, {kind: stepYield}}})/300 - work.time.from
	set("go_switch", turn)
	set("go_spawn", probe(10_000, work)-work.time.from-turn)
	spawn, run := probeSpawn()
	insert, fire := probeTimers()
	set("go_timer_insert", insert-run)
	set("go_timer_fire", fire-run)
	for name, long := range map[string]time.Duration{
		"sleep_lateness_1ms": time.Millisecond, "sleep_lateness_10ms": 10 * time.Millisecond, "sleep_lateness_50ms": 50 * time.Millisecond,
	} {
		set(name, lateness(block, long, int(200*time.Millisecond/long)))
	}
	set("go_usleep", lateness(block, 20*time.Microsecond, 200))
	// Whole milliseconds, to which `epoll_wait` rounds.
	set("timer_lateness", lateness(poll, time.Millisecond, 150))
	runtime.GOMAXPROCS(2)
	set("go_unpark", probeUnpark()-spawn)
	set("thread_wake", probeWake())
	check(json.NewEncoder(os.Stdout).Encode(costs))
}

func median(values []time.Duration) time.Duration {
	slices.Sort(values)
	return values[len(values)/2]
}

// probeSpawn is what a `go` statement and the first run of a goroutine that does nothing take.
func probeSpawn() (spawn, run time.Duration) {
	const count = 10_000
	var spawns, runs []time.Duration
	for range 15 {
		var ended sync.WaitGroup
		ended.Add(count)
		start := time.Now()
		for range count {
			go ended.Done()
		}
		half := time.Now()
		ended.Wait()
		spawns = append(spawns, half.Sub(start)/count)
		runs = append(runs, time.Since(half)/count)
	}
	return median(spawns), median(runs)
}

// probeTimers is what going to sleep and waking take, with the switch.
func probeTimers() (insert, fire time.Duration) {
	const count = 10_000
	var inserts, fires []time.Duration
	for range 9 {
		var ended sync.WaitGroup
		var asleep, awake atomic.Int64
		ended.Add(count)
		start := time.Now()
		until := start.Add(60 * time.Millisecond)
		for range count {
			go func() {
				asleep.Store(int64(time.Since(start)))
				time.Sleep(time.Until(until))
				awake.CompareAndSwap(0, int64(time.Since(start)))
				ended.Done()
			}()
		}
		spawned := time.Since(start)
		// All timers are due when this has been computed.
		for asleep.Load() == 0 {
			runtime.Gosched()
		}
		for runtime.Gosched(); time.Since(start) < 70*time.Millisecond; {
		}
		first := time.Since(start)
		ended.Wait()
		inserts = append(inserts, (time.Duration(asleep.Load())-spawned)/count)
		fires = append(fires, (time.Since(start)-first)/count)
	}
	return median(inserts), median(fires)
}

// lateness is by how much a sleep is too long.
func lateness(sleep func(time.Duration), long time.Duration, times int) time.Duration {
	late := make([]time.Duration, 0, times)
	for range max(times, 5) {
		start := time.Now()
		sleep(long)
		late = append(late, time.Since(start)-long)
	}
	return median(late)
}

// work is longer than what writing down takes.
var work = step{kind: stepCPU, time: length{2 * time.Microsecond, 2 * time.Microsecond}}

// probe is what one of so many tasks takes on one P.
func probe(count int, s step) time.Duration {
	p := &plan{alone: true, roots: count, classes: []compiled{{count: count, events: 1_000, steps: []step{s}}}}
	var takes []time.Duration
	for range 9 {
		takes = append(takes, p.run().total/time.Duration(count))
	}
	return median(takes)
}

// probeUnpark is what a `go` statement takes that wakes a stopped M.
func probeUnpark() time.Duration {
	var takes []time.Duration
	for range 100 {
		time.Sleep(2 * time.Millisecond)
		var ended sync.WaitGroup
		ended.Add(1)
		start := time.Now()
		go ended.Done()
		takes = append(takes, time.Since(start))
		ended.Wait()
	}
	return median(takes)
}

// probeWake is half a round of two threads that wake each other.
func probeWake() time.Duration {
	const rounds = 300
	there, back := newPipe(), newPipe()
	go func() {
		runtime.LockOSThread()
		for range rounds {
			there.take()
			back.give()
		}
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var takes []time.Duration
	for range rounds {
		start := time.Now()
		there.give()
		back.take()
		takes = append(takes, time.Since(start)/2)
	}
	return median(takes)
}

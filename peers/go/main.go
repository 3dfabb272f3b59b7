// Program go runs a scenario file (JSON) on the real scheduler of Go and writes down which goroutine went on when.
//
// It has a small part of the scenario format: one run, classes with `count` and `at`, fixed durations. Each task is a
// goroutine that `main` starts. What it prints are lines of JSON, one for each repetition.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

type scenario struct {
	Name  string  `json:"name"`
	Tasks []class `json:"tasks"`
	Runs  []struct {
		Workers int `json:"workers"`
	} `json:"runs"`
}

type class struct {
	Count int               `json:"count"`
	At    string            `json:"at"`
	Steps []json.RawMessage `json:"steps"`
}

// result is one repetition.
type result struct {
	Version string `json:"version"`
	TotalNs int64  `json:"total_ns"`
	// Who went on to run, in order; a task that ended is `n.`. Empty where there are several Ps.
	Order []string `json:"order"`
	// [ns] When.
	Times []int64 `json:"times"`
}

func main() {
	reps := flag.Int("reps", 1, "repetitions")
	costs := flag.Bool("costs", false, "measure what the scheduler's own work costs instead")
	flag.Parse()
	// A collection would stop the goroutines.
	debug.SetGCPercent(-1)
	if *costs {
		printCosts()
		return
	}
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: go run . [-reps N] SCENARIO.json | go run . -costs")
		os.Exit(2)
	}
	text, err := os.ReadFile(flag.Arg(0))
	check(err)
	var s scenario
	check(json.Unmarshal(text, &s))
	runtime.GOMAXPROCS(s.Runs[0].Workers)
	out := json.NewEncoder(os.Stdout)
	for range *reps {
		check(out.Encode(resultOf(compile(&s).run())))
	}
}

func resultOf(d done) result {
	out := result{Version: runtime.Version(), TotalNs: d.total.Nanoseconds(), Order: []string{}, Times: []int64{}}
	for _, e := range d.events {
		name := fmt.Sprint(e.task)
		if e.end {
			name += "."
		}
		out.Order = append(out.Order, name)
		out.Times = append(out.Times, e.at.Nanoseconds())
	}
	return out
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func duration(text string) time.Duration {
	var number float64
	var unit string
	_, err := fmt.Sscanf(text, "%g %s", &number, &unit)
	check(err)
	one, err := time.ParseDuration("1" + unit)
	check(err)
	return time.Duration(number * float64(one))
}

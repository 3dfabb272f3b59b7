package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

type kind int

const (
	stepCPU kind = iota
	stepSleep
	stepBlock
	stepYield
	stepLock
	stepUnlock
	stepAcquire
	stepRelease
	stepSpawn
	stepJoin
	stepRepeat
)

type step struct {
	kind  kind
	time  length
	lock  int
	count int
	steps []step
}

type compiled struct {
	count, children, events int
	at                      time.Duration
	steps                   []step
}

type plan struct {
	classes  []compiled
	roots    int
	alone    bool // there is one P
	mutexes  []sync.Mutex
	channels []chan struct{}
}

type table struct {
	CPU    *length         `json:"cpu"`
	IO     *length         `json:"io"`
	Block  *length         `json:"block"`
	Lock   *lock           `json:"lock"`
	Unlock string          `json:"unlock"`
	Take   *lock           `json:"acquire"`
	Give   string          `json:"release"`
	Spawn  *spawn          `json:"spawn"`
	Repeat *repeat         `json:"repeat"`
	Rest   json.RawMessage `json:"-"`
}

// length is a fixed duration, or `uniform`; draws are others in every repetition.
type length struct{ from, to time.Duration }

func (l *length) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		l.from, l.to = duration(text), duration(text)
		return nil
	}
	var drawn struct {
		Uniform []string `json:"uniform"`
	}
	if err := json.Unmarshal(raw, &drawn); err != nil || len(drawn.Uniform) != 2 {
		return fmt.Errorf("a duration that this program has not got: %s", raw)
	}
	l.from, l.to = duration(drawn.Uniform[0]), duration(drawn.Uniform[1])
	return nil
}

func (l length) draw() time.Duration {
	if l.from == l.to {
		return l.from
	}
	return l.from + time.Duration(rand.Int64N(int64(l.to-l.from+1)))
}

type lock struct {
	Name    string `json:"name"`
	Permits int    `json:"permits"`
}

type spawn struct {
	Count int               `json:"count"`
	Steps []json.RawMessage `json:"steps"`
}

type repeat struct {
	Times int               `json:"times"`
	Steps []json.RawMessage `json:"steps"`
}

type compiler struct {
	locks, channels map[string]int
	permits         []int
}

func compile(s *scenario) *plan {
	c := &compiler{map[string]int{}, map[string]int{}, nil}
	p := &plan{alone: s.Runs[0].Workers == 1}
	for _, class := range s.Tasks {
		steps, children, events := c.steps(class.Steps)
		at := time.Duration(0)
		if class.At != "" {
			at = duration(class.At)
		}
		p.classes = append(p.classes, compiled{class.Count, children, events + 2, at, steps})
		p.roots += class.Count
	}
	p.mutexes = make([]sync.Mutex, len(c.locks))
	for _, permits := range c.permits {
		p.channels = append(p.channels, make(chan struct{}, permits))
	}
	return p
}

// steps also counts children and the most events.
func (c *compiler) steps(raw []json.RawMessage) (steps []step, children, events int) {
	for _, one := range raw {
		s, kids, notes := c.step(one)
		steps, children, events = append(steps, s), children+kids, events+notes
	}
	return steps, children, events
}

func number(names map[string]int, name string) int {
	if _, known := names[name]; !known {
		names[name] = len(names)
	}
	return names[name]
}

func (c *compiler) step(raw json.RawMessage) (step, int, int) {
	var word string
	if json.Unmarshal(raw, &word) == nil {
		switch word {
		case "yield":
			return step{kind: stepYield}, 0, 1
		case "join":
			return step{kind: stepJoin}, 0, 1
		}
	}
	var t table
	check(json.Unmarshal(raw, &t))
	switch {
	case t.CPU != nil:
		return step{kind: stepCPU, time: *t.CPU}, 0, int(t.CPU.to/time.Millisecond) + 8
	case t.IO != nil:
		return step{kind: stepSleep, time: *t.IO}, 0, 1
	case t.Block != nil:
		return step{kind: stepBlock, time: *t.Block}, 0, 1
	case t.Lock != nil:
		return step{kind: stepLock, lock: number(c.locks, t.Lock.Name)}, 0, 1
	case t.Unlock != "":
		return step{kind: stepUnlock, lock: number(c.locks, t.Unlock)}, 0, 1
	case t.Take != nil:
		at := number(c.channels, t.Take.Name)
		if at == len(c.permits) {
			c.permits = append(c.permits, t.Take.Permits)
		}
		return step{kind: stepAcquire, lock: at}, 0, 1
	case t.Give != "":
		return step{kind: stepRelease, lock: number(c.channels, t.Give)}, 0, 0
	case t.Spawn != nil:
		steps, children, events := c.steps(t.Spawn.Steps)
		count := max(t.Spawn.Count, 1)
		return step{kind: stepSpawn, count: count, steps: steps}, count * (1 + children), count * (events + 2)
	case t.Repeat != nil:
		steps, children, events := c.steps(t.Repeat.Steps)
		n := t.Repeat.Times
		return step{kind: stepRepeat, count: n, steps: steps}, n * children, n * events
	}
	check(fmt.Errorf("a step that this program has not got: %s", raw))
	return step{}, 0, 0
}

package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Where there are several Ps, a gap in computing that is longer was the time of somebody else, and is not counted.
const away = 100 * time.Microsecond

// Where there is one P, a gap that is longer, in which others have written something down, was theirs.
const preempted = 10 * time.Microsecond

type event struct {
	at   time.Duration
	task int32
	end  bool
}

// recorder is used where there is one P. Several would wait for each other to write, which no scenario has.
type recorder struct {
	start  time.Time
	next   atomic.Int64
	events []event
}

// note also says when that was.
func (t *goroutine) note(end bool) time.Duration {
	at := time.Since(t.rec.start)
	if t.plan.alone {
		t.rec.events[t.rec.next.Add(1)-1] = event{at, t.id, end}
	} else {
		t.last = event{at, t.id, end}
	}
	return at
}

// done is a run that has ended.
type done struct {
	total  time.Duration
	events []event
}

// run starts the tasks and waits for the last.
func (plan *plan) run() done {
	tasks, capacity := 0, 0
	for _, c := range plan.classes {
		tasks += c.count * (1 + c.children)
		capacity += c.count * c.events
	}
	r := &recorder{events: make([]event, capacity)}
	// As a program that has just begun: two ticks of each P, and `sysmon` at its shortest sleep.
	settle()
	ended := &sync.WaitGroup{}
	ended.Add(plan.roots)
	task, child := int32(0), int32(plan.roots)
	r.start = time.Now()
	for _, c := range plan.classes {
		if wait := c.at - time.Since(r.start); wait > 0 {
			time.Sleep(wait)
		}
		for range c.count {
			t := &goroutine{plan: plan, rec: r, id: task, ended: ended, next: child}
			task++
			child += int32(c.children)
			go t.run(c.steps)
		}
	}
	ended.Wait()
	total := time.Since(r.start)
	return done{total, r.events[:r.next.Load()]}
}

type goroutine struct {
	plan     *plan
	rec      *recorder
	id       int32
	ended    *sync.WaitGroup
	next     int32 // its next child
	children sync.WaitGroup
	live     atomic.Int32
	noted    time.Duration // when it last noted something, if it has done nothing since
	parent   *goroutine
	last     event // where there are several Ps
}

func (t *goroutine) run(steps []step) {
	t.turn()
	t.steps(steps)
	t.note(true)
	if t.parent != nil {
		t.parent.live.Add(-1)
	}
	t.ended.Done()
}

func (t *goroutine) steps(steps []step) {
	for i := range steps {
		s := &steps[i]
		noted := t.noted
		t.noted = 0
		switch s.kind {
		case stepCPU:
			t.compute(s.time.draw(), noted)
		case stepSleep:
			time.Sleep(s.time.draw())
			t.turn()
		case stepBlock:
			block(s.time.draw())
			t.turn()
		case stepYield:
			runtime.Gosched()
			t.turn()
		case stepLock:
			if m := &t.plan.mutexes[s.lock]; !m.TryLock() {
				m.Lock()
				t.turn()
			}
		case stepUnlock:
			before := t.rec.next.Load()
			t.plan.mutexes[s.lock].Unlock()
			if t.plan.alone && t.rec.next.Load() != before {
				// A starving waiter has run in its place.
				t.turn()
			}
		case stepAcquire:
			select {
			case t.plan.channels[s.lock] <- struct{}{}:
			default:
				t.plan.channels[s.lock] <- struct{}{}
				t.turn()
			}
		case stepRelease:
			<-t.plan.channels[s.lock]
		case stepSpawn:
			for range s.count {
				c := &goroutine{plan: t.plan, rec: t.rec, id: t.next, ended: &t.children, parent: t}
				t.next++
				t.children.Add(1)
				t.live.Add(1)
				go c.run(s.steps)
			}
		case stepJoin:
			waits := t.live.Load() > 0
			t.children.Wait()
			if waits {
				t.turn()
			}
		case stepRepeat:
			for range s.count {
				t.steps(s.steps)
			}
		}
	}
}

func (t *goroutine) turn() {
	t.noted = t.note(false)
}

// compute runs until it has had a core for so long, counted from its last note, so that writing that down is a part of it.
func (t *goroutine) compute(long, from time.Duration) {
	if from == 0 {
		from = time.Since(t.rec.start)
	}
	had, before, others := time.Duration(0), from, t.rec.next.Load()
	for had < long {
		now := time.Since(t.rec.start)
		gap := now - before
		before = now
		switch seen := t.rec.next.Load(); {
		case gap < preempted:
			had += gap
		case !t.plan.alone:
			if gap < away {
				had += gap
			}
		case seen == others:
			had += gap
		default:
			t.note(false)
			others = seen + 1
		}
	}
}

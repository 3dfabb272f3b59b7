package main

import (
	"syscall"
	"time"
	"unsafe"
)

// block is a system call that takes so long, of which the runtime knows nothing more.
func block(long time.Duration) {
	spec := syscall.NsecToTimespec(long.Nanoseconds())
	syscall.Syscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&spec)), 0, 0)
}

// poll is a wait as that of an M that polls for the first timer.
func poll(long time.Duration) {
	epoll, err := syscall.EpollCreate1(0)
	check(err)
	var events [1]syscall.EpollEvent
	syscall.EpollWait(epoll, events[:], int(long.Milliseconds()))
	check(syscall.Close(epoll))
}

// pipe wakes a thread that waits at its other end, without the runtime.
type pipe struct{ read, write uintptr }

func newPipe() pipe {
	var ends [2]int
	check(syscall.Pipe(ends[:]))
	return pipe{uintptr(ends[0]), uintptr(ends[1])}
}

func (p pipe) take() {
	var one [1]byte
	syscall.RawSyscall(syscall.SYS_READ, p.read, uintptr(unsafe.Pointer(&one)), 1)
}

func (p pipe) give() {
	var one [1]byte
	syscall.RawSyscall(syscall.SYS_WRITE, p.write, uintptr(unsafe.Pointer(&one)), 1)
}

//go:linkname allp runtime.allp
var allp []*struct {
	id        int32
	status    uint32
	link      uintptr
	schedtick uint32
}

// before is a tick that no run comes to: a P that `sysmon` has last seen with the tick of an earlier run would be one
// whose goroutine has run since then.
const before = 1 << 30

// settle makes the runtime what it is at the start in the model. `sysmon` has just taken a P and is at its shortest
// sleep. `main` has just been switched to: the tick of its P is 1, of others 0.
func settle() {
	for _, p := range allp {
		p.schedtick = before
	}
	block(30 * time.Millisecond)
	for i, p := range allp {
		if i == 0 {
			p.schedtick = 1
		} else {
			p.schedtick = 0
		}
	}
}

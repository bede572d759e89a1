package victim

import (
	"errors"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"svc.example/bypass/internal/kernel"
	"svc.example/bypass/internal/report"
)

// Run is the whole life of a victim; it returns only with an error. The caller has locked the main goroutine to the
// main thread, which waits here until it is told to end alone.
func Run(arguments []string) error {
	chosen := parse(arguments)
	if chosen.lateExec {
		return awaitSecret()
	}
	marker := os.Getenv(Variable)
	if marker == "" {
		return errors.New(Variable + " is not set")
	}
	contained := os.Getenv(containedVariable)
	if chosen.tool != "" && contained == "" {
		return contain(chosen.tool)
	}
	if contained != "" {
		go startTools(contained)
	}
	failed, leave := make(chan error), make(chan struct{})
	go func() { failed <- live(chosen, marker, leave) }()
	select {
	case err := <-failed:
		return err
	case <-leave:
		_, _, errno := unix.Syscall(unix.SYS_EXIT, 0, 0, 0)
		return errno
	}
}

func awaitSecret() error {
	report.Line(map[string]any{"pid": os.Getpid(), "waiting": true})
	marker, open := report.ReadLine()
	if !open {
		return errors.New("standard input closed before the marker came")
	}
	return executeAgain(marker)
}

// live keeps to one thread: children end with the thread that made them, and PTRACE_TRACEME is of a thread.
func live(chosen options, marker string, leave chan<- struct{}) error {
	runtime.LockOSThread()
	facts, err := prepare(chosen, marker)
	if err != nil {
		return err
	}
	if chosen.setproctitle {
		overwriteArguments()
	}
	report.Line(facts)
	return obey(&session{facts: facts, leave: leave})
}

func prepare(chosen options, marker string) (facts Facts, err error) {
	if chosen.coreLimit >= 0 {
		err = limitCore(chosen.coreLimit)
	}
	facts = Facts{PID: os.Getpid(), TID2: startSecondThread(marker), Marker: marker, Length: len(marker),
		Tool: os.Getenv(containedVariable), Folder: chosen.tool}
	err = errors.Join(err, kernel.DefaultAction(unix.SIGABRT))
	var failure error
	facts.Address, failure = keepInMemory(marker)
	err = errors.Join(err, failure)
	facts.Descriptor, failure = keepInDescriptor(marker)
	err = errors.Join(err, failure)
	if chosen.child {
		var child Facts
		child, failure = startChild()
		err = errors.Join(err, failure)
		facts.Child, facts.ChildAddress = child.PID, child.Address
	}
	return facts, err
}

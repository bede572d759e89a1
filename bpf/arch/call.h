/* Kinds of system calls. */
#ifndef SVC_ARCH_CALL_H
#define SVC_ARCH_CALL_H

#include "program.h"
#include "kernel.h"

enum call_kind {
	CALL_OTHER = 0,
	CALL_OPEN, /* returns a descriptor */
	CALL_READ, /* first argument is a descriptor that is read or written */
	CALL_COPY, /* copy_file_range, splice, sendfile: a descriptor that is read */
	CALL_PROCESS_VM,
	CALL_PTRACE,
	CALL_PIDFD_GETFD,
	CALL_PERF_EVENT_OPEN,
	CALL_PRLIMIT,
	CALL_IO_URING,
	CALL_STAT, /* follows links and opens nothing */
};

struct call {
	enum call_kind kind;
	__u32 number;
	bool compat;
	struct pt_regs *registers;
};

#endif

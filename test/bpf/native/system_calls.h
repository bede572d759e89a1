/* System calls made as a processor and the kernel's entry code leave them in registers. Numbers are those of the
 * kernel's own headers. */
#ifndef SYSTEM_CALLS_H
#define SYSTEM_CALLS_H

#define COMMON_CALLS(CALL)                          \
	CALL(openat, CALL_OPEN)                     \
	CALL(open_by_handle_at, CALL_OPEN)          \
	CALL(openat2, CALL_OPEN)                    \
	CALL(read, CALL_READ)                       \
	CALL(write, CALL_READ)                      \
	CALL(readv, CALL_READ)                      \
	CALL(writev, CALL_READ)                     \
	CALL(pread64, CALL_READ)                    \
	CALL(pwrite64, CALL_READ)                   \
	CALL(preadv, CALL_READ)                     \
	CALL(pwritev, CALL_READ)                    \
	CALL(preadv2, CALL_READ)                    \
	CALL(pwritev2, CALL_READ)                   \
	CALL(sendfile, CALL_COPY)                   \
	CALL(splice, CALL_COPY)                     \
	CALL(copy_file_range, CALL_COPY)            \
	CALL(process_vm_readv, CALL_PROCESS_VM)     \
	CALL(process_vm_writev, CALL_PROCESS_VM)    \
	CALL(ptrace, CALL_PTRACE)                   \
	CALL(pidfd_getfd, CALL_PIDFD_GETFD)         \
	CALL(perf_event_open, CALL_PERF_EVENT_OPEN) \
	CALL(prlimit64, CALL_PRLIMIT)               \
	CALL(io_uring_enter, CALL_IO_URING)         \
	CALL(statx, CALL_STAT)

#define OLD_CALLS(CALL) CALL(open, CALL_OPEN) CALL(creat, CALL_OPEN) CALL(stat, CALL_STAT)
#define WIDE_CALLS(CALL) CALL(newfstatat, CALL_STAT)
#define NARROW_CALLS(CALL) CALL(sendfile64, CALL_COPY) CALL(stat64, CALL_STAT) CALL(fstatat64, CALL_STAT)

struct numbered {
	const char *name;
	__u32 number;
	enum call_kind kind;
};

#define NUMBERED(name, kind) { #name, __NR_##name, kind },
#define NATIVE(name, kind) NATIVE_##name = __NR_##name,
#define COMPAT(name, kind) COMPAT_##name = __NR_##name,

/* Each header has numbers of its own under the same names. */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wmacro-redefined"

#if defined(__TARGET_ARCH_x86)

#define __X32_SYSCALL_BIT 0x40000000
#include <asm/unistd_x32.h>
static const struct numbered x32_calls[] = { COMMON_CALLS(NUMBERED) OLD_CALLS(NUMBERED) WIDE_CALLS(NUMBERED) };

#include <asm/unistd_64.h>
enum { COMMON_CALLS(NATIVE) OLD_CALLS(NATIVE) };
static const struct numbered native_calls[] = { COMMON_CALLS(NUMBERED) OLD_CALLS(NUMBERED) WIDE_CALLS(NUMBERED) };

#include <asm/unistd_32.h>

#else

#define __ARCH_WANT_NEW_STAT /* as arm64 does */
#include <asm-generic/unistd.h>
enum { COMMON_CALLS(NATIVE) };
static const struct numbered native_calls[] = { COMMON_CALLS(NUMBERED) WIDE_CALLS(NUMBERED) };

#include "arm_numbers.h"

#endif

#pragma clang diagnostic pop

enum { COMMON_CALLS(COMPAT) OLD_CALLS(COMPAT) NARROW_CALLS(COMPAT) };
static const struct numbered compat_calls[] = { COMMON_CALLS(NUMBERED) OLD_CALLS(NUMBERED) NARROW_CALLS(NUMBERED) };

/* The native one, and that of 32-bit programs. */
#define ABIS 2

/* The number of a call in one of the ABIS: 0 is the native one. */
#define NUMBER(abi, name) ((abi) ? COMPAT_##name : NATIVE_##name)

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define WORD(pointer) ((__u64)(pointer))

static void put_arguments(bool compat, const __u64 values[5])
{
	/* what the upper halves hold is of no meaning to a call of 32 bits */
	const __u64 above = compat ? 0xdeadbeef00000000ULL : 0;

#if defined(__TARGET_ARCH_x86)
	unsigned long *compat_registers[] = { &registers.bx, &registers.cx, &registers.dx, &registers.si,
					      &registers.di };
	unsigned long *native_registers[] = { &registers.di, &registers.si, &registers.dx, &registers.r10,
					      &registers.r8 };

	for (int at = 0; at < 5; at++)
		*(compat ? compat_registers : native_registers)[at] = above | values[at];
#else
	registers.orig_x0 = above | values[0];
	for (int at = 1; at < 5; at++)
		registers.regs[at] = above | values[at];
#endif
}

static void put_number(bool compat, __u32 number)
{
	struct thread_info *info = &((struct task_struct *)host.current)->thread_info;

#if defined(__TARGET_ARCH_x86)
	registers.orig_ax = number;
	info->status = compat ? 0xff : 0xff & ~2;
#else
	registers.syscallno = number;
	info->flags = compat ? ~0UL : ~(1UL << 22);
#endif
}

/* The current task is in this call; registers that hold no argument of it hold something else. */
static void in_call(int abi, __u32 number, const __u64 values[5])
{
	memset(&registers, 0xa5, sizeof(registers));
	put_arguments(abi, values);
	put_number(abi, number);
}

#define IN_CALL(abi, name, ...) in_call(abi, NUMBER(abi, name), (const __u64[5]){ __VA_ARGS__ })

static void enter(void)
{
#if defined(TIER_TRACEPOINT)
	__u64 context[] = { WORD(&registers), 0 };

	call_entered((struct bpf_raw_tracepoint_args *)context);
#endif
}

static void end(long answered)
{
	__u64 context[] = { WORD(&registers), answered };

#if defined(TIER_TRACEPOINT)
	call_ended((struct bpf_raw_tracepoint_args *)context);
#else
	call_not_denied((struct bpf_raw_tracepoint_args *)context);
#endif
}

#define ENTER(abi, name, ...) (IN_CALL(abi, name, __VA_ARGS__), enter())

/* A whole call of openat that gets the file as descriptor `number`. */
static void open_as(int abi, struct actor *actor, struct file *file, int number)
{
	ENTER(abi, openat, -100, 0, 0);
	actor->descriptors[number] = file;
	end(number);
}

#define ARGUMENTS(...) ((unsigned long long[]){ __VA_ARGS__ })
#define HOOK_FILE_OPEN(file) file_open(ARGUMENTS(WORD(file), 0))
#define HOOK_FILE_PERMISSION(file) file_permission(ARGUMENTS(WORD(file), 4, 0))
#define HOOK_PTRACE(actor, mode) ptrace_access_check(ARGUMENTS(WORD(&(actor)->task), mode, 0))
#define HOOK_TRACEME(actor) ptrace_traceme(ARGUMENTS(WORD(&(actor)->task), 0))
#define HOOK_LOCKED_DOWN(what) locked_down(ARGUMENTS(what, 0))
#define HOOK_SETRLIMIT(actor, resource, limit) task_setrlimit(ARGUMENTS(WORD(&(actor)->task), resource, WORD(limit), 0))

#endif

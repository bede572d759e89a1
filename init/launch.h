/* Starts programs: the application, from a region written by the wrapper or a worker, and workers. */
#ifndef SVC_INIT_LAUNCH_H
#define SVC_INIT_LAUNCH_H

#include <limits.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "health.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x10U
#endif

enum { LAST_SIGNAL = 64 };

/* Whether there is a terminal: the application then stays in this process's group, as the shell above expects. */
static bool on_terminal;

/*
 * A launch region: offsets of the program's file, of argc arguments, 0, of envc variables, 0, as 64-bit numbers; then
 * the strings. It lies in secret memory if the kernel has that, and is mapped only until the program runs.
 */
struct launch {
	int region, shared, shared_number; /* descriptors; -1: none */
	uint64_t length, argc, envc;
};

struct strings {
	char *file, **argv, **envp;
};

/* Turns the offsets into addresses; false for an invalid region. */
static bool relocate(char *region, uint64_t length, uint64_t argc, uint64_t envc, struct strings *strings)
{
	uint64_t *words = (uint64_t *)(void *)region, most = length / sizeof(*words);

	if (argc < 1 || argc > most || envc > most || argc + envc + 3 > most || region[length - 1] != 0)
		return false;
	uint64_t count = argc + envc + 3, start = count * sizeof(*words);
	for (uint64_t i = 0; i < count; i++) {
		bool is_end = i == argc + 1 || i == count - 1;
		if (is_end ? words[i] != 0 : words[i] < start || words[i] >= length)
			return false;
		words[i] = is_end ? 0 : (uint64_t)(uintptr_t)(region + words[i]);
	}
	char **pointers = (char **)(void *)words;
	*strings = (struct strings){ pointers[0], pointers + 1, pointers + argc + 2 };
	return true;
}

/* Unlike sigaction(), reaches the real-time signals that the C library reserves: in musl 32 to 34. */
static void set_action(int number, void (*handler)(int))
{
	struct {
		void (*handler)(int);
		unsigned long flags;
		void *restorer;
		uint64_t mask;
	} action = { .handler = handler };

	syscall(SYS_rt_sigaction, number, &action, NULL, sizeof(action.mask));
}

/* Gives a child default signal actions and no blocked signals, and makes it end with its parent. */
static void become_child(pid_t parent)
{
	sigset_t none;

	for (int signal = 1; signal <= LAST_SIGNAL; signal++)
		set_action(signal, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(127);
}

static _Noreturn void run_application(const struct launch *launch, const struct strings *strings, pid_t parent,
				      int failed)
{
	if (!on_terminal)
		setpgid(0, 0);
	become_child(parent);
	if (launch->shared_number > 2) {
		if (failed == launch->shared_number)
			failed = fcntl(failed, F_DUPFD_CLOEXEC, launch->shared_number + 1);
		if (launch->shared == launch->shared_number)
			fcntl(launch->shared, F_SETFD, 0);
		else if (dup2(launch->shared, launch->shared_number) < 0)
			goto refused;
	}
	execve(strings->file, strings->argv, strings->envp);
refused:;
	int reason = errno;
	if (write(failed, &reason, sizeof(reason)) < 0)
		_exit(126);
	_exit(127);
}

/* Forks and waits until the program runs. Returns its process id, or the negated errno of the failure. */
static pid_t start_strings(const struct launch *launch, const struct strings *strings)
{
	int pipe_ends[2], reason = 0;
	pid_t parent = getpid(), pid;

	if (pipe2(pipe_ends, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid == 0)
		run_application(launch, strings, parent, pipe_ends[1]);
	if (pid < 0)
		pid = -errno;
	close(pipe_ends[1]);
	if (pid > 0 && read(pipe_ends[0], &reason, sizeof(reason)) == sizeof(reason)) {
		waitpid(pid, NULL, 0);
		pid = -reason;
	}
	close(pipe_ends[0]);
	return pid;
}

static pid_t start_application(const struct launch *launch)
{
	struct stat status;
	struct strings strings;
	pid_t pid = -EINVAL;

	if (fstat(launch->region, &status) || launch->length < 8 || launch->length > (uint64_t)status.st_size)
		return -EINVAL;
	char *region = mmap(NULL, launch->length, PROT_READ | PROT_WRITE, MAP_SHARED, launch->region, 0);
	if (region == MAP_FAILED)
		return -errno;
	if (relocate(region, launch->length, launch->argc, launch->envc, &strings))
		pid = start_strings(launch, &strings);
	explicit_bzero(region, launch->length);
	munmap(region, launch->length);
	return pid;
}

/* This process's oom_score_adj, opened before it protects itself: afterwards the file belongs to root. */
static int oom_score = -1;

static bool set_oom_score(const char *score, size_t length)
{
	return write(oom_score, score, length) == (ssize_t)length;
}

/*
 * If memory is short, the kernel should kill a worker rather than the application, unless the application ends with it.
 * A child inherits the score.
 */
static pid_t fork_worker(void)
{
	char own[8];
	ssize_t length = pread(oom_score, own, sizeof(own), 0);
	bool raised = length > 0 && !(flags & RESIDENT) && set_oom_score("1000", 4);
	pid_t pid = fork();

	if (raised && pid != 0)
		set_oom_score(own, (size_t)length);
	return pid;
}

/*
 * A copy of the program loader that its user may execute but not read. The kernel makes a process started from such a
 * file not dumpable before its first instruction, so that no process of the same user gets access to a worker while it
 * starts. No other process can reach the copy to change its mode. -1 on failure.
 */
static int seal_loader(const char *path)
{
	struct stat status;
	int from = open(path, O_RDONLY | O_CLOEXEC), copy = memfd_create("svc-worker", MFD_CLOEXEC | MFD_EXEC);

	if (copy < 0 && errno == EINVAL) /* before Linux 6.3 */
		copy = memfd_create("svc-worker", MFD_CLOEXEC);
	bool whole = from >= 0 && copy >= 0 && !fstat(from, &status) && !fchmod(copy, 0111) &&
		     sendfile(copy, from, NULL, (size_t)status.st_size) == status.st_size;

	if (from >= 0)
		close(from);
	if (!whole && copy >= 0)
		close(copy);
	return whole ? copy : -1;
}

/* Root can read any file, and thus the sealed loader, unless it lacks these capabilities. execve restores them. */
static bool drop_reading(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, sets))
		return false;
	sets[0].effective &= ~(1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH);
	return !syscall(SYS_capset, &header, sets);
}

static void execute_sealed(int loader, char **argv)
{
	if (loader >= 0 && drop_reading())
		syscall(SYS_execveat, loader, "", argv, environ, AT_EMPTY_PATH);
}

enum { WORKER_SOCKET = 3, CANNOT_START = 71 };

/*
 * A worker has descriptor 3 as its end of the socket pair, no input, and a process group of its own.
 * argv: the loader of the program, the program, its arguments. A worker that is to stay may be readable as it starts:
 * no application runs yet.
 */
static pid_t start_worker(char **argv, int socket)
{
	pid_t parent = getpid(), pid = fork_worker();

	if (pid != 0)
		return pid;
	setpgid(0, 0);
	become_child(parent);
	set_action(SIGXFSZ, SIG_IGN); /* the loader's copy may be too large */
	int input = open("/dev/null", O_RDWR | O_CLOEXEC), nothing[2] = { -1, -1 };
	if (input < 0 && pipe2(nothing, O_CLOEXEC) == 0) { /* Node needs an input: an empty pipe */
		input = nothing[0];
		close(nothing[1]);
	}
	if (dup2(input, 0) < 0)
		close(0);
	int loader = seal_loader(argv[0]);
	if (socket == WORKER_SOCKET) {
		fcntl(socket, F_SETFD, 0);
	} else {
		if (loader == WORKER_SOCKET)
			loader = fcntl(loader, F_DUPFD_CLOEXEC, WORKER_SOCKET + 1);
		dup2(socket, WORKER_SOCKET);
	}
	execute_sealed(loader, argv);
	if (flags & RESIDENT) {
		execve(argv[1], argv + 1, environ);
		log_line("error", "start.failed",
			 ",\"error\":\"svc-init cannot start Node: "
			 "%s\",\"code\":\"WORKER_NOT_STARTED\",\"nextStep\":\"Check "
			 "what the system permits: processes, files, memory.\"",
			 strerror(errno));
		_exit(CANNOT_START);
	}
	_exit(127);
}

#endif

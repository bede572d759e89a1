/*
 * The process that stays after the wrapper has started: runs the application, acts as its init, and starts a worker
 * from time to time.
 *
 *   svc-init SOCKET AGENT TOKEN LOADER WORKER [ARGUMENT]...
 *
 * AGENT is the node agent's socket, TOKEN the file of the service account token; either may be empty. LOADER runs
 * WORKER.
 *
 * The wrapper replaces itself by this program, after sending the application to run over the socket; with RESIDENT, a
 * worker sends it, and stays. See docs/adr/0018-svc-init.md.
 */
#define _GNU_SOURCE
#include <linux/sched.h>
#include <sched.h>
#include <sys/signalfd.h>
#include <sys/un.h>
#include "launch.h"

static const int forwarded[] = { SIGHUP,    SIGINT,    SIGQUIT,	 SIGABRT, SIGUSR1, SIGUSR2, SIGALRM,
				 SIGTERM,   SIGSTKFLT, SIGCONT,	 SIGTSTP, SIGTTIN, SIGTTOU, SIGURG,
				 SIGVTALRM, SIGPROF,   SIGWINCH, SIGIO,	  SIGPWR };

enum {
	SWEEP_MS = 10,
	KILLED_WITHIN_MS = 5000,
	RETRY_MS = 5000,
	RETRY_MOST_MS = 60000,
	NEVER = -1,
	FIRST_REAL_TIME = 32,
	CHILDREN_MOST = 512,
	LOCK_LIMIT_LEAST = 4 << 20,
	INTERNAL_ERROR = 70,
};

static struct {
	int64_t grace, worker_most;
	int signals, listener;
	const char *agent, *token;
	char **worker_argv;
} self = { .signals = -1, .listener = -1, .worker_most = 120000, .grace = 10000 };

static struct {
	pid_t pid; /* 0: none runs */
	bool stopped, stopping, end_requested;
	bool suspended; /* this process has stopped along with it */
	int64_t kill_at;
	int status;
	struct launch next; /* starts when the running one has ended */
	bool next_held; /* until the worker has sent the state that belongs to it */
	int shared;
} application = { .kill_at = NEVER, .next = { .region = -1 }, .shared = -1 };

static struct {
	pid_t pid;
	int socket, state;
	int64_t started, wake_at;
	bool reported; /* whether it has said when the next one is due */
	bool lost; /* one that was to stay has ended */
	unsigned failures;
} worker = { .socket = -1, .state = -1, .wake_at = NEVER };

static struct {
	pid_t pid;
	int64_t start_at;
} health = { .start_at = NEVER };

static struct {
	bool active, over; /* over: svc-init ends after the sweep */
	int64_t kill_at;
} sweep;

static void take(int *place, int descriptor)
{
	if (*place >= 0)
		close(*place);
	*place = descriptor;
}

static void send_signal(int number, bool to_group)
{
	bool has_group = to_group && !on_terminal;

	if (application.pid && kill(has_group ? -application.pid : application.pid, number))
		log_line("warn", "signal.undeliverable", ",\"pid\":%d,\"signal\":\"SIG%s\",\"reason\":\"%s\"",
			 application.pid, signal_name(number), errno == ESRCH ? "ESRCH" : "EPERM");
}

static void terminate_application(void)
{
	send_signal(SIGTERM, flags & SIGNAL_GROUP);
	if (application.stopped)
		send_signal(SIGCONT, true);
	if (application.kill_at == NEVER)
		application.kill_at = milliseconds() + self.grace;
}

static void reap(void);

/* A stop of this process has ended: whoever continued it has usually continued the whole group. */
static void resume(void)
{
	application.suspended = false;
	reap();
	if (application.stopped)
		send_signal(SIGCONT, false);
}

/* Whether a signal comes from the terminal, which sends it to the whole group, the application included. */
static bool is_from_terminal(int number, int code)
{
	return on_terminal && code == SI_KERNEL &&
	       (number == SIGINT || number == SIGQUIT || number == SIGTSTP || number == SIGWINCH || number == SIGTTIN ||
		number == SIGTTOU);
}

static void receive_signal(int number, int code)
{
	bool ends = number == SIGTERM || number == SIGINT || number == SIGQUIT || number == SIGHUP;

	if (number == SIGTERM || (ends && (application.stopping || !application.pid)))
		application.end_requested = true;
	if (ends && worker.pid && !shown->figures[STARTS]) /* it has the first application yet to start */
		kill(worker.pid, number);
	else if (number == SIGTERM)
		terminate_application();
	else if (number == SIGCONT && application.suspended)
		resume();
	else if (!is_from_terminal(number, code))
		send_signal(number, flags & SIGNAL_GROUP);
}

/* The children of this process, without worker and health process; -1 if /proc is not readable. */
static int list_children(pid_t *children)
{
	char path[64], text[CHILDREN_MOST * 8];
	int count = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return -1;
	ssize_t length = read(file, text, sizeof(text) - 1);
	close(file);
	text[length > 0 ? length : 0] = 0;
	/* children that do not fit follow when these have ended; the last number of a full buffer may be cut */
	for (char *at = text, *next; count < CHILDREN_MOST && *at; at = next + 1) {
		long pid = strtol(at, &next, 10);
		if (next == at || *next != ' ')
			break;
		if (pid != worker.pid && pid != health.pid)
			children[count++] = (pid_t)pid;
	}
	return count;
}

static void end_child(pid_t *pid)
{
	if (*pid > 0) {
		kill(*pid, SIGKILL);
		waitpid(*pid, NULL, 0);
	}
	*pid = 0;
}

static _Noreturn void leave(int status)
{
	end_child(&worker.pid);
	end_child(&health.pid);
	_exit(status);
}

static void log_start_failure(int reason)
{
	log_line("error", "start.failed",
		 ",\"error\":\"The program cannot be run: %s\",\"code\":\"%s\",\"nextStep\":\"Correct the command; a "
		 "script "
		 "begins with #! and its interpreter.\"",
		 reason == ENOENT    ? "it, or the interpreter that it names, is not there"
		 : reason == ENOEXEC ? "it is neither a program for this machine nor a script with #!"
		 : reason == E2BIG   ? "arguments and environment are longer than the system takes"
				     : strerror(reason),
		 reason == ENOENT  ? "PROGRAM_NOT_FOUND"
		 : reason == E2BIG ? "ARGUMENTS_TOO_LONG"
				   : "PROGRAM_NOT_EXECUTABLE");
}

static void tell_worker(uint32_t kind, uint32_t number, int descriptor)
{
	struct record record = { .kind = kind,
				 .number = number,
				 .values = { shown->figures[LOCKED], shown->figures[UNLOCKED] } };

	if (worker.socket >= 0)
		send_record(worker.socket, &record, descriptor);
}

/* The value of a line in a /proc file, in bytes. */
static uint64_t bytes_of(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	return line ? strtoull(line + strlen(name), NULL, 10) * 1024 : 0;
}

/* Measures this process's memory, and logs the protection in force. */
static void report_protection(void)
{
	char text[2048] = "", limit[24] = "Infinity";
	struct rlimit core = { 0 };
	int file = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);

	if (file >= 0 && read(file, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	if (file >= 0)
		close(file);
	unsigned long long held = bytes_of(text, "Anonymous:") + bytes_of(text, "Swap:");
	bool is_locked = bytes_of(text, "Locked:") > 0;
	shown->figures[LOCKED] = is_locked ? held : 0;
	shown->figures[UNLOCKED] = is_locked ? 0 : held;
	getrlimit(RLIMIT_CORE, &core);
	if (core.rlim_cur != RLIM_INFINITY)
		snprintf(limit, sizeof(limit), "%llu", (unsigned long long)core.rlim_cur);
	log_line("info", "protection",
		 ",\"lock\":\"%s\",\"locked_bytes\":%llu,\"unlocked_bytes\":%llu,\"dumpable\":%s,\"core_limit\":\"%s\","
		 "\"secret_memory\":\"%s\"",
		 is_locked ? "all" : "none", is_locked ? held : 0, is_locked ? 0 : held,
		 prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1 ? "true" : "false", limit,
		 flags & SECRET_MEMFD ? "memfd_secret" : "anonymous");
}

static void launch_next(void)
{
	struct launch launch = application.next;

	application.next.region = -1;
	launch.shared = application.shared;
	pid_t pid = start_application(&launch);
	close(launch.region);
	if (pid < 0) {
		log_start_failure(-pid);
		tell_worker(STARTED, 0, -1);
		leave(pid == -ENOENT || pid == -ENOTDIR || pid == -ELOOP ? 127 : 126);
	}
	application.pid = pid;
	application.stopped = application.stopping = false;
	application.kill_at = NEVER;
	if (!(flags & KEEP_SHARED))
		take(&application.shared, -1);
	shown->figures[STARTS]++;
	shown->figures[UP] = 1;
	shown->restarting = 0;
	log_line("info", "application.started", ",\"pid\":%d,\"descriptor\":%s", pid,
		 launch.shared_number ? "true" : "false");
	if (!(flags & RESIDENT)) /* the worker that stays holds the secrets, and reports on itself */
		report_protection();
	tell_worker(STARTED, (uint32_t)pid, -1);
}

/* One step of ending all remaining processes below this one: SIGTERM once each, SIGKILL after the grace. */
static void sweep_step(void)
{
	static pid_t told[CHILDREN_MOST];
	static int told_count;
	pid_t children[CHILDREN_MOST];
	int64_t now = milliseconds();
	int count = list_children(children);

	if (count < 0 && getpid() == 1 && sweep.over) { /* without /proc, PID 1 can still signal all at once */
		end_child(&health.pid);
		count = kill(-1, 0) ? 0 : 1;
		children[0] = -1;
	}
	if (count > 0 && now <= sweep.kill_at + KILLED_WITHIN_MS) {
		for (int i = 0; i < count; i++) {
			bool known = false;
			for (int j = 0; j < told_count; j++)
				known = known || told[j] == children[i];
			if (now >= sweep.kill_at)
				kill(children[i], SIGKILL);
			if (known || now >= sweep.kill_at)
				continue;
			kill(children[i], SIGTERM);
			kill(children[i], SIGCONT);
			if (told_count < CHILDREN_MOST)
				told[told_count++] = children[i];
		}
		return;
	}
	if (count > 0)
		log_line("warn", "orphans.left", ",\"count\":%d", count);
	told_count = 0;
	sweep.active = false;
	if (sweep.over || application.end_requested)
		leave(worker.lost ? INTERNAL_ERROR : application.status);
	launch_next();
}

static void application_ended(int status, int number)
{
	if (number)
		log_line("info", "application.ended", ",\"pid\":%d,\"exit_code\":%d,\"signal\":\"SIG%s\"",
			 application.pid, status, signal_name(number));
	else
		log_line("info", "application.ended", ",\"pid\":%d,\"exit_code\":%d", application.pid, status);
	application.pid = 0;
	application.status = status;
	shown->figures[UP] = 0;
	sweep.active = true;
	sweep.over = application.next.region < 0 || application.next_held;
	sweep.kill_at = milliseconds() + self.grace;
	if (sweep.over)
		end_child(&worker.pid);
}

static int64_t spread(int64_t most)
{
	uint32_t number = ((uint32_t)milliseconds() ^ (uint32_t)getpid() << 16) * 2654435761u;

	return most / 2 + (int64_t)(number >> 22) * most / 2048;
}

static void take_records(void);

/* Without the worker that was to stay, nothing would keep token and secrets fresh: the application ends, too. */
static void resident_ended(int status)
{
	bool says_why = status < 128 || application.end_requested;

	if (shown->figures[STARTS] || !says_why)
		log_line("error", "worker.failed", ",\"exit_code\":%d", status);
	if (!shown->figures[STARTS])
		leave(status);
	worker.lost = application.end_requested = true;
	worker.wake_at = NEVER;
	if (!application.stopping)
		terminate_application();
}

/* A failed worker only costs time: the next one starts soon, after growing pauses. */
static void worker_ended(int status)
{
	take_records(); /* its last records may have arrived since */
	worker.pid = 0;
	take(&worker.socket, -1);
	if (application.next_held) /* without its state the change is undone: the next worker finds it again */
		take(&application.next.region, -1);
	application.next_held = false;
	if (flags & RESIDENT) {
		resident_ended(status);
		return;
	}
	if (worker.reported && status == 0) {
		worker.failures = 0;
		shown->failing = 0;
		shown->figures[ENDED_WORKERS]++;
		return;
	}
	int64_t most = RETRY_MS << (worker.failures < 4 ? worker.failures : 4);
	int64_t pause = spread(most < RETRY_MOST_MS ? most : RETRY_MOST_MS);
	worker.failures++;
	worker.wake_at = milliseconds() + pause;
	shown->figures[FAILED_WORKERS]++;
	shown->failing = 1;
	log_line("warn", "worker.failed", ",\"exit_code\":%d,\"retry_ms\":%lld", status, (long long)pause);
}

/*
 * Stops this process as its application was stopped, for the shell above to see. The kernel ignores these signals where
 * nobody in the session could continue the group.
 */
static void suspend(int number)
{
	sigset_t one;

	application.suspended = true;
	sigemptyset(&one);
	sigaddset(&one, number);
	kill(getpid(), number);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	sigprocmask(SIG_BLOCK, &one, NULL);
}

static void reap(void)
{
	int status;

	for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0;) {
		bool is_application = pid == application.pid;
		int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		int code = number ? 128 + number : WEXITSTATUS(status);
		if (WIFCONTINUED(status)) {
			if (is_application) {
				application.stopped = false;
				log_line("info", "application.continued", ",\"pid\":%d", pid);
			}
		} else if (WIFSTOPPED(status)) {
			if (is_application) {
				application.stopped = true;
				log_line("info", "application.stopped", ",\"pid\":%d,\"signal\":\"SIG%s\"", pid,
					 signal_name(WSTOPSIG(status)));
				if (on_terminal)
					suspend(WSTOPSIG(status) == SIGSTOP ? SIGTSTP : WSTOPSIG(status));
			}
		} else if (is_application) {
			application_ended(code, number);
		} else if (pid == worker.pid) {
			worker_ended(code);
		} else if (pid == health.pid) {
			health.pid = 0;
			health.start_at = milliseconds() + 1000;
			log_line("warn", "health.failed", ",\"exit_code\":%d", code);
		} else {
			log_line("debug", "orphan.reaped", ",\"pid\":%d,\"exit_code\":%d", pid, code);
		}
	}
}

/* Without memfd_secret the state lies in memory that could be swapped, so it is locked here until the next state. */
static void lock_state(void)
{
	static void *locked = MAP_FAILED;
	static size_t length;
	struct stat status;

	if (flags & SECRET_MEMFD)
		return;
	if (locked != MAP_FAILED)
		munmap(locked, length);
	length = fstat(worker.state, &status) ? 0 : (size_t)status.st_size;
	locked = mmap(NULL, length, PROT_READ, MAP_SHARED, worker.state, 0);
	if (locked == MAP_FAILED)
		return;
	mlock(locked, length);
	madvise(locked, length, MADV_DONTDUMP);
	madvise(locked, length, MADV_DONTFORK); /* the health process holds no secret */
}

static bool take_pages(uint64_t length, int descriptor)
{
	uint32_t next = !(shown->current & 1), start = 0;
	struct pages *pages = &shown->pages[next];

	if (length < offsetof(struct pages, text) || length > sizeof(*pages) ||
	    pread(descriptor, pages, length, 0) != (ssize_t)length)
		return false;
	for (int i = 0; i < PAGE_COUNT; start = pages->end[i++])
		if (pages->end[i] < start || pages->end[i] > length - offsetof(struct pages, text))
			return false;
	shown->current = next;
	return true;
}

/* The node agent identifies a caller by the process that connects: it must be this one, which stays, not a worker. */
static int connect_agent(void)
{
	struct sockaddr_un agent = { .sun_family = AF_UNIX };
	size_t length = strlen(self.agent);
	int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (length > sizeof(agent.sun_path))
		length = 0;
	memcpy(agent.sun_path, self.agent, length);
	if (*self.agent == '@')
		*agent.sun_path = 0;
	if (descriptor >= 0 && (length == 0 || connect(descriptor, (struct sockaddr *)&agent,
						       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length))))
		take(&descriptor, -1);
	return descriptor;
}

/* Starts the next application, in place of a running one if there is one. */
static void begin_next(void)
{
	application.next_held = false;
	if (application.end_requested)
		take(&application.next.region, -1);
	if (sweep.active || application.next.region < 0)
		return;
	if (!application.pid) {
		launch_next();
		return;
	}
	application.stopping = true;
	shown->restarting = 1;
	terminate_application();
}

static void take_start(const struct record *record, int *descriptor)
{
	take(&application.next.region, *descriptor);
	*descriptor = -1;
	application.next.shared_number = record->number > 2 && record->number < 1 << 20 ? (int)record->number : 0;
	application.next.length = record->values[0];
	application.next.argc = record->values[1];
	application.next.envc = record->values[2];
	application.next_held = worker.pid != 0 && !(flags & RESIDENT);
	if (!application.next_held)
		begin_next();
}

/* Handles a record; false for an invalid one, after which its sender is no longer trusted. */
static bool take_record(const struct record *record, int *descriptor)
{
	bool with_descriptor = *descriptor >= 0;
	int opened;

	switch (record->kind) {
	case SETTINGS:
		flags = record->number;
		self.grace = record->values[0] < INT_MAX ? (int64_t)record->values[0] : INT_MAX;
		self.worker_most = record->values[1] < INT_MAX ? (int64_t)record->values[1] : INT_MAX;
		return true;
	case NEXT:
		worker.wake_at = milliseconds() + (record->values[0] < INT_MAX ? (int64_t)record->values[0] : INT_MAX);
		shown->token_end = record->values[1] < INT64_MAX ? (int64_t)record->values[1] : INT64_MAX;
		worker.reported = record->number == 1;
		return true;
	case NOTIFY:
		if (record->number < 1 || record->number > LAST_SIGNAL)
			return false;
		send_signal((int)record->number, flags & SIGNAL_GROUP);
		return true;
	case HELLO:
		tell_worker(STATE, 0, worker.state);
		tell_worker(SHARED, 0, application.shared);
		tell_worker(RUNNING, (uint32_t)application.pid, -1);
		if (flags & RESIDENT) {
			take(&worker.state, -1);
			lock_state();
		}
		return true;
	case AGENT:
	case TOKEN: /* the node agent lets this process open it, but not its workers */
		opened = record->kind == AGENT ? connect_agent()
					       : open(self.token, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		tell_worker(record->kind, 0, opened);
		take(&opened, -1);
		return true;
	case PAGES:
		return with_descriptor && take_pages(record->values[0], *descriptor);
	case LISTENER:
	case STATE:
	case SHARED:
	case START:
		break;
	default:
		return false;
	}
	if (!with_descriptor)
		return false;
	if (record->kind == START) {
		take_start(record, descriptor);
		return true;
	}
	take(record->kind == LISTENER ? &self.listener
	     : record->kind == STATE  ? &worker.state
				      : &application.shared,
	     *descriptor);
	*descriptor = -1;
	if (record->kind == STATE) {
		lock_state();
		if (application.next_held)
			begin_next();
	}
	return true;
}

static void take_records(void)
{
	struct record record;
	int descriptor, more = 0;

	while (worker.socket >= 0 && (more = receive_record(worker.socket, &record, &descriptor)) > 0) {
		if (!take_record(&record, &descriptor))
			more = -1;
		if (descriptor >= 0)
			close(descriptor);
		if (more < 0)
			break;
	}
	if (more < 0)
		take(&worker.socket, -1);
}

static void wake_worker(int64_t now)
{
	int pair[2];

	worker.wake_at = NEVER;
	worker.reported = false;
	worker.started = now;
	take(&worker.socket, -1);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0) {
		worker.socket = pair[0];
		worker.pid = start_worker(self.worker_argv, pair[1]);
		close(pair[1]);
	}
	if (worker.pid <= 0)
		worker_ended(126);
}

static void start_health(void)
{
	pid_t parent = getpid();

	health.start_at = NEVER;
	health.pid = fork();
	if (health.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		if (getppid() != parent)
			_exit(0);
		int listener = dup2(self.listener, 0);
		if (syscall(SYS_close_range, 1, ~0u, 0)) /* before Linux 5.9 */
			for (int descriptor = 1; descriptor < 1024; descriptor++)
				close(descriptor);
		serve_health(listener);
	}
	if (health.pid < 0) {
		health.pid = 0;
		health.start_at = milliseconds() + 1000;
	}
}

/* Does all due work, and returns the ms until the next; -1 if there is none. */
static int64_t do_due(void)
{
	int64_t now = milliseconds(), next = NEVER;

	if (sweep.active)
		sweep_step();
	if (self.listener >= 0 && !health.pid && (health.start_at == NEVER || now >= health.start_at))
		start_health();
	bool may_work = !worker.pid && !sweep.active && application.next.region < 0;
	if (may_work && worker.wake_at != NEVER && now >= worker.wake_at)
		wake_worker(now);
	may_work = may_work && !worker.pid;
	bool may_hang = worker.pid && !(flags & RESIDENT);
	if (may_hang && now >= worker.started + self.worker_most) {
		kill(worker.pid, SIGKILL);
		worker.started = now; /* a worker blocked in a system call dies later */
	}
	if (application.pid && application.kill_at != NEVER && now >= application.kill_at) {
		log_line("warn", "application.killed", ",\"pid\":%d,\"grace_ms\":%lld", application.pid,
			 (long long)self.grace);
		send_signal(SIGKILL, false);
		application.kill_at = INT64_MAX;
	}
	int64_t due[] = { sweep.active ? now + SWEEP_MS : NEVER, health.pid ? NEVER : health.start_at,
			  may_work ? worker.wake_at : NEVER, may_hang ? worker.started + self.worker_most : NEVER,
			  application.pid ? application.kill_at : NEVER };
	for (size_t i = 0; i < sizeof(due) / sizeof(*due); i++)
		if (due[i] != NEVER && (next == NEVER || due[i] < next))
			next = due[i];
	return next == NEVER ? NEVER : next > now ? next - now : 0;
}

static void take_signals(void)
{
	struct signalfd_siginfo caught;

	while (read(self.signals, &caught, sizeof(caught)) == sizeof(caught))
		if (caught.ssi_signo != SIGCHLD)
			receive_signal((int)caught.ssi_signo, caught.ssi_code);
	reap();
}

static void catch_signals(void)
{
	sigset_t caught;

	sigemptyset(&caught);
	sigaddset(&caught, SIGCHLD);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(*forwarded); i++) {
		sigaddset(&caught, forwarded[i]);
		set_action(forwarded[i], SIG_DFL);
	}
	set_action(SIGCHLD, SIG_DFL);
	set_action(SIGPIPE, SIG_IGN);
	set_action(SIGXCPU, SIG_IGN); /* these two concern this process's own limits */
	set_action(SIGXFSZ, SIG_IGN);
	for (int number = FIRST_REAL_TIME; number <= LAST_SIGNAL; number++)
		set_action(number, SIG_IGN);
	sigprocmask(SIG_SETMASK, &caught, NULL);
	self.signals = signalfd(-1, &caught, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* Optional under a small limit: this process holds no secret, so the room is left to secret memory. */
static bool lock_memory(void)
{
	struct rlimit limit = { 0 };

	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (!(flags & REQUIRE_LOCK) && limit.rlim_cur < LOCK_LIMIT_LEAST)
		return false;
	return !mlockall(MCL_CURRENT | MCL_ONFAULT | (limit.rlim_cur == RLIM_INFINITY ? MCL_FUTURE : 0));
}

static bool has_terminal(void)
{
	char text[512];
	int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t length = file < 0 ? 0 : read(file, text, sizeof(text) - 1);

	if (file >= 0)
		close(file);
	text[length > 0 ? length : 0] = 0;
	char *at = strrchr(text, ')'); /* `PID (NAME) STATE PARENT GROUP SESSION TERMINAL` */
	if (!at || strlen(at) < 3)
		return false;
	at += 3;
	for (int field = 0; field < 3; field++)
		strtol(at, &at, 10);
	return strtol(at, NULL, 10) != 0;
}

static bool prepare(int argc, char **argv)
{
	if (argc < 6)
		return false;
	worker.socket = atoi(argv[1]);
	fcntl(worker.socket, F_SETFD, FD_CLOEXEC);
	self.agent = argv[2];
	self.token = argv[3];
	self.worker_argv = argv + 4;
	on_terminal = has_terminal();
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	shown = mmap(NULL, sizeof(*shown), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return shown != MAP_FAILED;
}

static bool is_child_made(long pid)
{
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid((pid_t)pid, NULL, 0);
	return pid > 0 || (errno != EPERM && errno != EINVAL && errno != ENOSYS);
}

/* Each of these calls may be forbidden separately. A failure for lack of resources counts as permitted. */
static bool makes_namespaces(void)
{
	struct clone_args args = { .flags = CLONE_NEWUSER, .exit_signal = SIGCHLD };

	return is_child_made(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)) ||
	       is_child_made(syscall(SYS_clone3, &args, sizeof(args))) ||
	       is_child_made(unshare(CLONE_NEWUSER) ? -1 : (long)getpid());
}

/*
 * Without arguments, starts a copy of itself as it would start a worker. The exit status is the sum of 1 if it cannot
 * start workers that nobody can read, and 2 if its user may create user namespaces.
 */
static int try_worker(int argc)
{
	char *argv[] = { "svc-init", "copy", NULL };

	if (argc == 2) /* dumpable 2 is fine too: only by root (fs.suid_dumpable) */
		return ((prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) & ~2) != 0) | makes_namespaces() << 1;
	execute_sealed(seal_loader("/proc/self/exe"), argv);
	return 1 | makes_namespaces() << 1;
}

#ifndef SVC_INIT_TEST
int main(int argc, char **argv)
{
	struct record record;
	int descriptor = -1;

	if (argc <= 2)
		return try_worker(argc);
	oom_score = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (!prepare(argc, argv) || receive_record(worker.socket, &record, &descriptor) != 1 || record.kind != SETTINGS)
		return INTERNAL_ERROR;
	take_record(&record, &descriptor);
	if (!lock_memory() && (flags & REQUIRE_LOCK)) {
		log_line("error", "start.failed",
			 ",\"error\":\"svc-init cannot lock its memory\",\"code\":\"MEMORY_LOCK_REFUSED\"");
		return 71;
	}
	catch_signals();
	take_records();
	if (flags & RESIDENT)
		wake_worker(milliseconds());
	else if (!application.pid)
		leave(INTERNAL_ERROR);
	for (;;) {
		int64_t wait = do_due();
		struct pollfd polled[] = { { .fd = self.signals, .events = POLLIN },
					   { .fd = worker.socket, .events = POLLIN } };
		poll(polled, 2, wait > INT_MAX ? INT_MAX : (int)wait);
		take_records();
		take_signals();
	}
}
#endif

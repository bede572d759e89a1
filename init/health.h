/*
 * The health endpoints, in a separate process that holds no secret and may do little more than read, write and accept.
 * It sends the responses left by the last worker, with svc-init's own figures filled in.
 */
#ifndef SVC_INIT_HEALTH_H
#define SVC_INIT_HEALTH_H

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "log.h"

enum { PAGES_MOST = 32768, CONNECTIONS = 32, REQUEST_MOST = 8192, REQUEST_MS = 5000, FIGURE_WIDTH = 16 };

/* ALIVE_FAILED: /healthz after a failed worker. */
enum page { ALIVE, ALIVE_FAILED, READY, RESTARTING, ENDED, METRICS, NOT_FOUND, NOT_ALLOWED, BAD, TOO_LONG, PAGE_COUNT };

/* As written by a worker: the end of each page's text, then the texts. */
struct pages {
	uint32_t end[PAGE_COUNT];
	char text[PAGES_MOST];
};

enum figure {
	UP,
	STARTS,
	ENDED_WORKERS,
	FAILED_WORKERS,
	LOCKED,
	UNLOCKED,
	FIGURE_COUNT
}; /* any further digit stands for the token's remaining seconds */

/* Shared with the health process, which only reads it. New pages are written to the slot that is not current. */
struct shown {
	_Atomic uint64_t figures[FIGURE_COUNT];
	_Atomic uint32_t current, restarting, failing;
	_Atomic int64_t token_end;
	struct pages pages[2];
};

static struct shown *shown;

/* Copies a page and fills in figures: a byte 1 and the figure's digit mark a placeholder of fixed width. */
static size_t fill_in(enum page page, char *to)
{
	const struct pages *pages = &shown->pages[shown->current & 1];
	uint32_t start = page ? pages->end[page - 1] : 0;
	size_t length = pages->end[page] - start;
	int64_t left = shown->token_end - milliseconds();
	char *at = to, digits[FIGURE_WIDTH + 1];

	memcpy(to, pages->text + start, length);
	while ((at = memchr(at, 1, (size_t)(to + length - at))) && to + length - at >= FIGURE_WIDTH) {
		unsigned figure = (unsigned char)at[1] - '0';
		uint64_t number = figure < FIGURE_COUNT ? shown->figures[figure] : left > 0 ? (uint64_t)left / 1000 : 0;
		snprintf(digits, sizeof(digits), "%16llu", (unsigned long long)number);
		memcpy(at, digits, FIGURE_WIDTH);
		at += FIGURE_WIDTH;
	}
	return length;
}

static bool is_path(const char *at, size_t length, const char *path)
{
	size_t size = strlen(path);

	return length >= size && !memcmp(at, path, size) && (length == size || at[size] == '?');
}

/* Only the first line counts: METHOD SP /PATH SP HTTP/1.x */
static enum page page_for(const char *line, size_t length)
{
	const char *target = memchr(line, ' ', length), *end = line + length;
	const char *version = target ? memchr(target + 1, ' ', (size_t)(end - target - 1)) : NULL;

	if (!version || target == line || target[1] != '/' || end - version != 9 || memcmp(version, " HTTP/1.", 8))
		return BAD;
	size_t size = (size_t)(version - ++target);
	bool alive = is_path(target, size, "/healthz"), ready = is_path(target, size, "/readyz");
	if (!alive && !ready && !is_path(target, size, "/metrics"))
		return NOT_FOUND;
	if (memcmp(line, "GET ", 4) && memcmp(line, "HEAD ", 5))
		return NOT_ALLOWED;
	if (ready)
		return shown->restarting ? RESTARTING : shown->figures[UP] ? READY : ENDED;
	return !alive ? METRICS : shown->failing ? ALIVE_FAILED : ALIVE;
}

/* Writes the response to a request, at most PAGES_MOST bytes; 0 while the request's head is incomplete. */
static size_t respond(const char *request, size_t length, char *to)
{
	const char *end = memmem(request, length, "\r\n\r\n", 4), *line_end = memmem(request, length, "\r\n", 2);

	if (!end && length < REQUEST_MOST)
		return 0;
	size_t size = fill_in(end ? page_for(request, (size_t)(line_end - request)) : TOO_LONG, to);
	const char *body = length >= 5 && !memcmp(request, "HEAD ", 5) ? memmem(to, size, "\r\n\r\n", 4) : NULL;
	return body ? (size_t)(body + 4 - to) : size;
}

struct connection {
	int descriptor;
	int64_t until;
	size_t length;
};

/* Separate from the requests, whose memory pages are touched only when a request comes. */
static struct connection connections[CONNECTIONS];
static char requests[CONNECTIONS][REQUEST_MOST];

static void end_connection(struct connection *one)
{
	close(one->descriptor);
	one->descriptor = -1;
}

static void read_request(struct connection *one)
{
	static char answer[PAGES_MOST];
	char *request = requests[one - connections];
	ssize_t got = read(one->descriptor, request + one->length, REQUEST_MOST - one->length);

	if (got < 0 && errno == EAGAIN)
		return;
	one->length += got > 0 ? (size_t)got : 0;
	size_t size = got > 0 ? respond(request, one->length, answer) : 0;
	if (got > 0 && size == 0)
		return;
	/* a new connection's send buffer has room for every answer; otherwise the answer is cut */
	if (size > 0 && write(one->descriptor, answer, size) >= 0)
		shutdown(one->descriptor, SHUT_WR);
	end_connection(one);
}

/* Replaces the oldest connection if all are taken: silent connections must not keep probes out. */
static void accept_connection(int listener)
{
	struct connection *oldest = connections;
	int descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (descriptor < 0)
		return;
	for (struct connection *one = connections; one < connections + CONNECTIONS; one++)
		if (one->descriptor < 0 || (oldest->descriptor >= 0 && one->until < oldest->until))
			oldest = one;
	if (oldest->descriptor >= 0)
		end_connection(oldest);
	*oldest = (struct connection){ descriptor, milliseconds() + REQUEST_MS, 0 };
}

#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#ifdef __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* Any other system call ends the process, which svc-init restarts. A kernel without seccomp has no filter. */
static void confine(void)
{
	static struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(read),
		ALLOW(write),
		ALLOW(accept4),
		ALLOW(close),
		ALLOW(shutdown),
		ALLOW(ppoll),
#ifdef SYS_poll
		ALLOW(poll),
#endif
		ALLOW(clock_gettime),
		ALLOW(restart_syscall),
		ALLOW(exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog filter = { sizeof(program) / sizeof(*program), program };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static _Noreturn void serve_health(int listener)
{
	struct pollfd polled[CONNECTIONS + 1] = { { .fd = listener, .events = POLLIN } };

	for (int i = 0; i < CONNECTIONS; i++)
		connections[i].descriptor = -1;
	mprotect(shown, sizeof(*shown), PROT_READ);
	confine();
	for (;;) {
		bool open = false;
		int64_t now = milliseconds();
		for (int i = 0; i < CONNECTIONS; i++) {
			if (connections[i].descriptor >= 0 && now >= connections[i].until)
				end_connection(&connections[i]);
			polled[i + 1] = (struct pollfd){ .fd = connections[i].descriptor, .events = POLLIN };
			open = open || connections[i].descriptor >= 0;
		}
		if (poll(polled, CONNECTIONS + 1, open ? 1000 : -1) <= 0)
			continue;
		for (int i = 0; i < CONNECTIONS; i++)
			if (polled[i + 1].revents)
				read_request(&connections[i]);
		if (polled[0].revents)
			accept_connection(listener);
	}
}

#endif

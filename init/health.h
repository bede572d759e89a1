/*
 * The health endpoints, in a process of their own that holds no secret and may do little more than read, write and
 * accept. Their texts are those that the last worker left, with svc-init's own figures put in.
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

enum { PAGE_MOST = 12288, CONNECTIONS = 32, REQUEST_MOST = 8192, REQUEST_MS = 5000 };

/* What a worker leaves: bodies. The second of a pair is for a worker that has failed since. */
enum page { ALIVE, ALIVE_FAILED, READY, RESTARTING, ENDED, METRICS, PAGE_COUNT };

struct pages {
	uint32_t length[PAGE_COUNT];
	char text[PAGE_COUNT][PAGE_MOST];
};

/* Shared with the health process, which only reads it. A worker's pages are written beside those in force. */
struct shown {
	_Atomic uint32_t current, up, restarting, starts, workers, failed_workers, failing;
	_Atomic uint64_t locked, unlocked; /* bytes of svc-init's own memory */
	_Atomic int64_t token_end;
	struct pages pages[2];
};

static struct shown *shown;

/* The figure that stands behind a 1 byte in a text. */
static uint64_t figure(char name)
{
	int64_t left = shown->token_end - milliseconds();

	switch (name) {
	case 'u':
		return shown->up;
	case 's':
		return shown->starts;
	case 'w':
		return shown->workers - shown->failed_workers;
	case 'f':
		return shown->failed_workers;
	case 'l':
		return shown->locked;
	case 'm':
		return shown->unlocked;
	default:
		return left > 0 ? (uint64_t)left / 1000 : 0;
	}
}

/* Copies a page with its figures. `room` admits 20 digits more than there are bytes at each figure, or it is cut. */
static size_t fill_in(const char *text, size_t length, char *to, size_t room)
{
	size_t at = 0;

	for (size_t i = 0; i < length && at + 21 < room; i++) {
		if (text[i] == 1 && i + 1 < length)
			at += (size_t)snprintf(to + at, room - at, "%llu", (unsigned long long)figure(text[++i]));
		else
			to[at++] = text[i];
	}
	return at;
}

struct answer {
	const char *status, *headers, *text;
	size_t length;
};

#define JSON "content-type: application/json\r\n"

static struct answer page_answer(enum page page, const char *status, const char *headers)
{
	const struct pages *pages = &shown->pages[shown->current & 1];

	return (struct answer){ status, headers, pages->text[page], pages->length[page] };
}

static bool is_path(const char *at, size_t length, const char *path)
{
	size_t size = strlen(path);

	return length >= size && !memcmp(at, path, size) && (length == size || at[size] == '?');
}

static struct answer text_answer(const char *status, const char *headers, const char *text)
{
	return (struct answer){ status, headers, text, strlen(text) };
}

static struct answer answer_to(const char *path, size_t length, bool is_read)
{
	bool alive = is_path(path, length, "/healthz"), ready = is_path(path, length, "/readyz");

	if (!alive && !ready && !is_path(path, length, "/metrics"))
		return text_answer("404 Not Found", JSON, "{\"error\":\"not found\"}\n");
	if (!is_read)
		return text_answer("405 Method Not Allowed", JSON "allow: GET, HEAD\r\n",
				   "{\"error\":\"method not allowed\"}\n");
	if (alive)
		return page_answer(shown->failing ? ALIVE_FAILED : ALIVE, "200 OK", JSON);
	if (!ready)
		return page_answer(METRICS, "200 OK", "content-type: text/plain; version=0.0.4; charset=utf-8\r\n");
	if (shown->up && !shown->restarting)
		return page_answer(READY, "200 OK", JSON);
	return page_answer(shown->restarting ? RESTARTING : ENDED, "503 Service Unavailable", JSON);
}

/*
 * Answers the head of a request into `to`; 0 where it is not complete yet.
 * Only the first line of the request counts: METHOD SP /PATH SP HTTP/1.x CR LF.
 */
static size_t respond(const char *request, size_t length, char *to, size_t room)
{
	const char *line_end = memmem(request, length, "\r\n", 2), *end = memmem(request, length, "\r\n\r\n", 4);
	struct answer answer = text_answer("400 Bad Request", "", "");
	bool is_head = length >= 5 && !memcmp(request, "HEAD ", 5), is_get = length >= 4 && !memcmp(request, "GET ", 4);

	if (!end && length < REQUEST_MOST)
		return 0;
	if (!end)
		answer = text_answer("431 Request Header Fields Too Large", "", "");
	else {
		size_t line = (size_t)(line_end - request), method = 0, path;
		while (method < line && method < 17 && request[method] >= 'A' && request[method] <= 'Z')
			method++;
		const char *target = request + method + 1;
		for (path = 0; method + 1 + path < line && target[path] > 0x20 && target[path] < 0x7f; path++)
			;
		bool versioned = line == method + path + 10 && !memcmp(target + path, " HTTP/1.", 8) &&
				 (request[line - 1] == '0' || request[line - 1] == '1');
		if (method > 0 && method < 17 && request[method] == ' ' && path > 0 && target[0] == '/' && versioned)
			answer = answer_to(target, path, is_head || is_get);
	}
	static char body[PAGE_MOST + 2048];
	size_t size = fill_in(answer.text, answer.length, body, sizeof(body));
	int head =
		snprintf(to, room,
			 "HTTP/1.1 %s\r\n%scontent-length: %zu\r\ncache-control: no-store\r\nconnection: close\r\n\r\n",
			 answer.status, answer.headers, size);
	if (is_head || head < 0 || (size_t)head + size > room)
		return head < 0 ? 0 : (size_t)head;
	memcpy(to + head, body, size);
	return (size_t)head + size;
}

struct connection {
	int descriptor;
	int64_t until;
	size_t length;
};

/* Apart from their requests, whose pages are only touched when one comes. */
static struct connection connections[CONNECTIONS];
static char requests[CONNECTIONS][REQUEST_MOST];

static void end_connection(struct connection *one)
{
	close(one->descriptor);
	one->descriptor = -1;
}

static void read_request(struct connection *one)
{
	static char answer[PAGE_MOST + 4096];
	char *request = requests[one - connections];
	ssize_t got = read(one->descriptor, request + one->length, REQUEST_MOST - one->length);

	if (got < 0 && errno == EAGAIN)
		return;
	if (got <= 0) {
		end_connection(one);
		return;
	}
	one->length += (size_t)got;
	size_t size = respond(request, one->length, answer, sizeof(answer));
	if (size == 0)
		return;
	/* a new connection's buffer takes every answer; one that it does not take is cut */
	if (write(one->descriptor, answer, size) >= 0)
		shutdown(one->descriptor, SHUT_WR);
	end_connection(one);
}

/* The oldest gives way: connections that say nothing must not keep probes out. */
static void accept_connection(int listener)
{
	struct connection *oldest = connections;
	int descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (descriptor < 0)
		return;
	for (struct connection *one = connections; one < connections + CONNECTIONS; one++) {
		if (one->descriptor < 0 || (oldest->descriptor >= 0 && one->until < oldest->until))
			oldest = one;
	}
	if (oldest->descriptor >= 0)
		end_connection(oldest);
	oldest->descriptor = descriptor;
	oldest->until = milliseconds() + REQUEST_MS;
	oldest->length = 0;
}

#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#ifdef __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* Any other call ends the process, which svc-init then replaces. Without seccomp in the kernel there is no filter. */
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
			if (polled[i + 1].revents && connections[i].descriptor >= 0)
				read_request(&connections[i]);
		if (polled[0].revents)
			accept_connection(listener);
	}
}

#endif

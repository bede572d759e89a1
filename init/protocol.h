/* What the wrapper and its workers send over a socket pair, and what svc-init sends back: records of one size. */
#ifndef SVC_INIT_PROTOCOL_H
#define SVC_INIT_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum record_kind {
	/* from the wrapper or a worker */
	SETTINGS = 1, /* number: flags; values: grace in ms, most ms of a worker */
	LISTENER, /* + descriptor: the health socket */
	PAGES, /* + descriptor; values: length of each page */
	STATE, /* + descriptor: what the next worker gets back */
	SHARED, /* + descriptor: the records that the application shares */
	START, /* + descriptor; number: that of SHARED in the application, 0 for none; values: length, argc, envc */
	NOTIFY, /* number: a signal for the application */
	NEXT, /* number: 1 after a success; values: ms until the next worker, token's end in ms of CLOCK_MONOTONIC */
	HELLO, /* the worker has protected itself and may be given the state */
	/* to a worker */
	RUNNING = 32, /* number: the application's process id, 0 for none; values: bytes of own memory locked, not
			 locked */
	STARTED, /* number: its process id; 0 where it is not to run again */
};

enum setting_flag {
	SIGNAL_GROUP = 1,
	TERMINAL_OWNER = 2, /* the application leads a group, which is in the foreground when svc-init's is */
	TERMINAL_SHARED = 4, /* it stays in svc-init's group, beside others of a pipeline */
	HAS_TERMINAL = 8,
	LOG_TEXT = 16,
	LOG_DEBUG = 32,
	LOG_QUIET = 64, /* warnings and errors only */
	KEEP_SHARED = 128, /* workers renew the records in place */
	SECRET_MEMFD = 256, /* the secrets lie in memfd_secret memory */
	REQUIRE_LOCK = 512,
};

struct record {
	uint32_t kind;
	uint32_t number;
	uint64_t values[7];
};

/* Sends a record and at most one descriptor. */
static bool send_record(int socket, const struct record *record, int descriptor)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec data = { (void *)record, sizeof(*record) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };

	if (descriptor >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		struct cmsghdr *header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(*record);
}

/* 1 for a record, 0 for none at the moment, -1 when there will be no more or what came is none. */
static int receive_record(int socket, struct record *record, int *descriptor)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec data = { record, sizeof(*record) };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes)
	};

	*descriptor = -1;
	ssize_t length = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (length < 0)
		return 0;
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	size_t sent = header && header->cmsg_type == SCM_RIGHTS ? (header->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
	if (sent == 1)
		memcpy(descriptor, CMSG_DATA(header), sizeof(int));
	if (sent <= 1 && length == sizeof(*record) && !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return 1;
	for (size_t i = 0; i < sent; i++) { /* the alignment of the buffer leaves room for a second one */
		memcpy(descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
		close(*descriptor);
	}
	*descriptor = -1;
	return -1;
}

#endif

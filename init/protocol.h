/* Records of one size, which wrapper and workers exchange with svc-init over a socket pair. */
#ifndef SVC_INIT_PROTOCOL_H
#define SVC_INIT_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum record_kind {
	/* from the wrapper or a worker */
	SETTINGS = 1, /* number: flags; values: grace in ms, longest time of a worker in ms */
	LISTENER, /* + descriptor: the health socket */
	PAGES, /* + descriptor; values: length of the content */
	STATE, /* + descriptor: handed to the next worker */
	SHARED, /* + descriptor: the records that the application shares */
	START, /* + descriptor; number: SHARED's descriptor in the application, 0 for none; values: length, argc, envc.
		* Held, if from a worker that ends, until its STATE arrives */
	NOTIFY, /* number: a signal for the application */
	NEXT, /* number: 1 after a success; values: ms until the next worker, token's end in ms of CLOCK_MONOTONIC */
	HELLO, /* the worker has protected itself and asks for the state; RESIDENT: for VAULT_TOKEN, which is kept here
		  no longer */
	AGENT, /* answered with a connection to the node agent, or none */
	TOKEN, /* answered with a descriptor of the service account token, or none */
	/* to a worker */
	RUNNING = 32, /* number: the application's process id, 0: none; values: svc-init's locked and unlocked bytes */
	STARTED, /* number: its process id; 0 if it will not run again */
};

enum setting_flag {
	SIGNAL_GROUP = 1,
	LOG_TEXT = 2,
	LOG_LEAST = 4 | 8, /* 0 to 3: debug, info, warn, error */
	KEEP_SHARED = 16, /* workers renew the records in place */
	SECRET_MEMFD = 32, /* secrets and state lie in memfd_secret memory */
	REQUIRE_LOCK = 64,
	RESIDENT = 128, /* one worker starts the first application and stays; it is started at once */
};

struct record {
	uint32_t kind;
	uint32_t number;
	uint64_t values[7];
};

union rights {
	struct cmsghdr header;
	char bytes[CMSG_LEN(sizeof(int))]; /* one descriptor: the kernel closes any others */
};

/* Sends a record and at most one descriptor. */
static bool send_record(int socket, const struct record *record, int descriptor)
{
	union rights rights = {
		.header = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS }
	};
	struct iovec data = { (void *)record, sizeof(*record) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };

	memcpy(CMSG_DATA(&rights.header), &descriptor, sizeof(int));
	if (descriptor >= 0) {
		message.msg_control = rights.bytes;
		message.msg_controllen = CMSG_LEN(sizeof(int));
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(*record);
}

/* 1 for a record, 0 if none has arrived, -1 at the end or for an invalid record. */
static int receive_record(int socket, struct record *record, int *descriptor)
{
	union rights rights;
	struct iovec data = { record, sizeof(*record) };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = rights.bytes, .msg_controllen = CMSG_LEN(sizeof(int))
	};
	ssize_t length = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	*descriptor = -1;
	if (length < 0)
		return 0;
	if (message.msg_controllen >= CMSG_LEN(sizeof(int)) && rights.header.cmsg_type == SCM_RIGHTS)
		memcpy(descriptor, CMSG_DATA(&rights.header), sizeof(int));
	if (length == sizeof(*record) && !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return 1;
	if (*descriptor >= 0)
		close(*descriptor);
	*descriptor = -1;
	return -1;
}

#endif

/*
 * Gives svc-init what a hostile network or a broken worker would: `fuzz CASES SEED`. Built with the sanitizers, which
 * end it at the first access outside of an object; the checks below end it where an answer is not what it should be.
 */
#define SVC_INIT_TEST
#include "../../init/svc-init.c"

#define REQUIRE(holds)                                                                       \
	do {                                                                                 \
		if (!(holds)) {                                                              \
			fprintf(stderr, "case %llu: %s\n", (unsigned long long)now, #holds); \
			abort();                                                             \
		}                                                                            \
	} while (0)

static uint64_t state, now;

static uint64_t draw(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return below ? state % below : 0;
}

/* A copy that ends where its memory does, so that one byte too far is seen. */
static char *exactly(const void *bytes, size_t length)
{
	char *copy = malloc(length ? length : 1);

	memcpy(copy, bytes, length);
	return copy;
}

static const char *const parts[] = {
	"GET",	    "HEAD",	"POST", "",	     " ",	    "/",	"/healthz",
	"/readyz",  "/metrics", "?a=b", " HTTP/1.1", " HTTP/1.0",   " HTTP/2",	"\r\n",
	"\r\n\r\n", "\r",	"\n",	"\t",	     "Host: a\r\n", "\x80\xff", "ABCDEFGHIJKLMNOPQRS"
};

static void try_request(void)
{
	static char text[REQUEST_MOST];
	static char answer[PAGES_MOST];
	size_t length = 0;

	if (draw(4) == 0)
		length = (size_t)snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\n\r\n", parts[5 + draw(4)]);
	for (uint64_t left = draw(draw(50) ? 12 : 1500); left > 0; left--) {
		const char *part = parts[draw(sizeof(parts) / sizeof(*parts))];
		if (length + strlen(part) > sizeof(text))
			break;
		memcpy(text + length, part, strlen(part));
		length += strlen(part);
	}
	for (uint64_t left = draw(3); left > 0 && length > 0; left--)
		text[draw(length)] = (char)draw(256);
	if (draw(500) == 0) {
		memset(text, 'a', sizeof(text));
		length = sizeof(text);
	}
	char *request = exactly(text, length);
	size_t size = respond(request, length, answer);
	bool complete = memmem(text, length, "\r\n\r\n", 4) || length == REQUEST_MOST;
	REQUIRE(size <= sizeof(answer));
	REQUIRE(complete == (size > 0));
	REQUIRE(size == 0 || (!memcmp(answer, "HTTP/1.1 ", 9) && memmem(answer, size, "\r\n\r\n", 4)));
	free(request);
}

static void try_region(void)
{
	uint64_t words[40], argc = draw(6), envc = draw(6), count = argc + envc + 3, length = count * 8 + draw(80);
	struct strings strings;

	if (length > sizeof(words))
		length = sizeof(words);
	memset(words, 0, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / 8; i++)
		words[i] = i == argc + 1 || i == count - 1 ? 0 : count * 8 + draw(length - count * 8 + 1);
	for (size_t at = count * 8; at < length; at++)
		((char *)words)[at] = (char)draw(3);
	if (draw(3))
		((char *)words)[length - 1] = 0;
	if (draw(3) == 0)
		words[draw(count)] = draw(2) ? state : draw(400);
	if (draw(10) == 0)
		argc = state;
	if (draw(10) == 0)
		envc = draw(2) ? ~0ull : state;
	char *region = exactly(words, length);
	if (relocate(region, length, argc, envc, &strings)) {
		REQUIRE(argc < 40 && envc < 40 && !strings.argv[argc] && !strings.envp[envc]);
		REQUIRE(strings.file + strlen(strings.file) < region + length);
		for (uint64_t i = 0; i < argc; i++)
			REQUIRE(strings.argv[i] + strlen(strings.argv[i]) < region + length);
		for (uint64_t i = 0; i < envc; i++)
			REQUIRE(strings.envp[i] + strlen(strings.envp[i]) < region + length);
	}
	free(region);
}

static int pages_file, odd_file;

static void try_record(void)
{
	struct record record = { .kind = (uint32_t)draw(14), .number = (uint32_t)draw(1100) };
	int descriptor = draw(3) ? dup(draw(2) ? pages_file : odd_file) : -1;

	if (draw(20) == 0)
		record.kind = (uint32_t)state;
	for (int i = 0; i < 7; i++)
		record.values[i] = draw(3) ? draw(PAGES_MOST * 5 / 4) : draw(2) ? draw(40) : state;
	take_record(&record, &descriptor);
	if (descriptor >= 0)
		close(descriptor);
	flags = 0;
	const uint32_t *end = shown->pages[shown->current & 1].end;
	for (int i = 0; i < PAGE_COUNT; i++)
		REQUIRE(end[i] <= PAGES_MOST && (i == 0 || end[i - 1] <= end[i]));
	take_pages(sizeof(struct pages), pages_file); /* so that the next request is answered */
}

/* Messages of any length over a socket, with and without a descriptor. */
static void try_message(void)
{
	char bytes[200] = { 0 };
	struct record record;
	int pair[2], descriptor = -1;
	size_t length = draw(2) ? sizeof(record) : draw(sizeof(bytes));

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		return;
	if (length == sizeof(record))
		send_record(pair[0], (struct record *)(void *)bytes, draw(2) ? pages_file : -1);
	else if (send(pair[0], bytes, length, 0) < 0)
		abort();
	int result = receive_record(pair[1], &record, &descriptor);
	REQUIRE(result == (length == sizeof(record) ? 1 : -1));
	REQUIRE(result == 1 || descriptor < 0);
	if (descriptor >= 0)
		close(descriptor);
	close(pair[0]);
	close(pair[1]);
}

/* Time is up for a worker that does not end at once when it is killed: nothing more is due in this moment. */
static void check_slow_end(void)
{
	siginfo_t info;

	worker.pid = fork();
	if (worker.pid == 0)
		_exit(0);
	waitid(P_PID, (id_t)worker.pid, &info, WEXITED | WNOWAIT);
	worker.started = milliseconds() - self.worker_most;
	REQUIRE(do_due() > 0);
	end_child(&worker.pid);
}

/* A worker has ended before its last record was read. */
static void check_last_record(void)
{
	struct record record = { .kind = NEXT, .number = 1, .values = { 1000 } };
	int pair[2];

	REQUIRE(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	worker.socket = pair[0];
	worker.pid = 1;
	REQUIRE(send_record(pair[1], &record, -1));
	close(pair[1]);
	worker_ended(0);
	REQUIRE(shown->figures[ENDED_WORKERS] == 1 && !shown->failing && worker.wake_at != NEVER);
	worker.wake_at = NEVER;
}

int main(int argc, char **argv)
{
	uint64_t cases = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
	static struct pages pages;

	state = 0x9e3779b97f4a7c15ull ^ (argc > 2 ? strtoull(argv[2], NULL, 10) << 17 : 0);
	self.agent = self.token = "";
	shown = mmap(NULL, sizeof(*shown), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check_slow_end();
	check_last_record();
	sweep.active = true; /* what is to be started is only kept */
	pages_file = memfd_create("pages", MFD_CLOEXEC);
	odd_file = memfd_create("odd", MFD_CLOEXEC);
	for (size_t i = 0; i < PAGES_MOST; i++)
		pages.text[i] = draw(40) ? (char)('a' + draw(26)) : 1;
	for (uint32_t i = 0; i < PAGE_COUNT; i++) {
		memcpy(pages.text + i * 3000, "HTTP/1.1 200 OK\r\n\r\n", 19);
		pages.end[i] = (i + 1) * 3000;
	}
	if (shown == MAP_FAILED || write(pages_file, &pages, sizeof(pages)) != sizeof(pages) ||
	    !take_pages(sizeof(pages), pages_file))
		return 1;
	for (uint32_t i = 0; i < PAGE_COUNT; i++)
		pages.end[i] = (uint32_t)draw(PAGES_MOST * 2);
	if (write(odd_file, &pages, sizeof(pages)) != sizeof(pages))
		return 1;
	for (now = 0; now < cases; now++) {
		uint64_t kind = draw(64);
		if (kind < 32)
			try_request();
		else if (kind < 58)
			try_region();
		else if (kind < 63)
			try_record();
		else
			try_message();
	}
	printf("%llu cases\n", (unsigned long long)cases);
	return 0;
}

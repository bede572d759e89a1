/* Cases and what they expect. Each runs in a process of its own, and says in one line how it went. */
#ifndef CASE_H
#define CASE_H

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_CASES 256

static struct {
	const char *name;
	void (*run)(void);
} cases[MOST_CASES];
static int case_count;

#define CASE(function, title)                                              \
	static void function(void);                                        \
	__attribute__((constructor)) static void register_##function(void) \
	{                                                                  \
		cases[case_count].name = title;                            \
		cases[case_count++].run = function;                        \
	}                                                                  \
	static void function(void)

#define EXPECT(condition)                                                      \
	do {                                                                   \
		if (!(condition)) {                                            \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			fflush(stdout);                                        \
			_exit(1);                                              \
		}                                                              \
	} while (0)

#define EQUAL(actual, expected)                                                                             \
	do {                                                                                                \
		long long is_ = (long long)(actual), wanted_ = (long long)(expected);                       \
		if (is_ != wanted_) {                                                                       \
			printf("%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #actual, is_, wanted_); \
			fflush(stdout);                                                                     \
			_exit(1);                                                                           \
		}                                                                                           \
	} while (0)

/* Answers what it said, with its end where that was not status 0. */
static void run_case(int index, char *said, size_t length)
{
	int ends[2], status;
	size_t used = 0;
	ssize_t got;

	if (pipe(ends))
		abort();
	pid_t child = fork();

	if (!child) {
		dup2(ends[1], 1);
		dup2(ends[1], 2);
		cases[index].run();
		fflush(stdout);
		_exit(0);
	}
	close(ends[1]);
	while (used < length - 64 && (got = read(ends[0], said + used, length - 64 - used)) > 0)
		used += got;
	close(ends[0]);
	waitpid(child, &status, 0);
	said[used] = 0;
	if (status)
		snprintf(said + used, 64, "(ended with %s %d)", WIFSIGNALED(status) ? "signal" : "status",
			 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static void run_cases(void)
{
	static char said[8192];

	for (int index = 0; index < case_count; index++) {
		run_case(index, said, sizeof(said));
		for (char *at = said; *at; at++)
			if (*at == '\n')
				*at = ' ';
		if (*said)
			printf("not ok %s: %s\n", cases[index].name, said);
		else
			printf("ok %s\n", cases[index].name);
		fflush(stdout);
	}
}

#endif

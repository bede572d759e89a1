/* Log lines like the wrapper's, without allocating memory: names and numbers only. */
#ifndef SVC_INIT_LOG_H
#define SVC_INIT_LOG_H

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include "protocol.h"

static uint32_t flags;

static int64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static const char *signal_name(int number)
{
	static const char names[][7] = { "0",	   "HUP",  "INT",    "QUIT", "ILL",   "TRAP", "ABRT", "BUS",
					 "FPE",	   "KILL", "USR1",   "SEGV", "USR2",  "PIPE", "ALRM", "TERM",
					 "STKFLT", "CHLD", "CONT",   "STOP", "TSTP",  "TTIN", "TTOU", "URG",
					 "XCPU",   "XFSZ", "VTALRM", "PROF", "WINCH", "IO",   "PWR",  "SYS" };

	return number > 0 && number < 32 ? names[number] : "RT";
}

/* `,"pid":1` becomes ` pid=1`; values stay unchanged. */
static void to_text(char *fields)
{
	char *to = fields;
	bool in_name = false, in_value = false;

	for (const char *from = fields; *from; from++) {
		if (!in_value && (*from == ',' || (in_name && *from == ':'))) {
			in_name = *from == ',';
			*to++ = in_name ? ' ' : '=';
		} else if (!in_name || *from != '"') {
			in_value ^= *from == '"';
			*to++ = *from;
		}
	}
	*to = 0;
}

/*
 * Logs one line; `fields` is `,"name":value` and so on, in JSON. With a pipe that nobody reads the line is lost, and
 * the first time a tenth of a second.
 */
__attribute__((format(printf, 3, 4))) static void log_line(const char *level, const char *event, const char *fields,
							   ...)
{
	static const char levels[] = "diwe";
	char told[384], line[640], second[32];
	static bool unread;
	bool text = flags & LOG_TEXT;
	struct pollfd error = { .fd = 2, .events = POLLOUT };
	struct timespec now;
	struct tm date;
	va_list list;

	if (strchr(levels, *level) - levels < (flags & LOG_LEAST) / 4)
		return;
	va_start(list, fields);
	vsnprintf(told, sizeof(told), fields, list);
	va_end(list);
	if (text)
		to_text(told);
	clock_gettime(CLOCK_REALTIME, &now);
	strftime(second, sizeof(second), text ? "%T" : "%FT%T", gmtime_r(&now.tv_sec, &date));
	int length = snprintf(
		line, sizeof(line),
		text ? "%2$s.%3$03d %1$-5s wrapper %4$s%5$s\n"
		     : "{\"level\":\"%s\",\"time\":\"%s.%03dZ\",\"component\":\"wrapper\",\"event\":\"%s\"%s}\n",
		level, second, (int)(now.tv_nsec / 1000000), event, told);
	size_t size = (size_t)length < sizeof(line) ? (size_t)length : sizeof(line) - 1;
	unread = poll(&error, 1, unread ? 0 : 100) != 1;
	if (!unread && write(2, line, size) < 0)
		return;
}

#endif

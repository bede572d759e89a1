/* Lines as the wrapper logs them, without memory of their own: names and numbers only. */
#ifndef SVC_INIT_LOG_H
#define SVC_INIT_LOG_H

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include "protocol.h"

static uint32_t log_flags;

static int64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct calendar {
	int64_t year;
	unsigned month, day, second;
};

/* gmtime() reads files of time zones. The algorithm counts from the 1st of March, so that leap days come last. */
static struct calendar calendar_of(int64_t seconds)
{
	int64_t days = seconds / 86400 + 719468, era = days / 146097;
	unsigned of_era = (unsigned)(days - era * 146097);
	unsigned year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	unsigned of_year = of_era - (365 * year + year / 4 - year / 100);
	unsigned month = (5 * of_year + 2) / 153;
	struct calendar date = { .day = of_year - (153 * month + 2) / 5 + 1,
				 .month = month < 10 ? month + 3 : month - 9,
				 .second = (unsigned)(seconds % 86400) };

	date.year = (int64_t)year + era * 400 + (date.month <= 2);
	return date;
}

/* A pipe that nobody reads costs the line: svc-init never waits for a reader. */
static void write_line(const char *line, size_t length)
{
	struct pollfd error = { .fd = 2, .events = POLLOUT };

	if (poll(&error, 1, 100) == 1 && write(2, line, length) < 0)
		return;
}

/* `,"pid":1` becomes ` pid=1`: outside of values. */
static void to_text(char *fields)
{
	char *to = fields;
	bool in_name = false, in_value = false;

	for (const char *from = fields; *from; from++) {
		bool quote = *from == '"';
		if (!in_value && *from == ',') {
			in_name = true;
			*to++ = ' ';
		} else if (in_name && *from == ':') {
			in_name = false;
			*to++ = '=';
		} else if (!in_name || !quote) {
			in_value = quote ? !in_value : in_value;
			*to++ = *from;
		}
	}
	*to = 0;
}

/* One line; `fields` is `,"name":value` and so on, as JSON has it. */
__attribute__((format(printf, 3, 4))) static void log_line(const char *level, const char *event, const char *fields,
							   ...)
{
	char told[384], line[640];
	struct timespec now;
	va_list list;

	if ((*level == 'd' && !(log_flags & LOG_DEBUG)) || (*level == 'i' && (log_flags & LOG_QUIET)))
		return;
	va_start(list, fields);
	vsnprintf(told, sizeof(told), fields, list);
	va_end(list);
	clock_gettime(CLOCK_REALTIME, &now);
	struct calendar date = calendar_of(now.tv_sec);
	unsigned of_day = date.second, ms = (unsigned)(now.tv_nsec / 1000000);
	int length;
	if (log_flags & LOG_TEXT) {
		to_text(told);
		length = snprintf(line, sizeof(line), "%02u:%02u:%02u.%03u %-5s wrapper %s%s\n", of_day / 3600,
				  of_day / 60 % 60, of_day % 60, ms, level, event, told);
	} else {
		length = snprintf(line, sizeof(line),
				  "{\"level\":\"%s\",\"time\":\"%04d-%02u-%02uT%02u:%02u:%02u.%03uZ\","
				  "\"component\":\"wrapper\",\"event\":\"%s\"%s}\n",
				  level, (int)date.year, date.month, date.day, of_day / 3600, of_day / 60 % 60,
				  of_day % 60, ms, event, told);
	}
	write_line(line, (size_t)length < sizeof(line) ? (size_t)length : sizeof(line) - 1);
}

#endif

/* calls.c - names of system calls by their numbers. */
#include "cli/latency/calls.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char text_calls_txt[];

/* Finds a number in the part of the table that has a machine's name. Returns
 * whether it is there. */
static bool calls_find(const char *machine, int64_t number,
		       char out[CALLS_NAME])
{
	char head[32];
	const char *p;
	int64_t at = 0;
	size_t len;

	snprintf(head, sizeof(head), "[%s]", machine);
	p = strstr(text_calls_txt, head);
	if (!p)
		return false;
	for (p += strlen(head); *p && *p != '['; p += len) {
		len = strcspn(p, " \n");
		if (!len) {
			len = 1;
		} else if (*p == '=') {
			at = strtol(p + 1, NULL, 10);
		} else if (at++ == number) {
			snprintf(out, CALLS_NAME, "%.*s", (int)len, p);
			return true;
		}
	}
	return false;
}

const char *calls_name(const char *machine, int64_t number,
		       char out[CALLS_NAME])
{
	static const char *const known[] = { "x86_64", "i386", "aarch64",
					     "s390x" };
	bool is = false;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		is |= !strcmp(known[i], machine);
	if (!is || (!calls_find(machine, number, out) &&
		    !calls_find("all", number, out)))
		snprintf(out, CALLS_NAME, "NR %" PRId64, number);
	return out;
}

bool calls_wait(const char *name, bool *either)
{
	/* and their forms: epoll_pwait2, recvmsg, futex_time64 */
	static const char *const begin[] = {
		"accept",      "clock_nanosleep", "epoll_pwait",
		"epoll_wait",  "futex",		  "io_getevents",
		"io_pgetev",   "io_uring_enter",  "mq_timedreceive",
		"msgrcv",      "nanosleep",	  "pause",
		"poll",	       "ppoll",		  "pselect6",
		"recv",	       "restart_syscall", "rt_sigsuspend",
		"rt_sigtimed", "select",	  "sigsuspend",
		"wait4",       "waitid",	  "waitpid",
	};
	static const char *const may[] = { "read", "readv", "write", "writev" };

	*either = false;
	for (size_t i = 0; i < sizeof(may) / sizeof(*may); i++)
		*either |= !strcmp(name, may[i]);
	for (size_t i = 0; i < sizeof(begin) / sizeof(*begin); i++)
		if (!strncmp(name, begin[i], strlen(begin[i])))
			return true;
	return *either;
}

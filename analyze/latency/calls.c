/* calls.c - names of system calls by their numbers. */
#include "analyze/latency/calls.h"
#include "stitch/base/mem.h"

#include <inttypes.h>

extern const char text_calls_txt[];

/* Finds a call in the part of the table for a machine: by *number, or by its
 * name, if that is not NULL. Returns the start of its name in the table, and
 * sets *len and *number; NULL if it is not there. */
static const char *calls_find(const char *machine, const char *name,
			      int64_t *number, size_t *len)
{
	char head[32];
	const char *p;
	int64_t at = 0;

	snprintf(head, sizeof(head), "[%s]", machine);
	p = strstr(text_calls_txt, head);
	if (!p)
		return NULL;
	for (p += strlen(head); *p && *p != '['; p += *len) {
		*len = strcspn(p, " \n");
		if (!*len) {
			*len = 1;
		} else if (*p == '=') {
			at = strtol(p + 1, NULL, 10);
		} else {
			if (name ? *len == strlen(name) &&
					    !strncmp(p, name, *len)
				 : at == *number) {
				*number = at;
				return p;
			}
			at++;
		}
	}
	return NULL;
}

/* Does the same in the part of a machine, if it is known, and then in the part
 * for all machines. */
static const char *calls_of(const char *machine, const char *name,
			    int64_t *number, size_t *len)
{
	static const char *const known[] = { "x86_64", "i386", "aarch64",
					     "s390x" };
	const char *p;

	if (!any_where(ARRAY_SIZE(known), i, !strcmp(known[i], machine)))
		return NULL;
	p = calls_find(machine, name, number, len);
	return p ? p : calls_find("all", name, number, len);
}

const char *calls_name(const char *machine, int64_t number,
		       char out[CALLS_NAME])
{
	size_t len;
	const char *p = calls_of(machine, NULL, &number, &len);

	if (p)
		snprintf(out, CALLS_NAME, "%.*s", (int)len, p);
	else
		snprintf(out, CALLS_NAME, "NR %" PRId64, number);
	return out;
}

bool calls_number(const char *machine, const char *name, int64_t *number)
{
	size_t len;

	return calls_of(machine, name, number, &len) != NULL;
}

bool calls_wait(const char *name, bool *either)
{
	/* and longer names: epoll_pwait2, recvmsg, futex_time64 */
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

	*either = any_where(ARRAY_SIZE(may), i, !strcmp(name, may[i]));
	return *either || any_where(ARRAY_SIZE(begin), i,
				    !strncmp(name, begin[i], strlen(begin[i])));
}

bool calls_descriptor(const char *name)
{
	/* and longer names: readv, pread64, recvmmsg, epoll_pwait2 */
	static const char *const begin[] = {
		"accept",      "connect",	 "copy_file_range",
		"epoll_pwait", "epoll_wait",	 "fallocate",
		"fcntl",       "fdatasync",	 "flock",
		"fstat",       "fsync",		 "ftruncate",
		"getdents",    "io_uring_enter", "ioctl",
		"lseek",       "pread",		 "pwrite",
		"read",	       "recv",		 "send",
		"shutdown",    "splice",	 "sync_file_range",
		"syncfs",      "write",		 "close",
	};
	static const char *const no[] = { "readlink", "readahead_", "fstatat",
					  "close_range" };

	return any_where(ARRAY_SIZE(begin), i,
			 !strncmp(name, begin[i], strlen(begin[i]))) &&
	       !any_where(ARRAY_SIZE(no), i,
			  !strncmp(name, no[i], strlen(no[i])));
}

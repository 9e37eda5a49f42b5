/* clocks.c - knows the clocks of captures, and formats times as text. */
#include "stitch/order/clocks.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "stitch/base/mem.h"
#include "stitch/base/now.h"

enum clock_id clock_id_of(const char *name)
{
	static const struct {
		const char *name;
		enum clock_id id;
	} clock[] = {
		{ "perf", CLOCK_ID_PERF },
		{ "local", CLOCK_ID_SCHED },
		{ "global", CLOCK_ID_GLOBAL },
		{ "mono", CLOCK_ID_MONO },
		{ "monotonic", CLOCK_ID_MONO },
		{ "mono_raw", CLOCK_ID_MONO_RAW },
		{ "monotonic_raw", CLOCK_ID_MONO_RAW },
		{ "boot", CLOCK_ID_BOOT },
		{ "boottime", CLOCK_ID_BOOT },
		{ "real", CLOCK_ID_REAL },
		{ "realtime", CLOCK_ID_REAL },
		{ "tai", CLOCK_ID_TAI },
		{ "x86-tsc", CLOCK_ID_TSC },
	};

	for (size_t i = 0; name && i < ARRAY_SIZE(clock); i++)
		if (!strcmp(name, clock[i].name))
			return clock[i].id;
	return CLOCK_ID_NONE;
}

bool clock_is_steered(enum clock_id id)
{
	return id == CLOCK_ID_MONO || id == CLOCK_ID_BOOT ||
	       id == CLOCK_ID_REAL || id == CLOCK_ID_TAI;
}

/* Returns the current time of perf's clock, 0 if events are not permitted. No
 * system call returns it: setting the thread's own name makes a record with the
 * time. */
static int64_t clock_perf_now(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_DUMMY,
					.sample_type = PERF_SAMPLE_TIME,
					.exclude_kernel = 1,
					.comm = 1,
					.sample_id_all = 1 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			      PERF_FLAG_FD_CLOEXEC);
	struct perf_event_mmap_page *ring =
		mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, fd, 0);
	char name[16];
	int64_t now = 0;

	if (ring != MAP_FAILED) {
		prctl(PR_GET_NAME, name);
		prctl(PR_SET_NAME, name);
		/* the record ends with the time */
		if (ring->data_head > sizeof(now) && ring->data_head <= page)
			memcpy(&now,
			       (char *)ring + page + ring->data_head -
				       sizeof(now),
			       sizeof(now));
		munmap(ring, 2 * page);
	}
	close(fd);
	return now;
}

int64_t clock_age(enum clock_id id, int64_t ns)
{
	static const clockid_t clock[] = {
		[CLOCK_ID_PERF] = CLOCK_MONOTONIC_RAW,
		[CLOCK_ID_SCHED] = CLOCK_MONOTONIC_RAW,
		[CLOCK_ID_GLOBAL] = CLOCK_MONOTONIC_RAW,
		[CLOCK_ID_MONO] = CLOCK_MONOTONIC,
		[CLOCK_ID_MONO_RAW] = CLOCK_MONOTONIC_RAW,
		[CLOCK_ID_BOOT] = CLOCK_BOOTTIME,
		[CLOCK_ID_REAL] = CLOCK_REALTIME,
		[CLOCK_ID_TAI] = CLOCK_TAI,
	};

	if (id == CLOCK_ID_NONE || id >= ARRAY_SIZE(clock))
		return 0;
	int64_t now = id <= CLOCK_ID_GLOBAL ? clock_perf_now() : 0;

	return (now ? now : now_of(clock[id])) - ns;
}

bool clock_is_raw(const struct source_info *info)
{
	return info->clock_id == CLOCK_ID_TSC && !info->tsc.mult;
}

#define SECOND 1000000000

size_t clock_utc(int64_t ns, char buf[CLOCK_UTC_SIZE])
{
	time_t s = ns / SECOND - (ns % SECOND < 0);
	struct tm tm;
	size_t n = 0;

	if (gmtime_r(&s, &tm))
		n = strftime(buf, CLOCK_UTC_SIZE / 2, "%Y-%m-%dT%H:%M:%S", &tm);
	if (!n)
		return 0;
	return n + (size_t)snprintf(buf + n, CLOCK_UTC_SIZE - n, ".%09dZ",
				    (int)((ns % SECOND + SECOND) % SECOND));
}

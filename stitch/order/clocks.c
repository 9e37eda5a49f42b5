/* clocks.c - which clocks there are, and how times go from one to another. */
#include "stitch/order/clocks.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

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

	for (size_t i = 0; name && i < sizeof(clock) / sizeof(*clock); i++)
		if (!strcmp(name, clock[i].name))
			return clock[i].id;
	return CLOCK_ID_NONE;
}

bool clock_is_steered(enum clock_id id)
{
	return id == CLOCK_ID_MONO || id == CLOCK_ID_BOOT ||
	       id == CLOCK_ID_REAL || id == CLOCK_ID_TAI;
}

bool clock_is_raw(const struct source_info *info)
{
	return info->clock_id == CLOCK_ID_TSC && !info->tsc.mult;
}

/* Unsigned sums wrap where a hostile capture makes them: such a time is then
 * far away, and nothing worse. */
static uint64_t move(const struct clock_map *m, uint64_t t)
{
	if (m->drift) {
		__int128 by = (__int128)(int64_t)(t - m->at) * m->drift;

		t += (uint64_t)(by >> 48);
	}
	return t + (uint64_t)m->offset;
}

uint64_t clock_map_time(const struct clock_map *m, uint64_t t)
{
	if (m->tsc.mult)
		t = m->tsc.zero +
		    (uint64_t)(((unsigned __int128)t * m->tsc.mult) >>
			       (m->tsc.shift & 63));
	return move(m, t);
}

struct clock_map clock_map_then(const struct clock_map *a,
				const struct clock_map *b)
{
	struct clock_map c = { .tsc = a->tsc };

	c.at = a->drift ? a->at : b->at - (uint64_t)a->offset;
	c.offset = (int64_t)(move(b, move(a, c.at)) - c.at);
	__int128 drift = (__int128)a->drift + b->drift +
			 ((__int128)a->drift * b->drift >> 48);

	c.drift = (int64_t)drift;
	return c;
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

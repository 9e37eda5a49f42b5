/* counters.c - the per-CPU counters inside cookies, and what is missing. */
#include "stitch/counters.h"

#include <stdlib.h>

#include "stitch/facts.h"
#include "stitch/losses.h"
#include "stitch/mem.h"
#include "stitch/stitch.h"

struct counters {
	struct facts *out;
	struct losses *losses;
	enum cookie_layout layout;
};

const char *cookie_layout_name(unsigned int layout)
{
	static const char *const words[] = {
		[LAYOUT_AUTO] = "auto",	  [LAYOUT_KERNEL] = "kernel",
		[LAYOUT_CPU48] = "cpu48", [LAYOUT_LOWCPU] = "lowcpu",
		[LAYOUT_PAIR] = "pair",	  [LAYOUT_OPAQUE] = "opaque",
	};

	return layout < sizeof(words) / sizeof(words[0]) ? words[layout] : NULL;
}

struct counters *counters_new(struct facts *out, struct losses *ls,
			      enum cookie_layout layout)
{
	struct counters *cs = mem_new(1, sizeof(*cs));

	cs->out = out;
	cs->losses = ls;
	cs->layout = layout;
	return cs;
}

void counters_free(struct counters *cs)
{
	free(cs);
}

void counters_source(struct counters *cs, uint16_t source,
		     const struct source_info *info)
{
	(void)cs;
	(void)source;
	(void)info;
}

bool counters_see(struct counters *cs, uint16_t source, uint64_t cookie,
		  int32_t cpu, int64_t time, bool is_sample)
{
	(void)cs;
	(void)source;
	(void)cookie;
	(void)cpu;
	(void)time;
	(void)is_sample;
	return false;
}

int32_t counters_cpu(const struct counters *cs, uint16_t source,
		     uint64_t cookie)
{
	(void)cs;
	(void)source;
	(void)cookie;
	return -1;
}

void counters_end(struct counters *cs, uint16_t source,
		  const struct counters_end *end)
{
	(void)cs;
	(void)source;
	(void)end;
}

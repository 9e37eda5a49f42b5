/* sync.h - the clock of a ring, and of a guest: the option TIME_SHIFT. */
#pragma once

#include "formats/ftrace/ftrace.h"
#include "stitch/base/wide.h"

/* Reads the option TIME_SHIFT: for each CPU of a guest, what to add to its
 * times for those of the host, measured again and again. Returns 0, or -1 and
 * *err if it is damaged. */
int ft_sync_read(struct ft *ft, struct bytes *b, struct err *err);
void ft_sync_release(struct ft *ft);
/* Returns a time of a CPU, moved as the option says; unchanged if it says
 * nothing of that CPU. */
uint64_t ft_sync_time(const struct ft *ft, int32_t cpu, uint64_t t);
/* Converts a ring's time to ns on the capture's clock. */
static inline uint64_t ft_time(const struct ft *ft, const struct ft_stream *s,
			       uint64_t t)
{
	if (ft->synced)
		t = ft_sync_time(ft, s->cpu, t);
	if (ft->mult)
		t = wide_shift(wide_mul(t, ft->mult), ft->mult_shift);
	return t + (uint64_t)ft->shift;
}
/* Moves the times of a guest to its host's clock, if host is the host that the
 * guest's TIME_SHIFT names. */
void ft_sync_pair(struct ft *guest, const struct ft *host);

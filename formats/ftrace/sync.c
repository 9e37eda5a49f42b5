/* sync.c - converts times of a guest to the clock of its host.
 *
 * During the recording, trace-cmd measures the difference between the clock of
 * each CPU of a guest and the host's clock (option TIME_SHIFT of the guest's
 * file). As in trace-cmd, it is used when the host's file is read together with
 * the guest's: the option names the host's TRACEID. */
#include "formats/ftrace/sync.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "stitch/base/err.h"
#include "stitch/base/search.h"

#define CPUS_MAX 65536u
#define SAMPLES_MAX 1000000u
#define INTERPOLATE 1u

COMPARE_BY(ft_sync_compare, struct ft_sample, time);

/* Older recorders write no fractions. */
static void ft_sync_take_fractions(struct ft *ft, struct bytes *b)
{
	for (size_t c = 0; c < ft->n_sync; c++)
		for (uint32_t i = 0; i < ft->sync[c].n; i++) {
			uint64_t bits = 0;

			if (bytes_u64(b, &bits, NULL))
				return;
			ft->sync[c].at[i].fraction = bits < 64 ? bits : 63;
		}
}

int ft_sync_read(struct ft *ft, struct bytes *b, struct err *err)
{
	uint32_t cpus, n;

	ft_sync_release(ft);
	if (bytes_u64(b, &ft->peer, err) ||
	    bytes_u32(b, &ft->sync_flags, err) || bytes_u32(b, &cpus, err))
		return -1;
	if (cpus > CPUS_MAX || cpus > bytes_left(b) / 4)
		return err_at(err, b->path, bytes_off(b),
			      "time samples of %" PRIu32 " CPUs, more than "
			      "there are bytes",
			      cpus);
	ft->sync = mem_new(cpus ? cpus : 1, sizeof(*ft->sync));
	for (uint32_t c = 0; c < cpus; c++) {
		if (bytes_u32(b, &n, err))
			return -1;
		if (n > SAMPLES_MAX || n > bytes_left(b) / 24)
			return err_at(err, b->path, bytes_off(b),
				      "%" PRIu32 " time samples of a CPU, more "
				      "than there are bytes",
				      n);
		struct ft_sample *s = mem_new(n ? n : 1, sizeof(*s));

		ft->sync[c] = (struct ft_sync){ s, n };
		ft->n_sync++;
		for (uint32_t i = 0; i < n; i++)
			bytes_u64(b, &s[i].time, NULL);
		for (uint32_t i = 0; i < n; i++)
			bytes_u64(b, &s[i].offset, NULL);
		for (uint32_t i = 0; i < n; i++)
			bytes_u64(b, &s[i].scaling, NULL);
	}
	ft_sync_take_fractions(ft, b);
	for (uint32_t c = 0; c < cpus; c++)
		sort_items(ft->sync[c].at, ft->sync[c].n, ft_sync_compare);
	return 0;
}

void ft_sync_release(struct ft *ft)
{
	for (size_t i = 0; i < ft->n_sync; i++)
		free(ft->sync[i].at);
	free(ft->sync);
	ft->sync = NULL;
	ft->n_sync = 0;
}

/* Returns the last sample at or before t, except the last sample of all. */
static size_t ft_sync_sample_before(const struct ft_sync *sy, uint64_t t)
{
	size_t i = search_where(sy->n - 1, k, sy->at[k].time > t);

	return i ? i - 1 : 0;
}

static uint64_t ft_sync_interpolate(const struct ft_sample *a,
				    const struct ft_sample *b, uint64_t t)
{
	uint64_t delta = b->time - a->time;
	uint64_t after = t - a->time;
	uint64_t more = b->offset - a->offset;
	bool minus = after >> 63 != more >> 63;
	struct wide by = wide_mul(after >> 63 ? -after : after,
				  more >> 63 ? -more : more);

	if (!delta)
		return a->offset;
	/* half of delta is added, and what is left rounded towards 0 */
	if (!minus)
		return a->offset + wide_div(wide_add(by, delta / 2), delta);
	if (!by.hi && by.lo < delta / 2)
		return a->offset;
	by.hi -= by.lo < delta / 2;
	by.lo -= delta / 2;
	return a->offset - wide_div(by, delta);
}

uint64_t ft_sync_time(const struct ft *ft, int32_t cpu, uint64_t t)
{
	if (cpu < 0 || (size_t)cpu >= ft->n_sync)
		return t;
	const struct ft_sync *sy = &ft->sync[cpu];
	if (!sy->n)
		return t;
	if (sy->n == 1)
		return t + sy->at[0].offset;
	const struct ft_sample *a = &sy->at[ft_sync_sample_before(sy, t)];
	uint64_t off = ft->sync_flags & INTERPOLATE
			       ? ft_sync_interpolate(a, a + 1, t)
			       : a->offset;

	if (a->scaling)
		t = wide_shift(wide_mul(t, a->scaling),
			       (unsigned int)a->fraction);
	return t + off;
}

void ft_sync_pair(struct ft *guest, const struct ft *host)
{
	char detail[128];

	if (!guest->n_sync || guest->synced || guest == host ||
	    !host->trace_id || guest->peer != host->trace_id)
		return;
	guest->synced = true;
	guest->src.info.on = &host->src;
	snprintf(detail, sizeof(detail),
		 "of a guest: times are on the clock of its host, %.40s",
		 host->src.info.host ? host->src.info.host : "not named");
	reader_note(&guest->src, "machine", detail);
}

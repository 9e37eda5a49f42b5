/* ring_counts.c - what the kernel counts of a live ring of ftrace. */
#include "cli/follow/ring_counts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/follow/piece.h"
#include "cli/follow/tracefs.h"

#define NS 1000000000

uint64_t ring_count(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, key, n))
			return strtoull(at + n, NULL, 10);
	}
	return 0;
}

/* What a counter grew by; one that is smaller was set to 0. */
static void ring_grow(uint64_t now, uint64_t *last, uint64_t *sum)
{
	*sum += now >= *last ? now - *last : now;
	*last = now;
}

char *ring_stats(const struct tracefs *fs, int32_t cpu)
{
	char name[64];
	size_t len;

	snprintf(name, sizeof(name), "per_cpu/cpu%" PRId32 "/stats", cpu);
	return tracefs_text(fs, name, &len);
}

void ring_counts_read(const struct tracefs *fs, int32_t cpu,
		      struct ring_counts *last, struct ring_counts *sum)
{
	char *text = ring_stats(fs, cpu);

	if (!text)
		return;
	ring_grow(ring_count(text, "overrun: "), &last->overrun, &sum->overrun);
	ring_grow(ring_count(text, "commit overrun: "), &last->commit_overrun,
		  &sum->commit_overrun);
	ring_grow(ring_count(text, "dropped events: "), &last->dropped,
		  &sum->dropped);
	ring_grow(ring_count(text, "read events: "), &last->read, &sum->read);
	free(text);
}

uint64_t ring_time(const struct tracefs *fs, int32_t cpu)
{
	static const char key[] = "\nnow ts:";
	char *text = ring_stats(fs, cpu);
	const char *at = text ? strstr(text, key) : NULL;
	uint64_t time = UINT64_MAX;

	if (at) {
		char *end;

		/* seconds and microseconds, or what a clock counts */
		time = strtoull(at + strlen(key), &end, 10);
		if (*end == '.')
			time = time * NS +
			       (strtoull(end + 1, NULL, 10) + 1) * 1000;
	}
	free(text);
	return time ? time : UINT64_MAX;
}

void ring_tell_missing(const char *input, int32_t cpu, uint64_t n, bool damaged)
{
	if (damaged)
		fprintf(stderr,
			"backstitch: %s: CPU %" PRId32 ": %" PRIu64
			" events are in damaged pages\n",
			input, cpu, n);
	else
		fprintf(stderr,
			"backstitch: %s: CPU %" PRId32 ": %" PRIu64
			" events were taken by another reader of the same "
			"ring\n",
			input, cpu, n);
}

void ring_tell_left(const char *input, int32_t cpu, uint64_t n)
{
	fprintf(stderr,
		"backstitch: %s: CPU %" PRId32 ": %" PRIu64
		" events are left in the ring; the next run reads them\n",
		input, cpu, n);
}

struct ring_counts ring_counts_lost(const struct ring_counts *sum,
				    uint64_t marked)
{
	struct ring_counts lost = *sum;

	if (lost.overrun < marked)
		lost.overrun = marked;
	return lost;
}

int ring_tell_lost(struct piece *p, int32_t cpu, struct ring_counts *told,
		   const struct ring_counts *end, struct err *err)
{
	struct ring_counts lost = {
		.overrun = end->overrun - told->overrun,
		.commit_overrun = end->commit_overrun - told->commit_overrun,
		.dropped = end->dropped - told->dropped,
	};

	*told = *end;
	if (!lost.overrun && !lost.commit_overrun && !lost.dropped)
		return 0;
	return piece_set_stats(p, cpu, lost.overrun, lost.commit_overrun,
			       lost.dropped, err);
}

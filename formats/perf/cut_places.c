/* cut_places.c - where times, CPUs and ids are in the records of a stream that
 * is cut. */
#include "formats/perf/cut_places.h"

#include <string.h>

#include "formats/perf/perf.h"
#include "stitch/base/bytes.h"

#define RECORD_HEADER 8
/* The shortest record that has a trailer, without it. */
#define BODY_MIN 8

static size_t cut_places_width(uint64_t fields)
{
	return 8 * (size_t)__builtin_popcountll(fields);
}

void cut_places_add(struct cut_places *p, uint64_t type, uint64_t flags)
{
	struct cut_places n = { .known = true, .mixed = p->mixed };

	n.sample_has_time = type & PS_TIME;
	n.sample_time =
		cut_places_width(type & (PS_IDENTIFIER | PS_IP | PS_TID));
	if (flags & PA_SAMPLE_ID_ALL) {
		uint64_t behind = PS_ID | PS_STREAM_ID | PS_CPU | PS_IDENTIFIER;

		n.trailer =
			cut_places_width(type & (PS_TID | PS_TIME | behind));
		if (type & PS_TIME)
			n.time = 8 + cut_places_width(type & behind);
		behind &= ~PS_ID;
		if (type & PS_IDENTIFIER)
			n.id = 8;
		else if (type & PS_ID)
			n.id = 8 + cut_places_width(type & behind);
		if (type & PS_CPU)
			n.cpu = 8 + cut_places_width(type & PS_IDENTIFIER);
	}
	if (p->known)
		n.mixed |= p->trailer != n.trailer || p->time != n.time ||
			   p->cpu != n.cpu || p->id != n.id ||
			   p->sample_time != n.sample_time ||
			   p->sample_has_time != n.sample_has_time;
	*p = n;
}

void cut_places_read(const struct cut_places *p, uint32_t type,
		     const struct bytes *b, struct cut_stamp *out)
{
	size_t n = bytes_left(b);
	uint32_t cpu = UINT32_MAX;

	*out = (struct cut_stamp){ .cpu = -1 };
	if (p->mixed || type >= PR_HEADER_ATTR)
		return;
	if (type == PR_SAMPLE) {
		if (p->sample_has_time)
			bytes_peek_u64(b, p->sample_time, &out->time);
	} else if (n >= BODY_MIN + p->trailer) {
		if (p->time)
			bytes_peek_u64(b, n - p->time, &out->time);
		if (p->cpu && !bytes_peek_u32(b, n - p->cpu, &cpu))
			out->cpu = (int32_t)cpu;
		if (p->id)
			bytes_peek_u64(b, n - p->id, &out->id);
	}
	if (out->time >= TIME_UNREAL)
		out->time = 0;
}

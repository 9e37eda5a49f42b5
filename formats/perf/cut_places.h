/* cut_places.h - where times, CPUs and ids are in the records of a stream that
 * is cut.
 *
 * Known only as long as all events of the stream have them at the same
 * places. */
#ifndef FORMATS_PERF_CUT_PLACES_H
#define FORMATS_PERF_CUT_PLACES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes;

/* Counted from the header of a record in samples, from the end in others,
 * which end with a trailer. All zeros: no event is known. */
struct cut_places {
	bool known;
	bool mixed; /* the events differ */
	size_t trailer;
	bool sample_has_time;
	size_t sample_time;
	size_t time, cpu, id; /* 0: none */
};

/* What a record tells beside its contents. */
struct cut_stamp {
	uint64_t time; /* 0: unknown */
	int32_t cpu;   /* -1: unknown */
	uint64_t id;   /* 0: unknown; not of samples */
};

/* Takes sample_type and flags, with bit 0 as the first one, of an event. */
void cut_places_add(struct cut_places *p, uint64_t type, uint64_t flags);
/* Reads a record of the kernel, b is behind its header. */
void cut_places_read(const struct cut_places *p, uint32_t type,
		     const struct bytes *b, struct cut_stamp *out);
#endif

/* cut_state.h - records of mappings and of kernel objects that a piece of a cut
 * stream begins with.
 *
 * Both sets are in the order of arrival, because of mappings that overlap the
 * later one counts. Both are bounded: the oldest is dropped and counted. */
#ifndef FORMATS_PERF_CUT_STATE_H
#define FORMATS_PERF_CUT_STATE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "stitch/base/bytes.h"
#include "stitch/base/table.h"

struct err;

/* The kernel allows a process 65530 mappings (vm.max_map_count). */
#define CUT_STATE_MAX ((size_t)1 << 16)

/* A mapping, and its record. */
struct cut_map {
	uint64_t start, len;
	unsigned char *record;
	size_t size;
};

/* The mappings of a process. Those of which later ones cover every byte are
 * freed now and then: there are at most twice as many as can be seen. All zeros
 * is an empty set. */
struct cut_maps {
	struct cut_map *map;
	size_t n, cap;
	size_t sweep_at; /* number at which covered ones are freed next */
	uint64_t dropped;
};

/* Takes ownership of m->record. */
void cut_maps_add(struct cut_maps *s, const struct cut_map *m);
void cut_maps_release(struct cut_maps *s);
void cut_maps_write(const struct cut_maps *s, FILE *out);

/* What the kernel has under two numbers, and its record. */
struct cut_object {
	uint64_t a, b;
	unsigned char *record; /* NULL: it is gone */
	size_t size;
};

/* Kernel objects of one kind. All zeros is an empty set. */
struct cut_objects {
	struct cut_object *item;
	size_t n, cap, gone;
	struct table by_key;
	uint64_t dropped;
};

/* Replaces the record of the object; takes ownership of it. */
void cut_objects_put(struct cut_objects *s, uint64_t a, uint64_t b,
		     unsigned char *record, size_t size);
void cut_objects_remove(struct cut_objects *s, uint64_t a, uint64_t b);
/* A record of an object; b is behind its header. */
struct cut_object_record {
	uint32_t type;
	const void *data;
	size_t size;
	struct bytes b;
};

/* The kinds, in the order in which a piece begins with them. */
enum cut_kernel {
	CUT_MAPS,
	CUT_KSYMBOLS,
	CUT_BPF,
	CUT_CGROUPS,
	CUT_KERNEL,
};

/* Takes a KSYMBOL, BPF_EVENT or CGROUP record into the set of its kind. Returns
 * 0, or -1 and *err. */
int cut_objects_take(struct cut_objects kernel[CUT_KERNEL],
		     const struct cut_object_record *r, struct err *err);
void cut_objects_release(struct cut_objects *s);
void cut_objects_write(const struct cut_objects *s, FILE *out);
#endif

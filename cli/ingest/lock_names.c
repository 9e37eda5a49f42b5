/* lock_names.c - names of the locks that are data of the kernel. */
#include "cli/ingest/lock_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/columns.h"
#include "schema/store.h"
#include "schema/write/write.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "stitch/source.h"
#include "stitch/tasks/frame.h"
#include "symbolize/symbolize.h"

#define LOCKS_MAX 65536

struct lock_at {
	uint64_t addr;
	unsigned int capture;
};

struct lock_names {
	struct lock_at *at;
	size_t n, cap;
	struct table seen;
	/* of lock_names_store() */
	struct store *db;
	const struct image *kernel;
	size_t next; /* the first whose symbol is still to come */
};

struct lock_names *lock_names_new(void)
{
	return mem_new(1, sizeof(struct lock_names));
}

void lock_names_free(struct lock_names *l)
{
	if (!l)
		return;
	table_release(&l->seen);
	free(l->at);
	free(l);
}

bool lock_names_wants(const struct event_def *def)
{
	return !strcmp(def->name, "lock:contention_begin");
}

void lock_names_take(struct lock_names *l, unsigned int capture,
		     const struct event_def *def, const struct field *f)
{
	for (uint32_t i = 0; i < def->n_fields; i++) {
		uint64_t word[2] = { (uint64_t)f[i].num, capture };
		uint64_t hash;

		if (!f[i].present || f[i].text ||
		    strcmp(def->fields[i].name, "lock_addr") != 0)
			continue;
		hash = hash_u64s(word, 2, 0);
		if (l->n == LOCKS_MAX ||
		    table_find_hash(&l->seen, hash) != TABLE_NONE)
			return;
		table_add(&l->seen, hash, (uint32_t)l->n);
		*mem_add(l->at, l->n, l->cap) =
			(struct lock_at){ word[0], capture };
	}
}

static int lock_names_compare(const void *pa, const void *pb)
{
	const struct lock_at *a = pa;
	const struct lock_at *b = pb;

	return compare_numbers(a->addr, b->addr)
		       ?: compare_numbers(a->capture, b->capture);
}

/* Takes the symbol that begins at a lock, if it is data: behind the code, and
 * no mark at the begin or end of a section. */
static int lock_names_put(void *arg, const struct symbol *sym, struct err *err)
{
	struct lock_names *l = arg;
	uint64_t addr = l->kernel->start + sym->off;
	char key[32];

	for (; l->next < l->n && l->at[l->next].addr <= addr; l->next++) {
		if (!sym->name || sym->start != sym->off ||
		    sym->off <= l->kernel->len ||
		    !strncmp(sym->name, "__start_", 8) ||
		    !strncmp(sym->name, "__stop_", 7) ||
		    l->at[l->next].addr != addr)
			continue;
		snprintf(key, sizeof(key), "lock %" PRIx64, addr);
		if (store_meta(l->db, (int)l->at[l->next].capture, key,
			       sym->name, err))
			return -1;
	}
	return 0;
}

/* Returns whether there is one kernel, or -1 and *err. */
static int lock_names_one_kernel(struct store *db, struct err *err)
{
	struct rows *r = rows_of(db, "kernels", err);
	int64_t n = rows_step(r) ? rows_int(r, KERNELS_N) : 0;

	return rows_end(r, err) ? -1 : n == 1;
}

int lock_names_store(struct lock_names *l, struct store *db,
		     struct symbolizer *sy, const struct image *kernel,
		     struct err *err)
{
	struct image_report rep = { 0 };
	struct code_place *place;
	size_t n = 0;
	int rc;

	if (!l || !l->n || kernel->kind != IMAGE_KERNEL || !kernel->start ||
	    !kernel->len)
		return 0;
	rc = lock_names_one_kernel(db, err);
	if (rc <= 0)
		return rc;
	l->db = db;
	l->kernel = kernel;
	place = mem_new(l->n, sizeof(*place));
	qsort(l->at, l->n, sizeof(*l->at), lock_names_compare);
	/* what is allocated on x86-64 lies below the kernel */
	for (size_t i = 0; i < l->n; i++) {
		uint64_t off = l->at[i].addr - kernel->start;

		if (l->at[i].addr > kernel->start &&
		    (!n || place[n - 1].off != off))
			place[n++].off = off;
	}
	rc = symbolize_image(sy, kernel, place, n, lock_names_put, l, &rep,
			     err);
	report_release(&rep);
	free(place);
	return rc;
}

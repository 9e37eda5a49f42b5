/* lock_names.c - names of the locks that are data of the kernel, and the
 * futexes of programs. */
#include "cli/ingest/lock_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/latency/futexes.h"
#include "cli/latency/pair_kinds.h"
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

enum lock_is {
	LOCK_NOT_ASKED,
	LOCK_NONE,
	LOCK_KERNEL,
	LOCK_FUTEX,
};

struct lock_type {
	uint8_t is; /* enum lock_is */
	struct futex_at at;
};

/* Of the types of events of a capture. */
struct lock_types {
	struct lock_type *type;
	size_t n, cap;
	struct futex_numbers numbers; /* n 0: not known yet */
};

struct lock_names {
	struct lock_types *types; /* by capture */
	size_t n_types, cap_types;
	struct lock_at *at;
	size_t n, cap;
	struct table seen;
	struct lock_futex *futex;
	size_t n_futex, cap_futex;
	struct table futexes;
	/* of lock_names_name() */
	struct store *db;
	const struct image *kernel;
	size_t next; /* the first whose symbol is still to come */
	symbol_fn *fn;
	void *arg;
};

struct lock_names *lock_names_new(void)
{
	return mem_new(1, sizeof(struct lock_names));
}

void lock_names_free(struct lock_names *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n_types; i++)
		free(l->types[i].type);
	free(l->types);
	table_release(&l->seen);
	table_release(&l->futexes);
	free(l->futex);
	free(l->at);
	free(l);
}

static enum lock_is lock_names_of(const struct event_def *def,
				  struct futex_at *at)
{
	const char *rest;
	size_t len;

	if (pair_name_is("lock:contention_begin", def->name, &rest, &len))
		return LOCK_KERNEL;
	return futexes_find(def->name, def->fields, def->n_fields, at)
		       ? LOCK_FUTEX
		       : LOCK_NONE;
}

bool lock_names_wants(struct lock_names *l, unsigned int capture, uint32_t type,
		      const struct event_def *def)
{
	struct lock_types *t;

	l->types = mem_reach(l->types, &l->n_types, &l->cap_types, capture + 1u,
			     sizeof(*l->types));
	t = &l->types[capture];
	t->type =
		mem_reach(t->type, &t->n, &t->cap, type + 1u, sizeof(*t->type));
	if (!t->type[type].is)
		t->type[type].is =
			(uint8_t)lock_names_of(def, &t->type[type].at);
	return t->type[type].is > LOCK_NONE;
}

/* Returns whether a call of any kind is one of futex. */
static bool lock_names_is_futex(struct lock_types *t, const char *machine,
				int64_t number)
{
	bool is = false;

	if (!t->numbers.n)
		futexes_numbers(machine, &t->numbers);
	for (size_t i = 0; i < t->numbers.n; i++)
		is |= t->numbers.number[i] == number;
	return is;
}

static void lock_names_take_futex(struct lock_names *l,
				  const struct lock_from *from,
				  const struct field *f)
{
	struct lock_types *t = &l->types[from->capture];
	const struct futex_at *at = &t->type[from->type].at;
	const char *machine = from->machine ? from->machine : "";
	uint64_t word[2] = { 0, from->thread };
	uint64_t hash;

	if (l->n_futex == LOCKS_MAX ||
	    (at->number &&
	     !lock_names_is_futex(t, machine, f[at->number - 1].num)) ||
	    !futexes_addr(at, machine, f, &word[0]))
		return;
	hash = hash_u64s(word, 2, from->capture);
	if (table_find_hash(&l->futexes, hash) != TABLE_NONE)
		return;
	table_add(&l->futexes, hash, (uint32_t)l->n_futex);
	*mem_add(l->futex, l->n_futex, l->cap_futex) =
		(struct lock_futex){ word[0], from->capture, from->thread };
}

void lock_names_take(struct lock_names *l, const struct lock_from *from,
		     const struct event_def *def, const struct field *f)
{
	if (l->types[from->capture].type[from->type].is == LOCK_FUTEX) {
		lock_names_take_futex(l, from, f);
		return;
	}
	for (uint32_t i = 0; i < def->n_fields; i++) {
		uint64_t word[2] = { (uint64_t)f[i].num, from->capture };
		uint64_t hash;

		if (!f[i].present ||
		    strcmp(def->fields[i].name, "lock_addr") != 0)
			continue;
		/* of an event that was read as text */
		if (f[i].text)
			word[0] = strtoull(f[i].text, NULL, 0);
		hash = hash_u64s(word, 2, 0);
		if (l->n == LOCKS_MAX ||
		    table_find_hash(&l->seen, hash) != TABLE_NONE)
			return;
		table_add(&l->seen, hash, (uint32_t)l->n);
		*mem_add(l->at, l->n, l->cap) =
			(struct lock_at){ word[0], from->capture };
	}
}

const struct lock_futex *lock_names_futexes(const struct lock_names *l,
					    size_t *n)
{
	*n = l ? l->n_futex : 0;
	return l ? l->futex : NULL;
}

static int lock_names_compare(const void *pa, const void *pb)
{
	const struct lock_at *a = pa;
	const struct lock_at *b = pb;

	return compare_numbers(a->addr, b->addr)
		       ?: compare_numbers(a->capture, b->capture);
}

/* Takes the symbol that begins at a lock, if it is data: behind the code, and
 * no mark at the begin or end of a section. Others are of code. */
static int lock_names_put(void *arg, const struct symbol *sym, struct err *err)
{
	struct lock_names *l = arg;
	uint64_t addr = l->kernel->start + sym->off;
	char key[32];

	if (sym->off <= l->kernel->len)
		return l->fn(l->arg, sym, err);
	while (l->next < l->n && l->at[l->next].addr < addr)
		l->next++;
	for (; l->next < l->n && l->at[l->next].addr == addr; l->next++) {
		if (!sym->name || sym->start != sym->off ||
		    !strncmp(sym->name, "__start_", 8) ||
		    !strncmp(sym->name, "__stop_", 7))
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

int lock_names_name(struct lock_names *l, struct store *db,
		    struct symbolizer *sy, const struct lock_names_image *i,
		    symbol_fn *fn, void *arg, struct image_report *rep,
		    struct err *err)
{
	const struct image *kernel = i->image;
	struct code_place *place;
	size_t n = i->n;
	int rc = l && l->n && kernel->kind == IMAGE_KERNEL && kernel->start &&
				 kernel->len
			 ? lock_names_one_kernel(db, err)
			 : 0;

	if (rc <= 0)
		return rc ? -1
			  : symbolize_image(sy, kernel, i->code, n, fn, arg,
					    rep, err);
	l->db = db;
	l->kernel = kernel;
	l->fn = fn;
	l->arg = arg;
	place = mem_new(n + l->n, sizeof(*place));
	if (n)
		memcpy(place, i->code, n * sizeof(*place));
	qsort(l->at, l->n, sizeof(*l->at), lock_names_compare);
	/* what is allocated on x86-64 lies below the kernel */
	for (size_t k = 0; k < l->n; k++) {
		uint64_t off = l->at[k].addr - kernel->start;

		if (l->at[k].addr > kernel->start + kernel->len &&
		    (!n || place[n - 1].off < off))
			place[n++] = (struct code_place){ .off = off };
	}
	rc = symbolize_image(sy, kernel, place, n, lock_names_put, l, rep, err);
	free(place);
	return rc;
}

/* lock_names.c - names of the locks and futexes at which threads waited. */
#include "cli/ingest/lock_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ingest/data_names.h"
#include "cli/ingest/name.h"
#include "cli/latency/futexes.h"
#include "cli/latency/pair_kinds.h"
#include "cli/samples/events.h"
#include "cli/samples/payloads.h"
#include "schema/columns.h"
#include "schema/db/int_rows.h"
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

/* A type of events; at.addr 0: they begin to wait for nothing. */
struct lock_type {
	struct futex_at at;
	struct futex_numbers numbers;
	const char *machine;
	unsigned int capture; /* from 0 on */
	bool kernel;	      /* at a lock, not at a futex */
};

struct lock_names {
	struct store *db;
	struct payloads *payloads; /* NULL: no type waits */
	struct lock_type *type;	   /* by id */
	size_t n_type, cap_type;
	struct arena text;
	struct lock_at *at;
	size_t n, cap;
	struct table seen;
	struct lock_futex *futex;
	size_t n_futex, cap_futex;
	struct table futexes;
	struct image kernel;
	size_t next; /* the first whose symbol is still to come */
};

static bool lock_names_is_lock(const char *event)
{
	const char *rest;
	size_t len;

	return pair_name_is("lock:contention_begin", event, &rest, &len);
}

/* Returns whether events of this name may begin to wait. */
static bool lock_names_may(const char *event)
{
	const char *rest;
	size_t len;

	for (size_t i = 0; i < pair_kinds_n; i++)
		if (pair_kinds[i].calls &&
		    pair_name_is(pair_kinds[i].begin, event, &rest, &len))
			return true;
	return lock_names_is_lock(event);
}

static void lock_names_find_fields(struct lock_type *t, const char *event,
				   const struct field_def *def, size_t n)
{
	t->kernel = lock_names_is_lock(event);
	if (!t->kernel) {
		if (!futexes_find(event, def, n, &t->at))
			t->at.addr = 0;
		futexes_numbers(t->machine, &t->numbers);
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (!strcmp(def[i].name, "lock_addr"))
			t->at.addr = i + 1;
}

static int lock_names_read_types(struct lock_names *l, struct err *err)
{
	struct rows *r = rows_dense(l->db, "interval_types", err);

	/* ids begin with 1 */
	*mem_add(l->type, l->n_type, l->cap_type) = (struct lock_type){ 0 };
	while (rows_step(r)) {
		const char *name = rows_text(r, INTERVAL_TYPES_NAME);
		int64_t id = rows_int(r, INTERVAL_TYPES_ID);
		struct lock_type *t = mem_add(l->type, l->n_type, l->cap_type);
		const struct field_def *def;
		size_t n;

		*t = (struct lock_type){ 0 };
		if (!lock_names_may(name))
			continue;
		if (!l->payloads)
			l->payloads = payloads_open(l->db, err);
		if (!l->payloads)
			return rows_stop(r);
		t->machine = arena_strdup(&l->text,
					  rows_text(r, INTERVAL_TYPES_ARCH));
		t->capture =
			(unsigned int)rows_int(r, INTERVAL_TYPES_CAPTURE) - 1;
		def = payloads_defs(l->payloads, id, &n);
		lock_names_find_fields(t, name, def, n);
	}
	return rows_end(r, err);
}

static void lock_names_take_lock(struct lock_names *l,
				 const struct lock_type *t,
				 const struct field *f)
{
	uint64_t word[2] = { (uint64_t)f->num, t->capture };
	uint64_t hash;

	/* of an event that was read as text */
	if (f->text)
		word[0] = strtoull(f->text, NULL, 0);
	hash = hash_u64s(word, 2, 0);
	if (!f->present || l->n == LOCKS_MAX ||
	    table_find_hash(&l->seen, hash) != TABLE_NONE)
		return;
	table_add(&l->seen, hash, (uint32_t)l->n);
	*mem_add(l->at, l->n, l->cap) = (struct lock_at){ word[0], t->capture };
}

/* Takes the futex of a call: of any call, if its number says that it is one. */
static void lock_names_take_futex(struct lock_names *l,
				  const struct lock_type *t, uint32_t thread,
				  const struct field *f)
{
	uint64_t word[2] = { 0, thread };
	bool is = !t->at.number;
	uint64_t hash;

	for (size_t i = 0; !is && i < t->numbers.n; i++)
		is = t->numbers.number[i] == f[t->at.number - 1].num;
	if (!is || l->n_futex == LOCKS_MAX ||
	    !futexes_addr(&t->at, t->machine, f, &word[0]))
		return;
	hash = hash_u64s(word, 2, t->capture);
	if (table_find_hash(&l->futexes, hash) != TABLE_NONE)
		return;
	table_add(&l->futexes, hash, (uint32_t)l->n_futex);
	*mem_add(l->futex, l->n_futex, l->cap_futex) =
		(struct lock_futex){ word[0], t->capture, thread };
}

/* Finds the locks and futexes of all events, each once. */
static int lock_names_read(struct lock_names *l, struct err *err)
{
	static const char *const column[] = { "id", "type", "thread",
					      "payload" };
	struct int_rows *rows;
	struct int_row r;

	if (lock_names_read_types(l, err))
		return -1;
	if (!l->payloads)
		return 0;
	rows = int_rows_of(l->db, "event", column, ARRAY_SIZE(column), err);
	while (int_rows_step(rows, &r)) {
		const struct event_row e = { .id = r.v[0],
					     .type = r.v[1],
					     .thread = (uint32_t)r.v[2],
					     .payload = r.v[3] };
		const struct lock_type *t;
		const struct field *f;
		int rc;

		if (e.type < 1 || (uint64_t)e.type >= l->n_type ||
		    !l->type[e.type].at.addr)
			continue;
		t = &l->type[e.type];
		rc = payloads_fields(l->payloads, &e, &f, err);
		if (rc < 0) {
			int_rows_close(rows);
			return -1;
		}
		if (rc && t->kernel)
			lock_names_take_lock(l, t, &f[t->at.addr - 1]);
		else if (rc)
			lock_names_take_futex(l, t, e.thread, f);
	}
	return int_rows_end(rows, err);
}

static int lock_names_compare(const void *pa, const void *pb)
{
	const struct lock_at *a = pa;
	const struct lock_at *b = pb;

	return compare_numbers(a->addr, b->addr)
		       ?: compare_numbers(a->capture, b->capture);
}

/* Takes the symbol that begins at a lock, if it is no mark at the begin or end
 * of a section. A symbol_fn. */
static int lock_names_put(void *arg, const struct symbol *sym, struct err *err)
{
	struct lock_names *l = arg;
	uint64_t addr = l->kernel.start + sym->off;
	char key[32];

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

/* Reads the image of the kernel, without an address if there are several. */
static int lock_names_find_kernel(struct lock_names *l, struct err *err)
{
	struct rows *r = rows_of(l->db, "kernels", err);
	size_t n = 0;

	for (; rows_step(r); n++) {
		rows_image(r, KERNELS_KIND, &l->text, &l->kernel);
		l->kernel.start = (uint64_t)rows_int(r, KERNELS_START);
		l->kernel.len = (uint64_t)rows_int(r, KERNELS_LEN);
	}
	if (n > 1)
		l->kernel.start = 0;
	return rows_end(r, err);
}

static int lock_names_of_kernel(struct lock_names *l, struct symbolizer *sy,
				struct err *err)
{
	const struct image *k = &l->kernel;
	struct image_report rep = { 0 };
	struct code_place *place;
	size_t n = 0;
	int rc;

	if (!l->n || lock_names_find_kernel(l, err))
		return l->n ? -1 : 0;
	if (!k->start || !k->len)
		return 0;
	place = mem_new(l->n, sizeof(*place));
	sort_items(l->at, l->n, lock_names_compare);
	/* data is behind the code; what is allocated on x86-64, below */
	for (size_t i = 0; i < l->n; i++) {
		uint64_t off = l->at[i].addr - k->start;

		if (l->at[i].addr > k->start + k->len &&
		    (!n || place[n - 1].off < off))
			place[n++] = (struct code_place){ .off = off };
	}
	rc = symbolize_image(sy, k, place, n, lock_names_put, l, &rep, err);
	report_release(&rep);
	free(place);
	return rc;
}

int lock_names_store(struct store *db, const struct symbolize_text *captured,
		     struct err *err)
{
	struct lock_names l = { .db = db };
	int rc = store_readable(db, err) || lock_names_read(&l, err) ? -1 : 0;

	if (!rc && (l.n || l.n_futex)) {
		struct symbolizer *sy = name_symbolizer(db, captured, NULL);

		rc = lock_names_of_kernel(&l, sy, err) ||
				     data_names_store(db, sy, l.futex,
						      l.n_futex, err)
			     ? -1
			     : 0;
		symbolize_free(sy);
	}
	payloads_close(l.payloads);
	table_release(&l.seen);
	table_release(&l.futexes);
	arena_release(&l.text);
	free(l.type);
	free(l.futex);
	free(l.at);
	return rc;
}

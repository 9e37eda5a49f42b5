/* lock_names.c - names of the locks and futexes at which threads waited. */
#include "cli/ingest/lock_names.h"

#include <inttypes.h>

#include "cli/ingest/name.h"
#include "analyze/latency/futexes.h"
#include "analyze/latency/pair_kinds.h"
#include "analyze/names/data_maps.h"
#include "analyze/samples/events.h"
#include "analyze/samples/payloads.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "schema/write/mapped_code.h"
#include "schema/write/write.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "stitch/source.h"
#include "stitch/tasks/frame.h"
#include "symbolize/names/symbol_names.h"
#include "symbolize/symbolize.h"

#define LOCKS_MAX 65536
/* Mappings that are tried below an address; some are of other times. */
#define DATA_MAPS_MAX 16

struct lock_at {
	uint64_t addr;
	unsigned int capture;
};

/* A thread that waited at an address. */
struct lock_futex {
	uint64_t addr;
	unsigned int capture; /* its number, from 0 on */
	uint32_t thread;      /* thread.id; 0: not known */
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

/* The event types of a capture. */
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
	/* for lock_names_store() */
	struct maker *mk;
	struct image kernel;
	size_t next; /* the first lock whose symbol did not come yet */
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
	free_all(l->futex, l->at, l);
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

	t = mem_at(l->types, l->n_types, l->cap_types, capture);
	mem_reach(t->type, t->n, t->cap, type + 1u);
	if (!t->type[type].is)
		t->type[type].is =
			(uint8_t)lock_names_of(def, &t->type[type].at);
	return t->type[type].is > LOCK_NONE;
}

/* Returns whether a system call is futex, in any of the machine's ABIs. */
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

bool lock_names_may_wait(struct lock_names *l, const struct source *src,
			 uint32_t type, const struct call *call)
{
	struct lock_types *t = &l->types[src->index];
	const char *machine = src->info.arch ? src->info.arch : "";

	return t->type[type].is != LOCK_FUTEX || !call ||
	       call->what != CALL_RAW ||
	       lock_names_is_futex(t, machine, call->nr);
}

void lock_names_take(struct lock_names *l, const struct lock_from *from,
		     const struct event_def *def, const struct field *f)
{
	if (l->types[from->capture].type[from->type].is == LOCK_FUTEX) {
		struct lock_types *t = &l->types[from->capture];
		const struct futex_at *at = &t->type[from->type].at;
		const char *machine = from->machine ? from->machine : "";
		uint64_t word[2] = { 0, from->thread };

		if (l->n_futex != LOCKS_MAX &&
		    (!at->number ||
		     lock_names_is_futex(t, machine, f[at->number - 1].num)) &&
		    futexes_addr(at, machine, f, &word[0]))
			if (table_find_or_add(&l->futexes,
					      hash_u64s(word, 2, from->capture),
					      l->n_futex) == l->n_futex)
				*mem_add(l->futex, l->n_futex, l->cap_futex) =
					(struct lock_futex){ word[0],
							     from->capture,
							     from->thread };
		return;
	}
	for (uint32_t i = 0; i < def->n_fields; i++) {
		uint64_t word[2] = { (uint64_t)f[i].num, from->capture };

		if (!f[i].present ||
		    strcmp(def->fields[i].name, "lock_addr") != 0)
			continue;
		/* the event was read as text */
		if (f[i].text)
			word[0] = strtoull(f[i].text, NULL, 0);
		if (l->n == LOCKS_MAX ||
		    table_find_or_add(&l->seen, hash_u64s(word, 2, 0), l->n) !=
			    l->n)
			return;
		*mem_add(l->at, l->n, l->cap) =
			(struct lock_at){ word[0], from->capture };
	}
}

/* An event type, in the form in which readers of captures have it. */
struct lock_event {
	struct event_def def; /* without its name */
	bool waits;
	unsigned int capture; /* from 0 on */
	const char *machine;
};

/* Reads all event types. Returns 1 if events of some begin to wait, 0 if none
 * do, or -1 and *err. */
static int lock_names_read_types(struct lock_names *l, struct payloads *ps,
				 struct lock_event **type, size_t *n,
				 struct arena *text, struct store *db,
				 struct err *err)
{
	struct rows *r = rows_dense(db, "interval_types", err);
	bool any = false;
	size_t cap = 0;

	/* ids begin with 1 */
	*mem_add(*type, *n, cap) = (struct lock_event){ .machine = "" };
	while (rows_step(r)) {
		int64_t capture = rows_int(r, INTERVAL_TYPES_CAPTURE);
		struct lock_event e = {
			.def.name = rows_text(r, INTERVAL_TYPES_NAME),
			.capture = capture > 0 && capture <= UINT16_MAX
					   ? (unsigned int)capture - 1
					   : 0,
			.machine = arena_strdup(
				text, rows_text(r, INTERVAL_TYPES_ARCH)),
		};
		size_t fields;

		e.def.fields = payloads_defs(ps, (int64_t)*n, &fields);
		e.def.n_fields = (uint32_t)fields;
		e.waits = lock_names_wants(l, e.capture, (uint32_t)*n, &e.def);
		e.def.name = NULL;
		any |= e.waits;
		*mem_add(*type, *n, cap) = e;
	}
	return rows_end(r, err) ? -1 : any;
}

int lock_names_read(struct lock_names *l, struct store *db, struct err *err)
{
	static const char *const column[] = { "id", "type", "thread",
					      "payload" };
	struct payloads *ps = payloads_open(db, err);
	struct lock_event *type OWNED = NULL;
	struct arena text RELEASED_BY(arena_release) = { 0 };
	struct rows *rows = NULL;
	struct int_row r;
	size_t n = 0;
	int rc = ps ? lock_names_read_types(l, ps, &type, &n, &text, db, err)
		    : -1;

	/* if none begins to wait, the events are not read */
	if (rc > 0) {
		rows = rows_ints_of(db, "event", column, ARRAY_SIZE(column),
				    err);
		rc = rows ? 0 : -1;
	}
	while (rows && !rc && (rc = rows_next_ints(rows, &r, err)) > 0) {
		const struct event_row e = { .id = r.v[0],
					     .type = r.v[1],
					     .payload = r.v[3] };
		const struct lock_event *of;
		const struct field *f;

		rc = 0;
		if (e.type < 1 || (uint64_t)e.type >= n || !type[e.type].waits)
			continue;
		of = &type[e.type];
		rc = payloads_fields(ps, &e, &f, err);
		if (rc > 0)
			lock_names_take(l,
					&(struct lock_from){
						of->capture, (uint32_t)e.type,
						(uint32_t)r.v[2], of->machine },
					&of->def, f);
		rc = rc < 0 ? -1 : 0;
	}
	rows_close(rows);
	payloads_close(ps);
	return rc;
}

/* A place in the data of an image. */
struct data_at {
	uint64_t off;
	uint32_t image;
	unsigned int capture;
};

struct data_names {
	struct maker *mk;
	struct data_maps *maps;
	struct data_at *at; /* sorted by image, capture and off */
	size_t n, cap;
	uint32_t image;
	unsigned int capture;
};

COMPARE_BY(data_names_compare, struct data_at, image, capture, off);

/* Collects the places in images at which the variables of futexes may be: an
 * address is in the data of one of the next mappings below it. */
static void data_names_find(struct data_names *d, const struct lock_futex *f,
			    size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t process = data_maps_process(d->maps, f[i].thread);
		const struct data_map *map = NULL;

		for (int k = 0; process && k < DATA_MAPS_MAX; k++) {
			map = data_maps_below(d->maps, process, f[i].addr, map);
			if (!map)
				break;
			*mem_add(d->at, d->n, d->cap) = (struct data_at){
				data_maps_off(map, f[i].addr),
				map->image,
				f[i].capture,
			};
		}
	}
	sort_items(d->at, d->n, data_names_compare);
}

/* Stores the name of a place; a data_names_fn. */
static int data_names_put(void *arg, uint64_t off, const char *name,
			  uint64_t inside, struct err *err)
{
	const struct data_names *d = arg;
	char *key OWNED = data_maps_key(d->maps, d->image, off);
	char text[512];
	int rc = 0;

	if (inside)
		snprintf(text, sizeof(text), "%.480s+0x%" PRIx64, name, inside);
	else
		snprintf(text, sizeof(text), "%.480s", name);
	if (key)
		rc = store_meta(d->mk, (int)d->capture, key, text, err);
	return rc;
}

/* Names the n places at[] of an image. Returns 0, or -1 and *err. */
static int data_names_of(struct data_names *d, struct symbolizer *sy,
			 const struct image *img, const struct data_at *at,
			 size_t n, struct err *err)
{
	uint64_t *off OWNED = mem_new(n, sizeof(*off));
	int rc = 0;

	for (size_t i = 0, k; !rc && i < n; i = k) {
		size_t m = 0;

		d->image = at[i].image;
		d->capture = at[i].capture;
		for (k = i; k < n && at[k].capture == d->capture; k++)
			if (!m || off[m - 1] != at[k].off)
				off[m++] = at[k].off;
		rc = data_names_each(sy, img, off, m, data_names_put, d, err);
	}
	return rc;
}

/* Names all places in files that are not doubted. Returns 0, or -1 and *err. */
static int data_names_all(struct data_names *d, struct symbolizer *sy,
			  const struct mapped_parts *parts, struct err *err)
{
	struct rows *r = rows_of(maker_read(d->mk, err), "data_files", err);
	struct arena text RELEASED_BY(arena_release) = { 0 };
	size_t i = 0;
	int rc = 0;

	while (!rc && i < d->n && rows_step(r)) {
		struct image img = { 0 };
		uint32_t id = (uint32_t)rows_int(r, DATA_FILES_ID);
		size_t from = i;

		while (i < d->n && d->at[i].image < id)
			from = ++i;
		while (i < d->n && d->at[i].image == id)
			i++;
		if (i == from || rows_int(r, DATA_FILES_DOUBTED))
			continue;
		rows_image(r, DATA_FILES_KIND, &text, &img);
		img.several = rows_int(r, DATA_FILES_SEVERAL) != 0;
		img.part = mapped_parts_of(parts, id, &img.n_part);
		rc = data_names_of(d, sy, &img, &d->at[from], i - from, err);
	}
	return rc ? rows_stop(r) : rows_end(r, err);
}

/* Names the futexes that are data of programs. Returns 0, or -1 and *err. */
static int data_names_store(struct maker *mk, struct symbolizer *sy,
			    const struct lock_futex *futex, size_t n,
			    struct err *err)
{
	struct data_names d = { .mk = mk };
	struct mapped_parts parts RELEASED_BY(mapped_parts_release) = { 0 };
	int rc;

	if (!n)
		return 0;
	rc = mapped_parts_load(mk, &parts, err);
	d.maps = rc ? NULL : data_maps_load(maker_read(mk, err), err);
	if (d.maps)
		data_names_find(&d, futex, n);
	rc = d.maps ? data_names_all(&d, sy, &parts, err) : -1;
	data_maps_free(d.maps);
	free(d.at);
	return rc;
}

COMPARE_BY(lock_names_compare, struct lock_at, addr, capture);

/* Stores the name of a symbol that begins at a lock, unless it marks the start
 * or end of a section. A symbol_fn. */
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
		if (store_meta(l->mk, (int)l->at[l->next].capture, key,
			       sym->name, err))
			return -1;
	}
	return 0;
}

/* Names the locks that are data of the kernel. Returns 0, or -1 and *err. */
static int lock_names_of_kernel(struct lock_names *l, struct symbolizer *sy,
				struct arena *text, struct err *err)
{
	const struct image *k = &l->kernel;
	struct image_report rep RELEASED_BY(report_release) = { 0 };
	struct code_place *place OWNED = NULL;
	size_t n = 0;

	if (!l->n)
		return 0;
	/* Read the kernel's image, without an address if there are several. */
	struct rows *r = rows_of(maker_read(l->mk, err), "kernels", err);
	size_t count = 0;

	for (; rows_step(r); count++) {
		rows_image(r, KERNELS_KIND, text, &l->kernel);
		l->kernel.start = (uint64_t)rows_int(r, KERNELS_START);
		l->kernel.len = (uint64_t)rows_int(r, KERNELS_LEN);
	}
	if (count > 1)
		l->kernel.start = 0;
	if (rows_end(r, err))
		return -1;
	if (!k->start || !k->len)
		return 0;
	place = mem_new(l->n, sizeof(*place));
	sort_items(l->at, l->n, lock_names_compare);
	/* data is after the code, but allocated memory, on x86-64, below */
	for (size_t i = 0; i < l->n; i++) {
		uint64_t off = l->at[i].addr - k->start;

		if (l->at[i].addr > k->start + k->len &&
		    (!n || place[n - 1].off < off))
			place[n++] = (struct code_place){ .off = off };
	}
	return symbolize_image(sy, k, place, n, lock_names_put, l, &rep, err);
}

int lock_names_store(struct lock_names *l, const struct name_ask *a,
		     struct maker *mk, const struct symbolize_text *captured,
		     struct err *err)
{
	struct arena text RELEASED_BY(arena_release) = { 0 };
	struct symbolizer *sy;
	int rc;

	if (!l->n && !l->n_futex)
		return 0;
	if (store_readable(mk, err))
		return -1;
	l->mk = mk;
	sy = name_symbolizer(a, maker_read(mk, err), captured, NULL);
	rc = lock_names_of_kernel(l, sy, &text, err) ||
			     data_names_store(mk, sy, l->futex, l->n_futex, err)
		     ? -1
		     : 0;
	symbolize_free(sy);
	return rc;
}

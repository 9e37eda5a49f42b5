/* futexes.c - where the events that begin system calls have the address of a
 * futex, and the names of futexes in a database. */
#include "analyze/latency/futexes.h"

#include <inttypes.h>

#include "analyze/latency/calls.h"
#include "analyze/latency/pair_kinds.h"
#include "analyze/samples/payloads.h"
#include "analyze/names/data_maps.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/bytes.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/source.h"

/* struct trace_event_raw_sys_enter, include/trace/events/syscalls.h */
#define CALL_ARGS 6

static const char *const futex_calls[] = { "futex", "futex_time64",
					   "futex_wait", "futex_wake" };
#define FUTEX_CALLS (ARRAY_SIZE(futex_calls))

bool futexes_is(const char *call)
{
	return any_where(FUTEX_CALLS, i, !strcmp(call, futex_calls[i]));
}

bool futexes_find(const char *event, const struct field_def *def, size_t n,
		  struct futex_at *out)
{
	for (size_t i = 0; i < pair_kinds_n; i++) {
		const struct pair_kind *k = &pair_kinds[i];
		const char *rest;
		char call[CALLS_NAME];
		size_t len;

		if (!k->calls || !pair_name_is(k->begin, event, &rest, &len))
			continue;
		snprintf(call, sizeof(call), "%.*s", (int)len, rest);
		*out = (struct futex_at){
			payload_field(def, n, k->tag ? "args" : "uaddr"),
			payload_field(def, n, k->tag),
		};
		return k->tag ? out->addr && out->number &&
					def[out->addr - 1].is_blob
			      : out->addr && !def[out->addr - 1].is_text &&
					futexes_is(call);
	}
	return false;
}

/* Adds the numbers of these calls on a machine, without doubles. */
static void futexes_add(struct futex_numbers *out, const char *machine)
{
	for (size_t i = 0; i < FUTEX_CALLS; i++) {
		int64_t number;
		bool is = calls_number(machine, futex_calls[i], &number);

		for (size_t k = 0; is && k < out->n; k++)
			is = out->number[k] != number;
		if (is && out->n < FUTEX_NUMBERS)
			out->number[out->n++] = number;
	}
}

void futexes_numbers(const char *machine, struct futex_numbers *out)
{
	out->n = 0;
	futexes_add(out, machine);
	if (!strcmp(machine, "x86_64"))
		futexes_add(out, "i386");
}

bool futexes_addr(const struct futex_at *at, const char *machine,
		  const struct field *f, uint64_t *addr)
{
	const struct field *a = &f[at->addr - 1];
	struct bytes b;
	uint32_t word;

	*addr = (uint64_t)a->num;
	if (!at->number)
		return a->present;
	if (!a->present || !a->blob)
		return false;
	bytes_init(&b, a->blob, a->len, "args", 0,
		   bytes_must_swap(!strcmp(machine, "s390x")));
	if (a->len == CALL_ARGS * sizeof(uint64_t))
		return !bytes_u64(&b, addr, NULL);
	if (a->len != CALL_ARGS * sizeof(uint32_t) ||
	    bytes_u32(&b, &word, NULL))
		return false;
	*addr = word;
	return true;
}

/* ---- names */

/* The name of an address as long as one mapping is there. */
struct futex_known {
	const struct data_map *map; /* NULL: none */
	uint32_t name;
};

struct futex_locks {
	struct data_maps *maps;
	struct intern *names;
	struct table by_key; /* of name ids, by the key of table meta */
	struct table
		by_process;   /* of name ids: the first threads of processes */
	struct table by_addr; /* of known[], by process and address */
	struct futex_known *known;
	size_t n, cap;
};

struct futex_locks *futex_locks_open(struct store *db, struct intern *names,
				     struct err *err)
{
	struct futex_locks *l = mem_new(1, sizeof(*l));
	struct rows *r = rows_of(db, "data_names", err);

	l->names = names;
	while (rows_step(r)) {
		const char *key = rows_text(r, DATA_NAMES_KEY);

		table_add(&l->by_key, hash_bytes(key, strlen(key), 0),
			  intern_add(names, rows_text(r, DATA_NAMES_NAME)));
	}
	if (rows_end(r, err))
		goto fail;
	r = rows_of(db, "data_processes", err);
	while (rows_step(r))
		table_add(&l->by_process,
			  hash_u64((uint64_t)rows_int(r, DATA_PROCESSES_ID)),
			  intern_add(names, rows_text(r, DATA_PROCESSES_NAME)));
	if (rows_end(r, err))
		goto fail;
	l->maps = data_maps_load(db, err);
	if (l->maps)
		return l;
fail:
	futex_locks_close(l);
	return NULL;
}

void futex_locks_close(struct futex_locks *l)
{
	if (!l)
		return;
	data_maps_free(l->maps);
	table_release(&l->by_key);
	table_release(&l->by_process);
	table_release(&l->by_addr);
	free_all(l->known, l);
}

uint32_t futex_locks_name(struct futex_locks *l, uint32_t process, int64_t pid,
			  int64_t time, uint64_t addr)
{
	const uint64_t word[2] = { process, addr };
	uint64_t hash = hash_u64s(word, 2, 0);
	uint32_t id = table_find_or_add(&l->by_addr, hash, l->n);
	/* the data of a file follows its mapping: only the nearest mapping
	 * below the address can be of the file */
	const struct data_map *map = data_maps_at(l->maps, process, addr, time);
	bool first = id == l->n;
	struct futex_known *k;

	if (first)
		*mem_add(l->known, l->n, l->cap) = (struct futex_known){ 0 };
	k = &l->known[id];
	if (!first && k->map == map)
		return k->name;
	/* The variable at the address may have no name. */
	char *key = map ? data_maps_key(l->maps, map->image,
					data_maps_off(map, addr))
			: NULL;

	id = key ? table_find_hash(&l->by_key, hash_bytes(key, strlen(key), 0))
		 : TABLE_NONE;
	free(key);
	if (id == TABLE_NONE) {
		/* Without a symbol, the address and the process are the name:
		 * processes that do not share the memory have another lock
		 * there. */
		uint32_t of =
			table_find_hash(&l->by_process, hash_u64(process));
		char text[128];

		snprintf(text, sizeof(text), "0x%" PRIx64 " of %.64s/%" PRId64,
			 addr, of == TABLE_NONE ? "" : intern_get(l->names, of),
			 pid);
		id = intern_add(l->names, text);
	}
	*k = (struct futex_known){ map, id };
	return id;
}

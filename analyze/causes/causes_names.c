/* causes_names.c - the names of the threads of a database by thread id. */
#include "analyze/causes/causes_names.h"

#include <stdbool.h>

#include "analyze/causes/missing.h"
#include "analyze/names/thread_names.h"
#include "stitch/text/safe_text.h"
#include "analyze/samples/row_cursor.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"

#define SILENT_NAMED 3 /* tasks; more are counted */

struct causes_name {
	const char *comm;
	int64_t pid;
	bool of_field; /* a later one may replace it */
};

struct causes_names {
	struct causes_name *name; /* by index */
	size_t n, cap;
	struct table index; /* of tids */
	struct arena text;
};

/* Returns the name of a thread, which may be new and has no comm then. */
static struct causes_name *causes_names_at(struct causes_names *n, int64_t tid)
{
	uint32_t id =
		table_find_or_add(&n->index, hash_u64((uint64_t)tid), n->n);

	if (id == n->n)
		*mem_add(n->name, n->n, n->cap) =
			(struct causes_name){ .pid = -1 };
	return &n->name[id];
}

struct causes_names *causes_names_load(struct store *db, struct err *err)
{
	struct causes_names *n = mem_new(1, sizeof(*n));
	struct rows *r = rows_of(db, "causes_comms", err);

	while (rows_step(r))
		*causes_names_at(
			n,
			rows_int(r, CAUSES_COMMS_TID)) = (struct causes_name){
			.comm = arena_strdup(&n->text,
					     rows_text(r, CAUSES_COMMS_NAME)),
			.pid = rows_int(r, CAUSES_COMMS_PID),
		};
	if (!rows_end(r, err))
		return n;
	causes_names_free(n);
	return NULL;
}

void causes_names_free(struct causes_names *n)
{
	if (!n)
		return;
	free(n->name);
	table_release(&n->index);
	arena_release(&n->text);
	free(n);
}

static void causes_names_take(struct causes_names *n, const struct rows *r,
			      size_t tid, size_t comm)
{
	struct causes_name *name;

	if (!tid || !comm || rows_int(r, tid) <= 0 || !*rows_text(r, comm))
		return;
	name = causes_names_at(n, rows_int(r, tid));
	if (name->comm &&
	    (!name->of_field || !strcmp(name->comm, rows_text(r, comm))))
		return;
	name->comm = arena_strdup(&n->text, rows_text(r, comm));
	name->of_field = true;
}

int causes_names_add(struct causes_names *n, struct store *db,
		     const char *table, struct err *err)
{
	static const char *const field[3][3] = {
		{ "prev_comm", "next_comm", "comm" },
		{ "prev_pid", "next_pid", "pid" },
		{ "prev_tid", "next_tid", "tid" },
	};
	size_t at[2][3] = { 0 };
	struct row_cursor c = { 0 };
	int rc = row_cursor_open_table(&c, db, table, false, err);

	for (size_t i = 1; !rc && i < rows_columns(c.rows); i++)
		for (size_t k = 0; k < 9; k++)
			if (!strcmp(rows_name(c.rows, i), field[k / 3][k % 3]))
				at[k >= 3][k % 3] = i;
	while (!rc && c.more) {
		for (size_t k = 0; k < 3; k++)
			causes_names_take(n, c.rows, at[1][k], at[0][k]);
		rc = row_cursor_step(&c, err);
	}
	row_cursor_close(&c);
	return rc;
}

const char *causes_names_comm(const struct causes_names *n, int64_t tid)
{
	uint32_t id = table_find_hash(&n->index, hash_u64((uint64_t)tid));

	if (tid == 0)
		return "swapper";
	return id == TABLE_NONE ? "" : n->name[id].comm;
}

int64_t causes_names_pid(const struct causes_names *n, int64_t tid)
{
	uint32_t id = table_find_hash(&n->index, hash_u64((uint64_t)tid));

	if (tid == 0)
		return 0;
	return id == TABLE_NONE ? -1 : n->name[id].pid;
}

/* ---- silent tasks */

char *causes_silent_names(const struct timeline *t, struct thread_names *told,
			  const struct causes_names *names)
{
	size_t n = t->n_silent;
	char *text;
	FILE *out;

	if (!n)
		return NULL;
	out = mem_stream(&text, NULL);
	for (size_t i = 0; i < n && n <= SILENT_NAMED; i++) {
		const struct timeline_silent s = t->silent[i];
		const char *comm = causes_names_comm(names, s.tid);

		fputs(!i ? "" : i + 1 < n ? ", " : " and ", out);
		if (s.cpu >= 0)
			fprintf(out, "swapper/%d", s.cpu);
		else if (*comm)
			safe_text_put(out, thread_names_tell(told, comm, s.tid),
				      0, 0);
		else
			fprintf(out, "thread %d", s.tid);
	}
	if (n > SILENT_NAMED)
		fprintf(out, "%zu tasks that record nothing", n);
	mem_stream_end(out);
	return text;
}

char *causes_silent_premise(const struct timeline *t, const char *names)
{
	unsigned int on = missing_premise(t);
	char *text;
	FILE *out;

	if (!names)
		return NULL;
	out = mem_stream(&text, NULL);
	fprintf(out, "if only records of %s are missing", names);
	if (on & MISSING_IF_SHOWS)
		fputs(", and others only where it shows", out);
	if (on & MISSING_IF_ON)
		fputs(", and " MISSING_ON_WORDS, out);
	mem_stream_end(out);
	return text;
}

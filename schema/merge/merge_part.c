/* merge_part.c - reads a database that is merged: gives its rows new ids, and
 * copies them. */

#include "schema/columns.h"
#include "schema/merge/merging.h"
#include "schema/store.h"
#include "schema/write/write.h"
#include "schema/write/writing.h"
#include "stitch/base/mem.h"

/* Gives new ids to the rows of a query, which are (id, reference). A row is
 * left out if the row that it refers to is. */
static int merge_number(struct merge *m, struct merge_part *p,
			enum merge_kind kind, const char *query,
			enum merge_kind of, struct err *err)
{
	struct rows *r = rows_of(p->db, query, err);

	while (rows_step(r)) {
		struct value v = rows_value(r, MERGE_REFERENCE);
		bool keep = v.kind != VALUE_INT ||
			    merge_map_get(&p->map[of], v.num);

		if (merge_part_map(p, kind, rows_int(r, MERGE_ID),
				   keep ? ++m->last[kind] : 0, err))
			return rows_stop(r);
	}
	return rows_end(r, err);
}

/* Writes the identity of a capture for later merges, and where its kernel was,
 * for merge_boots. */
static int merge_put_known(struct merge *m, const struct merge_part *p,
			   struct err *err)
{
	struct rows *r = rows_of(p->db, "merge_kernel_start", err);
	bool has_start = rows_step(r);
	int64_t start = has_start ? rows_int(r, MERGE_KERNEL_START_START) : 0;
	int rc = rows_end(r, err);

	for (size_t i = 0; !rc && i < p->in->n_capture; i++) {
		const struct merge_capture *c = &p->in->capture[i];
		int index = (int)m->capture[c->key] - 1;

		if (c->out)
			continue;
		rc = store_meta(m->out, index, "content",
				intern_get(&m->keys, c->key), err);
		if (!rc && has_start)
			rc = store_meta_number(m->out, index, "kernel_start",
					       start, err);
	}
	return rc;
}

/* Notes for each type what emitting its events needs. */
static int merge_take_type(struct merge *m UNUSED, struct merge_part *p,
			   const struct rows *r, struct value *v,
			   struct err *err UNUSED)
{
	int64_t id = rows_int(r, MERGE_EVENT_TYPES_ID);

	if (id < 1 || (uint64_t)id >= p->n_type)
		return 1;
	p->rank[id] = (uint32_t)v[MERGE_EVENT_TYPES_CAPTURE].num;
	p->is_sample[id] =
		!strcmp(rows_text(r, MERGE_EVENT_TYPES_KIND), "sample");
	return 1;
}

static int merge_take_comm(struct merge *m, struct merge_part *p UNUSED,
			   const struct rows *r, struct value *v,
			   struct err *err UNUSED)
{
	merge_groups_comm(m->groups, (uint32_t)v[MERGE_COMMS_ID].num,
			  rows_text(r, MERGE_COMMS_NAME));
	return 1;
}

/* Returns whether a mapping is new. Mappings of the kernel are shared by all
 * captures of a boot: equal ones are stored once. */
static bool merge_is_new_mapping(struct merge *m, const struct value *v)
{
	int64_t key[MERGE_MAPPINGS_T1];
	size_t n = m->kernel.n;

	for (unsigned int i = 0; i < ARRAY_SIZE(key); i++)
		key[i] = v[i + 1].kind == VALUE_INT ? v[i + 1].num : INT64_MIN;
	return intern_add_bytes(&m->kernel, key, sizeof(key)) == n;
}

static int merge_take_mapping(struct merge *m, struct merge_part *p UNUSED,
			      const struct rows *r, struct value *v,
			      struct err *err UNUSED)
{
	bool of_kernel = !rows_int(r, MERGE_MAPPINGS_PROCESS);

	if (of_kernel)
		v[MERGE_MAPPINGS_PROCESS] = (struct value){ .kind = VALUE_INT };
	if (of_kernel ? !merge_is_new_mapping(m, v)
		      : !v[MERGE_MAPPINGS_PROCESS].num)
		return 0;
	v[MERGE_MAPPINGS_ID].num = ++m->mappings;
	return 1;
}

/* Processes come before the images of their anonymous memory. */
static const struct merge_copy merge_tasks[] = {
	{ "merge_captures", .kind = MERGE_CAPTURE, .put = "merge_put_capture" },
	{ "merge_meta", .put = "put_meta" },
	{ "merge_event_types", .kind = MERGE_TYPE, .take = merge_take_type,
	  .put = "merge_put_event_type" },
	{ "merge_processes", .table = T_PROCESS, .kind = MERGE_PROCESS },
	{ "merge_threads", .table = T_THREAD, .kind = MERGE_THREAD,
	  .many = true },
	{ "merge_comms", .table = T_COMM, .kind = MERGE_COMM,
	  .take = merge_take_comm, .many = true },
};

/* These come after images. */
static const struct merge_copy merge_mappings = { "merge_mappings",
						  .table = T_MAPPING,
						  .take = merge_take_mapping,
						  .many = true };

struct merge_part *merge_part_open(struct merge *m, struct merge_input *in,
				   struct err *err)
{
	struct merge_part *p = mem_new(1, sizeof(*p));

	p->in = in;
	p->time = INT64_MIN;
	p->db = store_open(in->path, err);
	if (!p->db)
		goto out;
	static const struct {
		enum merge_kind kind;
		const char *query;
		enum merge_kind of;
	} list[] = {
		{ MERGE_TYPE, "merge_type_ids", MERGE_CAPTURE },
		{ MERGE_PROCESS, "merge_process_ids", MERGE_CAPTURE },
		{ MERGE_THREAD, "merge_thread_ids", MERGE_PROCESS },
		{ MERGE_COMM, "merge_comm_ids", MERGE_THREAD },
		{ MERGE_LOSS, "merge_loss_ids", MERGE_CAPTURE },
		{ MERGE_CHAIN, "merge_chain_ids", MERGE_CAPTURE },
	};

	for (size_t i = 0; i < p->in->n_capture; i++) {
		const struct merge_capture *c = &p->in->capture[i];

		if (merge_part_map(p, MERGE_CAPTURE, c->id,
				   c->out ? 0 : m->capture[c->key], err))
			goto out;
	}
	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		if (merge_number(m, p, list[i].kind, list[i].query, list[i].of,
				 err))
			goto out;
	p->n_type = p->map[MERGE_TYPE].n;
	p->rank = mem_new(p->n_type + 1, sizeof(*p->rank));
	p->is_sample = mem_new(p->n_type + 1, sizeof(*p->is_sample));
	if (!merge_copy_rows(m, p, merge_tasks, ARRAY_SIZE(merge_tasks), err) &&
	    !merge_put_known(m, p, err) && !merge_code_take(m, p, err) &&
	    !merge_copy_rows(m, p, &merge_mappings, 1, err) &&
	    (p->events =
		     rows_ints(p->db, store_sql("merge_take_events"), err)) &&
	    (p->payloads = rows_of(p->db, "payloads", err)))
		return p;
out:
	merge_part_close(p);
	return NULL;
}

void merge_part_close(struct merge_part *p)
{
	if (!p)
		return;
	rows_close(p->events);
	rows_close(p->payloads);
	store_close(p->db);
	for (unsigned int i = 0; i < MERGE_KINDS; i++)
		free(p->map[i].id);
	free_all(p->rank, p->is_sample, p->run, p);
}

static int merge_take_request(struct merge *m, struct merge_part *p UNUSED,
			      const struct rows *r UNUSED, struct value *v,
			      struct err *err UNUSED)
{
	struct writing *w = m->out->w;
	uint32_t chain = (uint32_t)v[MERGE_REQUESTS_CHAIN].num;

	w->requests++;
	w->joined += chain != 0;
	if (chain > w->max_chain)
		w->max_chain = chain;
	return 1;
}

static int merge_take_chain(struct merge *m, struct merge_part *p UNUSED,
			    const struct rows *r, struct value *v UNUSED,
			    struct err *err UNUSED)
{
	m->out->w->chains++;
	m->out->w->chain_events += (uint64_t)rows_int(r, MERGE_CHAINS_N_EVENTS);
	return 1;
}

static int merge_take_copy(struct merge *m, struct merge_part *p UNUSED,
			   const struct rows *r UNUSED, struct value *v UNUSED,
			   struct err *err UNUSED)
{
	m->out->w->copies++;
	return 1;
}

/* Returns whether a note is new: notes that belong to no capture are written
 * once. */
static int merge_take_damage(struct merge *m, struct merge_part *p UNUSED,
			     const struct rows *r, struct value *v,
			     struct err *err UNUSED)
{
	size_t n = m->notes.n;

	if (v[MERGE_DAMAGE_CAPTURE].kind != VALUE_NULL)
		return 1;
	return intern_add(&m->notes,
			  arena_join(&m->notes.text,
				     rows_text(r, MERGE_DAMAGE_WHAT), '\n',
				     rows_text(r, MERGE_DAMAGE_DETAIL))) == n;
}

/* Losses, and rows that refer to events. */
static const struct merge_copy merge_tables[] = {
	{ "merge_losses", .table = T_LOSS, .kind = MERGE_LOSS },
	{ "merge_ordering", .table = T_ORDERING },
	{ "merge_chains", .table = T_CHAIN, .kind = MERGE_CHAIN,
	  .take = merge_take_chain, .many = true },
	{ "merge_copies", .table = T_CHAIN_COPY, .take = merge_take_copy },
	{ "merge_requests", .table = T_REQUEST, .take = merge_take_request },
	{ "merge_branches", .table = T_BRANCH },
	{ "merge_findings", .table = T_FINDING },
	{ "merge_gaps", .table = T_GAP },
	{ "merge_counters", .table = T_COUNTER },
	{ "merge_cookies", .table = T_COOKIES },
	{ "merge_extras", .table = T_EXTRA },
	{ "merge_leaders", .table = T_EXTRA },
	{ "merge_damage", .table = T_DAMAGE, .take = merge_take_damage },
};

/* ---- the fields of events: the ev_ table of an event has the columns of all
 * databases */

static int merge_fields_copy(struct merge *m, struct merge_part *p,
			     const char *name, const char *event,
			     struct err *err)
{
	const struct value of_table = { .kind = VALUE_TEXT, .text = name };
	/* by column of the part's table: where it is in the result, and if it
	 * has ids of lists of addresses */
	unsigned int at[BULK_COLUMNS];
	bool is_stack[BULK_COLUMNS];
	struct value v[BULK_COLUMNS]; /* by column of the result */
	size_t n = 1;		      /* event_id */
	unsigned int ev, table;
	struct rows *r;

	if (fields_reach_table(m->out, event, &ev, &table, err))
		return -1;
	r = rows_open(p->db, store_sql("merge_ev_columns"), &of_table, 1, err);
	for (; rows_step(r) && n < BULK_COLUMNS; n++) {
		is_stack[n] = rows_int(r, MERGE_EV_COLUMNS_IS_STACK) != 0;
		if (fields_reach_column(m->out, ev,
					rows_text(r, MERGE_EV_COLUMNS_NAME),
					is_stack[n], &at[n], err))
			return rows_stop(r);
	}
	if (rows_end(r, err))
		return -1;

	char *sql =
		sqlite3_mprintf("SELECT * FROM \"%w\" ORDER BY event_id", name);

	r = sql ? rows_open(p->db, sql, NULL, 0, err) : NULL;
	sqlite3_free(sql);
	const size_t columns = m->out->table[table]->shape.n_columns;

	while (rows_step(r)) {
		uint32_t id = merge_part_event(p, rows_int(r, MERGE_ID));

		if (!id)
			continue;
		memset(v, 0, columns * sizeof(*v));
		*v = VALUE_OF(id);
		for (size_t i = 1; i < n; i++) {
			const struct value was = rows_value(r, i);

			if (at[i] && is_stack[i] && was.kind == VALUE_INT)
				v[at[i]] = VALUE_ID(merge_map_get(
					&p->map[MERGE_RAW], was.num));
			else if (at[i])
				v[at[i]] = was;
		}
		if (tables_put(m->out, table, v, columns, err))
			return rows_stop(r);
	}
	return rows_end(r, err);
}

/* Renames a type to the name that its table has now. */
static int merge_fields_rename(struct merge *m, struct merge_part *p UNUSED,
			       const struct rows *r, struct value *v,
			       struct err *err)
{
	return fields_name_type(m->out, (uint32_t)v[MERGE_EV_TYPES_ID].num,
				rows_text(r, MERGE_EV_TYPES_EVENT), err);
}

static int merge_fields_take(struct merge *m, struct merge_part *p,
			     struct err *err)
{
	static const struct merge_copy types = { "merge_ev_types",
						 .kind = MERGE_TYPE,
						 .take = merge_fields_rename };
	struct rows *r = rows_of(p->db, "merge_ev_tables", err);
	bool any = false;

	while (rows_step(r)) {
		any = true;
		if (merge_fields_copy(m, p, rows_text(r, MERGE_EV_TABLES_NAME),
				      rows_text(r, MERGE_EV_TABLES_EVENT), err))
			return rows_stop(r);
	}
	if (rows_end(r, err))
		return -1;
	return any ? merge_copy_rows(m, p, &types, 1, err) : 0;
}

int merge_part_rest(struct merge *m, struct merge_part *p, struct err *err)
{
	if (merge_copy_rows(m, p, merge_tables, ARRAY_SIZE(merge_tables),
			    err) ||
	    merge_groups_take(m, p, err) || merge_fields_take(m, p, err))
		return -1;
	return tables_tidy(m->out, err);
}

/* merge_part.c - a database that is merged: its rows get new ids and are
 * copied. */

#include "schema/columns.h"
#include "schema/merge/merging.h"
#include "schema/store.h"
#include "schema/write/writing.h"
#include "stitch/base/mem.h"

/* ---- numbering */

/* Gives new ids to the rows of a query, which are (id, reference). A row is
 * left out if what it refers to is. */
static int merge_number(struct merge *m, struct merge_part *p,
			enum merge_kind kind, const char *query, uint8_t ref,
			struct err *err)
{
	struct rows *r = rows_of(p->db, query, err);

	while (rows_step(r)) {
		struct value of = rows_value(r, MERGE_REFERENCE);
		uint32_t to =
			merge_map_value(p, ref, &of) ? ++m->last[kind] : 0;

		if (merge_part_map(p, kind, rows_int(r, MERGE_ID), to, err))
			return rows_stop(r);
	}
	return rows_end(r, err);
}

/* ---- captures and their events */

/* Tables of a few rows, which a statement fills. */
struct merge_few {
	const char *query, *put;
	uint8_t ref[MERGE_COLUMNS_MAX]; /* as in struct merge_copy */
};

static int merge_copy_few(struct merge *m, struct merge_part *p,
			  const struct merge_few *few, struct err *err)
{
	struct rows *r = rows_of(p->db, few->query, err);
	sqlite3_stmt *st =
		r ? db_prepare(m->db, store_sql(few->put), err) : NULL;
	struct value v[MERGE_COLUMNS_MAX];
	int rc = st ? 0 : -1;

	while (!rc && rows_step(r)) {
		size_t n = rows_columns(r);
		bool keep = true;

		for (size_t i = 0; keep && i < n; i++) {
			v[i] = rows_value(r, i);
			keep = merge_map_value(p, few->ref[i], &v[i]);
		}
		if (!keep)
			continue;
		for (size_t i = 0; i < n; i++)
			rows_bind_value(st, (int)i + 1, &v[i]);
		rc = db_step(m->db, st, err);
	}
	sqlite3_finalize(st);
	return rc ? rows_stop(r) : rows_end(r, err);
}

/* Notes for each type what emitting its events needs. */
static int merge_take_types(struct merge_part *p, struct err *err)
{
	struct rows *r = rows_of(p->db, "merge_types", err);

	p->n_type = p->map[MERGE_TYPE].n;
	p->rank = mem_new(p->n_type + 1, sizeof(*p->rank));
	p->is_sample = mem_new(p->n_type + 1, sizeof(*p->is_sample));
	while (rows_step(r)) {
		int64_t id = rows_int(r, MERGE_TYPES_ID);

		if (id < 1 || (uint64_t)id >= p->n_type)
			continue;
		p->rank[id] = merge_map_get(&p->map[MERGE_CAPTURE],
					    rows_int(r, MERGE_TYPES_CAPTURE));
		p->is_sample[id] = rows_int(r, MERGE_TYPES_IS_SAMPLE) != 0;
	}
	return rows_end(r, err);
}

/* Writes under which name a capture is known to later merges. */
static int merge_put_keys(struct merge *m, const struct merge_part *p,
			  struct err *err)
{
	sqlite3_stmt *st = db_prepare(m->db, store_sql("merge_put_key"), err);
	int rc = st ? 0 : -1;

	for (size_t i = 0; !rc && i < p->in->n_capture; i++) {
		const struct merge_capture *c = &p->in->capture[i];

		if (c->out)
			continue;
		sqlite3_bind_int64(st, 1, m->capture[c->key]);
		db_bind_text(st, 2, intern_get(&m->keys, c->key));
		rc = db_step(m->db, st, err);
	}
	sqlite3_finalize(st);
	return rc;
}

/* Notes of captures where their kernel was, for merge_boots. */
static int merge_put_kernel(struct merge *m, const struct merge_part *p,
			    struct err *err)
{
	struct rows *r = rows_of(p->db, "merge_kernel_start", err);
	sqlite3_stmt *st = NULL;
	int rc = 0;

	if (rows_step(r)) {
		st = db_prepare(m->db, store_sql("merge_put_kernel_start"),
				err);
		rc = st ? 0 : -1;
	}
	for (size_t i = 0; st && !rc && i < p->in->n_capture; i++) {
		const struct merge_capture *c = &p->in->capture[i];

		if (c->out)
			continue;
		sqlite3_bind_int64(st, 1, m->capture[c->key]);
		sqlite3_bind_int64(st, 2,
				   rows_int(r, MERGE_KERNEL_START_START));
		rc = db_step(m->db, st, err);
	}
	sqlite3_finalize(st);
	return rc ? rows_stop(r) : rows_end(r, err);
}

static int merge_take_captures(struct merge *m, struct merge_part *p,
			       struct err *err)
{
	static const struct merge_few few[] = {
		{ "merge_captures",
		  "merge_put_capture",
		  { [MERGE_CAPTURES_ID] = MERGE_MUST(CAPTURE),
		    [MERGE_CAPTURES_TOGETHER] = MERGE_REF(CAPTURE) } },
		{ "merge_meta",
		  "merge_put_meta",
		  { [MERGE_META_CAPTURE] = MERGE_MUST(CAPTURE) } },
		{ "merge_event_types",
		  "merge_put_event_type",
		  { [MERGE_EVENT_TYPES_ID] = MERGE_MUST(TYPE),
		    [MERGE_EVENT_TYPES_CAPTURE] = MERGE_MUST(CAPTURE) } },
	};

	for (size_t i = 0; i < p->in->n_capture; i++) {
		const struct merge_capture *c = &p->in->capture[i];

		if (merge_part_map(p, MERGE_CAPTURE, c->id,
				   c->out ? 0 : m->capture[c->key], err))
			return -1;
	}
	if (merge_number(m, p, MERGE_TYPE, "merge_type_ids",
			 MERGE_MUST(CAPTURE), err))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(few); i++)
		if (merge_copy_few(m, p, &few[i], err))
			return -1;
	return merge_put_keys(m, p, err) || merge_put_kernel(m, p, err)
		       ? -1
		       : merge_take_types(p, err);
}

static void merge_take_comm(struct merge *m, const struct merge_part *p,
			    const struct rows *r)
{
	uint32_t id =
		merge_map_get(&p->map[MERGE_COMM], rows_int(r, MERGE_COMMS_ID));

	merge_groups_comm(m->groups, id, rows_text(r, MERGE_COMMS_NAME));
}

/* Copies processes, threads, names and mappings. Processes before the images
 * of their anonymous memory, mappings after images. */
static int merge_take_tasks(struct merge *m, struct merge_part *p,
			    struct err *err)
{
	static const struct merge_copy process = {
		T_PROCESS,
		"merge_processes",
		{ [MERGE_PROCESSES_ID] = MERGE_MUST(PROCESS),
		  [MERGE_PROCESSES_CAPTURE] = MERGE_REF(CAPTURE),
		  [MERGE_PROCESSES_PARENT] = MERGE_REF(PROCESS) }
	};
	static const struct merge_copy thread = {
		T_THREAD,
		"merge_threads",
		{ [MERGE_THREADS_ID] = MERGE_MUST(THREAD),
		  [MERGE_THREADS_PROCESS] = MERGE_REF(PROCESS) }
	};
	static const struct merge_copy comm = {
		T_COMM,
		"merge_comms",
		{ [MERGE_COMMS_ID] = MERGE_MUST(COMM),
		  [MERGE_COMMS_THREAD] = MERGE_REF(THREAD) }
	};

	if (merge_number(m, p, MERGE_PROCESS, "merge_process_ids",
			 MERGE_MUST(CAPTURE), err) ||
	    merge_number(m, p, MERGE_THREAD, "merge_thread_ids",
			 MERGE_MUST(PROCESS), err) ||
	    merge_number(m, p, MERGE_COMM, "merge_comm_ids", MERGE_MUST(THREAD),
			 err))
		return -1;
	return merge_copy_rows(m, p, &process, NULL, err) ||
			       merge_copy_rows(m, p, &thread, NULL, err) ||
			       merge_copy_rows(m, p, &comm, merge_take_comm,
					       err)
		       ? -1
		       : 0;
}

/* Mappings of the kernel are those of all captures of a boot: equal ones are
 * stored once. */
static bool merge_is_new_mapping(struct merge *m, const struct rows *r,
				 uint32_t image)
{
	struct {
		int64_t v[8];
	} key = { .v = { image } };
	size_t n = m->kernel.n;

	for (unsigned int i = 0; i < 7; i++)
		key.v[i + 1] = rows_int_or(r,
					   i < 3 ? i + MERGE_MAPPINGS_START
						 : i - 3 + MERGE_MAPPINGS_PROT,
					   INT64_MIN);
	return intern_add_bytes(&m->kernel, &key, sizeof(key)) == n;
}

static int merge_take_mappings(struct merge *m, struct merge_part *p,
			       struct err *err)
{
	struct rows *r = rows_of(p->db, "merge_mappings", err);

	while (rows_step(r)) {
		int64_t old = rows_int(r, MERGE_MAPPINGS_PROCESS);
		uint32_t process = merge_map_get(&p->map[MERGE_PROCESS], old);
		uint32_t image =
			merge_map_get(&p->map[MERGE_IMAGE],
				      rows_int(r, MERGE_MAPPINGS_IMAGE));
		struct row row;

		if (old ? !process : !merge_is_new_mapping(m, r, image))
			continue;
		if (db_row(m->db, T_MAPPING, 0, &row, err))
			return rows_stop(r);
		row_key(&row, ++m->mappings);
		row_int(&row, 1, process);
		for (unsigned int i = MERGE_MAPPINGS_START;
		     i <= MERGE_MAPPINGS_T1; i++) {
			struct value v = rows_value(r, i);

			if (i != MERGE_MAPPINGS_IMAGE)
				merge_put_value(&row, i + 1, &v);
		}
		row_id(&row, MERGE_MAPPINGS_IMAGE + 1, image);
	}
	return rows_end(r, err);
}

struct merge_part *merge_part_open(struct merge *m, struct merge_input *in,
				   struct err *err)
{
	struct merge_part *p = mem_new(1, sizeof(*p));

	p->in = in;
	p->time = INT64_MIN;
	p->db = store_open(in->path, false, err);
	if (p->db && !merge_take_captures(m, p, err) &&
	    !merge_take_tasks(m, p, err) && !merge_code_take(m, p, err) &&
	    !merge_take_mappings(m, p, err) &&
	    !merge_number(m, p, MERGE_LOSS, "merge_loss_ids",
			  MERGE_MUST(CAPTURE), err) &&
	    !merge_number(m, p, MERGE_CHAIN, "merge_chain_ids",
			  MERGE_MUST(CAPTURE), err) &&
	    (p->events = int_rows_open(p->db, store_sql("merge_take_events"),
				       err)) &&
	    (p->payloads = rows_of(p->db, "payloads", err)))
		return p;
	merge_part_close(p);
	return NULL;
}

void merge_part_close(struct merge_part *p)
{
	if (!p)
		return;
	int_rows_close(p->events);
	rows_close(p->payloads);
	store_close(p->db);
	for (unsigned int i = 0; i < MERGE_KINDS; i++)
		free(p->map[i].id);
	free(p->rank);
	free(p->is_sample);
	free(p->run);
	free(p);
}

/* ---- what refers to events */

static void merge_count_request(struct merge *m, const struct merge_part *p,
				const struct rows *r)
{
	struct writing *w = m->db->w;
	uint32_t chain = merge_map_get(&p->map[MERGE_CHAIN],
				       rows_int(r, MERGE_REQUESTS_CHAIN));

	w->requests++;
	w->joined += chain != 0;
	if (chain > w->max_chain)
		w->max_chain = chain;
}

static void merge_count_chain(struct merge *m,
			      const struct merge_part *p UNUSED,
			      const struct rows *r)
{
	m->db->w->chains++;
	m->db->w->chain_events += (uint64_t)rows_int(r, MERGE_CHAINS_N_EVENTS);
}

static void merge_count_copy(struct merge *m, const struct merge_part *p UNUSED,
			     const struct rows *r UNUSED)
{
	m->db->w->copies++;
}

/* Notes that belong to no capture are written once. */
static int merge_take_damage(struct merge *m, struct merge_part *p,
			     struct err *err)
{
	struct rows *r = rows_of(p->db, "merge_damage", err);
	static const struct merge_copy c = {
		T_DAMAGE, NULL, { [MERGE_DAMAGE_CAPTURE] = MERGE_MUST(CAPTURE) }
	};

	while (rows_step(r)) {
		size_t n = m->notes.n;
		bool done;

		if (rows_value(r, MERGE_DAMAGE_CAPTURE).kind == VALUE_NULL) {
			char *text = arena_join(
				&m->notes.text, rows_text(r, MERGE_DAMAGE_WHAT),
				'\n', rows_text(r, MERGE_DAMAGE_DETAIL));

			if (intern_add(&m->notes, text) != n)
				continue;
		}
		if (merge_copy_row(m, p, &c, r, &done, err))
			return rows_stop(r);
	}
	return rows_end(r, err);
}

/* What refers to events, and losses. */
static const struct {
	struct merge_copy copy;
	merge_row_fn *count;
} merge_tables[] = {
	{ { T_LOSS,
	    "merge_losses",
	    { [MERGE_LOSSES_ID] = MERGE_MUST(LOSS),
	      [MERGE_LOSSES_CAPTURE] = MERGE_REF(CAPTURE),
	      [MERGE_LOSSES_TYPE] = MERGE_REF(TYPE) } },
	  NULL },
	{ { T_ORDERING,
	    "merge_ordering",
	    { [MERGE_ORDERING_CAPTURE] = MERGE_MUST(CAPTURE) } },
	  NULL },
	{ { T_CHAIN,
	    "merge_chains",
	    { [MERGE_CHAINS_ID] = MERGE_MUST(CHAIN),
	      [MERGE_CHAINS_CAPTURE] = MERGE_REF(CAPTURE),
	      [MERGE_CHAINS_THREAD] = MERGE_REF(THREAD),
	      [MERGE_CHAINS_URAW] = MERGE_REF(RAW),
	      [MERGE_CHAINS_LOSS] = MERGE_REF(LOSS) } },
	  merge_count_chain },
	{ { T_CHAIN_COPY,
	    "merge_copies",
	    { [MERGE_COPIES_CHAIN] = MERGE_MUST(CHAIN),
	      [MERGE_COPIES_CAPTURE] = MERGE_MUST(CAPTURE) } },
	  merge_count_copy },
	{ { T_REQUEST,
	    "merge_requests",
	    { [MERGE_REQUESTS_EVENT] = MERGE_MUST(EVENT),
	      [MERGE_REQUESTS_CHAIN] = MERGE_REF(CHAIN),
	      [MERGE_REQUESTS_URAW] = MERGE_REF(RAW),
	      [MERGE_REQUESTS_LOSS] = MERGE_REF(LOSS),
	      [MERGE_REQUESTS_AS_TID] = MERGE_REF(CHAIN) } },
	  merge_count_request },
	{ { T_BRANCH,
	    "merge_branches",
	    { [MERGE_BRANCHES_EVENT] = MERGE_MUST(EVENT) } },
	  NULL },
	{ { T_FINDING,
	    "merge_findings",
	    { [MERGE_FINDINGS_CAPTURE] = MERGE_MUST(CAPTURE),
	      [MERGE_FINDINGS_THREAD] = MERGE_REF(THREAD),
	      [MERGE_FINDINGS_EVENT] = MERGE_REF(EVENT),
	      [MERGE_FINDINGS_LOSS] = MERGE_REF(LOSS) } },
	  NULL },
	{ { T_GAP,
	    "merge_gaps",
	    { [MERGE_GAPS_CAPTURE] = MERGE_MUST(CAPTURE),
	      [MERGE_GAPS_LOSS] = MERGE_REF(LOSS) } },
	  NULL },
	{ { T_COUNTER,
	    "merge_counters",
	    { [MERGE_COUNTERS_CAPTURE] = MERGE_MUST(CAPTURE) } },
	  NULL },
	{ { T_COOKIES,
	    "merge_cookies",
	    { [MERGE_COOKIES_CAPTURE] = MERGE_MUST(CAPTURE) } },
	  NULL },
	{ { T_EXTRA,
	    "merge_extras",
	    { [MERGE_EXTRAS_EVENT] = MERGE_MUST(EVENT) } },
	  NULL },
	/* another event's id is the value */
	{ { T_EXTRA,
	    "merge_leaders",
	    { [MERGE_LEADERS_EVENT] = MERGE_MUST(EVENT),
	      [MERGE_LEADERS_VALUE] = MERGE_MUST(EVENT) } },
	  NULL },
};

int merge_part_rest(struct merge *m, struct merge_part *p, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(merge_tables); i++)
		if (merge_copy_rows(m, p, &merge_tables[i].copy,
				    merge_tables[i].count, err))
			return -1;
	if (merge_take_damage(m, p, err) || merge_groups_take(m, p, err) ||
	    merge_fields_take(m, p, err))
		return -1;
	return tables_tidy(m->db, err);
}

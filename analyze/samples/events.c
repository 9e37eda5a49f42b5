/* events.c - iterates over the events of a database in time order, and over
 * rows that are read along with them. */
#include "analyze/samples/events.h"

#include "analyze/samples/filter.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/mem.h"

int row_cursor_step(struct row_cursor *c, struct err *err)
{
	int rc = rows_next(c->rows, err);

	c->more = rc > 0;
	c->event = rc > 0 ? rows_int(c->rows, PRINT_EV_ROWS_EVENT_ID) : 0;
	return rc < 0 ? -1 : 0;
}

int row_cursor_open(struct row_cursor *c, struct store *db, const char *sql,
		    struct err *err)
{
	*c = (struct row_cursor){ .rows = rows_open(db, sql, NULL, 0, err) };
	return c->rows ? row_cursor_step(c, err) : -1;
}

bool row_cursor_is_table(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return len && !name[len] && len < STORE_NAME_MAX;
}

int row_cursor_open_table(struct row_cursor *c, struct store *db,
			  const char *name, bool pages, struct err *err)
{
	const struct sql_gap table = { "table", name };
	char *sql = store_sql_fill("print_ev_rows", &table, 1);

	*c = (struct row_cursor){ .rows = rows_open(db, sql, NULL, 0, err) };
	free(sql);
	if (c->rows && pages)
		rows_by_pages(c->rows, name);
	return c->rows ? row_cursor_step(c, err) : -1;
}

int row_cursor_seek(struct row_cursor *c, int64_t event, struct err *err)
{
	while (c->more && c->event < event)
		if (row_cursor_step(c, err))
			return -1;
	return c->more && c->event == event;
}

void row_cursor_close(struct row_cursor *c)
{
	rows_close(c->rows);
	*c = (struct row_cursor){ 0 };
}

struct events {
	struct rows *rows;     /* of query print_events; NULL: see all */
	struct event_rows all; /* all events, by id */
	struct event_type *type;
	size_t n_type, cap_type;
	struct event_comm *comm;
	size_t n_comm, cap_comm;
	struct arena text;
};

enum {
	EVENT_ID,
	EVENT_TIME_NS,
	EVENT_TYPE,
	EVENT_CPU,
	EVENT_COMM,
	EVENT_KRAW,
	EVENT_URAW,
	EVENT_WEIGHT,
	EVENT_THREAD,
	EVENT_PAYLOAD
};

/* Columns of table request. */
enum {
	ASKED_EVENT,
	ASKED_URAW,
	ASKED_VERDICT,
	ASKED_CONFIDENCE,
	ASKED_FLAGS,
	ASKED_IP,
	ASKED_COLUMNS
};

struct event_rows event_rows_open(const struct store *db, enum event_rows_to to,
				  struct err *err)
{
	static const char *const column[] = {
		[EVENT_ID] = "id",	   [EVENT_TIME_NS] = "time_ns",
		[EVENT_TYPE] = "type",	   [EVENT_CPU] = "cpu",
		[EVENT_COMM] = "comm",	   [EVENT_KRAW] = "kraw",
		[EVENT_URAW] = "uraw",	   [EVENT_WEIGHT] = "weight",
		[EVENT_THREAD] = "thread", [EVENT_PAYLOAD] = "payload",
	};

	return (struct event_rows){
		.rows = rows_ints_of(db, "event", column, to, err), .n = to
	};
}

struct event_rows event_rows_open_both(const struct store *db,
				       enum event_rows_to to, struct err *err)
{
	static const char *const column[ASKED_COLUMNS] = {
		[ASKED_EVENT] = "event",     [ASKED_URAW] = "uraw",
		[ASKED_VERDICT] = "verdict", [ASKED_CONFIDENCE] = "confidence",
		[ASKED_FLAGS] = "flags",     [ASKED_IP] = "ip",
	};
	struct event_rows r = { .n = to };

	r.requests = rows_ints_of(
		db, "request", column,
		to < EVENT_ROWS_TO_PAYLOAD ? ASKED_IP : ASKED_COLUMNS, err);
	if (r.requests)
		r.rows = event_rows_open(db, to, err).rows;
	if (!r.rows) {
		rows_close(r.requests);
		r.requests = NULL;
	}
	return r;
}

void event_rows_close(struct event_rows *r)
{
	rows_close(r->rows);
	rows_close(r->requests);
}

/* Fills *e from the columns that are read. */
static void event_rows_take(const struct event_rows *r,
			    const struct int_row *row, struct event_row *e)
{
	const int64_t *v = row->v;

	*e = (struct event_row){ .id = v[EVENT_ID],
				 .timed = row->known >> EVENT_TIME_NS & 1,
				 .time = v[EVENT_TIME_NS],
				 .type = v[EVENT_TYPE] };
	if (r->n >= EVENT_ROWS_TO_WEIGHT) {
		e->on_cpu = row->known >> EVENT_CPU & 1;
		e->cpu = v[EVENT_CPU];
		e->comm = v[EVENT_COMM];
		e->kraw = v[EVENT_KRAW];
		e->uraw = v[EVENT_URAW];
		e->weighed = row->known >> EVENT_WEIGHT & 1;
		e->weight = v[EVENT_WEIGHT];
	}
	if (r->n >= EVENT_ROWS_TO_THREAD)
		e->thread = id_of_row(v[EVENT_THREAD]);
	if (r->n >= EVENT_ROWS_TO_PAYLOAD)
		e->payload = v[EVENT_PAYLOAD];
}

int event_rows_next(struct event_rows *r, struct event_row *e, struct err *err)
{
	struct int_row row;
	int rc = r->rows ? rows_next_ints(r->rows, &row, err) : -1;

	if (rc > 0)
		event_rows_take(r, &row, e);
	return rc;
}

int event_rows_seek(struct event_rows *r, int64_t id, struct event_row *e,
		    struct err *err)
{
	struct int_row row;
	int rc = rows_seek_ints(r->rows, id, &row, err);

	if (rc > 0)
		event_rows_take(r, &row, e);
	return rc;
}

int event_rows_ask(struct event_rows *r, struct event_row *e, struct err *err)
{
	struct int_row q;
	int rc = rows_seek_ints(r->requests, e->id, &q, err);

	if (rc <= 0)
		return rc;
	if (q.known >> ASKED_URAW & 1)
		e->uraw = q.v[ASKED_URAW];
	e->verdict = q.v[ASKED_VERDICT];
	e->confidence = q.v[ASKED_CONFIDENCE];
	e->flags = q.v[ASKED_FLAGS];
	if (r->n >= EVENT_ROWS_TO_PAYLOAD)
		e->ip = q.v[ASKED_IP];
	return 0;
}

struct events *events_open(struct store *db, const struct filter *filter,
			   enum events_how how, struct err *err)
{
	const char *order = how == EVENTS_BY_THREAD
				    ? "ORDER BY e.type, e.thread, e.id"
				    : "";
	struct events *ev = mem_new(1, sizeof(*ev));
	struct rows *r = rows_dense(db, "event_types", err);

	while (rows_step(r))
		*mem_add(ev->type, ev->n_type,
			 ev->cap_type) = (struct event_type){
			.name = arena_strdup(&ev->text,
					     rows_text(r, EVENT_TYPES_NAME)),
			.capture = (uint32_t)rows_int(r, EVENT_TYPES_CAPTURE),
			.sample = rows_int(r, EVENT_TYPES_IS_SAMPLE),
		};
	if (rows_end(r, err))
		goto fail;
	r = rows_dense(db, "event_comms", err);
	while (rows_step(r))
		*mem_add(ev->comm, ev->n_comm,
			 ev->cap_comm) = (struct event_comm){
			.name = arena_strdup(&ev->text,
					     rows_text(r, EVENT_COMMS_NAME)),
			.pid = rows_int_or(r, EVENT_COMMS_PID, -1),
			.tid = rows_int_or(r, EVENT_COMMS_TID, -1),
			.thread =
				(uint32_t)rows_int_or(r, EVENT_COMMS_THREAD, 0),
			.process = (uint32_t)rows_int_or(r, EVENT_COMMS_PROCESS,
							 0),
		};
	if (rows_end(r, err))
		goto fail;
	if (*order || filter_given(filter)) {
		const struct sql_gap gap = { "order", order };

		ev->rows =
			filter_rows(filter, db, "print_events", &gap, 1, err);
		if (!ev->rows)
			goto fail;
		return ev;
	}
	ev->all =
		event_rows_open_both(db,
				     how == EVENTS_FEW ? EVENT_ROWS_TO_WEIGHT
						       : EVENT_ROWS_TO_PAYLOAD,
				     err);
	if (ev->all.rows)
		return ev;
fail:
	events_close(ev);
	return NULL;
}

void events_close(struct events *ev)
{
	if (!ev)
		return;
	rows_close(ev->rows);
	event_rows_close(&ev->all);
	arena_release(&ev->text);
	free_all(ev->type, ev->comm, ev);
}

int events_next(struct events *ev, struct event_row *e, struct err *err)
{
	struct rows *r = ev->rows;
	int ret = r ? rows_next(r, err) : event_rows_next(&ev->all, e, err);

	if (ret > 0 && !r && event_rows_ask(&ev->all, e, err))
		return -1;
	if (ret <= 0 || !r)
		return ret;
	*e = (struct event_row){
		.id = rows_int(r, PRINT_EVENTS_ID),
		.timed = rows_value(r, PRINT_EVENTS_TIME_NS).kind == VALUE_INT,
		.time = rows_int(r, PRINT_EVENTS_TIME_NS),
		.on_cpu = rows_value(r, PRINT_EVENTS_CPU).kind == VALUE_INT,
		.cpu = rows_int(r, PRINT_EVENTS_CPU),
		.comm = rows_int(r, PRINT_EVENTS_COMM),
		.type = rows_int(r, PRINT_EVENTS_TYPE),
		.weight = rows_int(r, PRINT_EVENTS_WEIGHT),
		.weighed = rows_value(r, PRINT_EVENTS_WEIGHT).kind == VALUE_INT,
		.kraw = rows_int(r, PRINT_EVENTS_KRAW),
		.uraw = rows_int(r, PRINT_EVENTS_URAW),
		.verdict = rows_int(r, PRINT_EVENTS_VERDICT),
		.flags = rows_int(r, PRINT_EVENTS_FLAGS),
		.thread = (uint32_t)rows_int(r, PRINT_EVENTS_THREAD),
		.ip = rows_int(r, PRINT_EVENTS_IP),
		.confidence = rows_int(r, PRINT_EVENTS_CONFIDENCE),
		.payload = rows_int(r, PRINT_EVENTS_PAYLOAD),
	};
	return 1;
}

const struct event_type *events_type(const struct events *ev, int64_t id)
{
	static const struct event_type none = { .name = "" };

	return id >= 1 && (uint64_t)id <= ev->n_type ? &ev->type[id - 1]
						     : &none;
}

const struct event_comm *events_comm(const struct events *ev, int64_t id)
{
	static const struct event_comm none = { "[no name]", -1, -1, 0, 0 };

	return id >= 1 && (uint64_t)id <= ev->n_comm ? &ev->comm[id - 1]
						     : &none;
}

size_t events_types(const struct events *ev)
{
	return ev->n_type;
}

size_t events_comms(const struct events *ev)
{
	return ev->n_comm;
}

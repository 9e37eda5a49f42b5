/* events.c - iterates over the events of a database in time order. */
#include "cli/model/events.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/model/filter.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define SQL_MAX 8192

_Static_assert((int)EVENTS_ALONE_ID == PRINT_EVENTS_ID &&
		       (int)EVENTS_ALONE_URAW == PRINT_EVENTS_URAW,
	       "both queries begin with the same columns");

struct events {
	struct rows *rows;
	struct rows *requests; /* read along with rows; NULL: rows has them */
	int64_t request;       /* event of its row; INT64_MAX: at the end */
	struct event_type *type;
	size_t n_type, cap_type;
	struct event_comm *comm;
	size_t n_comm, cap_comm;
	struct arena text;
};

static int events_take_type(void *arg, const struct rows *r, struct err *err)
{
	struct events *ev = arg;

	(void)err;
	*mem_add(ev->type, ev->n_type, ev->cap_type) = (struct event_type){
		.name = arena_strdup(&ev->text, rows_text(r, EVENT_TYPES_NAME)),
		.capture = (uint32_t)rows_int(r, EVENT_TYPES_CAPTURE),
		.sample = rows_int(r, EVENT_TYPES_IS_SAMPLE),
		.has_chain = rows_int(r, EVENT_TYPES_HAS_CHAIN),
		.defer = rows_int(r, EVENT_TYPES_DEFER),
	};
	return 0;
}

static int events_take_comm(void *arg, const struct rows *r, struct err *err)
{
	struct events *ev = arg;

	(void)err;
	*mem_add(ev->comm, ev->n_comm, ev->cap_comm) = (struct event_comm){
		.name = arena_strdup(&ev->text, rows_text(r, EVENT_COMMS_NAME)),
		.pid = rows_int_or(r, EVENT_COMMS_PID, -1),
		.tid = rows_int_or(r, EVENT_COMMS_TID, -1),
		.thread = (uint32_t)rows_int_or(r, EVENT_COMMS_THREAD, 0),
		.process = (uint32_t)rows_int_or(r, EVENT_COMMS_PROCESS, 0),
	};
	return 0;
}

static struct rows *events_open_rows(struct store *db, const char *order,
				     struct err *err)
{
	struct value bind[FILTER_BIND];
	char cond[SQL_MAX / 2];
	char sql[SQL_MAX];
	size_t n = 0;
	int len;

	if (filter_sql(db, cond, sizeof(cond), bind, FILTER_BIND, &n, err))
		return NULL;
	if (filter_given())
		len = snprintf(sql, sizeof(sql), "%s AND %s %s) %s",
			       store_sql("print_events"),
			       store_sql("report_filter"), cond, order);
	else
		len = snprintf(sql, sizeof(sql), "%s %s",
			       store_sql("print_events"), order);
	if (len < 0 || (size_t)len >= sizeof(sql)) {
		err_set(err, ERR_LIMIT, "the filters are too long");
		return NULL;
	}
	return rows_open(db, sql, bind, n, err);
}

static struct events *events_load(struct store *db, struct err *err)
{
	struct events *ev = mem_new(1, sizeof(*ev));

	if (!rows_each_dense(db, "event_types", events_take_type, ev, err) &&
	    !rows_each_dense(db, "event_comms", events_take_comm, ev, err))
		return ev;
	events_close(ev);
	return NULL;
}

static struct events *events_open_ordered(struct store *db, const char *order,
					  struct err *err)
{
	struct events *ev = events_load(db, err);

	if (ev)
		ev->rows = events_open_rows(db, order, err);
	if (ev && ev->rows)
		return ev;
	events_close(ev);
	return NULL;
}

static int events_next_request(struct events *ev, struct err *err)
{
	int ret = rows_next(ev->requests, err);

	ev->request = ret > 0 ? rows_int(ev->requests, EVENTS_REQUESTS_EVENT)
			      : INT64_MAX;
	return ret < 0 ? -1 : 0;
}

/* Opens all events and, beside them, their requests. */
static struct events *events_open_apart(struct store *db, struct err *err)
{
	struct events *ev = events_load(db, err);

	if (!ev)
		return NULL;
	ev->rows = rows_open(db, store_sql("events_alone"), NULL, 0, err);
	if (ev->rows)
		ev->requests = rows_open(db, store_sql("events_requests"), NULL,
					 0, err);
	if (ev->requests && !events_next_request(ev, err))
		return ev;
	events_close(ev);
	return NULL;
}

struct events *events_open(struct store *db, struct err *err)
{
	return filter_given() ? events_open_ordered(db, "", err)
			      : events_open_apart(db, err);
}

struct events *events_open_by_thread(struct store *db, struct err *err)
{
	return events_open_ordered(db, store_sql("print_events_by_thread"),
				   err);
}

void events_close(struct events *ev)
{
	if (!ev)
		return;
	rows_close(ev->rows);
	rows_close(ev->requests);
	arena_release(&ev->text);
	free(ev->type);
	free(ev->comm);
	free(ev);
}

/* Stores what both queries begin with. */
static void events_take(const struct rows *r, struct event_row *e)
{
	struct value time = rows_value(r, EVENTS_ALONE_TIME_NS);
	struct value cpu = rows_value(r, EVENTS_ALONE_CPU);

	*e = (struct event_row){
		.id = rows_int(r, EVENTS_ALONE_ID),
		.timed = time.kind == VALUE_INT,
		.time = time.num,
		.on_cpu = cpu.kind == VALUE_INT,
		.cpu = cpu.num,
		.comm = rows_int(r, EVENTS_ALONE_COMM),
		.type = rows_int(r, EVENTS_ALONE_TYPE),
		.weight = rows_int(r, EVENTS_ALONE_WEIGHT),
		.kraw = rows_int(r, EVENTS_ALONE_KRAW),
		.uraw = rows_int(r, EVENTS_ALONE_URAW),
	};
}

/* Adds the request of an event, if it has one. */
static int events_take_request(struct events *ev, struct event_row *e,
			       struct err *err)
{
	const struct rows *q = ev->requests;

	while (ev->request < e->id)
		if (events_next_request(ev, err))
			return -1;
	if (ev->request != e->id)
		return 0;
	e->uraw = rows_int_or(q, EVENTS_REQUESTS_URAW, e->uraw);
	e->verdict = rows_int(q, EVENTS_REQUESTS_VERDICT);
	e->flags = rows_int(q, EVENTS_REQUESTS_FLAGS);
	e->ip = rows_int(q, EVENTS_REQUESTS_IP);
	return 0;
}

int events_next(struct events *ev, struct event_row *e, struct err *err)
{
	struct rows *r = ev->rows;
	int ret = rows_next(r, err);

	if (ret <= 0)
		return ret;
	events_take(r, e);
	if (ev->requests) {
		e->thread = (uint32_t)rows_int(r, EVENTS_ALONE_THREAD);
		return events_take_request(ev, e, err) ? -1 : 1;
	}
	e->verdict = rows_int(r, PRINT_EVENTS_VERDICT);
	e->flags = rows_int(r, PRINT_EVENTS_FLAGS);
	e->thread = (uint32_t)rows_int(r, PRINT_EVENTS_THREAD);
	e->ip = rows_int(r, PRINT_EVENTS_IP);
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

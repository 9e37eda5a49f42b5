/* push_sender.c - inserts on their way to a server, a few at a time. */
#include "cli/push/push_sender.h"

#include "cli/clickhouse/clickhouse.h"
#include "cli/push/push_body.h"
#include "cli/push/push_tables.h"
#include "stitch/base/mem.h"

#define STEP_MS 1000

static int push_sender_told(const struct push_sender *s, struct err *err)
{
	if (s->failed)
		*err = s->err;
	return s->failed ? -1 : 0;
}

/* Takes one that has ended. Returns as clickhouse_step(). */
static int push_sender_step(struct push_sender *s, int ms, struct err *err)
{
	struct push_body **p = &s->bodies;
	struct clickhouse_done done;
	struct push_body *b;
	int ret = clickhouse_step(s->c, ms, &done, err);

	if (ret <= 0)
		return ret;
	b = done.arg;
	while (*p != b)
		p = &(*p)->next;
	*p = b->next;
	if (!done.rc) {
		s->inserts++;
		s->rows += b->rows;
		s->plain += b->plain;
		s->packed += b->packed.n;
	} else if (!s->failed) {
		s->failed = true;
		s->may_pass = done.may_pass;
		s->err = *err;
	}
	push_body_free(b);
	return 1;
}

int push_sender_put(struct push_sender *s, enum fleet_table_id t,
		    const char *id, struct push_body *b, struct err *err)
{
	bool counted = !b->pack;
	char *sql = NULL;
	int ret = counted ? 0 : push_body_finish(b, err);
	FILE *f;

	while (!counted && ret >= 0 && !s->failed &&
	       s->c->inserts >= s->connections)
		ret = push_sender_step(s, STEP_MS, err);
	if (counted || ret < 0 || push_sender_told(s, err)) {
		push_body_free(b);
		return counted ? 0 : -1;
	}
	f = mem_stream(&sql, NULL);
	push_sql_insert(f, t);
	mem_stream_end(f);
	clickhouse_insert(s->c, sql, id, b->packed.at, b->packed.n, b);
	b->next = s->bodies;
	s->bodies = b;
	free(sql);
	return push_sender_go_on(s, err);
}

int push_sender_go_on(struct push_sender *s, struct err *err)
{
	int ret = 1;

	while (ret > 0 && s->c->inserts)
		ret = push_sender_step(s, 0, err);
	if (ret < 0)
		return -1;
	return push_sender_told(s, err);
}

int push_sender_drain(struct push_sender *s, struct err *err)
{
	while (s->c->inserts)
		if (push_sender_step(s, STEP_MS, err) < 0)
			return -1;
	return push_sender_told(s, err);
}

void push_sender_drop(struct push_sender *s)
{
	clickhouse_drop_inserts(s->c);
	while (s->bodies) {
		struct push_body *b = s->bodies;

		s->bodies = b->next;
		push_body_free(b);
	}
}

/* fleet_field.c - the rows of table field: one for each field of each event of
 * a run. */

#include "analyze/fleet/fleet.h"
#include "analyze/fleet/fleet_input.h"
#include "stitch/text/json.h"
#include "analyze/samples/events.h"
#include "analyze/samples/payloads.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"

struct fleet_fields {
	struct events *ev;
	struct payloads *payloads;
	struct event_row e;
	const struct field *field; /* of e */
	const struct field_def *def;
	size_t n, at;
	struct intern texts; /* of the rows of one batch */
};

#define FIELD_TEXT 7 /* the last column of the table */

/* Reads the next event of the run that has fields. Returns 1, 0 at the end, or
 * -1. */
static int fleet_field_event(struct fleet_rows *r, struct err *err)
{
	struct fleet_fields *s = r->of;
	int ret;

	while ((ret = events_next(s->ev, &s->e, err)) > 0) {
		const struct event_type *t = events_type(s->ev, s->e.type);

		if (!t->sample || t->capture != (uint32_t)r->capture->id)
			continue;
		s->at = 0;
		s->def = payloads_defs(s->payloads, s->e.type, &s->n);
		if (!s->n)
			continue;
		ret = payloads_fields(s->payloads, &s->e, &s->field, err);
		if (ret)
			break;
	}
	return ret;
}

static int fleet_field_step(struct fleet_rows *r, struct err *err)
{
	struct fleet_fields *s = r->of;
	struct fleet_fill *b = &r->fill;
	const struct field_def *def;
	const struct field *v;
	const char *text;
	size_t len;
	int ret;

	for (;;) {
		while (s->at < s->n &&
		       (!s->field[s->at].present || s->def[s->at].is_blob))
			s->at++;
		if (s->at < s->n)
			break;
		ret = fleet_field_event(r, err);
		if (ret <= 0)
			return ret;
	}
	def = &s->def[s->at];
	v = &s->field[s->at];
	text = def->is_text && v->text ? v->text : "";
	len = strlen(text);
	if (!b->rows)
		intern_release(&s->texts);
	fleet_fill_int(b, s->e.timed ? fleet_time(r->capture, s->e.time) : 0);
	fleet_fill_int(b, s->e.on_cpu ? fleet_small(s->e.cpu) : -1);
	fleet_fill_int(b, fleet_small(events_comm(s->ev, s->e.comm)->tid));
	fleet_put_text(r, events_type(s->ev, s->e.type)->name);
	fleet_put_text(r, def->name);
	fleet_fill_int(b, def->is_text ? 0 : v->num);
	fleet_fill_id(b, json_intern(&s->texts, text, len));
	b->items += len;
	s->at++;
	return 1;
}

static void fleet_field_close(struct fleet_rows *r)
{
	struct fleet_fields *s = r->of;

	events_close(s->ev);
	payloads_close(s->payloads);
	intern_release(&s->texts);
	free(s);
}

int fleet_field_begin(struct fleet_rows *r, struct err *err)
{
	struct fleet_fields *s = mem_new(1, sizeof(*s));

	r->of = s;
	r->step = fleet_field_step;
	r->close = fleet_field_close;
	r->fill.cell[FIELD_TEXT].pool = &s->texts;
	s->payloads = payloads_open(r->f->db, err);
	s->ev = s->payloads ? events_open(r->f->db, r->f->ask->filter,
					  EVENTS_ALL, err)
			    : NULL;
	return s->ev ? 0 : -1;
}

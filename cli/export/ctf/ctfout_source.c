/* ctfout_source.c - the component class source.backstitch.db: the events of a
 * database as libbabeltrace2's messages.
 *
 * One port gives all streams, one for each CPU, in time order. CTF 1.8 counts
 * losses at the end of a packet, so that a loss must last from the end of one
 * packet to the end of the next: a packet ends where a loss begins, and the
 * next one ends where the loss does. */
#include "analyze/samples/events.h"
#include "analyze/samples/filter.h"
#include "analyze/samples/loss_marks.h"
#include "cli/export/ctf/ctfout_bt.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"

COMPARE_BY(ctfout_loss_by_cpu, struct ctfout_edge, cpu, time, to);

/* Two edges of one CPU at one time: the end of the earlier loss comes before
 * the start of the later one, but not the end of a loss before its start. */
COMPARE_BY(ctfout_loss_by_time, struct ctfout_edge, time, cpu, to, end);

/* A packet ends when it has about that many bytes. */
#define PACKET_BYTES ((size_t)1 << 18)
#define EVENT_BYTES 128u /* of an event without stacks */

/* A component. */
struct ctfout {
	struct ctfout_input in;
	bool own; /* the database was opened here */
};

struct ctfout_stream {
	bt_stream *stream; /* NULL: nothing came yet */
	bool begun;
	bt_packet *packet; /* NULL: none is open */
	int64_t ended;	   /* when the last packet ended; if any */
	size_t bytes;	   /* in the packet, about */
	bool any, in_loss;
};

/* A message iterator. */
struct ctfout_iter {
	bt_self_message_iterator *self;
	const struct ctfout *from;
	struct ctfout_class c;
	struct events *events;
	struct loss_rows *losses;
	struct ctfout_edge *edge;
	size_t n_edge, at_edge;
	struct ctfout_stream *stream; /* by CPU + 1 */
	size_t n_stream, cap_stream;
	int64_t now;
	uint64_t content;	/* hash of the events so far */
	const bt_message **due; /* made and not yet returned, from at_due on */
	size_t n_due, cap_due, at_due;
	bool ended, no_memory;
};

static void ctfout_add(struct ctfout_iter *o, const bt_message *m)
{
	if (m)
		*mem_add(o->due, o->n_due, o->cap_due) = m;
	else
		o->no_memory = true;
}

static uint64_t ctfout_cycles(const struct ctfout_iter *o, int64_t time)
{
	return (uint64_t)time - (uint64_t)o->c.zero;
}

static void ctfout_open_packet(struct ctfout_iter *o, struct ctfout_stream *s,
			       int64_t time)
{
	s->packet = bt.packet_create(s->stream);
	if (!s->packet) {
		o->no_memory = true;
		return;
	}
	bt.field_integer_signed_set_value(
		bt.field_structure_borrow_member_field_by_index(
			bt.packet_borrow_context_field(s->packet), 0),
		(int64_t)(s - o->stream) - 1);
	s->bytes = 0;
	s->any = true;
	ctfout_add(
		o,
		o->c.clock
			? bt.message_packet_beginning_create_with_default_clock_snapshot(
				  o->self, s->packet, ctfout_cycles(o, time))
			: bt.message_packet_beginning_create(o->self,
							     s->packet));
}

static void ctfout_close_packet(struct ctfout_iter *o, struct ctfout_stream *s,
				int64_t time)
{
	if (!s->packet)
		return;
	ctfout_add(
		o,
		o->c.clock
			? bt.message_packet_end_create_with_default_clock_snapshot(
				  o->self, s->packet, ctfout_cycles(o, time))
			: bt.message_packet_end_create(o->self, s->packet));
	bt.packet_put_ref(s->packet);
	s->packet = NULL;
	s->ended = time;
}

/* The names become those of files. "cpu0" would be a file of ftrace's pages for
 * our own reader. Returns the stream of a CPU, valid until the next call; NULL
 * if there is no memory. */
static struct ctfout_stream *ctfout_stream_of(struct ctfout_iter *o,
					      int64_t cpu)
{
	size_t at = cpu < 0 || cpu >= CTFOUT_CPUS ? 0 : (size_t)cpu + 1;
	struct ctfout_stream *s;
	char name[32];

	s = mem_at(o->stream, o->n_stream, o->cap_stream, at);
	if (s->begun)
		return s;
	s->begun = true;
	snprintf(name, sizeof(name), at ? "events_%zu" : "events", at - 1);
	if (!s->stream) {
		s->stream = bt.stream_create_with_id(o->c.sc, o->c.trace, at);
		if (!s->stream || bt.stream_set_name(s->stream, name)) {
			o->no_memory = true;
			return NULL;
		}
	}
	ctfout_add(o, bt.message_stream_beginning_create(o->self, s->stream));
	return s;
}

/* Makes the messages of losses that begin or end before that time; NULL: all
 * that remain. */
static void ctfout_do_losses(struct ctfout_iter *o, const int64_t *before)
{
	for (; o->at_edge < o->n_edge && !o->no_memory; o->at_edge++) {
		const struct ctfout_edge *e = &o->edge[o->at_edge];

		if (before && e->time >= *before)
			return;
		struct ctfout_stream *s = ctfout_stream_of(o, e->cpu);

		raise_to(o->now, e->time);
		if (s && !e->end) {
			/* The first packet cannot have a loss: its counter
			 * has none before it to be compared with. So an
			 * empty one precedes it. */
			bt_message *m;

			ctfout_close_packet(o, s, e->time);
			if (!s->any || s->ended != e->time) {
				ctfout_open_packet(o, s, e->time);
				ctfout_close_packet(o, s, e->time);
			}
			m = o->c.clock
				    ? bt.message_discarded_events_create_with_default_clock_snapshots(
					      o->self, s->stream,
					      ctfout_cycles(o, e->time),
					      ctfout_cycles(o, e->to))
				    : bt.message_discarded_events_create(
					      o->self, s->stream);
			if (m && e->n)
				bt.message_discarded_events_set_count(m, e->n);
			ctfout_add(o, m);
			ctfout_open_packet(o, s, e->time);
			s->in_loss = true;
		} else if (s) {
			ctfout_close_packet(o, s, e->time);
			s->in_loss = false;
		}
	}
}

static int ctfout_event(struct ctfout_iter *o, const struct event_row *e,
			struct err *err)
{
	const bt_event_class *ec = ctfout_class_of(&o->c, e->type);
	struct ctfout_stream *s = ctfout_stream_of(o, e->on_cpu ? e->cpu : -1);
	bt_message *m;

	if (!ec || !s) {
		o->no_memory = true;
		return 0;
	}
	if (s->packet && !s->in_loss && s->bytes >= PACKET_BYTES)
		ctfout_close_packet(o, s, o->now);
	if (!s->packet)
		ctfout_open_packet(o, s, o->now);
	if (!s->packet)
		return 0;
	m = o->c.clock
		    ? bt.message_event_create_with_packet_and_default_clock_snapshot(
			      o->self, ec, s->packet, ctfout_cycles(o, o->now))
		    : bt.message_event_create_with_packet(o->self, ec,
							  s->packet);
	ctfout_add(o, m);
	if (!m)
		return 0;
	const uint64_t what[] = {
		(uint64_t)o->now,     (uint64_t)e->cpu,	 (uint64_t)e->comm,
		(uint64_t)e->type,    (uint64_t)e->kraw, (uint64_t)e->uraw,
		(uint64_t)e->verdict,
	};

	o->content = hash_content(what, sizeof(what), o->content) | 1;
	int n = ctfout_class_fill(&o->c, e, o->from->in.samples ? 1 : e->weight,
				  bt.message_event_borrow_event(m), err);

	s->bytes += EVENT_BYTES + 8 * (size_t)(n > 0 ? n : 0);
	return n < 0 ? -1 : 0;
}

/* Makes the messages of the next event. The library stops at a time that goes
 * back, so an event that has none, or came late into a live capture, has the
 * time of the event before it. */
static int ctfout_step(struct ctfout_iter *o, struct err *err)
{
	struct event_row e;
	int rc = events_next(o->events, &e, err);

	if (rc < 0)
		return -1;
	if (!rc) {
		ctfout_do_losses(o, NULL);
		if (o->from->in.content)
			*o->from->in.content = o->content;
		for (size_t i = 0; i < o->n_stream && !o->no_memory; i++) {
			struct ctfout_stream *s = &o->stream[i];

			if (!s->begun)
				continue;
			ctfout_close_packet(o, s, o->now);
			ctfout_add(o, bt.message_stream_end_create(o->self,
								   s->stream));
		}
		o->ended = true;
	} else if (e.type >= 1 && (uint64_t)e.type <= o->c.n_type) {
		if (e.timed)
			ctfout_do_losses(o, &e.time);
		if (e.timed && e.time > o->now)
			o->now = e.time;
		rc = ctfout_event(o, &e, err);
	}
	if (o->no_memory)
		return err_set(err, ERR_LIMIT, "libbabeltrace2 has no memory");
	return rc < 0 ? -1 : 0;
}

/* Tells the library what failed, and who writes a trace by it. */
static void ctfout_failed(const struct ctfout_iter *o, const struct err *err)
{
	if (o->from->in.err)
		*o->from->in.err = *err;
	bt.current_thread_error_append_cause_from_message_iterator(
		o->self, __FILE__, __LINE__, "%s", err->msg);
}

bt_message_iterator_class_next_method_status
ctfout_source_next(bt_self_message_iterator *self, bt_message_array_const list,
		   uint64_t capacity, uint64_t *count)
{
	struct ctfout_iter *o = bt.self_message_iterator_get_data(self);
	struct err err = { 0 };

	while (o->n_due - o->at_due < capacity && !o->ended)
		if (ctfout_step(o, &err)) {
			ctfout_failed(o, &err);
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
		}
	for (*count = 0; *count < capacity && o->at_due < o->n_due;)
		list[(*count)++] = o->due[o->at_due++];
	if (o->at_due == o->n_due)
		o->at_due = o->n_due = 0;
	return *count ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK
		      : BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
}

/* The clock's value cannot be negative, but a time of the timeline can: zero is
 * before all times. */
static int ctfout_load(struct ctfout_iter *o, struct err *err)
{
	struct store *db = o->from->in.db;
	struct ctfout_class *c = &o->c;

	c->db = db;
	o->events = events_open(db, o->from->in.filter, EVENTS_ALL, err);
	o->losses =
		o->events ? loss_rows_load(db, o->from->in.filter, err) : NULL;
	if (!o->losses)
		return -1;
	struct rows *r = rows_of(db, "ctf_facts", err);
	while (rows_step(r)) {
		struct value first = rows_value(r, CTF_FACTS_FIRST_NS);

		c->clock_wanted = first.kind == VALUE_INT;
		if (c->clock_wanted && first.num < c->zero)
			c->zero = first.num;
	}
	if (rows_end(r, err))
		return -1;
	/* A loss without a time is at `start`; so are all if not `timed`. */
	const struct loss_rows *l = o->losses;
	int64_t start = c->zero;
	bool timed = c->clock_wanted;
	struct ctfout_edge *e = mem_new(2 * l->n + 1, sizeof(*e));
	size_t used = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct loss_row *loss = &l->row[i];
		bool from_known = timed && loss->has_from;
		int64_t to = timed && loss->has_to ? loss->to
			     : from_known	   ? loss->from
						   : start;
		int64_t from = from_known && loss->from < to ? loss->from : to;

		if (loss->counts && loss->n)
			e[used++] = (struct ctfout_edge){
				.cpu = loss->cpu < CTFOUT_CPUS ? loss->cpu : -1,
				.time = from,
				.to = to,
				.n = loss->n > 0 ? (uint64_t)loss->n : 0,
			};
	}
	sort_items(e, used, ctfout_loss_by_cpu);
	size_t out = 0;

	for (size_t i = 0; i < used; i++) {
		struct ctfout_edge *last = out ? &e[out - 1] : NULL;

		if (last && last->cpu == e[i].cpu &&
		    (e[i].time < last->to || e[i].to == last->to)) {
			last->n += e[i].n;
			raise_to(last->to, e[i].to);
			continue;
		}
		e[out++] = e[i];
	}
	used = out;
	for (size_t i = 0; i < used; i++) {
		e[used + i] = e[i];
		e[used + i].time = e[i].to;
		e[used + i].end = true;
	}
	o->n_edge = 2 * used;
	sort_items(e, o->n_edge, ctfout_loss_by_time);
	o->edge = e;
	if (o->n_edge && o->edge[0].time < c->zero)
		c->zero = o->edge[0].time;
	o->now = c->zero;
	c->events = o->events;
	return ctfout_class_make(c, err);
}

static void ctfout_drop(struct ctfout_iter *o)
{
	while (o->at_due < o->n_due)
		bt.message_put_ref(o->due[o->at_due++]);
	o->at_due = o->n_due = 0;
	for (size_t i = 0; i < o->n_stream; i++) {
		struct ctfout_stream *s = &o->stream[i];

		bt.packet_put_ref(s->packet);
		*s = (struct ctfout_stream){ .stream = s->stream };
	}
}

static void ctfout_free(struct ctfout_iter *o)
{
	ctfout_drop(o);
	for (size_t i = 0; i < o->n_stream; i++)
		bt.stream_put_ref(o->stream[i].stream);
	ctfout_class_release(&o->c);
	events_close(o->events);
	loss_rows_free(o->losses);
	free_all(o->stream, o->edge, o->due, o);
}

bt_message_iterator_class_initialize_method_status
ctfout_source_iterate(bt_self_message_iterator *self,
		      bt_self_message_iterator_configuration *config,
		      bt_self_component_port_output *port)
{
	struct ctfout_iter *o = mem_new(1, sizeof(*o));
	struct err err = { 0 };

	(void)port;
	bt.self_message_iterator_configuration_set_can_seek_forward(config,
								    true);
	o->self = self;
	o->c.self = bt.self_message_iterator_borrow_component(self);
	o->from = bt.self_component_get_data(o->c.self);
	bt.self_message_iterator_set_data(self, o);
	if (!ctfout_load(o, &err))
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
	ctfout_failed(o, &err);
	ctfout_free(o);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
}

/* The library goes to a time by reading from the beginning. */
bt_message_iterator_class_seek_beginning_method_status
ctfout_source_rewind(bt_self_message_iterator *self)
{
	struct ctfout_iter *o = bt.self_message_iterator_get_data(self);
	struct err err = { 0 };

	ctfout_drop(o);
	events_close(o->events);
	o->c.events = o->events = events_open(
		o->from->in.db, o->from->in.filter, EVENTS_ALL, &err);
	o->at_edge = 0;
	o->now = o->c.zero;
	o->content = 0;
	o->ended = false;
	if (o->events && !ctfout_class_rewind(&o->c, &err))
		return BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_OK;
	ctfout_failed(o, &err);
	return BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_ERROR;
}

void ctfout_source_stop(bt_self_message_iterator *self)
{
	ctfout_free(bt.self_message_iterator_get_data(self));
}

static struct store *ctfout_open_input(const bt_value *params, struct err *err)
{
	const bt_value *list =
		bt.value_map_borrow_entry_value_const(params, "inputs");
	const bt_value *path = NULL;

	if (list && bt.value_get_type(list) == BT_VALUE_TYPE_ARRAY &&
	    bt.value_array_get_length(list) == 1)
		path = bt.value_array_borrow_element_by_index_const(list, 0);
	if (path && bt.value_get_type(path) == BT_VALUE_TYPE_STRING)
		return store_open(bt.value_string_get(path), err);
	err_set(err, ERR_USAGE, "'inputs' must be an array with one path");
	return NULL;
}

bt_component_class_initialize_method_status
ctfout_source_start(bt_self_component_source *self,
		    bt_self_component_source_configuration *config,
		    const bt_value *params, void *data)
{
	bt_self_component *comp =
		bt_self_component_source_as_self_component(self);
	struct ctfout *from = mem_new(1, sizeof(*from));
	struct err err = { 0 };

	(void)config;
	if (data) {
		from->in = *(const struct ctfout_input *)data;
	} else {
		from->in.db = ctfout_open_input(params, &err);
		from->in.filter = &filter_none;
		from->own = true;
	}
	if (from->in.db && !bt.self_component_source_add_output_port(
				   self, "out", NULL, NULL)) {
		bt.self_component_set_data(comp, from);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
	}
	bt.current_thread_error_append_cause_from_component(
		comp, __FILE__, __LINE__, "%s", err.msg);
	if (from->own)
		store_close(from->in.db);
	free(from);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
}

void ctfout_source_end(bt_self_component_source *self)
{
	struct ctfout *from OWNED = bt.self_component_get_data(
		bt_self_component_source_as_self_component(self));

	if (from->own)
		store_close(from->in.db);
}

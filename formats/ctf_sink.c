/* ctf_sink.c - the streams of a trace as one, in the order of time.
 *
 * A sink of our own with a port for each stream, in place of the library's
 * muxer in front of a simple sink: that one looks at every message once more
 * than needed and takes a tenth of the decoding's time. Of messages of one
 * time those of the stream with the smaller ids come first, as there; a
 * message without a time belongs to the one before it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ctf_bt.h"
#include "stitch/mem.h"

/* A stream: messages that it has given and nobody has taken. */
struct lane {
	bt_message_iterator *it;
	bt_message_array_const msg; /* the iterator's */
	uint64_t n, pos;
	uint64_t at; /* ns, of the message at pos */
	uint64_t class, id;
};

struct ctf_sink {
	struct ctf_trace *tr;
	struct lane *lane;
	size_t n_lane;
	size_t *heap; /* lanes, the earliest first */
	size_t n_heap;
	bool begun;
	const bt_clock_class *clock; /* the last that was looked at */
	bool absolute, checked;
};

/* ---- when a message is */

/* Clocks that do not begin at one moment can only be compared when they are
 * one clock: the muxer's rule too. */
static bool fits(struct ctf_sink *s, const bt_clock_class *cc)
{
	bool absolute = bt_clock_class_origin_is_unix_epoch(cc);
	bt_uuid a, b;

	if (cc == s->clock)
		return true;
	if (!s->checked) {
		s->checked = true;
		s->absolute = absolute;
		s->clock = cc;
		return true;
	}
	if (absolute != s->absolute)
		return false;
	if (absolute) {
		s->clock = cc;
		return true;
	}
	a = bt_clock_class_get_uuid(cc);
	b = bt_clock_class_get_uuid(s->clock);
	return a && b && !memcmp(a, b, 16);
}

static const bt_clock_snapshot *of_packet(const bt_message *m, bool end)
{
	const bt_packet *pk =
		end ? bt_message_packet_end_borrow_packet_const(m)
		    : bt_message_packet_beginning_borrow_packet_const(m);
	const bt_stream_class *sc =
		bt_stream_borrow_class_const(bt_packet_borrow_stream_const(pk));

	if (end)
		return bt_stream_class_packets_have_end_default_clock_snapshot(
			       sc)
			       ? bt_message_packet_end_borrow_default_clock_snapshot_const(
					 m)
			       : NULL;
	return bt_stream_class_packets_have_beginning_default_clock_snapshot(sc)
		       ? bt_message_packet_beginning_borrow_default_clock_snapshot_const(
				 m)
		       : NULL;
}

static const bt_clock_snapshot *of_lost_events(const bt_message *m)
{
	return bt_stream_class_discarded_events_have_default_clock_snapshots(
		       bt_stream_borrow_class_const(
			       bt_message_discarded_events_borrow_stream_const(
				       m)))
		       ? bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(
				 m)
		       : NULL;
}

static const bt_clock_snapshot *of_lost_packets(const bt_message *m)
{
	return bt_stream_class_discarded_packets_have_default_clock_snapshots(
		       bt_stream_borrow_class_const(
			       bt_message_discarded_packets_borrow_stream_const(
				       m)))
		       ? bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(
				 m)
		       : NULL;
}

static const bt_clock_snapshot *of_event(struct ctf_sink *s,
					 const bt_message *m)
{
	const struct ctf_class *cl =
		ctf_class_of(s->tr, bt_message_event_borrow_event_const(m));

	return cl->clock
		       ? bt_message_event_borrow_default_clock_snapshot_const(m)
		       : NULL;
}

/* NULL: it says no time. */
static const bt_clock_snapshot *snapshot_of(struct ctf_sink *s,
					    const bt_message *m)
{
	switch (bt_message_get_type(m)) {
	case BT_MESSAGE_TYPE_EVENT:
		return of_event(s, m);
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		return of_packet(m, false);
	case BT_MESSAGE_TYPE_PACKET_END:
		return of_packet(m, true);
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		return of_lost_events(m);
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		return of_lost_packets(m);
	case BT_MESSAGE_TYPE_MESSAGE_ITERATOR_INACTIVITY:
		return bt_message_message_iterator_inactivity_borrow_clock_snapshot_const(
			m);
	default:
		return NULL;
	}
}

static bool look(struct ctf_sink *s, struct lane *l)
{
	const bt_clock_snapshot *cs = snapshot_of(s, l->msg[l->pos]);
	const bt_clock_class *cc =
		cs ? bt_clock_snapshot_borrow_clock_class_const(cs) : NULL;

	if (!cs)
		return true;
	l->at = ctf_time(s->tr, cc, cs);
	return fits(s, cc);
}

/* ---- which is next */

static bool earlier(const struct ctf_sink *s, size_t a, size_t b)
{
	const struct lane *x = &s->lane[a];
	const struct lane *y = &s->lane[b];

	if (x->at != y->at)
		return x->at < y->at;
	if (x->class != y->class)
		return x->class < y->class;
	return x->id != y->id ? x->id < y->id : a < b;
}

static void sift_down(struct ctf_sink *s, size_t i)
{
	for (;;) {
		size_t low = i;
		size_t t = s->heap[i];

		for (size_t c = 2 * i + 1; c <= 2 * i + 2; c++)
			if (c < s->n_heap &&
			    earlier(s, s->heap[c], s->heap[low]))
				low = c;
		if (low == i)
			return;
		s->heap[i] = s->heap[low];
		s->heap[low] = t;
		i = low;
	}
}

/* The one behind the first; the first itself when it is alone. */
static size_t second(const struct ctf_sink *s)
{
	size_t n = s->n_heap < 3 ? s->n_heap - 1 : 1;

	if (s->n_heap > 2 && earlier(s, s->heap[2], s->heap[1]))
		n = 2;
	return s->heap[n];
}

/* ---- the streams */

static void name_lane(struct lane *l)
{
	const bt_message *m = l->msg[0];

	if (bt_message_get_type(m) != BT_MESSAGE_TYPE_STREAM_BEGINNING)
		return;
	const bt_stream *st =
		bt_message_stream_beginning_borrow_stream_const(m);

	l->class = bt_stream_class_get_id(bt_stream_borrow_class_const(st));
	l->id = bt_stream_get_id(st);
}

static bt_component_class_sink_consume_method_status fetch(struct ctf_sink *s,
							   struct lane *l)
{
	l->n = l->pos = 0;
	switch (bt_message_iterator_next(l->it, &l->msg, &l->n)) {
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
		return look(s, l)
			       ? BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK
			       : BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_AGAIN;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR:
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_MEMORY_ERROR;
	default:
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
	}
}

/* The first messages of all; OK, or why not. */
static bt_component_class_sink_consume_method_status begin(struct ctf_sink *s)
{
	s->n_heap = 0;
	for (size_t i = 0; i < s->n_lane; i++) {
		bt_component_class_sink_consume_method_status rc =
			fetch(s, &s->lane[i]);

		if (rc == BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END)
			continue;
		if (rc != BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK)
			return rc;
		name_lane(&s->lane[i]);
		s->heap[s->n_heap++] = i;
	}
	s->begun = true;
	for (size_t i = s->n_heap; i-- > 0;)
		sift_down(s, i);
	return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
}

/* Messages of the earliest stream, as long as it is that. */
static bt_component_class_sink_consume_method_status run(struct ctf_sink *s)
{
	size_t first = s->heap[0];
	size_t next = second(s);
	struct lane *l = &s->lane[first];
	bt_component_class_sink_consume_method_status rc =
		BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;

	do {
		ctf_message(s->tr, l->msg[l->pos]);
		bt_message_put_ref(l->msg[l->pos++]);
		if (l->pos >= l->n) {
			rc = fetch(s, l);
			break;
		}
		if (!look(s, l))
			return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
	} while (next == first || earlier(s, first, next));
	if (rc == BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END) {
		s->heap[0] = s->heap[--s->n_heap];
		rc = BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
	}
	if (s->n_heap)
		sift_down(s, 0);
	return rc;
}

static bt_component_class_sink_consume_method_status
consume(bt_self_component_sink *self)
{
	struct ctf_sink *s = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self));

	if (!s->begun)
		return begin(s);
	if (!s->n_heap)
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
	return run(s);
}

/* ---- as a component of the library's */

static bt_component_class_initialize_method_status
initialize(bt_self_component_sink *self,
	   bt_self_component_sink_configuration *config, const bt_value *params,
	   void *data)
{
	struct ctf_sink *s = data;
	char name[32];

	(void)config;
	(void)params;
	bt_self_component_set_data(
		bt_self_component_sink_as_self_component(self), s);
	for (size_t i = 0; i < s->n_lane; i++) {
		snprintf(name, sizeof(name), "in%zu", i);
		if (bt_self_component_sink_add_input_port(self, name, NULL,
							  NULL))
			return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_sink_graph_is_configured_method_status
configured(bt_self_component_sink *self)
{
	struct ctf_sink *s = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self));

	for (size_t i = 0; i < s->n_lane; i++)
		if (bt_message_iterator_create_from_sink_component(
			    self,
			    bt_self_component_sink_borrow_input_port_by_index(
				    self, i),
			    &s->lane[i].it))
			return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

/* The iterators must go before the graph does. */
static void finalize(bt_self_component_sink *self)
{
	struct ctf_sink *s = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self));

	for (size_t i = 0; i < s->n_lane; i++) {
		struct lane *l = &s->lane[i];

		while (l->pos < l->n)
			bt_message_put_ref(l->msg[l->pos++]);
		bt_message_iterator_put_ref(l->it);
		l->it = NULL;
	}
}

static bt_component_class_sink *new_class(void)
{
	bt_component_class_sink *c =
		bt_component_class_sink_create("streams", consume);

	if (c &&
	    (bt_component_class_sink_set_initialize_method(c, initialize) ||
	     bt_component_class_sink_set_graph_is_configured_method(
		     c, configured) ||
	     bt_component_class_sink_set_finalize_method(c, finalize))) {
		bt_component_class_sink_put_ref(c);
		c = NULL;
	}
	return c;
}

int ctf_sink_connect(struct ctf_trace *tr, const bt_component_source *src)
{
	struct ctf_sink *s = mem_new(1, sizeof(*s));
	bt_graph *g = tr->graph->graph;
	bt_component_class_sink *c = new_class();
	const bt_component_sink *sink = NULL;
	int rc = -1;

	tr->graph->sink = s;
	s->tr = tr;
	s->n_lane = bt_component_source_get_output_port_count(src);
	s->lane = mem_new(s->n_lane, sizeof(*s->lane));
	s->heap = mem_new(s->n_lane, sizeof(*s->heap));
	if (c)
		rc = bt_graph_add_sink_component_with_initialize_method_data(
			g, c, "out", NULL, s, BT_LOGGING_LEVEL_NONE, &sink);
	for (uint64_t i = 0; !rc && i < s->n_lane; i++)
		rc = bt_graph_connect_ports(
			g,
			bt_component_source_borrow_output_port_by_index_const(
				src, i),
			bt_component_sink_borrow_input_port_by_index_const(sink,
									   i),
			NULL);
	bt_component_class_sink_put_ref(c);
	return rc ? -1 : 0;
}

void ctf_sink_free(struct ctf_sink *s)
{
	if (!s)
		return;
	free(s->lane);
	free(s->heap);
	free(s);
}

/* ctfout_source.c - the component class source.backstitch.db: the events of a
 * database as libbabeltrace2's messages.
 *
 * One port has all streams, one for each CPU, in time order. CTF 1.8 counts
 * losses at the end of a packet, so that a loss must last from the end of one
 * packet to the end of the next: a packet ends where a loss begins, and the
 * next one ends where the loss does. */
#include <ctype.h>

#include "analyze/samples/code.h"
#include "analyze/samples/events.h"
#include "analyze/samples/filter.h"
#include "analyze/samples/loss_marks.h"
#include "analyze/samples/payloads.h"
#include "cli/export/ctf/ctfout_bt.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "stitch/source.h"
#include "stitch/text/safe_text.h"
#include "stitch/verdict.h"

/* Contexts have the names that LTTng gives them: babeltrace2's users, Trace
 * Compass and our own reader know these. Numbers of a payload have 64 bits,
 * because a database stores no sizes. */

#define DEPTH_MAX 65536
#define NAME_MAX_LEN 120
#define NS 1000000000
#define VERDICTS 64

/* Members of the common context, in this order. */
enum common {
	TID,
	PID,
	PROCNAME,
	WEIGHT,
	CAPTURE,
	VERDICT,
	VERDICT_FLAGS,
	KERNEL_LEN,
	KERNEL,
	USER_LEN,
	USER,
};

enum member_kind {
	NUM,
	UNUM,
	TEXT,
	BLOB,
};

struct ctfout_member {
	uint8_t kind;	/* enum member_kind */
	uint16_t index; /* in the payload's structure */
	uint16_t len;	/* BLOB: index of its length */
};

static bt_field_class *ctfout_uint(bt_trace_class *tc, uint64_t bits, bool hex)
{
	bt_field_class *fc = bt.field_class_integer_unsigned_create(tc);

	if (!fc)
		return NULL;
	bt.field_class_integer_set_field_value_range(fc, bits);
	if (hex)
		bt.field_class_integer_set_preferred_display_base(
			fc,
			BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
	return fc;
}

static bt_field_class *ctfout_int(bt_trace_class *tc, uint64_t bits)
{
	bt_field_class *fc = bt.field_class_integer_signed_create(tc);

	if (fc)
		bt.field_class_integer_set_field_value_range(fc, bits);
	return fc;
}

/* Appends a member to a structure and drops the reference to its class. Returns
 * 0, or -1 if there is no memory, as if fc is NULL. */
static int ctfout_append(bt_field_class *st, const char *name,
			 bt_field_class *fc)
{
	int rc = fc ? bt.field_class_structure_append_member(st, name, fc) : -1;

	bt.field_class_put_ref(fc);
	return rc ? -1 : 0;
}

/* Returns the index of a member; without one of that name, their number. */
static uint64_t ctfout_find(const bt_field_class *st, const char *name)
{
	uint64_t n = bt.field_class_structure_get_member_count(st);
	uint64_t i = 0;

	while (i < n &&
	       strcmp(bt.field_class_structure_member_get_name(
			      bt.field_class_structure_borrow_member_by_index_const(
				      st, i)),
		      name) != 0)
		i++;
	return i;
}

/* Makes a name of letters, digits and '_' that the structure does not have. */
static void ctfout_member_name(const bt_field_class *st, const char *name,
			       char out[NAME_MAX_LEN])
{
	int len = snprintf(out, NAME_MAX_LEN - 8, "%s", *name ? name : "_");

	if (len > NAME_MAX_LEN - 9)
		len = NAME_MAX_LEN - 9;
	for (char *s = out; *s; s++)
		if (!isalnum((unsigned char)*s))
			*s = '_';
	for (unsigned int i = 2; ctfout_find(st, out) <
				 bt.field_class_structure_get_member_count(st);
	     i++)
		snprintf(out + len, 8, "_%u", i % 100000);
}

static bt_field_class *ctfout_member_class(bt_field_class *st, uint64_t i)
{
	return bt.field_class_structure_member_borrow_field_class(
		bt.field_class_structure_borrow_member_by_index(st, i));
}

/* Appends a sequence after its length, which has LTTng's name for it, and sets
 * *m. A database made of LTTng's events has the length as a field already.
 * Returns 0, or -1 if there is no memory. */
static int ctfout_append_list(bt_trace_class *tc, bt_field_class *st,
			      const char *name, uint64_t bits,
			      struct ctfout_member *m)
{
	char len_name[NAME_MAX_LEN + 16];
	char free_name[NAME_MAX_LEN];
	uint64_t n = bt.field_class_structure_get_member_count(st);
	bt_field_class *one = ctfout_uint(tc, bits, true);
	bt_field_class *list = NULL;
	bt_field_class *len;

	snprintf(len_name, sizeof(len_name), "_%s_length", name);
	m->len = (uint16_t)ctfout_find(st, len_name);
	m->index = (uint16_t)n;
	len = m->len < n ? ctfout_member_class(st, m->len) : NULL;
	if (!len || bt.field_class_get_type(len) !=
			    BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER) {
		ctfout_member_name(st, len_name, free_name);
		m->len = m->index++;
		len = ctfout_append(st, free_name, ctfout_uint(tc, 32, false))
			      ? NULL
			      : ctfout_member_class(st, m->len);
	}
	if (one && len)
		list = bt.field_class_array_dynamic_create(tc, one, len);
	bt.field_class_put_ref(one);
	return ctfout_append(st, name, list);
}

static int ctfout_map_verdict(bt_field_class *fc, uint64_t v, const char *name)
{
	bt_integer_range_set_unsigned *set =
		bt.integer_range_set_unsigned_create();
	int rc = set ? bt.integer_range_set_unsigned_add_range(set, v, v) : -1;

	if (!rc)
		rc = bt.field_class_enumeration_unsigned_add_mapping(fc, name,
								     set);
	bt.integer_range_set_unsigned_put_ref(set);
	return rc ? -1 : 0;
}

/* Returns the class of verdicts, an enumeration; NULL if there is no memory. */
static bt_field_class *ctfout_verdicts(bt_trace_class *tc)
{
	bt_field_class *fc = bt.field_class_enumeration_unsigned_create(tc);
	int rc = fc ? ctfout_map_verdict(fc, 0, "none") : -1;

	for (unsigned int v = 1; !rc && v < VERDICTS; v++)
		if (request_verdict_name(v))
			rc = ctfout_map_verdict(fc, v, request_verdict_name(v));
	if (!rc) {
		bt.field_class_integer_set_field_value_range(fc, 8);
		return fc;
	}
	bt.field_class_put_ref(fc);
	return NULL;
}

/* Returns the class of the common context; NULL if there is no memory. */
static bt_field_class *ctfout_common(bt_trace_class *tc)
{
	bt_field_class *st = bt.field_class_structure_create(tc);
	struct ctfout_member m; /* not needed: enum common has the indexes */

	if (st && !ctfout_append(st, "tid", ctfout_int(tc, 32)) &&
	    !ctfout_append(st, "pid", ctfout_int(tc, 32)) &&
	    !ctfout_append(st, "procname", bt.field_class_string_create(tc)) &&
	    !ctfout_append(st, "weight", ctfout_int(tc, 64)) &&
	    !ctfout_append(st, "capture", ctfout_uint(tc, 32, false)) &&
	    !ctfout_append(st, "verdict", ctfout_verdicts(tc)) &&
	    !ctfout_append(st, "verdict_flags", ctfout_uint(tc, 32, true)) &&
	    !ctfout_append_list(tc, st, "callstack_kernel", 64, &m) &&
	    !ctfout_append_list(tc, st, "callstack_user", 64, &m))
		return st;
	bt.field_class_put_ref(st);
	return NULL;
}

/* Returns the clock; NULL if there is no memory. Its offset is the wall time,
 * which every reader of CTF then shows. */
static bt_clock_class *ctfout_clock(const struct ctfout_class *c,
				    const struct rows *r)
{
	struct value wall = rows_value(r, CTF_FACTS_WALL_OFFSET_NS);
	const char *name = rows_text(r, CTF_FACTS_CLOCK);
	bt_clock_class *clock = bt.clock_class_create(c->self);
	int64_t zero = c->zero;
	bool known = wall.kind == VALUE_INT &&
		     !__builtin_add_overflow(zero, wall.num, &zero);

	if (!clock)
		return NULL;
	int64_t cycles = zero % NS;
	int64_t s = zero / NS - (cycles < 0);

	bt.clock_class_set_frequency(clock, NS);
	bt.clock_class_set_offset(
		clock, s, (uint64_t)(cycles < 0 ? cycles + NS : cycles));
	bt.clock_class_set_origin_is_unix_epoch(clock, known);
	if (isalpha((unsigned char)*name) &&
	    name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] == 0 &&
	    bt.clock_class_set_name(clock, name)) {
		bt.clock_class_put_ref(clock);
		return NULL;
	}
	return clock;
}

/* Makes the class of all streams. Returns 0, or -1 if there is no memory. */
static int ctfout_stream_class(struct ctfout_class *c)
{
	bt_field_class *common = ctfout_common(c->tc);
	bt_field_class *packet = bt.field_class_structure_create(c->tc);
	bool timed = c->clock;
	int rc = -1;

	c->sc = bt.stream_class_create(c->tc);
	if (!c->sc || !common || !packet ||
	    (timed && bt.stream_class_set_default_clock_class(c->sc, c->clock)))
		goto out;
	bt.stream_class_set_supports_packets(c->sc, true, timed, timed);
	bt.stream_class_set_supports_discarded_events(c->sc, true, timed);
	bt.stream_class_set_assigns_automatic_stream_id(c->sc, false);
	if (!ctfout_append(packet, "cpu_id", ctfout_int(c->tc, 32)) &&
	    !bt.stream_class_set_packet_context_field_class(c->sc, packet) &&
	    !bt.stream_class_set_event_common_context_field_class(c->sc,
								  common))
		rc = 0;
out:
	bt.field_class_put_ref(common);
	bt.field_class_put_ref(packet);
	return rc;
}

/* Adds facts of a capture to a trace; selected: the export leaves out threads
 * or CPUs. Returns -1 if there is no memory. */
static int ctfout_environment(bt_trace *trace, const struct rows *r,
			      bool selected)
{
	static const struct {
		const char *name;
		size_t column;
	} entry[] = {
		{ "hostname", CTF_FACTS_HOST },
		{ "kernel_release", CTF_FACTS_RELEASE },
		{ "machine", CTF_FACTS_ARCH },
	};
	int rc = bt.trace_set_environment_entry_string(trace, "tracer_name",
						       "backstitch");
	char text[256];

	for (size_t i = 0; !rc && i < ARRAY_SIZE(entry); i++) {
		const char *s = rows_text(r, entry[i].column);

		safe_text_clean_buf(text, sizeof(text), s, strlen(s), "\"");
		if (*text)
			rc = bt.trace_set_environment_entry_string(
				trace, entry[i].name, text);
	}
	if (!rc && selected)
		rc = bt.trace_set_environment_entry_string(
			trace, "command",
			"backstitch export --filter=exported");
	return rc ? -1 : 0;
}

/* Makes trace and stream class. The caller has set db, self, events,
 * clock_wanted and zero, and calls ctfout_class_release() in any case. Returns
 * 0, or -1 and *err. */
static int ctfout_class_make(struct ctfout_class *c, struct err *err)
{
	c->n_type = events_types(c->events);
	c->type = mem_new(c->n_type + 1, sizeof(*c->type));
	c->ip = mem_new(DEPTH_MAX, sizeof(*c->ip));
	c->code = code_load(c->db, CODE_CHAINS | CODE_ADDRS, err);
	c->payloads = c->code ? payloads_open(c->db, err) : NULL;
	if (!c->payloads)
		return -1;
	struct rows *r = rows_of(c->db, "ctf_facts", err);
	while (rows_step(r)) {
		c->tc = bt.trace_class_create(c->self);
		if (c->clock_wanted)
			c->clock = ctfout_clock(c, r);
		if (c->tc && (c->clock || !c->clock_wanted) &&
		    !ctfout_stream_class(c))
			c->trace = bt.trace_create(c->tc);
		if (!c->trace || ctfout_environment(c->trace, r, c->selected)) {
			err_set(err, ERR_LIMIT, "libbabeltrace2 has no memory");
			return rows_stop(r);
		}
	}
	if (rows_end(r, err))
		return -1;
	return c->trace ? 0
			: err_set(err, ERR_FORMAT,
				  "the database has no capture");
}

static void ctfout_class_release(struct ctfout_class *c)
{
	for (size_t i = 0; i < c->n_type; i++) {
		bt.event_class_put_ref(c->type[i].ec);
		free(c->type[i].member);
	}
	bt.trace_put_ref(c->trace);
	bt.stream_class_put_ref(c->sc);
	bt.clock_class_put_ref(c->clock);
	bt.trace_class_put_ref(c->tc);
	payloads_close(c->payloads);
	code_free(c->code);
	free_all(c->type, c->ip);
}

/* Adds a field to a payload and sets *m. Returns -1 if there is no memory. */
static int ctfout_add_member(struct ctfout_class *c, bt_field_class *st,
			     const struct field_def *def,
			     struct ctfout_member *m)
{
	char name[NAME_MAX_LEN];

	ctfout_member_name(st, def->name, name);
	m->index = (uint16_t)bt.field_class_structure_get_member_count(st);
	if (def->is_text || def->is_stack) {
		m->kind = TEXT;
		return ctfout_append(st, name,
				     bt.field_class_string_create(c->tc));
	}
	if (def->is_blob) {
		m->kind = BLOB;
		return ctfout_append_list(c->tc, st, name, 8, m);
	}
	m->kind = def->is_signed ? NUM : UNUM;
	return ctfout_append(st, name,
			     def->is_signed ? ctfout_int(c->tc, 64)
					    : ctfout_uint(c->tc, 64, false));
}

static int ctfout_payload(struct ctfout_class *c, struct ctfout_type *t,
			  const struct field_def *def, size_t n)
{
	bt_field_class *st = bt.field_class_structure_create(c->tc);
	int rc = st ? 0 : -1;

	t->member = mem_new(n, sizeof(*t->member));
	for (t->n = 0; !rc && t->n < n; t->n++)
		rc = ctfout_add_member(c, st, &def[t->n], &t->member[t->n]);
	if (!rc)
		rc = bt.event_class_set_payload_field_class(t->ec, st);
	bt.field_class_put_ref(st);
	return rc;
}

/* Returns the class of events of a type, which is made for the first one; NULL
 * if there is no memory. */
static const bt_event_class *ctfout_class_of(struct ctfout_class *c,
					     int64_t type)
{
	struct ctfout_type *t = &c->type[type - 1];
	char name[256];
	size_t n;

	if (t->ec)
		return t->ec;
	const char *said = events_type(c->events, type)->name;
	const struct field_def *def = payloads_defs(c->payloads, type, &n);

	safe_text_clean_buf(name, sizeof(name), said, strlen(said), "\"\\");
	t->ec = bt.event_class_create(c->sc);
	if (t->ec && !bt.event_class_set_name(t->ec, name) &&
	    (!n || !ctfout_payload(c, t, def, n)))
		return t->ec;
	return NULL;
}

static bt_field *ctfout_at(bt_field *st, uint64_t i)
{
	return bt.field_structure_borrow_member_field_by_index(st, i);
}

static void ctfout_set_int(bt_field *st, uint64_t i, int64_t v)
{
	bt.field_integer_signed_set_value(ctfout_at(st, i), v);
}

static void ctfout_set_uint(bt_field *st, uint64_t i, uint64_t v)
{
	bt.field_integer_unsigned_set_value(ctfout_at(st, i), v);
}

/* Sets the length of sequence i, also in member len. Returns the sequence,
 * whose elements are to be set; NULL if there is no memory. */
static bt_field *ctfout_set_length(bt_field *st, uint64_t i, uint64_t len,
				   uint64_t n)
{
	bt_field *list = ctfout_at(st, i);

	ctfout_set_uint(st, len, n);
	return bt.field_array_dynamic_set_length(list, n) ? NULL : list;
}

/* Fills sequence `at` with a raw chain. Returns the number of addresses; -1 if
 * there is no memory. */
static int ctfout_put_stack(struct ctfout_class *c, bt_field *st, uint64_t at,
			    int64_t raw)
{
	int n = 0;

	if (raw > 0 && (uint64_t)raw < c->code->n_chain) {
		const struct code_chain *ch = &c->code->chain[raw];

		n = store_addrs(ch->addrs, ch->len, c->ip, DEPTH_MAX);
	}
	if (n < 0)
		n = 0;
	bt_field *list = ctfout_set_length(st, at, at - 1, (uint64_t)n);

	for (int i = 0; list && i < n; i++)
		bt.field_integer_unsigned_set_value(
			bt.field_array_borrow_element_field_by_index(
				list, (uint64_t)i),
			c->ip[i]);
	return list ? n : -1;
}

/* Sets a member of the payload. Returns 0, or else there is no memory. */
static int ctfout_put_field(bt_field *st, const struct ctfout_member *m,
			    const struct field *f)
{
	bt_field *to;

	switch ((enum member_kind)m->kind) {
	case NUM:
		ctfout_set_int(st, m->index, f->present ? f->num : 0);
		return 0;
	case UNUM:
		ctfout_set_uint(st, m->index,
				f->present ? (uint64_t)f->num : 0);
		return 0;
	case TEXT:
		to = ctfout_at(st, m->index);
		return bt.field_string_set_value(
			to, f->present && f->text ? f->text : "");
	case BLOB:
		break;
	}
	uint64_t n = f->present && f->blob ? f->len : 0;
	const unsigned char *blob = f->blob;

	to = ctfout_set_length(st, m->index, m->len, n);
	for (uint64_t i = 0; to && i < n; i++)
		bt.field_integer_unsigned_set_value(
			bt.field_array_borrow_element_field_by_index(to, i),
			blob[i]);
	return to ? 0 : -1;
}

/* Fills context and payload. Returns the count of addresses, or -1 and *err. */
static int ctfout_class_fill(struct ctfout_class *c, const struct event_row *e,
			     int64_t weight, bt_event *event, struct err *err)
{
	static const struct field none;
	const struct ctfout_type *t = &c->type[e->type - 1];
	const struct event_comm *who = events_comm(c->events, e->comm);
	bt_field *st = bt.event_borrow_common_context_field(event);
	bool known = e->comm > 0 && who->thread;
	const struct field *f = NULL;

	ctfout_set_int(st, TID, (int32_t)who->tid);
	ctfout_set_int(st, PID, (int32_t)who->pid);
	ctfout_set_int(st, WEIGHT, weight);
	ctfout_set_uint(st, CAPTURE, events_type(c->events, e->type)->capture);
	ctfout_set_uint(st, VERDICT, (uint8_t)e->verdict);
	ctfout_set_uint(st, VERDICT_FLAGS, (uint32_t)e->flags);
	int rc = bt.field_string_set_value(ctfout_at(st, PROCNAME),
					   known ? who->name : "");
	int kernel = ctfout_put_stack(c, st, KERNEL, e->kraw);
	int user = ctfout_put_stack(c, st, USER, e->uraw);

	if (rc || kernel < 0 || user < 0)
		return err_set(err, ERR_LIMIT, "libbabeltrace2 has no memory");
	if (!t->n)
		return kernel + user;
	st = bt.event_borrow_payload_field(event);
	int present = payloads_fields(c->payloads, e, &f, err);
	if (present < 0)
		return -1;
	for (size_t i = 0; i < t->n; i++)
		if (ctfout_put_field(st, &t->member[i],
				     present ? &f[i] : &none))
			return err_set(err, ERR_LIMIT,
				       "libbabeltrace2 has no memory");
	return kernel + user;
}

COMPARE_BY(ctfout_loss_by_cpu, struct ctfout_edge, cpu, time, to);

/* Orders edges by time; at one time of a CPU, the end of the earlier loss
 * before the start of the later one, but the start of a loss before its end. */
COMPARE_BY(ctfout_loss_by_time, struct ctfout_edge, time, cpu, to, end);

/* a packet ends when it has about that many bytes */
#define PACKET_BYTES ((size_t)1 << 18)
#define EVENT_BYTES 128u /* of an event without stacks */

/* The data of a component. */
struct ctfout {
	struct ctfout_input in;
	bool own; /* the database was opened here */
};

struct ctfout_stream {
	bt_stream *stream; /* NULL: nothing came for this CPU yet */
	bool begun;
	bt_packet *packet; /* NULL: none is open */
	int64_t ended;	   /* ns: when the last packet ended, if any did */
	size_t bytes;	   /* in the open packet, about */
	bool any, in_loss;
};

/* The data of a message iterator. */
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

/* Begins a packet of a stream, at that time; sets no_memory if it cannot. */
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

/* Returns the stream of a CPU, begun if it is new, valid until the next call;
 * NULL if there is no memory. Its name becomes that of a file: our own reader
 * would take "cpu0" for a file of ftrace's pages. */
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

/* Makes the messages of losses' starts and ends before a time; NULL: of all. */
static void ctfout_do_losses(struct ctfout_iter *o, const int64_t *before)
{
	for (; o->at_edge < o->n_edge && !o->no_memory; o->at_edge++) {
		const struct ctfout_edge *e = &o->edge[o->at_edge];

		if (before && e->time >= *before)
			return;
		struct ctfout_stream *s = ctfout_stream_of(o, e->cpu);

		raise_to(o->now, e->time);
		if (s && !e->end) {
			/* The first packet cannot have a loss, because readers
			 * compare its counter with that of the packet before.
			 * So an empty packet precedes it. */
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

/* Makes an event's message. Returns 0, or -1 and *err; may set no_memory. */
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

/* Makes the messages of the next event. Returns 0, or -1 and *err. The library
 * stops at a time that goes back, so an event without a time, or one that came
 * late into a live capture, gets the time of the event before it. */
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

/* Reports an error to the library and, if the program writes the trace, to the
 * caller of ctfout_write(). */
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

/* Opens all that is read. Returns 0, or -1 and *err. The clock's value cannot
 * be negative, but a time of the timeline can: c->zero is before all times. */
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
	/* a loss without a time is put at `start`; so are all if not `timed` */
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
			/* one of an unknown number counts 1, as it does alone:
			 * libbabeltrace2 writes the counter so */
			last->n += e[i].n + (!last->n != !e[i].n);
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
	c->selected = filter_leaves_out_tasks(o->from->in.filter);
	return ctfout_class_make(c, err);
}

/* Frees messages and packets; streams stay, for another reading. */
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

/* Goes back to the start: the library seeks a time by reading from there. */
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
	payloads_close(o->c.payloads);
	o->c.payloads = o->events ? payloads_open(o->c.db, &err) : NULL;
	if (o->c.payloads)
		return BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_OK;
	ctfout_failed(o, &err);
	return BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_ERROR;
}

void ctfout_source_stop(bt_self_message_iterator *self)
{
	ctfout_free(bt.self_message_iterator_get_data(self));
}

/* Opens the database that 'inputs' names. Returns NULL and *err on failure. */
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

/* ctfout_class.c - what a trace is made of: classes of fields and events, and
 * the values of one event.
 *
 * Contexts have the names that LTTng gives them: babeltrace2's users, Trace
 * Compass and our own reader know these. Numbers of a payload have 64 bits,
 * because a database stores no sizes. */
#include <ctype.h>

#include "cli/export/ctf/ctfout_bt.h"
#include "analyze/samples/code.h"
#include "analyze/samples/events.h"
#include "analyze/samples/payloads.h"
#include "stitch/text/safe_text.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"
#include "stitch/verdict.h"

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

/* Gives the class to the structure. Returns -1 if there is no memory. */
static int ctfout_append(bt_field_class *st, const char *name,
			 bt_field_class *fc)
{
	int rc = fc ? bt.field_class_structure_append_member(st, name, fc) : -1;

	bt.field_class_put_ref(fc);
	return rc ? -1 : 0;
}

/* Returns the index of the member, or the number of members if there is none of
 * that name. */
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

/* Appends a sequence after its length, whose name is the one that LTTng gives
 * it. A database that was made of LTTng's events has the length as a field. */
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

static bt_field_class *ctfout_common(bt_trace_class *tc)
{
	bt_field_class *st = bt.field_class_structure_create(tc);
	struct ctfout_member m; /* always the same: enum common */

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

/* Wall time is the clock's offset, so that every reader of CTF shows it. */
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

static int ctfout_environment(bt_trace *trace, const struct rows *r)
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
	return rc ? -1 : 0;
}

int ctfout_class_make(struct ctfout_class *c, struct err *err)
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
		if (!c->trace || ctfout_environment(c->trace, r)) {
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

int ctfout_class_rewind(struct ctfout_class *c, struct err *err)
{
	payloads_close(c->payloads);
	c->payloads = payloads_open(c->db, err);
	return c->payloads ? 0 : -1;
}

void ctfout_class_release(struct ctfout_class *c)
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

const bt_event_class *ctfout_class_of(struct ctfout_class *c, int64_t type)
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

/* Fills a sequence and the length before it. */
static bt_field *ctfout_set_length(bt_field *st, uint64_t i, uint64_t len,
				   uint64_t n)
{
	bt_field *list = ctfout_at(st, i);

	ctfout_set_uint(st, len, n);
	return bt.field_array_dynamic_set_length(list, n) ? NULL : list;
}

/* Returns the number of addresses; -1 if there is no memory. */
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

int ctfout_class_fill(struct ctfout_class *c, const struct event_row *e,
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

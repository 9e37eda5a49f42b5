/* class.c - plans how to lay out the payload of an event class, and which
 * members have a meaning beyond being a field.
 *
 * Members of structures become fields with names a_b, arrays of bytes become
 * blobs; other arrays, variants, options and floating-point numbers become
 * text. The plan is the same for all events of the class, so a number that
 * only some events have (in a variant) is text. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/bt.h"
#include "stitch/base/bytes.h"

#define DEPTH_MAX 16
#define FIELDS_MAX 500
#define NAME_MAX_LEN 120

/* State while a plan is made. */
struct plan {
	struct ctf *ctf;
	struct ctf_trace *tr;
	struct ctf_class *cl;
	const struct ctf_rule *request, *chain;
	const char *event;
	enum ctf_root root;
	unsigned int depth;
	uint32_t off;
	size_t n_field;
	char prefix[NAME_MAX_LEN];
	char *text; /* the format */
	size_t len, cap;
	/* The event has an id of its process, of its thread. */
	bool has_pid, has_tid;
};

static void ctf_class_print(struct plan *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void ctf_class_print(struct plan *p, const char *fmt, ...)
{
	char buf[512];
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(buf, sizeof(buf), fmt, ap);

	va_end(ap);
	if (n < 0)
		return;
	if ((size_t)n >= sizeof(buf))
		n = sizeof(buf) - 1;
	p->text = mem_grow(p->text, &p->cap, p->len + (size_t)n + 1, 1);
	memcpy(p->text + p->len, buf, (size_t)n + 1);
	p->len += (size_t)n;
}

/* Makes a name of letters, digits and '_'. Only ftrace's own fields may begin
 * with "common_". */
static void ctf_class_clean_name(const char *prefix, const char *s,
				 char out[NAME_MAX_LEN])
{
	int n = snprintf(out, NAME_MAX_LEN, "%s%s", prefix, s ? s : "");

	(void)n;
	for (char *c = out; *c; c++)
		if (!isalnum((unsigned char)*c))
			*c = '_';
	if (!strncmp(out, "common_", 7)) {
		memmove(out + 1, out, NAME_MAX_LEN - 1);
		out[NAME_MAX_LEN - 1] = 0;
		out[0] = '_';
	}
	if (!*out)
		snprintf(out, NAME_MAX_LEN, "_");
}

static struct ctf_op *ctf_class_add_op(struct plan *p, uint64_t index)
{
	struct ctf_class *cl = p->cl;

	struct ctf_op *op = mem_add(cl->op, cl->n_op, cl->cap_op);

	*op = (struct ctf_op){ .index = (uint16_t)index };
	return op;
}

static bool ctf_class_has_type(const bt_field_class *fc, bt_field_class_type t)
{
	return bt_field_class_type_is(bt_field_class_get_type(fc), t);
}

static uint8_t ctf_class_integer_bytes(const bt_field_class *fc)
{
	uint64_t bits = bt_field_class_integer_get_field_value_range(fc);

	return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

static bool ctf_class_is_number(const bt_field_class *fc)
{
	return ctf_class_has_type(fc, BT_FIELD_CLASS_TYPE_INTEGER) ||
	       ctf_class_has_type(fc, BT_FIELD_CLASS_TYPE_BOOL) ||
	       ctf_class_has_type(fc, BT_FIELD_CLASS_TYPE_BIT_ARRAY);
}

static bool ctf_class_is_number_array(const bt_field_class *fc)
{
	return ctf_class_has_type(fc, BT_FIELD_CLASS_TYPE_ARRAY) &&
	       ctf_class_has_type(
		       bt_field_class_array_borrow_element_field_class_const(
			       fc),
		       BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER);
}

static bool ctf_class_is_string_array(const bt_field_class *fc)
{
	return ctf_class_has_type(fc, BT_FIELD_CLASS_TYPE_ARRAY) &&
	       ctf_class_has_type(
		       bt_field_class_array_borrow_element_field_class_const(
			       fc),
		       BT_FIELD_CLASS_TYPE_STRING);
}

static bool ctf_class_is_byte_array(const bt_field_class *fc)
{
	const bt_field_class *e;

	if (!ctf_class_has_type(fc, BT_FIELD_CLASS_TYPE_ARRAY))
		return false;
	e = bt_field_class_array_borrow_element_field_class_const(fc);
	return ctf_class_has_type(e, BT_FIELD_CLASS_TYPE_INTEGER) &&
	       ctf_class_integer_bytes(e) == 1 &&
	       !ctf_class_has_type(e, BT_FIELD_CLASS_TYPE_ENUMERATION);
}

/* ---- what members mean */

struct use_row {
	const char *name;
	enum ctf_use use;
	bool only; /* the member does not become a field */
};

static const struct use_row context_uses[] = {
	{ "pid", CTF_USE_PID, true },
	{ "tid", CTF_USE_TID, true },
	{ "vpid", CTF_USE_VPID, true },
	{ "vtid", CTF_USE_VTID, true },
	{ "procname", CTF_PROCNAME, true },
	{ "callstack_kernel", CTF_KSTACK, true },
	{ "callstack_user", CTF_USTACK, true },
	{ "ip", CTF_IP, false },
};

static const struct use_row perf_uses[] = {
	{ "perf_tid", CTF_USE_TID, true },
	{ "perf_pid", CTF_USE_PID, true },
	{ "perf_ip", CTF_IP, false },
	{ "perf_callchain", CTF_PERF_STACK, true },
};

static bool ctf_class_fits_use(const bt_field_class *fc, enum ctf_use use)
{
	switch (use) {
	case CTF_PROCNAME:
		return ctf_class_has_type(fc, BT_FIELD_CLASS_TYPE_STRING);
	case CTF_KSTACK:
	case CTF_USTACK:
	case CTF_CHAIN:
	case CTF_PERF_STACK:
		return ctf_class_is_number_array(fc);
	case CTF_NAMES:
		return ctf_class_is_string_array(fc);
	case CTF_IP:
		return ctf_class_has_type(fc,
					  BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER);
	default:
		return ctf_class_has_type(fc, BT_FIELD_CLASS_TYPE_INTEGER);
	}
}

static enum ctf_use ctf_class_find_use(const struct use_row *row, size_t n,
				       const char *name,
				       const bt_field_class *fc, bool *only)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(row[i].name, name) &&
		    ctf_class_fits_use(fc, row[i].use)) {
			*only = row[i].only;
			return row[i].use;
		}
	return CTF_FIELD;
}

static enum ctf_use ctf_class_payload_use(const struct plan *p,
					  const char *name,
					  const bt_field_class *fc, bool *only)
{
	const struct ctf_rule *r = p->chain ? p->chain : p->request;

	if (r && !strcmp(r->cookie, name) && ctf_class_fits_use(fc, CTF_COOKIE))
		return CTF_COOKIE;
	if (p->chain && !strcmp(p->chain->ips, name) &&
	    (ctf_class_fits_use(fc, CTF_CHAIN) ||
	     ctf_class_fits_use(fc, CTF_NAMES))) {
		/* stored as a stack, as callstack_user is */
		*only = true;
		return ctf_class_is_string_array(fc) ? CTF_NAMES : CTF_CHAIN;
	}
	if (!p->tr->is_perf)
		return CTF_FIELD;
	return ctf_class_find_use(perf_uses,
				  sizeof(perf_uses) / sizeof(*perf_uses), name,
				  fc, only);
}

static enum ctf_use ctf_class_member_use(struct plan *p, const char *name,
					 const bt_field_class *fc, bool *only)
{
	*only = false;
	if (p->depth || !name)
		return CTF_FIELD;
	if (p->root == CTF_PAYLOAD)
		return ctf_class_payload_use(p, name, fc, only);
	if (!strcmp(name, "cpu_id") && ctf_class_fits_use(fc, CTF_CPU)) {
		*only = true;
		return CTF_CPU;
	}
	/* the length of a member that is taken as a stack */
	if (!strcmp(name, "_callstack_kernel_length") ||
	    !strcmp(name, "_callstack_user_length")) {
		*only = true;
		return CTF_FIELD;
	}
	return ctf_class_find_use(context_uses,
				  sizeof(context_uses) / sizeof(*context_uses),
				  name, fc, only);
}

/* ---- fields */

static void ctf_class_number_field(struct plan *p, struct ctf_op *op,
				   const bt_field_class *fc, const char *name)
{
	bool is_int = ctf_class_has_type(fc, BT_FIELD_CLASS_TYPE_INTEGER);

	op->how = CTF_NUM;
	op->field = (uint16_t)++p->n_field;
	op->size = is_int ? ctf_class_integer_bytes(fc) : 8;
	op->is_signed =
		ctf_class_has_type(fc, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
	p->off = (p->off + op->size - 1) & ~(uint32_t)(op->size - 1);
	op->off = p->off;
	p->off += op->size;
	ctf_class_print(p,
			"\tfield:%c%d %s;\toffset:%u;\tsize:%d;\tsigned:%d;\n",
			op->is_signed ? 's' : 'u', op->size * 8, name, op->off,
			op->size, op->is_signed);
}

static void ctf_class_dynamic_field(struct plan *p, struct ctf_op *op,
				    uint8_t how, const char *name)
{
	op->how = how;
	op->field = (uint16_t)++p->n_field;
	op->size = 4;
	p->off = (p->off + 3) & ~3u;
	op->off = p->off;
	p->off += 4;
	ctf_class_print(
		p,
		"\tfield:__data_loc %s[] %s;\toffset:%u;\tsize:4;\tsigned:0;\n",
		how == CTF_BYTES ? "unsigned char" : "char", name, op->off);
}

/* Adds a field with the label of an enumeration, beside the number, which can
 * be compared and added. */
static void ctf_class_label_field(struct plan *p, uint64_t index,
				  bool is_signed, const char *name)
{
	char label[NAME_MAX_LEN];
	struct ctf_op *op = ctf_class_add_op(p, index);

	snprintf(label, sizeof(label), "%.100s_label", name);
	op->is_int = true;
	op->is_signed = is_signed;
	op->labels = mem_new(1, sizeof(*op->labels));
	ctf_class_dynamic_field(p, op, CTF_LABEL, label);
}

static void ctf_class_plan_struct(struct plan *p, const bt_field_class *fc);

static void ctf_class_plan_nested(struct plan *p, uint64_t index,
				  const bt_field_class *fc, const char *name)
{
	char before[NAME_MAX_LEN];

	memcpy(before, p->prefix, sizeof(before));
	ctf_class_add_op(p, index)->how = CTF_ENTER;
	snprintf(p->prefix, sizeof(p->prefix), "%.100s_", name);
	p->depth++;
	ctf_class_plan_struct(p, fc);
	p->depth--;
	memcpy(p->prefix, before, sizeof(before));
	ctf_class_add_op(p, 0)->how = CTF_LEAVE;
}

static void ctf_class_plan_member(struct plan *p, uint64_t index,
				  const char *raw_name,
				  const bt_field_class *fc)
{
	bool only;
	enum ctf_use use = ctf_class_member_use(p, raw_name, fc, &only);
	char name[NAME_MAX_LEN];

	ctf_class_clean_name(p->prefix, raw_name, name);
	if (only && use == CTF_FIELD)
		return;
	if (!only && p->depth < DEPTH_MAX &&
	    ctf_class_has_type(fc, BT_FIELD_CLASS_TYPE_STRUCTURE)) {
		ctf_class_plan_nested(p, index, fc, name);
		return;
	}
	if (!only && p->n_field >= FIELDS_MAX) {
		ctf_tell_skip(p->ctf, "field of an event with more than 500");
		return;
	}
	struct ctf_op *op = ctf_class_add_op(p, index);

	op->use = (uint8_t)use;
	op->is_int = ctf_class_has_type(fc, BT_FIELD_CLASS_TYPE_INTEGER);
	p->has_pid |= use == CTF_USE_PID || use == CTF_USE_VPID;
	p->has_tid |= use == CTF_USE_TID || use == CTF_USE_VTID;
	op->is_signed =
		ctf_class_has_type(fc, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
	op->how = CTF_DROP;
	if (only)
		return;
	if (ctf_class_is_number(fc)) {
		bool is_signed = op->is_signed;

		ctf_class_number_field(p, op, fc, name);
		if (ctf_class_has_type(fc, BT_FIELD_CLASS_TYPE_ENUMERATION))
			ctf_class_label_field(p, index, is_signed, name);
	} else if (ctf_class_has_type(fc, BT_FIELD_CLASS_TYPE_STRING))
		ctf_class_dynamic_field(p, op, CTF_STRING, name);
	else if (ctf_class_is_byte_array(fc))
		ctf_class_dynamic_field(p, op, CTF_BYTES, name);
	else
		ctf_class_dynamic_field(p, op, CTF_JSON, name);
}

static void ctf_class_plan_struct(struct plan *p, const bt_field_class *fc)
{
	uint64_t n = bt_field_class_structure_get_member_count(fc);

	for (uint64_t i = 0; i < n && i < UINT16_MAX; i++) {
		const bt_field_class_structure_member *m =
			bt_field_class_structure_borrow_member_by_index_const(
				fc, i);

		ctf_class_plan_member(
			p, i, bt_field_class_structure_member_get_name(m),
			bt_field_class_structure_member_borrow_field_class_const(
				m));
	}
}

/* Names of payload members are kept; those of contexts get a prefix. */
static void ctf_class_plan_roots(struct plan *p, const bt_event_class *ec)
{
	const bt_stream_class *sc =
		bt_event_class_borrow_stream_class_const(ec);
	const bt_field_class *root[CTF_ROOTS] = {
		[CTF_COMMON] =
			bt_stream_class_borrow_event_common_context_field_class_const(
				sc),
		[CTF_SPECIFIC] =
			bt_event_class_borrow_specific_context_field_class_const(
				ec),
		[CTF_PAYLOAD] =
			bt_event_class_borrow_payload_field_class_const(ec),
	};

	if (bt_stream_class_supports_packets(sc))
		root[CTF_PACKET] =
			bt_stream_class_borrow_packet_context_field_class_const(
				sc);
	for (int i = 0; i < CTF_ROOTS; i++) {
		p->cl->first[i] = p->cl->n_op;
		p->root = (enum ctf_root)i;
		snprintf(p->prefix, sizeof(p->prefix), "%s",
			 i == CTF_PAYLOAD  ? ""
			 : i == CTF_PACKET ? "packet_"
					   : "ctx_");
		if (root[i])
			ctf_class_plan_struct(p, root[i]);
	}
	p->cl->first[CTF_ROOTS] = p->cl->n_op;
	p->cl->fixed = p->off;
}

/* ---- the event */

static uint32_t ctf_class_add_event(struct plan *p)
{
	const struct ctf_event_info info = {
		.name = p->event,
		.text = p->text,
		.len = p->len,
		.defer = p->request != NULL,
		.has_time = p->tr->meta.freq != 0,
		.has_tid = p->has_tid,
	};
	size_t before = p->ctf->n_event;
	uint32_t i = ctf_event_add(p->ctf, &info);

	if (p->ctf->n_event != before)
		ctf_tell_event(p->ctf, &info);
	return i;
}

static bool ctf_class_has_use(const struct ctf_class *cl, enum ctf_use use)
{
	for (size_t i = 0; i < cl->n_op; i++)
		if (cl->op[i].use == use)
			return true;
	return false;
}

/* Does decoding the event need the field? */
static bool ctf_class_is_field_read(const struct ctf_event *ev, int field)
{
	const struct tp_call *c = &ev->fmt.call;
	bool yes = false;

	for (int i = 0; i < CTF_PARTS; i++)
		yes |= ev->part[i] == field;
	for (int i = 0; c->what != CALL_NONE && i < CALL_ARGS; i++)
		yes |= c->arg[i] == field + 1;
	return yes || (c->what != CALL_NONE &&
		       (c->ret == field + 1 || c->path == field + 1));
}

/* Drops the fields that decoding does not need: with no_fields nothing else
 * reads them. */
static void ctf_class_drop_unread(struct ctf_class *cl,
				  const struct ctf_event *ev)
{
	size_t n = 0;

	for (size_t i = 0, root = 0; i <= cl->n_op; i++) {
		while (root <= CTF_ROOTS && cl->first[root] == i)
			cl->first[root++] = n;
		if (i == cl->n_op)
			break;
		struct ctf_op op = cl->op[i];

		if (op.field && !ctf_class_is_field_read(ev, op.field - 1)) {
			ctf_labels_free(op.labels);
			op.labels = NULL;
			op.how = CTF_DROP;
			if (!op.use)
				continue;
		}
		cl->op[n++] = op;
	}
	cl->n_op = n;
}

static void ctf_class_make(struct ctf_trace *tr, const bt_event_class *ec,
			   struct ctf_class *cl)
{
	const char *name = bt_event_class_get_name(ec);
	struct plan p = {
		.ctf = tr->ctf,
		.tr = tr,
		.cl = cl,
		.event = name && *name ? name : "unnamed",
	};
	char line[256];

	*cl = (struct ctf_class){
		.clock = bt_stream_class_borrow_default_clock_class_const(
			bt_event_class_borrow_stream_class_const(ec)),
	};
	p.request = ctf_rule_of(p.ctf, p.event, false);
	p.chain = ctf_rule_of(p.ctf, p.event, true);
	snprintf(line, sizeof(line), "%s", p.event);
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
	ctf_class_print(&p, "name: %s\nID: 0\nformat:\n", line);
	ctf_class_plan_roots(&p, ec);
	if (!ctf_class_has_use(cl, CTF_COOKIE))
		p.request = p.chain = NULL;
	if (p.chain && !ctf_class_has_use(cl, CTF_CHAIN) &&
	    !ctf_class_has_use(cl, CTF_NAMES))
		p.chain = NULL;
	cl->chain = p.chain != NULL;
	if (p.chain)
		p.request = NULL;
	cl->event = ctf_class_add_event(&p);
	if (p.ctf->opts.no_fields)
		ctf_class_drop_unread(cl, &p.ctf->event[cl->event]);
	free(p.text);
}

struct ctf_class *ctf_class_of(struct ctf_trace *tr, const bt_event *ev)
{
	struct ctf_graph *g = tr->graph;
	const bt_event_class *ec = bt_event_borrow_class_const(ev);
	uint64_t h = hash_u64((uint64_t)(uintptr_t)ec);
	struct ctf_recent *r = &g->recent[h % CTF_RECENT];

	if (r->ec == ec)
		return &g->classes[r->at];
	uint32_t i = table_find(&g->by_class, h, NULL, NULL, NULL);

	r->ec = ec;
	r->at = i != TABLE_NONE ? i : (uint32_t)g->n_class;
	if (i != TABLE_NONE)
		return &g->classes[i];
	i = (uint32_t)g->n_class;
	ctf_class_make(tr, ec, mem_add(g->classes, g->n_class, g->cap_class));
	table_add(&g->by_class, h, i);
	return &g->classes[i];
}

void ctf_class_release(struct ctf_class *cl)
{
	for (size_t i = 0; i < cl->n_op; i++)
		ctf_labels_free(cl->op[i].labels);
	free(cl->op);
}

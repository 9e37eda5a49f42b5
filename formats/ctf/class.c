/* class.c - the plan for an event's class: which member goes where in the
 * payload, and which say more than being a field.
 *
 * Structures become numbers with names a_b; arrays of bytes become blobs;
 * other arrays, variants, options and fractions become text. The plan is
 * static: what is there in some events only (a variant's number) is text. */
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

/* The plan while it is made. */
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
	/* ids that threads are known by */
	bool has_pid, has_tid;
};

static void say(struct plan *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void say(struct plan *p, const char *fmt, ...)
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

/* A word: letters, digits, '_'; "common_" is what ftrace's own fields have. */
static void clean(const char *prefix, const char *s, char out[NAME_MAX_LEN])
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

static struct ctf_op *add_op(struct plan *p, uint64_t index)
{
	struct ctf_class *cl = p->cl;

	cl->op = mem_grow(cl->op, &cl->cap_op, cl->n_op + 1, sizeof(*cl->op));
	cl->op[cl->n_op] = (struct ctf_op){ .index = (uint16_t)index };
	return &cl->op[cl->n_op++];
}

static bool has_type(const bt_field_class *fc, bt_field_class_type t)
{
	return bt_field_class_type_is(bt_field_class_get_type(fc), t);
}

static uint8_t bytes_of(const bt_field_class *fc)
{
	uint64_t bits = bt_field_class_integer_get_field_value_range(fc);

	return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

static bool is_number(const bt_field_class *fc)
{
	return has_type(fc, BT_FIELD_CLASS_TYPE_INTEGER) ||
	       has_type(fc, BT_FIELD_CLASS_TYPE_BOOL) ||
	       has_type(fc, BT_FIELD_CLASS_TYPE_BIT_ARRAY);
}

static bool is_numbers(const bt_field_class *fc)
{
	return has_type(fc, BT_FIELD_CLASS_TYPE_ARRAY) &&
	       has_type(bt_field_class_array_borrow_element_field_class_const(
				fc),
			BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER);
}

static bool is_names(const bt_field_class *fc)
{
	return has_type(fc, BT_FIELD_CLASS_TYPE_ARRAY) &&
	       has_type(bt_field_class_array_borrow_element_field_class_const(
				fc),
			BT_FIELD_CLASS_TYPE_STRING);
}

static bool is_bytes(const bt_field_class *fc)
{
	const bt_field_class *e;

	if (!has_type(fc, BT_FIELD_CLASS_TYPE_ARRAY))
		return false;
	e = bt_field_class_array_borrow_element_field_class_const(fc);
	return has_type(e, BT_FIELD_CLASS_TYPE_INTEGER) && bytes_of(e) == 1 &&
	       !has_type(e, BT_FIELD_CLASS_TYPE_ENUMERATION);
}

/* ---- what members mean */

struct use_row {
	const char *name;
	enum ctf_use use;
	bool only; /* it is no field then */
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

static bool fits(const bt_field_class *fc, enum ctf_use use)
{
	switch (use) {
	case CTF_PROCNAME:
		return has_type(fc, BT_FIELD_CLASS_TYPE_STRING);
	case CTF_KSTACK:
	case CTF_USTACK:
	case CTF_CHAIN:
	case CTF_PERF_STACK:
		return is_numbers(fc);
	case CTF_NAMES:
		return is_names(fc);
	case CTF_IP:
		return has_type(fc, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER);
	default:
		return has_type(fc, BT_FIELD_CLASS_TYPE_INTEGER);
	}
}

static enum ctf_use find_use(const struct use_row *row, size_t n,
			     const char *name, const bt_field_class *fc,
			     bool *only)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(row[i].name, name) && fits(fc, row[i].use)) {
			*only = row[i].only;
			return row[i].use;
		}
	return CTF_FIELD;
}

static enum ctf_use payload_use(const struct plan *p, const char *name,
				const bt_field_class *fc, bool *only)
{
	const struct ctf_rule *r = p->chain ? p->chain : p->request;

	if (r && !strcmp(r->cookie, name) && fits(fc, CTF_COOKIE))
		return CTF_COOKIE;
	if (p->chain && !strcmp(p->chain->ips, name) &&
	    (fits(fc, CTF_CHAIN) || fits(fc, CTF_NAMES))) {
		/* as callstack_user, it is stored as a stack */
		*only = true;
		return is_names(fc) ? CTF_NAMES : CTF_CHAIN;
	}
	if (!p->tr->is_perf)
		return CTF_FIELD;
	return find_use(perf_uses, sizeof(perf_uses) / sizeof(*perf_uses), name,
			fc, only);
}

static enum ctf_use use_of(struct plan *p, const char *name,
			   const bt_field_class *fc, bool *only)
{
	*only = false;
	if (p->depth || !name)
		return CTF_FIELD;
	if (p->root == CTF_PAYLOAD)
		return payload_use(p, name, fc, only);
	if (!strcmp(name, "cpu_id") && fits(fc, CTF_CPU)) {
		*only = true;
		return CTF_CPU;
	}
	/* the length of what is taken as a stack */
	if (!strcmp(name, "_callstack_kernel_length") ||
	    !strcmp(name, "_callstack_user_length")) {
		*only = true;
		return CTF_FIELD;
	}
	return find_use(context_uses,
			sizeof(context_uses) / sizeof(*context_uses), name, fc,
			only);
}

/* ---- fields */

static void number_field(struct plan *p, struct ctf_op *op,
			 const bt_field_class *fc, const char *name)
{
	bool is_int = has_type(fc, BT_FIELD_CLASS_TYPE_INTEGER);

	op->how = CTF_NUM;
	op->field = (uint16_t)++p->n_field;
	op->size = is_int ? bytes_of(fc) : 8;
	op->is_signed = has_type(fc, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
	p->off = (p->off + op->size - 1) & ~(uint32_t)(op->size - 1);
	op->off = p->off;
	p->off += op->size;
	say(p, "\tfield:%c%d %s;\toffset:%u;\tsize:%d;\tsigned:%d;\n",
	    op->is_signed ? 's' : 'u', op->size * 8, name, op->off, op->size,
	    op->is_signed);
}

static void dynamic_field(struct plan *p, struct ctf_op *op, uint8_t how,
			  const char *name)
{
	op->how = how;
	op->field = (uint16_t)++p->n_field;
	op->size = 4;
	p->off = (p->off + 3) & ~3u;
	op->off = p->off;
	p->off += 4;
	say(p, "\tfield:__data_loc %s[] %s;\toffset:%u;\tsize:4;\tsigned:0;\n",
	    how == CTF_BYTES ? "unsigned char" : "char", name, op->off);
}

/* A second field: the number alone can be compared and added, and its label
 * can be read. */
static void label_field(struct plan *p, uint64_t index, bool is_signed,
			const char *name)
{
	char label[NAME_MAX_LEN];
	struct ctf_op *op = add_op(p, index);

	snprintf(label, sizeof(label), "%.100s_label", name);
	op->is_int = true;
	op->is_signed = is_signed;
	op->labels = mem_new(1, sizeof(*op->labels));
	dynamic_field(p, op, CTF_LABEL, label);
}

static void plan_struct(struct plan *p, const bt_field_class *fc);

static void nested(struct plan *p, uint64_t index, const bt_field_class *fc,
		   const char *name)
{
	char before[NAME_MAX_LEN];

	memcpy(before, p->prefix, sizeof(before));
	add_op(p, index)->how = CTF_ENTER;
	snprintf(p->prefix, sizeof(p->prefix), "%.100s_", name);
	p->depth++;
	plan_struct(p, fc);
	p->depth--;
	memcpy(p->prefix, before, sizeof(before));
	add_op(p, 0)->how = CTF_LEAVE;
}

static void plan_member(struct plan *p, uint64_t index, const char *raw_name,
			const bt_field_class *fc)
{
	bool only;
	enum ctf_use use = use_of(p, raw_name, fc, &only);
	char name[NAME_MAX_LEN];

	clean(p->prefix, raw_name, name);
	if (only && use == CTF_FIELD)
		return;
	if (!only && p->depth < DEPTH_MAX &&
	    has_type(fc, BT_FIELD_CLASS_TYPE_STRUCTURE)) {
		nested(p, index, fc, name);
		return;
	}
	if (!only && p->n_field >= FIELDS_MAX) {
		ctf_tell_skip(p->ctf, "field of an event with more than 500");
		return;
	}
	struct ctf_op *op = add_op(p, index);

	op->use = (uint8_t)use;
	op->is_int = has_type(fc, BT_FIELD_CLASS_TYPE_INTEGER);
	p->has_pid |= use == CTF_USE_PID || use == CTF_USE_VPID;
	p->has_tid |= use == CTF_USE_TID || use == CTF_USE_VTID;
	op->is_signed = has_type(fc, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
	op->how = CTF_DROP;
	if (only)
		return;
	if (is_number(fc)) {
		bool is_signed = op->is_signed;

		number_field(p, op, fc, name);
		if (has_type(fc, BT_FIELD_CLASS_TYPE_ENUMERATION))
			label_field(p, index, is_signed, name);
	} else if (has_type(fc, BT_FIELD_CLASS_TYPE_STRING))
		dynamic_field(p, op, CTF_STRING, name);
	else if (is_bytes(fc))
		dynamic_field(p, op, CTF_BYTES, name);
	else
		dynamic_field(p, op, CTF_JSON, name);
}

static void plan_struct(struct plan *p, const bt_field_class *fc)
{
	uint64_t n = bt_field_class_structure_get_member_count(fc);

	for (uint64_t i = 0; i < n && i < UINT16_MAX; i++) {
		const bt_field_class_structure_member *m =
			bt_field_class_structure_borrow_member_by_index_const(
				fc, i);

		plan_member(
			p, i, bt_field_class_structure_member_get_name(m),
			bt_field_class_structure_member_borrow_field_class_const(
				m));
	}
}

/* The payload's names are its own; those of contexts have a prefix. */
static void plan_roots(struct plan *p, const bt_event_class *ec)
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
			plan_struct(p, root[i]);
	}
	p->cl->first[CTF_ROOTS] = p->cl->n_op;
	p->cl->fixed = p->off;
}

/* ---- the event */

static uint32_t event_of(struct plan *p)
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

/* Is the member there that the rule names? */
static bool has_use(const struct ctf_class *cl, enum ctf_use use)
{
	for (size_t i = 0; i < cl->n_op; i++)
		if (cl->op[i].use == use)
			return true;
	return false;
}

/* Does what we make of the event need it? */
static bool is_read(const struct ctf_event *ev, int field)
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

/* Nobody asks for the others: they are not even looked at. */
static void drop_unread(struct ctf_class *cl, const struct ctf_event *ev)
{
	size_t n = 0;

	for (size_t i = 0, root = 0; i <= cl->n_op; i++) {
		while (root <= CTF_ROOTS && cl->first[root] == i)
			cl->first[root++] = n;
		if (i == cl->n_op)
			break;
		struct ctf_op op = cl->op[i];

		if (op.field && !is_read(ev, op.field - 1)) {
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

static void make(struct ctf_trace *tr, const bt_event_class *ec,
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
	say(&p, "name: %s\nID: 0\nformat:\n", line);
	plan_roots(&p, ec);
	if (!has_use(cl, CTF_COOKIE))
		p.request = p.chain = NULL;
	if (p.chain && !has_use(cl, CTF_CHAIN) && !has_use(cl, CTF_NAMES))
		p.chain = NULL;
	cl->chain = p.chain != NULL;
	if (p.chain)
		p.request = NULL;
	cl->event = event_of(&p);
	if (p.ctf->opts.no_fields)
		drop_unread(cl, &p.ctf->event[cl->event]);
	free(p.text);
}

struct ctf_class *ctf_class_of(struct ctf_trace *tr, const bt_event *ev)
{
	struct ctf_graph *g = tr->graph;
	const bt_event_class *ec = bt_event_borrow_class_const(ev);
	uint64_t h = hash_u64((uint64_t)(uintptr_t)ec);
	struct ctf_recent *r = &g->recent[h % CTF_RECENT];

	if (r->ec == ec)
		return &g->class[r->class];
	uint32_t i = table_find(&g->by_class, h, NULL, NULL, NULL);

	r->ec = ec;
	r->class = i != TABLE_NONE ? i : (uint32_t)g->n_class;
	if (i != TABLE_NONE)
		return &g->class[i];
	i = (uint32_t)g->n_class;
	g->class = mem_grow(g->class, &g->cap_class, g->n_class + 1,
			    sizeof(*g->class));
	g->n_class++;
	make(tr, ec, &g->class[i]);
	table_add(&g->by_class, h, i);
	return &g->class[i];
}

void ctf_class_release(struct ctf_class *cl)
{
	for (size_t i = 0; i < cl->n_op; i++)
		ctf_labels_free(cl->op[i].labels);
	free(cl->op);
}

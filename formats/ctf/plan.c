/* plan.c - plans the payload of an event class, and which of its members mean
 * more than a field.
 *
 * Members of structures become fields with names a_b, arrays of bytes become
 * blobs; other arrays, variants, options and floating-point numbers become
 * text. The plan is the same for all events of the class, so a number that only
 * some events have (in a variant) is text. */
#include "formats/ctf/plan.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/tracepoint/fields.h"
#include "stitch/base/bytes.h"
#include "stitch/base/err.h"

/* ---- rules for the events that request a stack and for those that have it
 * later: "NAME(COOKIE)" and "NAME(COOKIE,ADDRESSES)" */

#define REQUEST "stitch:request(cookie)"
#define CHAIN "stitch:ustack(cookie,ips)"

static int ctf_rule_add(struct ctf *ctf, const char *s, size_t n, bool chain)
{
	const char *open = memchr(s, '(', n);
	const char *end = s + n - 1;

	if (!open || open == s || *end != ')')
		return -1;
	const char *comma = memchr(open, ',', (size_t)(end - open));
	const char *stop = comma ? comma : end;

	if ((comma != NULL) != chain || stop == open + 1 ||
	    (comma && comma + 1 == end))
		return -1;
	*mem_add(ctf->rule, ctf->n_rule, ctf->cap_rule) = (struct ctf_rule){
		.event = mem_dup(s, (size_t)(open - s)),
		.cookie = mem_dup(open + 1, (size_t)(stop - open - 1)),
		.ips = comma ? mem_dup(comma + 1, (size_t)(end - comma - 1))
			     : NULL,
	};
	return 0;
}

static int ctf_rule_add_all(struct ctf *ctf, const char *s, bool chain,
			    struct err *err)
{
	for (const char *p = s; *p;) {
		size_t n = strcspn(p, " ");

		if (n && ctf_rule_add(ctf, p, n, chain))
			return err_set(err, ERR_USAGE, "'%s' is no %s", s,
				       chain ? "--chain, such as " CHAIN
					     : "--request, such as " REQUEST);
		p += n + (p[n] == ' ');
	}
	return 0;
}

int ctf_rules_read(struct ctf *ctf, struct err *err)
{
	const char *request = ctf->opts.request;
	const char *chain = ctf->opts.chain;

	if (ctf_rule_add_all(ctf, request ? request : REQUEST, false, err))
		return -1;
	return ctf_rule_add_all(ctf, chain ? chain : CHAIN, true, err);
}

void ctf_rules_release(struct ctf *ctf)
{
	for (size_t i = 0; i < ctf->n_rule; i++)
		free_all(ctf->rule[i].event, ctf->rule[i].cookie,
			 ctf->rule[i].ips);
	free(ctf->rule);
}

const struct ctf_rule *ctf_rule_of(const struct ctf *ctf, const char *event,
				   bool chain)
{
	for (size_t i = 0; i < ctf->n_rule; i++)
		if ((ctf->rule[i].ips != NULL) == chain &&
		    !strcmp(ctf->rule[i].event, event))
			return &ctf->rule[i];
	return NULL;
}

/* ---- the roles of the events of LTTng and perf, by their names, and the
 * fields that these roles use */

struct ctf_role_row {
	const char *name; /* a '*' matches anything */
	enum ctf_role role;
	const char *part[CTF_PARTS];
};

#define TASK [CTF_TID] = "tid", [CTF_COMM] = "comm"
#define IMAGE                                                                  \
	[CTF_BASE] = "baddr", [CTF_SIZE] = "memsz", [CTF_PATH] = "path",       \
	[CTF_HAS_ID] = "has_build_id"
#define IMAGE_ID [CTF_BASE] = "baddr", [CTF_PATH] = "build_id"

static const struct ctf_role_row ctf_roles[] = {
	{ "sched_switch",
	  CTF_SWITCH,
	  { [CTF_TID] = "prev_tid",
	    [CTF_COMM] = "prev_comm",
	    [CTF_TID2] = "next_tid",
	    [CTF_COMM2] = "next_comm",
	    [CTF_STATE_OF] = "prev_state" } },
	{ "sched_wakeup", CTF_WAKEUP, { TASK } },
	{ "sched_wakeup_new", CTF_WAKEUP_NEW, { TASK } },
	{ "sched_process_fork",
	  CTF_FORK,
	  { [CTF_TID] = "parent_tid",
	    [CTF_COMM] = "parent_comm",
	    [CTF_TID2] = "child_tid",
	    [CTF_COMM2] = "child_comm",
	    [CTF_PID] = "parent_pid",
	    [CTF_PID2] = "child_pid" } },
	{ "sched_process_exec",
	  CTF_EXEC,
	  { [CTF_TID] = "tid", [CTF_PATH] = "filename" } },
	{ "sched_process_exit", CTF_EXIT, { TASK } },
	/* its comm is that of the thread that waits, its tid that of another */
	{ "sched_process_wait", CTF_PLAIN, { NULL } },
	{ "sched_*", CTF_NAMED, { TASK } },
	{ "lttng_statedump_process_state",
	  CTF_STATE,
	  { [CTF_TID] = "tid", [CTF_PID] = "pid", [CTF_COMM] = "name" } },
	{ "lttng_ust_statedump:bin_info", CTF_IMAGE, { IMAGE } },
	{ "lttng_ust_dl:dl*open", CTF_OPEN, { IMAGE } },
	{ "lttng_ust_lib:load", CTF_LOAD, { IMAGE } },
	{ "lttng_ust_statedump:build_id", CTF_BUILD_ID, { IMAGE_ID } },
	{ "lttng_ust_dl:build_id", CTF_BUILD_ID, { IMAGE_ID } },
	{ "lttng_ust_lib:build_id", CTF_BUILD_ID, { IMAGE_ID } },
	{ "lttng_ust_dl:dlclose", CTF_CLOSE, { [CTF_BASE] = "baddr" } },
	{ "lttng_ust_lib:unload", CTF_UNLOAD, { [CTF_BASE] = "baddr" } },
	{ "perf_comm",
	  CTF_NAMED,
	  { [CTF_TID] = "tid", [CTF_PID] = "pid", [CTF_COMM] = "comm" } },
	{ "perf_fork",
	  CTF_FORK,
	  { [CTF_TID] = "ptid",
	    [CTF_PID] = "ppid",
	    [CTF_TID2] = "tid",
	    [CTF_PID2] = "pid" } },
	{ "perf_exit", CTF_EXIT, { [CTF_TID] = "tid" } },
};

/* Returns whether a name matches a pattern; one '*' in the pattern matches
 * anything. */
static bool ctf_role_matches(const char *pattern, const char *name)
{
	const char *star = strchr(pattern, '*');
	size_t n = strlen(name);

	if (!star)
		return !strcmp(pattern, name);
	size_t before = (size_t)(star - pattern);
	size_t behind = strlen(star + 1);

	return n >= before + behind && !memcmp(name, pattern, before) &&
	       !strcmp(name + n - behind, star + 1);
}

int64_t ctf_number(const struct ctf_event *ev, enum ctf_part_of part,
		   const struct bytes *raw, int64_t otherwise)
{
	return tp_field_number_or(&ev->fmt, ev->part[part], raw, otherwise);
}

const char *ctf_text(struct ctf *ctf, const struct ctf_event *ev,
		     enum ctf_part_of part, const struct bytes *raw)
{
	struct field f;

	tp_field_take_alone(&ctf->look, &ev->fmt, ev->part[part], raw, &f);
	return f.text;
}

#define DEPTH_MAX 16
#define FIELDS_MAX 500
/* The bytes that the classes of all events may take. Every class repeats the
 * fields of the common context, so small metadata could need any amount. */
#define PLANNED_MAX ((uint64_t)22 << 20)
#define NAME_MAX_LEN 120

/* The structures that hold the fields of an event. */
enum plan_root {
	PLAN_PACKET,
	PLAN_COMMON,
	PLAN_SPECIFIC,
	PLAN_PAYLOAD,
	PLAN_ROOTS
};

/* A member, in the order of the event. */
struct plan_step {
	const struct ctf_node *node;
	struct ctf_want want;
	uint32_t field, label; /* index in the format, plus 1; 0: it has none */
	bool enter;	       /* a structure: its members follow */
};

/* The state while a plan is made. */
struct plan {
	struct ctf *ctf;
	const struct ctf_schema *sm;
	const struct ctf_rule *request, *chain;
	const char *event;
	enum plan_root root;
	unsigned int depth;
	uint32_t off;
	uint32_t n_field;
	char prefix[NAME_MAX_LEN];
	FILE *text;	    /* receives the format */
	FILE *print, *args; /* receive its print format and the arguments */
	bool comma;	    /* the next member needs a comma before it */
	struct plan_step *step;
	size_t n_step, cap_step;
	size_t first[PLAN_ROOTS + 1]; /* by root: its first step */
	uint32_t uses; /* a bit for each enum ctf_use that has a member */
};

/* Makes a name of letters, digits and '_'. A '_' is put before "common_", which
 * only ftrace's own fields begin with. */
static void ctf_plan_clean_name(const char *prefix, const char *s,
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

static struct plan_step *ctf_plan_step(struct plan *p,
				       const struct ctf_node *node)
{
	struct plan_step *st = mem_add(p->step, p->n_step, p->cap_step);

	*st = (struct plan_step){ .node = node, .want.label = CTF_NO_PLACE };
	return st;
}

struct use_row {
	const char *name;
	enum ctf_use use;
	bool only; /* set if the member does not become a field too */
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

bool ctf_is_call(const char *event)
{
	return !strncmp(event, "lttng_ust_cyg_profile", 21);
}

static bool ctf_plan_fits_use(const struct ctf_node *node, enum ctf_use use)
{
	const struct ctf_node *e = ctf_node_element(node);

	switch (use) {
	case CTF_PROCNAME:
		return ctf_node_is_string(node);
	case CTF_KSTACK:
	case CTF_USTACK:
	case CTF_CHAIN:
	case CTF_PERF_STACK:
		/* only 32 bits or more: each is kept as 64 bits, so lists of
		 * shorter ones could need much memory */
		return e && e->kind == CTF_UINT && e->bits >= 32;
	case CTF_NAMES:
		return e && ctf_node_is_string(e);
	case CTF_IP:
		return ctf_node_is_integer(node) && !ctf_node_is_signed(node);
	default:
		return ctf_node_is_integer(node);
	}
}

static enum ctf_use ctf_plan_find_use(const struct use_row *row, size_t n,
				      const struct ctf_node *node, bool *only)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(row[i].name, node->name) &&
		    ctf_plan_fits_use(node, row[i].use)) {
			*only = row[i].only;
			return row[i].use;
		}
	return CTF_FIELD;
}

static enum ctf_use ctf_plan_member_use(const struct plan *p,
					const struct ctf_node *node, bool *only)
{
	*only = false;
	if (p->depth || !node->name)
		return CTF_FIELD;
	if (p->root == PLAN_PAYLOAD) {
		const struct ctf_rule *r = p->chain ? p->chain : p->request;

		if (r && !strcmp(r->cookie, node->name) &&
		    ctf_plan_fits_use(node, CTF_COOKIE))
			return CTF_COOKIE;
		if (p->chain && !strcmp(p->chain->ips, node->name) &&
		    (ctf_plan_fits_use(node, CTF_CHAIN) ||
		     ctf_plan_fits_use(node, CTF_NAMES))) {
			/* stored as a stack, like callstack_user */
			*only = true;
			return ctf_plan_fits_use(node, CTF_NAMES) ? CTF_NAMES
								  : CTF_CHAIN;
		}
		/* addr is the function that the instrumented program enters or
		 * leaves */
		if (ctf_is_call(p->event) && !strcmp(node->name, "addr") &&
		    ctf_plan_fits_use(node, CTF_IP))
			return CTF_IP;
		if (!p->sm->perf)
			return CTF_FIELD;
		return ctf_plan_find_use(perf_uses, ARRAY_SIZE(perf_uses), node,
					 only);
	}
	/* the counters and times of packets become losses and clocks */
	if (p->root == PLAN_PACKET && node->role) {
		*only = true;
		return CTF_FIELD;
	}
	if (!strcmp(node->name, "cpu_id") && ctf_plan_fits_use(node, CTF_CPU)) {
		*only = true;
		return CTF_CPU;
	}
	/* the length of a stack */
	if (!strcmp(node->name, "_callstack_kernel_length") ||
	    !strcmp(node->name, "_callstack_user_length")) {
		*only = true;
		return CTF_FIELD;
	}
	return ctf_plan_find_use(context_uses, ARRAY_SIZE(context_uses), node,
				 only);
}

/* Adds a field of variable length to the format. Returns the offset of its
 * place. */
static uint32_t ctf_plan_dynamic_field(struct plan *p, bool bytes,
				       const char *name, uint32_t *field)
{
	p->off = (p->off + 3) & ~3u;
	const uint32_t off = p->off;

	*field = ++p->n_field;
	p->off += 4;
	fprintf(p->text,
		"\tfield:__data_loc %s[] %s;\toffset:%u;\tsize:4;\tsigned:0;\n",
		bytes ? "unsigned char" : "char", name, off);
	return off;
}

/* The print format prints what babeltrace2 prints within the braces. */

/* Begins a member in the print format. Members of contexts have the names of
 * their fields. */
static void ctf_plan_begin(struct plan *p, const struct ctf_node *node,
			   const char *name)
{
	char own[NAME_MAX_LEN];

	ctf_plan_clean_name("", node->name, own);
	fprintf(p->print, "%s%s = ",
		p->comma   ? ", "
		: p->depth ? " "
			   : "",
		p->depth ? own : name);
	p->comma = true;
}

/* Makes a number a field. The label of an enumeration becomes a second field,
 * so that the number can still be compared and added. */
static void ctf_plan_number_field(struct plan *p, struct plan_step *st,
				  const char *name)
{
	struct ctf_want *w = &st->want;
	bool is_signed = ctf_node_is_signed(st->node);

	w->how = CTF_NUMBER;
	st->field = ++p->n_field;
	w->size = 8;
	if (st->node->kind == CTF_UINT || st->node->kind == CTF_SINT)
		w->size = st->node->bits <= 8	 ? 1
			  : st->node->bits <= 16 ? 2
			  : st->node->bits <= 32 ? 4
						 : 8;
	p->off = (p->off + w->size - 1) & ~(uint32_t)(w->size - 1);
	w->off = p->off;
	p->off += w->size;
	fprintf(p->text, "\tfield:%c%d %s;\toffset:%u;\tsize:%d;\tsigned:%d;\n",
		is_signed ? 's' : 'u', w->size * 8, name, w->off, w->size,
		is_signed);
	char label[NAME_MAX_LEN];
	const bool has = st->node->n_label && ctf_node_is_integer(st->node);

	snprintf(label, sizeof(label), "%.100s_label", name);
	if (has)
		w->label = ctf_plan_dynamic_field(p, false, label, &st->label);
	/* Negative numbers that are not decimal are printed with the bits of
	 * the field, octal ones with whole digits. */
	const unsigned int bits = st->node->base == 8
					  ? (st->node->bits + 2) / 3 * 3
					  : st->node->bits;
	const bool fixed = st->node->bits && bits < 64;

	if (has) {
		fprintf(p->print, "( %%pJl : container = ");
		fprintf(p->args, ", REC->%s", label);
	}
	if (st->node->base == 2 && st->node->bits) {
		fprintf(p->print, "%%*pJb");
		fprintf(p->args, ", %u", st->node->bits);
	} else {
		fprintf(p->print, "%s",
			st->node->base == 16	       ? "0x%llX"
			: st->node->base == 8	       ? "0%llo"
			: ctf_node_is_signed(st->node) ? "%lld"
						       : "%llu");
	}
	fprintf(p->args, ", REC->%s", name);
	if (fixed && (st->node->base == 8 || st->node->base == 16))
		fprintf(p->args, " & 0x%" PRIx64 "LL",
			((uint64_t)1 << bits) - 1);
	if (has)
		fprintf(p->print, " )");
}

static void ctf_plan_struct(struct plan *p, const struct ctf_node *parent)
{
	for (uint32_t i = 0; i < parent->n_child; i++) {
		const struct ctf_node *node = &parent->child[i];
		bool only;
		enum ctf_use use = ctf_plan_member_use(p, node, &only);
		char name[NAME_MAX_LEN];

		ctf_plan_clean_name(p->prefix, node->name, name);
		if (!only && p->depth < DEPTH_MAX && node->kind == CTF_STRUCT) {
			char before[NAME_MAX_LEN];

			memcpy(before, p->prefix, sizeof(before));
			ctf_plan_step(p, node)->enter = true;
			ctf_plan_begin(p, node, name);
			fprintf(p->print, "{");
			p->comma = false;
			snprintf(p->prefix, sizeof(p->prefix), "%.100s_", name);
			p->depth++;
			ctf_plan_struct(p, node);
			p->depth--;
			fprintf(p->print, " }");
			p->comma = true;
			memcpy(p->prefix, before, sizeof(before));
			continue;
		}
		struct plan_step *st = ctf_plan_step(p, node);
		struct ctf_want *w = &st->want;

		w->use = (uint8_t)use;
		p->uses |= 1u << use;
		if (only)
			continue;
		if (p->n_field >= FIELDS_MAX) {
			ledger_skip(p->ctf->src.ledger, p->ctf->src.index,
				    "field of an event with more than 500", 0,
				    0, NULL);
			w->use = CTF_FIELD;
			continue;
		}
		ctf_plan_begin(p, node, name);
		if (ctf_node_is_number(node)) {
			ctf_plan_number_field(p, st, name);
		} else {
			bool bytes = ctf_node_is_bytes(node);

			w->how = ctf_node_is_string(node) ? CTF_TEXT
				 : bytes		  ? CTF_BYTES
							  : CTF_JSON;
			w->off = ctf_plan_dynamic_field(p, bytes, name,
							&st->field);
			const struct ctf_node *e = ctf_node_element(node);
			const char *how = "%pJj";

			if (node->kind == CTF_REAL)
				how = "%s";
			else if (node->kind == CTF_VARIANT)
				how = "%pJv";
			else if (ctf_node_is_string(node))
				how = "%pJs";
			else if (ctf_node_is_bytes(node))
				how = e && e->base == 16	   ? "%pJx"
				      : e && ctf_node_is_signed(e) ? "%pJi"
								   : "%pJd";
			fprintf(p->print, "%s", how);
			fprintf(p->args, ", REC->%s", name);
		}
	}
}

static bool ctf_plan_has(const struct plan *p, enum ctf_use use)
{
	return p->uses >> use & 1;
}

/* Returns whether decoding the event needs the field. */
static bool ctf_plan_is_read(const struct ctf_event *ev, int field)
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

/* Makes the program of the roots from `from` up to, not including, `to`. */
static void ctf_plan_compile(const struct plan *p, enum plan_root from,
			     enum plan_root to, struct ctf_program *out)
{
	ctf_program_start(out);
	for (size_t i = p->first[from]; i < p->first[to]; i++) {
		if (p->step[i].enter)
			ctf_program_align(out, p->step[i].node->align);
		else
			ctf_program_add(out, p->step[i].node, &p->step[i].want);
	}
	ctf_program_end(out);
}

/* The key of the table of events of all traces: name and layout are in the
 * text. */

struct layout_key {
	const char *text;
	bool defer;
};

static bool ctf_def_same_layout(const void *owner, uint32_t i, const void *key)
{
	const struct ctf *ctf = owner;
	const struct layout_key *k = key;

	return ctf->def[i].defer == k->defer &&
	       !strcmp(ctf_event_at(ctf, i)->fmt.text, k->text);
}

/* Returns the index of the event, which is added if none is equal. */
static uint32_t ctf_event_add(struct ctf *ctf, const char *name,
			      const char *format, size_t len, bool defer,
			      bool has_time)
{
	const struct layout_key key = { format, defer };
	uint64_t h = hash_bytes(format, len, defer);
	uint32_t i =
		table_find(&ctf->by_layout, h, ctf_def_same_layout, ctf, &key);
	struct bytes text;

	if (i != TABLE_NONE)
		return i;
	i = (uint32_t)ctf->n_event++;
	if (i % CTF_EVENT_PAGE == 0)
		ctf->event[i / CTF_EVENT_PAGE] =
			mem_new(CTF_EVENT_PAGE, sizeof(struct ctf_event));
	mem_grow(ctf->def, ctf->cap_def, ctf->n_event);
	struct ctf_event *ev = ctf_event_at(ctf, i);

	bytes_init(&text, format, len, "format", 0, false);
	tp_format_parse(&ctf->arena, "", &text, &ev->fmt);
	ev->fmt.name = arena_strdup(&ctf->arena, name);
	for (int r = 0; r < CTF_PARTS; r++)
		ev->part[r] = -1;
	for (size_t r = 0; r < ARRAY_SIZE(ctf_roles); r++) {
		if (!ctf_role_matches(ctf_roles[r].name, ev->fmt.name))
			continue;
		ev->role = ctf_roles[r].role;
		for (int k = 0; k < CTF_PARTS; k++)
			ev->part[k] =
				tp_field_index(&ev->fmt, ctf_roles[r].part[k]);
		break;
	}
	ctf->def[i] = (struct event_def){
		.name = ev->fmt.name,
		.type = 2, /* PERF_TYPE_TRACEPOINT */
		.config = i,
		.has_cpu = true,
		.has_time = has_time,
		.defer = defer,
		.defer_output = defer,
		.sched = event_role_sched((enum event_role)ev->role),
		.format = ev->fmt.text,
		.fields = ev->fmt.def,
		.n_fields = (uint32_t)ev->fmt.n,
	};
	ctf->src.events = ctf->def;
	ctf->src.n_events = (uint32_t)ctf->n_event;
	table_add(&ctf->by_layout, h, i);
	return i;
}

static void ctf_plan_class(struct ctf *ctf, const struct ctf_schema *sm,
			   const struct ctf_stream_class *sc,
			   const struct ctf_event_class *ec,
			   struct ctf_class *cl)
{
	char *text, *print, *args;
	size_t len;
	struct plan p = {
		.ctf = ctf,
		.sm = sm,
		.event = ec->name && *ec->name ? ec->name : "unnamed",
		.text = mem_stream(&text, &len),
		.print = mem_stream(&print, NULL),
		.args = mem_stream(&args, NULL),
	};
	char line[256];

	if (!sm->joined || ctf->opts.request)
		p.request = ctf_rule_of(ctf, p.event, false);
	if (!sm->joined || ctf->opts.chain)
		p.chain = ctf_rule_of(ctf, p.event, true);
	snprintf(line, sizeof(line), "%s", p.event);
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
	fprintf(p.text, "name: %s\nID: 0\nformat:\n", line);
	/* Payload members keep their names; those of contexts get a prefix. */
	const struct ctf_node *root[PLAN_ROOTS] = {
		[PLAN_PACKET] = sc->packet,
		[PLAN_COMMON] = sc->common,
		[PLAN_SPECIFIC] = ec->specific,
		[PLAN_PAYLOAD] = ec->payload,
	};

	for (int i = 0; i < PLAN_ROOTS; i++) {
		p.first[i] = p.n_step;
		p.root = (enum plan_root)i;
		snprintf(p.prefix, sizeof(p.prefix), "%s",
			 i == PLAN_PAYLOAD  ? ""
			 : i == PLAN_PACKET ? "packet_"
					    : "ctx_");
		if (!root[i])
			continue;
		ctf_plan_step(&p, root[i])->enter = true;
		ctf_plan_struct(&p, root[i]);
	}
	p.first[PLAN_ROOTS] = p.n_step;
	mem_stream_end(p.print);
	mem_stream_end(p.args);
	fprintf(p.text, "\nprint fmt: \"%s\"%s", print, args);
	mem_stream_end(p.text);
	if (!ctf_plan_has(&p, CTF_COOKIE))
		p.request = p.chain = NULL;
	if (p.chain && !ctf_plan_has(&p, CTF_CHAIN) &&
	    !ctf_plan_has(&p, CTF_NAMES))
		p.chain = NULL;
	cl->chain = p.chain != NULL;
	if (p.chain)
		p.request = NULL;
	cl->made = true;
	cl->fixed = p.off;
	cl->event = ctf_event_add(ctf, p.event, text, len, p.request != NULL,
				  sc->clock >= 0);
	const struct ctf_event *ev = ctf_event_at(ctf, cl->event);

	/* with no_fields nothing reads the fields that decoding does not
	 * need */
	for (size_t k = 0; ctf->opts.no_fields && k < p.n_step; k++) {
		struct plan_step *step = &p.step[k];

		if (step->label && !ctf_plan_is_read(ev, (int)step->label - 1))
			step->want.label = CTF_NO_PLACE;
		if (step->field &&
		    !ctf_plan_is_read(ev, (int)step->field - 1) &&
		    step->want.label == CTF_NO_PLACE)
			step->want.how = CTF_DROP;
	}
	/* The thread and the CPU in the packet's context are read once for each
	 * packet; other members become fields of each of its events. */
	const struct plan_step *context = p.step + p.first[PLAN_PACKET];

	if (any_where(p.first[PLAN_COMMON] - p.first[PLAN_PACKET], i,
		      context[i].want.how != CTF_DROP ||
			      (context[i].want.use &&
			       context[i].want.use != CTF_CPU)))
		ctf_plan_compile(&p, PLAN_PACKET, PLAN_COMMON, &cl->packet);
	ctf_plan_compile(&p, PLAN_COMMON, PLAN_ROOTS, &cl->event_fields);
	/* the text is kept, and once more as fields with names */
	ctf->planned += 4 * len + (cl->packet.n + cl->event_fields.n) *
					  sizeof(struct ctf_op);
	free_all(text, print, args, p.step);
}

struct ctf_class *ctf_class_find(struct ctf *ctf, const struct ctf_schema *sm,
				 struct ctf_plan *plan, uint64_t id,
				 const char **why)
{
	const struct ctf_stream_class *sc = plan->sc;
	const struct ctf_event_class *ec = ctf_tree_event(sc, id);

	*why = "the metadata has no event of this id";
	if (!ec)
		return NULL;
	if (!plan->classes)
		plan->classes = mem_new(sc->n_event, sizeof(*plan->classes));
	struct ctf_class *cl = &plan->classes[ec - sc->event];

	*why = "a limit: the classes of events need more than 22 MiB";
	if (!cl->made &&
	    (ctf->planned > PLANNED_MAX || ctf->n_event == CTF_EVENTS_MAX))
		return NULL;
	if (!cl->made)
		ctf_plan_class(ctf, sm, sc, ec, cl);
	return cl;
}

void ctf_plan_make(struct ctf_plan *plan)
{
	const struct ctf_node *ctx = plan->sc->packet;
	const struct ctf_want cpu = { .use = CTF_CPU, .label = CTF_NO_PLACE };

	/* this program reads only the CPU of the packet's context */
	ctf_program_start(&plan->packet);
	if (ctx)
		ctf_program_align(&plan->packet, ctx->align);
	for (uint32_t i = 0; ctx && i < ctx->n_child; i++) {
		const struct ctf_node *m = &ctx->child[i];

		if (m->name && !strcmp(m->name, "cpu_id") &&
		    ctf_node_is_integer(m))
			ctf_program_add(&plan->packet, m, &cpu);
		else
			ctf_program_skip(&plan->packet, m);
	}
	ctf_program_end(&plan->packet);
	ctf_program_header(&plan->header, plan->sc->header);
}

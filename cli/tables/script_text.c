/* script_text.c - one sample as text, in the layout of perf script.
 *
 * Written for speed: what does not change from sample to sample (thread, event,
 * lines of a chain) is formatted once, and the rest without printf, which took
 * two thirds of the time. Lines go to stdout many at a time.
 *
 * One thread prints, as a second one gives little: most of 'script CAPTURE' is
 * to read the capture. Measured on two processors, for 'perf sched record',
 * stacks and a trace.dat: two threads that print the blocks of one reader in
 * turn save 5, 6 and 10 % of the time, and cost 10, 6 and 5 % on one processor.
 * Two printers that share nothing would save 12, 7 and 14 %. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio_ext.h>

#include "analyze/latency/files.h"
#include "analyze/latency/pair_kinds.h"
#include "analyze/samples/events.h"
#include "analyze/samples/filter.h"
#include "cli/output/output.h"
#include "stitch/text/json.h"
#include "analyze/samples/payloads.h"
#include "cli/output/out.h"
#include "stitch/text/safe_text.h"
#include "analyze/stacks/stacks.h"
#include "cli/tables/script.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/order/clocks.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "stitch/base/text_out.h"
#include "stitch/source.h"
#include "stitch/verdict.h"

/* Records of ftrace's own tracers, as the kernel prints them: calls of
 * function_graph with their durations, those without another call inside on one
 * line, and functions with their arguments. */

#define CALLS_TEXT 4096
/* Calls that are deeper are not indented more. */
#define CALLS_INDENT 128

enum calls_what {
	CALLS_NONE,
	CALLS_ENTRY,
	CALLS_EXIT,
	CALLS_FUNCTION,
};

/* What is read of a type of events; from func on, 1 + index of a field, or
 * 0. */
struct calls_type {
	uint8_t what; /* enum calls_what */
	bool big;     /* words are big-endian */
	bool returns; /* the first word is the return address, and no
		       * argument */
	size_t func, parent, depth, from, to, ret, args;
};

/* A call without others inside, which is printed on one line. */
struct calls_leaf {
	int64_t entry, exit; /* ids of events */
	int64_t ns, ret;
	bool has_ret;
};

struct script_calls {
	struct payloads *payloads;
	struct calls_type *type; /* by event_type.id */
	size_t n_type, cap_type;
	struct calls_leaf *leaf;
	size_t n, cap;
	struct table by_entry, by_exit;
	char text[CALLS_TEXT], clean[CALLS_TEXT * 4];
};

/* Fills type[]. Returns 1 if any type has a text, 0, or -1 and *err. */
static int calls_read_types(struct script_calls *c, struct store *db,
			    struct err *err)
{
	static const struct {
		const char *name;
		uint8_t what;
	} known[] = { { "ftrace:funcgraph_entry", CALLS_ENTRY },
		      { "ftrace:fgraph_retaddr_entry", CALLS_ENTRY },
		      { "ftrace:funcgraph_exit", CALLS_EXIT },
		      { "ftrace:function", CALLS_FUNCTION } };
	struct rows *r = rows_dense(db, "interval_types", err);
	bool any = false;

	*mem_add(c->type, c->n_type, c->cap_type) = (struct calls_type){ 0 };
	while (rows_step(r)) {
		struct calls_type t = { 0 };
		const char *rest;
		size_t len, n;
		const struct field_def *def =
			payloads_defs(c->payloads, (int64_t)c->n_type, &n);

		for (size_t i = 0; i < ARRAY_SIZE(known); i++)
			if (pair_name_is(known[i].name,
					 rows_text(r, INTERVAL_TYPES_NAME),
					 &rest, &len))
				t.what = known[i].what;
		t.big = !strcmp(rows_text(r, INTERVAL_TYPES_ARCH), "s390x");
		t.func = payload_field(def, n, "func_name")
				 ?: payload_field(def, n, "ip_name");
		t.parent = payload_field(def, n, "parent_ip_name");
		t.depth = payload_field(def, n, "depth");
		t.from = payload_field(def, n, "calltime");
		t.to = payload_field(def, n, "rettime");
		t.ret = payload_field(def, n, "retval");
		t.args = payload_field(def, n, "args");
		t.returns = strstr(rows_text(r, INTERVAL_TYPES_NAME),
				   "fgraph_retaddr") &&
			    !payload_field(def, n, "retaddr");
		/* a text capture has what the kernel printed */
		if (!t.func || payload_field(def, n, "took_ns") ||
		    (t.what == CALLS_FUNCTION ? !t.parent : !t.depth) ||
		    (t.what == CALLS_EXIT && (!t.from || !t.to)))
			t.what = CALLS_NONE;
		any |= t.what != CALLS_NONE;
		*mem_add(c->type, c->n_type, c->cap_type) = t;
	}
	return rows_end(r, err) ? -1 : any;
}

static const char *calls_function(const struct calls_type *t,
				  const struct field *f)
{
	const char *name = f[t->func - 1].text;

	return name ? name : "";
}

static int64_t calls_ns(const struct calls_type *t, const struct field *f)
{
	return (int64_t)((uint64_t)f[t->to - 1].num -
			 (uint64_t)f[t->from - 1].num);
}

/* Adds the call of an exit whose entry is the record before it on its CPU.
 * Returns 0, or -1 and *err. */
static int calls_take_exit(struct script_calls *c, const struct event_row *e,
			   int64_t entry, struct err *err)
{
	const struct calls_type *t = &c->type[e->type];
	const struct field *f;
	int rc = payloads_fields(c->payloads, e, &f, err);
	uint32_t id = (uint32_t)c->n;

	if (rc <= 0)
		return rc;
	table_add(&c->by_entry, hash_u64((uint64_t)entry), id);
	table_add(&c->by_exit, hash_u64((uint64_t)e->id), id);
	*mem_add(c->leaf, c->n, c->cap) = (struct calls_leaf){
		.entry = entry,
		.exit = e->id,
		.ns = calls_ns(t, f),
		.has_ret = t->ret && f[t->ret - 1].present,
		.ret = t->ret ? f[t->ret - 1].num : 0,
	};
	return 0;
}

/* Finds all calls without others inside. Returns 0, or -1 and *err. */
static int calls_find_leaves(struct script_calls *c, struct store *db,
			     struct err *err)
{
	enum {
		ID,
		CPU,
		TYPE,
		THREAD,
		PAYLOAD,
		COLUMN_COUNT
	};
	static const char *const column[COLUMN_COUNT] = { "id", "cpu", "type",
							  "thread", "payload" };
	struct payloads *ps = c->payloads;
	struct {
		int64_t entry, thread; /* of the last record; 0: no entry */
	} *last = NULL;
	size_t n = 0, cap = 0;
	struct rows *rows =
		rows_ints_of(db, "event", column, ARRAY_SIZE(column), err);
	struct int_row row;
	int rc = 0;

	c->payloads = payloads_open(db, err);
	while (!rc && c->payloads && rows_step_ints(rows, &row)) {
		const struct event_row e = { .id = row.v[ID],
					     .type = row.v[TYPE],
					     .payload = row.v[PAYLOAD] };
		int64_t cpu = row.v[CPU];

		if (cpu < 0 || cpu > UINT16_MAX || e.type < 1 ||
		    (uint64_t)e.type >= c->n_type)
			continue;
		mem_reach(last, n, cap, (size_t)cpu + 1);
		uint8_t what = c->type[e.type].what;
		if (what == CALLS_EXIT && last[cpu].entry &&
		    last[cpu].thread == row.v[THREAD])
			rc = calls_take_exit(c, &e, last[cpu].entry, err);
		last[cpu].entry = what == CALLS_ENTRY ? e.id : 0;
		last[cpu].thread = row.v[THREAD];
	}
	if (!c->payloads)
		rc = -1;
	payloads_close(c->payloads);
	c->payloads = ps;
	free(last);
	return rows_end(rows, err) ? -1 : rc;
}

static void script_calls_free(struct script_calls *c)
{
	if (!c)
		return;
	table_release(&c->by_entry);
	table_release(&c->by_exit);
	free_all(c->type, c->leaf, c);
}

/* Finds the calls whose exit follows their entry on a CPU. ps is borrowed.
 * Stores NULL if the database has no records of ftrace's tracers. Returns 0, or
 * -1 and *err. */
static int script_calls_load(struct store *db, struct payloads *ps,
			     struct script_calls **out, struct err *err)
{
	struct script_calls *c = mem_new(1, sizeof(*c));

	*out = NULL;
	c->payloads = ps;
	int any = calls_read_types(c, db, err);
	if (any > 0 && !calls_find_leaves(c, db, err)) {
		*out = c;
		return 0;
	}
	script_calls_free(c);
	return any ? -1 : 0;
}

/* Writes a duration as print_graph_duration() of the kernel does: a mark for
 * what took long, and seven digits. */
static void calls_put_duration(struct text_out *o, int64_t ns)
{
	static const struct {
		int64_t above;
		char mark;
	} marks[] = { { 1000000000, '$' }, { 100000000, '@' },
		      { 10000000, '*' },   { 1000000, '#' },
		      { 100000, '!' },	   { 10000, '+' } };
	char us[32];
	int len = snprintf(us, sizeof(us), "%" PRId64, ns / 1000);
	char mark = ' ';

	for (size_t i = ARRAY_SIZE(marks); i-- > 0;)
		if (ns > marks[i].above)
			mark = marks[i].mark;
	if (ns < 0) {
		text_out_add(o, "%14s|", "");
		return;
	}
	if (len < 7) {
		int digits = 7 - len < 3 ? 7 - len : 3;
		char part[8];

		snprintf(part, sizeof(part), "%03d", (int)(ns % 1000));
		len += snprintf(us + len, sizeof(us) - (size_t)len, ".%.*s",
				digits, part);
	}
	text_out_add(o, "%c %s us %*s|", mark, us, len < 8 ? 8 - len : 0, "");
}

/* Writes the arguments: the words of a dynamic array at the end of an entry. */
static void calls_put_args(struct text_out *o, const struct calls_type *t,
			   const struct field *f)
{
	const unsigned char *arg = t->args ? f[t->args - 1].blob : NULL;
	uint32_t len = arg ? f[t->args - 1].len : 0;

	const uint32_t first = t->returns && len >= 8 ? 8 : 0;

	text_out_add(o, "(");
	for (uint32_t i = first; len - i >= 8; i += 8) {
		uint64_t word = 0;

		for (uint32_t k = 0; k < 8; k++)
			word = word << 8 | arg[i + (t->big ? k : 7 - k)];
		text_out_add(o, "%s%#" PRIx64, i > first ? ", " : "", word);
	}
	text_out_add(o, ")");
}

/* Stores the text of a record, valid until the next call. Returns 1; 0: the
 * record is not of ftrace's tracers, or is a text already; 2: the line of the
 * call's entry has all of it; -1 and *err. */
static int script_calls_text(struct script_calls *c, const struct event_row *e,
			     const char **text, size_t *len, struct err *err)
{
	struct text_out o = { .buf = c->text, .size = sizeof(c->text) };
	const struct field *f;

	if (e->type < 1 || (uint64_t)e->type >= c->n_type)
		return 0;
	const struct calls_type *t = &c->type[e->type];
	if (t->what == CALLS_NONE)
		return 0;
	if (t->what == CALLS_EXIT &&
	    table_find_hash(&c->by_exit, hash_u64((uint64_t)e->id)) !=
		    TABLE_NONE)
		return 2;
	int rc = payloads_fields(c->payloads, e, &f, err);
	if (rc <= 0)
		return rc;
	c->text[0] = '\0';
	uint32_t id = table_find_hash(&c->by_entry, hash_u64((uint64_t)e->id));
	if (t->what != CALLS_FUNCTION) {
		const bool ends = t->what == CALLS_EXIT;
		const struct calls_leaf *leaf =
			id == TABLE_NONE ? NULL : &c->leaf[id];
		const uint64_t depth = (uint64_t)f[t->depth - 1].num;
		const bool has_ret = ends ? t->ret && f[t->ret - 1].present
					  : leaf && leaf->has_ret;

		calls_put_duration(&o, ends   ? calls_ns(t, f)
				       : leaf ? leaf->ns
					      : -1);
		/* an end as with the option funcgraph-tail */
		text_out_add(
			&o, "  %*s%s%s",
			(int)(depth < CALLS_INDENT ? depth : CALLS_INDENT) * 2,
			"", ends ? "} /* " : "", calls_function(t, f));
		if (!ends) {
			calls_put_args(&o, t, f);
			text_out_add(&o, leaf ? ";" : " {");
		}
		if (has_ret) {
			int64_t ret = ends ? f[t->ret - 1].num : leaf->ret;
			/* an error, as IS_ERR_VALUE() has it */
			bool bad = ret < 0 && ret >= -4095;

			text_out_add(&o, "%s", ends ? " " : " /* ");
			text_out_add(&o, bad ? "ret=%" PRId64 : "ret=%#" PRIx64,
				     ret);
		}
		if (ends || has_ret)
			text_out_add(&o, " */");
	} else {
		const char *parent = f[t->parent - 1].text;

		text_out_add(&o, "%s", calls_function(t, f));
		if (t->args && f[t->args - 1].len)
			calls_put_args(&o, t, f);
		text_out_add(&o, " <-- %s", parent ? parent : "");
	}
	*len = strlen(c->text);
	*text = c->text;
	if (safe_text_plain(c->text, *len) < *len) {
		*len = safe_text_clean_buf(c->clean, sizeof(c->clean), c->text,
					   *len, NULL);
		*text = c->clean;
	}
	return 1;
}

#define COMM_MAX 256
/* The longest head, event and numbers. */
#define LINE_MAX_LEN (COMM_MAX * 16 + 256)
/* Bytes that are handed to stdout together. */
#define LINES ((size_t)64 << 10)

struct script_part {
	const char *text; /* NULL: not made yet */
	size_t len;
};

struct script_thread {
	const char *name; /* safe to show */
	int64_t pid, tid;
	struct script_part head[2]; /* "comm pid/tid "; [1]: with a callchain */
};

/* Names of script_fields.extra[]. */
static const char *const script_extra_name[SCRIPT_EXTRAS] = {
	"addr", "phys_addr", "weight", "data_page_size"
};

struct script_extra {
	int64_t event, value;
	uint8_t of; /* index in script_extra_name[] */
};
COMPARE_BY(script_compare_extras, struct script_extra, event, of);

struct script_type {
	const char *name;
	struct script_part text; /* right-aligned, with ": " */
	bool sample, has_chain, begins_call;
};

struct script {
	struct script_fields f;
	struct chains *chains;
	struct payloads *payloads;  /* NULL if not needed */
	struct script_calls *calls; /* NULL: there are none */
	struct files *files;	    /* descriptors of calls; NULL: not shown, as
				     * perf has no such text */
	struct arena arena;
	struct script_thread *who;
	size_t n_who, cap_who;
	struct script_type *type;
	size_t n_type, cap_type;
	struct script_extra *extra; /* those to print, by event */
	size_t n_extra, cap_extra;
	struct script_thread nobody;
	/* of the last time: its second, and the text before its microseconds */
	uint64_t second;
	size_t n_before; /* 0: there was none */
	char before[32];
	size_t most; /* bytes of lines to keep; 0 on a terminal */
	size_t n;    /* bytes of lines that are not printed yet */
	char lines[LINES + LINE_MAX_LEN];
};

/* Returns the flag of a field; NULL: there is no such field. */
static bool *field_flag(struct script_fields *f, const char *name)
{
	const struct {
		const char *name;
		bool *flag;
	} table[] = {
		{ "comm", &f->comm },
		{ "pid", &f->pid },
		{ "tid", &f->tid },
		{ "cpu", &f->cpu },
		{ "time", &f->time },
		{ "period", &f->period },
		{ "event", &f->event },
		{ "trace", &f->trace },
		{ "ip", &f->frame.ip },
		{ "sym", &f->frame.sym },
		{ "symoff", &f->frame.symoff },
		{ "dso", &f->frame.dso },
		{ "dsoff", &f->frame.dsoff },
		{ "srcline", &f->frame.srcline },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(table[i].name, name))
			return table[i].flag;
	for (size_t i = 0; i < SCRIPT_EXTRAS; i++)
		if (!strcmp(script_extra_name[i], name))
			return &f->extra[i];
	return NULL;
}

int script_parse(const char *list, bool marks, struct script_fields *f,
		 struct err *err)
{
	struct chain_style *s = &f->frame;
	char name[16];

	memset(f, 0, sizeof(*f));
	f->verdict = !list;
	f->frame.marks = !list && marks;
	f->frame.ends = !list;
	f->frame.tab = true;
	if (!list)
		list = "comm,tid,cpu,time,period,event,trace,ip,sym,symoff,"
		       "dso";
	while (*list) {
		size_t n = strcspn(list, ",");
		bool *flag = NULL;

		if (n < sizeof(name)) {
			memcpy(name, list, n);
			name[n] = 0;
			flag = field_flag(f, name);
		}
		if (!flag)
			return err_set(err, ERR_USAGE,
				       "no field '%.*s'; there is comm, pid, "
				       "tid, cpu, time, period, event, addr, "
				       "phys_addr, weight, data_page_size, "
				       "trace, ip, sym, symoff, dso, dsoff, "
				       "srcline",
				       (int)n, list);
		*flag = true;
		list += n + (list[n] == ',');
	}
	if ((s->sym || s->dso || s->dsoff || s->srcline) && !s->ip)
		return err_set(err, ERR_USAGE,
			       "sym, dso, dsoff and srcline need ip, as in "
			       "perf script");
	if (s->symoff && !s->sym)
		return err_set(err, ERR_USAGE, "symoff needs sym");
	if (s->dsoff)
		s->dso = true;
	return 0;
}

static struct script_part script_keep_part(struct script *s, const char *text)
{
	return (struct script_part){ arena_strdup(&s->arena, text),
				     strlen(text) };
}

/* Returns a copy of a name, for text short and safe to show. */
static const char *script_keep_name(struct script *s, struct value v)
{
	char name[COMM_MAX * 4 + 1];
	const char *text = v.len ? v.text : "";

	if (s->f.frame.json && json_can(text, v.len))
		return arena_strdup(&s->arena, text);
	safe_text_clean_buf(name, sizeof(name), text,
			    v.len < COMM_MAX ? v.len : COMM_MAX, NULL);
	return arena_strdup(&s->arena, name);
}

/* Reads the extra values that are to be printed. Returns 0, or -1 and *err. */
static int script_read_extras(struct script *s, struct store *db,
			      struct err *err)
{
	struct rows *r = rows_of(db, "print_extras", err);

	while (rows_step(r))
		for (uint8_t i = 0; i < SCRIPT_EXTRAS; i++)
			if (s->f.extra[i] &&
			    !strcmp(rows_text(r, PRINT_EXTRAS_NAME),
				    script_extra_name[i]))
				*mem_add(s->extra, s->n_extra,
					 s->cap_extra) = (struct script_extra){
					rows_int(r, PRINT_EXTRAS_EVENT),
					rows_int(r, PRINT_EXTRAS_VALUE), i
				};
	sort_items(s->extra, s->n_extra, script_compare_extras);
	return rows_end(r, err);
}

struct script *script_new(struct store *db, const struct script_fields *f,
			  struct err *err)
{
	struct script *s = mem_new(1, sizeof(*s));

	s->f = *f;
	s->nobody = (struct script_thread){ .name = "", .pid = -1, .tid = -1 };
	s->most = __flbf(stdout) ? 0 : LINES;
	struct rows *r = rows_dense(db, "event_types", err);

	while (rows_step(r))
		*mem_add(s->type, s->n_type,
			 s->cap_type) = (struct script_type){
			.name = script_keep_name(
				s, rows_value(r, EVENT_TYPES_NAME)),
			.sample = rows_int(r, EVENT_TYPES_IS_SAMPLE),
			.has_chain = rows_int(r, EVENT_TYPES_HAS_CHAIN),
			.begins_call = strstr(rows_text(r, EVENT_TYPES_NAME),
					      "sys_enter") ||
				       strstr(rows_text(r, EVENT_TYPES_NAME),
					      "syscall_entry"),
		};
	if (rows_end(r, err))
		goto fail;
	r = rows_dense(db, "event_comms", err);

	while (rows_step(r))
		*mem_add(s->who, s->n_who, s->cap_who) = (struct script_thread){
			.name = script_keep_name(
				s, rows_value(r, EVENT_COMMS_NAME)),
			.pid = rows_int(r, EVENT_COMMS_PID),
			.tid = rows_int(r, EVENT_COMMS_TID),
		};
	if (rows_end(r, err))
		goto fail;
	if (memchr(f->extra, true, sizeof(f->extra)) &&
	    script_read_extras(s, db, err))
		goto fail;
	/* Aligns the names of events to the longest, as perf does. */
	char buf[COMM_MAX * 8 + 8];
	size_t width = 0;

	for (size_t i = 0; i < s->n_type; i++)
		if (s->type[i].sample && strlen(s->type[i].name) > width)
			width = strlen(s->type[i].name);
	for (size_t i = 0; i < s->n_type; i++) {
		snprintf(buf, sizeof(buf), "%*s: ", (int)width,
			 s->type[i].name);
		s->type[i].text = script_keep_part(s, buf);
	}
	s->chains = chains_load(db, &f->frame, err);
	if (s->chains && f->trace)
		s->payloads = payloads_open(db, err);
	if (s->payloads && !f->frame.json &&
	    script_calls_load(db, s->payloads, &s->calls, err))
		goto fail;
	if (f->verdict && f->trace && !f->frame.json &&
	    !(s->files = files_load(db, NULL, err)))
		goto fail;
	if (s->chains && (s->payloads || !f->trace))
		return s;
fail:
	script_free(s);
	return NULL;
}

void script_free(struct script *s)
{
	if (!s)
		return;
	chains_free(s->chains);
	script_calls_free(s->calls);
	files_free(s->files);
	payloads_close(s->payloads);
	arena_release(&s->arena);
	free_all(s->who, s->type, s->extra, s);
}

bool script_is_sample(const struct script *s, int64_t type)
{
	return type >= 1 && (uint64_t)type <= s->n_type &&
	       s->type[type - 1].sample;
}

static struct script_thread *find_who(struct script *s, int64_t comm)
{
	return comm < 1 || (uint64_t)comm > s->n_who ? &s->nobody
						     : &s->who[comm - 1];
}

#define NS 1000000000u /* of a second */
#define DIGITS 20      /* of the largest number */

static const char two[] = "00010203040506070809"
			  "10111213141516171819"
			  "20212223242526272829"
			  "30313233343536373839"
			  "40414243444546474849"
			  "50515253545556575859"
			  "60616263646566676869"
			  "70717273747576777879"
			  "80818283848586878889"
			  "90919293949596979899";

/* Writes v in decimal at p, padded to `width` with `pad` on the left. Returns
 * the end; DIGITS bytes are written. Two digits at a time: half of a line's
 * instructions were here. */
static char *put_decimal(char *p, uint64_t v, int width, char pad)
{
	int n = 1;

	for (uint64_t ten = 10; v >= ten && n < DIGITS; ten *= 10)
		n++;
	memset(p, pad, DIGITS);
	char *end = p + (n > width ? n : width);
	char *to = end;

	for (; v >= 100; v /= 100)
		memcpy(to -= 2, two + v % 100 * 2, 2);
	if (v >= 10)
		memcpy(to - 2, two + v * 2, 2);
	else
		to[-1] = (char)('0' + v);
	return end;
}

/* Writes the microseconds of a time. Returns the end. */
static char *put_micros(char *p, uint64_t time)
{
	const uint32_t us = (uint32_t)(time % NS) / 1000;

	memcpy(p, two + us / 10000 * 2, 2);
	memcpy(p + 2, two + us / 100 % 100 * 2, 2);
	memcpy(p + 4, two + us % 100 * 2, 2);
	return p + 6;
}

void script_flush(struct script *s)
{
	if (s->n)
		out_text(s->lines, s->n);
	s->n = 0;
}

/* Adds text to the lines, which are printed first if it does not fit. */
static inline void script_put(struct script *s, const char *text, size_t len)
{
	if (len > sizeof(s->lines) - s->n) {
		script_flush(s);
		out_text(text, len);
		return;
	}
	memcpy(s->lines + s->n, text, len);
	s->n += len;
}

static int script_put_chain(struct script *s, int64_t id, struct err *err)
{
	size_t n;
	const char *text = chains_text(s->chains, id, &n, err);

	if (!text)
		return -1;
	script_put(s, text, n);
	return 0;
}

/* Prints the sampled address of an event without callchains: the line of the
 * innermost frame without its tab, and that of its source, if any, which begins
 * with a blank. */
static int script_put_address(struct script *s, const struct event_row *e,
			      struct err *err)
{
	size_t n;
	const char *text =
		chains_text(s->chains, e->kraw ? e->kraw : e->uraw, &n, err);

	if (!text)
		return -1;
	const char *end = memchr(text, '\n', n);
	if (end && end + 1 < text + n && end[1] == ' ')
		end = memchr(end + 1, '\n', (size_t)(text + n - end) - 1);
	script_put(s, " ", 1);
	if (end)
		script_put(s, text + 1, (size_t)(end - text) - 1);
	script_put(s, "\n", 1);
	return 0;
}

static char *script_put_part(char *p, struct script_part part)
{
	memcpy(p, part.text, part.len);
	return p + part.len;
}

/* Formats a time as script does, "12.345678" or UTC. Returns its length. */
#define SCRIPT_TIME_SIZE 64
static size_t script_time(const struct script_fields *f, int64_t time,
			  char buf[SCRIPT_TIME_SIZE])
{
	uint64_t t = (uint64_t)time;
	char *p = buf;
	int64_t utc;
	size_t n = 0;

	if (f->wall && !__builtin_add_overflow(time, *f->wall, &utc))
		n = clock_utc(utc, buf);
	if (n)
		return n;
	p = put_decimal(p, t / NS, 5, ' ');
	*p++ = '.';
	return (size_t)(put_micros(p, t) - buf);
}

/* script_time() for times most of which are in the same second. */
static char *script_put_time(struct script *s, int64_t time, char *p)
{
	const uint64_t second = (uint64_t)time / NS;

	if (s->f.wall)
		return p + script_time(&s->f, time, p);
	if (second != s->second || !s->n_before) {
		size_t n = script_time(&s->f, time, p);

		s->second = second;
		s->n_before = n - 6;
		memcpy(s->before, p, s->n_before);
		return p + n;
	}
	memcpy(p, s->before, sizeof(s->before));
	return put_micros(p + s->n_before, (uint64_t)time);
}

#define SCRIPT_EXTRA_SIZE 24

/* Writes an extra value as perf does, or "-" for none. Returns the end. */
static char *script_put_extra(const struct script *s, const struct event_row *e,
			      uint8_t of, char *p)
{
	const struct script_extra key = { .event = e->id, .of = of };
	size_t i = search_where(s->n_extra, k,
				script_compare_extras(&s->extra[k], &key) >= 0);
	uint64_t v = i < s->n_extra ? (uint64_t)s->extra[i].value : 0;
	int unit = 0;

	if (i == s->n_extra || script_compare_extras(&s->extra[i], &key) ||
	    (of == 3 && !v))
		return p + snprintf(p, SCRIPT_EXTRA_SIZE, "%16s ", "-");
	if (of < 2)
		return p + snprintf(p, SCRIPT_EXTRA_SIZE, "%16" PRIx64 " ", v);
	for (; of == 3 && v >= 1024 && v % 1024 == 0 && unit < 3; v /= 1024)
		unit++;
	return p + snprintf(p, SCRIPT_EXTRA_SIZE,
			    unit ? "%15" PRIu64 "%c " : "%16" PRIu64 " ", v,
			    "BKMG"[unit]);
}

/* Prints the line of an event, without its stacks. trace: its text; if empty,
 * that of its payload is printed. */
static int script_put_line(struct script *s, const struct event_row *e,
			   struct script_part trace, struct err *err)
{
	const struct script_type *t = &s->type[e->type - 1];
	struct script_thread *w = find_who(s, e->comm);
	struct files_call c;
	char *p = s->lines + s->n;

	if (!w->head[t->has_chain].text) {
		bool chain = t->has_chain;
		char buf[COMM_MAX * 4 + 64];
		int n = 0;

		if (s->f.comm)
			n = snprintf(buf, sizeof(buf), chain ? "%s " : "%16s ",
				     w->name);
		if (s->f.pid && s->f.tid)
			n += snprintf(buf + n, sizeof(buf) - (size_t)n,
				      "%7" PRId64 "/%-7" PRId64 " ", w->pid,
				      w->tid);
		else if (s->f.pid || s->f.tid)
			n += snprintf(buf + n, sizeof(buf) - (size_t)n,
				      "%7" PRId64 " ",
				      s->f.pid ? w->pid : w->tid);
		buf[n] = 0;
		w->head[t->has_chain] = script_keep_part(s, buf);
	}
	p = script_put_part(p, w->head[t->has_chain]);
	if (s->f.cpu && e->on_cpu) {
		*p++ = '[';
		p = put_decimal(p, (uint64_t)e->cpu, 3, '0');
		*p++ = ']';
		*p++ = ' ';
	}
	if (s->f.time && e->timed) {
		p = script_put_time(s, e->time, p);
		*p++ = ':';
		*p++ = ' ';
	}
	if (s->f.period) {
		p = put_decimal(p, (uint64_t)e->weight, 10, ' ');
		*p++ = ' ';
	}
	if (s->f.event)
		p = script_put_part(p, t->text);
	for (uint8_t i = 0; i < SCRIPT_EXTRAS; i++)
		if (s->f.extra[i])
			p = script_put_extra(s, e, i, p);
	if (s->f.trace && !trace.len)
		trace.text = payloads_text(s->payloads, e, &trace.len, err);
	if (!trace.text)
		return -1;
	s->n = (size_t)(p - s->lines);
	script_put(s, trace.text, trace.len);
	if (s->files && e->timed && t->begins_call &&
	    files_call(s->files, w->tid, e->time, e->time, &c) && c.name) {
		char *file OWNED = NULL;
		FILE *out = mem_stream(&file, NULL);

		fprintf(out, "%s(descriptor %" PRId64 ": ",
			trace.len && trace.text[trace.len - 1] == ' ' ? ""
								      : " ",
			c.fd);
		safe_text_say(out, "", c.name, ")");
		mem_stream_end(out);
		script_put(s, file, strlen(file));
	}
	if (t->has_chain || !s->f.frame.ip)
		script_put(s, "\n", 1);
	return 0;
}

/* Prints the stacks of an event with callchains. */
static int script_put_stacks(struct script *s, const struct event_row *e,
			     struct err *err)
{
	if (script_put_chain(s, e->kraw, err))
		return -1;
	if (s->f.verdict) {
		/* Prints why the user stack is missing, or "after exec". */
		const char *word =
			e->flags & VERDICT_EXEC
				? "after exec"
				: stacks_missing(e->verdict, e->uraw);
		if (word) {
			script_put(s, "\t[user: ", 8);
			script_put(s, word, strlen(word));
			script_put(s, "]\n", 2);
		}
	}
	if (script_put_chain(s, e->uraw, err))
		return -1;
	script_put(s, "\n", 1);
	return 0;
}

int script_text(struct script *s, const struct event_row *e, struct err *err)
{
	struct script_part trace = { "", 0 };
	int ret = s->calls ? script_calls_text(s->calls, e, &trace.text,
					       &trace.len, err)
			   : 0;

	if (ret == 2 || ret < 0)
		return ret < 0 ? -1 : 0;
	ret = script_put_line(s, e, trace, err);
	if (!ret && s->f.frame.ip)
		ret = s->type[e->type - 1].has_chain
			      ? script_put_stacks(s, e, err)
			      : script_put_address(s, e, err);
	if (s->n >= s->most)
		script_flush(s);
	return ret;
}

/* All that can fail is done before it writes, so that no line is incomplete. */
int script_json(struct script *s, const struct event_row *e, struct err *err)
{
	const struct script_thread *w = find_who(s, e->comm);
	size_t n;
	const char *trace = payloads_text(s->payloads, e, &n, err);
	struct json j;

	if (!trace || chains_check(s->chains, e->kraw, err) ||
	    chains_check(s->chains, e->uraw, err))
		return -1;
	json_answer(&j, stdout, JSON_COMPACT);
	json_int(&j, "event_id", e->id);
	if (e->timed)
		json_int(&j, "time_ns", e->time);
	if (e->timed && s->f.wall) {
		char text[SCRIPT_TIME_SIZE];

		json_text_len(&j, "wall", text,
			      script_time(&s->f, e->time, text));
	}
	if (e->on_cpu)
		json_int(&j, "cpu", e->cpu);
	json_text(&j, "comm", w->name);
	json_int(&j, "pid", w->pid);
	json_int(&j, "tid", w->tid);
	json_text(&j, "event", s->type[e->type - 1].name);
	json_int(&j, "weight", e->weight);
	if (n)
		json_text(&j, "trace", trace);
	chains_json(s->chains, e->kraw, &j, "kernel");
	chains_json(s->chains, e->uraw, &j, "user");
	if (e->verdict)
		json_text(&j, "verdict", stacks_verdict(e->verdict));
	if (e->flags & VERDICT_EXEC)
		json_bool(&j, "exec_between", true);
	json_finish(&j);
	return 0;
}

/* Prints one time of "[lost 12 records on CPU 3 from 1.000000 to 1.200000]". */
static void script_loss_moment(const struct script_fields *f, const char *word,
			       struct value time)
{
	char text[SCRIPT_TIME_SIZE];
	size_t skip = 0;

	if (time.kind != VALUE_INT)
		return;
	size_t n = script_time(f, time.num, text);

	while (skip < n && text[skip] == ' ')
		skip++;
	printf(" %s %.*s", word, (int)(n - skip), text + skip);
}

static void script_loss_text(const struct script_fields *f, struct rows *r)
{
	struct value n = rows_value(r, PRINT_LOSSES_N);

	if (n.kind == VALUE_INT)
		printf("[lost %" PRId64 " record%s", n.num,
		       n.num == 1 ? "" : "s");
	else
		fputs("[lost an unknown number of records", stdout);
	if (rows_value(r, PRINT_LOSSES_CPU).kind == VALUE_INT)
		printf(" on CPU %" PRId64, rows_int(r, PRINT_LOSSES_CPU));
	script_loss_moment(f, "from", rows_value(r, PRINT_LOSSES_T0));
	script_loss_moment(f, "to", rows_value(r, PRINT_LOSSES_T1));
	if (strcmp(rows_text(r, PRINT_LOSSES_WHAT), "lost")) {
		safe_text_say(stdout, ": ", rows_text(r, PRINT_LOSSES_WHAT),
			      "");
	}
	fputs("]\n\n", stdout);
}

static int script_losses_next(struct script_losses *l, struct err *err)
{
	int ret;

	while ((ret = rows_next(l->rows, err)) > 0) {
		struct value cpu = rows_value(l->rows, PRINT_LOSSES_CPU);

		if (cpu.kind != VALUE_INT ||
		    filter_takes_cpu(l->filter, (int32_t)cpu.num))
			break;
	}
	l->more = ret > 0;
	return ret < 0 ? -1 : 0;
}

int script_losses_open(struct script_losses *l, struct store *db,
		       struct err *err)
{
	int64_t from, to;

	if (filter_window(l->filter, db, &from, &to, err))
		return -1;
	l->rows = ROWS_BY(db, "print_losses", err, from, to);
	return l->rows ? script_losses_next(l, err) : -1;
}

int script_losses_until(struct script_losses *l, struct script *s, int64_t time,
			struct err *err)
{
	while (l->more) {
		struct value end = rows_value(l->rows, PRINT_LOSSES_T1);

		if (time != INT64_MAX &&
		    (end.kind != VALUE_INT || end.num > time))
			return 0;
		script_flush(s);
		if (l->f->frame.json) {
			static const char *const name[] = { "lost", "cpu",
							    "from_ns", "to_ns",
							    "records" };
			struct json j;

			json_answer(&j, stdout, JSON_COMPACT);
			for (size_t i = 0; i < 5; i++) {
				struct value v = rows_value(l->rows, i);

				if (v.kind != VALUE_NULL)
					json_value(&j, name[i], &v);
			}
			json_finish(&j);
		} else
			script_loss_text(l->f, l->rows);
		if (script_losses_next(l, err))
			return -1;
	}
	return 0;
}

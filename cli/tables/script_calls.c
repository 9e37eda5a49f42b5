/* script_calls.c - records of ftrace's own tracers as the kernel prints them
 * (kernel/trace/trace_functions_graph.c). */
#include "cli/tables/script_calls.h"

#include <inttypes.h>

#include "analyze/latency/pair_kinds.h"
#include "analyze/samples/events.h"
#include "analyze/samples/payloads.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/base/text_out.h"
#include "stitch/source.h"
#include "stitch/text/safe_text.h"

#define CALLS_TEXT 4096
/* Deeper ones are not indented more. */
#define CALLS_INDENT 128

enum calls_what {
	CALLS_NONE,
	CALLS_ENTRY,
	CALLS_EXIT,
	CALLS_FUNCTION,
};

/* Which fields of a type are read, + 1; 0: it has none. */
struct calls_type {
	uint8_t what; /* enum calls_what */
	bool big;     /* words have the first byte on top */
	bool returns; /* the first word is no argument, but where it returns */
	size_t func, parent, depth, from, to, ret, args;
};

/* A call on one line. */
struct calls_leaf {
	int64_t entry, exit; /* events */
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
		/* a text has what the kernel printed */
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

/* Adds a leaf if an exit is that of the entry before it on its CPU. */
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
		int64_t entry, thread; /* the last record; 0: no entry */
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

int script_calls_load(struct store *db, struct payloads *ps,
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

void script_calls_free(struct script_calls *c)
{
	if (!c)
		return;
	table_release(&c->by_entry);
	table_release(&c->by_exit);
	free_all(c->type, c->leaf, c);
}

/* print_graph_duration(): a mark for what took long, and seven digits. */
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

/* The words of a dynamic array at the end of an entry. */
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

int script_calls_text(struct script_calls *c, const struct event_row *e,
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

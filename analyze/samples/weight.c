/* weight.c - what a sample weighs, and which samples count.
 *
 * For an expression, as for 'query', the database is open for reading only. The
 * expression fills a gap of a statement, "({expression}) AS weight", and
 * check_expr() sees to it that it cannot leave these brackets. */
#include "analyze/samples/weight.h"

#include <inttypes.h>
#include <strings.h>

#include "analyze/samples/filter.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

static const char *const base[] = { "event_id", "time_ns",    "cpu",   "pid",
				    "tid",	"comm",	      "event", "weight",
				    "verdict",	"latency_ns", "cgroup" };
#define N_BASE ARRAY_SIZE(base)

const char weight_cgroup[] = "cgroup";

/* An event type with an ev_ table. */
struct table {
	int64_t type;
	char *event, *name;
	char *columns; /* SQL text, each after a comma */
	char *names;   /* for messages */
};

struct weight {
	struct store *db;
	const struct weight_by *by;
	char *key;   /* the field as an expression */
	char *given; /* the options, for messages */
	struct table *table;
	size_t n, cap;
};

/* Checks that the text is one expression that does not close the brackets
 * around it: outside of quotes no bracket is closed that the text did not open,
 * all that were opened are closed, and nothing begins a comment, which would
 * hide the bracket after the text. A doubled quote is treated as two quoted
 * texts, with the same result. */
static int check_expr(const char *opt, const char *expr, struct err *err)
{
	const char *why = NULL;
	int depth = 0;

	for (const char *p = expr; *p && !why; p++) {
		if (strchr("'\"`[", *p)) {
			p = strchr(p + 1, *p == '[' ? ']' : *p);
			if (!p)
				return err_set(err, ERR_USAGE,
					       "--%s '%s': a quote does "
					       "not end",
					       opt, expr);
			continue;
		}
		depth += *p == '(';
		depth -= *p == ')';
		if (depth < 0 || *p == ';')
			why = "one expression is needed";
		else if (!strncmp(p, "--", 2) || !strncmp(p, "/*", 2))
			why = "there must be no comment in it";
		else if (strchr("?:@$", *p))
			why = "there are no parameters";
	}
	if (!why && depth)
		why = "a bracket does not end";
	if (!why && !expr[strspn(expr, " \t\n")])
		why = "it is empty";
	return why ? err_set(err, ERR_USAGE, "--%s '%s': %s", opt, expr, why)
		   : 0;
}

const char *weight_take_field(struct filter *filter, const char *key,
			      size_t len, struct arena *text, struct err *err)
{
	char *event = arena_take(text, len + 1);

	memcpy(event, key, len);
	event[len] = 0;
	char *field = strrchr(event, '.');
	if (!field || field == event || !field[1] || strpbrk(field, "[]")) {
		err_set(err, ERR_USAGE,
			"--sort needs EVENT.FIELD, such as "
			"kmem:kmalloc.gfp_flags, not '%s'",
			event);
		return NULL;
	}
	*field++ = 0;
	if (!filter_takes_event(filter, event)) {
		err_set(err, ERR_USAGE,
			"--sort has a row for each value of a field of '%s', "
			"and --event leaves that out",
			event);
		return NULL;
	}
	filter->event = event;
	return field;
}

/* Stores the columns of a table. Those named like a column that each sample has
 * get "field_" in front. */
static int load_columns(struct store *db, struct table *t, struct err *err)
{
	struct value name = { .kind = VALUE_TEXT,
			      .text = t->name,
			      .len = strlen(t->name) };
	struct rows *r =
		rows_open(db, store_sql("weight_columns"), &name, 1, err);
	FILE *sql = mem_stream(&t->columns, NULL);
	FILE *names = mem_stream(&t->names, NULL);
	const char *sep = "";

	while (rows_step(r)) {
		const char *col = rows_text(r, WEIGHT_COLUMNS_NAME);
		const char *prefix = "";

		/* the database may be from elsewhere: the store makes no such
		 * name */
		if (strchr(col, '"'))
			continue;
		for (size_t i = 0; i < N_BASE; i++)
			if (!strcmp(base[i], col))
				prefix = "field_";
		fprintf(sql, ", f.\"%s\" AS \"%s%s\"", col, prefix, col);
		fprintf(names, "%s%s%s", sep, prefix, col);
		sep = ", ";
	}
	mem_stream_end(sql);
	mem_stream_end(names);
	return rows_end(r, err);
}

/* Opens the rows that the filters select; none: no rows. t NULL: without
 * fields. */
static struct rows *weight_open_rows(const struct weight *w,
				     const struct table *t, bool none,
				     struct err *err)
{
	const struct filter *filter = w->by->filter;
	char number[24];
	const struct sql_gap name = { "name", t ? t->name : "" };
	const struct sql_gap type = { "type", number };
	/* this reads all cgroups once: only if an option may name them */
	bool cgroup = strcasestr(w->key, weight_cgroup) ||
		      strcasestr(w->given, weight_cgroup);

	snprintf(number, sizeof(number), "%" PRId64, t ? t->type : 0);
	char *ev_table = store_sql_fill("weight_ev_table", &name, 1);
	char *of_type = store_sql_fill("weight_of_type", &type, 1);

	const struct sql_gap gap[] = {
		{ "expression",
		  w->by->weight ? w->by->weight : "coalesce(weight, 1)" },
		{ "key", w->key },
		{ "condition", filter->expr ? filter->expr : "1" },
		{ "fields", t ? t->columns : "" },
		{ "ev_table", t ? ev_table : "" },
		{ "event_cgroup",
		  cgroup ? store_sql("event_cgroup")
			 : "SELECT NULL AS event_id, NULL AS cgroup" },
		{ "of_type", none ? "0"
			     : t  ? of_type
				  : "1" },
	};

	struct rows *r = filter_rows(filter, w->db, "weight_rows", gap,
				     ARRAY_SIZE(gap), err);
	free_all(of_type, ev_table);
	return r;
}

/* Returns 1 if the expressions are valid for rows with the fields of t, 0 if
 * they use other names, or -1 and *err. */
static int try_row(const struct weight *w, const struct table *t,
		   struct err *err)
{
	struct rows *r = weight_open_rows(w, t, true, err);
	bool any = rows_step(r);

	if (!r)
		return strstr(err->msg, "no such column") ? 0 : -1;
	if (rows_end(r, err))
		return -1;
	if (any)
		return err_set(err, ERR_USAGE,
			       "%s: it is asked for each sample; "
			       "sum(), count() and the like have no place",
			       w->given);
	return 1;
}

/* Makes the error of SQLite one about the option. Returns -1. */
static int not_good(const struct weight *w, const struct err *why,
		    struct err *err)
{
	if (why->code == ERR_USAGE) {
		*err = *why;
		return -1;
	}
	return err_set(err, ERR_USAGE, "%s: %s", w->given, why->msg);
}

/* Finds the event whose fields the expressions use; *t is NULL if they use
 * none. Returns 0, or -1 and *err. */
static int weight_find_row(struct weight *w, struct table **t, struct err *err)
{
	struct err first = { 0 };
	int rc = try_row(w, NULL, &first);

	*t = NULL;
	if (rc)
		return rc > 0 ? 0 : not_good(w, &first, err);
	struct rows *r = rows_of(w->db, "weight_tables", err);

	while (rows_step(r)) {
		const char *name = rows_text(r, WEIGHT_TABLES_NAME);
		const char *fields = rows_text(r, WEIGHT_TABLES_FIELDS);

		if (!strchr(fields, '"') &&
		    filter_takes_event(w->by->filter, name))
			*mem_add(w->table, w->n, w->cap) = (struct table){
				.type = rows_int(r, WEIGHT_TABLES_ID),
				.event = mem_strdup(name),
				.name = mem_strdup(fields),
			};
	}
	if (rows_end(r, err))
		return -1;
	for (size_t i = 0; i < w->n; i++) {
		struct err ignored = { 0 };

		if (load_columns(w->db, &w->table[i], err))
			return -1;
		rc = try_row(w, &w->table[i], &ignored);
		if (rc < 0)
			return not_good(w, &ignored, err);
		if (rc && *t)
			return err_set(err, ERR_USAGE,
				       "%s is about fields of '%s', "
				       "and of '%s' as well; choose with "
				       "--event",
				       w->given, (*t)->event,
				       w->table[i].event);
		if (rc)
			*t = &w->table[i];
	}
	if (*t)
		return 0;
	*err = first;
	/* Fails with a list of the columns, as far as there is room. */
	char list[400] = "";
	size_t used = 0;
	const char *column = strstr(err->msg, "no such column: ");
	char name[64];

	snprintf(name, sizeof(name), "%.60s",
		 column ? column + strlen("no such column: ") : w->given);
	for (size_t i = 0; i < N_BASE; i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used,
					 "%s%s", i ? ", " : "", base[i]);
	for (size_t i = 0; i < w->n; i++) {
		int n = snprintf(list + used, sizeof(list) - used,
				 "; of %s: %s", w->table[i].event,
				 w->table[i].names);

		if (n < 0 || (size_t)n >= sizeof(list) - used) {
			list[used] = 0;
			snprintf(list + used, sizeof(list) - used,
				 "; and more");
			break;
		}
		used += (size_t)n;
	}
	if (!w->n)
		return err_set(err, ERR_USAGE,
			       "%s: no column '%s'; there is %s; fields "
			       "of events are there after ingest --fields "
			       "NAMES",
			       w->given, name, list);
	return err_set(err, ERR_USAGE, "%s: no column '%s'; there is %s",
		       w->given, name, list);
}

/* Fails if no sample has a cgroup. Returns 0, or -1 and *err. */
static int weight_check_cgroup(struct store *db, struct err *err)
{
	struct rows *r = filter_cgroups(db, err);
	bool any = rows_step(r);

	if (rows_end(r, err))
		return -1;
	return any ? 0
		   : err_set(err, ERR_USAGE,
			     "--sort cgroup: no sample has a cgroup; "
			     "'perf record --all-cgroups' records them");
}

struct rows *weight_rows(struct store *db, const struct weight_by *by_what,
			 struct err *err)
{
	const char *condition = by_what->filter->expr;
	struct weight w = { .db = db, .by = by_what };
	struct table *t;
	struct rows *r = NULL;

	/* Makes an expression of the field, and the text of messages. */
	const struct weight_by *b = w.by;
	const char *open = "[";
	FILE *f;

	for (size_t i = 0; b->field && b->field != weight_cgroup && i < N_BASE;
	     i++)
		if (!strcasecmp(base[i], b->field))
			open = "[field_";
	f = mem_stream(&w.key, NULL);
	/* SQLite takes an unknown name in double quotes for a text */
	if (b->field)
		fprintf(f, "%s%s]", open, b->field);
	else
		fputs("NULL", f);
	mem_stream_end(f);
	f = mem_stream(&w.given, NULL);
	if (b->weight)
		fprintf(f, "--weight '%s'", b->weight);
	if (b->filter->expr)
		fprintf(f, "%s--filter '%s'", b->weight ? ", " : "",
			b->filter->expr);
	if (b->field)
		fprintf(f, "%s--sort '%s'",
			b->weight || b->filter->expr ? ", " : "", b->field);
	mem_stream_end(f);
	if ((by_what->field != weight_cgroup ||
	     !weight_check_cgroup(db, err)) &&
	    (!by_what->weight || !check_expr("weight", by_what->weight, err)) &&
	    (!condition || !check_expr("filter", condition, err)) &&
	    !weight_find_row(&w, &t, err))
		r = weight_open_rows(&w, t, false, err);
	free_all(w.key, w.given);
	for (size_t i = 0; i < w.n; i++) {
		free_all(w.table[i].event, w.table[i].name, w.table[i].columns,
			 w.table[i].names);
	}
	free(w.table);
	return r;
}

const char *weight_unit(const char *expr)
{
	size_t len = strlen(expr);
	bool name = len == strspn(expr, "abcdefghijklmnopqrstuvwxyz"
					"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"0123456789_");

	return name && len > 3 && !strcmp(expr + len - 3, "_ns") ? "ns" : expr;
}

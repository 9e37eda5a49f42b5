/* filter.c - filters as one SQL condition. */
#include "analyze/samples/filter.h"

#include <assert.h>
#include <fnmatch.h>
#include <inttypes.h>

#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/text_out.h"
#include "stitch/base/wide.h"
#include "stitch/text/human.h"
#include "stitch/text/parse_number.h"
#include "stitch/text/safe_text.h"

#define GAPS_MAX 7 /* of a query that filter_rows() opens */
#define MILLION 1000000

const struct filter filter_none;

bool filter_given(const struct filter *filter)
{
	return filter->time || filter->cpu || filter->pid || filter->tid ||
	       filter->comm || filter->cgroup || filter->event;
}

bool filter_leaves_out_tasks(const struct filter *filter)
{
	struct filter rest = *filter;

	rest.time = rest.event = NULL;
	return filter_given(&rest);
}

bool filter_narrows(const struct filter *filter)
{
	return filter_given(filter) || filter->expr;
}

const char *filter_that_passed(const struct filter *filter)
{
	return filter_narrows(filter)
		       ? " that the filters let through"
		       : "; 'backstitch info' says what is there instead";
}

/* A condition that is being written. */
struct text {
	struct text_out sql;
	struct filter_values *values;	      /* NULL: written for a server */
	bool full;			      /* values has no room for more */
	const struct filter_dialect *dialect; /* NULL: for our own database */
};

/* Parses a decimal number at *p, at most 2^31 - 1, and moves *p after it.
 * Returns 0, or -1 if there is none. */
static int filter_parse_number(const char **p, int64_t *out)
{
	int64_t v = 0;

	if (**p < '0' || **p > '9')
		return -1;
	for (; **p >= '0' && **p <= '9'; (*p)++) {
		v = v * 10 + (**p - '0');
		if (v > INT32_MAX)
			return -1;
	}
	*out = v;
	return 0;
}

/* Adds "0,2-4" as a condition on a column of integers, named as its option. */
static int filter_put_numbers(struct text *t, const char *column,
			      const char *list, struct err *err)
{
	const char *p = list;
	const char *sep = " AND (";
	int64_t a;

	for (;;) {
		if (filter_parse_number(&p, &a))
			break;
		int64_t b = a;
		if (*p == '-') {
			p++;
			if (filter_parse_number(&p, &b) || b < a)
				break;
		}
		text_out_add(&t->sql, "%s%s BETWEEN %" PRId64 " AND %" PRId64,
			     sep, column, a, b);
		sep = " OR ";
		if (!*p) {
			text_out_add(&t->sql, ")");
			return 0;
		}
		if (*p++ != ',')
			break;
	}
	return err_set(err, ERR_USAGE,
		       "--%s needs numbers such as 1,3 or 0-4, not '%s'",
		       column, list);
}

/* Returns a pattern as an expression of RE2, which has the same [ ]; free
 * it. */
static char *filter_expression(const char *pattern)
{
	char *out = mem_new(2 * strlen(pattern) + 16, 1);
	char *p = stpcpy(out, "(?s)^");

	for (; *pattern; pattern++) {
		if (*pattern == '*' || *pattern == '?') {
			p = stpcpy(p, *pattern == '*' ? ".*" : ".");
			continue;
		}
		if (strchr("\\.+(){}|$", *pattern))
			*p++ = '\\';
		*p++ = *pattern;
	}
	*p++ = '$';
	*p = 0;
	return out;
}

/* Adds the condition that a column is a name, or matches it with * and ?. */
static void filter_put_name(struct text *t, const char *sep, const char *column,
			    const char *name, size_t len)
{
	struct filter_values *v = t->values;

	if (t->dialect) {
		char *one = mem_dup(name, len);

		bool wild = strpbrk(one, "*?");
		char *text = wild ? filter_expression(one) : mem_strdup(one);
		char *quoted = t->dialect->quote(text);

		text_out_add(&t->sql, wild ? "%smatch(%s, %s)" : "%s%s = %s",
			     sep, column, quoted);
		free_all(quoted, text, one);
		return;
	}
	if (v->n == FILTER_VALUES || len >= sizeof(v->text) - v->len) {
		t->full = true;
		return;
	}

	char *copy = memcpy(v->text + v->len, name, len);

	copy[len] = 0;
	v->len += len + 1;
	v->item[v->n++] =
		(struct value){ .kind = VALUE_TEXT, .text = copy, .len = len };
	text_out_add(&t->sql, "%s%s %s ?%zu", sep, column,
		     strpbrk(copy, "*?") ? "GLOB" : "=", v->n);
}

/* Returns the length of the first name of a list. perf's names of events have
 * commas between slashes or braces: cpu/event=0x3c,umask=0x0/; they begin with
 * a letter, and a path of a cgroup does not. */
static size_t filter_name_len(const char *list)
{
	size_t n = 0;

	if (*list == '/' || *list == '*')
		return strcspn(list, ",");
	for (; list[n] && list[n] != ','; n++) {
		const char *end = list[n] == '/'   ? strchr(list + n + 1, '/')
				  : list[n] == '{' ? strchr(list + n + 1, '}')
						   : NULL;

		if (end)
			n = (size_t)(end - list);
	}
	return n;
}

/* Adds the condition that a column is a name of a list. */
static void put_names(struct text *t, const char *column, const char *list)
{
	const char *sep = " AND (";

	do {
		size_t len = filter_name_len(list);

		filter_put_name(t, sep, column, list, len);
		sep = " OR ";
		list += len;
	} while (*list++);
	text_out_add(&t->sql, ")");
}

/* Adds the condition of --event. Its list may be one name with commas. */
static void filter_put_events(struct text *t, const char *list)
{
	if (!list[filter_name_len(list)]) {
		put_names(t, "event", list);
		return;
	}
	filter_put_name(t, " AND (", "event", list, strlen(list));
	if (t->dialect) {
		/* no event has a part of a name with commas as its name */
		text_out_add(&t->sql, " OR 1");
		put_names(t, "event", list);
		text_out_add(&t->sql, ")");
		return;
	}
	text_out_add(&t->sql,
		     " OR NOT EXISTS (SELECT 1 FROM event_type WHERE "
		     "name = ?%zu)",
		     t->values->n);
	put_names(t, "event", list);
	text_out_add(&t->sql, ")");
}

/* Parses "12.5%" as millionths, truncated. Returns 0, or -1 if it is malformed
 * or, by all of its decimals, more than the whole. */
static int filter_parse_share(const char **p, int64_t *out)
{
	int64_t v;

	if (parse_decimal(p, 9, &v) || **p != '%' || v > 100000000000)
		return -1;
	(*p)++;
	*out = v / 100000;
	return 0;
}

/* A span of time, ns; `to` is not in it. */
struct filter_span {
	int64_t from, to;
};

/* Returns the time at millionths of the way from first to last. */
static int64_t filter_part(int64_t first, int64_t last, int64_t millionths)
{
	uint64_t span = (uint64_t)last - (uint64_t)first;

	return (int64_t)((uint64_t)first +
			 wide_div(wide_mul(span, (uint64_t)millionths),
				  MILLION));
}

/* Reads "10%-20%" of db's time. Returns 0, 1: it is malformed, or -1 and
 * *err. */
static int filter_read_share(const struct filter *filter, struct store *db,
			     struct filter_span *s, struct err *err)
{
	const char *p = filter->time;
	int64_t a;
	int64_t b;
	int64_t first = 0;
	int64_t last = 0;
	bool timed = false;

	if (filter_parse_share(&p, &a) || *p++ != '-' ||
	    filter_parse_share(&p, &b) || *p || b < a)
		return 1;
	struct rows *r = rows_of(db, "capture_range", err);
	if (rows_step(r)) {
		timed = rows_value(r, CAPTURE_RANGE_FIRST_NS).kind == VALUE_INT;
		first = rows_int(r, CAPTURE_RANGE_FIRST_NS);
		last = rows_int(r, CAPTURE_RANGE_LAST_NS);
	}
	if (rows_end(r, err))
		return -1;
	/* of several databases, another one may have times */
	if (!timed && !filter->apart)
		return err_set(err, ERR_USAGE,
			       "--time '%s': the capture has no times; leave "
			       "it out",
			       filter->time);
	s->from = filter_part(first, last, a);
	s->to = filter_part(first, last, b);
	s->to += s->to < INT64_MAX;
	return 0;
}

/* Reads "12.5,13", ",13", "12.5,", "12.5". Returns 1 if it is malformed. */
static int filter_read_seconds(const char *list, struct filter_span *s)
{
	const char *p = list;

	if (*p != ',' && parse_decimal(&p, 9, &s->from))
		return 1;
	if (*p == ',' && p[1]) {
		p++;
		if (parse_decimal(&p, 9, &s->to))
			return 1;
		/* script prints microseconds, truncated: include all of it */
		if (__builtin_add_overflow(s->to, 1000, &s->to))
			s->to = INT64_MAX;
	} else if (*p == ',') {
		p++;
	}
	return *p != 0;
}

int filter_wall_offset(struct store *db, int64_t *offset, struct err *err)
{
	struct rows *r = rows_of(db, "fn_wall", err);
	bool known = rows_step(r);

	*offset = known ? rows_int(r, FN_WALL_VALUE) : 0;
	return rows_end(r, err) ? -1 : known;
}

/* Reads a time of the day. Returns 0, 1 if it is none, or -1 and *err. */
static int filter_read_wall(struct store *db, const char *list,
			    struct filter_span *s, struct err *err)
{
	int64_t offset = 0;

	if (!parse_wall(list, &s->from, &s->to))
		return 1;
	int known = db ? filter_wall_offset(db, &offset, err) : 0;
	if (known < 0)
		return -1;
	if (!known)
		return err_set(
			err, ERR_USAGE,
			"--time '%s': the capture does not have the time "
			"of the day; perf 5.8 and newer record it with -k "
			"CLOCK_MONOTONIC, as 'backstitch record --waits' "
			"does; captures of several boots have none together",
			list);
	if (__builtin_sub_overflow(s->from, offset, &s->from))
		s->from = INT64_MIN;
	if (__builtin_sub_overflow(s->to, offset, &s->to))
		s->to = INT64_MAX;
	return 0;
}

/* Reads --time in any of its forms. Returns 0, or -1 and *err. */
static int filter_read_time(const struct filter *filter, struct store *db,
			    struct filter_span *s, struct err *err)
{
	const char *list = filter->time;
	int ret = filter_read_wall(db, list, s, err);

	if (ret > 0)
		ret = strchr(list, '%') ? filter_read_share(filter, db, s, err)
					: filter_read_seconds(list, s);

	if (ret <= 0)
		return ret;
	return err_set(err, ERR_USAGE,
		       "--time needs FROM,TO in seconds, 10%%-20%%, or a time "
		       "of the day as '2026-11-28 03:12:04.5+1s', not '%s'",
		       list);
}

/* Returns whether the list or a part of it is the name, matches it, or is a
 * range that has it. */
static bool filter_list_has(const char *list, const char *name)
{
	if (!strcmp(list, name))
		return true;
	while (*list) {
		size_t n = filter_name_len(list);
		const char *p = list, *number = name;
		int64_t a, b, v;
		char one[256];

		snprintf(one, sizeof(one), "%.*s", (int)n, list);
		if (strpbrk(one, "*?") ? !fnmatch(one, name, FNM_NOESCAPE)
				       : !strcmp(one, name))
			return true;
		if (!filter_parse_number(&p, &a) && *p++ == '-' &&
		    !filter_parse_number(&p, &b) && p == list + n &&
		    !filter_parse_number(&number, &v) && !*number && v >= a &&
		    v <= b)
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

bool filter_takes_event(const struct filter *filter, const char *name)
{
	return !filter->event || filter_list_has(filter->event, name);
}

static bool filter_has_number(const char *list, int64_t v)
{
	char text[24];

	if (!list)
		return true;
	snprintf(text, sizeof(text), "%" PRId64, v);
	return filter_list_has(list, text);
}

bool filter_takes_cpu(const struct filter *filter, int32_t cpu)
{
	return filter_has_number(filter->cpu, cpu);
}

bool filter_takes_thread(const struct filter *filter, int64_t pid, int64_t tid,
			 const char *comm)
{
	return filter_has_number(filter->pid, pid) &&
	       filter_has_number(filter->tid, tid) &&
	       (!filter->comm || filter_list_has(filter->comm, comm));
}

struct rows *filter_cgroups(struct store *db, struct err *err)
{
	const struct sql_gap gap = { "event_cgroup",
				     store_sql("event_cgroup") };
	char *sql = store_sql_fill("filter_cgroups", &gap, 1);
	struct rows *r = rows_open(db, sql, NULL, 0, err);

	free(sql);
	return r;
}

/* A query for the names that an option may list; NULL: filter_cgroups(). */
struct choice {
	const char *what, *query;
};

#define CHOICES_SHOWN 8

/* Fails if no name that the list of an option has is in the database, most
 * likely by a typing error; the error lists the names that are. */
static int filter_check_list(struct store *db, const struct choice *c,
			     const char *list, struct err *err)
{
	char have[400] = "";
	struct text_out o = { .buf = have, .size = sizeof(have) };
	size_t n = 0;
	bool found = false;
	struct rows *r =
		c->query ? rows_of(db, c->query, err) : filter_cgroups(db, err);

	while (!found && rows_step(r)) {
		const char *name = rows_text(r, FILTER_EVENTS_NAME);
		char clean[40];

		found = filter_list_has(list, name);
		safe_text_clean_buf(clean, sizeof(clean), name, strlen(name),
				    NULL);
		if (n++ < CHOICES_SHOWN)
			text_out_add(&o, "%s%s", o.len ? ", " : "", clean);
	}
	if (rows_end(r, err))
		return -1;
	if (found)
		return 0;
	if (n > CHOICES_SHOWN)
		text_out_add(&o, ", and %zu more", n - CHOICES_SHOWN);
	return err_set(err, ERR_USAGE, "no %s '%s' here; there is %s", c->what,
		       list, o.len ? have : "none at all");
}

int filter_end_apart(const struct filter_apart *apart, struct err *err)
{
	for (size_t i = 0; i < FILTER_LISTS; i++)
		if (!apart->found[i] && apart->missing[i].code)
			return err_set(err, apart->missing[i].code, "%s",
				       apart->missing[i].msg);
	return 0;
}

/* Writes all conditions but expr and state. Returns 0, or -1 and *err. */
static int filter_put_all(const struct filter *filter, struct text *t,
			  struct store *db, struct err *err)
{
	text_out_add(&t->sql, "1");
	if (filter->time) {
		const char *clock = t->dialect ? t->dialect->time : "time_ns";
		struct filter_span s = { INT64_MIN, INT64_MAX };

		if (t->dialect && strchr(filter->time, '%'))
			return err_set(
				err, ERR_USAGE,
				"--time '%s': a server does not know the time "
				"of the first and last event; give seconds",
				filter->time);
		if (filter_read_time(filter, db, &s, err))
			return -1;
		if (s.from != INT64_MIN)
			text_out_add(&t->sql, " AND %s >= %" PRId64, clock,
				     s.from);
		if (s.to != INT64_MAX)
			text_out_add(&t->sql, " AND %s < %" PRId64, clock,
				     s.to);
	}
	if ((filter->cpu && filter_put_numbers(t, "cpu", filter->cpu, err)) ||
	    (filter->pid && filter_put_numbers(t, "pid", filter->pid, err)) ||
	    (filter->tid && filter_put_numbers(t, "tid", filter->tid, err)))
		return -1;
	if (filter->comm)
		put_names(t, "comm", filter->comm);
	if (filter->cgroup && t->dialect)
		return err_set(err, ERR_USAGE,
			       "--cgroup: a server has no cgroups of samples");
	if (filter->cgroup) {
		text_out_add(&t->sql,
			     " AND event_id IN (SELECT event_id "
			     "FROM (%s) WHERE 1",
			     store_sql("event_cgroup"));
		put_names(t, "cgroup", filter->cgroup);
		text_out_add(&t->sql, ")");
	}
	if (filter->event)
		filter_put_events(t, filter->event);
	return t->full || t->sql.cut
		       ? err_set(err, ERR_USAGE, "too many values in filters")
		       : 0;
}

int filter_server_sql(const struct filter *filter,
		      const struct filter_dialect *d, char out[FILTER_TEXT],
		      struct err *err)
{
	struct text t = { .sql = { .buf = out, .size = FILTER_TEXT },
			  .dialect = d };

	return filter_put_all(filter, &t, NULL, err);
}

int filter_sql(const struct filter *filter, struct store *db,
	       char out[FILTER_TEXT], struct filter_values *values,
	       struct err *err)
{
	struct text t = { .sql = { .buf = out, .size = FILTER_TEXT },
			  .values = values };

	values->n = values->len = 0;
	int rc = filter_put_all(filter, &t, db, err);
	if (rc || !db)
		return rc;
	/* Checks that each list has a name of the database, or, with
	 * filter->apart, notes it. */
	const struct {
		const char *list;
		struct choice choice;
	} option[FILTER_LISTS] = {
		{ filter->cpu, { "CPU", "filter_cpus" } },
		{ filter->pid, { "process", "filter_pids" } },
		{ filter->tid, { "thread", "filter_tids" } },
		{ filter->comm, { "thread named", "filter_comms" } },
		{ filter->cgroup, { "cgroup", NULL } },
		{ filter->event, { "event", "filter_events" } },
	};

	for (size_t i = 0; i < FILTER_LISTS; i++) {
		struct filter_apart *apart = filter->apart;
		struct err why = { 0 };

		if (!option[i].list)
			continue;
		if (!filter_check_list(db, &option[i].choice, option[i].list,
				       &why)) {
			if (apart)
				apart->found[i] = true;
		} else if (!apart || why.code != ERR_USAGE) {
			return err_set(err, why.code, "%s", why.msg);
		} else if (!apart->missing[i].code) {
			apart->missing[i] = why;
		}
	}
	return 0;
}

struct rows *filter_rows(const struct filter *filter, struct store *db,
			 const char *query, const struct sql_gap *gap, size_t n,
			 struct err *err)
{
	char *cond OWNED = mem_new(FILTER_TEXT, 1);
	struct filter_values values;
	struct sql_gap all[GAPS_MAX + 2] = { { "filter", cond } };

	assert(n <= GAPS_MAX);
	if (filter_sql(filter, db, cond, &values, err))
		return NULL;
	char *wanted OWNED = filter_given(filter)
				     ? store_sql_fill("filter_wanted", all, 1)
				     : mem_strdup("1");

	all[1] = (struct sql_gap){ "wanted", wanted };
	for (size_t i = 0; i < n; i++)
		all[2 + i] = gap[i];
	char *sql OWNED = store_sql_fill(query, all, 2 + n);

	return rows_open(db, sql, values.item, values.n, err);
}

int filter_window(const struct filter *filter, struct store *db, int64_t *from,
		  int64_t *to, struct err *err)
{
	struct filter_span s = { INT64_MIN, INT64_MAX };
	struct filter_values values;
	char sql[FILTER_TEXT];

	/* filter_sql() checks all options, and that their names exist */
	if (filter_sql(filter, db, sql, &values, err) ||
	    (filter->time && filter_read_time(filter, db, &s, err)))
		return -1;
	*from = s.from;
	*to = s.to;
	return 0;
}

int filter_check_recorded(const struct filter *filter, struct store *db,
			  struct err *err)
{
	struct rows *r = rows_of(db, "capture_range", err);
	bool timed = rows_step(r) &&
		     rows_value(r, CAPTURE_RANGE_FIRST_NS).kind == VALUE_INT;
	int64_t first = timed ? rows_int(r, CAPTURE_RANGE_FIRST_NS) : 0;
	int64_t last = timed ? rows_int(r, CAPTURE_RANGE_LAST_NS) : 0;
	int64_t from;
	int64_t to;

	if (rows_end(r, err) || filter_window(filter, db, &from, &to, err))
		return -1;
	if (!timed)
		return err_set(err, ERR_USAGE,
			       "--time '%s': the capture has no times; leave "
			       "it out",
			       filter->time);
	if (from <= last && to > first)
		return 0;
	return err_set(err, ERR_USAGE,
		       "--time '%s': nothing was recorded then; '--time %s' is "
		       "all that was",
		       filter->time,
		       human_span((char[HUMAN_SPAN]){ 0 }, first, last));
}

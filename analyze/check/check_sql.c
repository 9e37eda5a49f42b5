/* check_sql.c - the statements of check, and how filters narrow them. */

#include "analyze/check/check.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* The names are keys of --json: names may be added but not changed. */
const struct check_query check_queries[] = {
	{ "breaks",
	  "what makes the exit status 4: requests and chains without their "
	  "other half, records lost, losses of unknown size, records out of "
	  "order, findings, stays that vanished uncounted; and what is not "
	  "provable: missing counters because of another session, findings that "
	  "clocks may explain, chains of another session",
	  true, CHECK_ALWAYS, CHECK_ANY },
	{ "captures", "the captures in the database", false, CHECK_ALWAYS,
	  CHECK_WHOLE },
	{ "trust",
	  "how far user stacks can be trusted: samples by event and class, and "
	  "what would help",
	  false, CHECK_ALWAYS, CHECK_WHOLE },
	{ "requests",
	  "samples that asked for a deferred user stack, by what became of "
	  "them",
	  true, CHECK_ALWAYS, CHECK_ANY },
	{ "deferral",
	  "how long joined requests waited for their user stack, by event: at "
	  "most pNN_ns for NN of 100, rounded up by less than a 32nd",
	  false, CHECK_ALWAYS, CHECK_WHOLE },
	{ "deferral_by_cpu", "the same, by event and CPU", false, CHECK_ALWAYS,
	  CHECK_WHOLE },
	{ "one_frame",
	  "joined requests whose user stack has only one frame, by the image "
	  "of that frame",
	  false, CHECK_ALWAYS, CHECK_ANY },
	{ "chains", "deferred user stacks, by what became of them", true,
	  CHECK_ALWAYS, CHECK_THREAD },
	{ "across",
	  "requests of one capture whose chain only another one recorded",
	  false, CHECK_ALWAYS, CHECK_ANY },
	{ "copies", "chains that another capture recorded too, stored once",
	  false, CHECK_ALWAYS, CHECK_THREAD },
	{ "callsites",
	  "user stacks by what is in front of their return addresses: a call, "
	  "or none",
	  true, CHECK_ALWAYS, CHECK_WHOLE },
	{ "fabricated",
	  "images that lead to callers that cannot be: samples that go on from "
	  "them, and those fabricated there",
	  false, CHECK_ALWAYS, CHECK_WHOLE },
	{ "ends_early",
	  "functions in which user stacks end early, though no thread begins "
	  "there: samples, by class",
	  false, CHECK_ALWAYS, CHECK_WHOLE },
	{ "unchecked",
	  "return addresses in code that could not be looked into, by image",
	  false, CHECK_ALWAYS, CHECK_WHOLE },
	{ "kernel_files",
	  "files of the kernel that are not here, and samples whose kernel half "
	  "is unchecked for want of them",
	  false, CHECK_ALWAYS, CHECK_WHOLE },
	{ "unmapped",
	  "samples with a user stack, those that ran code in no mapping, and "
	  "those with a frame in none",
	  true, CHECK_ALWAYS, CHECK_WHOLE },
	{ "not_judged",
	  "samples whose user stack is not judged: not all mappings are known, "
	  "or the image's file may not be the one that ran",
	  false, CHECK_ALWAYS, CHECK_WHOLE },
	{ "unwound",
	  "samples whose stack was unwound from a dump, by why it ends there",
	  false, CHECK_ALWAYS, CHECK_WHOLE },
	{ "callers",
	  "samples into whose frame-pointer chain the caller of its innermost "
	  "frame was put, because the code proves it",
	  true, CHECK_ALWAYS, CHECK_WHOLE },
	{ "losses",
	  "what was not recorded, by kind; counts 1: adds to the records lost",
	  false, CHECK_ALWAYS, CHECK_RING },
	{ "unlisted", "processes whose mappings are not all known, and why",
	  false, CHECK_ALWAYS, CHECK_WHOLE },
	{ "lost_by_cpu", "records lost by CPU", false, CHECK_ALWAYS,
	  CHECK_RING },
	{ "lost_in_time", "records lost in each fiftieth of the time", false,
	  CHECK_ALWAYS, CHECK_RING },
	{ "cookies",
	  "of each capture: cookies without a chain, counters that no record "
	  "has, and the kernel's own count of lost chains",
	  false, CHECK_ALWAYS, CHECK_WHOLE },
	{ "vanished",
	  "stays in the kernel of which neither a sample nor the chain was "
	  "recorded, though no loss was counted, by CPU",
	  false, CHECK_ALWAYS, CHECK_RING },
	{ "findings", "what must not happen in a capture and did, by rule",
	  false, CHECK_ALWAYS, CHECK_THREAD },
	{ "ordering", "broken promises about time order, by kind", false,
	  CHECK_ALWAYS, CHECK_RING },
	{ "gaps",
	  "records missing without a loss: places where switches do not join, "
	  "how much of the time of all CPUs they touch, and the findings and "
	  "losses that --max-gaps tolerates",
	  true, CHECK_ALWAYS, CHECK_WHOLE },
	{ "close",
	  "neighbouring events of a CPU that are of different captures, and "
	  "those of them that are closer than their clocks are exact",
	  true, CHECK_ALWAYS, CHECK_WHOLE },
	{ "sampled",
	  "switches that were sampled, so that no wait is certain: recorded "
	  "ones, and how many there were",
	  false, CHECK_ALWAYS, CHECK_WHOLE },
	{ "not_followed",
	  "switches that no rule judges: of some tasks or CPUs, filtered, "
	  "sampled, or of a recorder that may have paused",
	  false, CHECK_ALWAYS, CHECK_WHOLE },
	{ "damage", "parts of the input that could not be read", false,
	  CHECK_ALWAYS, CHECK_WHOLE },
	{ "as_perf", "what perf 7.2 makes of the requests with a cookie", true,
	  CHECK_AS_PERF, CHECK_ANY },
	{ "as_tid",
	  "what the next chain of the thread would be for the requests with "
	  "a cookie",
	  true, CHECK_AS_TID, CHECK_ANY },
	{ "as_tid_wrong",
	  "requests for which the next chain of the thread is a wrong one; "
	  "stacks innermost first",
	  false, CHECK_AS_TID, CHECK_ANY },
	{ "unjoined_requests", "requests without a user stack, and why", false,
	  CHECK_EVIDENCE, CHECK_ANY },
	{ "across_list", "requests whose chain only another capture recorded",
	  false, CHECK_EVIDENCE, CHECK_ANY },
	{ "unused_chains", "chains that no sample has, and why", false,
	  CHECK_EVIDENCE, CHECK_THREAD },
	{ "bogus_list", "frames that nothing can have been called from", false,
	  CHECK_EVIDENCE, CHECK_WHOLE },
	{ "gap_list", "runs of counters that no cookie has", false,
	  CHECK_EVIDENCE, CHECK_RING },
	{ "finding_list", "what the rules found", false, CHECK_EVIDENCE,
	  CHECK_THREAD },
	{ "loss_list", "what was not recorded, one row each", false,
	  CHECK_EVIDENCE, CHECK_RING },
	{ NULL, NULL, false, CHECK_ALWAYS, CHECK_ANY },
};

bool check_covers(const struct check *c, enum check_scope scope)
{
	const struct filter *filter = c->filter;
	bool thread = filter->pid || filter->tid || filter->comm;
	bool event = filter->event || filter->cgroup;

	switch (scope) {
	case CHECK_ANY:
		return true;
	case CHECK_THREAD:
		return !event;
	case CHECK_RING:
		return !event && !thread;
	case CHECK_WHOLE:
		break;
	}
	return !filter_given(filter);
}

/* Returns the text of a statement; NULL: the sums of a server do not tell. */
static const char *check_sql_text(const struct check *c, const char *name)
{
	char query[64];
	const char *sql;

	snprintf(query, sizeof(query), "served_check_%s", name);
	sql = c->served ? store_sql(query) : NULL;
	if (sql)
		return sql;
	/* what depends on captures and samples only */
	if (c->served && strcmp(name, "captures") && strcmp(name, "trust"))
		return NULL;
	return store_sql(query + strlen("served_"));
}

bool check_can(const struct check *c, const char *name)
{
	return check_covers(c, check_query(name)->scope) &&
	       check_sql_text(c, name);
}

const struct check_query *check_query(const char *name)
{
	const struct check_query *q = check_queries;

	while (q->name && strcmp(q->name, name) != 0)
		q++;
	return q;
}

bool check_asks(const struct check *c, const struct check_query *q)
{
	if (!check_can(c, q->name))
		return false;
	switch (q->when) {
	case CHECK_ALWAYS:
		return true;
	case CHECK_AS_PERF:
		return c->as_perf;
	case CHECK_AS_TID:
		return c->as_tid;
	case CHECK_EVIDENCE:
		break;
	}
	return c->verbose;
}

/* ---- filters */

struct narrowed {
	const char *table, *query;
	enum check_scope scope;
};

/* The query is a view "TABLE AS (...)" with the gap {filter}. */
static const struct narrowed narrowed[] = {
	{ "request", "check_filter_request", CHECK_ANY },
	{ "chain", "check_filter_chain", CHECK_THREAD },
	{ "internal_finding", "check_filter_finding", CHECK_THREAD },
	{ "loss", "check_filter_loss", CHECK_RING },
	{ "cookie_gap", "check_filter_gap", CHECK_RING },
	{ "ordering", "check_filter_ordering", CHECK_RING },
};

/* Makes the prefix of all statements, a WITH clause whose views have the names
 * of tables and narrow them. Each view has the same condition, with the same
 * bound values: a table without a column that a filter is on has no condition,
 * but is empty. */
int check_filters(struct check *c, struct err *err)
{
	struct rows *r = rows_of(c->db, "served_here", err);
	char cond[FILTER_TEXT];
	const struct sql_gap gap = { "filter", cond };
	FILE *out;

	c->served = rows_step(r);
	if (rows_end(r, err))
		return -1;
	if (!filter_given(c->filter))
		return 0;
	if (c->served && c->banner)
		return 0;
	if (c->served)
		return err_set(err, ERR_USAGE,
			       "%s: losses and verdicts are of whole runs: "
			       "leave out the filters, and choose with --where",
			       c->path);
	if (filter_sql(c->filter, c->db, cond, &c->values, err))
		return -1;
	out = mem_stream(&c->prefix, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(narrowed); i++) {
		const struct narrowed *t = &narrowed[i];
		char *view;

		fputs(i ? ",\n" : "WITH ", out);
		if (!check_covers(c, t->scope)) {
			fprintf(out, "%s AS (SELECT * FROM main.%s WHERE 0)",
				t->table, t->table);
			continue;
		}
		view = store_sql_fill(t->query, &gap, 1);
		fputs(view, out);
		free(view);
	}
	mem_stream_end(out);
	return 0;
}

/* Returns the whole statement with a LIMIT unless limit is 0; the caller frees
 * it. A statement has one WITH at most: the views of one that begins with it
 * follow those of the filters, after a comma. */
char *check_sql_statement(const struct check *c, const char *name, long limit)
{
	char tail[32] = "";
	const char *sql = check_sql_text(c, name);

	if (limit)
		snprintf(tail, sizeof(tail), "\nLIMIT %ld", limit);
	if (!c->prefix)
		return mem_printf("%s%s", sql, tail);
	if (!strncmp(sql, "WITH ", 5))
		return mem_printf("%s,\n%s%s", c->prefix, sql + 5, tail);
	return mem_printf("%s\n%s%s", c->prefix, sql, tail);
}

struct rows *check_rows(const struct check *c, const struct check_query *q,
			long limit, struct err *err)
{
	char *sql = check_sql_statement(c, q->name, limit);
	struct rows *r =
		rows_open(c->db, sql, c->prefix ? c->values.item : NULL,
			  c->prefix ? c->values.n : 0, err);

	free(sql);
	return r;
}

long check_limit(const struct check *c, const struct check_query *q)
{
	return q->when == CHECK_ALWAYS || q->one ? 0 : c->limit;
}

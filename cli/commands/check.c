/* check.c - the command that audits causality: what was lost, and which stacks
 * are missing because of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/check/check.h"
#include "cli/args/status.h"
#include "cli/check/check_print.h"
#include "cli/commands/option_groups.h"
#include "cli/open/input.h"
#include "cli/output/output.h"
#include "cli/process/signals.h"
#include "cli/server/server.h"
#include "stitch/text/parse_number.h"
#include "stitch/base/err.h"
#include "stitch/text/json.h"

static void check_json_sentence(void *arg, const char *sentence)
{
	json_text(arg, NULL, sentence);
}

/* Returns the exit status of the verdict. */
static int check_status(const struct check *c)
{
	return c->breaks.bad ? STATUS_LOSS
	       : c->damaged  ? STATUS_DAMAGED
			     : STATUS_OK;
}

/* Prints the verdict, and the rows of each statement, as one JSON object. */
static int check_print_json(struct check *c, struct err *err)
{
	struct json j;
	int ret;

	json_answer(&j, stdout, JSON_COMPACT);
	json_lines(&j);
	json_text(&j, "database", c->path);
	json_text(&j, "verdict", check_verdict(c));
	json_bool(&j, "clean", !strcmp(check_verdict(c), "clean"));
	json_int(&j, "status", check_status(c));
	json_bool(&j, "tolerated", c->breaks.tolerated);
	json_bool(&j, "filtered", filter_given(c->filter));
	trust_put_json(c->trust, &j);
	for (const struct check_query *q = check_queries; q->name; q++) {
		struct rows *r;

		if (!check_asks(c, q) || json_failed(&j))
			continue;
		/* rows are written as they are read, since evidence may be of
		 * any size */
		r = check_rows(c, q, check_limit(c, q), err);
		if (!r)
			return -1;
		ret = q->one ? json_row(&j, q->name, r, err)
			     : json_rows(&j, q->name, r, err);
		if (!q->one)
			json_newline(&j);
		rows_close(r);
		if (ret)
			return -1;
	}
	json_array(&j, "advice");
	ret = check_advice(c, check_json_sentence, &j, err);

	json_end(&j);
	json_finish(&j);
	return ret;
}

/* Writes a statement with a literal for each ?N, since the SQL shell of the
 * user binds nothing. Only a parameter has a number after a question mark:
 * names and patterns of the filters are bound values. */
static void put_bound(const struct check *c, const char *sql, FILE *out)
{
	while (*sql) {
		char *end = NULL;
		unsigned long i = *sql == '?' ? strtoul(sql + 1, &end, 10) : 0;

		if (!i || i > c->values.n) {
			fputc(*sql++, out);
			continue;
		}
		fputc('\'', out);
		for (const char *p = c->values.item[i - 1].text; *p; p++) {
			if (*p == '\'')
				fputc('\'', out);
			fputc(*p, out);
		}
		fputc('\'', out);
		sql = end;
	}
}

/* Prints each statement that check runs, with the values of the filters. */
static void check_print_sql(const struct check *c)
{
	for (const struct check_query *q = check_queries; q->name; q++) {
		char *sql OWNED = NULL;

		if (!check_asks(c, q))
			continue;
		sql = check_sql_statement(c, q->name, check_limit(c, q));
		printf("-- %s: %s\n", q->name, q->what);
		if (c->prefix)
			put_bound(c, sql, stdout);
		else
			fputs(sql, stdout);
		fputs(";\n\n", stdout);
	}
}

#define LIMIT_ROWS 20

static bool verbose, json, sql, as_perf, as_tid;
static const char *format;
static const char *const formats[] = { "text", "json", "markdown", NULL };
static long limit = NUMBER_UNSET;
static const char *max_loss, *max_unjoined, *min_whole, *max_gaps;

static const struct opt opts[] = {
	OPT_HEADING("How to show it"),
	OPT_CHOICE(0, "format", "FORMAT", &format, formats,
		   "text, json or markdown"),
	OPT_FLAG('v', "verbose", &verbose,
		 "list the evidence: each missing stack, gap, finding, loss"),
	OPT_NUMBER(0, "limit", "N", &limit,
		   "print at most N rows of each kind of evidence; 0: all (20; "
		   "all with --json)"),
	OPT_GROUP(full_names_opts),
	OPT_HEADING("Compare with others"),
	OPT_FLAG(0, "as-perf", &as_perf,
		 "compare with the stacks that perf 7.2 makes of the same "
		 "records"),
	OPT_FLAG(0, "as-tid", &as_tid,
		 "compare with taking the next chain of the thread"),
	OPT_HEADING("What is tolerated"),
	OPT_STRING(0, "max-loss", "N", &max_loss,
		   "tolerate N lost records, or a share such as 0.5%"),
	OPT_STRING(
		0, "max-unjoined", "N", &max_unjoined,
		"tolerate N requests and chains without their other half, or a "
		"share such as 0.5%"),
	OPT_STRING(0, "max-gaps", "PERCENT", &max_gaps,
		   "tolerate records that are missing without a loss if they "
		   "touch no more of the CPUs' time: 1%"),
	OPT_STRING(0, "min-whole", "PERCENT", &min_whole,
		   "end with status 4 if less of the user stacks are whole: "
		   "90%"),
	OPT_HEADING("Output"),
	OPT_FLAG(0, "json", &json,
		 "print numbers and evidence as one JSON object"),
	OPT_FLAG(0, "sql", &sql, "print the SQL behind each number instead"),
	OPT_GROUP(filter_opts),
	OPT_GROUP(ingest_opts),
	OPT_GROUP(server_opts),
	{ .kind = OPT_END }
};

/* Parses "100", "5%" or "0.25%", or NULL: none. A share becomes millionths of a
 * percent, exactly. Returns 0, or -1 and *err. */
static int parse_limit(const char *opt, const char *text,
		       struct check_limit *out, struct err *err)
{
	const char *p = text;
	int64_t n;

	if (!text)
		return 0;
	out->percent = strchr(text, '%');
	if (parse_decimal(&p, out->percent ? 6 : 0, &n) ||
	    strcmp(p, out->percent ? "%" : "") != 0 ||
	    (!out->percent && strchr(text, '.')))
		return err_set(err, ERR_USAGE,
			       "--%s needs a number such as 100, or a share "
			       "such as 0.5%%, not '%s'",
			       opt, text);
	if (out->percent && n > 100000000)
		return err_set(err, ERR_USAGE, "--%s: '%s' is more than 100 %%",
			       opt, text);
	out->n = (uint64_t)n;
	return 0;
}

/* Parses "90" or "90%" as a share, as parse_limit() does. */
static int parse_share(const char *opt, const char *text,
		       struct check_limit *out, struct err *err)
{
	if (!text)
		return 0;
	char *share OWNED =
		mem_printf("%s%s", text, strchr(text, '%') ? "" : "%");
	return parse_limit(opt, share, out, err);
}

/* Prints the answer in the form that was chosen. Returns 0, or -1 and *err. */
static int check_answer(struct check *c, struct err *err)
{
	bool fenced = format && output_is_markdown(format);

	if (check_filters(c, err))
		return -1;
	if (sql) {
		check_print_sql(c);
		return 0;
	}
	if (check_judge(c, err))
		return -1;
	if (json)
		return check_print_json(c, err);
	if (fenced)
		markdown_fence(stdout, true);
	bool failed = check_screen(c, err) ||
		      ((as_perf || as_tid) && check_others(c, err)) ||
		      (verbose && check_evidence(c, err));
	if (fenced)
		markdown_fence(stdout, false);
	return failed ? -1 : 0;
}

static int check_run(int argc, char **argv, struct err *err)
{
	struct open_ask ask = open_chosen();
	struct check c = { .filter = &filter, .names = chosen_names };
	int status = STATUS_OK;

	json |= format && !strcmp(format, "json");
	if ((sql || json) && format && output_is_markdown(format))
		return err_set(err, ERR_USAGE,
			       "--sql and --json are no text to put into "
			       "Markdown; ask for one of them");
	if (sql && json)
		return err_set(err, ERR_USAGE,
			       "--sql prints statements and --json their "
			       "answers; ask for one of them");
	if (limit == NUMBER_UNSET)
		limit = json || sql ? 0 : LIMIT_ROWS;
	c.verbose = verbose || json;
	c.as_perf = as_perf;
	c.as_tid = as_tid;
	c.limit = limit;
	c.limits_gaps = max_gaps != NULL;
	if (parse_limit("max-loss", max_loss, &c.max_loss, err) ||
	    parse_limit("max-unjoined", max_unjoined, &c.max_unjoined, err) ||
	    parse_share("max-gaps", max_gaps, &c.max_gaps, err) ||
	    parse_share("min-whole", min_whole, &c.min_whole, err))
		return -1;
	ask.filter = as_perf || as_tid || sql ? NULL : &filter;
	ask.detail = SERVER_SUMS;
	c.db = database_from_args(&ask, argc, argv, NULL, &c.path, &status,
				  err);
	if (!c.db)
		return -1;
	c.damaged = status == STATUS_DAMAGED;
	signals_query(c.db);
	int ret = check_answer(&c, err);
	signals_query(NULL);
	check_forget(&c);
	store_close(c.db);
	if (ret)
		return -1;
	return sql ? status : check_status(&c);
}

const struct command cmd_check = {
	.name = "check",
	.args = "[options] [DB | CAPTURE | URL]",
	.summary =
		"tell what is wrong: losses, and stacks that are missing or false",
	.examples = { "backstitch check perf.db",
		      "backstitch check --verbose perf.data",
		      "backstitch check --as-perf --as-tid perf.db",
		      "backstitch check --max-loss 0.1% --max-unjoined 10 perf.data",
		      "backstitch check --min-whole 90 perf.data" },
	.opts = opts,
	.common =
		"verbose limit as-perf max-loss max-unjoined json comm pid time event last symfs",
	.pages = true,
	.run = check_run,
};

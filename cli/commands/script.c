/* script.c - the command that prints samples as text, in perf script's shape.
 *
 * With -F the output is what perf script prints with the same -F, so that a
 * diff of both is a diff of contents; without it, each missing user half is
 * said as well. */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/chains.h"
#include "cli/command.h"
#include "cli/model/events.h"
#include "cli/model/filter.h"
#include "cli/output/out.h"
#include "cli/output/output.h"
#include "cli/tables/script.h"
#include "cli/stop.h"
#include "schema/store.h"
#include "stitch/base/err.h"

static const char *fields;
static bool show_lost, json, wall;
static bool inlined = true;

static const struct opt opts[] = {
	OPT_STRING('F', "fields", "FIELDS", &fields,
		   "print as perf script does, with these fields: comm, pid, "
		   "tid, cpu, time, period, event, trace, ip, sym, symoff, "
		   "dso, dsoff, srcline"),
	OPT_NO(0, "no-inline", &inlined, "leave out inlined functions"),
	OPT_FLAG(0, "show-lost", &show_lost,
		 "say between the samples where records were lost"),
	OPT_FLAG(0, "wall", &wall,
		 "print times as UTC, where the capture knows them"),
	OPT_FLAG(0, "json", &json, "one JSON object a line for each sample"),
	OPT_GROUP(filter_opts),
	OPT_GROUP(ingest_opts),
	{ .kind = OPT_END }
};

/* "[lost 12 records on CPU 3 from 1.000000 to 1.200000]" */
static void put_moment(const struct script_fields *f, const char *word,
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

static void put_loss(const struct script_fields *f, struct rows *r)
{
	printf("[lost %" PRId64 " record%s", rows_int(r, 4),
	       rows_int(r, 4) == 1 ? "" : "s");
	if (rows_value(r, 1).kind == VALUE_INT)
		printf(" on CPU %" PRId64, rows_int(r, 1));
	put_moment(f, "from", rows_value(r, 2));
	put_moment(f, "to", rows_value(r, 3));
	if (strcmp(rows_text(r, 0), "lost"))
		printf(": %s", rows_text(r, 0));
	fputs("]\n\n", stdout);
}

static void put_loss_json(struct rows *r)
{
	static const char *const name[] = { "lost", "cpu", "from_ns", "to_ns",
					    "records" };
	struct json_object *o = json_object_new_object();

	for (size_t i = 0; i < 5; i++) {
		struct value v = rows_value(r, i);

		if (v.kind != VALUE_NULL)
			json_object_object_add(o, name[i],
					       output_json_value(&v));
	}
	output_json_line(o);
	json_object_put(o);
}

/* The losses, merged into the stream of samples by their end. */
struct losses {
	const struct script_fields *f;
	struct rows *rows;
	bool more;
};

static int next_loss(struct losses *l, struct err *err)
{
	int ret = rows_next(l->rows, err);

	l->more = ret > 0;
	return ret < 0 ? -1 : 0;
}

/* All that ended before `time`; all when `rest`. */
static int losses_until(struct losses *l, int64_t time, bool rest,
			struct err *err)
{
	while (l->more) {
		struct value t1 = rows_value(l->rows, 3);

		if (!rest && (t1.kind != VALUE_INT || t1.num > time))
			return 0;
		if (json)
			put_loss_json(l->rows);
		else
			put_loss(l->f, l->rows);
		if (next_loss(l, err))
			return -1;
	}
	return 0;
}

static int print_rows(struct script *s, struct events *ev, struct losses *l,
		      struct err *err)
{
	struct event_row e;
	int ret;

	while ((ret = events_next(ev, &e, err)) > 0) {
		if (!script_is_sample(s, e.type))
			continue;
		if (l->more && e.timed && losses_until(l, e.time, false, err))
			return -1;
		ret = json ? script_json(s, &e, err) : script_text(s, &e, err);
		if (ret)
			return -1;
		if (out_failed() || stop_requested())
			return 0;
	}
	if (ret < 0)
		return -1;
	return losses_until(l, 0, true, err);
}

static int print_all(struct store *db, const struct script_fields *f,
		     struct err *err)
{
	struct losses l = { .f = f };
	struct script *s = script_new(db, f, err);
	struct events *ev = NULL;
	int ret = -1;

	if (!s)
		return -1;
	ev = events_open(db, err);
	if (!ev)
		goto out;
	if (show_lost) {
		l.rows = rows_open(db, store_sql("print_losses"), NULL, 0, err);
		if (!l.rows || next_loss(&l, err))
			goto out;
	}
	ret = print_rows(s, ev, &l, err);
out:
	rows_close(l.rows);
	events_close(ev);
	script_free(s);
	return ret;
}

/* The capture's clock against the one on the wall. */
static int find_wall(struct store *db, struct script_fields *f,
		     const char *path, struct err *err)
{
	struct rows *r = rows_open(db, store_sql("fn_wall"), NULL, 0, err);
	int got = r ? rows_next(r, err) : -1;

	f->wall = got > 0;
	f->wall_offset = got > 0 ? rows_int(r, 0) : 0;
	rows_close(r);
	if (!got)
		return err_set(err, ERR_FORMAT,
			       "%s: does not say the time on the wall; perf "
			       "record -k mono notes it, and LTTng always does",
			       path);
	return got < 0 ? -1 : 0;
}

static int run(int argc, char **argv, struct err *err)
{
	struct script_fields f;
	int status = STATUS_OK;
	const char *path;
	struct store *db;
	int ret;

	if (fields && json)
		return err_set(err, ERR_USAGE,
			       "-F is for text; --json always has all fields");
	if (script_parse(fields, &f, err))
		return -1;
	f.frame.json = json;
	f.frame.inlined = inlined && (f.frame.sym || json);
	path = input_path(argc, argv, err);
	if (!path)
		return -1;
	db = database_open(path, &status, err);
	if (!db)
		return -1;
	ret = wall ? find_wall(db, &f, path, err) : 0;
	if (!ret)
		ret = print_all(db, &f, err);
	store_close(db);
	return ret ? -1 : status;
}

static const char *const examples[] = {
	"backstitch script perf.db | less",
	"backstitch script --comm nginx --time 10%-20% perf.db",
	"backstitch script -F comm,pid,tid,cpu,time,event,ip perf.db", NULL
};

extern const struct command cmd_script;
const struct command cmd_script = {
	.name = "script",
	.args = "[options] [DB | CAPTURE]",
	.summary = "print samples as text, in perf script's shape",
	.examples = examples,
	.opts = opts,
	.pages = true,
	.run = run,
};

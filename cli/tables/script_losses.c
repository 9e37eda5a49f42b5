/* script_losses.c - the lines of script --show-lost between the samples. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/output/json.h"
#include "cli/output/safe_text.h"
#include "cli/tables/script.h"
#include "schema/columns.h"
#include "schema/store.h"

/* "[lost 12 records on CPU 3 from 1.000000 to 1.200000]" */
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
	printf("[lost %" PRId64 " record%s", rows_int(r, PRINT_LOSSES_N),
	       rows_int(r, PRINT_LOSSES_N) == 1 ? "" : "s");
	if (rows_value(r, PRINT_LOSSES_CPU).kind == VALUE_INT)
		printf(" on CPU %" PRId64, rows_int(r, PRINT_LOSSES_CPU));
	script_loss_moment(f, "from", rows_value(r, PRINT_LOSSES_T0));
	script_loss_moment(f, "to", rows_value(r, PRINT_LOSSES_T1));
	if (strcmp(rows_text(r, PRINT_LOSSES_WHAT), "lost")) {
		fputs(": ", stdout);
		safe_text_put(stdout, rows_text(r, PRINT_LOSSES_WHAT), 0, 0);
	}
	fputs("]\n\n", stdout);
}

static void script_loss_json(struct rows *r)
{
	static const char *const name[] = { "lost", "cpu", "from_ns", "to_ns",
					    "records" };
	struct json j;

	json_answer(&j, stdout, JSON_COMPACT);
	for (size_t i = 0; i < 5; i++) {
		struct value v = rows_value(r, i);

		if (v.kind != VALUE_NULL)
			json_value(&j, name[i], &v);
	}
	json_finish(&j);
}

static int script_losses_next(struct script_losses *l, struct err *err)
{
	int ret = rows_next(l->rows, err);

	l->more = ret > 0;
	return ret < 0 ? -1 : 0;
}

int script_losses_open(struct script_losses *l, struct store *db,
		       const struct script_fields *f, struct err *err)
{
	l->f = f;
	l->rows = rows_of(db, "print_losses", err);
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
		if (l->f->frame.json)
			script_loss_json(l->rows);
		else
			script_loss_text(l->f, l->rows);
		if (script_losses_next(l, err))
			return -1;
	}
	return 0;
}

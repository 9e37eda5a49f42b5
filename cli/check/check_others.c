/* check_others.c - --as-perf and --as-tid: the stacks that perf's rule, or
 * taking the next chain of the thread, gives for the same records. */
#include <inttypes.h>

#include "analyze/check/check.h"
#include "cli/check/check_print.h"
#include "stitch/text/human.h"
#include "cli/output/lines.h"
#include "stitch/base/mem.h"

#define SHOWN 3	    /* wrong stacks printed next to the true ones */
#define LOOKED 1000 /* candidates for the stacks that are printed */

struct others {
	struct check *c;
	struct lines l;

	/* events and threads of the wrong stacks already printed */
	int64_t event[SHOWN], tid[SHOWN];
	size_t shown;
	bool again; /* threads may repeat */
};

static void put_as_perf(struct others *o, const struct check_row *r)
{
	if (!check_int(r, "requests")) {
		lines_print(&o->l, "as perf",
			    "no request has a cookie: nothing to compare");
		return;
	}
	check_say_line(&o->l, r,
		       "{requests:,} requests = {merged:,} joined by perf + "
		       "{only_ours:,} joined only by us + {not_in_file:,} "
		       "whose chain is not in the file");
	static const struct {
		const char *column, *text;
	} why[] = {
		{ "loss_window", "with a loss window" },
		{ "loss_unplaced", "with a loss somewhere" },
		{ "pending_end", "pending at the end" },
		{ "exit_per_task", "of threads that ended" },
		{ "stripped", "stripped" },
	};
	const char *sep = " (";

	for (size_t i = 0; i < ARRAY_SIZE(why); i++) {
		int64_t n = check_int(r, why[i].column);

		if (!n)
			continue;
		lines_add(&o->l, "%s%s %s", sep, HUMAN_GROUPED(n), why[i].text);
		sep = ", ";
	}
	if (sep[0] == ',')
		lines_add(&o->l, ")");
	check_say_line(&o->l, r, ", {unexplained:,} unexplained");
	lines_put(&o->l, "as perf");
	lines_print(
		&o->l, "",
		"perf prints %s without a user stack, %s of them only when the file ends",
		HUMAN_GROUPED(check_int(r, "bare") +
			      check_int(r, "bare_at_end")),
		HUMAN_GROUPED(check_int(r, "bare_at_end")));
	check_say_line(&o->l, r,
		       "of the {merged:,} it joins, {other_program:,} get the "
		       "stack of another program (exec between)");
	lines_put(&o->l, "");
	check_say_line(
		&o->l, r,
		"it prints {late:,} after a later sample[, and holds one "
		"back for {longest_held_ns:n}]");
	lines_put(&o->l, "");
	if (!check_int(r, "only_perf"))
		return;
	check_say_line(&o->l, r, "{only_perf:,} are joined by perf only");
	lines_put_styled(&o->l, "", STYLE_YELLOW);
}

static void put_as_tid(struct others *o, const struct check_row *r)
{
	if (!check_int(r, "requests")) {
		lines_print(&o->l, "as tid",
			    "no request has a cookie: nothing to compare");
		return;
	}
	check_say_line(&o->l, r,
		       "{requests:,} requests = {right_stack:,} with the true "
		       "stack + {wrong_stack:,} with a wrong stack + "
		       "{no_stack:,} with none");
	lines_put(&o->l, "as tid");
	if (!check_int(r, "wrong_stack"))
		return;
	check_say_line(&o->l, r,
		       "the true stack of {wrong_joined:,} of the wrong ones "
		       "is in the file ({wrong_alike:,} have the same "
		       "addresses by chance)");
	lines_put(&o->l, "");
}

static void put_wrong(struct others *o, const struct check_row *r)
{
	bool joined = !strcmp(check_text(r, "verdict"), "matched");

	/* Skips examples that repeat an earlier thread or stack. */
	int64_t tid = check_int(r, "tid");
	int64_t event = check_int(r, "event");

	if (o->shown == SHOWN)
		return;
	if (!strcmp(check_text(r, "wrong_stack"), check_text(r, "true_stack")))
		return;
	for (size_t i = 0; i < o->shown; i++)
		if (o->event[i] == event || (!o->again && o->tid[i] == tid))
			return;
	o->event[o->shown] = event;
	o->tid[o->shown++] = tid;
	check_say_line(&o->l, r,
		       check_null(r, "time_ns") ? "event {event:d}"
						: "{time_ns:s}");
	check_say_line(&o->l, r, " {comm}/{tid:d}, cookie {cookie}");
	lines_put(&o->l, "");
	check_say_line(&o->l, r, "wrong: {wrong_stack|(empty)}");
	lines_put(&o->l, "");
	check_say_line(&o->l, r,
		       joined ? "true: {true_stack|(empty)}"
			      : "true: not in the file ({verdict})");
	lines_put(&o->l, "");
}

static int others_each(struct others *o, const char *name, long limit,
		       void (*put)(struct others *o, const struct check_row *r),
		       struct err *err)
{
	struct check_row r;

	if (check_open_live(o->c, name, limit, &r, err))
		return -1;
	while (check_next(&r))
		put(o, &r);
	return check_close(&r, err);
}

int check_others(struct check *c, struct err *err)
{
	struct others o = {
		.c = c, .l = { .out = stdout, .width = term_columns(stdout) }
	};

	putchar('\n');
	if (c->as_perf && others_each(&o, "as_perf", 0, put_as_perf, err))
		return -1;
	if (!c->as_tid)
		return 0;
	if (others_each(&o, "as_tid", 0, put_as_tid, err) ||
	    others_each(&o, "as_tid_wrong", LOOKED, put_wrong, err))
		return -1;
	o.again = true;
	return o.shown == SHOWN ? 0
				: others_each(&o, "as_tid_wrong", LOOKED,
					      put_wrong, err);
}

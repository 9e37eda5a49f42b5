/* check_judge.c - the verdict: compares what was found with what is
 * tolerated. */

#include "cli/audit/check.h"
#include "stitch/base/err.h"
#include "stitch/base/wide.h"

#define ALL 100000000 /* 100 %, in millionths of a percent */
/* A capture is doubtful if less than one user stack in this many is whole, more
 * than one in this many is wrong, or one sample in this many has the name of a
 * file that nothing proves. */
#define WHOLE_OF 2
#define WRONG_OF 20
#define UNPROVED_OF 2

/* Returns whether part of whole is within the limit. */
static bool judge_is_within(const struct check_limit *l, int64_t part,
			    int64_t whole)
{
	if (part <= 0)
		return true;
	if (!l->percent)
		return (uint64_t)part <= l->n;
	return !wide_less((uint64_t)whole, l->n, (uint64_t)part, ALL);
}

static void take_breaks(void *arg, const struct check_row *r)
{
	struct check_breaks *b = arg;

	b->requests = check_int(r, "requests");
	b->chains = check_int(r, "chains");
	b->lost = check_int(r, "lost");
	b->lost_unknown = check_int(r, "lost_unknown");
	b->out_of_order = check_int(r, "out_of_order");
	b->findings = check_int(r, "findings");
	b->vanished = check_int(r, "vanished");
	b->not_provable = check_int(r, "not_provable");
	b->open_findings = check_int(r, "open_findings");
	b->open_chains = check_int(r, "open_chains");
}

static void judge_take_gaps(void *arg, const struct check_row *r)
{
	struct check_breaks *b = arg;

	b->touched = check_int(r, "touched_ns");
	b->all_time = check_int(r, "all_ns");
	b->gaps_broken = check_int(r, "broken");
	b->gaps_open = check_int(r, "open");
	b->gaps_lost = check_int(r, "losses");
}

static void judge_take_unjudged(void *arg, const struct check_row *r)
{
	struct check_breaks *b = arg;

	(void)r;
	b->unjudged = true;
}

/* With --max-gaps it is their share that breaks a recording. */
static void judge_gaps(struct check *c)
{
	struct check_breaks *b = &c->breaks;

	if (!c->limits_gaps)
		return;
	b->gaps = b->unjudged ||
		  !judge_is_within(&c->max_gaps, b->touched, b->all_time);
	b->findings -= b->gaps_broken;
	b->open_findings -= b->gaps_open;
	b->lost_unknown -= b->gaps_lost;
}

/* A database remembers what its capture was damaged by. */
static void judge_take_damage(void *arg, const struct check_row *r)
{
	struct check *c = arg;

	if (check_int(r, "places") && !c->status)
		c->status = STATUS_DAMAGED;
}

static void take_records(void *arg, const struct check_row *r)
{
	struct check_breaks *b = arg;

	b->records += check_int(r, "records");
}

static void judge_take_requests(void *arg, const struct check_row *r)
{
	struct check_breaks *b = arg;

	b->asked = check_int(r, "requests");
	b->joined = check_int(r, "matched");
	b->refused = check_int(r, "refused");
	b->all_stacks = b->asked + b->chains;
}

int check_judge(struct check *c, struct err *err)
{
	struct check_breaks *b = &c->breaks;

	if (check_each(c, "breaks", 0, take_breaks, b, err) < 0 ||
	    check_each(c, "captures", 0, take_records, b, err) < 0 ||
	    check_each(c, "requests", 0, judge_take_requests, b, err) < 0 ||
	    check_each(c, "damage", 0, judge_take_damage, c, err) < 0 ||
	    check_each(c, "gaps", 0, judge_take_gaps, b, err) < 0 ||
	    check_each(c, "not_followed", 1, judge_take_unjudged, b, err) < 0 ||
	    !(c->trust = trust_read(c->db, err)))
		return -1;
	if (c->max_loss.percent && !check_covers(CHECK_WHOLE))
		return err_set(err, ERR_USAGE,
			       "--max-loss in percent is of the whole capture; "
			       "with filters give a number of records");
	if (c->limits_gaps && !check_covers(CHECK_WHOLE))
		return err_set(err, ERR_USAGE,
			       "--max-gaps is of the whole capture; leave out "
			       "the filters");
	judge_gaps(c);
	/* Each of the stays that vanished lost a sample at least. */
	int64_t lost = b->lost + b->vanished;

	b->loss = !judge_is_within(&c->max_loss, lost, lost + b->records);
	/* The number is unknown, so only a limit of 100 % is certain to cover
	 * it. */
	if (b->lost_unknown && !(c->max_loss.percent && c->max_loss.n >= ALL))
		b->loss = true;
	b->unjoined = !judge_is_within(&c->max_unjoined,
				       b->requests + b->chains, b->all_stacks);
	struct trust_counts t = trust_count(c->trust);

	b->few_whole = wide_less((uint64_t)t.whole, ALL, (uint64_t)t.all,
				 c->min_whole.n);
	b->bad = b->loss || b->unjoined || b->few_whole || b->gaps ||
		 b->out_of_order > 0 || b->findings > 0;
	b->tolerated = !b->bad && (lost || b->lost_unknown || b->requests ||
				   b->chains || (c->limits_gaps && b->touched));
	return 0;
}

bool check_is_open(const struct check_breaks *b)
{
	return b->not_provable || b->open_findings || b->open_chains;
}

enum check_doubt check_doubt(const struct check *c)
{
	struct trust_counts t = trust_count(c->trust);

	if (t.recorded && t.whole * WHOLE_OF < t.all)
		return DOUBT_FEW;
	if (t.wrong * WRONG_OF > t.all)
		return DOUBT_WRONG;
	return t.unproved * UNPROVED_OF > t.counted ? DOUBT_UNPROVED
						    : DOUBT_NONE;
}

const char *check_verdict(const struct check *c)
{
	if (c->breaks.bad)
		return "broken";
	if (c->status == STATUS_DAMAGED)
		return "damaged";
	if (check_is_open(&c->breaks))
		return "unproved";
	return check_doubt(c) ? "doubtful" : "clean";
}

int check_status(const struct check *c)
{
	return c->breaks.bad ? STATUS_LOSS : c->status;
}

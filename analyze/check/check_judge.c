/* check_judge.c - the verdict: compares what was found with what is
 * tolerated. */

#include "analyze/check/check.h"
#include "stitch/base/err.h"
#include "stitch/base/wide.h"

#define ALL 100000000 /* 100 %, in millionths of a percent */
/* A capture is doubtful if less than one user stack in this many is whole, more
 * than one in this many is wrong, or one sample in this many has the name of a
 * file that nothing proves. */
#define WHOLE_OF 2
#define WRONG_OF 20
#define UNPROVED_OF 2

static bool judge_is_within(const struct check_limit *l, int64_t part,
			    int64_t whole)
{
	if (part <= 0)
		return true;
	if (!l->percent)
		return (uint64_t)part <= l->n;
	return !wide_less((uint64_t)whole, l->n, (uint64_t)part, ALL);
}

static int judge_read(struct check *c, struct err *err)
{
	struct check_breaks *b = &c->breaks;
	struct check_row broken, requests, gaps, unjudged, unlisted, capture;
	int64_t damaged = 0;

	if (check_open(c, "breaks", &broken, err) < 0 ||
	    check_sum(c, "captures", "records", &b->records, err) ||
	    check_open(c, "requests", &requests, err) < 0 ||
	    check_sum(c, "damage", "places", &damaged, err) ||
	    check_open(c, "gaps", &gaps, err) < 0 ||
	    check_open(c, "not_followed", &unjudged, err) < 0 ||
	    check_open(c, "unlisted", &unlisted, err) < 0 ||
	    check_open(c, "captures", &capture, err) < 0)
		return -1;
	while (check_next(&capture))
		b->untold |= !strcmp(check_text(&capture, "format"), "ptext");
	if (check_next(&broken)) {
		b->requests = check_count(&broken, "requests");
		b->chains = check_count(&broken, "chains");
		b->lost = check_count(&broken, "lost");
		b->lost_unknown = check_count(&broken, "lost_unknown");
		b->out_of_order = check_count(&broken, "out_of_order");
		b->findings = check_count(&broken, "findings");
		b->vanished = check_count(&broken, "vanished");
		b->not_provable = check_count(&broken, "not_provable");
		b->open_findings = check_count(&broken, "open_findings");
		b->open_chains = check_count(&broken, "open_chains");
	}
	if (check_next(&requests)) {
		b->asked = check_count(&requests, "requests");
		b->joined = check_count(&requests, "matched");
		b->refused = check_count(&requests, "refused");
		b->all_stacks = b->asked + b->chains;
	}
	/* a database remembers what its capture was damaged by */
	c->damaged |= damaged > 0;
	if (check_next(&gaps)) {
		b->touched = check_count(&gaps, "touched_ns");
		b->all_time = check_count(&gaps, "all_ns");
		b->gaps_broken = check_count(&gaps, "broken");
		b->gaps_open = check_count(&gaps, "open");
		b->gaps_lost = check_count(&gaps, "losses");
	}
	b->unjudged = unjudged.n;
	b->unlisted = unlisted.n;
	c->trust = trust_read(c->db, c->filter, err);
	return c->trust ? 0 : -1;
}

int check_judge(struct check *c, struct err *err)
{
	struct check_breaks *b = &c->breaks;

	if (judge_read(c, err))
		return -1;
	if (c->max_loss.percent && !check_covers(c, CHECK_WHOLE))
		return err_set(err, ERR_USAGE,
			       "--max-loss in percent is of the whole capture; "
			       "with filters give a number of records");
	if (c->limits_gaps && !check_covers(c, CHECK_WHOLE))
		return err_set(err, ERR_USAGE,
			       "--max-gaps is of the whole capture; leave out "
			       "the filters");
	/* With --max-gaps it is their share that breaks a recording. */
	struct check_breaks *breaks = &c->breaks;

	if (c->limits_gaps) {
		breaks->gaps = breaks->unjudged ||
			       !judge_is_within(&c->max_gaps, breaks->touched,
						breaks->all_time);
		breaks->findings -= breaks->gaps_broken;
		breaks->open_findings -= breaks->gaps_open;
		breaks->lost_unknown -= breaks->gaps_lost;
	}
	if (b->gaps_broken + b->gaps_open > 0 && !c->banner && !c->served &&
	    check_covers(c, CHECK_WHOLE) &&
	    silent_tasks_load(&c->silent, c->db, c->path, err))
		return -1;
	/* Each of the stays that vanished lost a sample at least. */
	int64_t lost = b->lost + b->vanished;

	b->loss = !judge_is_within(&c->max_loss, lost, lost + b->records);
	/* The number is unknown, so only a limit of 100 % is certain to cover
	 * it. */
	if ((b->lost_unknown || b->unlisted) &&
	    !(c->max_loss.percent && c->max_loss.n >= ALL))
		b->loss = true;
	b->unjoined = !judge_is_within(&c->max_unjoined,
				       b->requests + b->chains, b->all_stacks);
	struct trust_counts t = trust_count(c->trust);

	b->few_whole = wide_less((uint64_t)t.whole, ALL, (uint64_t)t.all,
				 c->min_whole.n);
	b->bad = b->loss || b->unjoined || b->few_whole || b->gaps ||
		 b->out_of_order > 0 || b->findings > 0;
	b->tolerated = !b->bad &&
		       (lost || b->lost_unknown || b->unlisted || b->requests ||
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

	if (c->breaks.untold)
		return DOUBT_UNTOLD;
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
	if (c->damaged)
		return "damaged";
	if (check_is_open(&c->breaks))
		return "unproved";
	return check_doubt(c) ? "doubtful" : "clean";
}

/* rules.h - for tests of rules: what is found in a capture written as text. */
#pragma once
#include "stitch/audit/rules.h"

#include "tests/unit/script.h"

#include "tests/unit/facts.h"

/* What a row says about the loss that a finding names. */
enum rules_loss {
	LOSS_ANY,
	LOSS_NONE,
	LOSS_SOME,
};

/* A capture, and the only finding in it. What is 0 is not compared. */
struct rules_row {
	const char *name;
	const char *records; /* see script.h */
	const char *rule;    /* NULL: nothing is found */
	int64_t since, time;
	enum rules_loss loss;
	uint32_t loss_id, event;
	uint64_t n;
};

static inline uint32_t rules_index(const char *name)
{
	for (uint32_t i = 0; rules[i].name; i++)
		if (!strcmp(rules[i].name, name))
			return i;
	ck_abort_msg("no rule '%s'", name);
	return 0;
}

/* Runs f, fails unless all its findings are one, of this rule (NULL: there is
 * none), and returns it. */
static inline struct fact_finding rules_only(struct fake *f, const char *name)
{
	struct all_facts all = stitch_all(&f, 1);
	struct fact_finding one = { 0 };
	size_t n = fact_count(&all, FACT_FINDING);

	for (size_t i = 0; i < n; i++) {
		one = fact_at(&all, FACT_FINDING, i)->finding;
		ck_assert_msg(name && one.rule == rules_index(name),
			      "a finding of %s", rules[one.rule].name);
	}
	ck_assert_msg(n == !!name, "%zu findings of %s", n, name ? name : "");
	facts_done(&all);
	return one;
}

static inline void rules_check(struct fake *f, const struct rules_row *row)
{
	struct fact_finding one = rules_only(f, row->rule);

	if (row->since)
		ck_assert_int_eq(one.since, row->since);
	if (row->time)
		ck_assert_int_eq(one.time, row->time);
	if (row->loss)
		ck_assert_int_eq(one.loss != 0, row->loss == LOSS_SOME);
	if (row->loss_id)
		ck_assert_uint_eq(one.loss, row->loss_id);
	if (row->event)
		ck_assert_uint_eq(one.event, row->event);
	if (row->n)
		ck_assert_uint_eq(one.n, row->n);
}

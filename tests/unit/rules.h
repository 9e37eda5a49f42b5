/* rules.h - for tests of rules: what was found in a fake capture. */
#ifndef TESTS_UNIT_RULES_H
#define TESTS_UNIT_RULES_H
#include "stitch/audit/rules.h"

#include "tests/unit/run.h"

#include "tests/unit/facts.h"

#define CODE 0x400000
#define NOWHERE 0x700000
#define SECOND 1000000000ull

static inline uint32_t rule_index(const char *name)
{
	for (uint32_t i = 0; rules[i].name; i++)
		if (!strcmp(rules[i].name, name))
			return i;
	ck_abort_msg("no rule '%s'", name);
	return 0;
}

/* The only finding of a rule, NULL when there is none; fails on two. */
static inline const struct fact_finding *found(const struct all_facts *all,
					       const char *name)
{
	const struct fact_finding *one = NULL;
	uint32_t rule = rule_index(name);

	for (size_t i = 0; i < all->n; i++) {
		const struct fact_finding *f = &all->fact[i].finding;

		if (all->fact[i].kind != FACT_FINDING || f->rule != rule)
			continue;
		ck_assert_msg(!one, "two findings of %s", name);
		one = f;
	}
	return one;
}

/* Runs f; all findings are of this rule, and there is just one; name NULL:
 * there is none. */
static inline struct fact_finding only(struct fake *f, const char *name)
{
	struct all_facts all = stitch_all(&f, 1);
	const struct fact_finding *one = name ? found(&all, name) : NULL;
	struct fact_finding copy = { 0 };
	size_t n = fact_count(&all, FACT_FINDING);

	for (size_t i = 0; i < n; i++) {
		const struct fact *x = fact_at(&all, FACT_FINDING, i);

		ck_assert_msg(name && x->finding.rule == rule_index(name),
			      "a finding of %s", rules[x->finding.rule].name);
	}
	ck_assert_msg(!name || one, "no finding of %s", name ? name : "");
	if (one)
		copy = *one;
	facts_done(&all);
	return copy;
}

static inline void silent(struct fake *f)
{
	only(f, NULL);
}

static inline struct fake_rec *user_hit(struct fake *f, uint64_t time,
					int32_t tid, uint64_t addr)
{
	struct fake_rec *s = fake_sample(f, time, tid, 0);

	s->rec.flags = REC_F_USER;
	s->rec.sample.event = 1;
	s->rec.sample.defer = DEFER_DIRECT;
	s->rec.sample.ip = s->ip[0] = addr;
	s->rec.sample.user.n = 1;
	return s;
}

static inline void of_process(struct fake_rec *r, int32_t pid)
{
	r->rec.pid = pid;
}

/* What the recorder tells of a thread that was there before. */
static inline void was_there(struct fake *f, int32_t tid)
{
	fake_comm(f, UINT64_MAX, tid, "old", false);
}

static inline int run_rules(const char *name, void (*add)(TCase *t))
{
	Suite *s = suite_create(name);
	TCase *t = tcase_create(name);

	tcase_set_timeout(t, RUN_TIMEOUT);
	add(t);
	suite_add_tcase(s, t);
	SRunner *sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	int failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
#endif

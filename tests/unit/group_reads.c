/* group_reads.c - samples of event groups: one event for each member. */
#include "stitch/tasks/group_reads.h"

#include "tests/unit/run.h"
#include "tests/unit/facts.h"

#define MEMBERS 2

static struct group_value value_of[8][MEMBERS];
static size_t n_values;

static void reads_reset(void)
{
	n_values = 0;
}

/* A sample of event 1, whose group also has event 0, with their values. */
static struct fake_rec *reads_sample(struct fake *f, uint64_t time, int32_t tid,
				     uint64_t own, uint64_t other)
{
	struct group_value *v = value_of[n_values++];
	struct fake_rec *fr = fake_sample(f, time, tid, 0);

	v[0] = (struct group_value){ 1, 71, own };
	v[1] = (struct group_value){ 0, 70, other };
	fr->rec.sample.event = 1;
	fr->rec.sample.weight = 5;
	fr->rec.sample.member = v;
	fr->rec.sample.n_member = MEMBERS;
	return fr;
}

static void reads_expect(const struct all_facts *all, size_t i, uint32_t type,
			 uint64_t weight, uint32_t leader)
{
	const struct fact *f = fact_at(all, FACT_EVENT, i);

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(f->event.type, type);
	ck_assert_uint_eq(f->event.weight, weight);
	ck_assert_uint_eq(f->event.leader, leader);
}

START_TEST(each_member_has_what_it_counted_since_the_last_sample)
{
	struct fake *f = fake_new();

	reads_sample(f, 10, 1, 100, 3);
	reads_sample(f, 20, 1, 150, 3);
	reads_sample(f, 30, 2, 175, 10);
	struct all_facts all = stitch_all(&f, 1);

	ck_assert_uint_eq(fact_count(&all, FACT_EVENT), 5);
	reads_expect(&all, 0, 1, 100, 0);
	reads_expect(&all, 1, 0, 3, 1);
	reads_expect(&all, 2, 1, 50, 0); /* event 0 counted nothing */
	reads_expect(&all, 3, 1, 25, 0);
	reads_expect(&all, 4, 0, 7, 4);
	facts_done(&all);
}
END_TEST

START_TEST(values_of_tasks_are_compared_with_those_of_the_task)
{
	struct fake *f = fake_new();

	for (uint64_t i = 0; i < 4; i++)
		reads_sample(f, 10 + i, 1 + (int32_t)(i % 2), 100 + 10 * i,
			     1 + i)
			->rec.sample.of_task = true;
	struct all_facts all = stitch_all(&f, 1);

	ck_assert_uint_eq(fact_count(&all, FACT_EVENT), 8);
	reads_expect(&all, 0, 1, 100, 0);
	reads_expect(&all, 2, 1, 110, 0);
	reads_expect(&all, 3, 0, 2, 3);
	reads_expect(&all, 4, 1, 20, 0);
	reads_expect(&all, 5, 0, 2, 5);
	reads_expect(&all, 6, 1, 20, 0);
	facts_done(&all);
}
END_TEST

START_TEST(a_value_that_goes_back_gives_no_weight)
{
	struct fake *f = fake_new();
	struct ledger_entry e;
	bool found = false;

	reads_sample(f, 10, 1, 100, 3);
	reads_sample(f, 20, 1, 90, 2);
	reads_sample(f, 30, 1, 120, 4);
	struct all_facts all = stitch_all(&f, 1);

	ck_assert_uint_eq(fact_count(&all, FACT_EVENT), 5);
	reads_expect(&all, 2, 1, 5, 0); /* the period */
	reads_expect(&all, 3, 1, 20, 0);
	reads_expect(&all, 4, 0, 1, 4);
	while (ledger_take(all.ledger, &e))
		if (!strcmp(e.what, "value of an event group")) {
			found = true;
			ck_assert_uint_eq(e.n, 2);
		}
	ck_assert(found);
	facts_done(&all);
}
END_TEST

START_TEST(a_deferred_stack_is_that_of_each_member)
{
	struct fake *f = fake_new();
	struct fake_rec *fr = reads_sample(f, 10, 1, 100, 3);

	fr->rec.sample.defer = DEFER_COOKIE;
	fr->rec.sample.cookie = 5;
	fake_chain(f, 20, 1, 5);
	struct all_facts all = stitch_all(&f, 1);

	ck_assert_uint_eq(fact_count(&all, FACT_EVENT), 2);
	ck_assert_uint_eq(fact_count(&all, FACT_REQUEST), 2);
	for (uint32_t i = 1; i <= 2; i++)
		ck_assert_int_eq(facts_request_of(&all, i)->verdict,
				 REQ_MATCHED);
	ck_assert_uint_eq(fact_at(&all, FACT_CHAIN, 0)->chain.n_events, 2);
	facts_done(&all);
}
END_TEST

RUN_WITH("group_reads", reads_reset, NULL,
	 each_member_has_what_it_counted_since_the_last_sample,
	 values_of_tasks_are_compared_with_those_of_the_task,
	 a_value_that_goes_back_gives_no_weight,
	 a_deferred_stack_is_that_of_each_member)

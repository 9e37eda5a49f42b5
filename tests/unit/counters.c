/* counters.c - tests of stitch/audit/counters.c. */
#include "stitch/join/sessions.h"
#include "stitch/audit/counters.h"

#include <stdio.h>
#include <string.h>

#include "stitch/fact_queue.h"
#include "stitch/base/losses.h"
#include "stitch/source.h"
#include "stitch/fact.h"
#include "stitch/verdict.h"
#include "tests/unit/run.h"
#include "tests/unit/script.h"

/* One capture of all of 8 CPUs with times.
 *
 * sights, as in script.h: TIME KIND COOKIE OPTION..., or a fact about the
 * capture. A cookie is N, the count N of CPU 0; N/C, that of CPU C; "~N/C" has
 * the halves swapped; "=A+B" is A + B.
 *	sample, chain	a sight, on=C (else that of the cookie); first: it tells
 *			of lost ones; source=N
 *	lose ID C T0 T1	a loss; T1 may be "end"
 *	of COOKIE C	the cookie's CPU is C by now
 *	totals N N N C	struct cookie_totals; C: the CPU of the foreign ones
 * Facts: LAYOUT's name, some_tasks, who_knows, overwrite, untimed, big_endian,
 * any_cpu (how many there are is not known), since=N (of the sights to come),
 * two (captures).
 *
 * facts: all that was found, as
 *	gap FIRST N T0-T1 VERDICT LOSS, found: and a finding that says so
 *	cpu C FIRST-LAST SEEN MISSING, then of what there is gaps=, late=,
 *	elsewhere=, wraps=
 *	LAYOUT MISSING no_chain= no_sample=: REASON, of the session */
struct counters_row {
	const char *name, *sights, *facts;
};

static const struct counters_row counters_rows[] = {
	{
		"capture_without_cookies_has_nothing_to_say",
		.sights = "",
		.facts = "",
	},
	{
		"gap_inside_a_loss_of_its_cpu_is_lost",
		"10 sample 3; - lose 7 0 12 50; 50 sample 11",
		.facts =
			"gap 5 3 10-50 lost 7; cpu 0 3-11 2 3 gaps=1; kernel 3",
	},
	{
		"loss_that_is_known_later_explains_too",
		"10 sample 3; 50 sample 11; - lose 7 -1 0 end",
		.facts =
			"gap 5 3 10-50 lost 7; cpu 0 3-11 2 3 gaps=1; kernel 3",
	},
	{
		"gap_without_any_loss_is_uncounted",
		"- lose 7 0 0 5; - lose 8 1 12 50; since=6; 10 sample 3;"
		"50 sample 11",
		.facts = "gap 5 3 10-50 uncounted 0 found; "
			 "cpu 0 3-11 2 3 gaps=1; kernel 3",
	},
	{
		"late_sight_takes_a_counter_out_of_its_gap",
		"10 sample 3; 50 sample 21; 60 sample 11 first; 61 chain 11",
		.facts = "gap 5 3 10-50 uncounted 0 found; "
			 "gap 13 4 10-50 uncounted 0 found; "
			 "cpu 0 3-21 3 7 gaps=2 late=1; kernel 7",
	},
	{
		"late_sights_fill_a_gap_from_both_ends",
		"10 sample 3; 50 sample 11; 51 sample 5 first; 52 sample 9 first;"
		"53 sample 9",
		.facts = "gap 7 1 10-50 uncounted 0 found; "
			 "cpu 0 3-11 4 1 gaps=1 late=2; kernel 1",
	},
	{
		"gap_that_was_filled_is_none",
		"10 sample 3; 50 sample 7; 51 chain 5",
		.facts = "cpu 0 3-7 3 0 late=1; kernel 0",
	},
	/* a chain may be written anywhere */
	{
		"sample_first_seen_elsewhere_tells_of_a_lost_one",
		"10 sample 3; 20 sample 5 on=2 first; 30 sample 5 on=3;"
		"40 chain 7 on=2",
		.facts = "cpu 0 3-7 3 0 elsewhere=1; kernel 0",
	},
	{
		"gap_begins_at_the_last_cookie_that_was_made_when_seen",
		"10 sample 3; 20 sample 5 on=2 first; 30 chain 7; 50 sample 11",
		.facts = "gap 9 1 10-50 uncounted 0 found; "
			 "cpu 0 3-11 4 1 gaps=1 elsewhere=1; kernel 1",
	},
	/* it was made in the loss, or now: nobody knows */
	{
		"first_sight_after_a_loss_may_be_of_an_old_cookie",
		"10 sample 3; - lose 7 0 12 50; 50 sample 5; 60 sample 9",
		.facts = "gap 7 1 10-60 lost 7; cpu 0 3-9 3 1 gaps=1; kernel 1",
	},
	{
		"thread_seen_after_a_loss_makes_a_young_cookie",
		"10 sample 3; - lose 7 0 12 50; since=55; 60 sample 5;"
		"70 sample 9",
		.facts = "gap 7 1 60-70 uncounted 0 found; "
			 "cpu 0 3-9 3 1 gaps=1; kernel 1",
	},
	/* whose thread was asleep since before */
	{
		"gap_below_the_first_sight_may_be_older_than_the_capture",
		"10 sample 101; 20 chain 3",
		.facts = "gap 5 48 -10 lost_or_foreign 0; "
			 "cpu 0 3-101 2 48 gaps=1 late=1; kernel 48",
	},
	{
		"counter_that_wraps_goes_on",
		"10 sample 0xfffffffd; 20 sample 0xffffffff; 30 sample 1;"
		"40 sample 3",
		.facts = "cpu 0 4294967293-3 4 0 wraps=1; kernel 0",
	},
	{
		"gap_may_lie_across_the_wrap",
		"10 sample 0xfffffffb; 20 sample 5; 30 sample 0xffffffff first",
		.facts = "gap 4294967293 1 10-20 uncounted 0 found; "
			 "gap 1 2 10-20 uncounted 0 found; "
			 "cpu 0 4294967291-5 3 3 gaps=2 late=1 wraps=1; "
			 "kernel 3",
	},
	{
		"late_sight_from_before_the_wrap_is_no_new_round",
		"10 sample 1; 20 sample 0xffffffff first",
		.facts = "cpu 0 4294967295-1 2 0 late=1 wraps=1; kernel 0",
	},
	{
		"gaps_of_some_tasks_prove_nothing",
		"some_tasks; 10 sample 3; - lose 7 0 12 50; 50 sample 7;"
		"60 sample 11; - totals 4 5 0 0",
		.facts =
			"gap 5 1 10-50 lost_or_foreign 7; "
			"gap 9 1 10-60 lost_or_foreign 7; "
			"cpu 0 3-11 3 2 gaps=2; "
			"kernel 2 no_chain=4 no_sample=5: only some tasks or CPUs were recorded",
	},
	{
		"gaps_of_who_knows_which_tasks_prove_nothing",
		"who_knows; 10 sample 3; - lose 7 0 12 50; 50 sample 7;"
		"60 sample 11; - totals 4 5 0 0",
		.facts =
			"gap 5 1 10-50 lost_or_foreign 7; "
			"gap 9 1 10-60 lost_or_foreign 7; "
			"cpu 0 3-11 3 2 gaps=2; "
			"kernel 2 no_chain=4 no_sample=5: it is not known whether all tasks were recorded",
	},
	{
		"gaps_beside_another_session_prove_nothing",
		"10 sample 3; - lose 7 0 12 50; 50 sample 7; 60 sample 11;"
		"- totals 4 5 1 0",
		.facts =
			"gap 5 1 10-50 lost_or_foreign 7; "
			"gap 9 1 10-60 lost_or_foreign 7; "
			"cpu 0 3-11 3 2 gaps=2; "
			"kernel 2 no_chain=4 no_sample=5: another session asked for stacks too",
	},
	{
		"gaps_in_a_ring_that_overwrites_prove_nothing",
		"overwrite; 10 sample 3; - lose 7 0 12 50; 50 sample 7;"
		"60 sample 11; - totals 4 5 0 0",
		.facts =
			"gap 5 1 10-50 lost_or_foreign 7; "
			"gap 9 1 10-60 lost_or_foreign 7; "
			"cpu 0 3-11 3 2 gaps=2; "
			"kernel 2 no_chain=4 no_sample=5: the ring was overwritten",
	},
	{
		"gaps_beside_the_cpus_of_another_session_are_proved",
		"10 sample 3; 50 sample 7; 10 sample 3/1; 50 sample 7/1;"
		"- totals 0 1 1 1",
		.facts =
			"gap 5 1 10-50 uncounted 0 found; "
			"cpu 0 3-7 2 1 gaps=1; "
			"gap 5 1 10-50 lost_or_foreign 0; "
			"cpu 1 3-7 2 1 gaps=1; "
			"kernel 2 no_sample=1: another session asked for stacks too",
	},
	{
		"an_uncounted_gap_is_a_finding",
		"10 sample 3; 50 sample 11",
		.facts = "gap 5 3 10-50 uncounted 0 found; "
			 "cpu 0 3-11 2 3 gaps=1; kernel 3",
	},
	{
		"gaps_without_times_prove_nothing_and_no_sight_is_late",
		"untimed; - sample 3; - sample 9; - sample 5; - sample 11 on=4",
		.facts = "gap 7 1 - lost_or_foreign 0; cpu 0 3-11 4 1 gaps=1; "
			 "kernel 1: records have no times",
	},
	{
		"even_counter_is_not_the_kernels",
		"10 sample 103; 20 sample 107; 30 sample 104/1; 40 sample 105;"
		"- of 103 -1",
		.facts = "opaque 0: the layout of the cookies is not known",
	},
	{
		"cpu_that_cannot_be_is_not_the_kernels",
		"10 sample 103; 20 sample 107; 30 sample 105/8 on=1;"
		"40 sample 105; - of 103 -1",
		.facts = "opaque 0: the layout of the cookies is not known",
	},
	{
		"cookie_without_a_cpu_is_not_the_kernels",
		"10 sample 103; 20 sample 107; 30 sample 105/-1 on=1;"
		"40 sample 105; - of 103 -1",
		.facts = "opaque 0: the layout of the cookies is not known",
	},
	{
		"cpu_numbers_with_holes_are_known_from_the_records",
		"10 sample 3/32; 20 sample 3",
		.facts = "cpu 0 3-3 1 0; cpu 32 3-3 1 0; kernel 0",
	},
	{
		"cpu_of_a_cookie_is_known_once_the_layout_is",
		"- of 3/5 -1; 10 sample 3; - of 3/5 5",
		.facts = "cpu 0 3-3 1 0; kernel 0",
	},
	{
		"halves_of_a_big_endian_machine_are_swapped",
		"big_endian; 10 sample ~3/2; 20 sample ~5/2; 30 sample ~901/2",
		.facts = "gap 7 447 20-30 uncounted 0 found; "
			 "cpu 2 3-901 3 447 gaps=1; kernel 447",
	},
	/* the first one has CPU 2 both ways */
	{
		"halves_that_were_not_swapped_show_at_a_cookie_that_fits_one_way",
		"big_endian; 10 sample 3/2; 20 sample 5/2 first; 30 sample 901/2;"
		"- of 5/2 2",
		.facts = "gap 7 447 20-30 uncounted 0 found; "
			 "cpu 2 3-901 3 447 gaps=1; kernel 447",
	},
	{
		"halves_are_told_by_where_the_first_was_seen",
		"any_cpu; 10 sample ~3/4; - of ~3/4 4",
		.facts = "cpu 4 3-3 1 0; kernel 0",
	},
	{
		"cpu_in_the_top_bits_when_named",
		"cpu48; 10 sample =0x3000000000000+10 on=3;"
		"20 sample =0x3000000000000+12 on=3",
		.facts = "gap 11 1 10-20 uncounted 0 found; "
			 "cpu 3 10-12 2 1 gaps=1; cpu48 1",
	},
	{
		"counter_that_carries_into_the_cpu_is_of_its_cpu",
		"cpu48; 10 sample =0x3fffffffffffe+0 on=3;"
		"11 sample =0x4000000000000+1000000000000 on=4;"
		"20 sample =0x3fffffffffffe+1 on=3;"
		"21 sample =0x4000000000000+1000000000001 on=4;"
		"30 sample =0x3fffffffffffe+2 on=3;"
		"31 sample =0x4000000000000+1000000000002 on=4;"
		"- of =0x4000000000000+0 3",
		.facts = "cpu 3 281474976710654-0 3 0 wraps=1; "
			 "cpu 4 1000000000000-1000000000002 3 0; cpu48 0",
	},
	{
		"and_also_where_the_next_cpu_has_made_none",
		"cpu48; 10 sample =0x3fffffffffffe+0 on=3;"
		"20 sample =0x3fffffffffffe+1 on=3;"
		"30 sample =0x3fffffffffffe+2 on=3;"
		"- of =0x4000000000000+0 3",
		.facts = "cpu 3 281474976710654-0 3 0 wraps=1; cpu48 0",
	},
	{
		"cpu_in_the_low_bits_when_named",
		"lowcpu; 10 sample =0xa003+0 on=3; 20 sample =0xc003+0 on=3",
		.facts = "gap 11 1 10-20 uncounted 0 found; "
			 "cpu 3 10-12 2 1 gaps=1; lowcpu 1",
	},
	{
		"cpu_in_the_low_half_when_named",
		"pair; 10 sample =0xa00000000+0; 20 sample =0xc00000000+0",
		.facts = "gap 11 1 10-20 uncounted 0 found; "
			 "cpu 0 10-12 2 1 gaps=1; pair 1",
	},
	{
		"opaque_is_opaque_when_named",
		"opaque; 10 sample 3; 20 sample 9 on=3",
		.facts = "opaque 0: the layout of the cookies is not known",
	},
	{
		"captures_are_counted_apart",
		"two; 10 sample 3; 5 sample 99 source=2",
		.facts = "cpu 0 3-3 1 0; kernel 0",
	},
};

struct set {
	struct fact_queue q;
	struct losses *losses;
	struct counters *cs;
	struct source_info info;
	struct fact fact[4096]; /* after end_with() */
	size_t n;
	int64_t since; /* of the sights to come */
};

static struct set s;

static void counters_begin(unsigned int layout)
{
	memset(&s, 0, sizeof(s));
	s.info.has_time = true;
	s.info.system_wide = TRI_YES;
	s.info.cpus_avail = 8;
	s.since = 0;
	s.losses = losses_new();
	s.cs = counters_new(&s.q, s.losses, layout);
	counters_source(s.cs, 0, &s.info, 0);
}

static void end_with(const struct cookie_totals *end)
{
	counters_end(s.cs, 0, end);
	while (s.n < 4096 && fact_queue_take(&s.q, &s.fact[s.n]))
		s.n++;
}

static void counters_test_end(void)
{
	const struct cookie_totals none = { 0 };

	end_with(&none);
}

static void counters_done(void)
{
	counters_free(s.cs);
	losses_free(s.losses);
	fact_queue_release(&s.q);
}

static uint64_t counters_cookie(int32_t cpu, uint32_t count)
{
	return (uint64_t)count << 32 | (uint32_t)(cpu + 1);
}

static bool counters_test_see(uint64_t c, int32_t cpu, int64_t time,
			      bool is_sample)
{
	const struct counters_sight one = {
		.cookie = c,
		.cpu = cpu,
		.time = time,
		.since = s.since,
		.is_sample = is_sample,
	};

	return counters_see(s.cs, &one) & COUNTER_FIRST_LOST;
}

/* A sample of CPU 0's counter on that CPU. */
static bool here(uint32_t count, int64_t time)
{
	return counters_test_see(counters_cookie(0, count), 0, time, true);
}

static const struct fact *fact(enum fact_kind kind, size_t i)
{
	for (size_t k = 0; k < s.n; k++)
		if (s.fact[k].kind == kind && !i--)
			return &s.fact[k];
	return NULL;
}

/* ---- the table */

/* What a word says about the capture. */
static void counters_fact(const char *word)
{
	for (unsigned int l = 0; cookie_layout_name(l); l++) {
		if (strcmp(word, cookie_layout_name(l)) != 0)
			continue;
		counters_free(s.cs);
		s.cs = counters_new(&s.q, s.losses, l);
	}
	if (!strcmp(word, "some_tasks"))
		s.info.system_wide = TRI_NO;
	else if (!strcmp(word, "who_knows"))
		s.info.system_wide = TRI_UNKNOWN;
	else if (!strcmp(word, "untimed"))
		s.info.has_time = false;
	else if (!strcmp(word, "any_cpu"))
		s.info.cpus_avail = -1;
	else if (!strcmp(word, "two"))
		counters_source(s.cs, 2, &s.info, 2);
	else if (!strncmp(word, "since=", 6))
		s.since = (int64_t)script_value(word + 6, word);
	s.info.overwrite |= !strcmp(word, "overwrite");
	s.info.big_endian |= !strcmp(word, "big_endian");
	counters_source(s.cs, 0, &s.info, 0);
}

static uint64_t counters_word(const struct script_line *l, size_t i,
			      int32_t *cpu)
{
	ck_assert_msg(i < l->n, "a word is missing: %s", l->text);
	const char *word = l->word[i];
	bool swap = *word == '~';
	const char *slash = strchr(word, '/');
	const char *plus = strchr(word, '+');

	*cpu = slash ? (int32_t)script_value(slash + 1, l->text) : 0;
	if (*word == '=' && plus)
		return script_value(word + 1, l->text) +
		       script_value(plus + 1, l->text);
	uint64_t n = script_value(word + swap, l->text);

	return swap ? (uint64_t)(uint32_t)(*cpu + 1) << 32 | n
		    : counters_cookie(*cpu, (uint32_t)n);
}

static void counters_sight(const struct script_line *l)
{
	struct counters_sight one = { .since = s.since, .time = TIME_NONE };
	bool first = false;

	one.cookie = counters_word(l, 2, &one.cpu);
	one.is_sample = *l->word[1] == 's';
	if (*l->word[0] != '-')
		one.time = (int64_t)script_number(l, 0);
	for (size_t i = 3; i < l->n; i++) {
		if (!strncmp(l->word[i], "on=", 3))
			one.cpu =
				(int32_t)script_value(l->word[i] + 3, l->text);
		else if (!strncmp(l->word[i], "source=", 7))
			one.source =
				(uint16_t)script_value(l->word[i] + 7, l->text);
		else
			first = !strcmp(l->word[i], "first");
	}
	ck_assert_msg(!(counters_see(s.cs, &one) & COUNTER_FIRST_LOST) ==
			      !first,
		      "%s", l->text);
}

static void counters_line(const struct script_line *l,
			  struct cookie_totals *end)
{
	static bool on_cpu[8];
	const char *kind = l->n > 1 ? l->word[1] : "";

	if (l->n == 1) {
		counters_fact(l->word[0]);
	} else if (!strcmp(kind, "sample") || !strcmp(kind, "chain")) {
		counters_sight(l);
	} else if (!strcmp(kind, "lose")) {
		const struct loss loss = {
			(uint32_t)script_number(l, 2), script_id(l, 3),
			(int64_t)script_number(l, 4),
			strcmp(l->word[5], "end") != 0
				? (int64_t)script_number(l, 5)
				: TIME_NONE
		};

		losses_add(s.losses, 0, &loss);
	} else if (!strcmp(kind, "of")) {
		int32_t cpu;
		uint64_t cookie = counters_word(l, 2, &cpu);

		ck_assert_int_eq(counters_cpu(s.cs, 0, cookie),
				 script_id(l, 3));
	} else {
		ck_assert_msg(!strcmp(kind, "totals"), "%s", l->text);
		memset(on_cpu, 0, sizeof(on_cpu));
		on_cpu[script_number(l, 5)] = true;
		end->no_chain = script_number(l, 2);
		end->no_sample = script_number(l, 3);
		end->foreign = script_number(l, 4);
		end->foreign_cpu = on_cpu;
		end->n_foreign_cpu = script_number(l, 5) + 1;
	}
}

/* A time as text, that of TIME_NONE is none. */
static const char *counters_time(char buf[24], int64_t t)
{
	snprintf(buf, 24, "%" PRId64, t);
	return t == TIME_NONE ? "" : buf;
}

/* " NAME=N" if n is not 0 */
static int counters_say_more(char *text, size_t size, const char *name,
			     uint64_t n)
{
	return n ? snprintf(text, size, " %s=%" PRIu64, name, n) : 0;
}

/* A fact and a finding that says the same are one: "found". */
static int counters_say(char *text, size_t size, const struct fact *f,
			bool found)
{
	const struct fact_gap *g = &f->gap;
	const struct fact_counter *c = &f->counter;
	const struct fact_session *e = &f->session;
	char t0[24], t1[24];
	int at;

#define MORE(name, n)                                                          \
	at += counters_say_more(text + at, size - (size_t)at, name, n)
	switch (f->kind) {
	case FACT_GAP:
		return snprintf(
			text, size, "gap %" PRIu64 " %" PRIu64 " %s-%s %s %u%s",
			g->first, g->n, counters_time(t0, g->t0),
			counters_time(t1, g->t1), gap_verdict_name(g->verdict),
			g->loss, found ? " found" : "");
	case FACT_COUNTER:
		at = snprintf(text, size,
			      "cpu %d %" PRIu64 "-%" PRIu64 " %" PRIu64
			      " %" PRIu64,
			      c->cpu, c->first, c->last, c->seen, c->missing);
		MORE("gaps", c->gaps);
		MORE("late", c->late);
		MORE("elsewhere", c->elsewhere);
		MORE("wraps", c->wraps);
		return at;
	case FACT_SESSION:
		at = snprintf(text, size, "%s %" PRIu64, e->layout, e->missing);
		MORE("no_chain", e->no_chain);
		MORE("no_sample", e->no_sample);
		return at + snprintf(text + at, size - (size_t)at, "%s%s",
				     e->reason ? ": " : "",
				     e->reason ? e->reason : "");
	default:
		return snprintf(text, size, "fact %d", (int)f->kind);
	}
#undef MORE
}

/* Is fact i the finding of an uncounted gap in front of it? */
static bool counters_is_found(size_t i)
{
	const struct fact_finding *f = &s.fact[i].finding;

	if (!i || i >= s.n || s.fact[i].kind != FACT_FINDING ||
	    s.fact[i - 1].kind != FACT_GAP)
		return false;
	const struct fact_gap *g = &s.fact[i - 1].gap;

	return f->rule == RULE_UNCOUNTED && f->cpu == g->cpu &&
	       f->since == g->t0 && f->time == g->t1 && f->n == g->n;
}

START_TEST(counters_row_test)
{
	const struct counters_row *row = &counters_rows[_i];
	struct cookie_totals end = { 0 };
	const char *text = row->sights;
	struct script_line l;
	uint16_t source;
	char got[1024] = "";
	size_t at = 0;

	counters_begin(LAYOUT_AUTO);
	while (script_next(&text, &l, &source))
		counters_line(&l, &end);
	end_with(&end);
	for (size_t i = 0; i < s.n; i++) {
		if (counters_is_found(i))
			continue;
		at += (size_t)snprintf(got + at, sizeof(got) - at, "%s",
				       i ? "; " : "");
		at += (size_t)counters_say(got + at, sizeof(got) - at,
					   &s.fact[i],
					   counters_is_found(i + 1));
	}
	ck_assert_str_eq(got, row->facts);
	counters_done();
}
END_TEST

/* ---- what a table cannot say */

static void counters_expect(enum fact_kind kind, size_t i, const char *want)
{
	char got[256] = "";

	ck_assert_ptr_nonnull(fact(kind, i));
	counters_say(got, sizeof(got), fact(kind, i), false);
	ck_assert_str_eq(got, want);
}

START_TEST(counters_without_holes_have_no_gaps)
{
	counters_begin(LAYOUT_AUTO);
	for (uint32_t i = 0; i < 1000; i++) {
		ck_assert(!here(543 + 2 * i, 10 * i));
		ck_assert(!counters_test_see(counters_cookie(0, 543 + 2 * i), 0,
					     10 * i + 5, false));
		ck_assert(!counters_test_see(counters_cookie(3, 7 + 2 * i), 3,
					     10 * i + 6, true));
	}
	counters_test_end();
	ck_assert_ptr_null(fact(FACT_GAP, 0));
	counters_expect(FACT_COUNTER, 0, "cpu 0 543-2541 1000 0");
	counters_expect(FACT_COUNTER, 1, "cpu 3 7-2005 1000 0");
	counters_expect(FACT_SESSION, 0, "kernel 0");
	counters_done();
}
END_TEST

START_TEST(many_gaps_are_given_out_early_and_add_up)
{
	uint64_t n = 0;

	counters_begin(LAYOUT_AUTO);
	for (uint32_t i = 0; i < 3000; i++)
		here(3 + 4 * i, 10 + i);
	counters_test_end();
	counters_expect(FACT_COUNTER, 0, "cpu 0 3-11999 3000 2999 gaps=2999");
	for (size_t i = 0; fact(FACT_GAP, i); i++)
		n += fact(FACT_GAP, i)->gap.n;
	ck_assert_uint_eq(n, 2999);
	/* what may still be explained accuses nobody yet */
	ck_assert_int_eq(fact(FACT_GAP, 0)->gap.verdict, GAP_FOREIGN);
	counters_done();
}
END_TEST

/* Any counters in any order: every one between the first and the last is
 * seen or in exactly one gap. */
START_TEST(seen_and_missing_add_up_whatever_comes)
{
	uint64_t seed = 1;

	for (int round = 0; round < 300; round++) {
		static bool seen[512];
		uint64_t n = 0;
		uint64_t lo = 512;
		uint64_t hi = 0;

		counters_begin(LAYOUT_AUTO);
		memset(seen, 0, sizeof(seen));
		for (int i = 0; i < 200; i++) {
			uint64_t k = rnd_below(&seed, 512);

			n += !seen[k];
			seen[k] = true;
			lo = k < lo ? k : lo;
			hi = k > hi ? k : hi;
			/* around the wrap */
			here((uint32_t)(0xffffff01 + 2 * k), 10 + i);
		}
		counters_test_end();
		const struct fact *f = fact(FACT_COUNTER, 0);

		must(f->counter.seen == n);
		must(f->counter.missing == hi - lo + 1 - n);
		for (size_t i = 0; (f = fact(FACT_GAP, i)); i++)
			for (uint64_t k = 0; k < f->gap.n; k++) {
				uint32_t c = (uint32_t)(f->gap.first + 2 * k);
				uint32_t at = (c - 0xffffff01) / 2;

				must(at > lo && at < hi && !seen[at]);
				seen[at] = true;
			}
		for (uint64_t k = lo; k <= hi; k++)
			must(seen[k]);
		counters_done();
	}
}
END_TEST

START_TEST(wild_cookies_have_gaps_or_a_reason)
{
	uint64_t seed = 7;

	for (unsigned int layout = 0; cookie_layout_name(layout); layout++) {
		counters_begin((enum cookie_layout)layout);
		s.info.cpus_avail = -1;
		for (int i = 0; i < 20000; i++)
			counters_test_see(rnd(&seed), (int32_t)rnd(&seed),
					  (int64_t)rnd(&seed), rnd(&seed) & 1);
		counters_test_end();
		/* the session comes last, behind all gaps */
		struct fact last = s.fact[s.n - 1];

		while (fact_queue_take(&s.q, &last))
			;
		ck_assert_int_eq(last.kind, FACT_SESSION);
		if (!strcmp(last.session.layout, "opaque"))
			ck_assert_ptr_nonnull(last.session.reason);
		else
			ck_assert_uint_gt(last.session.missing, 0);
		counters_done();
	}
}
END_TEST

/* A sum of 64 bits holds a counter of 48 that wraps some thousand times. */
START_TEST(counters_that_only_jump_are_given_up)
{
	counters_begin(LAYOUT_CPU48);
	for (uint64_t i = 0; i < 100000; i++) {
		counters_test_see(i * 0x700000000001 & 0xffffffffffff, 0, 10,
				  true);
		while (fact_queue_take(&s.q, &s.fact[0]))
			must(s.fact[0].kind == FACT_GAP);
	}
	counters_test_end();
	ck_assert_uint_eq(s.n, 1);
	counters_expect(FACT_SESSION, 0,
			"opaque 0: the layout of the "
			"cookies is not known");
	counters_done();
}
END_TEST

static const struct run_table counters_tables[] = {
	RUN_TABLE(counters_row_test, counters_rows),
};

RUN_TABLES("counters", counters_tables, counters_without_holes_have_no_gaps,
	   many_gaps_are_given_out_early_and_add_up,
	   seen_and_missing_add_up_whatever_comes,
	   wild_cookies_have_gaps_or_a_reason,
	   counters_that_only_jump_are_given_up)

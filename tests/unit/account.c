/* account.c - tests of stitch/audit/account.c. */
#include "stitch/audit/account.h"

#include <stdio.h>
#include <string.h>

#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/base/losses.h"
#include "stitch/record.h"
#include "stitch/source.h"
#include "stitch/fact.h"
#include "tests/unit/run.h"
#include "tests/unit/script.h"

/* One capture: records go in, entries of the ledger come out.
 *
 * records: as in script.h, of these kinds, where C is a CPU:
 *	sample C	read C ID N: a sample with a count of lost ones, N
 *	lost C N	total C N: what the recorder says at the end
 *	damage WHAT	throttle C, unthrottle C, aux C, bpf C: REC_MARK
 *
 * Options: seq=, ring=, event=, source=, place= (1 before a record, 2 within
 * the ring); those of a mark are id=, stream_id= and flags=, its payload;
 * twice, hardware and filtered are REC_F_*. In place of a record: overwrite,
 * truncated; second (another capture, of source 2).
 *
 * ledger: all losses, "WHAT CPU T0-T1 N", with "+" if they count and "@EVENT".
 *
 * missing: which spans of time a loss explains, "CPU:FROM-TO", or not, with
 * "!"; "!any" and "any2": whether there is a loss of source 0, of source 2. */
struct account_row {
	const char *name, *records, *ledger, *missing;
};

static const struct account_row account_rows[] = {
	{
		"nothing_is_said_of_a_capture_that_lost_nothing",
		"10 sample 0; 20 sample 1; 30 bpf 0 id=4; - total 0 0",
		.ledger = "lost_total 0 0-0 0 @1",
		.missing = "!any",
	},
	{
		"lost_is_since_the_last_record_of_its_ring",
		"10 sample 0; 15 sample 1; 20 lost 0 5",
		.ledger = "lost 0 10-20 5+",
		.missing = "0:11-12 !1:0-99",
	},
	/* The record that follows a loss has an earlier time than LOST. */
	{
		"lost_ends_with_the_record_behind_it",
		"10 sample 0 seq=1; 20 sample 0 seq=3; 21 sample 1 seq=9;"
		"22 lost 0 5 seq=2 event=-1; 30 sample 0 seq=4",
		.ledger = "lost 0 10-20 5+",
		.missing = "0:11-12 !0:20-22",
	},
	{
		"lost_of_a_ring_whose_times_go_back_is_between_both",
		"20 sample 0 seq=3; 21 sample 0 seq=1; 22 lost 0 5 seq=2 event=-1",
		.ledger = "lost 0 19-21 5+",
	},
	/* As where the first record of a ring tells of a loss. */
	{
		"lost_in_front_of_a_ring_is_since_the_start",
		"20 sample 0 seq=3; 22 lost 0 5 seq=2 event=-1",
		.ledger = "lost 0 0-20 5+",
		.missing = "0:1-2",
	},
	/* What is missing may be of any ring of that CPU. */
	{
		"each_of_several_rings_of_a_cpu_has_its_own_losses",
		"10 sample 0; 15 sample 0 ring=2; 18 sample 0;"
		"20 lost 0 5 ring=2 event=-1; 25 sample 0 ring=2;"
		"- total 0 7 ring=2 event=-1; - total 0 3 event=-1",
		.ledger = "lost 0 15-20 5+; lost_total 0 0-0 7; "
			  "lost_total 0 0-0 3; lost_end 0 18-25 3+; "
			  "lost_end 0 25-0 2+",
		.missing = "0:16-17 !0:11-14",
	},
	{
		"lost_of_a_cpu_without_records_is_since_the_start",
		"10 sample 0; 20 lost 3 5",
		.ledger = "lost 3 0-20 5+",
		.missing = "3:1-2",
	},
	{
		"lost_without_a_cpu_may_be_of_a_ring_that_was_silent_for_long",
		"10 sample -1; 20 sample -1; 30 sample -1; 40 sample -1;"
		"50 sample -1; 60 sample -1; 70 sample -1; 80 sample -1;"
		"90 sample -1; 100 lost -1 5",
		.ledger = "lost -1 0-100 5+",
		.missing = "-1:11-12 !-1:100-110",
	},
	{
		"lost_that_was_written_twice_counts_once",
		"20 lost 0 5; 20 lost 0 5 twice; - total 0 5",
		.ledger = "lost 0 0-20 5+; lost_total 0 0-0 5 @1",
	},
	{
		"recorders_sum_beyond_the_rings_is_lost_at_the_end",
		"10 sample 0; 20 lost 0 5; 25 sample 0; 90 sample 1;"
		"- total 0 6; - total 0 2",
		.ledger = "lost 0 10-20 5+; lost_total 0 0-0 6 @1; "
			  "lost_total 0 0-0 2 @1; lost_end 0 25-90 3+",
		.missing = "0:80-1000 !0:21-24 !1:0-1000",
	},
	{
		"lost_end_of_a_ring_without_any_record_is_since_the_start",
		"10 sample 0; - total 2 6",
		.ledger = "lost_total 2 0-0 6 @1; lost_end 2 0-10 6+",
		.missing = "2:1-2",
	},
	{
		"recorders_sum_is_told_but_not_counted",
		"- total 2 6",
		.ledger = "lost_total 2 0-0 6 @1; lost_end 2 0-0 6+",
	},
	/* 10 by the rings, 13 by the recorder */
	{
		"sum_counted_is_the_larger_of_the_two_also_per_cpu",
		"10 sample 0; 11 sample 1; 20 lost 0 10; - total 0 4; - total 1 9",
		.ledger = "lost 0 10-20 10+; lost_total 0 0-0 4 @1; "
			  "lost_total 1 0-0 9 @1; lost_end 1 11-20 3+",
	},
	{
		"ring_that_surely_lost_is_named_when_nothing_is_left_to_count",
		"11 sample 1; 20 lost 0 10; - total 1 9",
		.ledger = "lost 0 0-20 10+; lost_total 1 0-0 9 @1; "
			  "lost_end 1 11-20 0",
		.missing = "1:12-13",
	},
	/* Tracing ended: what the ring keeps is the newest. */
	{
		"what_a_ring_overwrote_is_where_no_number_is_known",
		"20 lost 0 0; 30 sample 0; - total 0 9 place=1",
		.ledger = "lost 0 0-20 0+; lost_total 0 0-0 9 @1; "
			  "lost 0 0-20 9+",
		.missing = "0:11-12 !0:30-99",
	},
	{
		"what_a_ring_overwrote_is_never_behind_its_last_record",
		"20 sample 0; 30 sample 0; - total 0 9 place=1",
		.ledger = "lost_total 0 0-0 9 @1; lost 0 0-30 9+",
		.missing = "0:21-22 !0:30-99",
	},
	{
		"what_a_full_ring_dropped_is_anywhere_in_it",
		"20 sample 0; 30 sample 0; - total 0 3 place=1;"
		"- total 0 9 place=2; - total 0 1",
		.ledger = "lost_total 0 0-0 3 @1; lost_total 0 0-0 9 @1; "
			  "lost_total 0 0-0 1 @1; dropped 0 0-0 9+; "
			  "lost 0 0-30 3+; lost_end 0 30-0 1+",
		.missing = "0:21-22 0:31-99",
	},
	{
		"sums_without_a_cpu_make_one_loss_of_any_ring",
		"10 sample -1; 20 lost -1 5; 30 sample -1; - total 1 9",
		.ledger = "lost -1 0-20 5+; lost_total 1 0-0 9 @1; "
			  "lost_end -1 0-30 4+",
		.missing = "7:1-2",
	},
	{
		"losses_without_times_may_be_at_any",
		"- lost -1 5; - total -1 9",
		.ledger = "lost -1 0-0 5+; lost_total -1 0-0 9 @1; "
			  "lost_end -1 0-0 4+",
		.missing = "0:1-2",
	},
	{
		"a_count_in_samples_that_grows_is_a_loss_between_them",
		"10 read 0 40 3; 20 read 1 50 9; 30 read 0 40 3; 40 read 0 40 8;"
		"50 read 0 40 8",
		.ledger = "read_lost 0 30-40 5",
		.missing = "0:30-31 !0:40-41",
	},
	{
		"counts_of_inherited_copies_are_of_their_threads",
		"10 read 0 40 3 own=5; 20 read 0 40 0 own=6;"
		"30 read 0 40 3 own=5; 40 read 0 40 0 own=6;"
		"50 read 0 40 8 own=5",
		.ledger = "read_lost 0 30-50 5",
	},
	/* nothing tells when the capture ended */
	{
		"hardware_losses_are_not_in_the_recorders_sum",
		"10 sample 0; 20 lost 0 5 hardware; - total 0 3",
		.ledger = "hardware 0 10-20 5+ @1; "
			  "lost_total 0 0-0 3 @1; lost_end 0 20-0 3+",
	},
	{
		"what_a_filter_dropped_was_not_lost",
		"10 sample 0; - total 0 50 filtered",
		.ledger = "filtered 0 0-0 50 @1",
		.missing = "!any",
	},
	{
		"throttled_is_from_stop_to_start_of_one_event",
		"10 throttle 0 id=1; 11 throttle 0 id=2; 12 throttle 1 id=1;"
		"13 throttle 0 id=1; 20 unthrottle 0 id=1; 21 unthrottle 1 id=1;"
		"22 unthrottle 0 id=2",
		.ledger = "throttled 0 10-20 0 @0; "
			  "throttled 1 12-21 0 @0; throttled 0 11-22 0 @1",
		.missing = "!any",
	},
	{
		"event_still_stopped_at_the_end_is_so_until_the_last_record",
		"10 throttle 0 stream_id=1; 70 sample 1",
		.ledger = "throttled 0 10-70 0",
	},
	{
		"event_stopped_before_the_capture_has_no_beginning",
		"10 unthrottle 0 stream_id=1",
		.ledger = "throttled 0 0-10 0",
	},
	{
		"aux_data_with_holes_is_told",
		"10 aux 2 flags=0; 11 aux 2 flags=2; 12 aux 2 flags=1;"
		"13 aux 2 flags=4; 14 aux 2 flags=8",
		.ledger = "aux 2 12-12 0; aux 2 13-13 0; aux 2 14-14 0",
		.missing = "!any",
	},
	{
		"ring_that_overwrites_has_an_unknown_past",
		"overwrite; - sample 0; 10 sample 0; 12 sample 3; 14 sample 0",
		.ledger = "overwritten 0 0-10 0; overwritten 3 0-12 0",
		.missing = "!any",
	},
	{
		"broken_record_is_missing_at_its_time_only",
		"10 sample 0; 50 damage record; 90 sample 0",
		.ledger = "damage -1 49-50 1",
		.missing = "0:40-60 !0:10-49 !0:50-90",
	},
	{
		"bytes_of_unknown_time_may_be_missing_anywhere",
		"10 sample 0; 0 damage record",
		.ledger = "damage -1 0-0 0",
		.missing = "0:1-2",
	},
	{
		"file_that_ends_early_lost_what_comes_after",
		"10 sample 0; 30 sample 1; 0 damage truncated",
		.ledger = "damage -1 30-0 0",
		.missing = "0:15-16 !0:1-9 !1:15-16 -1:99-100",
	},
	{
		"recorder_that_was_killed_lost_the_end",
		"truncated; 10 sample 0",
		.ledger = "damage -1 10-0 0",
	},
	{
		"damaged_names_explain_no_missing_record",
		"10 sample 0; 0 damage feature; 0 damage tracing_data;"
		"5 damage fields",
		.ledger = "",
		.missing = "!any",
	},
	{
		"captures_do_not_explain_each_other",
		"second; 20 lost 0 4 source=2",
		.ledger = "lost 0 0-20 4+",
		.missing = "!any any2",
	},
	{
		"wild_numbers_are_taken_as_they_are",
		"0xfffffffffffffffe lost 0x7fffffff -1; 5 lost -0x80000000 -1;"
		"- total 70000 -1; - total 65535 -1; -1 damage record;"
		"- unthrottle -0x80000000 id=-1",
		.ledger = "lost 2147483647 0-0 18446744073709551615+; "
			  "lost -2147483648 0-5 18446744073709551615+; "
			  "lost_total 70000 0-0 18446744073709551615 @1; "
			  "lost_total 65535 0-0 18446744073709551615 @1; "
			  "throttled -2147483648 0-0 0; "
			  "damage -1 9223372036854775806-9223372036854775807 1",
	},
};

struct set {
	struct ledger *ledger;
	struct losses *losses;
	struct account *ac;
	struct source src;
};

static void account_begin(struct set *s)
{
	memset(s, 0, sizeof(*s));
	s->src.info.has_time = true;
	s->ledger = ledger_new();
	s->losses = losses_new();
	s->ac = account_new(s->ledger, s->losses);
}

static void account_done(struct set *s)
{
	account_free(s->ac);
	losses_free(s->losses);
	ledger_free(s->ledger);
}

static void account_damage(struct set *s, const char *what, uint64_t time)
{
	struct ledger_entry e = {
		.kind = LEDGER_DAMAGE,
		.what = strcmp(what, "tracing_data") ? what : "tracing data",
		.t0 = time ? time - 1 : 0,
		.t1 = time,
		.n = 1,
		.cpu = -1,
		.event = -1,
	};

	ledger_add(s->ledger, &e);
}

/* What a word says about the capture; false: it says nothing. */
static bool account_fact(struct set *s, const char *word)
{
	if (!strcmp(word, "overwrite"))
		s->src.info.overwrite = true;
	else if (!strcmp(word, "truncated"))
		s->src.info.truncated = true;
	else if (!strcmp(word, "second"))
		account_source(s->ac, 2, &s->src);
	else
		return false;
	account_source(s->ac, 0, &s->src);
	return true;
}

static const struct {
	const char *name;
	enum record_kind kind;
} account_kinds[] = {
	{ "sample", REC_SAMPLE }, { "read", REC_SAMPLE },
	{ "lost", REC_LOST },	  { "total", REC_LOST_TOTAL },
	{ "throttle", REC_MARK }, { "unthrottle", REC_MARK },
	{ "aux", REC_MARK },	  { "bpf", REC_MARK },
};

static struct record account_test_record(const struct script_line *l)
{
	struct record r = { .kind = REC_FORK, .cpu = script_id(l, 2) };

	r.pid = r.tid = 1;
	if (strcmp(l->word[0], "-") != 0)
		r.time = script_number(l, 0);
	else
		r.flags = REC_F_UNTIMED;
	for (size_t i = 0; i < sizeof(account_kinds) / sizeof(*account_kinds);
	     i++)
		if (!strcmp(l->word[1], account_kinds[i].name))
			r.kind = account_kinds[i].kind;
	ck_assert_msg(r.kind != REC_FORK, "no record: %s", l->text);
	if (r.kind == REC_LOST || r.kind == REC_LOST_TOTAL) {
		r.lost.n = script_number(l, 3);
		r.lost.event = 1;
	}
	return r;
}

static void account_option(struct record *r, const struct script_line *l,
			   const char *word, struct extra *x)
{
	const char *equals = strchr(word, '=');
	uint64_t v = equals ? script_value(equals + 1, l->text) : 0;

	if (r->kind == REC_MARK) {
		x->name = !strncmp(word, "id", 2) ? "id"
			  : *word == 'f'	  ? "flags"
						  : "stream_id";
		x->value = v;
		r->mark.event = *word == 'i' ? (uint32_t)v : 0;
	} else if (!strncmp(word, "seq=", 4)) {
		r->seq = v;
	} else if (!strncmp(word, "ring=", 5)) {
		r->ring = (uint32_t)v;
	} else if (!strncmp(word, "own=", 4)) {
		r->tid = (int32_t)v;
		r->sample.of_task = true;
	} else if (!strncmp(word, "source=", 7)) {
		r->source = (uint16_t)v;
	} else if (!strncmp(word, "event=", 6)) {
		r->lost.event = (uint32_t)v;
	} else if (!strncmp(word, "place=", 6)) {
		r->lost.place = (enum lost_place)v;
	} else {
		ck_assert(!equals);
		r->flags |= *word == 't'   ? REC_F_DUPLICATE
			    : *word == 'h' ? REC_F_HARDWARE
					   : REC_F_FILTERED;
	}
}

static void account_line(struct set *s, const struct script_line *l)
{
	if (l->n == 1 && account_fact(s, l->word[0]))
		return;
	ck_assert_msg(l->n > 2, "a word is missing: %s", l->text);
	if (!strcmp(l->word[1], "damage")) {
		account_damage(s, l->word[2], script_number(l, 0));
		return;
	}
	struct record r = account_test_record(l);
	struct extra x[5] = { { .name = "at", .value = 7 } };
	bool read = !strcmp(l->word[1], "read");
	size_t options = r.kind == REC_MARK ? 3 : read ? 5 : 3;

	if (r.kind == REC_LOST || r.kind == REC_LOST_TOTAL)
		options = 4;
	if (r.kind == REC_MARK) {
		r.mark.name = l->word[1];
		r.mark.extra = x;
		r.mark.n_extra = 2;
	} else if (read) {
		uint64_t id = script_number(l, 3);

		x[1] = (struct extra){ .name = "read.0.id", .value = id };
		x[2] = (struct extra){ .name = "read.0.lost",
				       .value = script_number(l, 4) };
		x[3] = (struct extra){ .name = "read.1.id", .value = id + 1 };
		x[4] = (struct extra){ .name = "read.1.lost" };
		r.sample.extra = x;
		r.sample.n_extra = 5;
	}
	for (size_t i = options; i < l->n; i++)
		account_option(&r, l, l->word[i], &x[1]);
	account_record(s->ac, &r);
}

static void account_ledger(struct set *s, char *text, size_t size)
{
	struct ledger_entry e;
	size_t at = 0;

	text[0] = '\0';
	while (ledger_take(s->ledger, &e)) {
		if (e.kind != LEDGER_LOSS)
			continue;
		at += (size_t)snprintf(text + at, size - at,
				       "%s%s %d %" PRIu64 "-%" PRIu64
				       " %" PRIu64 "%s",
				       at ? "; " : "", e.what, e.cpu, e.t0,
				       e.t1, e.n, e.counts ? "+" : "");
		if (e.event >= 0)
			at += (size_t)snprintf(text + at, size - at, " @%d",
					       e.event);
	}
}

/* Does anything explain what is missing from that CPU between the two? */
static void account_missing(struct set *s, const char *text)
{
	int32_t cpu;
	int64_t from, to;

	for (; text && *text; text += strcspn(text, " ")) {
		text += strspn(text, " ");
		bool no = *text == '!';
		bool any = !strncmp(text + no, "any", 3);

		if (any) {
			ck_assert_uint_eq(losses_any(s->losses, no ? 0 : 2),
					  !no);
			continue;
		}
		ck_assert_int_eq(sscanf(text + no,
					"%" SCNd32 ":%" SCNd64 "-%" SCNd64,
					&cpu, &from, &to),
				 3);
		ck_assert_msg(!losses_find(s->losses, 0, cpu, from, to) == no,
			      "%s", text);
	}
}

START_TEST(account_row_test)
{
	const struct account_row *row = &account_rows[_i];
	const char *text = row->records;
	struct script_line l;
	uint16_t source;
	char got[512];
	struct set s;

	account_begin(&s);
	account_source(s.ac, 0, &s.src);
	while (script_next(&text, &l, &source))
		account_line(&s, &l);
	account_end(s.ac);
	account_ledger(&s, got, sizeof(got));
	ck_assert_str_eq(got, row->ledger);
	account_missing(&s, row->missing);
	account_done(&s);
}
END_TEST

START_TEST(stopped_events_have_a_limit)
{
	struct extra x = { .name = "id" };
	struct record r = { .kind = REC_MARK, .pid = 1, .tid = 1 };
	struct ledger_entry e;
	struct set s;

	account_begin(&s);
	account_source(s.ac, 0, &s.src);
	r.mark.extra = &x;
	r.mark.n_extra = 1;
	for (uint32_t i = 0; i < 100001; i++) {
		r.mark.name = i < 100000 ? "throttle" : "unthrottle";
		r.time = i < 100000 ? 10 + i : 200000;
		r.mark.event = i < 100000 ? i : 99999;
		x.value = r.mark.event;
		account_record(s.ac, &r);
	}
	account_end(s.ac);
	ck_assert_uint_eq(ledger_count(s.ledger, LEDGER_LOSS), 4097);
	while (ledger_take(s.ledger, &e) && e.kind != LEDGER_LOSS)
		;
	ck_assert_uint_eq(e.t0, 0);
	ck_assert_uint_eq(e.t1, 200000);
	account_done(&s);
}
END_TEST

static const struct run_table account_tables[] = {
	RUN_TABLE(account_row_test, account_rows),
};

RUN_TABLES("account", account_tables, stopped_events_have_a_limit)

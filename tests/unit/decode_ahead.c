/* decode_ahead.c - tests of stitch/order/decode_ahead.c, over records that a
 * function makes. */
#include "stitch/order/decode_ahead.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"
#include "tests/unit/run.h"

#define RECORDS 18000u
#define NOTE_EVERY 7u
#define EVENT_EVERY 100u

/* Makes records whose memory is used again for each. */
struct maker {
	struct source src;
	struct ledger *ledger;
	struct event_def event[RECORDS / EVENT_EVERY + 1];
	uint32_t made, end;
	bool fails;
	uint64_t ip[64];
	struct place place;
	const struct place *places[1];
	char name[16];
	struct extra extra;
};

static bool maker_apart(const struct source *src)
{
	return src->size;
}

static int maker_fields(struct source *src, const struct rec_sample *s,
			struct field *out, struct err *err)
{
	(void)src;
	(void)err;
	out->num = (int64_t)s->cookie;
	return 0;
}

static const struct source_ops maker_ops = {
	.name = "maker",
	.apart = maker_apart,
	.fields = maker_fields,
};

static void maker_sample(struct maker *m, struct record *rec)
{
	struct rec_sample *s = &rec->sample;

	s->cookie = m->made;
	s->kern = (struct addrs){ .ip = m->ip, .n = m->made % 64 };
	for (uint32_t i = 0; i < s->kern.n; i++)
		m->ip[i] = (uint64_t)m->made << 8 | i;
	m->place = (struct place){ .symbol = m->name };
	m->places[0] = &m->place;
	s->user = (struct addrs){ .ip = m->ip,
				  .n = s->kern.n > 0,
				  .place = m->places };
	m->extra = (struct extra){ .name = "x",
				   .blob = m->name,
				   .len = sizeof(m->name) };
	s->extra = &m->extra;
	s->n_extra = 1;
}

/* A decode_ahead_fn. */
static int maker_next(void *arg, struct record *rec, struct err *err)
{
	struct maker *m = arg;

	if (m->made == m->end)
		return m->fails ? err_set(err, ERR_IO, "it failed") : 0;
	if (m->made % NOTE_EVERY == 0)
		ledger_note(m->ledger, 0, "note", "some");
	if (m->made % EVENT_EVERY == 0)
		m->src.n_events++;
	m->src.pos = m->made;
	snprintf(m->name, sizeof(m->name), "name %u", m->made);
	memset(rec, 0, sizeof(*rec));
	rec->kind = m->made % 2 ? REC_SAMPLE : REC_COMM;
	rec->comm.name = m->name;
	if (m->made % 2)
		maker_sample(m, rec);
	rec->time = m->made++;
	return 1;
}

static struct decode_ahead *maker_begin(struct maker *m, struct ledger *lg)
{
	struct source *src[] = { &m->src };

	m->src.ops = &maker_ops;
	m->src.size = 1;
	m->src.events = m->event;
	return decode_ahead_new(src, 1, maker_next, m, lg, &m->ledger);
}

static void maker_check(const struct record *rec, uint32_t i)
{
	char name[16];

	snprintf(name, sizeof(name), "name %u", i);
	must(rec->time == i);
	if (rec->kind == REC_COMM) {
		must(!strcmp(rec->comm.name, name));
		return;
	}
	const struct rec_sample *s = &rec->sample;

	must(s->kern.n == i % 64);
	for (uint32_t k = 0; k < s->kern.n; k++)
		must(s->kern.ip[k] == ((uint64_t)i << 8 | k));
	must(!s->user.n || !strcmp(s->user.place[0]->symbol, name));
	must(!strcmp(s->extra->blob, name));
}

/* Each record comes with what was put into the ledger before it, and no more,
 * and its event is known. */
START_TEST(records_are_as_without_a_thread)
{
	struct maker m = { .end = RECORDS };
	struct ledger *lg = ledger_new();
	struct decode_ahead *da = maker_begin(&m, lg);
	struct source *shown = decode_ahead_source(da, 0);
	struct record *rec;
	struct field f;
	struct err err;
	uint32_t i = 0;

	ck_assert_ptr_eq(decode_ahead_source(da, 1), NULL);
	for (; decode_ahead_next(da, &rec, &err) > 0; i++) {
		maker_check(rec, i);
		must(ledger_count(lg, LEDGER_NOTE) == i / NOTE_EVERY + 1);
		must(shown->n_events > i / EVENT_EVERY);
		if (rec->kind == REC_SAMPLE)
			must(!shown->ops->fields(shown, &rec->sample, &f,
						 &err) &&
			     f.num == (int64_t)i);
	}
	ck_assert_uint_eq(i, RECORDS);
	ck_assert_int_eq(decode_ahead_next(da, &rec, &err), 0);
	ck_assert_uint_eq(shown->n_events, RECORDS / EVENT_EVERY);
	ck_assert_uint_eq(shown->pos, RECORDS - 1);
	ck_assert_str_eq(shown->ops->name, "maker");
	decode_ahead_free(da);
	ledger_free(lg);
}
END_TEST

START_TEST(an_error_comes_after_the_records_before_it)
{
	for (uint32_t end = 0; end < 600; end += 128) {
		struct maker m = { .end = end, .fails = true };
		struct ledger *lg = ledger_new();
		struct decode_ahead *da = maker_begin(&m, lg);
		struct record *rec;
		struct err err;
		uint32_t n = 0;
		int rc;

		while ((rc = decode_ahead_next(da, &rec, &err)) > 0)
			n++;
		ck_assert_int_eq(rc, -1);
		ck_assert_str_eq(err.msg, "it failed");
		ck_assert_uint_eq(n, end);
		ck_assert_uint_eq(ledger_count(lg, LEDGER_NOTE),
				  (n + NOTE_EVERY - 1) / NOTE_EVERY);
		decode_ahead_free(da);
		ledger_free(lg);
	}
}
END_TEST

/* The thread waits for room in the queue, or has not begun. */
START_TEST(it_can_end_at_any_time)
{
	for (uint32_t taken = 0; taken < 600; taken += 50) {
		struct maker m = { .end = RECORDS };
		struct ledger *lg = ledger_new();
		struct decode_ahead *da = maker_begin(&m, lg);
		struct record *rec;
		struct err err;

		for (uint32_t i = 0; i < taken; i++)
			ck_assert_int_eq(decode_ahead_next(da, &rec, &err), 1);
		decode_ahead_free(da);
		ledger_free(lg);
	}
}
END_TEST

/* Who keeps some blocks of records. */
struct keeper {
	struct decode_ahead *da;
	const struct record *rec[RECORDS];
	uint32_t n, end[RECORDS]; /* records; those up to the end of a block */
	uint32_t blocks, given, changes;
	uint32_t events; /* that the source showed */
};

/* A decode_ahead_passed_fn. */
static void keeper_passed(void *arg, bool changes)
{
	struct keeper *k = arg;

	if (changes) {
		must(decode_ahead_source(k->da, 0)->n_events == k->events);
		k->changes++;
		return;
	}
	must(k->n > (k->blocks ? k->end[k->blocks - 1] : 0));
	k->end[k->blocks++] = k->n;
	if (k->blocks - k->given < 5)
		return;
	for (uint32_t i = k->given ? k->end[k->given - 1] : 0;
	     i < k->end[k->given]; i++)
		maker_check(k->rec[i], i);
	k->given++;
	decode_ahead_give_back(k->da);
}

START_TEST(kept_records_stay_until_they_are_given_back)
{
	struct maker m = { .end = RECORDS };
	struct keeper k = { 0 };
	struct ledger *lg = ledger_new();
	struct record *rec;
	struct err err;

	k.da = maker_begin(&m, lg);
	decode_ahead_keep(k.da, keeper_passed, &k);
	while (decode_ahead_next(k.da, &rec, &err) > 0) {
		k.rec[k.n++] = rec;
		k.events = decode_ahead_source(k.da, 0)->n_events;
	}
	ck_assert_uint_eq(k.n, RECORDS);
	ck_assert_uint_ge(k.given, RECORDS / 512 - 5);
	ck_assert_uint_ge(k.changes, RECORDS / 512);
	decode_ahead_free(k.da);
	ledger_free(lg);
}
END_TEST

/* Who sleeps until it has as many blocks as this, and gives back five then. */
#define SLEEPER_WAKES 8u

struct sleeper {
	struct decode_ahead *da;
	uint32_t kept;
};

/* A decode_ahead_passed_fn. */
static void sleeper_passed(void *arg, bool changes)
{
	struct sleeper *s = arg;

	if (changes || ++s->kept < SLEEPER_WAKES)
		return;
	for (; s->kept > SLEEPER_WAKES - 5; s->kept--)
		decode_ahead_give_back(s->da);
}

/* With stack dumps 12 blocks are all. Once the thread sleeps because they are
 * full, and five are given back, it sleeps on. The caller takes the other four,
 * for which nobody wakes. */
START_TEST(a_caller_without_blocks_wakes_the_thread)
{
	struct maker m = { .end = RECORDS, .src.info.dumps = true };
	struct sleeper s = { 0 };
	struct ledger *lg = ledger_new();
	struct record *rec;
	struct err err;
	uint32_t n = 0;

	s.da = maker_begin(&m, lg);
	decode_ahead_keep(s.da, sleeper_passed, &s);
	while (decode_ahead_next(s.da, &rec, &err) > 0)
		if (!n++)
			usleep(50000);
	ck_assert_uint_eq(n, RECORDS);
	decode_ahead_free(s.da);
	ledger_free(lg);
}
END_TEST

/* Makes records that last until they are released, and releases each with the
 * next one. */
struct laster {
	struct source src;
	struct decode_ahead *da;
	struct ledger *ledger;
	uint32_t made, released, end, len;
	uint64_t *ip[RECORDS]; /* of records that were not released */
	uint32_t most;	       /* of those at the same time */
	struct call call;
	struct place place;
	const struct place *places[1];
	char name[16];
};

static void laster_release(struct source *src, const struct ref *ref)
{
	struct laster *m = (struct laster *)src;

	must(m->released++ == ref->handle);
	free(m->ip[ref->handle]);
	m->ip[ref->handle] = NULL;
}

static const struct source_ops laster_ops = {
	.name = "laster",
	.apart = maker_apart,
	.lasting = true,
	.release = laster_release,
};

/* A decode_ahead_fn. */
static int laster_next(void *arg, struct record *rec, struct err *err)
{
	struct laster *m = arg;
	const uint32_t i = m->made;

	(void)err;
	if (i)
		decode_ahead_release(
			m->da, &(struct ref){ .handle = i - 1, .len = m->len });
	if (i == m->end)
		return 0;
	m->most = i - m->released > m->most ? i - m->released : m->most;
	m->ip[i] = mem_new(1, sizeof(uint64_t));
	*m->ip[i] = i;
	snprintf(m->name, sizeof(m->name), "name %u", i);
	m->place = (struct place){ .symbol = m->name };
	m->places[0] = &m->place;
	m->call = (struct call){ .nr = (int32_t)i };
	*rec = (struct record){ .kind = i % 2 ? REC_SAMPLE : REC_CHAIN };
	struct addrs *user = i % 2 ? &rec->sample.user : &rec->chain.user;

	*user = (struct addrs){ .ip = m->ip[i],
				.n = 1,
				.place = i % 4 > 1 ? m->places : NULL };
	if (i % 2)
		rec->sample.call = &m->call;
	m->made++;
	return 1;
}

static void laster_check(const struct laster *m, const struct record *rec,
			 uint32_t i)
{
	const bool sample = rec->kind == REC_SAMPLE;
	const struct addrs *user =
		sample ? &rec->sample.user : &rec->chain.user;
	char name[16];

	snprintf(name, sizeof(name), "name %u", i);
	must(user->ip == m->ip[i] && *user->ip == i);
	must(!user->place == (i % 4 < 2));
	must(!user->place || !strcmp(user->place[0]->symbol, name));
	must(!sample || rec->sample.call->nr == (int32_t)i);
}

/* Large ones are few at a time. */
START_TEST(records_that_last_are_released_when_they_are_used_up)
{
	for (uint32_t len = 100; len <= 100000; len *= 10) {
		struct laster m = { .src = { .ops = &laster_ops, .size = 1 },
				    .end = RECORDS,
				    .len = len };
		struct source *src[] = { &m.src };
		struct ledger *lg = ledger_new();
		struct record *rec;
		struct err err;
		uint32_t i = 0;

		m.da = decode_ahead_new(src, 1, laster_next, &m, lg, &m.ledger);
		for (; decode_ahead_next(m.da, &rec, &err) > 0; i++)
			laster_check(&m, rec, i);
		ck_assert_uint_eq(i, RECORDS);
		decode_ahead_free(m.da);
		for (i = m.released; i < RECORDS; i++)
			free(m.ip[i]);
		must((uint64_t)m.most * len < 10 << 20);
		must(m.released + 25 * 512 >= RECORDS);
		ledger_free(lg);
	}
}
END_TEST

/* Makes records in the arena of its source. */
struct filler {
	struct source src;
	struct ledger *ledger;
	uint32_t made, useless; /* useless: to make before the others */
	const uint64_t *ip[RECORDS];
};

static const struct source_ops filler_ops = {
	.name = "filler",
	.apart = maker_apart,
	.fills_arena = true,
};

/* A decode_ahead_fn. */
static int filler_next(void *arg, struct record *rec, struct err *err)
{
	struct filler *m = arg;

	(void)err;
	if (m->made == RECORDS)
		return 0;
	uint64_t *ip = arena_take(m->src.arena, 1000 * sizeof(*ip));

	must(m->src.arena->used < 1 << 20);
	if (m->useless) {
		m->useless--;
		ledger_note(m->ledger, 0, "note", "some");
		return DECODED_NOTHING;
	}
	*ip = m->made;
	m->ip[m->made++] = ip;
	*rec = (struct record){ .kind = REC_SAMPLE,
				.sample.kern = { .ip = ip, .n = 1000 } };
	return 1;
}

START_TEST(what_is_in_the_arena_of_a_block_is_not_copied)
{
	struct filler m = { .src = { .ops = &filler_ops, .size = 1 } };
	struct source *src[] = { &m.src };
	struct ledger *lg = ledger_new();
	struct decode_ahead *da =
		decode_ahead_new(src, 1, filler_next, &m, lg, &m.ledger);
	struct record *rec, *last = NULL;
	struct err err;
	uint32_t i = 0;

	for (; decode_ahead_next(da, &rec, &err) > 0; i++, last = rec)
		must(rec->sample.kern.ip == m.ip[i] && *m.ip[i] == i);
	ck_assert_uint_eq(i, RECORDS);
	ck_assert_ptr_eq(last->sample.kern.ip, m.ip[i - 1]);
	decode_ahead_free(da);
	ledger_free(lg);
}
END_TEST

/* Whole blocks may have no other. */
START_TEST(records_of_no_use_do_not_fill_the_memory)
{
	struct filler m = { .src = { .ops = &filler_ops, .size = 1 },
			    .useless = 5000 };
	struct source *src[] = { &m.src };
	struct ledger *lg = ledger_new();
	struct decode_ahead *da =
		decode_ahead_new(src, 1, filler_next, &m, lg, &m.ledger);
	struct record *rec;
	struct err err;
	uint32_t i = 0;

	for (; decode_ahead_next(da, &rec, &err) > 0; i++) {
		must(*rec->sample.kern.ip == i);
		must(ledger_count(lg, LEDGER_NOTE) == 5000);
	}
	ck_assert_uint_eq(i, RECORDS);
	decode_ahead_free(da);
	ledger_free(lg);
}
END_TEST

/* Of each block some are looked at before it is taken, and all of the first,
 * which is there as soon as the caller has a record. */
START_TEST(a_record_is_seen_once_before_it_is_due)
{
	struct maker m = { .end = RECORDS };
	struct ledger *lg = ledger_new();
	struct decode_ahead *da = maker_begin(&m, lg);
	const struct record *seen;
	struct record *rec;
	struct err err;
	uint64_t next = 0;
	uint64_t number;
	unsigned int early = 0;

	ck_assert_ptr_null(decode_ahead_peek(da, &number));
	for (uint32_t i = 0; decode_ahead_next(da, &rec, &err) > 0; i++) {
		must(rec->time == i);
		for (int k = 0;
		     k < 3 && (seen = decode_ahead_peek(da, &number)); k++) {
			must(seen->time > i && seen->time >= next);
			must(number == seen->time + 1);
			maker_check(seen, (uint32_t)seen->time);
			next = seen->time + 1;
			early++;
		}
	}
	ck_assert_ptr_null(decode_ahead_peek(da, &number));
	ck_assert_uint_gt(early, 200);
	decode_ahead_free(da);
	ledger_free(lg);
}
END_TEST

START_TEST(a_source_may_refuse)
{
	struct maker m = { .src = { .ops = &maker_ops } };
	struct source *src[] = { &m.src };

	ck_assert_ptr_null(
		decode_ahead_new(src, 1, maker_next, &m, NULL, &m.ledger));
}
END_TEST

RUN("decode_ahead", records_are_as_without_a_thread,
    an_error_comes_after_the_records_before_it, it_can_end_at_any_time,
    records_that_last_are_released_when_they_are_used_up,
    what_is_in_the_arena_of_a_block_is_not_copied,
    records_of_no_use_do_not_fill_the_memory,
    kept_records_stay_until_they_are_given_back,
    a_caller_without_blocks_wakes_the_thread,
    a_record_is_seen_once_before_it_is_due, a_source_may_refuse)

/* unwind_places.c - tests of symbolize/unwind/unwind_places.c. */
#include "symbolize/unwind/unwind_places.h"

#include <pthread.h>

#include "tests/unit/run.h"

#define MANY 40000u

/* The row that tests put at an address. */
static struct unwind_row place_row(uint64_t pc, uint64_t epoch)
{
	return (struct unwind_row){ .cfa = (int32_t)(pc & 0x7fffff),
				    .how = epoch & 0x3f,
				    .fp = (int16_t)(pc ^ epoch),
				    .ra = (int16_t)(pc >> 3) };
}

static void place_put(struct unwind_places *ps, uint64_t pc, uint64_t epoch)
{
	struct unwind_row row = place_row(pc, epoch);

	unwind_places_put(ps, pc, epoch, &row);
}

/* Whether it is there; and if so, as it was put. */
static bool place_get(const struct unwind_places *ps, uint64_t pc,
		      uint64_t epoch)
{
	struct unwind_row want = place_row(pc, epoch);
	struct unwind_row row;

	if (!unwind_places_find(ps, pc, epoch, &row))
		return false;
	must(row.cfa == want.cfa && row.how == want.how && row.fp == want.fp &&
	     row.ra == want.ra);
	return true;
}

START_TEST(a_place_is_found_in_its_epoch_only)
{
	struct unwind_places *ps = unwind_places_new();

	ck_assert(!place_get(ps, 0x1234, 1));
	ck_assert(!place_get(ps, 0, 1));
	place_put(ps, 0x1234, 1);
	ck_assert(place_get(ps, 0x1234, 1));
	ck_assert(!place_get(ps, 0x1234, 2));
	ck_assert(!place_get(ps, 0x1235, 1));
	place_put(ps, 0x1234, 2);
	ck_assert(place_get(ps, 0x1234, 1));
	ck_assert(place_get(ps, 0x1234, 2));
	unwind_places_free(ps);
	unwind_places_free(NULL);
}
END_TEST

/* A third of the room: sets of one place would lose a sixth of the addresses,
 * sets of two a twentieth. */
START_TEST(most_addresses_of_a_program_have_room)
{
	struct unwind_places *ps = unwind_places_new();
	unsigned int found = 0;

	for (uint64_t i = 0; i < MANY; i++)
		place_put(ps, 0x400000 + i * 5, 7);
	for (uint64_t i = 0; i < MANY; i++)
		found += place_get(ps, 0x400000 + i * 5, 7);
	ck_assert_uint_gt(found, MANY - MANY / 10);
	unwind_places_free(ps);
}
END_TEST

struct place_reader {
	struct unwind_places *ps;
	atomic_bool stop;
	unsigned long found;
};

static void *place_read_on(void *arg)
{
	struct place_reader *r = arg;

	while (!atomic_load(&r->stop))
		for (uint64_t i = 0; i < 64; i++)
			r->found += place_get(r->ps, i, 1 + i % 3);
	return NULL;
}

/* All addresses meet in few sets, so a place is overwritten all the time. */
START_TEST(a_reader_never_sees_half_of_a_place)
{
	struct place_reader r = { .ps = unwind_places_new() };
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, place_read_on, &r), 0);
	for (uint64_t n = 0; n < 2000000; n++) {
		uint64_t pc = n * 0x9e3779b97f4a7c15u >> 40;

		place_put(r.ps, pc & 63, 1 + (pc & 63) % 3);
		place_put(r.ps, pc, 1 + pc % 3);
	}
	atomic_store(&r.stop, true);
	pthread_join(thread, NULL);
	for (uint64_t i = 0; i < 64; i++)
		place_get(r.ps, i, 1 + i % 3);
	unwind_places_free(r.ps);
}
END_TEST

RUN("unwind_places", a_place_is_found_in_its_epoch_only,
    most_addresses_of_a_program_have_room, a_reader_never_sees_half_of_a_place)

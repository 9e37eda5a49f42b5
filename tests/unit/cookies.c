/* cookies.c - the table of cookies. */
#include "stitch/join/cookies.h"

#include "tests/unit/run.h"

#define N 3000u

static uint32_t find_number(const struct cookies *cs, uint64_t cookie,
			    uint16_t line)
{
	const struct cookie_key key = cookie_key_of(cookie, 100, line, false);

	return cookies_find(cs, &key);
}

/* Cookies of two lines that count up by 2^shift. */
static void take_cookies_apart_by(unsigned int shift)
{
	struct cookies cs;
	uint32_t at[N];

	cookies_init(&cs);
	for (uint64_t k = 0; k < N; k++) {
		const struct cookie_key key =
			cookie_key_of(k << shift, 100, k & 1, false);

		ck_assert_uint_eq(find_number(&cs, k << shift, k & 1), 0);
		at[k] = cookies_new(&cs, &key);
	}
	for (uint64_t k = 0; k < N; k += 3)
		cookies_drop(&cs, at[k]);
	for (uint64_t k = 0; k < N; k++) {
		ck_assert_uint_eq(find_number(&cs, k << shift, k & 1),
				  k % 3 ? at[k] : 0);
		ck_assert_uint_eq(find_number(&cs, k << shift, !(k & 1)), 0);
	}
	cookies_release(&cs);
}

START_TEST(each_cookie_is_found_until_it_is_dropped)
{
	static const unsigned int shift[] = { 0, 4, 12, 32, 36, 50 };

	for (size_t i = 0; i < sizeof(shift) / sizeof(shift[0]); i++)
		take_cookies_apart_by(shift[i]);
}
END_TEST

RUN("cookies", each_cookie_is_found_until_it_is_dropped)

/* page.c - libFuzzer target: sub-buffers of a ring, of both orders and word
 * sizes and of any size. Whatever is walked can be asked for again. */
#include <stdlib.h>
#include <string.h>

#include "formats/ftrace/ftrace.h"
#include "formats/ftrace/page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum; /* keeps every read alive */

static void fuzz_page_walk(struct ft *ft, struct ft_stream *s,
			   struct ft_page *pg)
{
	struct ft_entry e;
	struct bytes again;

	while (ft_page_next(ft, pg, &e, NULL) > 0) {
		if (e.place >= s->len ||
		    ft_entry_at(ft, s, e.place, &again, NULL) ||
		    bytes_left(&again) != bytes_left(&e.b))
			abort();
		for (size_t i = 0; i < bytes_left(&e.b); i++)
			sum += e.b.pos[i];
		sum += ft_time(ft, s, e.time);
	}
}

/* The first byte says what it is of. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ft ft = { .version = 7 };
	struct ft_stream s = { .path = "fuzz" };
	struct ft_page pg;

	if (!size)
		return 0;
	ft.big = data[0] & 1;
	ft.swap = ft.big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	ft.commit32 = data[0] & 2;
	ft.mult = data[0] & 4 ? 3 : 0;
	ft.mult_shift = 1;
	s.subbuf = (uint32_t)64 << (data[0] >> 5);
	s.data = data + 1;
	s.len = size - 1;
	ft.in.data = s.data;
	ft.in.len = s.len;
	for (uint64_t at = 0; at + s.subbuf <= s.len; at += s.subbuf)
		if (!ft_page_open(&ft, &s, at, &pg, NULL))
			fuzz_page_walk(&ft, &s, &pg);
	return 0;
}

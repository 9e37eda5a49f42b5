/* page.c - libFuzzer target: sub-buffers of a ring, of both orders and word
 * sizes and of any size. Whatever is walked can be asked for again. */
#include <stdlib.h>
#include <string.h>

#include "formats/ftrace/cut.h"
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

static void fuzz_page_count(void *arg, uint16_t event, int32_t tid)
{
	uint32_t *n = arg;

	*n += 1;
	sum += event + (uint32_t)tid;
}

/* The same as pages of a live ring, each in memory of its own size. */
static void fuzz_page_cut(const struct ft_stream *s)
{
	struct ftrace_cut_page got;
	char text[64];
	int n = snprintf(text, sizeof(text), " data;\toffset:16;\tsize:%u;\n",
			 s->subbuf - 16);
	struct ftrace_cut *c = ftrace_cut_new(text, (size_t)n, NULL);

	if (!c || ftrace_cut_size(c) != s->subbuf)
		abort();
	ftrace_cut_stack(c, 4);
	for (uint64_t at = 0; at + s->subbuf <= s->len; at += s->subbuf) {
		unsigned char *page = mem_dup(s->data + at, s->subbuf);
		uint32_t events = 0;

		ftrace_cut_look(c, page, fuzz_page_count, &events, &got);
		if (got.events != events || got.len > s->subbuf)
			abort();
		sum += ftrace_cut_is_late(c, page);
		free(page);
	}
	ftrace_cut_free(c);
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
	fuzz_page_cut(&s);
	return 0;
}

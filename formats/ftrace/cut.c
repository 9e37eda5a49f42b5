/* cut.c - looks at pages of a live ring of ftrace. */
#include "formats/ftrace/cut.h"

#include <stdlib.h>
#include <string.h>

#include "formats/ftrace/ftrace.h"
#include "formats/ftrace/page.h"
#include "stitch/base/err.h"

#define STACKS 8
#define OWNERS 32

struct ftrace_cut {
	struct ft ft;		/* the layout of pages */
	uint16_t stack[STACKS]; /* events whose entries are stacks */
	size_t n_stack;
};

struct ftrace_cut *ftrace_cut_new(const void *text, size_t n, struct err *err)
{
	struct ftrace_cut *c = mem_new(1, sizeof(*c));
	struct bytes b;

	/* the ring is one of this machine */
	c->ft.big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	bytes_init(&b, text, n, "header_page", 0, false);
	ft_header_page_read(&c->ft, &b);
	if (c->ft.subbuf)
		return c;
	ftrace_cut_free(c);
	err_set(err, ERR_FORMAT,
		"header_page: no size of the field 'data', which is that of a "
		"page");
	return NULL;
}

void ftrace_cut_free(struct ftrace_cut *c)
{
	free(c);
}

uint32_t ftrace_cut_size(const struct ftrace_cut *c)
{
	return c->ft.subbuf;
}

int32_t ftrace_cut_id(const void *text, size_t n)
{
	const char *s = memmem(text, n, "\nID: ", 5);
	uint32_t id;

	if (!s || !tp_number_behind(s, (const char *)text + n, "ID: ", &id) ||
	    id > UINT16_MAX)
		return -1;
	return (int32_t)id;
}

void ftrace_cut_stack(struct ftrace_cut *c, uint16_t event)
{
	if (c->n_stack < STACKS)
		c->stack[c->n_stack++] = event;
}

static bool ftrace_cut_is_stack(const struct ftrace_cut *c, uint16_t event)
{
	for (size_t i = 0; i < c->n_stack; i++)
		if (c->stack[i] == event)
			return true;
	return false;
}

/* Begins the walk of a page. The reader of captures walks it in the same way.
 */
static int ftrace_cut_open(struct ftrace_cut *c, const void *page,
			   struct ft_page *pg)
{
	struct ft_stream s = { .data = page,
			       .subbuf = c->ft.subbuf,
			       .len = c->ft.subbuf,
			       .path = "" };

	return ft_page_open(&c->ft, &s, 0, pg, NULL);
}

void ftrace_cut_look(struct ftrace_cut *c, const void *page, ftrace_cut_fn *fn,
		     void *arg, struct ftrace_cut_page *out)
{
	struct ft_page pg;
	struct ft_entry e;
	int ret;

	*out = (struct ftrace_cut_page){ .damaged = true };
	if (ftrace_cut_open(c, page, &pg))
		return;
	out->time = pg.time;
	out->len = (uint32_t)bytes_left(&pg.b);
	out->n_lost = pg.n_lost;
	out->damaged = false;
	if (!fn)
		return;
	while ((ret = ft_page_next(&c->ft, &pg, &e, NULL)) > 0) {
		uint16_t event = 0;
		uint32_t tid = 0;

		bytes_peek_u16(&e.b, 0, &event);
		bytes_peek_u32(&e.b, 4, &tid);
		out->events++;
		fn(arg, event, (int32_t)tid);
	}
	out->damaged = ret || ft_page_check_end(&pg, NULL);
}

bool ftrace_cut_is_late(struct ftrace_cut *c, const void *page)
{
	uint64_t owner[OWNERS];
	size_t n = 0;
	struct ft_page pg;
	struct ft_entry e;

	/* a stack never belongs to an event before lost ones */
	if (ftrace_cut_open(c, page, &pg) || pg.lost)
		return false;
	while (n < OWNERS && ft_page_next(&c->ft, &pg, &e, NULL) > 0) {
		uint16_t event = 0;
		uint32_t tid = 0;
		size_t i = 0;

		bytes_peek_u16(&e.b, 0, &event);
		bytes_peek_u32(&e.b, 4, &tid);
		uint64_t key = (uint64_t)tid << 32 | ft_entry_context(&e.b);

		while (i < n && owner[i] != key)
			i++;
		if (i == n && ftrace_cut_is_stack(c, event))
			return true;
		owner[n++] = key;
	}
	return false;
}

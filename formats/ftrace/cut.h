/* cut.h - looks at pages of a live ring of ftrace (trace_pipe_raw), so that
 * they can be stored in pieces that are read alone.
 *
 * A page is stored as it is, in one piece. The stack of an event is an entry
 * behind it, which may be in the next page of the CPU: a piece begins with a
 * page only if ftrace_cut_is_late() does not say that this is so. */
#ifndef FORMATS_FTRACE_CUT_H
#define FORMATS_FTRACE_CUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct ftrace_cut;

/* What a page holds. */
struct ftrace_cut_page {
	uint64_t time; /* of its begin, by the ring's clock */
	uint32_t events;
	uint32_t len;	 /* bytes of data */
	uint64_t n_lost; /* lost before the page; 0: none, or not told */
	bool damaged;	 /* it cannot be walked to its end */
};

/* Called for each entry: the id of its event, and its thread, which may be
 * any number. */
typedef void ftrace_cut_fn(void *arg, uint16_t event, int32_t tid);

/* text: header_page of tracefs. Returns NULL and *err if it describes no page.
 */
struct ftrace_cut *ftrace_cut_new(const void *text, size_t n, struct err *err);
void ftrace_cut_free(struct ftrace_cut *c); /* NULL is fine */
/* Returns the bytes of a page. */
uint32_t ftrace_cut_size(const struct ftrace_cut *c);
/* Returns the id in the text of an event's format; -1: none. */
int32_t ftrace_cut_id(const void *text, size_t n);
/* Says that entries of an event are stacks of the one before them. */
void ftrace_cut_stack(struct ftrace_cut *c, uint16_t event);
/* Looks at the page, of as many bytes as ftrace_cut_size() says. fn: NULL to
 * look at its head alone. */
void ftrace_cut_look(struct ftrace_cut *c, const void *page, ftrace_cut_fn *fn,
		     void *arg, struct ftrace_cut_page *out);
/* Returns whether the page begins with the stack of an event that is in the
 * page before. */
bool ftrace_cut_is_late(struct ftrace_cut *c, const void *page);
#endif

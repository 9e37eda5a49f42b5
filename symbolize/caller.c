/* caller.c - the caller that a frame-pointer chain lacks. */
#include "symbolize/caller.h"

#include <stddef.h>
#include <string.h>

#include "symbolize/callsite.h"
#include "symbolize/cfi.h"
#include "symbolize/modules.h"

/* The largest function of cc1 has 250 KiB. */
#define FUNCTION_MAX (1u << 20)
#define CHUNK 4096

struct function {
	uint64_t start, end;
};

static bool function_of(const struct module *m, uint64_t vaddr,
			struct function *out)
{
	for (unsigned int i = 0; i < MODULE_TABLES; i++)
		if (m->cfi[i] &&
		    cfi_function(m->cfi[i], vaddr, &out->start, &out->end))
			return true;
	return false;
}

static bool code_before(struct modules *ms, struct module *m, uint64_t vaddr,
			bool *direct, int64_t *target)
{
	unsigned char code[CALLSITE_MAX];
	size_t n = sizeof(code);

	*direct = false;
	return vaddr >= n && modules_code(ms, m, vaddr - n, code, n) == n &&
	       callsite_before(m->machine, code, n, direct, target);
}

bool caller_called(struct modules *ms, struct module *m, uint64_t vaddr)
{
	int64_t target;
	bool direct;

	return code_before(ms, m, vaddr, &direct, &target);
}

/* How many direct calls of `to` the function has; *last: behind one. What
 * looks like one inside another instruction must be right in all of its
 * distance. */
static unsigned int calls(struct modules *ms, struct module *m,
			  const struct function *g, uint64_t to, uint64_t *last)
{
	unsigned char code[CALLSITE_MAX + CHUNK];
	const size_t head = CALLSITE_MAX;
	unsigned int n = 0;

	memset(code, 0, head);
	for (uint64_t at = g->start; at < g->end; at += CHUNK) {
		size_t want =
			g->end - at < CHUNK ? (size_t)(g->end - at) : CHUNK;

		if (modules_code(ms, m, at, code + head, want) != want)
			return n;
		for (size_t i = 1; i <= want; i++) {
			int64_t target;
			bool direct;

			callsite_before(m->machine, code + i, head, &direct,
					&target);
			if (!direct || at + i + (uint64_t)target != to)
				continue;
			*last = at + i;
			n++;
		}
		memcpy(code, code + want, head);
	}
	return n;
}

bool caller_infer(struct modules *ms, struct module *m, uint64_t leaf,
		  uint64_t next, uint64_t *caller)
{
	struct function f, g;
	int64_t target;
	bool direct;

	if (!function_of(m, leaf, &f) ||
	    !code_before(ms, m, next, &direct, &target) || !direct)
		return false;
	uint64_t entered = next + (uint64_t)target;

	if (!function_of(m, entered, &g) || g.start != entered ||
	    g.start == f.start || g.end - g.start > FUNCTION_MAX)
		return false;
	unsigned int n = calls(ms, m, &g, f.start, caller);

	if (n > 1)
		*caller = g.start;
	return n > 0;
}

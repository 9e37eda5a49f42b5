/* caller.c - the caller that a frame-pointer chain lacks. */
#include "symbolize/unwind/caller.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "symbolize/disasm/call.h"
#include "symbolize/cfi/cfi.h"
#include "symbolize/unwind/modules.h"
#include "symbolize/cfi/unwind_rows.h"

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

/* What call is in front of an address, and where it goes. */
static enum call_kind call_at(struct modules *ms, struct module *m,
			      uint64_t vaddr, uint64_t *target)
{
	unsigned char code[CALL_BEFORE + CALL_AFTER];
	size_t n = sizeof(code);

	*target = 0;
	if (vaddr < CALL_BEFORE)
		return CALL_NONE;
	n = modules_code(ms, m, vaddr - CALL_BEFORE, code, n);
	if (n < CALL_BEFORE)
		return CALL_NONE;
	return call_before(m->machine, m->big, code, CALL_BEFORE,
			   n - CALL_BEFORE, vaddr, target);
}

bool caller_called(struct modules *ms, struct module *m, uint64_t vaddr)
{
	uint64_t target;
	enum call_kind kind = call_at(ms, m, vaddr, &target);

	return kind == CALL_DIRECT || kind == CALL_INDIRECT;
}

bool caller_entered(struct modules *ms, struct module *m, uint64_t ret,
		    uint64_t in)
{
	struct function f;
	uint64_t target;
	enum call_kind kind = call_at(ms, m, ret, &target);

	if (kind != CALL_DIRECT)
		return kind == CALL_INDIRECT;
	return !function_of(m, target, &f) || (in >= f.start && in < f.end);
}

/* Is the frame pointer that of the function? Where a call leaves the return
 * address in a register, tables count from SP even then: that both are saved
 * has to do. */
static bool has_frame(const struct module *m, const struct row *row)
{
	enum row_kind kind = row_kind(row);

	if (m->machine == EM_AARCH64)
		return row->fp <= ROW_CFA_MAX && row->ra <= ROW_CFA_MAX;
	return kind == ROW_FP || kind == ROW_FP_DEREF;
}

/* Is most of the code where it has a frame? Elsewhere the frame pointer holds
 * anything, and chains are made up. */
static bool built_with_frames(struct module *m)
{
	uint64_t with = 0;
	uint64_t all = 0;

	if (m->frames != FRAMES_ASK)
		return m->frames == FRAMES_KEPT;
	for (unsigned int i = 0; i < MODULE_ROWS; i++)
		for (size_t k = 1;
		     m->rows[i] && k < unwind_rows_count(m->rows[i]); k++) {
			uint64_t from, to;
			const struct row *row =
				unwind_rows_at(m->rows[i], k - 1, &from);

			unwind_rows_at(m->rows[i], k, &to);
			all += row_kind(row) == ROW_GAP ? 0 : to - from;
			with += has_frame(m, row) ? to - from : 0;
		}
	m->frames = with * 2 > all ? FRAMES_KEPT : FRAMES_NOT;
	return m->frames == FRAMES_KEPT;
}

/* How many direct calls of `to` the function has where it has a frame; *last:
 * behind one. What looks like one inside another instruction must be right in
 * all of its distance. */
static unsigned int calls(struct modules *ms, struct module *m,
			  const struct function *g, uint64_t to, uint64_t *last)
{
	unsigned char code[CALL_BEFORE + CHUNK];
	unsigned int n = 0;

	memset(code, 0, CALL_BEFORE);
	for (uint64_t at = g->start; at < g->end; at += CHUNK) {
		size_t want =
			g->end - at < CHUNK ? (size_t)(g->end - at) : CHUNK;

		if (modules_code(ms, m, at, code + CALL_BEFORE, want) != want)
			return n;
		for (size_t i = 1; i <= want; i++) {
			uint64_t target;

			if (call_before(m->machine, m->big, code + i,
					CALL_BEFORE, 0, at + i,
					&target) != CALL_DIRECT ||
			    target != to)
				continue;
			const struct row *row = modules_row(m, at + i - 1);

			if (!row || !has_frame(m, row))
				continue;
			*last = at + i;
			n++;
		}
		memcpy(code, code + want, CALL_BEFORE);
	}
	return n;
}

bool caller_infer(struct modules *ms, struct module *m, uint64_t leaf,
		  uint64_t next, uint64_t *caller)
{
	struct function f, g;
	uint64_t entered;

	if (!built_with_frames(m) || !function_of(m, leaf, &f) ||
	    call_at(ms, m, next, &entered) != CALL_DIRECT)
		return false;
	if (!function_of(m, entered, &g) || g.start != entered ||
	    g.start == f.start || g.end - g.start > FUNCTION_MAX)
		return false;
	unsigned int n = calls(ms, m, &g, f.start, caller);

	if (n > 1)
		*caller = g.start;
	return n > 0;
}

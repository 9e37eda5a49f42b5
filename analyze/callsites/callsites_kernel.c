/* callsites_kernel.c - the kernel's half of stacks: is its outermost frame one
 * in which kernel stacks begin, and is nothing further out? Its return
 * addresses are not looked up in code. */
#include <fnmatch.h>

#include "analyze/callsites/callsites_pass.h"
#include "analyze/names/bare_code.h"
#include "schema/columns.h"
#include "schema/db/sums_code.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* Linux 6.18 and 7.2, by their stacks; the code is in
 * arch/x86/entry/entry_64.S, arch/x86/kernel/head_64.S,
 * arch/arm64/kernel/entry.S and arch/s390/kernel/entry.S. A stack of the kernel
 * is empty where it is entered from user mode, or a thread or CPU starts on it;
 * unwinders stop at registers of user mode (arch/x86/kernel/unwind_orc.c). An
 * interrupt enters from either mode, so that the frames of what it came from
 * may follow. ret_from_fork() is called from ret_from_fork_asm() on x86, and
 * first on others. */
static const struct kernel_start {
	const char *pattern;
	enum thread_start start;
} kernel_starts[] = {
	{ "entry_SYSCALL_64", START_KERNEL },
	{ "entry_SYSCALL_64_after_hwframe", START_KERNEL },
	{ "entry_SYSCALL_compat*", START_KERNEL },
	{ "entry_SYSENTER_compat*", START_KERNEL },
	{ "ret_from_fork_asm", START_KERNEL },
	{ "secondary_startup_64*", START_KERNEL },
	{ "common_startup_64", START_KERNEL },
	{ "el0t_??_sync", START_KERNEL },
	{ "el0t_??_irq", START_KERNEL },
	{ "el0t_??_fiq", START_KERNEL },
	{ "el0t_??_error", START_KERNEL },
	{ "__primary_switched", START_KERNEL },
	{ "__secondary_switched", START_KERNEL },
	{ "system_call", START_KERNEL },
	{ "startup_continue", START_KERNEL },
	{ "ret_from_fork", START_INTERRUPT },
	{ "entry_INT80_compat", START_INTERRUPT },
	{ "asm_exc_*", START_INTERRUPT },
	{ "asm_sysvec_*", START_INTERRUPT },
	{ "asm_*_interrupt", START_INTERRUPT },
	{ "asm_fred_*", START_INTERRUPT },
	{ "*_int_handler", START_INTERRUPT },
	{ "pgm_check_handler", START_INTERRUPT },
};

static enum thread_start callsites_kernel_start(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(kernel_starts); i++)
		if (!fnmatch(kernel_starts[i].pattern, name, 0))
			return kernel_starts[i].start;
	return START_UNKNOWN;
}

/* The code of a symbol in which stacks begin. */
struct kernel_range {
	uint32_t image;
	uint64_t from, size;
	enum thread_start is;
};

COMPARE_FUNCTION(kernel_range_compare, struct kernel_range,
		 compare_numbers(x->image, y->image)
			 ?: compare_numbers(x->from, y->from));

int callsites_find_kernel(struct pass *p, struct err *err)
{
	struct kernel_range *range = NULL;
	size_t n = 0, cap = 0;
	struct store *db = maker_read(p->mk, err);
	struct rows *r = rows_of(db, "callsite_kernel", err);
	const bool sums = db && store_sums_code(db);

	for (uint32_t i = 1; i < p->code->n_frame; i++) {
		const struct code_image *c =
			&p->code->image[bare_code_frame(p->code, i)->image];
		struct spot *s = &p->spot[i];
		uint64_t unused;

		if (c->img.kind != IMAGE_KERNEL || c->status != IMAGE_NAMED)
			continue;
		const char *name =
			sums ? store_sums_name(db, i, &unused) : NULL;

		s->named = !sums || name;
		if (name)
			s->start = (uint8_t)callsites_kernel_start(name);
	}
	/* the rows of frames have no names yet */
	while (rows_step(r)) {
		const struct kernel_range at = {
			(uint32_t)rows_int(r, CALLSITE_KERNEL_IMAGE),
			(uint64_t)rows_int(r, CALLSITE_KERNEL_START),
			(uint64_t)rows_int(r, CALLSITE_KERNEL_SIZE),
			callsites_kernel_start(
				rows_text(r, CALLSITE_KERNEL_NAME)),
		};

		if (at.is)
			*mem_add(range, n, cap) = at;
	}
	sort_items(range, n, kernel_range_compare);
	for (uint32_t i = 1; i < p->code->n_frame; i++) {
		const uint32_t image = bare_code_frame(p->code, i)->image;
		const uint64_t off = p->spot[i].off - 1;
		const size_t k = search_where(
			n, m,
			range[m].image > image || (range[m].image == image &&
						   range[m].from > off));

		if (k && range[k - 1].image == image &&
		    off - range[k - 1].from < range[k - 1].size)
			p->spot[i].start = (uint8_t)range[k - 1].is;
	}
	free(range);
	return rows_end(r, err);
}

void callsites_judge_kernel(struct pass *p, uint32_t stack)
{
	struct known_stack *k = &p->stack[stack];
	const uint32_t parent = bare_code_stack(p->code, stack)->parent;

	if (!parent)
		return;
	/* not of an innermost frame, which no unwinder has led to */
	const struct stack *out = bare_code_stack(p->code, parent);

	k->beyond = p->stack[parent].beyond ||
		    (out->parent && p->spot[out->frame].start == START_KERNEL);
	if (!k->used)
		return;
	if (k->beyond)
		k->judged = JUDGED_FABRICATED;
	else if (p->spot[k->root].start == START_UNKNOWN &&
		 p->spot[k->root].named)
		k->judged = JUDGED_NO_START;
}

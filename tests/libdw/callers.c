/* callers.c - is the caller that a frame-pointer chain lacks rightly marked,
 * and rightly inferred?
 *
 * usage: callers SYMFS CAPTURE MARKED INFERRED [SYMFS CAPTURE ...]
 * Of captures whose samples have a chain and a dump: the dump says who called.
 * MARKED, INFERRED: how many per mille must be right of those that are marked,
 * or not, and of those that are inferred; "-": the number is only told; "0":
 * none may be inferred, as the program has no frame pointers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "stitch/base/err.h"
#include "symbolize/cfi/cfi.h"
#include "symbolize/elf/elf.h"
#include "symbolize/unwind/unwind_images.h"

#define FRAMES_MAX 1024

struct look {
	struct run run;		       /* first */
	size_t samples, marked, right; /* right: marked or not, as it should */
	size_t inferred, function, address; /* and right in these */
};

static bool callers_function_at(struct look *l, const struct unwind_in *in,
				uint64_t pc, uint64_t *start)
{
	struct unwind_map map;
	uint64_t vaddr, end;

	if (!in->find(in->arg, pc, &map) || !map.image)
		return false;
	struct unwind_image *m =
		unwind_images_of(unwind_get_images(l->run.ours), map.image);
	if (!m || !m->cfi[0] ||
	    !elf_vaddr(m->seg, m->n_seg, pc - map.start + map.pgoff, &vaddr) ||
	    !cfi_function(m->cfi[0], vaddr, start, &end))
		return false;
	*start += pc - vaddr;
	return true;
}

static void callers_judge(struct look *l, const struct unwind_in *in,
			  uint64_t guess, uint64_t truth)
{
	uint64_t a, b;

	l->inferred++;
	l->address += guess - 1 == truth;
	l->function += guess - 1 == truth ||
		       (callers_function_at(l, in, guess, &a) &&
			callers_function_at(l, in, truth, &b) && a == b);
}

/* How far the chain goes as the dump does when `lost` of its callers are not in
 * the chain: what calls itself looks the same for a while. */
static uint32_t follows(const struct unwind_in *in, const uint64_t *ip,
			uint32_t n, const struct unwind_out *truth,
			uint32_t lost)
{
	uint32_t i = 1;

	while (i < n && i + lost < truth->n) {
		uint64_t pc = ip[i] & in->user_mask;

		/* The way back from a signal is not inside a call. */
		if (pc - 1 != truth->ip[i + lost] && pc != truth->ip[i + lost])
			break;
		i++;
	}
	return i;
}

static enum unwind_caller callers_look(struct unwinder *uw,
				       const struct unwind_in *in,
				       const uint64_t *ip, uint32_t n,
				       bool infer, uint64_t *caller)
{
	struct look *l = (struct look *)uw;
	const struct rec_sample *s = &l->run.last;
	static uint64_t truth[FRAMES_MAX];
	struct unwind_out out = { .ip = truth, .max = FRAMES_MAX };
	struct unwind_in dump = *in;
	enum unwind_caller c =
		l->run.ours->ops->caller(l->run.ours, in, ip, n, infer, caller);

	dump.regs = &s->user_regs;
	dump.stack = s->stack;
	dump.len = s->stack_len;
	dump.dumped = true;
	dump.pc = ip[0];
	l->run.ours->ops->unwind(l->run.ours, &dump, &out);
	if (!s->has_dump || out.end != UNWIND_OUTERMOST || out.n < 2 ||
	    out.ip[0] != ip[0])
		return c;
	uint32_t with = follows(in, ip, n, &out, 0);
	uint32_t without = follows(in, ip, n, &out, 1);
	bool there = with > without;

	/* Both, up to the chain's end. */
	if (with == without && with > 1)
		return c;
	const bool said = c == CALLER_KNOWN || c == CALLER_FRAMED;

	l->samples++;
	l->marked += !said;
	l->right += there == said;
	if (c == CALLER_INFERRED || c == CALLER_FUNCTION)
		callers_judge(l, in, *caller, out.ip[1]);
	return c;
}

static void callers_unwind(struct unwinder *uw, const struct unwind_in *in,
			   struct unwind_out *out)
{
	struct unwinder *ours = ((struct run *)uw)->ours;

	ours->ops->unwind(ours, in, out);
}

static const struct unwinder_ops ops = {
	.unwind = callers_unwind,
	.caller = callers_look,
};

static bool enough(size_t right, size_t all, const char *per_mille)
{
	if (!strcmp(per_mille, "-"))
		return true;
	return all && right * 1000 >= all * strtoul(per_mille, NULL, 10);
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i + 3 < argc; i += 4) {
		struct look l = { .run = { .uw = { &ops }, .infer = true } };
		struct err err;

		if (run_capture(&l.run, argv[i], argv[i + 1], &err)) {
			printf("not ok %s: %s\n", argv[i + 1], err.msg);
			failed = 1;
			continue;
		}
		bool good =
			l.samples && enough(l.right, l.samples, argv[i + 2]) &&
			(strcmp(argv[i + 3], "0") != 0
				 ? enough(l.function, l.inferred, argv[i + 3])
				 : !l.inferred);

		failed |= !good;
		printf("%s %s: %zu chains, %zu lack a caller, the mark is right"
		       " in %zu; of %zu inferred callers %zu are the function,"
		       " %zu the address\n",
		       good ? "ok" : "not ok", argv[i + 1], l.samples, l.marked,
		       l.right, l.inferred, l.function, l.address);
	}
	return failed;
}

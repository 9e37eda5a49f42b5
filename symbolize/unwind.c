/* unwind.c - the unwinder: of stack dumps, and of what registers alone say. */
#include "symbolize/unwind.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/frame.h"
#include "stitch/mem.h"
#include "stitch/table.h"
#include "stitch/unwinder.h"
#include "symbolize/abi.h"
#include "symbolize/callsite.h"
#include "symbolize/elf.h"
#include "symbolize/leaf.h"
#include "symbolize/modules.h"
#include "symbolize/rows.h"
#include "symbolize/walk.h"

#define CACHE_BITS 16

/* What is known of an address. */
enum known {
	KNOWN_ROW = 1,
	KNOWN_LINK, /* no row, but the code says that the link register
		     * holds the return address */
	KNOWN_NO_TABLE,
	KNOWN_NO_FILE,
	KNOWN_NO_CODE, /* in no executable mapping */
};

/* 48 bytes; epoch 0: empty. */
struct place {
	uint64_t pc, epoch;
	uint64_t vaddr;
	struct module *m;
	struct row row;
	enum known known;
};

struct unwind {
	struct unwinder uw; /* first */
	const struct frames *fr;
	struct modules *modules;
	struct place *cache;
	struct place last; /* of one that is not kept */
};

static void by_table(struct unwind *u, struct place *p)
{
	const struct row *row;

	if (sigreturn_row(&p->m->sigreturn, p->vaddr, &p->row)) {
		p->known = KNOWN_ROW;
		return;
	}
	for (unsigned int i = 0; i < MODULE_TABLES; i++) {
		row = p->m->rows[i] ? rows_find(p->m->rows[i], p->vaddr) : NULL;
		if (row && row_kind(row) != ROW_GAP) {
			p->row = *row;
			p->known = KNOWN_ROW;
			return;
		}
	}
	p->known = leaf_keeps_link(u->modules, p->m, p->vaddr) ? KNOWN_LINK
							       : KNOWN_NO_TABLE;
}

static void look(struct unwind *u, const struct unwind_in *in, uint64_t pc,
		 struct place *p)
{
	struct unwind_map map;

	*p = (struct place){ .pc = pc, .known = KNOWN_NO_CODE };
	if (!in->find(in->arg, pc, &map) || pc < map.start || !map.exec)
		return;
	p->epoch = in->epoch;
	p->known = KNOWN_NO_FILE;
	if (map.image)
		p->m = modules_of(u->modules, map.image);
	if (!p->m || p->m->machine != in->machine)
		return;
	p->known = KNOWN_NO_TABLE;
	if (elf_vaddr(p->m->seg, p->m->n_seg, pc - map.start + map.pgoff,
		      &p->vaddr))
		by_table(u, p);
}

static inline const struct place *
place_of(struct unwind *u, const struct unwind_in *in, uint64_t pc)
{
	/* Processes of one program may have equal addresses. */
	uint64_t hash = (pc ^ in->epoch << 16) * 0x9e3779b97f4a7c15u;
	struct place *p = &u->cache[hash >> (64 - CACHE_BITS)];

	if (__builtin_expect(in->epoch && p->pc == pc && p->epoch == in->epoch,
			     1))
		return p;
	if (!in->epoch)
		p = &u->last;
	look(u, in, pc, p);
	return p;
}

/* Where the caller's address is looked for: in the call, not behind it. */
static uint64_t inside(const struct walk *w)
{
	return w->exact ? w->v.pc : w->v.pc - 1;
}

/* Is the address of a frame found by frame pointer behind a call? In code
 * that was made at run time that cannot be seen afterwards: such code may
 * only be called by the same. */
static bool called(struct unwind *u, const struct unwind_in *in,
		   const struct place *from, uint64_t pc)
{
	unsigned char code[CALLSITE_MAX];
	struct place to;
	bool direct;

	look(u, in, pc - 1, &to);
	if (to.known == KNOWN_NO_CODE)
		return false;
	if (!to.m)
		return !from->m;
	uint64_t vaddr = to.vaddr + 1;
	size_t n = vaddr < sizeof(code) ? 0 : sizeof(code);

	return n && modules_code(u->modules, to.m, vaddr - n, code, n) == n &&
	       callsite_before(to.m->machine, code, n, &direct, NULL);
}

static int guess(struct unwind *u, const struct unwind_in *in,
		 const struct place *p, struct walk *w, struct unwind_out *out)
{
	struct walk next = *w;

	w->end = p->known == KNOWN_NO_FILE ? UNWIND_NO_FILE : UNWIND_NO_TABLE;
	if (walk_pointer(&next)) {
		if (next.end == UNWIND_OUTERMOST)
			w->end = next.end;
		return -1;
	}
	if (!called(u, in, p, next.v.pc))
		return -1;
	*w = next;
	if (out->guessed == UINT32_MAX)
		out->guessed = out->n;
	return 0;
}

static int step(struct unwind *u, const struct unwind_in *in,
		const struct place *p, bool full, struct walk *w,
		struct unwind_out *out)
{
	if (p->known == KNOWN_ROW) {
		if (full && row_kind(&p->row) != ROW_SIGNAL)
			return walk_rules(w, p->m, p->vaddr);
		return walk_row(w, &p->row);
	}
	if (p->known == KNOWN_LINK && w->top)
		return walk_link(w);
	return guess(u, in, p, w, out);
}

static enum unwind_end walk_all(struct unwind *u, const struct unwind_in *in,
				const struct abi *abi, bool full,
				struct unwind_out *out)
{
	struct walk w;

	walk_start(&w, abi, in);
	out->n = 0;
	out->guessed = UINT32_MAX;
	for (;;) {
		uint64_t pc = inside(&w);
		const struct place *p = place_of(u, in, pc);

		if (p->known == KNOWN_NO_CODE && out->n)
			return UNWIND_NO_MAP;
		if (out->n == out->max)
			return UNWIND_LIMIT;
		out->ip[out->n++] = pc;
		if (p->known == KNOWN_NO_CODE)
			return UNWIND_NO_MAP;
		if (step(u, in, p, full, &w, out))
			return w.end;
	}
}

/* What no dump is needed for: is the return address in its register still? */
static void unwind_link(struct unwind *u, const struct unwind_in *in,
			const struct abi *abi, struct unwind_out *out)
{
	struct walk w;

	walk_start(&w, abi, in);
	const struct place *p = place_of(u, in, in->pc & in->user_mask);

	out->ip[0] = in->pc;
	out->n = 1;
	out->guessed = UINT32_MAX;
	out->end = p->known == KNOWN_NO_CODE ? UNWIND_NO_MAP : UNWIND_NO_TABLE;
	if (p->known != KNOWN_ROW && p->known != KNOWN_LINK)
		return;
	/* Only of the very file that ran, by build-id: no dump would show
	 * that another one is wrong. */
	if (!p->m->proved && p->m->kind != IMAGE_VDSO)
		return;
	out->end = UNWIND_TRUNCATED;
	if (p->known == KNOWN_ROW &&
	    (row_kind(&p->row) == ROW_OUTERMOST ||
	     row_kind(&p->row) == ROW_COMPLEX || p->row.how & ROW_INTERRUPTED ||
	     p->row.ra != ROW_SAME))
		return;
	if (out->max > 1 && !walk_link(&w))
		out->ip[out->n++] = w.v.pc - 1;
}

static void unwind_do(struct unwinder *uw, const struct unwind_in *in,
		      struct unwind_out *out)
{
	struct unwind *u = (struct unwind *)uw;
	const struct abi *abi = abi_of(in->machine);

	if (!abi) {
		out->ip[0] = in->pc;
		out->n = 1;
		out->guessed = UINT32_MAX;
		out->end = UNWIND_NO_TABLE;
		return;
	}
	if (!in->dumped) {
		unwind_link(u, in, abi, out);
		return;
	}
	out->end = walk_all(u, in, abi, false, out);
	if (out->end == UNWIND_COMPLEX)
		out->end = walk_all(u, in, abi, true, out);
}

static void unwind_free(struct unwinder *uw)
{
	struct unwind *u = (struct unwind *)uw;

	if (!u)
		return;
	modules_free(u->modules);
	free(u->cache);
	free(u);
}

static const struct unwinder_ops ops = {
	.name = "tables",
	.unwind = unwind_do,
	.free = unwind_free,
};

struct unwinder *unwind_new(struct symbolizer *sy, const struct frames *fr)
{
	struct unwind *u = mem_new(1, sizeof(*u));

	u->uw.ops = &ops;
	u->fr = fr;
	u->modules = modules_new(sy, fr);
	u->cache = mem_new((size_t)1 << CACHE_BITS, sizeof(*u->cache));
	return &u->uw;
}

struct modules *unwind_modules(struct unwinder *uw)
{
	return ((struct unwind *)uw)->modules;
}

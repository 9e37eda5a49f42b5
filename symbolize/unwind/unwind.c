/* unwind.c - unwinds stack dumps, and samples with registers only; also steps
 * out of code that has no unwind table. */
#include "symbolize/unwind/unwind.h"

#include <elf.h>
#include <stdbool.h>

#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/tasks/frame.h"
#include "stitch/unwinder.h"
#include "symbolize/cfi/abi.h"
#include "symbolize/cfi/unwind_rows.h"
#include "symbolize/disasm/frame_code.h"
#include "symbolize/elf/elf.h"
#include "symbolize/elf/gopclntab.h"
#include "symbolize/files/code_cache.h"
#include "symbolize/unwind/callsite.h"
#include "symbolize/unwind/missing_caller.h"
#include "symbolize/unwind/stack_walk.h"
#include "symbolize/unwind/thread_start.h"
#include "symbolize/unwind/unwind_images.h"
#include "symbolize/unwind/unwind_places.h"
#include "symbolize/unwind/unwind_threads.h"

/* Samples of several threads alternate: the previous stack of each is found by
 * the memory region of its stack. */
#define TRAILS 16
/* Bytes of startup code at a file's entry point. */
#define UNWIND_ENTRY_MAX 256

/* An address, and its row. */
struct unwind_step_at {
	uint64_t pc;
	struct unwind_row row;
	bool lasts; /* the row is valid as long as the epoch is the same */
};

/* The code at an address. */
struct unwind_code {
	struct unwind_image *m; /* NULL: not found */
	uint64_t vaddr;
	bool mapped; /* executable */
	bool file;   /* belongs to a file, found or not */
	bool dated;  /* the mapping may change */
	bool named;  /* in a function that the runtime named */
	bool proved; /* unwind_images_is_proved() */
};

/* The code at an address, valid as long as mappings do not change. */
struct unwind_known_code {
	uint64_t pc, epoch; /* epoch 0: empty */
	uint16_t machine;
	struct unwind_code code;
};

/* The innermost function of a recorded chain, at the sampled place. */
struct unwind_leaf {
	enum {
		LEAF_NOT_ASKED, /* unknown, or the chain is complete */
		LEAF_FRAMED,	/* FP is that of the function */
		LEAF_SIGNAL,	/* a signal trampoline */
		LEAF_BARE	/* FP is that of a caller */
	} how : 8;
	bool low; /* missing_caller_fp_is_low() */
};

struct table_unwinder {
	struct unwinder uw; /* first */
	struct unwind_images *modules;
	struct unwind_places *places; /* NULL: not made yet */
	/* The threads' unwinders share modules and places. */
	struct unwind_threads *threads; /* NULL: none */
	struct unwinder **helper;
	unsigned int n_helper;
	unsigned int wanted; /* threads to start with the first dump */
	bool ahead; /* this unwinder belongs to a thread; stuck and dated are
		       then of the current stack */
	bool stuck; /* only the main thread can look up an image or a debug
		     * file */
	bool dated; /* as in struct unwinder_ops.finish */
	struct unwind_step_at last; /* the step that was found last */
	/* NULL: no chain was checked yet */
	struct unwind_known_code *known;
	uint64_t *leaf;	       /* unwind_known_leaf() */
	uint32_t leaves_added; /* number of debug-file tables that these results
				  depend on */
	struct stack_trail trail[TRAILS];
};

/* Returns whether a table has the address. If not, the kind of its row is the
 * reason: unwind_look_up() sets the kinds after ROW_COMPLEX, which are in no
 * table. */
static inline bool unwind_is_in_table(enum row_kind kind)
{
	return kind <= ROW_COMPLEX;
}

static inline bool unwind_is_file(const struct unwind_code *c)
{
	return c->m && c->m->kind != IMAGE_JIT;
}

/* Nothing is mapped below (vm.mmap_min_addr), so small numbers are not code. */
#define NO_CODE_BELOW 65536
/* The register with the result of a system call on x86-64: rax. */
#define REG_RESULT 0

/* Finds the code at an address. Call it, and those below, with the images
 * locked. */
static struct unwind_code unwind_code_at(struct table_unwinder *u,
					 const struct unwind_in *in,
					 uint64_t pc)
{
	struct unwind_code c = { .m = NULL };
	struct unwind_map map;

	c.mapped = in->find(in->arg, pc, &map) && pc >= map.start && map.exec;
	c.dated = !c.mapped || map.dated;
	u->dated |= c.dated;
	c.named = c.mapped && map.code;
	if (c.named) {
		c.m = unwind_images_of_code(u->modules, map.code);
		if (c.m && in->machine && c.m->machine != in->machine)
			c.m = NULL;
		c.vaddr = pc;
		c.dated = true;
		c.proved = true;
		return c;
	}
	if (!c.mapped || !map.image)
		return c;
	if (u->ahead && !unwind_images_known(u->modules, map.image)) {
		u->stuck = c.dated = true;
		return c;
	}
	c.m = unwind_images_of(u->modules, map.image);
	c.file = unwind_images_is_file(u->modules, map.image);
	if (c.m && ((in->machine && c.m->machine != in->machine) ||
		    !elf_vaddr(c.m->seg, c.m->n_seg, pc - map.start + map.pgoff,
			       &c.vaddr)))
		c.m = NULL;
	c.proved = c.m && unwind_images_is_proved(c.m, &map);
	return c;
}

/* Returns true if an address that was found on the stack follows a call.
 * Without its bytes this cannot be checked for JIT code, which is then accepted
 * as a caller of JIT code only, or if the runtime named a function there: V8's
 * builtins are in its file, without tables, and set frame pointers. */
static bool unwind_is_called(struct table_unwinder *u,
			     const struct unwind_in *in, bool from_file,
			     uint64_t pc)
{
	struct unwind_code to = unwind_code_at(u, in, pc - 1);

	if (!to.mapped)
		return false;
	if (!to.m)
		return !from_file || to.named;
	return missing_caller_after_call(to.m, to.vaddr + 1);
}

/* Returns whether this is the system call in clone() and clone3() after which
 * glibc's table ends: the child continues there on another stack. *row: the row
 * up to there, which holds for the parent after it too. */
static bool unwind_at_clone(const struct unwind_code *c,
			    const struct stack_walk *w, struct unwind_row *row,
			    bool *behind)
{
	unsigned char insn[2];

	if (!w->top || !unwind_is_file(c) || c->m->machine != EM_X86_64)
		return false;
	for (unsigned int back = 0; back <= sizeof(insn);
	     back += sizeof(insn)) {
		uint64_t call = c->vaddr - back;
		const struct unwind_row *r = unwind_images_row(c->m, call - 1);

		if (!r || unwind_row_kind(r) != ROW_SP ||
		    unwind_images_read_code(c->m, call, insn, sizeof(insn)) !=
			    sizeof(insn) ||
		    insn[0] != 0x0f || insn[1] != 0x05)
			continue;
		*row = *r;
		*behind = back != 0;
		return true;
	}
	return false;
}

/* Does frame_code_ends() for the rest of the function, from the place of *w. */
static enum frame_code_end unwind_bare_ends(const struct unwind_code *c,
					    const struct stack_walk *w,
					    int64_t *cfa, int64_t *fp)
{
	unsigned char code[FRAME_CODE_WHOLE];

	if (!unwind_is_file(c))
		return FRAME_CODE_UNKNOWN;
	size_t n = unwind_images_read_code(c->m, c->vaddr + !w->exact, code,
					   sizeof(code));
	return frame_code_ends(c->m->machine, code, n, cfa, fp);
}

/* Returns whether the code is at a program's entry: it has no table, and does
 * not use FP, which exec has cleared. */
static bool unwind_bare_is_entry(const struct unwind_code *c,
				 const struct stack_walk *w)
{
	return unwind_is_file(c) && c->m->entry && c->vaddr >= c->m->entry &&
	       c->vaddr - c->m->entry < UNWIND_ENTRY_MAX &&
	       !unwind_images_row(c->m, c->m->entry) &&
	       w->v.have >> w->abi->fp & 1 && !w->v.reg[w->abi->fp];
}

/* Returns whether the thread ends after the call that contains the address. */
static bool unwind_bare_exits(const struct unwind_code *c)
{
	unsigned char code[FRAME_CODE_EXIT];
	size_t n;

	if (!unwind_is_file(c))
		return false;
	/* c->vaddr is in the call */
	n = unwind_images_read_code(c->m, c->vaddr + 1, code, sizeof(code));
	return frame_code_exits(c->m->machine, code, n);
}

/* Returns whether a caller is the outermost frame: the thread ends after its
 * call, or the first function of a context returns to it. */
static bool unwind_bare_is_last(const struct unwind_code *c,
				const struct stack_walk *w)
{
	/* glibc's table of __start_context begins at the return address, which
	 * is after c->vaddr */
	return !w->top && (unwind_bare_exits(c) ||
			   (unwind_is_file(c) && !w->exact &&
			    missing_caller_starts(c->m, c->vaddr + 1)));
}

/* Returns whether Go's runtime has this function as one without a caller, and
 * its table has no return address. */
static bool unwind_bare_is_top(struct table_unwinder *u,
			       const struct unwind_in *in,
			       const struct unwind_code *c,
			       const struct stack_walk *w)
{
	struct gopclntab_depths d;
	struct elf_section from;
	struct gopclntab g;
	uint64_t pc;

	if (!unwind_is_file(c) ||
	    stack_walk_read_word(w, w->v.reg[w->abi->sp], &pc) ||
	    unwind_is_called(u, in, true, pc))
		return false;
	const struct elf_file *ef = unwind_images_file(c->m);

	return ef && gopclntab_open(ef, &g, &from) &&
	       gopclntab_around(&g, c->vaddr, &d) && d.top;
}

/* Steps out of a function without a table by its code, which is as good as a
 * table: those of gcc's crtstuff and libc's crti.o are in each file, and run
 * when a program ends. */
static int unwind_by_code(const struct unwind_code *c, struct stack_walk *w)
{
	const int64_t word = (int64_t)w->abi->word;
	struct unwind_row row = { .how = ROW_SP, .fp = ROW_SAME, .ra = -1 };
	int64_t cfa, fp;

	if (unwind_bare_ends(c, w, &cfa, &fp) != FRAME_CODE_RETURNS ||
	    cfa > FRAME_CODE_MAX || (fp != FRAME_CODE_KEPT && fp > cfa))
		return -1;
	/* a call with nothing on the stack: it does not return, and the code
	 * after it is of the next function */
	if (!w->exact && cfa == word)
		return -1;
	row.cfa = (int32_t)cfa;
	if (fp != FRAME_CODE_KEPT)
		row.fp = (int16_t)((fp - cfa) / word);
	return stack_walk_row(w, &row);
}

/* Steps out of the innermost function at a place where it has not set FP yet,
 * or has restored it: the return address is on top of the stack, or after FP,
 * which was just saved. Returns -1 if the word there does not follow a call, or
 * follows one of another function. */
static int unwind_from_top(struct table_unwinder *u, const struct unwind_in *in,
			   const struct unwind_code *from, struct stack_walk *w)
{
	const int64_t word = (int64_t)w->abi->word;
	struct unwind_row row = { .how = ROW_SP, .fp = ROW_SAME, .ra = -1 };
	uint64_t sp = w->v.reg[w->abi->sp];
	bool is_file = unwind_is_file(from);
	uint64_t top;

	if (!w->top || w->abi->link >= 0 || stack_walk_read_word(w, sp, &top))
		return -1;
	row.cfa = (int32_t)word;
	if (top == w->v.reg[w->abi->fp])
		row.cfa += (int32_t)word;
	if (stack_walk_row(w, &row) ||
	    !unwind_is_called(u, in, is_file, w->v.pc))
		return -1;
	struct unwind_code to = unwind_code_at(u, in, w->v.pc - 1);

	return is_file && to.m == from->m &&
			       !missing_caller_may_enter(to.m, to.vaddr + 1,
							 from->vaddr)
		       ? -1
		       : 0;
}

/* Returns whether a step along FP may have skipped a caller: the call of a
 * function that set no FP has left a return address in between. Data may look
 * like one. */
static bool unwind_may_skip(struct table_unwinder *u,
			    const struct unwind_in *in,
			    const struct stack_walk *w)
{
	uint64_t to = w->v.reg[w->abi->fp];
	uint64_t at = w->v.reg[w->abi->sp];
	uint64_t pc;

	if (w->top && w->abi->link >= 0)
		return true;
	for (; at < to && !stack_walk_read_word(w, at, &pc);
	     at += w->abi->word) {
		if (pc - w->low >= bytes_left(&w->dump) &&
		    pc >= NO_CODE_BELOW && unwind_is_called(u, in, false, pc))
			return true;
	}
	return false;
}

/* Steps out of a function without a table: by its code, by what is on top of
 * the stack, or by the frame pointer. Returns 0 and *w, or -1 and w->end; notes
 * such frames in *out. */
static int unwind_bare_step(struct table_unwinder *u,
			    const struct unwind_in *in,
			    const struct unwind_step_at *p,
			    struct stack_walk *w, struct unwind_out *out)
{
	struct stack_walk next = *w;
	struct unwind_code from = unwind_code_at(u, in, p->pc);
	struct unwind_row row;
	bool behind;

	if (unwind_at_clone(&from, w, &row, &behind)) {
		bool known = w->v.have >> REG_RESULT & 1;

		if (!behind || (known && w->v.reg[REG_RESULT]))
			return stack_walk_row(w, &row);
		/* the result is 0 in the child, which has no caller */
		w->end = known ? UNWIND_OUTERMOST : UNWIND_NO_TABLE;
		return -1;
	}
	if (unwind_bare_is_entry(&from, w) || unwind_bare_is_last(&from, w)) {
		w->end = UNWIND_OUTERMOST;
		return -1;
	}
	w->end = unwind_row_kind(&p->row) == ROW_NO_FILE ? UNWIND_NO_FILE
							 : UNWIND_NO_TABLE;
	if (!unwind_by_code(&from, &next) &&
	    unwind_is_called(u, in, true, next.v.pc)) {
		*w = next;
		return 0;
	}
	next = *w;
	if (!unwind_from_top(u, in, &from, &next)) {
		out->unproved = true;
	} else {
		next = *w;
		if (stack_walk_pointer(&next)) {
			/* Zeros mark the end only after other frame-pointer
			 * steps; otherwise they are arbitrary data. */
			if (next.end == UNWIND_OUTERMOST &&
			    out->guessed != UINT32_MAX)
				w->end = next.end;
			return -1;
		}
		if (!unwind_is_called(u, in, unwind_is_file(&from), next.v.pc))
			return -1;
		out->unproved |= unwind_may_skip(u, in, w);
	}
	*w = next;
	if (out->guessed == UINT32_MAX)
		out->guessed = out->n;
	return 0;
}

/* How many places in code are cached while recorded chains are checked. */
#define CODES_KNOWN 1024
#define LEAVES_KNOWN (1u << 17) /* of 8 bytes */
#define LEAF_ADDR_BITS 44
/* Stacks in one memory region are of one thread. */
#define REGION_BITS 22

/* unwind_code_at() with a cache, for return addresses in recorded chains: other
 * chains have them too. */
static struct unwind_code unwind_known_code_at(struct table_unwinder *u,
					       const struct unwind_in *in,
					       uint64_t pc)
{
	if (!u->known)
		u->known = mem_new(CODES_KNOWN, sizeof(*u->known));
	struct unwind_known_code *k =
		&u->known[hash_pair(pc, in->epoch) % CODES_KNOWN];

	if (in->epoch && k->epoch == in->epoch && k->pc == pc &&
	    k->machine == in->machine)
		return k->code;
	struct unwind_code c = unwind_code_at(u, in, pc);

	if (in->epoch && !c.dated)
		*k = (struct unwind_known_code){ pc, in->epoch, in->machine,
						 c };
	return c;
}

/* Returns the row of an address, from a table or for a signal trampoline of the
 * vdso; or one of a kind that no table has, as the reason why there is none. */
static struct unwind_row unwind_look_up(struct table_unwinder *u,
					struct unwind_code *c)
{
	struct unwind_row none = { .how = ROW_NO_CODE };

	if (c->mapped)
		none.how = c->file ? ROW_NO_FILE : ROW_NO_TABLE;
	if (!c->m)
		return none;
	if (sigreturn_row(&c->m->sigreturn, c->vaddr, &none))
		return none;
	const struct unwind_row *row = unwind_images_row(c->m, c->vaddr);

	if (!row && u->ahead && unwind_images_may_add(c->m)) {
		u->stuck = c->dated = true;
		return none;
	}
	if (!row && unwind_images_more_tables(c->m))
		row = unwind_images_row(c->m, c->vaddr);
	if (row)
		return *row;
	none.how =
		link_register_is_kept(c->m, c->vaddr) ? ROW_LINK : ROW_NO_TABLE;
	return none;
}

/* Captures in which nothing is unwound need none. */
static inline struct unwind_places *unwind_need_places(struct table_unwinder *u)
{
	if (!u->places)
		u->places = unwind_places_new();
	return u->places;
}

/* Returns the row for an address; valid until the next call. */
static inline struct unwind_step_at *
unwind_find_step(struct table_unwinder *u, const struct unwind_in *in,
		 uint64_t pc)
{
	struct unwind_step_at *p = &u->last;

	p->pc = pc;
	p->lasts = in->epoch;
	if (in->epoch &&
	    unwind_places_find(unwind_need_places(u), pc, in->epoch, &p->row))
		return p;
	unwind_images_lock(u->modules);
	struct unwind_code c = unwind_code_at(u, in, pc);

	p->row = unwind_look_up(u, &c);
	p->lasts &= !c.dated;
	if (p->lasts)
		unwind_places_put(u->places, pc, in->epoch, &p->row);
	unwind_images_unlock(u->modules);
	return p;
}

/* Why the caller of a function that has called another is not where its table
 * has it. */
enum unwind_away {
	AWAY_NOT,
	AWAY_LAST,   /* there is no caller */
	AWAY_SWITCH, /* it is on another stack */
};

/* Go's runtime.systemstack() and asmcgocall() switch to the stack of the thread
 * with nothing on it, and back; C functions have something there, as SP is a
 * multiple of 16 at calls. Since Go 1.21 they have pushed FP before, on the
 * other stack, so that their tables are like those of C functions, but these do
 * not load SP from memory before a call. mcall() switches for good, with one
 * word, or also FP: its callee does not return. runtime.clone() ends its
 * thread. morestack() switches to the thread's stack before its call. rt0_go()
 * has no caller; the table omits what it takes of the stack. cfa: of the table.
 * Call it with the images locked. */
static enum unwind_away unwind_away(struct table_unwinder *u,
				    const struct unwind_in *in,
				    const struct unwind_code *c,
				    const struct stack_walk *w, int32_t cfa)
{
	unsigned char code[FRAME_CODE_LEAP + FRAME_CODE_LEAP_BEHIND];
	const bool bare = cfa == (int32_t)w->abi->word;
	int64_t end, fp;
	size_t n = 0;

	if (bare && (unwind_bare_exits(c) || unwind_bare_is_top(u, in, c, w)))
		return AWAY_LAST;
	/* c->vaddr is the last byte of the call */
	if (unwind_is_file(c) && c->vaddr >= FRAME_CODE_LEAP)
		n = unwind_images_read_code(c->m,
					    c->vaddr + 1 - FRAME_CODE_LEAP,
					    code, sizeof(code));
	bool loads = n >= FRAME_CODE_LEAP &&
		     frame_code_loads(c->m->machine, code, FRAME_CODE_LEAP);

	if (loads && !bare &&
	    frame_code_leaps(c->m->machine, code, FRAME_CODE_LEAP, n))
		return AWAY_LAST;
	if (loads && bare &&
	    frame_code_lands(c->m->machine, code, FRAME_CODE_LEAP))
		return AWAY_SWITCH;
	return (bare || loads) && unwind_bare_ends(c, w, &end, &fp) ==
					  FRAME_CODE_SWITCHES
		       ? AWAY_SWITCH
		       : AWAY_NOT;
}

/* Steps where a row is not enough. Call it with the images locked. */
static int unwind_step_slowly(struct table_unwinder *u,
			      const struct unwind_in *in,
			      const struct unwind_step_at *p,
			      struct stack_walk *w, struct unwind_out *out)
{
	if (!unwind_is_in_table(unwind_row_kind(&p->row)))
		return unwind_bare_step(u, in, p, w, out);
	struct unwind_code c = unwind_code_at(u, in, p->pc);

	/* another thread has the row from a mapping later than those of `in`;
	 * the result is dated, so it will not be used */
	if (!c.m) {
		w->end = UNWIND_NO_MAP;
		return -1;
	}
	if (!stack_walk_rules(w, c.m, c.vaddr))
		return 0;
	/* the row comes from .sframe, which has nothing more */
	return w->end == UNWIND_NO_TABLE ? stack_walk_row(w, &p->row) : -1;
}

static int unwind_step(struct table_unwinder *u, const struct unwind_in *in,
		       const struct unwind_step_at *p, bool full,
		       struct stack_walk *w, struct unwind_out *out)
{
	enum row_kind kind = unwind_row_kind(&p->row);

	if (kind == ROW_LINK && w->top)
		return stack_walk_link(w);
	if (!w->top && kind == ROW_SP && p->row.cfa <= 3 * w->abi->word) {
		unwind_images_lock(u->modules);
		struct unwind_code c = unwind_code_at(u, in, p->pc);
		enum unwind_away away = unwind_away(u, in, &c, w, p->row.cfa);

		unwind_images_unlock(u->modules);
		if (away) {
			w->end = away == AWAY_LAST ? UNWIND_OUTERMOST
						   : UNWIND_FOREIGN;
			return -1;
		}
	}
	if (kind == ROW_SIGNAL || (unwind_is_in_table(kind) && !full))
		return stack_walk_row(w, &p->row);
	unwind_images_lock(u->modules);
	int rc = unwind_step_slowly(u, in, p, w, out);

	unwind_images_unlock(u->modules);
	return rc;
}

/* Returns whether a handler returns to this address: mov $15,%rax; syscall.
 * That code of musl and of Go has no table, and what is before it is another
 * function, whose row is given. glibc's has a table from the byte before it
 * on. */
static bool unwind_is_sigreturn(struct table_unwinder *u,
				const struct unwind_in *in,
				const struct stack_walk *w,
				const struct unwind_row *row)
{
	static const unsigned char want[] = { 0x48, 0xc7, 0xc0, 0x0f, 0,
					      0,    0,	  0x0f, 0x05 };
	const enum row_kind kind = unwind_row_kind(row);
	unsigned char code[sizeof(want)];

	if (w->abi->machine != EM_X86_64 ||
	    (unwind_is_in_table(kind) &&
	     (kind != ROW_SP || row->cfa != (int32_t)w->abi->word)))
		return false;
	unwind_images_lock(u->modules);
	struct unwind_code c = unwind_code_at(u, in, w->v.pc);
	bool is = unwind_is_file(&c) &&
		  unwind_images_read_code(c.m, c.vaddr, code, sizeof(code)) ==
			  sizeof(code) &&
		  !memcmp(code, want, sizeof(want));

	unwind_images_unlock(u->modules);
	return is;
}

/* Returns whether the address, before which there is no table, was stored as
 * the start of a function, and is not after a call: up to Go 1.20
 * runtime.cgocallback() pushes that of runtime.systemstack_switch(). */
static bool unwind_is_start(struct table_unwinder *u,
			    const struct unwind_in *in,
			    const struct stack_walk *w)
{
	unwind_images_lock(u->modules);
	struct unwind_code c = unwind_code_at(u, in, w->v.pc);
	const struct unwind_row *row =
		unwind_is_file(&c) ? unwind_images_row(c.m, c.vaddr) : NULL;
	bool is = row && unwind_row_kind(row) != ROW_GAP &&
		  !missing_caller_after_call(c.m, c.vaddr);

	unwind_images_unlock(u->modules);
	return is;
}

/* Walks the whole stack; full: by the full rules, with all registers. Returns
 * why the walk ended. */
static enum unwind_end unwind_walk(struct table_unwinder *u,
				   const struct unwind_in *in,
				   const struct abi *abi, bool full,
				   struct unwind_out *out)
{
	struct stack_walk w;

	stack_walk_start(&w, abi, in);

	uint64_t region = w.v.reg[abi->sp] >> REGION_BITS;
	struct stack_trail *trail =
		&u->trail[hash_pair(region, in->epoch) % TRAILS];

	stack_trail_begin(trail, &w, in->epoch);
	out->n = 0;
	out->guessed = UINT32_MAX;
	out->unproved = false;
	for (;;) {
		bool called = !w.top;

		if (called && !full)
			stack_trail_follow(trail, &w, out);
		/* Return addresses are looked up inside the call, not after
		 * it. */
		uint64_t pc = w.exact ? w.v.pc : w.v.pc - 1;
		struct unwind_step_at *p = unwind_find_step(u, in, pc);

		bool start = false;

		if (!w.exact && unwind_is_sigreturn(u, in, &w, &p->row)) {
			p->row = (struct unwind_row){ .how = ROW_SIGNAL };
		} else if (!w.exact &&
			   !unwind_is_in_table(unwind_row_kind(&p->row)) &&
			   unwind_is_start(u, in, &w)) {
			start = true;
			p = unwind_find_step(u, in, pc = w.v.pc);
		}
		enum row_kind kind = unwind_row_kind(&p->row);

		if (kind == ROW_NO_CODE && out->n)
			return UNWIND_NO_MAP;
		if (out->n == out->max)
			return UNWIND_LIMIT;
		/* A signal trampoline was not called. */
		if (kind == ROW_SIGNAL ||
		    (unwind_is_in_table(kind) && p->row.how & ROW_INTERRUPTED))
			pc = w.v.pc;
		out->ip[out->n++] = pc;
		if (kind == ROW_NO_CODE)
			return UNWIND_NO_MAP;
		struct stack_trail_frame *f = stack_trail_add(trail, &w);

		w.ra_at = 0;
		if (u->stuck || unwind_step(u, in, p, full, &w, out))
			return w.end;
		/* the trail has addresses inside of calls */
		if (called && !w.top && p->lasts && !start) {
			f->ra_at = w.ra_at;
			f->fp_at = w.fp_at;
		}
	}
}

/* Without a stack dump: takes the return address if it is still in the link
 * register. */
static void unwind_link(struct table_unwinder *u, const struct unwind_in *in,
			const struct abi *abi, struct unwind_out *out)
{
	struct stack_walk w;

	stack_walk_start(&w, abi, in);
	const struct unwind_step_at *p =
		unwind_find_step(u, in, in->pc & in->user_mask);
	enum row_kind kind = unwind_row_kind(&p->row);

	if (!unwind_is_in_table(kind) && kind != ROW_LINK)
		return;
	/* requires a proved file: no dump would show that it is another
	 * version */
	struct unwind_code c = unwind_code_at(u, in, p->pc);

	if (!c.m || (!c.proved && c.m->kind != IMAGE_VDSO))
		return;
	out->end = UNWIND_TRUNCATED;
	if (kind == ROW_OUTERMOST || kind == ROW_COMPLEX ||
	    p->row.how & ROW_INTERRUPTED ||
	    (kind != ROW_LINK && p->row.ra != ROW_SAME))
		return;
	if (out->max > 1 && !stack_walk_link(&w))
		out->ip[out->n++] = w.v.pc - 1;
}

/* Some recorders do not store the machine. */
static uint16_t unwind_machine(struct table_unwinder *u,
			       const struct unwind_in *in, uint64_t pc)
{
	if (in->machine)
		return in->machine;
	unwind_images_lock(u->modules);
	const struct unwind_image *m =
		unwind_code_at(u, in, pc & in->user_mask).m;

	unwind_images_unlock(u->modules);
	return m ? m->machine : 0;
}

/* Returns whether the function is the first of a thread. The file is read only
 * for places that look like the call of main(), which are few. */
static bool unwind_is_first(struct unwind_image *m, uint64_t vaddr,
			    uint64_t off)
{
	const struct unwind_row *row = unwind_images_row(m, vaddr - 1);
	unsigned char code[FRAME_CODE_EXIT];

	if (row && unwind_row_kind(row) == ROW_OUTERMOST)
		return true;
	size_t n = unwind_images_read_code(m, vaddr, code, sizeof(code));

	if (frame_code_exits(m->machine, code, n))
		return true;
	if (!frame_code_hands_on(m->machine, code, n) &&
	    vaddr - m->entry > UNWIND_ENTRY_MAX)
		return false;
	struct callsite_file *f = unwind_images_calls_of(m);
	bool first = f && thread_start_first(f, off, false);

	/* there may be more programs than files that can be open */
	if (f)
		callsite_settle(f);
	return first;
}

/* Returns whether a thread begins at the return address addr in map. */
static bool unwind_begins(struct unwinder *uw, const struct unwind_map *map,
			  uint64_t addr)
{
	struct table_unwinder *u = (struct table_unwinder *)uw;
	const uint64_t off = addr - map->start + map->pgoff;
	bool begins = false;
	uint64_t vaddr;

	unwind_images_lock(u->modules);
	struct unwind_image *m = unwind_images_of(u->modules, map->image);

	if (m && off && elf_vaddr(m->seg, m->n_seg, off - 1, &vaddr)) {
		struct known_first *k =
			&m->set->first[unwind_images_place(m, vaddr)];

		if (k->m != m || k->vaddr != vaddr)
			*k = (struct known_first){
				m, vaddr, unwind_is_first(m, vaddr + 1, off)
			};
		begins = k->begins;
	}
	unwind_images_unlock(u->modules);
	return begins;
}

static void unwind_stack(struct unwinder *uw, const struct unwind_in *given,
			 struct unwind_out *out)
{
	struct table_unwinder *u = (struct table_unwinder *)uw;
	struct unwind_in own = *given;
	const struct unwind_in *in = &own;
	struct unwind_map map;

	own.machine = unwind_machine(u, given, given->pc);
	const struct abi *abi = abi_of(own.machine);

	out->ip[0] = in->pc;
	out->n = 1;
	out->guessed = UINT32_MAX;
	out->unproved = false;
	out->end = UNWIND_NO_TABLE;
	if (!abi)
		return;
	if (!in->dumped) {
		unwind_images_lock(u->modules);
		unwind_link(u, in, abi, out);
		unwind_images_unlock(u->modules);
		return;
	}
	out->end = unwind_walk(u, in, abi, false, out);
	if (out->end == UNWIND_COMPLEX)
		out->end = unwind_walk(u, in, abi, true, out);
	/* musl has no tables, and none is needed where a thread begins; that of
	 * a _start() in C has a caller, in whose place is argc */
	uint64_t last = out->ip[out->n - 1] & in->user_mask;

	if ((out->end == UNWIND_NO_TABLE || out->end == UNWIND_NO_MAP) &&
	    out->n > 1 && in->find(in->arg, last, &map) && !map.code &&
	    map.image && unwind_begins(uw, &map, last + 1))
		out->end = UNWIND_OUTERMOST;
}

/* Returns what the sampled place in a function shows about a recorded chain. */
static struct unwind_leaf unwind_leaf_at(struct table_unwinder *u,
					 const struct unwind_in *in,
					 const struct abi *abi,
					 struct unwind_code *c)
{
	const struct unwind_row row = unwind_look_up(u, c);
	enum row_kind kind = unwind_row_kind(&row);
	const bool file = unwind_is_file(c);
	struct unwind_leaf is = { LEAF_NOT_ASKED, false };

	/* the back chain of ppc64 has every frame */
	if (kind == ROW_OUTERMOST || kind == ROW_COMPLEX ||
	    !unwind_is_in_table(kind) ||
	    (abi->link >= 0 && row.ra != ROW_SAME && in->machine != EM_AARCH64))
		return is;
	is.low = kind == ROW_SP && file &&
		 missing_caller_fp_is_low(c->m, c->vaddr);
	if (file ? missing_caller_sets_fp(c->m, c->vaddr, &row)
		 : kind == ROW_FP || kind == ROW_FP_DEREF ||
			    (abi->link >= 0 && row.ra != ROW_SAME))
		is.how = LEAF_FRAMED;
	else
		is.how = kind == ROW_SIGNAL ? LEAF_SIGNAL : LEAF_BARE;
	return is;
}

/* unwind_leaf_at() with a cache by the place in the file: of 1,043,696 samples
 * of a compile, whose 613 processes have their code at other addresses each,
 * five in six are of a cached place; of another one ingest was a fifth faster
 * with one leaf for each place of the cache. A word has the image, its address
 * and the answer, and the words of a set share a cache line, as each cache miss
 * counts. */
static struct unwind_leaf unwind_known_leaf(struct table_unwinder *u,
					    const struct unwind_in *in,
					    const struct abi *abi,
					    struct unwind_code *c)
{
	if (!unwind_is_file(c) || c->m->machine != in->machine ||
	    c->m->number >> (64 - CODE_CACHE_BITS - LEAF_ADDR_BITS) ||
	    c->vaddr >> LEAF_ADDR_BITS)
		return unwind_leaf_at(u, in, abi, c);
	const uint64_t key =
		(uint64_t)c->m->number << LEAF_ADDR_BITS | c->vaddr;

	if (!u->leaf)
		u->leaf = mem_new_table(LEAVES_KNOWN, sizeof(*u->leaf));
	if (u->leaves_added != u->modules->added)
		memset(u->leaf, 0, LEAVES_KNOWN * sizeof(*u->leaf));
	u->leaves_added = u->modules->added;
	uint64_t *k = &u->leaf[hash_u64(key) % LEAVES_KNOWN / 8 * 8];
	unsigned int packed;

	for (size_t i = 0; i < 8; i++)
		if (k[i] >> CODE_CACHE_BITS == key) {
			packed = k[i] & ((1u << CODE_CACHE_BITS) - 1);
			return (struct unwind_leaf){ packed & 3, packed >> 2 };
		}
	if (!code_cache_find(c->m->known, c->vaddr, &packed)) {
		const struct unwind_leaf is = unwind_leaf_at(u, in, abi, c);

		packed = is.how | is.low << 2u;
		if (unwind_images_row_lasts(c->m, c->vaddr))
			code_cache_note(c->m->known, c->vaddr, packed);
	}
	/* the oldest word of the set goes */
	memmove(k + 1, k, 7 * sizeof(*k));
	*k = key << CODE_CACHE_BITS | packed;
	return (struct unwind_leaf){ packed & 3, packed >> 2 };
}

/* Finds or infers the caller. Call it with the images locked. */
static enum unwind_caller unwind_find_caller(struct table_unwinder *u,
					     const struct unwind_in *given,
					     const uint64_t *ip, uint32_t n,
					     bool infer, uint64_t *caller)
{
	struct unwind_in own = *given;
	const struct unwind_in *in = &own;

	own.machine = unwind_machine(u, given, ip[0]);
	const struct abi *abi = abi_of(own.machine);

	/* s390x: the -mbackchain chain, which no table describes */
	if (!abi || in->machine == EM_S390)
		return CALLER_KNOWN;
	uint64_t pc = ip[0] & in->user_mask;
	struct unwind_code leaf = unwind_known_code_at(u, in, pc);
	const struct unwind_leaf is = unwind_known_leaf(u, in, abi, &leaf);

	if (is.how == LEAF_NOT_ASKED)
		return CALLER_KNOWN;
	if (n > 1 && is.low)
		return CALLER_STALE;
	if (is.how == LEAF_FRAMED)
		return CALLER_FRAMED;
	/* In a signal trampoline FP belongs to the interrupted function, which
	 * the chain skips. */
	if (n < 2 || is.how == LEAF_SIGNAL)
		return CALLER_MISSING;
	struct unwind_code next =
		unwind_known_code_at(u, in, (ip[1] & in->user_mask) - 1);

	if (!unwind_is_file(&leaf) || !unwind_is_file(&next) ||
	    leaf.m->machine != next.m->machine)
		return CALLER_MISSING;
	if (leaf.m == next.m &&
	    missing_caller_framed_by_call(leaf.m, next.vaddr + 1, leaf.vaddr))
		return CALLER_FRAMED;
	if (!infer)
		return CALLER_MISSING;
	struct unwind_code inner = { .m = NULL };

	for (uint32_t i = 1; i < n; i++) {
		struct unwind_code c = unwind_known_code_at(
			u, in, (ip[i] & in->user_mask) - 1);

		if (!unwind_is_file(&c) ||
		    !missing_caller_after_call(c.m, c.vaddr + 1))
			return CALLER_MISSING;
		if (inner.m == c.m &&
		    !missing_caller_may_enter(c.m, c.vaddr + 1, inner.vaddr))
			return CALLER_MISSING;
		inner = c;
	}
	const struct unwind_image *at;
	unsigned int places = missing_caller_infer(leaf.m, leaf.vaddr, next.m,
						   next.vaddr + 1, &at, caller);

	if (!places)
		return CALLER_MISSING;
	*caller += at == leaf.m ? pc - leaf.vaddr
				: (ip[1] & in->user_mask) - 1 - next.vaddr;
	return places > 1 ? CALLER_FUNCTION : CALLER_INFERRED;
}

static enum unwind_caller unwind_caller(struct unwinder *uw,
					const struct unwind_in *in,
					const uint64_t *ip, uint32_t n,
					bool infer, uint64_t *caller)
{
	struct table_unwinder *u = (struct table_unwinder *)uw;

	unwind_images_lock(u->modules);
	enum unwind_caller found =
		unwind_find_caller(u, in, ip, n, infer, caller);

	unwind_images_unlock(u->modules);
	return found;
}

static bool unwind_inside(struct unwinder *uw, const struct unwind_in *given,
			  const uint64_t *ip, uint32_t n)
{
	struct table_unwinder *u = (struct table_unwinder *)uw;
	struct unwind_in in = *given;
	uint32_t inside = 0, others = 0;

	in.machine = unwind_machine(u, given, ip[0]);
	unwind_images_lock(u->modules);
	for (uint32_t i = 1; i < n && !others; i++) {
		struct unwind_code c =
			unwind_known_code_at(u, &in, ip[i] & in.user_mask);

		if (!unwind_is_file(&c))
			continue;
		if (!missing_caller_after_call(c.m, c.vaddr) &&
		    missing_caller_after_call(c.m, c.vaddr + 1))
			inside++;
		else
			others++;
	}
	unwind_images_unlock(u->modules);
	return inside > 1 && !others;
}

static bool unwind_has(struct unwinder *uw, const struct unwind_map *map,
		       uint64_t start, uint64_t end, enum unwind_part part)
{
	struct table_unwinder *u = (struct table_unwinder *)uw;

	unwind_images_lock(u->modules);
	const struct unwind_image *m = unwind_images_of(u->modules, map->image);
	bool has = m && (part == UNWIND_DATA
				 ? unwind_images_has_data(m, map, start)
				 : unwind_images_has_text(m, map, start, end));

	unwind_images_unlock(u->modules);
	return has;
}

/* An unwind_job_fn. The result for a dump depends only on its bytes, the
 * mappings and the files, so any thread may unwind it. */
static void unwind_ahead(struct unwinder *uw, struct unwind_job *j)
{
	struct table_unwinder *u = (struct table_unwinder *)uw;

	u->stuck = u->dated = false;
	j->added = u->modules->added;
	unwind_stack(uw, &j->in, &j->out);
	j->stuck = u->stuck;
	j->dated = u->dated;
}

static struct table_unwinder *unwind_new_of(const struct unwinder_ops *ops,
					    struct unwind_images *modules,
					    struct unwind_places *places)
{
	struct table_unwinder *u = mem_new(1, sizeof(*u));

	u->uw.ops = ops;
	u->modules = modules;
	u->places = places;
	return u;
}

static struct unwind_job *unwind_begin(struct unwinder *uw,
				       const struct unwind_in *in, bool soon)
{
	struct table_unwinder *u = (struct table_unwinder *)uw;

	if (u->wanted) {
		/* started with the first dump: readers of captures may fork
		 * before (see writer.c), and most captures have no dumps */
		struct unwind_places *places = unwind_need_places(u);
		unsigned int n = u->wanted;

		u->wanted = 0;
		unwind_images_share(u->modules);
		u->helper = mem_new(n, sizeof(*u->helper));
		for (; u->n_helper < n; u->n_helper++) {
			struct table_unwinder *h =
				unwind_new_of(u->uw.ops, u->modules, places);

			h->ahead = true;
			u->helper[u->n_helper] = &h->uw;
		}
		u->threads = unwind_threads_new(u->helper, n, unwind_ahead);
	}
	return u->threads ? unwind_threads_begin(u->threads, in, soon) : NULL;
}

static bool unwind_finish(struct unwinder *uw, struct unwind_job *j,
			  struct unwind_out *out, bool *dated)
{
	struct table_unwinder *u = (struct table_unwinder *)uw;

	/* no thread adds a table: the number is that of the main thread */
	if (!unwind_threads_finish(u->threads, j) || j->stuck ||
	    j->added != u->modules->added || out->max != j->out.max)
		return false;
	*dated = j->dated;
	memcpy(out->ip, j->ip, j->out.n * sizeof(*out->ip));
	out->n = j->out.n;
	out->guessed = j->out.guessed;
	out->unproved = j->out.unproved;
	out->end = j->out.end;
	return true;
}

static void unwind_free(struct unwinder *uw)
{
	struct table_unwinder *u = (struct table_unwinder *)uw;

	if (!u)
		return;
	unwind_threads_free(u->threads);
	for (unsigned int i = 0; i < u->n_helper; i++)
		unwind_free(u->helper[i]);
	free_all(u->helper, u->known, u->leaf);
	if (!u->ahead) {
		unwind_images_free(u->modules);
		unwind_places_free(u->places);
	}
	free(u);
}

#define UNWIND_OPS                                                             \
	.unwind = unwind_stack, .caller = unwind_caller,                       \
	.inside = unwind_inside, .has = unwind_has, .begins = unwind_begins,   \
	.free = unwind_free

static const struct unwinder_ops ops = { UNWIND_OPS };
static const struct unwinder_ops ops_ahead = { UNWIND_OPS,
					       .begin = unwind_begin,
					       .finish = unwind_finish };

struct unwinder *unwind_new(struct symbolizer *sy, const struct frames *fr)
{
	return &unwind_new_of(&ops, unwind_images_new(sy, fr), NULL)->uw;
}

void unwind_use_threads(struct unwinder *uw, unsigned int n)
{
	((struct table_unwinder *)uw)->wanted =
		n < UNWIND_THREADS_MAX ? n : UNWIND_THREADS_MAX;
	uw->ops = n ? &ops_ahead : &ops;
}

struct unwind_images *unwind_get_images(struct unwinder *uw)
{
	return ((struct table_unwinder *)uw)->modules;
}

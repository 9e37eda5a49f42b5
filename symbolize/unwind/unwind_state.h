/* unwind_state.h - the unwinder of stack dumps while it works, for the two
 * files that know of it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "stitch/tasks/frame.h"
#include "stitch/unwinder.h"
#include "symbolize/cfi/unwind_rows.h"
#include "symbolize/disasm/frame_code.h"
#include "symbolize/unwind/stack_walk.h"
#include "symbolize/unwind/unwind_images.h"

struct unwind_places;
struct unwind_threads;

/* Samples of several threads alternate: each finds the stack it had before, by
 * the region of memory that its stack is in. */
#define TRAILS 16
/* Bytes of startup code at a file's entry point. */
#define UNWIND_ENTRY_MAX 256

/* An address, and how to step from it. */
struct unwind_step_at {
	uint64_t pc;
	struct unwind_row row;
	bool lasts; /* for as long as the epoch is the same */
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

/* The same, for as long as mappings stay as they are. */
struct unwind_known_code {
	uint64_t pc, epoch; /* 0: none is known here */
	uint16_t machine;
	struct unwind_code code;
};

/* The innermost function of a recorded chain, at the place that was sampled. */
struct unwind_leaf {
	enum {
		LEAF_NOT_ASKED, /* nothing is known, or the chain has it all */
		LEAF_FRAMED,	/* FP is that of the function */
		LEAF_SIGNAL,	/* a signal trampoline */
		LEAF_BARE	/* FP is that of a caller */
	} how : 8;
	bool low; /* missing_caller_fp_is_low() */
};

struct table_unwinder {
	struct unwinder uw; /* first */
	struct unwind_images *modules;
	struct unwind_places *places; /* NULL: none yet */
	/* The threads' unwinders share modules and places. */
	struct unwind_threads *threads; /* NULL: none */
	struct unwinder **helper;
	unsigned int n_helper;
	unsigned int wanted; /* threads to start with the first dump */
	bool ahead; /* this one is of a thread; stuck and dated are then of the
		     * stack at hand */
	bool stuck; /* only the main thread can look up an image or a debug
		     * file */
	bool dated; /* as for struct unwinder_ops.finish */
	struct unwind_step_at last; /* that was found */
	/* NULL: no chain was checked yet */
	struct unwind_known_code *known;
	uint64_t *leaf;	       /* unwind_known_leaf() */
	uint32_t leaves_added; /* tables of debug files that these know */
	struct stack_trail trail[TRAILS];
};

/* Whether a table has the address. If not, the kind of its row says why: the
 * kinds after ROW_COMPLEX are in no table, unwind_look_up() gives them. */
static inline bool unwind_is_in_table(enum row_kind kind)
{
	return kind <= ROW_COMPLEX;
}

static inline bool unwind_is_file(const struct unwind_code *c)
{
	return c->m && c->m->kind != IMAGE_JIT;
}

/* Called with the images locked, as those below. */
struct unwind_code unwind_code_at(struct table_unwinder *u,
				  const struct unwind_in *in, uint64_t pc);
/* Reads where the function goes on to, from where *w is. */
enum frame_code_end unwind_bare_ends(const struct unwind_code *c,
				     const struct stack_walk *w, int64_t *cfa,
				     int64_t *fp);
/* Returns whether the thread ends after the call that the address is in. */
bool unwind_bare_exits(const struct unwind_code *c);
/* Returns whether Go's runtime says that nothing called this function, and
 * where its table has the return address, there is none. */
bool unwind_bare_is_top(struct table_unwinder *u, const struct unwind_in *in,
			const struct unwind_code *c,
			const struct stack_walk *w);
/* Steps out of a function without a table: by its code, by what is on top of
 * the stack, or by the frame pointer. Returns 0 and *w, or -1 and w->end; sets
 * what *out says about such frames. */
int unwind_bare_step(struct table_unwinder *u, const struct unwind_in *in,
		     const struct unwind_step_at *p, struct stack_walk *w,
		     struct unwind_out *out);

/* callsites_pass.h - the state of the call-site check while it runs, shared by
 * the files of this room. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/names/bare_code.h"
#include "schema/write/write.h"
#include "stitch/base/table.h"
#include "symbolize/unwind/callsite.h"

struct callee_reach;

/* The file of an image. */
struct place {
	struct callsite_file *file; /* NULL: none, or another one ran */
	enum identity is; /* how sure it is that this is the file that ran */
	bool here;	  /* the kernel's code is at hand */
	bool other;	  /* it is not the file that ran */
	/* tabled: a table led from its code where frame pointers would not.
	 * by_fp: .sframe covers it, but frame pointers were followed. */
	bool tabled, by_fp;
	struct identity_seen seen; /* what the check has seen in it */
	/* of a file that is named as a cause: its functions, and those that set
	 * a frame pointer; 0: not counted */
	uint32_t functions, framed;
};

struct spot { /* The result for a frame. */
	uint64_t off;
	struct callsite site;
	uint32_t reach; /* index in pass.reach of what its call may enter; 0:
			 * none */
	bool returns, leaf; /* returns: occurs with an inner frame; leaf: as the
			     * innermost */
	bool injected;	    /* callsite_is_injected() */
	bool named;	    /* in the kernel, and its name is proved */
	bool unverified;    /* by an earlier check; no build-id proves the
			     * file */
	bool sframe, entry; /* callsite_in_sframe() */
	uint32_t bytes;	    /* callsite_go_bytes() */
	bool root;	    /* outermost frame of a stack that may be whole */
	bool inner;	    /* further in than such a frame */
	bool before;	    /* its caller has an address without code */
	bool framed;	    /* if inner: its function has set a frame pointer */
	uint8_t start;	    /* enum thread_start, if root, inner or before */
	/* An enum judged. For a leaf in user code: why its caller may be
	 * missing although nothing shows it. For an inner frame, OPEN: any
	 * frame may follow. For a frame of the kernel with `start`, WHOLE: the
	 * kernel finds callers by tables. For other frames of a kernel without
	 * tables: WHOLE if frame pointers show the caller, CALLER if they do
	 * not, NO_FILE if the code that would show it is not here. */
	uint8_t open;
	uint8_t way;   /* enum kernel_way */
	uint64_t into; /* in the kernel: bytes from the start of the function,
			* plus 1; 0: unknown */
	bool traced;   /* after no call, but at a place that tracers make one */
	bool interrupted; /* in the kernel: also occurs as an interrupted place,
			   * which need not be after a call */
};

/* Returns whether a walk along frame pointers skips the caller of a frame. */
static inline bool callsites_is_frameless(const struct spot *s)
{
	return s->start == ENDS_FILE || s->start == ENDS_FUNCTION ||
	       s->start == ENDS_SWITCH;
}

/* A distinct stack. */
struct known_stack {
	bool used;     /* a sample or request has it */
	bool walked;   /* it is used, or it is a caller of a used one */
	bool unwound;  /* of a sample, and unwound by tables */
	bool unproved; /* may lack a caller that no unwinder proved */
	bool stale; /* a chain has a frame that is left from an earlier call */
	bool callerless; /* a chain lacks the caller of the innermost frame */
	bool framed;	 /* a chain is known to have that caller */
	bool skipped; /* a chain lacked that caller, which was then inferred */
	/* a table led from the innermost frame; inner: from it where it is the
	 * caller of others */
	bool tabled, inner;
	uint8_t steps; /* BY_ bits of its frames, where it is a caller */
	uint8_t by;    /* enum walk */
	/* by the tables, or by the kernel, a sample's stack has no caller */
	bool outermost;
	bool switches;	/* a frame is ENDS_SWITCH */
	uint64_t bytes; /* bytes, of the frames whose size is known */
	/* For a stack of the kernel. beyond: frames are further out than one
	 * that is START_KERNEL; wrong: or after no call; unsure: or not looked
	 * up; tables: the kernel finds callers by tables. */
	bool kernel, beyond, wrong, unsure, tables;
	bool hole;   /* frame pointers have missed a caller further out */
	bool lacks;  /* lacks the innermost caller, wherever the stack ends */
	bool deeper; /* a sample with it would have kept more of its frames */
	bool ends;   /* it would have kept more frames of both halves */
	uint8_t judged; /* enum judged */
	uint32_t root;	/* the outermost frame */
	uint32_t image; /* image whose code causes the verdict; 0: none */
};

/* A frame and a caller whose call is of another function, or an innermost frame
 * that has set no frame pointer. */
struct doubt {
	uint32_t inner, frame;
	bool leaf; /* the inner frame is innermost */
	bool bare; /* if leaf: the chain lacks its caller */
};

struct pass {
	struct maker *mk;
	bool sums; /* the database has sums alone, see sums_code.h */
	const struct frames *fr; /* what the database was made of, or NULL */
	struct bare_code *code;
	struct place *place; /* by image */
	struct spot *spot;   /* by frame */
	struct known_stack *stack;
	struct store_user_trust *trust;
	size_t n_trust, cap_trust;
	struct table by_trust;
	struct kept_frames *kept; /* by event_type.id */
	size_t n_kept;
	uint32_t *order; /* frames by image */
	size_t n_order;
	struct store_link *link;
	size_t n_link, cap_link;
	struct table by_pair;
	struct doubt *doubt;
	size_t n_doubt, cap_doubt;
	struct callee_reach *reach; /* index 0 is not used */
	size_t n_reach, cap_reach;
	bool tabled;		  /* some stack was walked by SFrame */
	struct symbolizer *sy;	  /* NULL: files are not opened */
	bool (*seen)(uint64_t n); /* callsites_seen_fn */
	struct store_stack_check *found;
	size_t n_found, cap_found;
};

/* Returns the image of a frame, borrowed from p->code. */
static inline const struct image *callsites_image(const struct pass *p,
						  uint32_t frame)
{
	return &p->code->image[bare_code_frame(p->code, frame)->image].img;
}

/* Returns whether the call before the return address of `frame` enters the
 * function of `inner`. The first answer for a pair is kept. */
enum callsite_link callsites_link(struct pass *p, uint32_t inner,
				  uint32_t frame);
/* Returns what callsites_link() has found for the pair, 0 if nothing yet. */
enum callsite_link callsites_known_link(const struct pass *p, uint32_t inner,
					uint32_t frame);
/* Replaces what is known about a pair. */
void callsites_set_link(struct pass *p, uint32_t inner, uint32_t frame,
			enum callsite_link link);
/* Finds out how the walk left the frames of each stack, by frame pointers or by
 * SFrame. Call it before the stacks are judged. */
void callsites_find_walks(struct pass *p);
/* Returns whether a table has led from a frame that has set no frame pointer to
 * its caller. */
bool callsites_is_left_by_sframe(const struct pass *p, uint32_t frame,
				 uint32_t caller);
/* Returns whether there is no code at the address of a frame. */
bool callsites_no_code(const struct pass *p, uint32_t frame);
/* Finds the frames in which kernel stacks begin, by names that are proved.
 * Returns 0, or -1 and *err. */
int callsites_find_kernel(struct pass *p, struct err *err);
/* Looks up the return addresses of kernel stacks in the code of the kernel.
 * Call it after callsites_find_kernel(). */
void callsites_check_kernel(struct pass *p, struct symbolizer *sy);
/* Judges the kernel half of a stack, if it is used. Its callers must have been
 * judged before. */
void callsites_judge_kernel(struct pass *p, uint32_t stack);
/* Finds how each frame in which stacks end is left, and which calls cannot have
 * led to the next inner frame. */
void callsites_find_ends(struct pass *p);
/* Stores the results for frames, and in which of them stack dumps would end,
 * once the stacks are judged. Returns 0, or -1 and *err. */
int callsites_put_ends(struct pass *p, struct err *err);
/* Returns whether threads are known to begin in the function of a frame. */
bool callsites_begins(const struct spot *s);
/* Returns the verdict on a stack by where it ends, if `as`, its verdict so far,
 * leaves that open; else `as`. */
enum judged callsites_judge_end(struct pass *p, uint32_t stack, enum judged as);
/* Stores how many functions set a frame pointer in each file that is named as a
 * cause. Returns 0, or -1 and *err. */
int callsites_put_shares(struct pass *p, struct err *err);

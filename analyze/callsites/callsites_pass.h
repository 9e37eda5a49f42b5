/* callsites_pass.h - the call-site check while it runs, for the files that
 * know of it. */
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
	struct callsite_file *file; /* NULL: none, or not judged by it */
	enum identity is;	    /* how sure it is that it is the one */
	bool here;		    /* of the kernel: its code is at hand */
	bool other;		    /* it is not the file that ran */
	/* Its code was left by a table where frame pointers do not lead; it
	 * was not, though .sframe covers it. */
	bool tabled, by_fp;
	struct identity_seen seen; /* in it */
	/* functions, and those that set a frame pointer, of a file that is
	 * named as a cause; 0: not counted */
	uint32_t functions, framed;
};

struct spot { /* The result for a frame. */
	uint64_t off;
	struct callsite site;
	uint32_t reach; /* of pass.reach: what its call may enter; 0: none */
	bool returns, leaf; /* occurs with an inner frame; as the innermost */
	bool injected;	    /* callsite_is_injected() */
	bool named;	    /* of the kernel, and its name is proved */
	bool unverified; /* no build-id proves the file of an earlier check */
	bool sframe, entry; /* callsite_in_sframe() */
	uint32_t bytes;	    /* callsite_go_bytes() */
	bool root;	    /* where stacks end that may be whole */
	bool inner;	    /* in front of their end */
	bool before;	    /* of an address without code */
	bool framed;	    /* if inner: its function has set a frame pointer */
	uint8_t start;	    /* enum thread_start, if root, inner or before */
	/* enum judged. Of a leaf of user code: why its caller may be missing
	 * and nothing shows it; of an inner frame OPEN: any frame may follow.
	 * Of a frame of the kernel with `start`, WHOLE: the kernel finds
	 * callers by tables. Of other frames of a kernel without tables: WHOLE
	 * if frame pointers show the caller, CALLER if they do not, NO_FILE if
	 * the code that would tell is not here. */
	uint8_t open;
	uint8_t way;	  /* enum kernel_way */
	uint64_t into;	  /* of the kernel: bytes from the function's start, and
			   * 1; 0: not known */
	bool traced;	  /* if no call: it is a tracer's place for one */
	bool interrupted; /* of the kernel: it occurs where that may be, which
			   * need not be after a call */
};

/* Returns whether a walk along frame pointers leaves out the caller of a frame.
 */
static inline bool callsites_is_frameless(const struct spot *s)
{
	return s->start == ENDS_FILE || s->start == ENDS_FUNCTION ||
	       s->start == ENDS_SWITCH;
}

/* A distinct stack. */
struct known_stack {
	bool used;	 /* a sample or request has it */
	bool walked;	 /* it is used, or a caller of one that is */
	bool unwound;	 /* a sample's was unwound by tables */
	bool unproved;	 /* and may lack a caller where there was none */
	bool stale;	 /* a chain has a frame that an earlier call has left */
	bool callerless; /* a chain lacks the caller of the innermost frame */
	bool framed;	 /* a chain is known to have it */
	bool skipped;	 /* a chain lacked it, and it was inferred */
	/* a table led from the innermost frame; from it as the caller of
	 * others */
	bool tabled, inner;
	uint8_t steps; /* how its frames were left, as that caller */
	uint8_t by;    /* enum walk */
	/* the tables, or the kernel, say that a sample's has no caller */
	bool outermost;
	bool switches;	/* a frame is ENDS_SWITCH */
	uint64_t bytes; /* of the frames whose size is known */
	/* Of a kernel's: frames are after one that is START_KERNEL, or after no
	 * call; or are not looked up; and its callers are found by tables. */
	bool kernel, beyond, wrong, unsure, tables;
	bool hole;  /* or frame pointers, and a caller further out is missing */
	bool lacks; /* the innermost caller, wherever it ends */
	bool deeper;	/* more frames are kept of a sample that has it */
	bool ends;	/* so they are, of both halves */
	uint8_t judged; /* enum judged */
	uint32_t root;	/* the outermost frame */
	uint32_t image; /* whose code is the cause of what is wrong; 0: none */
};

/* A frame and its caller whose call is of another function, or whose inner
 * frame has no frame pointer of its own. */
struct doubt {
	uint32_t inner, frame;
	bool leaf; /* the inner frame is innermost */
	bool bare; /* then: it lacks its caller */
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
	struct callee_reach *reach; /* from 1 */
	size_t n_reach, cap_reach;
	bool tabled;		  /* some stack was walked by SFrame */
	struct symbolizer *sy;	  /* NULL: files are not opened */
	bool (*seen)(uint64_t n); /* callsites_seen_fn */
	struct store_stack_check *found;
	size_t n_found, cap_found;
};

static inline const struct image *callsites_image(const struct pass *p,
						  uint32_t frame)
{
	return &p->code->image[bare_code_frame(p->code, frame)->image].img;
}

/* Returns whether the call before the return address of `frame` is of the
 * function of `inner`. */
enum callsite_link callsites_link(struct pass *p, uint32_t inner,
				  uint32_t frame);
/* The same if it was asked before, else 0. */
enum callsite_link callsites_known_link(const struct pass *p, uint32_t inner,
					uint32_t frame);
/* Replaces what is known of it. */
void callsites_set_link(struct pass *p, uint32_t inner, uint32_t frame,
			enum callsite_link link);
/* Finds who walked the stacks; before they are judged. */
void callsites_find_walks(struct pass *p);
/* Returns whether a table has led from a frame to its caller, if the frame has
 * set no frame pointer. */
bool callsites_is_left_by_sframe(const struct pass *p, uint32_t frame,
				 uint32_t caller);
/* Returns whether there is no code at the address of a frame. */
bool callsites_no_code(const struct pass *p, uint32_t frame);
/* Finds the frames in which kernel stacks begin, by names that are proved. */
int callsites_find_kernel(struct pass *p, struct err *err);
/* Looks the return addresses of kernel stacks up in code, after that. */
void callsites_check_kernel(struct pass *p, struct symbolizer *sy);
/* Judges the kernel's half of a stack whose callers were, if it is used. */
void callsites_judge_kernel(struct pass *p, uint32_t stack);
/* Looks at the frames in which stacks end. */
void callsites_find_ends(struct pass *p);
/* Stores what was found, once the stacks are judged, and where stack dumps
 * would end. */
int callsites_put_ends(struct pass *p, struct err *err);
/* Returns whether threads begin in the function of a frame, as far as was
 * found. */
bool callsites_begins(const struct spot *s);
/* Returns what is said of a stack by where it ends; as: what is otherwise. */
enum judged callsites_judge_end(struct pass *p, uint32_t stack, enum judged as);
/* Stores how many functions of the files that are named as a cause set a frame
 * pointer. */
int callsites_put_shares(struct pass *p, struct err *err);

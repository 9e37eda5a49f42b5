/* jit.h - code that a runtime made in a process: what stood where, and when.
 *
 * Filled once, from the file that the runtime wrote, and then only asked:
 * jit_add() and jit_move() in the order of the file, jit_finish(), then
 * questions, each O(log of all code). Newer code covers older code where they
 * overlap, as mappings do; code that was moved away leaves nothing. Where the
 * file has no times that the capture can use, nobody knows which one of the
 * codes at an address ran: then all of them are the answer. */
#ifndef STITCH_TASKS_JIT_H
#define STITCH_TASKS_JIT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rec_map;
struct source;

/* Where the instructions from off on come from. */
struct jit_line {
	uint64_t off;	  /* from the start of the code */
	const char *file; /* NULL: not known */
	uint32_t line;
};

struct jit_code {
	uint64_t start, len; /* addresses [start, start + len) */
	int64_t t0, t1;	     /* there in [t0, t1); t1 INT64_MAX: to the end.
			      * Set by jit_add(), jit_move() */
	const char *name;
	const void *bytes; /* NULL: not known */
	size_t n_bytes;
	const struct jit_line *line; /* by off; NULL: not known */
	size_t n_line;
	uint32_t machine; /* ELF e_machine; 0: not known */
	/* .eh_frame about it, made for being frame_off bytes behind the start
	 * of the code; NULL: none. */
	const void *frame;
	size_t n_frame;
	uint64_t frame_off;
	bool swapped;	 /* the two are in another byte order than ours */
	uint32_t image;	 /* kept for resolve.c; 0: not yet */
	uint64_t number; /* the runtime's own, to move it by */
};

struct jit;

/* What is borrowed of the codes must outlive it. */
struct jit *jit_new(bool dated);
void jit_free(struct jit *j);
/* Code appears at t, on the clock of the questions; undated: t is ignored.
 * False: the range is empty or wraps, or there is no room for more. */
bool jit_add(struct jit *j, const struct jit_code *c, int64_t t);
/* The code at `from` with this number is at `to` since t: false when there is
 * none. */
bool jit_move(struct jit *j, uint64_t number, uint64_t from, uint64_t to,
	      int64_t t);
/* How many codes are left out because too many others overlap them. */
size_t jit_finish(struct jit *j);
size_t jit_count(const struct jit *j);
/* When the first code appeared; TIME_NONE: undated or empty. */
int64_t jit_first(const struct jit *j);

/* How the path of an image begins that is one of several codes. */
#define JIT_AMBIGUOUS "[ambiguous] "

/* Code may run before the runtime has logged it. */
#define JIT_GRACE_NS 1000000

enum jit_found {
	JIT_NONE,
	JIT_ONE,   /* code[0] */
	JIT_EARLY, /* the same, but it appears only within JIT_GRACE_NS */
	JIT_SEVERAL,
};

struct jit_hit {
	enum jit_found found;
	/* JIT_NONE: those at other times */
	struct jit_code *const *code; /* oldest first */
	size_t n;
	uint64_t start;	 /* JIT_SEVERAL: smallest of their starts */
	uint32_t *image; /* JIT_SEVERAL: kept for resolve.c */
};

/* What was at addr at t (TIME_NONE: not known when). */
struct jit_hit jit_find(struct jit *j, uint64_t addr, int64_t t);
/* A number that grows with t; while it stays the same, so do all answers. */
uint32_t jit_changes(const struct jit *j, int64_t t);

/* What is known of a process. All zeros: nothing. */
struct jit_view {
	bool asked; /* for what the process has written */
	struct jit *own;
	/* What its parent had when it forked, which is its own since. */
	struct jit *parents;
	int64_t forked;
	int64_t since; /* when its program started; 0: not known */
	/* Whose clock the times of the code are on, and what leads from the
	 * timeline to it; forked and since are on the timeline. */
	uint16_t source;
	int64_t shift;
};

/* At an exec, or the start of a life, at t (TIME_NONE: not known): nothing of
 * before is there any more. */
void jit_view_start(struct jit_view *v, int64_t t);
void jit_view_fork(struct jit_view *child, const struct jit_view *parent,
		   int64_t t);

/* Finds what a process's runtime wrote: true and *out, which belongs to the
 * finder. hint: the mapping of such a file that the capture has a record of;
 * NULL: none so far. */
typedef bool jit_find_fn(void *arg, const struct source *src, int32_t pid,
			 const struct rec_map *hint, struct jit **out);
/* Is it the mapping by which a runtime tells where it writes? */
bool jit_is_marker(const struct rec_map *m);
#endif

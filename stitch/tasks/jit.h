/* jit.h - finds code that a runtime made in a process: where it was, and when.
 *
 * Call order: jit_add() and jit_move() in the order of the runtime's file,
 * jit_finish(), then queries, which cost O(log n). Newer code replaces older
 * code where they overlap, as mappings do; code that was moved leaves its old
 * place empty. If the file has no times that fit the capture, a query returns
 * all codes that were ever at the address. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/tasks/frame.h"

struct rec_map;
struct source;
struct jit;
struct jit_code;
struct jit_view;
struct region;

struct jit_at {
	const struct jit_view *view;
	const struct region *region; /* the mapping of addr; NULL: none */
	uint64_t addr;
	int64_t t; /* on the timeline */
};

/* Returns the frame, or one with image 0 if no jitted code was there or a file
 * mapped later covers it. Sets *ever if jitted code was there at any time. */
struct frame jit_frame(struct frames *fr, const struct jit_at *at,
		       uint32_t flags, bool *ever);
/* Returns the jitted code at the address; NULL if there is none, or several.
 * *ever: as for jit_frame(). */
const struct jit_code *jit_code_at(const struct frames *fr,
				   const struct jit_at *at, bool *ever);
/* Returns a number that grows with t. While it is the same, so are all answers
 * of jit_frame(). */
uint32_t jit_gen(const struct jit_view *v, int64_t t);

/* The source line of the instructions from off on. */
struct jit_line {
	uint64_t off;	  /* from the start of the code */
	const char *file; /* NULL: unknown */
	uint32_t line;
};

struct jit_code {
	uint64_t start, len; /* addresses [start, start + len) */
	int64_t t0, t1;	     /* it exists in [t0, t1); t1 INT64_MAX: to the end.
			      * Set by jit_add() and jit_move() */
	const char *name;
	const void *bytes; /* NULL: unknown */
	size_t n_bytes;
	const struct jit_line *line; /* sorted by off; NULL: unknown */
	size_t n_line;
	uint32_t machine; /* ELF e_machine; 0: unknown */
	/* The code's .eh_frame, which assumes that it lies frame_off bytes
	 * after the start of the code; NULL: none. */
	const void *frame;
	size_t n_frame;
	uint64_t frame_off;
	bool swapped;	 /* code and frame data have the other byte order */
	uint32_t image;	 /* cache of jit.c; 0: none yet */
	uint64_t number; /* the runtime's number for the code; used by
			  * jit_move() */
};

/* dated: jit_add() gets times. Everything that codes point to must outlive the
 * struct. */
struct jit *jit_new(bool dated);
void jit_free(struct jit *j);
/* Adds code that appears at t, on the clock of the queries; t is ignored if not
 * dated. Returns false if the range is empty or wraps, or if there are too many
 * codes. */
bool jit_add(struct jit *j, const struct jit_code *c, int64_t t);
/* Moves the code with this number from `from` to `to`, at t. Returns false if
 * there is none. */
bool jit_move(struct jit *j, uint64_t number, uint64_t from, uint64_t to,
	      int64_t t);
/* Prepares for queries. Returns how many codes were left out because too many
 * others overlap them. */
size_t jit_finish(struct jit *j);
size_t jit_count(const struct jit *j);
/* Returns the time of the first code, or TIME_NONE if empty or not dated. */
int64_t jit_first(const struct jit *j);

/* Prefix of the path of an image that stands for several codes. */
#define JIT_AMBIGUOUS "[ambiguous] "

/* Code may run this long before the runtime logs it. */
#define JIT_GRACE_NS 1000000

enum jit_found {
	JIT_NONE,
	JIT_ONE,   /* code[0] was there */
	JIT_EARLY, /* code[0] appears later, but within JIT_GRACE_NS */
	JIT_SEVERAL,
};

struct jit_hit {
	enum jit_found found;
	/* JIT_NONE: the codes at this address at other times */
	struct jit_code *const *code; /* oldest first */
	size_t n;
	uint64_t start;	 /* JIT_SEVERAL: smallest start of the codes */
	uint32_t *image; /* JIT_SEVERAL: cache of jit.c */
};

/* Returns the code at addr at time t (TIME_NONE: unknown). */
struct jit_hit jit_find(struct jit *j, uint64_t addr, int64_t t);
/* Returns a number that grows with t. While it is the same, so are all answers
 * of jit_find(). */
uint32_t jit_changes(const struct jit *j, int64_t t);

/* The code of a process. All zeros: none. */
struct jit_view {
	bool asked; /* the process's own code was searched for */
	struct jit *own;
	/* The code of its parent, which it inherited when it was forked. */
	struct jit *parents;
	int64_t forked;
	int64_t since; /* when its program started; 0: unknown */
	/* The source whose clock the code's times are on, and the offset from
	 * the timeline to that clock. forked and since are on the timeline. */
	uint16_t source;
	int64_t shift;
};

/* At an exec or the start of a process, at t (TIME_NONE: unknown): discards all
 * code. */
void jit_view_start(struct jit_view *v, int64_t t);
void jit_view_fork(struct jit_view *child, const struct jit_view *parent,
		   int64_t t);

/* Finds the code of a process. Returns true and *out, which the finder owns.
 * hint: a recorded mapping of the runtime's file; NULL: none so far. */
typedef bool jit_find_fn(void *arg, const struct source *src, int32_t pid,
			 const struct rec_map *hint, struct jit **out);
/* Returns true for the mapping by which a runtime announces its file. */
bool jit_is_marker(const struct rec_map *m);

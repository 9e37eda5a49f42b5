/* labels.h - makes names of frames, and their text in a line of folded stacks.
 *
 * A label consists of the frame's function or image, and of the functions that
 * were inlined into it: these are added first, then the frames by their ids. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

struct err;
struct maker;
struct frame_names;

/* ---- rows of frames that wait. Most databases are named as they are made:
 * then the row of a frame, and its label, waits for its name, so that it is
 * written once, into a page (page_tree.h). Written without the name and
 * replaced by SQL, with the label read back and inserted by SQL, the frames of
 * stack dumps took a sixth of an ingest. */

/* The name of a frame. */
struct frame_name {
	uint64_t symoff;
	int64_t vaddr;
	uint32_t symbol;  /* symbol.id; 0: no name, and symoff is none */
	uint32_t line;	  /* 0: not known */
	const char *file; /* NULL: not known */
	bool has_vaddr;
};

struct frame_names *frame_names_new(void);
void frame_names_free(struct frame_names *fn); /* NULL is allowed */
/* Stores what the row of a frame will have, in place of an earlier name.
 * Copies. */
void frame_names_put(struct maker *mk, uint32_t frame,
		     const struct frame_name *name);
/* Keep the name of a symbol, by its row's id, and of a function that was
 * inlined into a frame, for labels. Do nothing if frames do not wait. */
void frame_names_symbol(struct maker *mk, uint32_t id, const char *name);
void frame_names_inlined(struct maker *mk, uint32_t frame, uint32_t depth,
			 const char *name);
/* Writes the rows of all frames so far; later frames do not wait. Does nothing
 * the second time. labels: also writes their labels. Returns 0, or -1 and
 * *err. */
int frame_names_write(struct maker *mk, bool labels, struct err *err);

/* Copies s to out, with replacements for bytes that would break a line of
 * folded stacks. out always ends with a NUL. Returns the length. */
size_t labels_text(const char *s, char *out, size_t size);

/* Makes the labels of all rows of frames again, which must have their final
 * names. Returns 0, or -1 and *err. */
int labels_make(struct maker *mk, struct err *err);

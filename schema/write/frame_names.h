/* frame_names.h - the names of frames while a database is made, in memory until
 * their rows are written.
 *
 * Most databases are named as they are made: then the row of a frame waits for
 * its name, so that it is written once, into a page (page_tree.h), and so is
 * its label. Written without the name and replaced by SQL, with the label read
 * back and inserted by SQL, the frames of stack dumps took a sixth of an
 * ingest. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct err;
struct frame_names;
struct maker;

/* What naming says of a frame. */
struct frame_name {
	uint64_t symoff;
	int64_t vaddr;
	uint32_t symbol;  /* symbol.id; 0: no name, and symoff is none */
	uint32_t line;	  /* 0: not known */
	const char *file; /* NULL: not known */
	bool has_vaddr;
};

struct frame_names *frame_names_new(void);
void frame_names_free(struct frame_names *fn); /* NULL is fine */
/* Keeps what the row of a frame will have, in place of what it had. Copies. */
void frame_names_put(struct maker *mk, uint32_t frame,
		     const struct frame_name *name);
/* Keep the name of a symbol, by its row's id, and of a function that was
 * inlined into a frame, for labels. Do nothing if frames do not wait. */
void frame_names_symbol(struct maker *mk, uint32_t id, const char *name);
void frame_names_inlined(struct maker *mk, uint32_t frame, uint32_t depth,
			 const char *name);
/* Writes the rows of all frames so far, from when on later ones do not wait;
 * does nothing the second time. labels: and their labels. Returns 0, or -1 and
 * *err. */
int frame_names_write(struct maker *mk, bool labels, struct err *err);

/* unwind_images.h - the files that stacks go through, each with its tables.
 *
 * One set for the whole run: a file is opened when the first stack comes to
 * it, and processes, and images of the same build-id, share it. What no
 * sample touches is never looked for. Tables stay; of the files themselves
 * only so many are held open. */
#ifndef SYMBOLIZE_UNWIND_UNWIND_IMAGES_H
#define SYMBOLIZE_UNWIND_UNWIND_IMAGES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/tasks/frame.h"
#include "symbolize/cfi/sigreturn.h"

struct cfi;
struct frames;
struct jit_code;
struct unwind_images;
struct unwind_row;
struct unwind_rows;
struct segment;
struct symbolizer;

/* .eh_frame and .debug_frame: the second serves where the first has nothing.
 * Of a stripped file it may be in the debug file, see
 * unwind_images_more_tables(). */
#define UNWIND_IMAGE_TABLES 2
/* Behind these .sframe, of files that have no .eh_frame: that of GNU ld is
 * wrong in .plt.got, and before version 3 it says less. */
#define UNWIND_IMAGE_SFRAME UNWIND_IMAGE_TABLES
#define UNWIND_IMAGE_ROWS (UNWIND_IMAGE_TABLES + 1)

struct unwind_image {
	uint16_t machine;
	enum image_kind kind;			     /* FILE, VDSO or JIT */
	bool proved;				     /* by its build-id */
	bool asked;				     /* its debug file */
	bool big;				     /* big-endian */
	struct unwind_rows *rows[UNWIND_IMAGE_ROWS]; /* NULL: none */
	struct cfi
		*cfi[UNWIND_IMAGE_TABLES]; /* what complex rows are made of */
	struct sigreturn sigreturn;
	struct segment *seg;
	size_t n_seg;
	uint64_t entry; /* ELF address where the kernel starts it; 0: none */
	char *path;
	struct image *img; /* that it was opened for; JIT: NULL */
	/* JIT: its vaddr are addresses in the process; borrowed. */
	const struct jit_code *code;
	/* Was it built with frame pointers? missing_caller.c finds out. */
	enum {
		FRAMES_ASK,
		FRAMES_KEPT,
		FRAMES_NOT
	} frames;
	uint32_t open; /* place among the open files + 1; 0: none */
};

/* How the search goes and what it cost. */
struct unwind_images_count {
	uint32_t asked, built; /* images looked for; tables made */
	uint64_t rows, complex;
};

/* Looks for files as sy's options say. Borrows both until unwind_images_free().
 */
struct unwind_images *unwind_images_new(struct symbolizer *sy,
					const struct frames *fr);
void unwind_images_free(struct unwind_images *ms);
/* From now on: nothing but .sframe, to see how far it gets alone. */
void unwind_images_sframe_only(struct unwind_images *ms);
/* The file of an image; NULL: it has none, or none is found. Does not move. */
struct unwind_image *unwind_images_of(struct unwind_images *ms, uint32_t image);
/* Code made at run time, by its own tables and bytes, as far as it has some;
 * NULL: neither. c must stay where it is until unwind_images_free(). */
struct unwind_image *unwind_images_of_code(struct unwind_images *ms,
					   const struct jit_code *c);
/* The row of an ELF address that says something; NULL: none does. */
const struct unwind_row *unwind_images_row(const struct unwind_image *m,
					   uint64_t vaddr);
/* Its debug file's .debug_frame, looked for once, when the file's own tables
 * have nothing of an address: are there more tables now? */
bool unwind_images_more_tables(struct unwind_images *ms,
			       struct unwind_image *m);
/* The code at an ELF address: how many bytes of n could be read. */
size_t unwind_images_read_code(struct unwind_images *ms, struct unwind_image *m,
			       uint64_t vaddr, void *buf, size_t n);
/* Is an ELF address in the section of that name? */
bool unwind_images_in_section(struct unwind_images *ms, struct unwind_image *m,
			      const char *name, uint64_t vaddr);
/* The function of the dynamic symbols that covers it. */
struct unwind_image_symbol {
	uint64_t value, size;
};
bool unwind_images_symbol(struct unwind_images *ms, struct unwind_image *m,
			  uint64_t vaddr, struct unwind_image_symbol *out);
struct unwind_images_count unwind_images_count(const struct unwind_images *ms);
#endif

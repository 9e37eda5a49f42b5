/* modules.h - the files that stacks go through, each with its tables.
 *
 * One set for the whole run: a file is opened when the first stack comes to
 * it, and processes, and images of the same build-id, share it. What no
 * sample touches is never looked for. Tables stay; of the files themselves
 * only so many are held open. */
#ifndef SYMBOLIZE_UNWIND_MODULES_H
#define SYMBOLIZE_UNWIND_MODULES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/tasks/frame.h"
#include "symbolize/cfi/sigreturn.h"

struct cfi;
struct frames;
struct jit_code;
struct modules;
struct row;
struct unwind_rows;
struct segment;
struct symbolizer;

/* .eh_frame and .debug_frame: the second serves where the first has nothing.
 * Of a stripped file it may be in the debug file, see modules_more(). */
#define MODULE_TABLES 2
/* Behind these .sframe, of files that have no .eh_frame: that of GNU ld is
 * wrong in .plt.got, and before version 3 it says less. */
#define MODULE_SFRAME MODULE_TABLES
#define MODULE_ROWS (MODULE_TABLES + 1)

struct module {
	uint16_t machine;
	enum image_kind kind;		       /* FILE, VDSO or JIT */
	bool proved;			       /* by its build-id */
	bool asked;			       /* its debug file */
	bool big;			       /* big-endian */
	struct unwind_rows *rows[MODULE_ROWS]; /* NULL: none */
	struct cfi *cfi[MODULE_TABLES]; /* what complex rows are made of */
	struct sigreturn sigreturn;
	struct segment *seg;
	size_t n_seg;
	uint64_t entry; /* ELF address where the kernel starts it; 0: none */
	char *path;
	struct image *img; /* that it was opened for; JIT: NULL */
	/* JIT: its vaddr are addresses in the process; borrowed. */
	const struct jit_code *code;
	/* Was it built with frame pointers? caller.c finds out. */
	enum {
		FRAMES_ASK,
		FRAMES_KEPT,
		FRAMES_NOT
	} frames;
	uint32_t open; /* place among the open files + 1; 0: none */
};

/* How the search goes and what it cost. */
struct modules_count {
	uint32_t asked, built; /* images looked for; tables made */
	uint64_t rows, complex;
};

/* Looks for files as sy's options say. Borrows both until modules_free(). */
struct modules *modules_new(struct symbolizer *sy, const struct frames *fr);
void modules_free(struct modules *ms);
/* From now on: nothing but .sframe, to see how far it gets alone. */
void modules_sframe_only(struct modules *ms);
/* The file of an image; NULL: it has none, or none is found. Does not move. */
struct module *modules_of(struct modules *ms, uint32_t image);
/* Code made at run time, by its own tables and bytes, as far as it has some;
 * NULL: neither. c must stay where it is until modules_free(). */
struct module *modules_of_code(struct modules *ms, const struct jit_code *c);
/* The row of an ELF address that says something; NULL: none does. */
const struct row *modules_row(const struct module *m, uint64_t vaddr);
/* Its debug file's .debug_frame, looked for once, when the file's own tables
 * have nothing of an address: are there more tables now? */
bool modules_more(struct modules *ms, struct module *m);
/* The code at an ELF address: how many bytes of n could be read. */
size_t modules_code(struct modules *ms, struct module *m, uint64_t vaddr,
		    void *buf, size_t n);
/* Is an ELF address in the section of that name? */
bool modules_in_section(struct modules *ms, struct module *m, const char *name,
			uint64_t vaddr);
/* The function of the dynamic symbols that covers it. */
struct module_symbol {
	uint64_t value, size;
};
bool modules_symbol(struct modules *ms, struct module *m, uint64_t vaddr,
		    struct module_symbol *out);
struct modules_count modules_count(const struct modules *ms);
#endif

/* unwind_images.h - keeps the images that stacks go through, with their unwind
 * tables.
 *
 * There is one set per run. A file is opened when the first stack reaches it,
 * and is shared by all processes and by images with the same build-id. Files
 * without samples are never opened. Tables are kept, but only a limited number
 * of files stay open.
 *
 * Threads share a set by unwind_images_lock(), which is held around every call
 * for images of it. */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/table.h"
#include "stitch/tasks/frame.h"
#include "symbolize/cfi/abi.h"
#include "symbolize/files/identity.h"
#include "symbolize/files/locate.h"

struct callsite_file;
struct cfi;
struct code_cache;
struct elf_file;
struct function_rows;
struct symbolizer;
struct unwind_map;
struct unwind_rows;

/* .eh_frame and .debug_frame; the second is used where the first has no entry.
 * A stripped file's may be in its debug file, see
 * unwind_images_more_tables(). */
#define UNWIND_IMAGE_TABLES 2

struct unwind_image {
	struct unwind_images *set; /* the set it is in */
	uint32_t number;	   /* its number in the set, from 1 */
	uint16_t machine;
	enum image_kind kind; /* FILE, VDSO or JIT */
	enum identity is;     /* how certain it is that this file was mapped */
	bool keep;	      /* its tables are left to later runs */
	bool asked;	      /* the debug file was searched for */
	bool big;	      /* big-endian */
	bool program;	      /* elf_is_program() */
	struct cfi *cfi[UNWIND_IMAGE_TABLES];		 /* NULL: none */
	struct function_rows *rows[UNWIND_IMAGE_TABLES]; /* made of cfi, with
							    the same index */
	/* .sframe, for files without .eh_frame only: GNU ld writes wrong
	 * entries for .plt.got, and before version 3 it has less information.
	 * NULL: none. */
	struct unwind_rows *sframe;
	struct sigreturn sigreturn;
	struct segment *seg;
	size_t n_seg;
	uint64_t span;	      /* identity_span() */
	struct segment *data; /* loaded without the right to execute */
	size_t n_data;
	uint64_t entry; /* ELF address of the entry point; 0: none */
	struct callsite_file *calls; /* NULL: not opened yet */
	struct code_cache *known;    /* of the file; NULL: none */
	char *path;		     /* of the file, for tests */
	struct image *img;	     /* image it was opened for; JIT: NULL */
	/* JIT: addresses are those in the process; borrowed. */
	const struct jit_code *code;
	/* Whether it was built with frame pointers; set by missing_caller.c. */
	enum {
		FRAMES_ASK,
		FRAMES_KEPT,
		FRAMES_NOT
	} frames;
	uint32_t open; /* index of the open file + 1; 0: closed */
	struct tried_files
		tried; /* files that were tried in the search for it */
};

/* Statistics. */
struct unwind_images_count {
	uint32_t asked, built; /* images looked for; those with tables */
	uint64_t rows;	       /* made so far */
};

/* Files kept open; their tables stay in memory anyway. */
#define UNWIND_OPEN_MAX 32

struct unwind_open_file {
	struct unwind_image *m; /* NULL: free */
	uint64_t used;		/* time of last use, in lookups */
	struct elf_file *ef;
};

/* The call before a return address, as missing_caller.c found it. */
struct known_call {
	const struct unwind_image *m; /* NULL: none is known here */
	uint64_t vaddr, target;
	int kind; /* enum call_kind */
	/* a function that is not the target, 0 if there was none to check, and
	 * whether the target jumps on to it */
	uint64_t other;
	bool goes_on;
};
/* Whether a thread begins at an address, as unwind.c found it. */
struct known_first {
	const struct unwind_image *m; /* NULL: none is known here */
	uint64_t vaddr;
	bool begins;
};
/* The calls of one function in another, as missing_caller.c counted them. */
struct known_calls {
	const struct unwind_image *m;  /* NULL: none is known here */
	const struct unwind_image *in; /* image of the called function */
	uint64_t from, to;	       /* where the functions start */
	uint64_t last;		       /* return address of the last one */
	uint32_t n, added;	       /* tables of debug files at that time */
};

/* Frame-pointer chains repeat the same return addresses: with this cache,
 * 242,000 samples of a busy system read files 32,000 times, without it 364,000
 * times. */
#define CALLS_KNOWN 1024

/* Code is read in blocks, as the same few places of a file are needed again and
 * again, in the order of samples: 444,000 samples of a compile, of 3,700
 * processes, are at 95,000 places of 4,400 pages. With 1,024 blocks of a KiB
 * files were read 132,000 times, a tenth of the time of ingest; now 57,000
 * times. Blocks that are never used take no memory. */
#define CODE_BLOCK 4096
#define CODE_BLOCKS 2048

struct code_block {
	const struct unwind_image *m; /* NULL: none */
	uint64_t at, n;		      /* its ELF address and length */
	unsigned char code[CODE_BLOCK];
};

struct unwind_images {
	bool sframe_only; /* for comparisons */
	struct symbolizer *sy;
	const struct frames *fr;
	struct unwind_image **m;
	size_t n, cap;
	struct table by_id;   /* by build-id */
	struct table by_code; /* by JIT code */
	/* Index by image id: 0 not looked up yet, OF_NO_FILE, OF_NOT_FOUND, or
	 * index + 1. */
	uint32_t *of;
	size_t n_of, cap_of;
	struct unwind_open_file file[UNWIND_OPEN_MAX];
	uint64_t clock;
	struct unwind_images_count count;
	struct known_call call[CALLS_KNOWN];
	struct known_first first[CALLS_KNOWN];
	struct known_calls calls[CALLS_KNOWN];
	struct code_block *block; /* CODE_BLOCKS of them; NULL: none is read */
	/* tables of debug files; only the main thread adds them */
	_Atomic uint32_t added;
	bool shared;
	pthread_mutex_t lock; /* used only if shared */
};

/* Returns the index in a set's caches for an address of a file, which may hold
 * another address. */
static inline size_t unwind_images_place(const struct unwind_image *m,
					 uint64_t vaddr)
{
	return hash_pair((uintptr_t)m, vaddr) % CALLS_KNOWN;
}

/* Creates an empty set that looks for files by the options of sy. Borrows both
 * until unwind_images_free(). */
struct unwind_images *unwind_images_new(struct symbolizer *sy,
					const struct frames *fr);
void unwind_images_free(struct unwind_images *ms);
/* Returns the file of an image, or NULL if it has none or it is not found. The
 * pointer stays valid. */
struct unwind_image *unwind_images_of(struct unwind_images *ms, uint32_t image);
/* Returns whether unwind_images_of() was called for the image. That needs the
 * frames, which only the main thread may read. */
bool unwind_images_known(const struct unwind_images *ms, uint32_t image);
/* Returns whether a known image is a file, found or not. */
bool unwind_images_is_file(const struct unwind_images *ms, uint32_t image);
/* Locking nests. These do nothing before unwind_images_share(), which must be
 * called before there are threads. */
void unwind_images_share(struct unwind_images *ms);
void unwind_images_lock(struct unwind_images *ms);
void unwind_images_unlock(struct unwind_images *ms);
/* Returns the file for the call-site check, open until callsite_settle(), or
 * NULL; borrowed from the image. */
struct callsite_file *unwind_images_calls_of(struct unwind_image *m);
/* Returns JIT code with the tables and bytes recorded for it; NULL if there are
 * neither. Borrows c until unwind_images_free(). */
struct unwind_image *unwind_images_of_code(struct unwind_images *ms,
					   const struct jit_code *c);
/* Returns the row at an ELF address, or NULL if no table covers it. */
const struct unwind_row *unwind_images_row(const struct unwind_image *m,
					   uint64_t vaddr);
/* Returns whether this row depends only on the file, not on its debug file,
 * which may be found later. */
bool unwind_images_row_lasts(const struct unwind_image *m, uint64_t vaddr);
/* Adds the .debug_frame of the debug file, which is searched for once. Call it
 * when the tables do not cover an address. Returns true if there are more
 * tables now. */
bool unwind_images_more_tables(struct unwind_image *m);
/* Returns true if unwind_images_more_tables() would search. Only the main
 * thread may do so, in the order of the samples: an inferred caller depends on
 * the tables that earlier samples loaded. */
bool unwind_images_may_add(const struct unwind_image *m);
/* Returns whether a file is the one that was mapped: it is proved, or its
 * build-id was read, and the mapping is as long as its code. */
bool unwind_images_is_proved(const struct unwind_image *m,
			     const struct unwind_map *map);
/* Returns whether an address is in a data segment of a file that is proved so,
 * at the place where the mapping of its code shows that the segment was
 * loaded. */
bool unwind_images_has_data(const struct unwind_image *m,
			    const struct unwind_map *map, uint64_t addr);
/* Returns whether [start, end) of a mapping is code of the file, which is a
 * program. */
bool unwind_images_has_text(const struct unwind_image *m,
			    const struct unwind_map *map, uint64_t start,
			    uint64_t end);
/* Reads up to n bytes of code at an ELF address. Returns how many. */
size_t unwind_images_read_code(struct unwind_image *m, uint64_t vaddr,
			       void *buf, size_t n);
/* Returns the file, opened again if it was closed; NULL if it does not exist
 * any more. */
struct elf_file *unwind_images_file(struct unwind_image *m);
struct unwind_images_count unwind_images_count(const struct unwind_images *ms);

/* Returns true if the link register still has the return address, at an ELF
 * address that no table covers: in the vdso (Linux 7.2 has no tables for it)
 * and in PLT stubs (ld writes none). Decides by the instructions, without
 * guessing. Reads up to a whole function, so cache the result. */
bool link_register_is_kept(struct unwind_image *m, uint64_t vaddr);

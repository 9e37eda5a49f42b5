/* callsite_file.h - the file whose code the call-site check and its relatives
 * examine. */
#pragma once
#include <stdbool.h>

#include "stitch/audit/callsite.h"
#include "stitch/base/mem.h"
#include "stitch/symbol.h"
#include "symbolize/elf/gopclntab.h"
#include "symbolize/elf/symtab.h"
#include "symbolize/files/identity.h"
#include "symbolize/files/locate.h"
#include "symbolize/unwind/frame_share.h"

struct symbolizer_cache;
struct unwind_rows;

/* .plt, .plt.sec, .plt.got, .iplt */
#define PLT_MAX 8
#define INJECTED_MAX 4

/* A function's name as a hash: names are only compared. */
struct callsite_name {
	uint64_t hash, addr;
	bool chosen; /* target chosen at run time (IFUNC) */
	bool local;  /* no other file can call it by its name */
};

/* A function in which a thread may begin. */
struct thread_start_of {
	uint64_t addr;
	enum thread_start kind;
	bool handed; /* only where the result of its callee is passed on */
};

/* Where threads begin in a file, as thread_start.c finds it. */
struct thread_starts {
	bool known;
	uint64_t entry; /* 0: none */
	bool library;	/* it is a C library, or a program that contains one */
	struct thread_start_of *of;
	size_t n, cap;
	bool read; /* the whole file was read for start routines */
};

struct callsite_file {
	struct elf_file *ef; /* NULL after callsite_settle(), if not kept */
	struct symbolizer_cache
		*kept; /* where callsite_close() leaves it; NULL: nowhere */
	char *kept_as;
	enum identity answer; /* of ef, when it was opened */
	struct tried_files tried;
	bool hashed; /* text is known */
	bool has_text;
	struct section_used text;
	struct cfi *cfi;
	struct unwind_rows *sframe; /* of .sframe; NULL: none */
	struct symtab stubs;	    /* PLT stubs; names in `names` */
	struct symtab funcs;	    /* functions without CFI; no names */
	struct arena names;
	struct callsite_name *name; /* sorted by hash */
	size_t n_name, cap_name;
	struct callsite_name
		/* hash of the main part's name, address of the cold part */
		*cold;
	size_t n_cold, cap_cold;
	struct segment *seg;
	size_t n_seg;
	uint64_t span; /* PLT sections; only vaddr and filesz are set */
	struct segment plt[PLT_MAX]; /* PLT sections; vaddr and filesz only */
	size_t n_plt;
	uint64_t injected[INJECTED_MAX]; /* of callsite_is_injected() */
	size_t n_injected;
	struct gopclntab go; /* of ef; n 0: it has none */
	uint16_t machine;
	bool big, loader;
	bool counted; /* share is known */
	struct frame_share share;
	struct thread_starts starts;
};

/* Finds the function around an ELF address in the unwind tables, which stripped
 * files have too, else by symbols. */
bool callsite_function_at(const struct callsite_file *f, uint64_t vaddr,
			  uint64_t *start, uint64_t *end);
/* Returns the first function whose name has this hash, and how many there
 * are. */
const struct callsite_name *callsite_find_names(const struct callsite_file *f,
						uint64_t hash, size_t *n);
uint64_t callsite_hash_name(const char *s, size_t n);

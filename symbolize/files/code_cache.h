/* code_cache.h - what was found out about the code of files, kept for the run
 * and, by build-id, on disk.
 *
 * All of it depends on the bytes of a file alone. A cache is good for as long
 * as its file does not change. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct code_cache;
struct elf_file;
struct symbolizer;

/* Returns the cache of a file, borrowed from sy, or NULL if the file is in
 * memory only. */
struct code_cache *code_cache_of(struct symbolizer *sy,
				 const struct elf_file *ef);
/* Returns whether something is noted of an ELF address, and in *said what: a
 * number of CODE_CACHE_BITS. c may be NULL. */
#define CODE_CACHE_BITS 3
bool code_cache_find(const struct code_cache *c, uint64_t vaddr,
		     unsigned int *packed);
/* Notes it, once for each address. c may be NULL. */
void code_cache_note(struct code_cache *c, uint64_t vaddr, unsigned int packed);
/* The same of the hash of .text. */
bool code_cache_find_text(const struct code_cache *c, uint64_t *hash);
void code_cache_note_text(struct code_cache *c, uint64_t hash);
/* Writes what is new, and frees all caches of sy. */
void code_cache_end(struct symbolizer *sy);
/* For its fuzz target: reads the bytes of a file, whose sum is right. */
bool code_cache_is_sound(const void *bytes, uint64_t len);

/* code_cache.h - keeps what analysis has found about the code of files, for the
 * run and, by build-id, on disk.
 *
 * All of it depends only on the bytes of the file. A cache is valid as long as
 * its file does not change. */
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
/* Returns whether there is a note for an ELF address, and sets *packed to it: a
 * number of CODE_CACHE_BITS. c may be NULL. */
#define CODE_CACHE_BITS 3
bool code_cache_find(const struct code_cache *c, uint64_t vaddr,
		     unsigned int *packed);
/* Stores a note, once for each address. c may be NULL. */
void code_cache_note(struct code_cache *c, uint64_t vaddr, unsigned int packed);
/* The same two functions for the hash of .text. */
bool code_cache_find_text(const struct code_cache *c, uint64_t *hash);
void code_cache_note_text(struct code_cache *c, uint64_t hash);
/* Writes new notes to disk, and frees all caches of sy. */
void code_cache_end(struct symbolizer *sy);
/* For its fuzz target: reads the bytes of a file whose sum is right. Returns
 * false if they are damaged. */
bool code_cache_is_sound(const void *bytes, uint64_t len);

/* code_place.h - one address space for all the code of a database, for tools
 * that need addresses and mappings.
 *
 * A frame is file + offset, because a file is mapped elsewhere in each process
 * and run. Here each file is mapped once, at the addresses in its program
 * headers, so that addr2line and objdump accept the addresses; mappings of
 * different files overlap. If the headers are not known, the address is the
 * offset in the file. The kernel and its modules keep their recorded addresses;
 * jitted code is put into one mapping in the order of its images. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct known_code;
struct err;
struct store;

/* The offset of an address in the file is address - start + off. */
struct code_mapping {
	uint32_t image; /* id; 0: [jit], all jitted code */
	uint64_t start, limit, off;
};

struct code_place {
	uint32_t mapping; /* id for code_mapping(); 0: none */
	uint64_t addr;
};

struct code_places;

/* Returns places of the code c, which is borrowed until code_places_free();
 * NULL and *err on failure. */
struct code_places *
code_places_load(struct store *db, const struct known_code *c, struct err *err);
void code_places_free(struct code_places *p);
/* Returns the place of a frame, and adds its mapping if it is new. called: the
 * frame is a return address, and the place is the byte before it, in the call,
 * which is what tools look up. */
struct code_place code_place(struct code_places *p, uint32_t frame,
			     bool called);
/* Returns a mapping by its id, 1 or more. Valid until the next code_place(). */
const struct code_mapping *code_mapping(const struct code_places *p,
					uint32_t id);

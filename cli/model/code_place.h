/* code_place.h - one address space for all the code of a database, for tools
 * that want addresses and mappings.
 *
 * A frame is file + offset: where a file was mapped is different in each
 * process and run. Here each file is mapped once, at the addresses that its
 * program headers ask for, so that an address is what addr2line and objdump
 * want; mappings of different files overlap. Where the headers are not known
 * the address is the offset in the file. The kernel and its modules are where
 * they were; jitted code is laid out in one mapping in the order of its images.
 */
#ifndef CLI_MODEL_CODE_PLACE_H
#define CLI_MODEL_CODE_PLACE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct known_code;
struct err;
struct store;

/* Always: address - start + off is the offset in the file. */
struct code_mapping {
	uint32_t image; /* 0: [jit] */
	uint64_t start, limit, off;
};

struct code_place {
	uint32_t mapping; /* 0: none */
	uint64_t addr;
};

struct code_places;

/* c is borrowed. NULL, and *err. */
struct code_places *
code_places_load(struct store *db, const struct known_code *c, struct err *err);
void code_places_free(struct code_places *p);
/* called: it is a return address, and the place is in the call before it,
 * which is what tools look up. Mappings are made when a frame in them is asked
 * for first. */
struct code_place code_place(struct code_places *p, uint32_t frame,
			     bool called);
/* id: 1 ..., as code_place() gave it; borrowed until the next code_place(). */
const struct code_mapping *code_mapping(const struct code_places *p,
					uint32_t id);
#endif

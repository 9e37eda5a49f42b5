/* code_bytes.h - reads the code of an image: from its file, or JIT code. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolize/files/identity.h"

struct err;

struct code_bytes {
	struct elf_file *ef; /* NULL: a copy of bytes */
	unsigned char *bytes;
	size_t len;
	uint64_t addr; /* of bytes[0]; for the kernel, of _text */
	uint16_t machine;
	bool big, kernel;
};

/* Opens the file of an image if it contains the image's code, and never another
 * file. *answer: how certain that is or, if NULL is returned, why not. */
struct elf_file *code_bytes_find_file(struct symbolizer *sy,
				      const struct image *img,
				      struct identity_answer *answer);

/* Opens the code of an image, addressed by the offsets in its frames. Returns
 * NULL and *err if the code is not found. */
struct code_bytes *code_bytes_open(struct symbolizer *sy,
				   const struct image *img, struct err *err);
/* code_bytes_open() for a copy of bytes that were at addr. */
struct code_bytes *code_bytes_of_memory(uint16_t machine, bool big,
					uint64_t addr, const void *bytes,
					size_t len);
void code_bytes_close(struct code_bytes *c);

/* Returns the path of the file; "" for bytes. */
const char *code_bytes_path(const struct code_bytes *c);
/* Convert between offsets and the addresses that a disassembler prints. Return
 * false if the place is outside the code. code_bytes_read() returns how many
 * bytes it read. */
bool code_bytes_addr(const struct code_bytes *c, uint64_t off, uint64_t *addr);
bool code_bytes_off(const struct code_bytes *c, uint64_t addr, uint64_t *off);
size_t code_bytes_read(const struct code_bytes *c, uint64_t off, void *buf,
		       size_t n);
/* Finds the function around an offset in the unwind tables; *end is
 * exclusive. */
bool code_bytes_function(const struct code_bytes *c, uint64_t off,
			 uint64_t *start, uint64_t *end);

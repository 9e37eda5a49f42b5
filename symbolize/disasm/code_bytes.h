/* code_bytes.h - the bytes of code: of the file that ran, or of a JIT. */
#ifndef SYMBOLIZE_DISASM_CODE_BYTES_H
#define SYMBOLIZE_DISASM_CODE_BYTES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_bytes;
struct elf_file;
struct err;
struct image;
struct symbolizer;

/* The file of an image with its code: never one with another build-id. NULL
 * and *why ("no file", "no code", "other build-id") when there is none. */
struct elf_file *code_bytes_find_file(struct symbolizer *sy,
				      const struct image *img,
				      const char **why);
/* Bytes at an offset in the file; how many there are of the n. */
size_t code_bytes_of_file(const struct elf_file *ef, uint64_t off, void *buf,
			  size_t n);

/* One image's code, addressed by the offsets that its frames have. NULL and
 * *err when there is none to be had. */
struct code_bytes *code_bytes_open(struct symbolizer *sy,
				   const struct image *img, struct err *err);
/* Of bytes that were at addr; they are copied. */
struct code_bytes *code_bytes_of_memory(uint16_t machine, uint64_t addr,
					const void *bytes, size_t len);
void code_bytes_close(struct code_bytes *c);

/* Where it was read; "" from bytes. */
const char *code_bytes_path(const struct code_bytes *c);
uint16_t code_bytes_machine(const struct code_bytes *c);
bool code_bytes_big(const struct code_bytes *c);
/* Between offsets and the addresses that disassemblers show: false when the
 * place is not in the code. */
bool code_bytes_addr(const struct code_bytes *c, uint64_t off, uint64_t *addr);
bool code_bytes_off(const struct code_bytes *c, uint64_t addr, uint64_t *off);
size_t code_bytes_read(const struct code_bytes *c, uint64_t off, void *buf,
		       size_t n);
/* The function around an offset by the unwind tables, end exclusive. */
bool code_bytes_function(const struct code_bytes *c, uint64_t off,
			 uint64_t *start, uint64_t *end);
#endif

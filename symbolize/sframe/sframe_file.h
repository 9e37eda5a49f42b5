/* sframe_file.h - the SFrame section of an ELF file. */
#ifndef SYMBOLIZE_SFRAME_SFRAME_FILE_H
#define SYMBOLIZE_SFRAME_SFRAME_FILE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolize/sframe/sframe.h"

struct elf_file;
struct err;

struct sframe_file {
	struct sframe sf;
	size_t len;   /* bytes of the section */
	uint64_t off; /* its place in the file */
	bool object;  /* not linked: starts count from their own section */
	void *copy;   /* relocated; owned */
};

/* By program header, else by name: the section's type came late. 1 and *out,
 * which borrows from ef; 0: it has none; -1 and *err. Object files of binutils
 * before 2.45 (addresses without a flag that says what they count from) are
 * refused. Release it when it was found. */
int sframe_file_open(const struct elf_file *ef, struct sframe_file *out,
		     struct err *err);
void sframe_file_release(struct sframe_file *f);
#endif

/* sframe_file.h - finds the SFrame section of an ELF file. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolize/sframe/sframe.h"

struct elf_file;

struct sframe_file {
	struct sframe sf;
	size_t len;   /* bytes of the section */
	uint64_t off; /* file offset */
	/* not linked: addresses are relative to their own section */
	bool object;
	void *copy; /* relocated section; owned */
};

/* Finds the section by program header, else by name: its own section type is
 * more recent. Returns 1 and *out, which borrows from ef and must be released;
 * 0 if there is none; -1 and *err. Refuses object files of binutils before
 * 2.45, which lack the flag that tells what addresses are relative to. */
int sframe_file_open(const struct elf_file *ef, struct sframe_file *out,
		     struct err *err);
void sframe_file_release(struct sframe_file *f);

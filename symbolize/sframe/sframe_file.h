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

/* Callbacks, each may be NULL. For each function: func, row for each row, end.
 * If a function is damaged, bad replaces the calls that are left (all of them
 * if its index entry is damaged). */
struct sframe_visitor {
	void (*func)(void *arg, uint32_t i, const struct sframe_func *f);
	void (*row)(void *arg, const struct sframe_func *f,
		    const struct sframe_row *row,
		    const struct sframe_rule *rule);
	void (*end)(void *arg, uint32_t i, const struct sframe_func *f);
	void (*bad)(void *arg, uint32_t i, const struct err *err);
};

/* Visits all functions. The time is proportional to the section: once functions
 * that share rows have used four times the bytes of the rows, they count as
 * bad. Returns the number of bad functions. */
uint32_t sframe_visit(const struct sframe *sf, const struct sframe_visitor *v,
		      void *arg);

/* Converts the section to a table; free it with unwind_rows_free(). *bad is the
 * number of functions left out, since they could not be read. */
struct unwind_rows *sframe_table(const struct sframe *sf, uint32_t *bad);

/* sframe.h - what the command sframe prints. */
#pragma once
#include <stdbool.h>

struct elf_file;
struct err;
struct sframe_file;
struct store;
struct symbolizer;
struct unwind_compare_count;

/* Prints a section as text or JSON. Returns an enum status: STATUS_DAMAGED if
 * functions cannot be read. */
int sframe_dump(const char *path, const struct sframe_file *f, bool json);
/* Prints the results of the tests of a section. Returns an enum status,
 * STATUS_LOSS if a test found errors, or -1 and *err. */
int sframe_check_print(const struct elf_file *ef, const struct sframe_file *f,
		       bool json, struct err *err);
/* Prints by which means the user stacks of a database can be unwound; symfs:
 * where programs are, NULL: here. Returns 0, or -1 and *err. */
int sframe_readiness(struct store *db, struct symbolizer *sy, const char *symfs,
		     bool json, struct err *err);
/* Prints the results of unwinding the stack dumps of a capture by SFrame alone,
 * and by all tables. Returns 0, or -1 and *err. */
int sframe_unwind(const char *path, struct unwind_compare_count *c, bool json,
		  struct err *err);

/* sframe_check.h - checks whether an SFrame section is correct: in itself, for
 * the code it describes, and compared with .eh_frame.
 *
 * sframe_check() runs all tests, and each counts what it has looked at and
 * found. Test names appear in output that scripts read. */
#pragma once
#include "symbolize/sframe/sframe_judge.h"

struct elf_file;
struct err;
struct sframe_file;

/* Runs all tests; release *out with sframe_report_release(). Returns 0, or -1
 * and *err if the section cannot be checked (object file). */
int sframe_check(const struct elf_file *ef, const struct sframe_file *f,
		 struct sframe_report *out, struct err *err);

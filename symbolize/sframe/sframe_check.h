/* sframe_check.h - is an SFrame section right? By itself, by the code it is
 * about, and by .eh_frame.
 *
 * sframe_check() asks all tests; each counts what it looked at and what it
 * found. Tests are named: the names are for people and for scripts. */
#ifndef SYMBOLIZE_SFRAME_SFRAME_CHECK_H
#define SYMBOLIZE_SFRAME_SFRAME_CHECK_H
#include "symbolize/sframe/sframe_finding.h"

struct elf_file;
struct err;
struct sframe_file;

/* 0, or -1 and *err when it cannot be asked at all (an object file).
 * sframe_report_release() *out. */
int sframe_check(const struct elf_file *ef, const struct sframe_file *f,
		 struct sframe_report *out, struct err *err);
#endif

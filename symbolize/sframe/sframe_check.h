/* sframe_check.h - checks whether an SFrame section is correct: in itself, for
 * the code it describes, and compared with .eh_frame.
 *
 * sframe_check() runs all tests, each of which counts what it looked at and
 * what it found. Test names appear in output that scripts read. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolize/cfi/unwind_rows.h"
#include "symbolize/sframe/sframe.h"

enum sframe_test {
	/* consistency of the section */
	SFRAME_T_READABLE,
	SFRAME_T_SORTED,
	SFRAME_T_OVERLAP,
	SFRAME_T_IN_CODE,
	SFRAME_T_ROW_COUNT,
	SFRAME_T_FIRST_ROW,
	SFRAME_T_FIXED_RA,
	/* against the code */
	SFRAME_T_ENTRY,
	SFRAME_T_SP_MOVES,
	SFRAME_T_RETURN,
	SFRAME_T_CALL_SITE,
	SFRAME_T_BOUNDARY,
	/* against .eh_frame */
	SFRAME_T_EH_FRAME,
	SFRAME_T_PLT_GOT,
	SFRAME_T_OUTERMOST,
	SFRAME_T_SIGNAL,
	SFRAME_T_MISSING,
	SFRAME_T_EXTRA,
	SFRAME_T_COMPLEX,
	SFRAME_TESTS
};

struct sframe_test_info {
	const char *name;
	const char *summary; /* what is true if nothing is found */
	const char *unit;    /* unit of the counts */
	bool note;	     /* findings are remarks, not errors */
};

extern const struct sframe_test_info sframe_tests[SFRAME_TESTS];

struct sframe_finding {
	enum sframe_test test;
	uint64_t start, end; /* addresses; end exclusive */
	char text[200];
};

struct sframe_report {
	uint64_t asked[SFRAME_TESTS], found[SFRAME_TESTS];
	/* owned, sorted by test; up to limit of each */
	struct sframe_finding *finding;
	size_t n, cap;
	size_t kept[SFRAME_TESTS]; /* number of findings stored */
	size_t limit; /* most findings to store per test; set by the caller */
	bool no_code, no_eh_frame; /* could not be compared */
};

void sframe_report_release(struct sframe_report *r);

/* A function without read errors. */
struct judge_function {
	uint64_t start, end;
	/* end, or the start of the next function if that is lower */
	uint64_t limit;
	uint32_t index;
	bool signal, repeats;
};

struct judge_section { /* executable section */
	uint64_t start, end;
	const char *name;
};

struct judge {
	const struct elf_file *ef;
	const struct sframe *sf;
	struct sframe_report *r;
	struct unwind_rows *rows;
	struct unwind_rows *eh;	     /* NULL: none */
	struct judge_function *func; /* sorted by start */
	size_t n, cap;
	struct judge_section *part; /* sorted by start */
	size_t n_part, cap_part;
};

/* A rule as text, for messages. */
struct rule_text {
	char s[96];
};

struct elf_file;
struct err;
struct sframe_file;

/* Runs all tests; release *out with sframe_report_release(). Returns 0, or -1
 * and *err if the section cannot be checked (object file). */
int sframe_check(const struct elf_file *ef, const struct sframe_file *f,
		 struct sframe_report *out, struct err *err);

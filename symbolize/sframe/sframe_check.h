/* sframe_check.h - is an SFrame section right? By itself, by the code it is
 * about, and by .eh_frame.
 *
 * sframe_check() asks all tests; each counts what it looked at and what it
 * found. Tests are named: the names are for people and for scripts. */
#ifndef SYMBOLIZE_SFRAME_SFRAME_CHECK_H
#define SYMBOLIZE_SFRAME_SFRAME_CHECK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct err;
struct sframe_file;

enum sframe_test {
	/* the section by itself */
	SFRAME_T_READABLE,
	SFRAME_T_SORTED,
	SFRAME_T_OVERLAP,
	SFRAME_T_IN_CODE,
	SFRAME_T_ROW_COUNT,
	SFRAME_T_FIRST_ROW,
	SFRAME_T_FIXED_RA,
	/* with the code */
	SFRAME_T_ENTRY,
	SFRAME_T_SP_MOVES,
	SFRAME_T_RETURN,
	SFRAME_T_CALL_SITE,
	SFRAME_T_BOUNDARY,
	/* with .eh_frame */
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
	const char *summary; /* what holds when nothing is found */
	const char *unit;    /* what is counted */
	bool note;	     /* what it finds is worth knowing, no error */
};

extern const struct sframe_test_info sframe_tests[SFRAME_TESTS];

struct sframe_finding {
	enum sframe_test test;
	uint64_t start, end; /* addresses; end exclusive */
	char text[200];
};

struct sframe_report {
	uint64_t asked[SFRAME_TESTS], found[SFRAME_TESTS];
	struct sframe_finding *finding; /* owned; by test, some of each */
	size_t n, cap;
	size_t kept[SFRAME_TESTS]; /* of these */
	size_t limit;		   /* of each test; set by the caller */
	bool no_code, no_eh_frame; /* could not be compared with */
};

/* 0, or -1 and *err when it cannot be asked at all (an object file).
 * sframe_report_release() *out. */
int sframe_check(const struct elf_file *ef, const struct sframe_file *f,
		 struct sframe_report *out, struct err *err);
void sframe_report_release(struct sframe_report *r);
#endif

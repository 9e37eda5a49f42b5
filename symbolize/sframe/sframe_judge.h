/* sframe_judge.h - what the parts of sframe_check() share. */
#pragma once
#include "symbolize/cfi/unwind_rows.h"
#include "symbolize/sframe/sframe_finding.h"
#include "symbolize/sframe/sframe_file.h"

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

/* Adds n to the count of a test, and stores a finding unless the limit is
 * reached. */
void judge_found(struct judge *j, enum sframe_test test, uint64_t start,
		 uint64_t end, uint64_t n, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
/* Returns the name of the section that contains an address, or "". */
const char *judge_section_name(const struct judge *j, uint64_t addr);
/* A rule as text, for messages. */
struct rule_text {
	char s[96];
};
const char *judge_rule(const struct judge *j, const struct unwind_rule *rule,
		       struct rule_text *t);

/* Runs the tests that disassemble the functions. Returns 0, or -1 and *err if
 * the machine cannot be disassembled. */
int sframe_code_check(struct judge *j, struct err *err);

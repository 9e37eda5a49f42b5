/* sframe_judge.h - what the parts of sframe_check() share. */
#ifndef SYMBOLIZE_SFRAME_SFRAME_JUDGE_H
#define SYMBOLIZE_SFRAME_SFRAME_JUDGE_H
#include "symbolize/cfi/unwind_rows.h"
#include "symbolize/sframe/sframe_check.h"
#include "symbolize/sframe/sframe_file.h"

/* A function that could be read. */
struct judged {
	uint64_t start, end;
	uint64_t limit; /* where the next one begins, if before end */
	uint32_t index;
	bool signal, repeats;
};

struct part { /* a section of code */
	uint64_t start, end;
	const char *name;
};

struct judge {
	const struct elf_file *ef;
	const struct sframe *sf;
	struct sframe_report *r;
	struct unwind_rows *rows;
	struct unwind_rows *eh; /* NULL: none */
	struct judged *func;	/* by start */
	size_t n, cap;
	struct part *part; /* by start */
	size_t n_part, cap_part;
};

/* Counts n more and keeps the finding as long as there is room. */
void judge_found(struct judge *j, enum sframe_test test, uint64_t start,
		 uint64_t end, uint64_t n, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
/* The name of the section around an address; "" none. */
const char *judge_part(const struct judge *j, uint64_t addr);
/* A rule in words, for messages. */
struct rule_text {
	char s[96];
};
const char *judge_rule(const struct judge *j, const struct row_rule *rule,
		       struct rule_text *t);

/* With the code, with .eh_frame. */
int judge_code(struct judge *j, struct err *err);
void judge_eh(struct judge *j);
#endif

/* label.h - what a frame is called in pictures and tables, interned.
 *
 * Many frames share one label: all offsets of one function, all unnamed
 * offsets of one image. Ids are dense and start at 0. */
#ifndef CLI_MODEL_LABEL_H
#define CLI_MODEL_LABEL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum label_kind {
	LABEL_GROUP, /* not code: a comm, a process, "all" */
	LABEL_USER,
	LABEL_KERNEL,
	LABEL_INLINED,
	LABEL_JIT,
	LABEL_UNNAMED, /* code without a name: [libfoo.so], [unknown] */
	LABEL_MISSING, /* stands for what is not there: [user: VERDICT] */
	LABEL_EXEC,    /* of the program that came by exec after the sample */
	LABEL_BOGUS,   /* a return address that no call returns to */
	LABEL_KINDS
};

/* Strings are borrowed by labels_add() and owned by the table afterwards. */
struct label {
	enum label_kind kind;
	const char *name;  /* bytes of a capture: may be anything */
	const char *image; /* path; "" when there is none */
	uint64_t off;	   /* of the function's start in the image */
	bool has_off;
	bool kernel; /* kernel code, named or not */
	const char
		*bogus; /* why: a word of the call-site check; static; NULL */
};

struct labels;

struct labels *labels_new(void);
void labels_free(struct labels *l);
/* The id of an equal label, or of a new copy. O(1). */
uint32_t labels_add(struct labels *l, const struct label *want);
/* Borrowed until the next labels_add(). */
const struct label *labels_get(const struct labels *l, uint32_t id);
uint32_t labels_count(const struct labels *l);
/* For sorting: by name, then kind, image and offset; equal ids only are 0. */
int label_compare(const struct label *a, const struct label *b);
/* One word for the kind: "kernel", "user", "missing", ... */
const char *label_kind_name(enum label_kind kind);
#endif

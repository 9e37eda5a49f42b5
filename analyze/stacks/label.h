/* label.h - interned names of frames for pictures and tables.
 *
 * Many frames share one label: all offsets of one function, all unnamed
 * offsets of one image. Ids are dense and start at 0. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum label_kind {
	LABEL_GROUP, /* not code: a comm, a process, "all" */
	LABEL_USER,
	LABEL_KERNEL,
	LABEL_INLINED,
	LABEL_JIT,
	LABEL_UNNAMED, /* code without a name: [libfoo.so], [unknown] */
	LABEL_MISSING, /* stands for missing frames: [user: VERDICT], [kernel:
			* hit_only] */
	LABEL_EXEC,    /* of a program that was executed after the sample */
	LABEL_BOGUS,   /* a return address that no call returns to */
	LABEL_WAIT,    /* the thread was off the CPU: [off-CPU: STATE] */
	LABEL_KINDS
};

/* labels_add() copies the strings, except bogus and shown. */
struct label {
	enum label_kind kind;
	const char *name;  /* bytes of a capture: may be anything */
	const char *image; /* path; "" when there is none */
	uint64_t off;	   /* of the function's start in the image */
	bool has_off;
	bool kernel;	     /* kernel code, named or not */
	bool inlined;	     /* of an inlined function, whatever its kind */
	const char *bogus;   /* if bogus: a static word of the call-site check;
			      * else NULL */
	enum label_kind was; /* for LABEL_BOGUS: its kind without that; not
			      * compared */
	/* For people: the short form of the name, with more of it if another
	 * name of the set has the same; NULL: the name. Borrowed from the set
	 * for which labels_shorten() was called. */
	const char *shown;
};

struct labels;
struct name_opts;
struct shown_names;

/* Returns an empty set, freed by labels_free(). */
struct labels *labels_new(void);
void labels_free(struct labels *l);
/* Returns the id of an equal label, or of a new copy. O(1). */
uint32_t labels_add(struct labels *l, const struct label *want);
/* Does the same for a name without an image. */
uint32_t labels_add_name(struct labels *l, enum label_kind kind,
			 const char *name);
/* Returns a label; valid until the next labels_add(). */
const struct label *labels_get(const struct labels *l, uint32_t id);
/* Returns how many labels there are: their ids are smaller. */
uint32_t labels_count(const struct labels *l);
/* Returns the names that labels_shorten() keeps distinct, so that others than
 * those of labels can be added. */
struct shown_names *labels_names(struct labels *l);
/* Adds a short name to all labels so far, unless full names are wanted. Copies
 * of these labels, also in other sets, have it too. */
void labels_shorten(struct labels *l, const struct name_opts *o);
/* Returns the name for people. */
const char *label_shown(const struct label *l);
/* Compares by name, then by all other members but `was` and `shown`; 0 only for
 * equal ids. */
int label_compare(const struct label *a, const struct label *b);
/* How code that no file has, "[anon]", gets a name. */
#define LABEL_GENERATED_ADVICE                                                 \
	"the program names it in a perf map ('backstitch record --runtime' "   \
	"for Java, Node and Python) or a jitdump ('perf inject --jit')"
/* Returns a word for the kind: "kernel", "user", "missing", ... */
const char *label_kind_name(enum label_kind kind);

/* trust.h - how far user stacks can be trusted, in one sentence that check,
 * report, info, flame, annotate and the page print.
 *
 * The sentence is about the samples that an output counts: trust_new(), then
 * trust_add() for each group of them, then trust_say(). trust_read() and
 * trust_of() count all events, or one. The sentence ends with the share of
 * these samples whose names nothing proves. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct err;
struct filter;
struct json;
struct known_code;
struct stacks;
struct stacks_group;
struct store;
struct trust;

/* What is wrong with a stack. */
enum trust_kind {
	TRUST_WHOLE,
	TRUST_SHORT,   /* callers are missing */
	TRUST_ENDED,   /* likewise: a dump ended, but not because of its size */
	TRUST_WRONG,   /* it has frames that never were */
	TRUST_MISSING, /* there is none */
	TRUST_UNCHECKED, /* nothing is known about it */
	TRUST_SILENT,	 /* none was recorded */
	TRUST_KINDS
};

/* A class of view trust. */
struct trust_word {
	const char *name;
	enum trust_kind kind;
	const char *phrase;  /* follows "user stacks" or a share */
	const char *meaning; /* a line of help */
};

/* By enum trust_class; the last one, CLASS_UNKNOWN, has name NULL. */
extern const struct trust_word trust_words[];
/* Returns the row of a class by its name; that of CLASS_UNKNOWN if there is
 * none. */
const struct trust_word *trust_word(const char *name);

/* Enough for each sentence. */
#define TRUST_SENTENCE 768
/* Files that nothing proves are reported from one sample in this many. */
#define TRUST_UNPROVED_OF 100
/* The sentence has the number of its user stacks if they are fewer than this,
 * or than one in so many samples. */
#define TRUST_FEW 100
#define TRUST_FEW_OF 20

/* Reads the classes of a database. code: with chains, for trust_add() and
 * trust_class(), borrowed; NULL: without them. Returns what trust_free() frees,
 * or NULL and *err. */
struct trust *trust_new(struct store *db, const struct known_code *code,
			struct err *err);
void trust_free(struct trust *t);
/* Forgets what was counted, to count other samples: reading the rules of a
 * database takes longer than a sentence. Only after trust_new() with code. */
void trust_restart(struct trust *t);
/* Changes the remedies for samples that are counted together with waits: frame
 * pointers help both, stack dumps only samples. */
void trust_of_waits(struct trust *t);
/* Counts the samples of a group, or waits. */
void trust_add(struct trust *t, const struct stacks_group *g);
/* Returns the class of the samples of a group, as in view trust; NULL if they
 * are not counted there, because they hit the kernel. */
const char *trust_class(struct trust *t, const struct stacks_group *g);
/* Writes the sentence: "75.20 % of the user stacks are whole. 16.40 % are
 * fabricated (libc.so.6 has no frame pointers), 8.40 % ended in lost records.
 * 'perf record --call-graph dwarf,16384' may mend 16.40 %." It has no line
 * break; names of files are safe to show. */
void trust_say(const struct trust *t, char out[TRUST_SENTENCE]);
/* Adds a sentence about kernel halves after that of trust_say(), which has one
 * only if some have a frame too many or too few: " 0.40 % of the kernel halves
 * end where none is known to begin, 99.60 % are unchecked." */
void trust_add_kernel(const struct trust *t, char out[TRUST_SENTENCE]);
/* Writes the sentence, and the samples of each class, as members. */
void trust_put_json(const struct trust *t, struct json *j);
/* Numbers of samples, by their stacks. */
struct trust_counts {
	/* all: if none was recorded, the samples that could have had one */
	int64_t all, whole, wrong, unchecked;
	int64_t cut;   /* end with their dump */
	bool recorded; /* not only samples that could have had one */
	/* samples, and those in code whose file nothing proves */
	int64_t counted, unproved;
};
/* Returns the numbers of the samples that were counted. */
struct trust_counts trust_count(const struct trust *t);
/* Writes what is wrong with the wrong stacks, as in the sentence: "are
 * fabricated (libc.so.6 has no frame pointers)". */
void trust_say_wrong(const struct trust *t, char out[TRUST_SENTENCE]);

/* Writes the sentence about all samples. Returns 0, or -1 and *err. */
int trust_sentence(struct store *db, char out[TRUST_SENTENCE], struct err *err);
/* Counts the samples that the filter selects, of all events. Returns what the
 * caller frees, or NULL and *err. */
struct trust *trust_read(struct store *db, const struct filter *filter,
			 struct err *err);
/* Counts the loaded samples of an event; -1: of all. Returns what the caller
 * frees, or NULL and *err. */
struct trust *trust_of(struct store *db, const struct stacks *stacks, int event,
		       struct err *err);

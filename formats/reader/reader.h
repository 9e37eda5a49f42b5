/* reader.h - sets up a source, and notes damage, remarks and times that go
 * backwards in the ledger: for all readers. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "formats/reader/scan.h"

struct err;
struct ledger;
struct source;
struct source_ops;
struct source_opts;
struct bytes;

/* The reader claims every range of the file that it takes: the header, each
 * section, each ring. A table with a smaller number than was written leaves
 * bytes that nothing claims; one with a larger number makes two claims overlap.
 * Zeros may stand between claims. */

struct claim {
	uint64_t off, len;
};

struct claims {
	struct claim *claim;
	size_t n, cap;
};

/* Returns where the bytes end, from off on and no further than end, that may be
 * unclaimed; off if there are none. */
typedef uint64_t claims_skip_fn(void *arg, uint64_t off, uint64_t end);

/* Claims len bytes of the file at off. Ranges may come in any order. */
void claims_add(struct claims *c, uint64_t off, uint64_t len);
/* Notes in the ledger each range of the file that has no claim ("unclaimed"),
 * and each that has two ("overlap"). skip may be NULL. */
void claims_check(struct claims *c, const struct source *src,
		  const struct bytes *file, claims_skip_fn *skip, void *arg);
void claims_release(struct claims *c);
/* Notes in the ledger ("rest") the bytes that are left in b after the part's
 * own counts are used up. */
void claims_check_rest(const struct source *src, const struct bytes *b,
		       const char *what);

/* Each returns 0, or -1 with a message: rest_end() if any byte is left in b,
 * rest_padding() if more than n are, rest_zeros() if one is not zero. */
int rest_end(const struct bytes *b, struct err *err);
int rest_padding(const struct bytes *b, size_t n, struct err *err);
int rest_zeros(const struct bytes *b, struct err *err);

/* Returns the name in brackets in "[local] global counter ..."; empty if there
 * is none. Borrowed from s. */
struct scan trace_clock_chosen(struct scan s);
/* Returns the name that backstitch uses for a clock of ftrace, whatever the
 * format of the capture. */
const char *trace_clock_name(const char *name);

/* Returns the number after a key at the start of a line of per_cpu/cpuN/stats,
 * or 0 if no line begins with the key. */
uint64_t trace_stats_number(struct scan stats, const char *key);

/* Sets up a zero-initialised source and copies *o to *opts. o may be NULL. The
 * reader frees src->path. */
void reader_init(struct source *src, const struct source_ops *ops,
		 const char *path, const struct source_opts *o,
		 struct ledger *lg, struct source_opts *opts);
/* Notes that the compressed file is damaged, so that the capture is
 * incomplete. */
void reader_damage_packed(struct source *src, const char *path);
/* Notes damage of len bytes at off once, even if several passes see it. */
void reader_damage(const struct source *src, const char *what, uint64_t off,
		   uint64_t len, const struct err *err);
/* Notes damage in the file at `path`, with a formatted message. */
void reader_damage_text(const struct source *src, const char *path,
			const char *what, uint64_t off, uint64_t len,
			const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
/* Notes a remark in the ledger, which `backstitch info` prints. */
void reader_note(const struct source *src, const char *what,
		 const char *detail);
/* Notes that an entry of a CPU has the time `time`, which is earlier than
 * `last`, the time of the entry before it. */
void reader_regress(const struct source *src, uint64_t off, uint64_t time,
		    uint64_t last, int32_t cpu);

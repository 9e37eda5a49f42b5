/* reader.h - what all readers do: setting up a source, and writing damage,
 * notes and times that go back to the ledger. */
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

/* Returns the end of what may stand unclaimed at off, up to end; off if nothing
 * may. */
typedef uint64_t claims_skip_fn(void *arg, uint64_t off, uint64_t end);

/* The reader takes these bytes of the file. Ranges may come in any order. */
void claims_add(struct claims *c, uint64_t off, uint64_t len);
/* Notes each range of the whole file that no claim has ("unclaimed"), and each
 * that two of them have ("overlap"). skip may be NULL. */
void claims_check(struct claims *c, const struct source *src,
		  const struct bytes *file, claims_skip_fn *skip, void *arg);
void claims_release(struct claims *c);
/* Notes what is left of a part ("rest") after all that its own counts
 * describe. */
void claims_check_rest(const struct source *src, const struct bytes *b,
		       const char *what);

/* Each returns -1 with a message unless nothing is left of b; at most n bytes
 * of padding; nothing but zeros. */
int rest_end(const struct bytes *b, struct err *err);
int rest_padding(const struct bytes *b, size_t n, struct err *err);
int rest_zeros(const struct bytes *b, struct err *err);

/* Returns the clock that is in brackets in "[local] global counter ..."; empty:
 * none is. */
struct scan trace_clock_chosen(struct scan s);
/* Returns the name that captures of all formats have for a clock of ftrace. */
const char *trace_clock_name(const char *name);

/* Returns the number after a key at the start of a line of per_cpu/cpuN/stats;
 * 0: there is none. */
uint64_t trace_stats_number(struct scan stats, const char *key);

/* Sets up a zero-initialised source and copies *o to *opts. o may be NULL. The
 * reader frees src->path. */
void reader_init(struct source *src, const struct source_ops *ops,
		 const char *path, const struct source_opts *o,
		 struct ledger *lg, struct source_opts *opts);
/* Notes that the compressed file is damaged, so that the capture is cut. */
void reader_damage_packed(struct source *src, const char *path);
/* Notes damage of len bytes at off once, even if several passes see it. */
void reader_damage(const struct source *src, const char *what, uint64_t off,
		   uint64_t len, const struct err *err);
/* Notes damage in a file of this path, with a message of its place. */
void reader_damage_text(const struct source *src, const char *path,
			const char *what, uint64_t off, uint64_t len,
			const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
/* Notes something that `info` shows. */
void reader_note(const struct source *src, const char *what,
		 const char *detail);
/* Notes that an entry of a CPU is at `time`, earlier than `last` before it. */
void reader_regress(const struct source *src, uint64_t off, uint64_t time,
		    uint64_t last, int32_t cpu);

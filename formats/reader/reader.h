/* reader.h - what all readers do: setting up a source, and writing damage,
 * notes and times that go back to the ledger. */
#pragma once
#include <stdint.h>

struct err;
struct ledger;
struct source;
struct source_ops;
struct source_opts;

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

/* notes.h - what all readers write to the ledger: damage, notes, and times that
 * go back. */
#ifndef FORMATS_READER_NOTES_H
#define FORMATS_READER_NOTES_H
#include <stdint.h>

struct err;
struct source;

/* Notes damage of len bytes at off once, even if several passes see it. */
void reader_damage(const struct source *src, const char *what, uint64_t off,
		   uint64_t len, const struct err *err);
/* Notes damage in a file of this path, for the reason why. */
void reader_damage_text(const struct source *src, const char *path,
			const char *what, uint64_t off, uint64_t len,
			const char *why);
/* Notes something that `info` shows. */
void reader_note(const struct source *src, const char *what,
		 const char *detail);
/* Notes that an entry of a CPU is at `time`, earlier than `last` before it. */
void reader_regress(const struct source *src, uint64_t off, uint64_t time,
		    uint64_t last, int32_t cpu);
#endif

/* formats.h - the capture formats, and opening a capture of any of them. */
#ifndef FORMATS_FORMATS_H
#define FORMATS_FORMATS_H
#include <stddef.h>

struct err;
struct ledger;
struct source;
struct source_ops;
struct source_opts;

/* All readers, ending with NULL. */
extern const struct source_ops *const formats[];

/* Finds out what path ("-": stdin) is and opens it. NULL and *err when no
 * reader knows it; the message says what it looks like instead. */
struct source *formats_open(const char *path, const struct source_opts *o,
			    struct ledger *lg, struct err *err);

/* All captures of a run are open and none is scanned: what they say of each
 * other is used. */
void formats_pair(struct source *const *src, size_t n);

/* -1 and *err: "path: this is ..., needs ..." from the first n bytes. */
int formats_refuse(const char *path, const void *head, size_t n,
		   struct err *err);
#endif

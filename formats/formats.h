/* formats.h - opens a capture with the format that knows it. */
#ifndef FORMATS_FORMATS_H
#define FORMATS_FORMATS_H

struct err;
struct ledger;
struct source;
struct source_opts;
struct source_ops;

/* Tries all formats on the head of the file; "-" is standard input. */
struct source *formats_open(const char *path, const struct source_opts *o,
			    struct ledger *lg, struct err *err);
extern const struct source_ops *const formats[]; /* ends with NULL */
#endif

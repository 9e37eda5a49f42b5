/* pack.h - plain bytes as a gzip stream.
 *
 * Call order: _new, any number of _add, _finish, _free. The same bytes give
 * the same stream: it holds no name and no time. */
#ifndef FORMATS_PACK_H
#define FORMATS_PACK_H
#include <stddef.h>

struct err;
struct pack;

/* Takes the next n packed bytes; 0, or -1 and *err. */
typedef int pack_fn(void *arg, const void *data, size_t n, struct err *err);

struct pack *pack_new(pack_fn *put, void *arg);
void pack_free(struct pack *p);
/* 0, or -1 and *err. */
int pack_add(struct pack *p, const void *data, size_t n, struct err *err);
/* What is still held back, and the trailer. 0, or -1 and *err. */
int pack_finish(struct pack *p, struct err *err);
#endif

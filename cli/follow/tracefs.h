/* tracefs.h - the files of tracefs that tell what is in its rings: those of
 * the top buffer, or of an instance. Nothing is written to them. */
#ifndef CLI_FOLLOW_TRACEFS_H
#define CLI_FOLLOW_TRACEFS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct tracefs;

/* Returns whether a folder is that of a buffer, or its per_cpu. */
bool tracefs_is_buffer(const char *path);
/* Returns NULL and *err on failure. */
struct tracefs *tracefs_open(const char *path, struct err *err);
void tracefs_close(struct tracefs *t); /* NULL is fine */
/* Returns the folder of the buffer, as an absolute path. */
const char *tracefs_root(const struct tracefs *t);
/* Returns whether its threads are those of /proc: it is the kernel's tracefs,
 * and this process sees all of the machine's processes. */
bool tracefs_is_live(const struct tracefs *t);
/* Returns the contents of a file of the buffer, or of the top buffer if an
 * instance has no such file, with a 0 behind them; the caller frees them. NULL:
 * it cannot be read, or has more than 256 MiB. */
char *tracefs_text(const struct tracefs *t, const char *name, size_t *len);
/* The same for a file anywhere. */
char *tracefs_text_of(const char *path, size_t *len);
/* Returns the format of the event that has this id now, and its name as
 * "SYSTEM/NAME", which is borrowed until the next call; NULL: there is none. */
char *tracefs_format(struct tracefs *t, uint16_t id, const char **name,
		     size_t *len);
#endif

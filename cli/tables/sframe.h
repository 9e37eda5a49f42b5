/* sframe.h - the parts of the command that is about SFrame sections. */
#ifndef CLI_TABLES_SFRAME_H
#define CLI_TABLES_SFRAME_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct err;
struct json;
struct sframe;
struct sframe_file;

/* All of a section as text or JSON on standard output. Gives an enum status:
 * STATUS_DAMAGED when functions cannot be read. */
int sframe_dump(const char *path, const struct sframe_file *f, bool json);
/* Writes the section's header as an object. */
void sframe_head_json(struct json *j, const char *key,
		      const struct sframe_file *f);
/* What the tests of it found. Gives an enum status, STATUS_LOSS when these
 * are errors, or -1 and *err. */
int sframe_check_print(const struct elf_file *ef, const struct sframe_file *f,
		       bool json, struct err *err);
/* How ready the programs of a database or capture are. Gives an enum status,
 * or -1 and *err. */
int sframe_readiness(const char *path, bool json, struct err *err);
/* How far a capture's stack dumps get with SFrame alone; the same. */
int sframe_unwind(const char *path, bool json, struct err *err);
#endif

/* sframe.h - the parts of the command that is about SFrame sections. */
#ifndef CLI_SFRAME_H
#define CLI_SFRAME_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct err;
struct sframe;
struct sframe_file;

/* All of a section as text or JSON on standard output. Gives an enum status:
 * STATUS_DAMAGED when functions cannot be read. */
int sframe_dump(const char *path, const struct sframe_file *f, bool json);
/* The section's header as an object of JSON; to be put(). */
struct json_object *sframe_head_json(const struct sframe_file *f);
#endif

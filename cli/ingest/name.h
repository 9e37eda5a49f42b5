/* name.h - the naming loop: next unnamed image, name, store. */
#ifndef CLI_INGEST_NAME_H
#define CLI_INGEST_NAME_H
#include <stdbool.h>
#include <stdint.h>

#include "cli/command.h"

struct err;
struct store;
struct symbolize_text;
struct symbolizer;

/* --symfs: for commands that look at programs and name nothing. */
extern const struct opt name_place_opts[];
/* --symfs --kallsyms --vmlinux --debug-dir --debuginfod --no-demangle ... */
extern const struct opt name_opts[];

/* As these options say; symbolize_free() it. captured: kallsyms that captures
 * hold; NULL: none. */
struct symbolizer *name_symbolizer(struct store *db,
				   const struct symbolize_text *captured);
/* The file that --kallsyms names; NULL: none. */
const char *name_kallsyms(void);
/* --symfs; NULL: not given. */
const char *name_symfs(void);
/* Did the user say where the recorded programs are? */
bool name_has_places(void);

struct name_counts {
	uint64_t images, named;	 /* images looked at; with a name at least */
	uint64_t offsets, found; /* the same of code offsets */
	uint64_t lines;		 /* of these, with a source line */
	uint64_t fetched;	 /* files from debuginfod servers */
	uint64_t missing;	 /* images that they had no file for */
};

/* Says that the section is another one than when the capture was read. */
void name_tell_changed(const char *file, const char *section);
/* Are the files there that the options name? 0, or -1 and *err. */
int name_check(struct err *err);
/* Names what has no name yet. counts may be NULL. -1 and *err only when the
 * database refuses or Ctrl-C was pressed: a file without names is no error. */
int name_images(struct store *db, const struct symbolize_text *captured,
		struct name_counts *counts, struct err *err);
/* The same, and looks again for lines of what has a name but none. Files that
 * changed since earlier names were read from them are told. */
int name_again(struct store *db, struct name_counts *counts, struct err *err);
#endif

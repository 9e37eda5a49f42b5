/* source_text.h - the lines of source files that debug information names.
 *
 * Whoever built the program chose the paths, and the lines may end in a page
 * that is sent to somebody. So only files with the name of a source file are
 * read, and a line is shown only if its file is the one that was compiled:
 *
 * - its MD5 is the one in the debug information (DWARF 5 by clang, rustc);
 * - or none is recorded, the file was not written after the program, and its
 *   functions are where the debug information says. This proves nothing, as
 *   checkouts and copies set times back, and the command says so;
 * - or the file is newer, but the user named its folder. Then the command
 *   says that.
 *
 * Output that is made to be sent to others needs more: without an MD5, only
 * files in such a folder are shown. Otherwise whoever built the program could
 * name any file of this machine, and be sent its lines.
 *
 * A file with fewer lines than the debug information refers to is another
 * file. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sources;

/* source_file.how if there is no such file. */
#define SOURCE_NOT_FOUND "not found"

/* A function, and the line at which its file declares it. */
struct source_name {
	const char *name;
	uint32_t line;
};

/* What a file is compared with. */
struct source_proof {
	const uint8_t *md5; /* 16 bytes; NULL: not recorded */
	int64_t built;	    /* when the program was written, s; 0: not known */
	uint32_t last;	    /* the largest line that the caller wants */
	/* functions that it declares, as far as known; borrowed for the call */
	const struct source_name *declared;
	size_t n_declared;
};

/* Strings belong to struct sources. */
struct source_file {
	const char *path;  /* as the debug information has it */
	const char *found; /* the file that was read; NULL: none matches */
	const char *how;   /* why it is believed, or why there is none */
	const char **line; /* without their line feeds, tabs as spaces */
	size_t n_line;
};

/* Returns an object for sources_free(). Files are also looked for below the n
 * folders `dir`, by the ends of their paths; dir is borrowed until
 * sources_free(). shared: the lines are for output that is sent to others. */
struct sources *sources_new(const char *const *dir, size_t n, bool shared);
void sources_free(struct sources *s);
/* Returns the file of a path, never NULL; valid until sources_free(). It is
 * read once for each MD5 or, without one, for each p->built; p->last may grow
 * from call to call. */
const struct source_file *sources_get(struct sources *s, const char *path,
				      const struct source_proof *p);
/* Returns the text of a line, counted from 1; NULL: not known. */
const char *source_line(const struct source_file *f, uint32_t line);

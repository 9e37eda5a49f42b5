/* source_text.h - the lines of source files that debug information names.
 *
 * Whoever built the program chose the paths, and the lines may end in a page
 * that is sent to somebody. So only files with the name of a source file are
 * read, and a line is shown only if its file is the one that was compiled:
 *
 * - its MD5 is the one in the debug information (DWARF 5 by clang, rustc);
 * - or there is none to compare with, and it was not written after the program,
 *   nor are its functions elsewhere than where the debug information says. This
 *   proves nothing, as checkouts and copies set times back, and the command
 * says so;
 * - or it was, but the user named its folder. Then the command says that.
 *
 * What is made to be sent to others asks for more: without an MD5, only files
 * in such a folder. A program that names a file of this machine could wait for
 * its lines to come back.
 *
 * A file with fewer lines than the debug information speaks of is another. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sources;

/* source_file.how where there is no such file. */
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
	uint32_t last;	    /* the largest line that is wanted */
	/* what it declares, as far as is known; borrowed during the call */
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

/* Files are looked for below the n folders `dir` too, by the end of their path;
 * borrowed until sources_free(). shared: the lines go to others. */
struct sources *sources_new(const char *const *dir, size_t n, bool shared);
void sources_free(struct sources *s);
/* Finds the file of a path, which is read once for each MD5 or, without one,
 * time of a program; p->last may grow from call to call. Never returns
 * NULL. */
const struct source_file *sources_get(struct sources *s, const char *path,
				      const struct source_proof *p);
/* Returns the text of a line, counted from 1; NULL: not known. */
const char *source_line(const struct source_file *f, uint32_t line);

/* libraries.h - which libraries the loader would map for a program.
 *
 * Their names are read from the files (DT_NEEDED, DT_RPATH, DT_RUNPATH: gABI
 * and ld.so(8)), and looked for where ld.so looks. The loader is not asked with
 * --list: the program names it, so that it may be any file, and that of glibc
 * loads the audit modules (DT_AUDIT) of the program, whose code then runs. */
#pragma once

/* Takes the path of a library, valid until it returns. */
typedef void library_fn(void *arg, const char *path);

/* Calls fn() for each library that the program at path needs and that is found;
 * libraries that the program itself names come first. Libraries that it opens
 * while it runs (dlopen()) are not included. */
void libraries_of(const char *path, library_fn *fn, void *arg);

/* code.h - the code that a program or process runs, looked at before it is
 * recorded: is every file of it built with frame pointers, which runtime is it?
 */
#pragma once
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "symbolize/unwind/frame_share.h"

struct err;

/* A program that runs others' functions, which an ELF file does not name. */
struct code_runtime {
	const char *name;
	const char *files; /* a pattern of its programs and libraries */
	/* what makes it tell perf the names of these functions; NULL: nothing
	 * does */
	const char *env, *value;
	unsigned int dump; /* bytes that its stacks need; 0: no more than
			    * others */
};

struct record_code {
	char path[PATH_MAX]; /* the ELF file, or the interpreter of a script */
	const struct code_runtime *runtime; /* NULL: none */
	unsigned int minor;		    /* CPython 3.minor; 0: it is not */
	bool go;
	size_t files;		  /* of which something could be counted */
	struct frame_share worst; /* the smallest share, and of which file */
	char worst_path[PATH_MAX];
	/* a file that the process runs and that is no longer at its path, and
	 * where it still is; "": none */
	char replaced[PATH_MAX], kept[64];
	size_t n_replaced;
};

/* Looks at the program that execvp() would start. Returns 0; what a shell
 * returns, and *err, if there is none (127) or it may not be started (126).
 * What cannot be read is left out. */
int code_of_program(const char *name, struct record_code *out, struct err *err);
/* The same for what process pid has mapped. Returns -1 if it is not there. */
int code_of_process(long pid, struct record_code *out, struct err *err);
/* Returns whether nearly all functions of each file set a frame pointer. */
bool code_has_frames(const struct record_code *c);

/* code.h - the code that a program or process runs, looked at before it is
 * recorded: is every file of it built with frame pointers, which runtime is it?
 */
#ifndef CLI_RECORD_CODE_H
#define CLI_RECORD_CODE_H
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "symbolize/unwind/frame_share.h"

struct err;

enum code_runtime {
	CODE_NATIVE,
	CODE_GO,
	CODE_PYTHON,
	CODE_NODE,
	CODE_JAVA,
};

struct record_code {
	char path[PATH_MAX]; /* the ELF file, or the interpreter of a script */
	enum code_runtime runtime;
	unsigned int minor;	  /* CPython 3.minor; 0: not known */
	size_t files;		  /* of which something could be counted */
	struct frame_share worst; /* the smallest share, and of which file */
	char worst_path[PATH_MAX];
};

/* Looks at the program that execvp() would start. Returns -1 and *err if there
 * is none; what cannot be read is left out. */
int code_of_program(const char *name, struct record_code *out, struct err *err);
/* The same for what process pid has mapped. */
int code_of_process(long pid, struct record_code *out, struct err *err);
/* Returns whether nearly all functions of each file set a frame pointer. */
bool code_has_frames(const struct record_code *c);
#endif

/* plan.h - the command line of perf whose user stacks will be whole, and why.
 *
 * What perf accepts is asked of perf, by recording 'true' in the same way: perf
 * 6.1 takes --call-graph fp,defer and ignores the end of it, newer ones switch
 * it off without a word where the kernel is older than 6.19, and events fall
 * back to others. What was recorded tells which. What runs already is recorded
 * itself, so that dumps are as large as its stacks: all CPUs for half a second,
 * a process, which may end, for a quarter. */
#pragma once
#include <limits.h>
#include <stdbool.h>

#include "stitch/base/mem.h"
#include "symbolize/unwind/frame_share.h"

struct err;

/* A program that runs others' functions, which an ELF file does not name. */
struct code_runtime {
	const char *name;
	const char *files; /* a pattern of its programs and libraries */
	/* what makes it tell perf the names of these functions; NULL: nothing
	 * does */
	const char *env, *value;
	const char *word;  /* an argument that does so, too; NULL: none does */
	unsigned int dump; /* bytes that its stacks need; 0: no more than
			    * others */
};

/* What is known of the code that a program or process runs, before it is
 * recorded: is every file of it built with frame pointers, which runtime is it?
 */
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

struct plan_wants {
	const char *event;	/* NULL: cycles, or cpu-clock where none are */
	long rate;		/* samples a second */
	const char *graph;	/* "dwarf", "fp", "fp,defer"; NULL: choose */
	unsigned long dump;	/* bytes of a stack dump; 0: choose */
	unsigned int megabytes; /* of buffers for each CPU; 0: choose */
	bool all;		/* all CPUs */
	bool waits;		/* each switch and wake-up too; all is set */
	bool ftrace;		/* these by ftrace, on perf's clock */
	bool runtime;		/* set what the runtime needs */
	bool tries;		/* dumps may be learned from a trial */
	long pid;		/* a process; 0: none */
	double seconds;		/* to record; 0: no end */
	const char *out;
	char **program;
	int n_program; /* words; 0: none */
};

struct plan {
	const struct plan_wants *want;
	struct record_code code;
	const char *event;
	const char *graph;	/* "dwarf", "fp", "fp,defer" */
	unsigned int dump;	/* 0: none */
	unsigned int megabytes; /* 0: perf's default */
	bool waits;		/* perf records switches and wake-ups, too */
	bool no_disks;		/* the kernel has no events of disks */
	bool no_ids;		/* perf or the kernel cannot take build-ids of
				 * mappings */
	bool bpf_waits;		/* perf knows no --no-bpf-event */
	bool defers;		/* deferred stacks can be had */
	/* user stacks of a trial of these, if they were enough to choose */
	int64_t stacks, whole;
	const char *env;   /* of the runtime; NULL: none is needed */
	const char **argv; /* ends with NULL */
	size_t n_argv, cap_argv;
	struct arena words;
	FILE *trial; /* a capture of the moment before; NULL: none */
};

/* Tries, and chooses; want and code are set. Returns 0, or -1 and *err; what
 * perf said has then been printed. */
int plan_make(struct plan *p, struct err *err);
/* Sets argv to what runs while calls are recorded, without perf. */
void plan_make_calls(struct plan *p);
void plan_release(struct plan *p);
/* Say the command line, for a shell; why it is this one, and what it costs. */
char *plan_text(const struct plan *p); /* to be freed */
void plan_say_why(const struct plan *p);
/* Returns whether the runtime, which has p->env, was or is started so that it
 * tells perf its names: by its environment, by an argument ("-X perf" is looked
 * for as "-Xperf"), or it has made a map already. */
bool plan_has_names(const struct plan *p);
/* Returns whether the process that was to be recorded has ended: what there is
 * of it is in p->trial. */
bool plan_is_over(const struct plan *p);

/* Looks at the program that execvp() would start. Returns 0; what a shell
 * returns, and *err, if there is none (127) or it may not be started (126).
 * What cannot be read is left out. */
int code_of_program(const char *name, struct record_code *out, struct err *err);
/* The same for what process pid has mapped. Returns -1 if it is not there. */
int code_of_process(long pid, struct record_code *out, struct err *err);

/* ---- what a capture teaches the next recording: were its
 * buffers and stack dumps large enough? */

#define LAST_RECORDING_PROVES 256

struct last_recording {
	/* bytes and MB that are enough, as far as is known; 0: perf's own */
	unsigned int dump, megabytes;
	bool cut, lost;	       /* more than those of the capture */
	int64_t stacks, whole; /* of user mode */
	/* what 'path' will prove of recordings here, if it reads switches */
	char proves[LAST_RECORDING_PROVES];
	const char *ftrace; /* what '--tracer ftrace' does better; NULL */
};

/* Reads a capture, or its database. Messages call it `name`; NULL: it is a
 * trial, of which nothing is said but .proves is wanted. all: it is a trial of
 * all CPUs; the stacks of this process, its children and its parents do not
 * count, as the recording itself will have few of them. Returns 0, or -1 and
 * *err. */
int last_recording_read(const char *file, const char *name, bool all,
			struct last_recording *out, struct err *err);

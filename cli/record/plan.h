/* plan.h - the command line of perf whose user stacks will be whole, and why.
 *
 * A trial, which records 'true' with the same options, shows what perf accepts:
 * perf 6.1 ignores ",defer" in --call-graph fp,defer, newer ones switch it off
 * silently if the kernel is older than 6.19, and events fall back to others.
 * Where dumps must fit the stacks of what runs already, the trial records all
 * CPUs for half a second, or the process, which may end, for a quarter. */
#pragma once
#include <limits.h>
#include <stdbool.h>

#include "stitch/base/mem.h"
#include "symbolize/unwind/frame_share.h"

struct err;

/* An interpreter or JIT, whose functions are not named in an ELF file. */
struct code_runtime {
	const char *name;
	const char *files; /* fnmatch() pattern of its programs and libraries */
	/* a variable, and its value, with which it writes the names of these
	 * functions for perf; NULL: there is none */
	const char *env, *value;
	const char *word;  /* an argument with that effect; NULL: none */
	unsigned int dump; /* bytes of dump for its stacks; 0: DUMP_USUAL */
};

/* What is known, before it is recorded, of the code that a program or process
 * runs: whether all its files have frame pointers, and its runtime. */
struct record_code {
	char path[PATH_MAX]; /* the ELF file, or the interpreter of a script */
	const struct code_runtime *runtime; /* NULL: none */
	unsigned int minor; /* of CPython 3.minor; 0: unknown, or not CPython */
	bool go;	    /* a file has the tables of Go */
	size_t files;	    /* in which functions could be counted */
	struct frame_share worst;  /* of the file with the smallest share */
	char worst_path[PATH_MAX]; /* and its path */
	/* a file that the process runs and that is no longer at its path, and
	 * its name in /proc/PID/map_files; "": none */
	char replaced[PATH_MAX], kept[64];
	size_t n_replaced; /* mappings of such files */
};

struct plan_wants {
	const char *event;	/* NULL: cycles, or cpu-clock where none are */
	long rate;		/* samples a second */
	const char *graph;	/* "dwarf", "fp", "fp,defer"; NULL: choose */
	unsigned long dump;	/* bytes of a stack dump; 0: choose */
	unsigned int megabytes; /* of buffers for each CPU at least */
	bool all;		/* all CPUs */
	bool waits;		/* each switch and wake-up too; all is set */
	bool ftrace;		/* ftrace records them, on perf's clock */
	bool runtime;		/* set the variable of the runtime */
	bool tries;		/* a trial may record what runs here */
	long pid;		/* a process; 0: none */
	double seconds;		/* to record; 0: no limit */
	const char *out;	/* path of the capture */
	char **program;
	int n_program; /* words of program; 0: none */
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
	bool no_ids;		/* --buildid-mmap is not supported */
	bool bpf_waits;		/* perf knows no --no-bpf-event */
	bool defers;		/* deferred stacks can be had */
	/* deferred user stacks of a trial; 0: too few to choose by */
	int64_t stacks, whole;
	const char *env;   /* variable for the runtime; NULL: none is needed */
	const char **argv; /* ends with NULL */
	size_t n_argv, cap_argv;
	struct arena words;
	FILE *trial; /* capture of the last trial; NULL: none */
};

/* Makes trials and sets the rest of *p; the caller has set want and code.
 * Returns 0, or -1 and *err, after perf's output was printed. */
int plan_make(struct plan *p, struct err *err);
/* Sets argv to the command that runs while rings.h records calls, not perf. */
void plan_make_calls(struct plan *p);
void plan_release(struct plan *p);
/* Returns the command line, quoted for a shell; the caller frees it. */
char *plan_text(const struct plan *p);
/* Prints why the command line is this one, and what it costs. */
void plan_say_why(const struct plan *p);
/* Returns whether the runtime, if p->env is set, writes names for perf: by its
 * environment, by an argument ("-X perf" is found as "-Xperf"), or because its
 * map is there already. */
bool plan_has_names(const struct plan *p);
/* Returns whether the process to be recorded has ended, so that p->trial is the
 * only capture of it. */
bool plan_is_over(const struct plan *p);

/* Sets *out for the program that execvp() would start. Returns 0, or a shell's
 * exit status and *err: 127 if there is no such program, 126 if it may not be
 * started. Files that cannot be read are left out. */
int code_of_program(const char *name, struct record_code *out, struct err *err);
/* Sets *out for the files that process pid has mapped. Returns 0, or -1 and
 * *err if there is no such process. */
int code_of_process(long pid, struct record_code *out, struct err *err);

/* ---- were the buffers and stack dumps of a capture large enough? */

#define LAST_RECORDING_PROVES 256

struct last_recording {
	/* bytes of a dump, and MB of buffers, to use next; 0: perf's default */
	unsigned int dump, megabytes;
	bool cut, lost; /* dumps, buffers of the capture were too small */
	int64_t stacks, whole; /* of user mode */
	/* what 'path' will prove of recordings here; "": not known */
	char proves[LAST_RECORDING_PROVES];
	const char *ftrace; /* why '--tracer ftrace' is better; NULL: not */
};

/* Reads a capture, or its database, which messages call `name`. NULL is for a
 * trial: it prints nothing and sets out->proves. all: it is a trial of all
 * CPUs; the stacks of this process, its children and its parents do not count,
 * as the recording itself will have few of them. Returns 0, or -1 and *err. */
int last_recording_read(const char *file, const char *name, bool all,
			struct last_recording *out, struct err *err);

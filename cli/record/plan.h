/* plan.h - the command line of perf whose user stacks will be whole, and why.
 *
 * What perf accepts is asked of perf, by recording 'true' in the same way: perf
 * 6.1 takes --call-graph fp,defer and ignores the end of it, newer ones switch
 * it off without a word where the kernel is older than 6.19, and events fall
 * back to others. What was recorded tells which. */
#ifndef CLI_RECORD_PLAN_H
#define CLI_RECORD_PLAN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct err;
struct record_code;

/* perf's largest dump: a multiple of 8, whose size is in 16 bits. */
#define PLAN_DUMP_MAX 65528u
#define PLAN_DUMP 16384u
#define PLAN_EVENT_MAX 128

struct plan_opts {
	const char *event;	/* NULL: cycles, or cpu-clock where none are */
	long rate;		/* samples a second */
	unsigned int dump;	/* bytes of a stack dump; 0: choose */
	unsigned int megabytes; /* of buffers for each CPU; 0: choose */
	bool all;		/* all CPUs */
	bool waits;		/* each switch and wake-up too; all is set */
	bool ftrace;		/* these alone, by trace-cmd */
	long pid;		/* a process; 0: none */
	double seconds;		/* to record a process or all CPUs; 0: no end */
	const char *out;
	char **program;
	int n_program; /* words; 0: none */
	/* Returns how large dumps must be so that the stacks of a capture fit;
	 * asked of half a second of what runs already. NULL: no such trial. */
	unsigned int (*learn)(const char *file, unsigned int dump);
};

struct plan {
	const char *event;
	const char *graph;	 /* "dwarf", "fp", "fp,defer" */
	unsigned int dump;	 /* 0: none */
	unsigned int megabytes;	 /* 0: perf's default */
	bool mono;		 /* -k CLOCK_MONOTONIC */
	const char *env, *value; /* of the runtime; NULL: none is needed */
	char pid[24], rate[24], call_graph[24], buffers[24], seconds[24];
	char sampled[PLAN_EVENT_MAX];
	const char **argv; /* ends with NULL */
	size_t n_argv, cap_argv;
};

/* Tries, and fills *out, which plan_release() frees. Returns 0, or -1 and *err;
 * what perf said has then been printed. */
int plan_make(const struct plan_opts *o, const struct record_code *code,
	      struct plan *out, struct err *err);
void plan_release(struct plan *p);
/* Prints the command line, for a shell. */
void plan_put(FILE *out, const struct plan *p, bool env);
/* Writes why it is this one. */
void plan_why(const struct plan *p, const struct plan_opts *o,
	      const struct record_code *code, char *out, size_t size);
#endif

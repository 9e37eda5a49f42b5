/* pprof.h - writes the messages of pprof's profile.proto, gzipped.
 *
 * Strings, functions and locations are interned: equal ones are written once.
 * Types come first, then samples in any order; mappings may come any time.
 * For a sample: pprof_values(), its labels, then pprof_sample(). Strings are
 * copied, and cleaned if they are not UTF-8. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct err;
struct pprof;

struct pprof_line {
	const char *name;     /* of the function */
	const char *raw_name; /* as in the file; NULL: the same */
	const char *file;     /* of the source; NULL: not known */
	uint32_t line;
};

struct pprof_location {
	uint32_t mapping; /* 0: none */
	uint64_t addr;
	const struct pprof_line *line; /* the innermost first */
	size_t n_line;
};

struct pprof_mapping {
	uint64_t start, limit, off;
	const char *file;
	const uint8_t *build_id;
	size_t build_id_len;
	bool has_functions, has_files, has_lines, has_inlined;
	uint64_t samples; /* for the caller */
};

struct pprof *pprof_new(FILE *out);
void pprof_free(struct pprof *p);

/* Adds a sample type; pprof shows the last one by default. */
void pprof_type(struct pprof *p, const char *type, const char *unit);
/* Returns the values of the next sample, one for each type, all 0. */
uint64_t *pprof_values(struct pprof *p);
size_t pprof_n_values(const struct pprof *p);
void pprof_label(struct pprof *p, const char *key, const char *value);
void pprof_label_num(struct pprof *p, const char *key, int64_t value);
/* Returns the id of an equal location, or of a new one. */
uint64_t pprof_location(struct pprof *p, const struct pprof_location *at);
/* Writes a sample. location: ids, innermost first. Returns 0, or -1 and *err.
 */
int pprof_sample(struct pprof *p, const uint64_t *location, size_t n,
		 struct err *err);
void pprof_mapping(struct pprof *p, uint32_t id, const struct pprof_mapping *m);
void pprof_comment(struct pprof *p, const char *text);
void pprof_duration(struct pprof *p, int64_t ns);
/* Sets the sampling period, in units of the last type. */
void pprof_period(struct pprof *p, int64_t period);
/* Writes the rest. Returns 0, or -1 and *err. */
int pprof_finish(struct pprof *p, struct err *err);

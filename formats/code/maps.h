/* maps.h - reads saved copies of /proc/PID/maps: the mappings of processes, for
 * captures that do not record them.
 *
 * A copy may have the time at which it was made, in seconds on the capture's
 * clock: it holds from that time on, otherwise from the start. In a folder the
 * file names have process and time: PID.maps, PID@SECONDS.maps, optionally
 * after a word and a dot. Lines that cannot be read are damage in the
 * ledger. */
#pragma once
#include <stdbool.h>

#include "stitch/base/mem.h"

struct err;
struct ledger;
struct maps;
struct snapshot;

struct maps *maps_new(void);
void maps_free(struct maps *m);
/* Reads all copies in a folder. Returns their number, or -1 and *err. */
int maps_folder(struct maps *m, const char *path, struct ledger *lg,
		uint16_t capture, struct err *err);
/* Returns true if the folder has such files. */
bool maps_in_folder(const char *path);
/* Returns the lists and sets *n to their number; valid until maps_free(). */
const struct snapshot *maps_list(struct maps *m, size_t *n);
/* Reads "PID=FILE", "PID=FILE@SECONDS", or a folder. Returns 0, or -1 and
 * *err. */
int maps_option(struct maps *m, const char *word, struct ledger *lg,
		uint16_t capture, struct err *err);
/* Reads a copy from memory, for tests. Returns the number of mappings. */
size_t maps_text(struct maps *m, const char *text, size_t len, const char *path,
		 int32_t pid, int64_t time, struct ledger *lg,
		 uint16_t capture);

/* ---- finds the code of a kernel in a copy of its /proc/kallsyms, for captures
 * that record addresses but no mappings. */

/* A module, the kernel itself, or (is_symbol) a separate piece of code. */
struct kernel_code {
	bool is_symbol;
	uint16_t type; /* of a symbol: as in struct rec_ksymbol */
	uint64_t start, len, pgoff;
	const char *name; /* in the form of paths of REC_MAP; belongs to the
			     arena */
};

struct kernel_map {
	struct kernel_code *at; /* the last one is the kernel itself */
	size_t n, cap;
	struct arena names;
	uint64_t text, etext; /* addresses of the kernel's text; 0: the copy
				 lacks them */
};

/* Reads text[len], which need not end with a NUL. A copy with hidden addresses
 * makes no code. kernel_map_release() frees *out. */
void kernel_map_read(struct kernel_map *out, const char *text, size_t len);
void kernel_map_release(struct kernel_map *km);

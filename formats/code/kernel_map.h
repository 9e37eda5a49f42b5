/* kernel_map.h - derives where the code of a kernel is from a copy of its
 * /proc/kallsyms, for captures that record addresses but no mappings. */
#pragma once
#include <stdbool.h>

#include "stitch/base/mem.h"

/* A module, the kernel itself, or (is_symbol) separate code. */
struct kernel_code {
	bool is_symbol;
	uint16_t type; /* of a symbol: as in struct rec_ksymbol */
	uint64_t start, len, pgoff;
	const char *name; /* like paths of REC_MAP; belongs to the arena */
};

struct kernel_map {
	struct kernel_code *at; /* the kernel itself is the last */
	size_t n, cap;
	struct arena names;
	uint64_t text, etext; /* 0: not in the copy */
};

/* Reads text[len]; it needs no final 0. A copy with hidden addresses gives no
 * code. */
void kernel_map_read(struct kernel_map *out, const char *text, size_t len);
void kernel_map_release(struct kernel_map *km);

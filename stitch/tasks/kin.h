/* kin.h - processes that may share an address space.
 *
 * A child of clone(CLONE_VM), as vfork() and posix_spawn() make it, runs in its
 * parent's address space until it calls exec, but the FORK record does not tell
 * it from a child with a copy (Linux 7.2). So parent and child are kin until
 * one of them calls exec, and what one of them maps after the FORK may be
 * mapped for all. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* [start, end) */
struct kin_range {
	uint64_t start, end;
};

/* Processes that are kin, and what they mapped since. */
struct kin {
	uint32_t members;     /* 0: unused */
	struct kin_range *at; /* sorted; two are never adjacent */
	size_t n, cap;
};

/* All zeros: empty. */
struct kins {
	struct kin *kin;
	size_t n, cap;
	uint32_t *free;
	size_t n_free, cap_free;
};

void kins_release(struct kins *ks);
/* Adds a member. kin 0: the first one. Returns the number of its kin. */
uint32_t kins_join(struct kins *ks, uint32_t kin);
/* Removes a member; kin 0: nothing. */
void kins_leave(struct kins *ks, uint32_t kin);
/* A member maps [start, end); kin 0: nothing. */
void kins_map(struct kins *ks, uint32_t kin, uint64_t start, uint64_t end);
/* Returns whether a member mapped the address. */
bool kins_maps(const struct kins *ks, uint32_t kin, uint64_t addr);

/* shared_space.h - processes that may share an address space.
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
struct space_range {
	uint64_t start, end;
};

/* Processes that are kin, and what they mapped since. */
struct shared_space {
	uint32_t members;	/* 0: unused */
	struct space_range *at; /* sorted; two are never adjacent */
	size_t n, cap;
};

/* All zeros: empty. */
struct shared_spaces {
	struct shared_space *kin;
	size_t n, cap;
	uint32_t *free;
	size_t n_free, cap_free;
};

void shared_spaces_release(struct shared_spaces *ks);
/* Adds a member. kin 0: the first one. Returns the number of its kin. */
uint32_t shared_spaces_join(struct shared_spaces *ks, uint32_t kin);
/* Removes a member; kin 0: nothing. */
void shared_spaces_leave(struct shared_spaces *ks, uint32_t kin);
/* A member maps [start, end); kin 0: nothing. */
void shared_spaces_map(struct shared_spaces *ks, uint32_t kin, uint64_t start,
		       uint64_t end);
/* Returns whether a member mapped the address. */
bool shared_spaces_maps(const struct shared_spaces *ks, uint32_t kin,
			uint64_t addr);

/* told_tasks.c - what a reader has told of tasks so far: names, forks, execs.
 */
#include "formats/reader/told_tasks.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/base/mem.h"
#include "stitch/base/table.h"

/* Linux pid_max is 4194304 at most. */
#define TID_MAX (1 << 22)
/* No task starts two programs in so short a time. */
#define SAME_EXEC_NS 1000000u
/* The low bit of a hash: an event said it. */
#define SURE ((uint64_t)1)

void known_release(struct known *k)
{
	free(k->name);
	memset(k, 0, sizeof(*k));
}

bool known_rename(struct known *k, int64_t tid, const char *name, size_t n,
		  bool sure)
{
	if (tid <= 0 || tid >= TID_MAX || !n)
		return false;
	k->name = mem_reach(k->name, &k->n, &k->cap, (size_t)tid + 1,
			    sizeof(*k->name));
	uint64_t h = hash_bytes(name, n, 0);
	uint64_t was = k->name[tid];

	h = (h & ~SURE) | (sure ? SURE : 0);
	if ((was | SURE) == (h | SURE)) {
		k->name[tid] |= h;
		return false;
	}
	if (!sure && was & SURE)
		return false;
	k->name[tid] = h ? h : 2;
	return true;
}

bool known_named(const struct known *k, int64_t tid)
{
	return tid <= 0 || ((uint64_t)tid < k->n && k->name[tid]);
}

void known_unname(struct known *k, int64_t tid)
{
	if (tid >= 0 && (uint64_t)tid < k->n)
		k->name[tid] = 0;
}

bool known_told(struct known *k, int32_t tid, bool exec, uint32_t buffer,
		uint64_t time)
{
	struct known_told *t = NULL;

	for (size_t i = 0; i < KNOWN_TOLD && !t; i++)
		if (k->told[i].tid == tid && k->told[i].exec == exec)
			t = &k->told[i];
	if (t && !exec)
		return true;
	if (t && t->buffer != buffer && time - t->time < SAME_EXEC_NS)
		return true;
	if (!t)
		t = &k->told[k->n_told++ % KNOWN_TOLD];
	*t = (struct known_told){ tid, buffer, time, exec };
	return false;
}

void known_forget(struct known *k, int64_t tid)
{
	for (size_t i = 0; i < KNOWN_TOLD; i++)
		if (k->told[i].tid == tid)
			k->told[i].tid = 0;
}

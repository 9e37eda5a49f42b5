/* cpu_current.c - who is on each CPU by the last switch, and the name that it
 * told.
 */
#include "stitch/cpu_current.h"

#include "stitch/base/mem.h"

#define CPU_MOST 65536 /* switches of further ones name no thread */

void cpu_current_release(struct cpu_current *s)
{
	free(s->at);
}

void cpu_current_take(struct cpu_current *s, int32_t cpu, int32_t tid,
		      const char *name)
{
	if (cpu < 0 || cpu >= CPU_MOST)
		return;
	mem_at(s->at, s->n, s->cap, cpu)->tid = tid;
	s->at[cpu].unsure = false;

	/* snprintf() took 2 % of the main thread's instructions */
	size_t n = strnlen(name, THREAD_NAME - 1);

	memcpy(s->at[cpu].name, name, n);
	s->at[cpu].name[n] = '\0';
}

void cpu_current_lose(struct cpu_current *s, int32_t cpu)
{
	for (size_t i = 0; i < s->n; i++)
		s->at[i].unsure |= cpu < 0 || (size_t)cpu == i;
}

int32_t cpu_current_tid(const struct cpu_current *s, int32_t cpu)
{
	return cpu < 0 || (size_t)cpu >= s->n || s->at[cpu].unsure
		       ? 0
		       : s->at[cpu].tid;
}

const char *cpu_current_name(const struct cpu_current *s, int32_t cpu,
			     int32_t tid)
{
	if (tid <= 0 || cpu < 0 || (size_t)cpu >= s->n ||
	    s->at[cpu].tid != tid || !*s->at[cpu].name)
		return NULL;
	return s->at[cpu].name;
}

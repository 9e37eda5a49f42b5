/* thread_names.c - which names several threads have. */
#include "analyze/names/thread_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_MAX 256

void thread_names_release(struct thread_names *t)
{
	intern_release(&t->names);
	intern_release(&t->told);
	free(t->tid);
	*t = (struct thread_names){ 0 };
}

void thread_names_add(struct thread_names *t, const char *name, int64_t tid)
{
	uint32_t id = intern_add(&t->names, name);

	if (id == t->n)
		*mem_add(t->tid, t->n, t->cap) = tid;
	else if (t->tid[id] != tid)
		t->tid[id] = -1;
}

const char *thread_names_tell(struct thread_names *t, const char *name,
			      int64_t tid)
{
	uint32_t id = intern_add(&t->names, name);
	char text[TEXT_MAX];

	if (id == t->n)
		*mem_add(t->tid, t->n, t->cap) = tid;
	if (!*name || tid <= 0 || t->tid[id] >= 0)
		return intern_get(&t->names, id);
	snprintf(text, sizeof(text), "%s (%" PRId64 ")", name, tid);
	return intern_get(&t->told, intern_add(&t->told, text));
}

char *thread_names_role(const char *comm)
{
	char *role = mem_new(strlen(comm) * 3 + 1, 1);
	char *to = role;

	for (const char *p = comm; *p;) {
		size_t n = strspn(p, "0123456789");

		if (n)
			to = stpcpy(to, "<N>");
		else
			*to++ = *p++;
		p += n;
	}
	return role;
}

/* user_stack_reader.c - a user stack that is being read. */
#include "formats/reader/user_stack_reader.h"

#include <stdlib.h>
#include <string.h>

void unwound_release(struct unwound *u)
{
	free(u->ip);
	free(u->place);
	free(u->at);
	arena_release(&u->text);
}

void unwound_start(struct unwound *u)
{
	u->n = 0;
	u->has_places = false;
	if (u->text.used)
		arena_release(&u->text);
}

void unwound_add(struct unwound *u, uint64_t ip, const struct place *place)
{
	const struct place none = { .off = 0 };

	u->ip = mem_grow(u->ip, &u->cap_ip, u->n + 1, sizeof(*u->ip));
	u->place =
		mem_grow(u->place, &u->cap_place, u->n + 1, sizeof(*u->place));
	u->ip[u->n] = ip;
	u->place[u->n++] = place ? *place : none;
	u->has_places |= place != NULL;
}

const char *unwound_text(struct unwound *u, struct scan s)
{
	char *copy = arena_take(&u->text, s.n + 1);

	memcpy(copy, s.p, s.n);
	copy[s.n] = '\0';
	return copy;
}

struct addrs unwound_addrs(struct unwound *u)
{
	struct addrs a = { u->ip, (uint32_t)u->n, NULL };

	if (!u->has_places)
		return a;
	u->at = mem_grow(u->at, &u->cap_at, u->n, sizeof(*u->at));
	for (size_t i = 0; i < u->n; i++) {
		const struct place *p = &u->place[i];

		u->at[i] = p->path || p->symbol || p->in_file ? p : NULL;
	}
	a.place = u->at;
	return a;
}

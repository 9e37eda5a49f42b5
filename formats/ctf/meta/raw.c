/* raw.c - metadata as it is written: keeps names, limits memory, makes
 * messages. */
#include "formats/ctf/meta/raw.h"

#include <inttypes.h>

void raw_release(struct raw *r)
{
	arena_release(&r->scratch);
	intern_release(&r->names);
	free_all(r->kept, r->seen, r->clock, r->stream, r->event, r->env,
		 r->span);
}

int raw_vfail(struct raw *r, uint32_t at, const char *fmt, va_list ap)
{
	char msg[320];
	uint32_t line = 1;

	vsnprintf(msg, sizeof(msg), fmt, ap);
	if (!r->text)
		return err_at(r->err, r->path, at, "%s", msg);
	const char *p = r->text;
	const char *end = p + (at < r->n_text ? at : r->n_text);

	for (const char *nl; (nl = memchr(p, '\n', (size_t)(end - p)));) {
		p = nl + 1;
		line++;
	}
	/* lines and columns count from 1 */
	size_t i = r->n_span;

	while (i && r->span[i - 1].text > at)
		i--;
	uint64_t off =
		i ? (uint64_t)r->span[i - 1].file + at - r->span[i - 1].text
		  : at;

	return err_at(r->err, r->path, off,
		      "line %" PRIu32 ", column %" PRIu32 ": %s", line,
		      (uint32_t)(end - p) + 1, msg);
}

int raw_fail(struct raw *r, uint32_t at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	raw_vfail(r, at, fmt, ap);
	va_end(ap);
	return -1;
}

/* The memory of one name besides its text: pointers and slots of the table. */
#define RAW_NAME_SIZE 100

int raw_room(struct raw *r, uint32_t at)
{
	size_t used = r->scratch.used + r->out->used + r->names.text.used +
		      r->names.n * RAW_NAME_SIZE +
		      r->cap_event * sizeof(*r->event);

	if (used <= r->room)
		return 0;
	return raw_fail(r, at, "metadata takes more than %zu bytes of memory",
			r->room);
}

const char *raw_keep(struct raw *r, uint32_t name)
{
	if (name == RAW_NONE)
		return NULL;
	mem_reach(r->kept, r->n_kept, r->cap_kept, name + 1);
	if (!r->kept[name])
		r->kept[name] =
			arena_strdup(r->out, intern_get(&r->names, name));
	return r->kept[name];
}

void *raw_take(struct raw *r, size_t n)
{
	return memset(arena_take(&r->scratch, n), 0, n);
}

void *raw_copy(struct arena *a, const void *p, size_t n, size_t size)
{
	return n ? memcpy(arena_take(a, n * size), p, n * size) : NULL;
}

struct raw_class *raw_class(struct raw *r, enum ctf_kind kind, uint32_t at)
{
	struct raw_class *c = raw_take(r, sizeof(*c));

	c->node.kind = (uint8_t)kind;
	c->node.base = 10;
	c->node.align = 1;
	c->node.clock = -1;
	c->clock = RAW_NONE;
	c->at = at;
	return c;
}

static int raw_too_many(struct raw *r, uint32_t at, unsigned most,
			const char *what)
{
	return raw_fail(r, at, "more than %u %s", most, what);
}

int32_t raw_clock_find(const struct raw *r, uint32_t name)
{
	for (size_t i = 0; i < r->n_clock && name != RAW_NONE; i++)
		if (r->clock[i].name == name)
			return (int32_t)i;
	return -1;
}

int raw_add_clock(struct raw *r, uint32_t at, const struct raw_clock *c)
{
	if (r->n_clock >= RAW_CLOCKS_MAX)
		return raw_too_many(r, at, RAW_CLOCKS_MAX, "clocks");
	*mem_add(r->clock, r->n_clock, r->cap_clock) = *c;
	return 0;
}

int raw_add_stream(struct raw *r, const struct raw_stream *s)
{
	if (r->n_stream >= RAW_STREAMS_MAX)
		return raw_too_many(r, s->at, RAW_STREAMS_MAX,
				    "stream classes");
	*mem_add(r->stream, r->n_stream, r->cap_stream) = *s;
	return 0;
}

int raw_add_event(struct raw *r, const struct raw_event *e)
{
	if (r->n_event >= CTF_CLASSES_MAX)
		return raw_too_many(r, e->at, CTF_CLASSES_MAX, "event classes");
	*mem_add(r->event, r->n_event, r->cap_event) = *e;
	return 0;
}

/* Returns, by name, the round that saw it last. */
static uint32_t *raw_seen(struct raw *r)
{
	mem_reach(r->seen, r->n_seen, r->cap_seen, r->names.n);
	return r->seen;
}

int raw_unique(struct raw *r, const struct raw_part *part, size_t n)
{
	uint32_t *seen = raw_seen(r);

	r->round++;
	for (size_t i = 0; i < n; i++) {
		if (part[i].name == RAW_NONE)
			continue;
		if (seen[part[i].name] == r->round)
			return raw_fail(
				r, part[i].at,
				"a second member '%s', needs another name",
				intern_get(&r->names, part[i].name));
		seen[part[i].name] = r->round;
	}
	return 0;
}

/* A counting sort by name: it numbers the names, counts the ranges of each,
 * divides one array among the labels, and fills the parts.
 *
 * The number of a name is in r->seen, which raw_unique() uses too. No value in
 * r->seen exceeds r->round, so a value above `before` was stored by this call:
 * a name gets the next number at its first range. The last number is left in
 * r->round, so that later rounds see all of these numbers as old. */
const struct ctf_label *raw_labels(struct raw *r, const struct raw_range *in,
				   size_t n, uint32_t *n_label)
{
	const uint32_t before = r->round;
	uint32_t *number = raw_seen(r);

	for (size_t i = 0; i < n; i++)
		if (number[in[i].name] <= before)
			number[in[i].name] = ++r->round;
	*n_label = r->round - before;

	struct ctf_label *label = arena_take(r->out, *n_label * sizeof(*label));
	struct ctf_range *range = arena_take(r->out, n * sizeof(*range));
	/* by label: where its next range goes in range[] */
	uint32_t *next OWNED = mem_new(*n_label, sizeof(*next));
	uint32_t first = 0;

	memset(label, 0, *n_label * sizeof(*label));
	for (size_t i = 0; i < n; i++)
		label[number[in[i].name] - before - 1].n_range += !in[i].empty;
	for (uint32_t k = 0; k < *n_label; k++) {
		label[k].range = &range[first];
		next[k] = first;
		first += label[k].n_range;
	}
	for (size_t i = 0; i < n; i++) {
		const uint32_t k = number[in[i].name] - before - 1;

		label[k].name = raw_keep(r, in[i].name);
		if (!in[i].empty)
			range[next[k]++] = in[i].range;
	}
	return label;
}

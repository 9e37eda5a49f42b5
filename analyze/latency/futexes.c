/* futexes.c - where the events that begin system calls have the address of a
 * futex. */
#include "analyze/latency/futexes.h"

#include "analyze/latency/calls.h"
#include "analyze/latency/pair_kinds.h"
#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"

/* struct trace_event_raw_sys_enter, include/trace/events/syscalls.h */
#define CALL_ARGS 6

static const char *const futex_calls[] = { "futex", "futex_time64",
					   "futex_wait", "futex_wake" };
#define FUTEX_CALLS (ARRAY_SIZE(futex_calls))

bool futexes_is(const char *call)
{
	return any_where(FUTEX_CALLS, i, !strcmp(call, futex_calls[i]));
}

static size_t futexes_field(const struct field_def *def, size_t n,
			    const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(def[i].name, name))
			return i + 1;
	return 0;
}

bool futexes_find(const char *event, const struct field_def *def, size_t n,
		  struct futex_at *out)
{
	for (size_t i = 0; i < pair_kinds_n; i++) {
		const struct pair_kind *k = &pair_kinds[i];
		const char *rest;
		char call[CALLS_NAME];
		size_t len;

		if (!k->calls || !pair_name_is(k->begin, event, &rest, &len))
			continue;
		snprintf(call, sizeof(call), "%.*s", (int)len, rest);
		*out = (struct futex_at){
			futexes_field(def, n, k->tag ? "args" : "uaddr"),
			k->tag ? futexes_field(def, n, k->tag) : 0,
		};
		return k->tag ? out->addr && out->number &&
					def[out->addr - 1].is_blob
			      : out->addr && !def[out->addr - 1].is_text &&
					futexes_is(call);
	}
	return false;
}

/* Adds the numbers of a machine that are not there yet. */
static void futexes_add(struct futex_numbers *out, const char *machine)
{
	for (size_t i = 0; i < FUTEX_CALLS; i++) {
		int64_t number;
		bool is = calls_number(machine, futex_calls[i], &number);

		for (size_t k = 0; is && k < out->n; k++)
			is = out->number[k] != number;
		if (is && out->n < FUTEX_NUMBERS)
			out->number[out->n++] = number;
	}
}

void futexes_numbers(const char *machine, struct futex_numbers *out)
{
	out->n = 0;
	futexes_add(out, machine);
	if (!strcmp(machine, "x86_64"))
		futexes_add(out, "i386");
}

bool futexes_addr(const struct futex_at *at, const char *machine,
		  const struct field *f, uint64_t *addr)
{
	const struct field *a = &f[at->addr - 1];
	struct bytes b;
	uint32_t word;

	*addr = (uint64_t)a->num;
	if (!at->number)
		return a->present;
	if (!a->present || !a->blob)
		return false;
	bytes_init(&b, a->blob, a->len, "args", 0,
		   bytes_must_swap(!strcmp(machine, "s390x")));
	if (a->len == CALL_ARGS * sizeof(uint64_t))
		return !bytes_u64(&b, addr, NULL);
	if (a->len != CALL_ARGS * sizeof(uint32_t) ||
	    bytes_u32(&b, &word, NULL))
		return false;
	*addr = word;
	return true;
}

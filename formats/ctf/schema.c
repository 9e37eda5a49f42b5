/* schema.c - the metadata of traces, and the programs made from it.
 *
 * A session that is rotated a thousand times has a thousand metadata files,
 * most of which are equal: they are parsed once. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/ctf.h"
#include "formats/ctf/plan.h"
#include "stitch/base/err.h"
#include "stitch/base/wide.h"

#define NS 1000000000u

bool ctf_uuid_parse(const char *s, uint8_t out[CTF_UUID])
{
	size_t n = 0;

	for (; s && *s && n < 2 * CTF_UUID; s++) {
		unsigned int v;

		if (*s == '-')
			continue;
		if (!isxdigit((unsigned char)*s))
			return false;
		v = isdigit((unsigned char)*s)
			    ? (unsigned int)(*s - '0')
			    : (unsigned int)(tolower((unsigned char)*s) - 'a') +
				      10;
		out[n / 2] = (uint8_t)(n % 2 ? out[n / 2] | v : v << 4);
		n++;
	}
	return n == 2 * CTF_UUID;
}

const struct ctf_clock *ctf_schema_clock(const struct ctf_schema *sm,
					 const struct ctf_stream_class *sc)
{
	return sc->clock < 0 ? NULL : &sm->tree.clock[sc->clock];
}

uint64_t ctf_clock_ns(const struct ctf_clock *clock, uint64_t value)
{
	uint64_t ns;

	if (clock->freq == NS)
		ns = value;
	else if (clock->freq > UINT64_MAX / NS ||
		 __builtin_mul_overflow(value / clock->freq, NS, &ns) ||
		 __builtin_add_overflow(
			 ns, value % clock->freq * NS / clock->freq, &ns))
		ns = INT64_MAX;
	return ns > INT64_MAX ? INT64_MAX : ns;
}

const struct ctf_clock *ctf_schema_first_clock(const struct ctf_schema *sm)
{
	const struct ctf_tree *t = &sm->tree;

	for (uint32_t i = 0; i < t->n_stream; i++)
		if (t->stream[i].clock >= 0)
			return &t->clock[t->stream[i].clock];
	return NULL;
}

static bool ctf_clock_own_zero(const struct ctf_clock *clock, int64_t *out)
{
	bool minus = clock->offset < 0;
	uint64_t cycles =
		minus ? -(uint64_t)clock->offset : (uint64_t)clock->offset;
	uint64_t seconds = cycles / clock->freq;
	struct wide part = wide_mul(cycles % clock->freq, NS);
	int64_t s;

	/* rounds towards minus infinity */
	int64_t ns = (int64_t)wide_div(
		minus ? wide_add(part, clock->freq - 1) : part, clock->freq);
	if (minus ? __builtin_sub_overflow(clock->offset_s, seconds, &s)
		  : __builtin_add_overflow(clock->offset_s, seconds, &s))
		return false;
	if (minus)
		ns = -ns;
	/* give both the same sign, so that the sum is in range if the product
	 * is */
	if (s > 0 && ns < 0) {
		s--;
		ns += NS;
	} else if (s < 0 && ns > 0) {
		s++;
		ns -= NS;
	}
	return !__builtin_mul_overflow(s, (int64_t)NS, &s) &&
	       !__builtin_add_overflow(s, ns, out);
}

/* Returns whether two clocks are the same. The uuid of LTTng's clock is the
 * boot id, so clocks with the same uuid are one. The offset is measured once
 * for each trace, by the kernel's tracer and by the session daemon, and for
 * each process with its own buffers: the wall time may have been set in
 * between. Clocks that are minutes apart may be of two time namespaces. */
#define ONE_CLOCK_NS ((int64_t)60 * NS)
static bool ctf_clock_is_same(const struct ctf_clock *a,
			      const struct ctf_clock *b)
{
	int64_t x, y, apart;

	return a == b ||
	       (a->uid && b->uid && !strcmp(a->uid, b->uid) &&
		!strcmp(a->name, b->name) && a->freq == b->freq &&
		ctf_clock_own_zero(a, &x) && ctf_clock_own_zero(b, &y) &&
		!__builtin_sub_overflow(x, y, &apart) && apart < ONE_CLOCK_NS &&
		apart > -ONE_CLOCK_NS);
}

bool ctf_clock_zero(const struct ctf *ctf, const struct ctf_schema *sm,
		    const struct ctf_clock *clock, int64_t *out)
{
	for (size_t i = 0; sm->lttng && i < ctf->n_trace; i++) {
		const struct ctf_schema *other = ctf->trace[i].schema;
		const struct ctf_clock *c = ctf_schema_first_clock(other);

		if (c && other->lttng && ctf_clock_is_same(c, clock))
			return ctf_clock_own_zero(c, out);
	}
	return ctf_clock_own_zero(clock, out);
}

/* Returns the version of the tracer, such as 2013005 for 2.13.5. */
static int64_t ctf_schema_version(const struct ctf_tree *t)
{
	int64_t version = 0;

	for (uint32_t i = 0; i < t->n_env; i++) {
		const char *part = t->env[i].name;
		int64_t n = t->env[i].num;

		if (t->env[i].text || n < 0 || n > 999)
			continue;
		if (!strcmp(part, "tracer_major"))
			version += n * 1000000;
		else if (!strcmp(part, "tracer_minor"))
			version += n * 1000;
		else if (!strcmp(part, "tracer_patch") ||
			 !strcmp(part, "tracer_patchlevel"))
			version += n;
	}
	return version;
}

struct ctf_schema *ctf_schema_new(const struct bytes *meta)
{
	struct ctf_schema *sm = mem_new(1, sizeof(*sm));
	struct err why;

	if (ctf_tree_read(&sm->arena, meta, &sm->tree, &why)) {
		sm->err = mem_dup(&why, sizeof(why));
		return sm;
	}
	const struct ctf_tree *t = &sm->tree;
	const char *tracer = ctf_tree_env(t, "tracer_name");
	const char *machine = ctf_tree_env(t, "machine");
	const char *domain = ctf_tree_env(t, "domain");

	sm->lttng = tracer && !strncmp(tracer, "lttng", 5);
	sm->perf = tracer && !strcmp(tracer, "perf");
	sm->joined = tracer && !strcmp(tracer, "backstitch");
	/* LTTng before 2.11 and barectf before 2.3.1 write packets with times
	 * that their events are outside of, and lttng-crash does not know the
	 * times. */
	static const struct {
		const char *name;
		int64_t good; /* the first version without this */
	} known[] = { { "lttng-ust", 2011000 },
		      { "lttng-modules", 2011000 },
		      { "lttng-crash", INT64_MAX },
		      { "barectf", 2003001 } };
	const int64_t version = ctf_schema_version(t);

	for (size_t i = 0; tracer && i < ARRAY_SIZE(known); i++)
		if (!strcmp(tracer, known[i].name))
			sm->loose = version < known[i].good;
	sm->ends_all = sm->lttng && version >= 2013000;
	/* members called tid mean something else in tracers of other systems */
	sm->of_linux = sm->lttng || sm->perf || sm->joined;
	if (machine)
		sm->halves = halves_of(machine);
	/* on no machine that LTTng supports do programs have the upper half */
	else if (sm->lttng && domain && !strcmp(domain, "ust"))
		sm->halves = (struct halves){ (uint64_t)1 << 63, UINT64_MAX };
	ctf_program_start(&sm->head);
	ctf_program_skip(&sm->head, t->header);
	ctf_program_end(&sm->head);
	sm->plan = mem_new(t->n_stream + 1u, sizeof(*sm->plan));
	for (uint32_t i = 0; i < t->n_stream; i++) {
		sm->plan[i].sc = &t->stream[i];
		raise_to(sm->n_slot, t->stream[i].n_slot);
		ctf_plan_make(&sm->plan[i]);
	}
	return sm;
}

void ctf_schema_free(struct ctf_schema *sm)
{
	if (!sm)
		return;
	for (uint32_t i = 0; sm->plan && i < sm->tree.n_stream; i++) {
		struct ctf_plan *p = &sm->plan[i];

		for (uint32_t k = 0; p->classes && k < p->sc->n_event; k++) {
			ctf_program_release(&p->classes[k].packet);
			ctf_program_release(&p->classes[k].event_fields);
		}
		free(p->classes);
		ctf_program_release(&p->packet);
		ctf_program_release(&p->header);
	}
	free(sm->plan);
	ctf_program_release(&sm->head);
	arena_release(&sm->arena);
	free_all(sm->err, sm);
}

struct ctf_schema *ctf_schema_of(struct ctf *ctf, const char *path)
{
	struct bytes meta;
	uint64_t len;
	void *data = ctf_file_map(path, &len);
	uint64_t hash = hash_bytes(data ? data : "", len, 0);
	struct ctf_schema *sm = NULL;

	for (size_t i = 0; i < ctf->n_schema && !sm; i++)
		if (ctf->schema[i]->hash == hash && ctf->schema[i]->len == len)
			sm = ctf->schema[i];
	if (!sm) {
		bytes_init(&meta, data, len, path, 0, false);
		sm = ctf_schema_new(&meta);
		sm->hash = hash;
		sm->len = len;
		*mem_add(ctf->schema, ctf->n_schema, ctf->cap_schema) = sm;
	}
	ctf_file_unmap(data, len);
	return sm;
}

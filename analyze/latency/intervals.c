/* intervals.c - reads the intervals of a database. */
#include "analyze/latency/intervals.h"

#include <inttypes.h>

#include "analyze/causes/causes.h"
#include "analyze/causes/missing.h"
#include "analyze/causes/silent_tasks.h"
#include "analyze/latency/callers.h"
#include "analyze/latency/calls.h"
#include "analyze/latency/futexes.h"
#include "analyze/samples/events.h"
#include "analyze/samples/filter.h"
#include "analyze/samples/loss_marks.h"
#include "analyze/samples/payloads.h"
#include "analyze/samples/recorder.h"
#include "analyze/samples/weight.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/stacks.h"
#include "schema/columns.h"
#include "schema/lives.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/search.h"
#include "stitch/base/text_out.h"
#include "stitch/base/words.h"
#include "stitch/source.h"
#include "stitch/text/safe_text.h"

const char intervals_by_caller[] = "caller";
const char intervals_by_lock[] = "lock";

/* Most events that a message lists for recording: timers have the most. */
#define EVENTS_SHOWN 6
#define COMMAND_SHOWN 512
#define PAIRS_SHOWN 3
#define FIELDS_SHOWN 12

/* The role of a type of events in one pair, and which of its fields are read:
 * their numbers + 1, 0: it has none. */
struct intervals_role {
	uint32_t pair, type;
	uint32_t name; /* what '*' matched in its name; 0: there is none */
	uint8_t role;
	size_t key[PAIR_KEYS], tag, named, by, ret, part, direction, length;
	size_t depth, from, to, took, leaf; /* PAIR_NEST */
	struct futex_at futex; /* addr 0: of no futex, or not asked for */
};

struct intervals_type {
	char *name, *buffer;
	uint32_t capture, world;
	bool sample, sampled;
	bool asked, marks; /* asked: searched for slices; marks: it has some */
	bool calls;	   /* it belongs to a counted kind */
	uint32_t first, n; /* in role[] */
};

/* A capture, or a stream in pieces; it may have several buffers. */
struct intervals_capture {
	char *format, *arch;
	bool by_cpu;	/* its events were turned on CPU by CPU, by perf */
	bool some;	/* only some tasks were recorded */
	bool pairs;	/* it has events of pairs */
	bool asked;	/* what its switches show to be missing was taken */
	bool uncounted; /* records are missing that no loss counts */
	uint32_t *world;
	size_t n_world, cap_world;
	int64_t first, last;
};

struct intervals_cpu {
	uint32_t capture;
	int32_t cpu;
	int64_t first, last; /* times of its records */
	int64_t blind; /* since then the threads of its records are not known;
			* INT64_MAX: they are */
};

/* ---- types and pairs */

/* Returns the first piece of the stream that a capture belongs to, or the
 * capture itself. */
static uint32_t intervals_line(const struct intervals *iv, int64_t capture)
{
	if (capture < 0 || capture > UINT16_MAX)
		return 0;
	return (size_t)capture < iv->n_line && iv->line[capture]
		       ? iv->line[capture]
		       : (uint32_t)capture;
}

/* Reads which captures are pieces of one stream, and if some are missing. */
static int intervals_read_lines(struct intervals *iv, struct err *err)
{
	struct rows *r = rows_of(iv->db, "interval_lines", err);

	while (rows_step(r)) {
		int64_t capture = rows_int(r, INTERVAL_LINES_CAPTURE);
		uint32_t line =
			intervals_line(iv, rows_int(r, INTERVAL_LINES_LINE));

		if (capture > 0 && capture <= UINT16_MAX)
			*mem_at(iv->line, iv->n_line, iv->cap_line, capture) =
				line;
	}
	if (rows_end(r, err))
		return -1;
	r = rows_of(iv->db, "interval_cuts", err);
	if (rows_step(r)) {
		iv->sums.cut_before = rows_int(r, INTERVAL_CUTS_BEFORE) != 0;
		iv->sums.cut_behind = rows_int(r, INTERVAL_CUTS_BEHIND) != 0;
	}
	return rows_end(r, err);
}

/* Returns the number of the pair of a kind in a world, and adds it if it is
 * new. */
static uint32_t intervals_pair_of(struct intervals *iv,
				  const struct pair_kind *k, uint32_t world)
{
	for (size_t i = 0; i < iv->n_pair; i++)
		if (iv->pair[i].kind == k && iv->pair[i].world == world)
			return (uint32_t)i;
	*mem_add(iv->pair, iv->n_pair, iv->cap_pair) =
		(struct intervals_pair){ .kind = k, .world = world };
	return (uint32_t)iv->n_pair - 1;
}

/* Returns the number of a field of a type + 1; 0: it has none. */
static size_t intervals_field(const struct intervals *iv, uint32_t type,
			      const char *name)
{
	size_t n;
	const struct field_def *def = payloads_defs(iv->payloads, type, &n);

	return payload_field(def, n, name);
}

static bool intervals_is_own(const struct intervals *iv,
			     const struct pair_kind *k)
{
	return k >= iv->own && k < iv->own + iv->ask->n_pair;
}

/* Returns the number + 1 of the field with the text that was written to
 * trace_marker. */
static size_t intervals_marks_field(const struct intervals *iv, uint32_t type)
{
	return intervals_field(iv, type, "buf")
		       ?: intervals_field(iv, type, "text");
}

/* Returns whether a program wrote slices to trace_marker, not other texts. */
static bool intervals_has_marks(struct intervals *iv, uint32_t type)
{
	struct intervals_type *t = &iv->type[type];
	size_t at = intervals_marks_field(iv, type);
	struct err none = { 0 };
	struct payloads *ps;
	struct event_rows rows;
	struct event_row e;
	struct marker m;

	if (t->asked || !at)
		return t->marks;
	t->asked = true;
	ps = payloads_open(iv->db, &none);
	rows = event_rows_open(iv->db, EVENT_ROWS_TO_PAYLOAD, &none);
	while (ps && !t->marks && event_rows_next(&rows, &e, &none) > 0) {
		const struct field *f;

		t->marks = e.type == type &&
			   payloads_fields(ps, &e, &f, &none) > 0 &&
			   f[at - 1].text && marker_parse(f[at - 1].text, &m);
	}
	rows_close(rows.rows);
	payloads_close(ps);
	return t->marks;
}

/* Adds the role that a type has for a kind, if it has the fields for it. rest:
 * what '*' matched in its name, len bytes. */
static void intervals_add_role(struct intervals *iv, const struct pair_kind *k,
			       uint32_t type, enum pairing_role role,
			       const char *rest, size_t len)
{
	struct intervals_role r = { .type = type, .role = (uint8_t)role };
	size_t n;
	const struct field_def *def = payloads_defs(iv->payloads, type, &n);
	char probe[PAIR_PROBE_NAME];
	char name[STORE_NAME_MAX];

	if (k->marks && !intervals_has_marks(iv, type))
		return;
	/* the names are FIELD_STRING_IP and FIELD_STRING_FUNC in
	 * kernel/trace/trace_probe.h; the events of a text have no fields, but
	 * names */
	if (k->probes &&
	    (pair_probe_name(iv->type[type].name, probe) !=
		     (role == PAIRING_END) ||
	     (strcmp(iv->capture[iv->type[type].capture].format, "ftext") !=
		      0 &&
	      !intervals_field(iv, type,
			       role == PAIRING_END ? "__probe_func"
						   : "__probe_ip"))))
		return;
	/* without its key, the event would pair with anything */
	for (size_t i = 0; i < PAIR_KEYS && !k->marks; i++) {
		r.key[i] = intervals_field(iv, type, k->key[i]);
		if (k->key[i] && !r.key[i])
			return;
	}
	r.tag = intervals_field(iv, type, k->tag);
	r.direction = intervals_field(iv, type, k->direction);
	r.length = intervals_field(iv, type, k->length);
	r.part = intervals_field(iv, type, k->part.field);
	r.depth = intervals_field(iv, type, "depth");
	r.from = intervals_field(iv, type, "calltime");
	r.to = intervals_field(iv, type, "rettime");
	r.took = intervals_field(iv, type, "took_ns");
	r.leaf = intervals_field(iv, type, "leaf");
	if ((k->tag && !r.tag) || (k->direction && !r.direction) ||
	    (k->counted && (!r.depth || (role == PAIRING_END && !r.took &&
					 (!r.from || !r.to)))))
		return;
	/* own pairs may join several recordings: each has a world of its own,
	 * after those of types, which has the losses of all these */
	r.pair = intervals_pair_of(
		iv, k,
		intervals_is_own(iv, k)
			? (uint32_t)(iv->n_type + (size_t)(k - iv->own))
			: iv->type[type].world);
	if (len)
		r.name = intern_add_bytes(&iv->names, rest, len);
	if (k->probes)
		r.name = intern_add(&iv->names, probe);
	r.named = intervals_field(iv, type, k->name ? k->name : k->key[0]);
	if (k->marks)
		r.named = intervals_marks_field(iv, type);
	/* func_name and function_name: the name that the capture has for that
	 * address */
	if (k->name && !strncmp(k->name, "func", 4)) {
		snprintf(name, sizeof(name), "%s_name", k->name);
		r.named = intervals_field(iv, type, name) ?: r.named;
	}
	if (iv->ask->by != intervals_by_lock)
		r.by = intervals_field(iv, type, iv->ask->by);
	else if (k->object)
		r.by = intervals_field(iv, type, k->object);
	else if (k->calls && role == PAIRING_BEGIN &&
		 !futexes_find(iv->type[type].name, def, n, &r.futex))
		r.futex = (struct futex_at){ 0 };
	if (r.by && def[r.by - 1].is_blob)
		r.by = 0;
	iv->by_field |= r.by || r.futex.addr;
	/* a leaf is both begin and end */
	if (role == PAIRING_END || r.leaf)
		r.ret = intervals_field(iv, type, "ret")
				?: intervals_field(iv, type, "retval");
	iv->pair[r.pair].begins |= role == PAIRING_BEGIN;
	iv->pair[r.pair].ends |= role == PAIRING_END;
	iv->pair[r.pair].cancels |= role == PAIRING_CANCEL;
	*mem_add(iv->role, iv->n_role, iv->cap_role) = r;
}

/* Adds the roles that a type has for a kind, by its name. */
static void intervals_match(struct intervals *iv, const struct pair_kind *k,
			    uint32_t type)
{
	const struct {
		const char *pattern;
		enum pairing_role role;
	} all[] = { { k->begin, PAIRING_BEGIN },
		    { k->begin_too, PAIRING_BEGIN },
		    { k->end, PAIRING_END },
		    { k->cancel, PAIRING_CANCEL } };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		const char *rest = NULL;
		size_t len = 0;

		if (all[i].pattern && !iv->type[type].sampled &&
		    iv->type[type].sample &&
		    (k->probes ||
		     pair_name_is(all[i].pattern, iv->type[type].name, &rest,
				  &len)))
			intervals_add_role(iv, k, type, all[i].role, rest,
					   k->probes ? 0 : len);
	}
}

/* Sorts an end before the begin, where one event is both. */
COMPARE_FUNCTION(intervals_compare_roles, struct intervals_role,
		 compare_numbers(x->type, y->type)
			 ?: compare_numbers(y->role, x->role)
			 ?: compare_numbers(x->pair, y->pair));

/* Returns a hash of a probed function and of which end of it this is, or of the
 * other end. */
static uint64_t intervals_end_hash(const struct intervals_role *r, bool other)
{
	const uint64_t word[2] = { (uint64_t)r->pair << 32 | r->name,
				   (r->role == PAIRING_END) != other };

	return hash_u64s(word, 2, 0);
}

/* Reads "BEGIN,END[,FIELD...]". Without fields, the thread is the key. */
static int intervals_read_own(struct intervals *iv, size_t i, struct err *err)
{
	char *part = arena_strdup(&iv->text, iv->ask->pair[i]);
	struct pair_kind *k = &iv->own[i];
	size_t n = 0;

	*k = (struct pair_kind){ .word = iv->ask->pair[i],
				 .again = PAIR_STACK };
	for (char *next; part; part = next, n++) {
		next = strchr(part, ',');
		if (next)
			*next++ = '\0';
		if (!*part || n >= 2 + PAIR_KEYS)
			return err_set(err, ERR_USAGE,
				       "--pair %s: needs BEGIN,END and at most "
				       "%d fields",
				       iv->ask->pair[i], PAIR_KEYS);
		if (n == 0)
			k->begin = part;
		else if (n == 1)
			k->end = part;
		else
			k->key[n - 2] = part;
	}
	if (n < 2)
		return err_set(err, ERR_USAGE,
			       "--pair %s: needs two events, BEGIN,END",
			       iv->ask->pair[i]);
	/* several may be open at a time with one value */
	if (k->key[0]) {
		k->scope = PAIR_ANY;
		k->again = PAIR_SET;
	}
	return 0;
}

/* How probes, markers and tracers name two events that belong together. */
static const char *const intervals_suffix[][2] = {
	{ "", "__return" },    { "_start", "_done" },
	{ "_start", "_end" },  { "_start", "_stop" },
	{ "_begin", "_end" },  { "_begin", "_done" },
	{ "_entry", "_exit" }, { "_entry", "_return" },
	{ "_enter", "_exit" }, { "_issue", "_complete" },
	{ "", "r" },	       { "", "_ret" },
	{ "", "_return" },
};

/* Appends " --pair BEGIN,END" for pairs of events that belong to no kind, but
 * whose names fit. Returns how many. */
static size_t intervals_put_fitting(const struct intervals *iv,
				    struct text_out *out)
{
	struct intern names = { 0 };
	size_t added = 0;

	for (uint32_t i = 1; i < iv->n_type; i++) {
		const char *name = iv->type[i].name, *rest;
		size_t len;

		if (iv->type[i].sample && !strpbrk(name, ", ") &&
		    !any_where(pair_kinds_n, k,
			       pair_name_is(pair_kinds[k].begin, name, &rest,
					    &len)))
			intern_add(&names, name);
	}
	for (uint32_t i = 0; i < names.n; i++)
		for (size_t k = 0; k < ARRAY_SIZE(intervals_suffix); k++) {
			const char *begin = intern_get(&names, i);
			const char *last = intervals_suffix[k][0];
			size_t len = strlen(begin), cut = strlen(last);

			if (len <= cut || added == PAIRS_SHOWN ||
			    strcmp(begin + len - cut, last) != 0)
				continue;
			char *pair OWNED =
				mem_printf("%s,%.*s%s", begin, (int)(len - cut),
					   begin, intervals_suffix[k][1]);
			char *word OWNED = safe_text_word(pair);
			if (intern_find(&names, pair + len + 1) != TABLE_NONE) {
				text_out_add(out, " --pair %s", word);
				added++;
			}
		}
	intern_release(&names);
	return added;
}

/* Sets *err, to what fits --pair in the capture, or to the command that records
 * the pairs that were asked for; if that was all, those of system calls.
 * Returns -1. */
static int intervals_refuse(const struct intervals *iv, struct err *err)
{
	const char *word = iv->ask->kind ? iv->ask->kind : pair_kinds[0].word;
	bool own = !iv->ask->kind && iv->ask->n_pair;
	const struct pair_kind *all = own ? iv->own : pair_kinds;
	const char *event[EVENTS_SHOWN];
	char command[COMMAND_SHOWN] = "";
	struct text_out text = { .buf = command, .size = sizeof(command) };
	char *path OWNED = safe_text_word(iv->path);
	size_t n = 0;

	if (!iv->ask->kind && intervals_put_fitting(iv, &text))
		return err_set(err, ERR_FORMAT,
			       "%s: no two events that belong together were "
			       "recorded for this, but some that may: "
			       "'backstitch latency%s %s' pairs them",
			       iv->path, command, path);
	for (size_t i = 0; i < (own ? iv->ask->n_pair : pair_kinds_n); i++) {
		const struct pair_kind *k = &all[i];
		const char *const of[] = { k->begin, k->end, k->cancel };

		/* the first pair of system calls covers all of them */
		if ((!own && strcmp(k->word, word) != 0) || (k->calls && n))
			continue;
		for (size_t e = 0; e < ARRAY_SIZE(of); e++)
			if (of[e] && n < EVENTS_SHOWN &&
			    !any_where(n, j, !strcmp(event[j], of[e])))
				event[n++] = of[e];
	}
	if (!recorder_put_events(iv->db, event, n, &text, err))
		err_set(err, ERR_FORMAT,
			"%s: no two events that belong together were recorded "
			"for this; '%s' records those%s; 'backstitch info %s' "
			"lists what was",
			iv->path, command,
			own || iv->ask->kind ? "" : " of system calls", path);
	return -1;
}

/* Finds the types of all pairs that were asked for. */
static int intervals_choose(struct intervals *iv, struct err *err)
{
	const char *kind = iv->ask->kind;

	if (kind &&
	    !any_where(pair_kinds_n, i, !strcmp(kind, pair_kinds[i].word)))
		return err_set(err, ERR_USAGE,
			       "no kind of latency is called %s; 'backstitch "
			       "help latency' lists them",
			       kind);
	iv->own = mem_new(iv->ask->n_pair + 1, sizeof(*iv->own));
	for (size_t i = 0; i < iv->ask->n_pair; i++)
		if (intervals_read_own(iv, i, err))
			return -1;
	for (uint32_t type = 1; type < iv->n_type; type++) {
		for (size_t i = 0; i < iv->ask->n_pair; i++)
			intervals_match(iv, &iv->own[i], type);
		for (size_t i = 0; i < pair_kinds_n; i++)
			if (kind ? !strcmp(kind, pair_kinds[i].word) ||
					    (iv->ask->also &&
					     !strcmp(iv->ask->also,
						     pair_kinds[i].word))
			    : iv->ask->nested
				    ? pair_kinds[i].again == PAIR_NEST ||
					      pair_kinds[i].calls
				    : !iv->ask->n_pair)
				intervals_match(iv, &pair_kinds[i], type);
	}
	/* Drops the roles of pairs of which one end was not recorded (for
	 * counted calls the end is enough), and of system calls that another
	 * kind reports already. */
	struct table ends = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < iv->n_role; i++)
		if (iv->pair[iv->role[i].pair].kind->probes)
			table_find_or_add(
				&ends, intervals_end_hash(&iv->role[i], false),
				0);
	for (size_t i = 0; i < iv->n_role; i++) {
		const struct intervals_role *r = &iv->role[i];
		const struct intervals_pair *p = &iv->pair[r->pair];
		bool drop = false;

		for (size_t k = 0; p->kind->calls && k < iv->n_pair; k++)
			drop |= iv->pair[k].kind < p->kind &&
				iv->pair[k].kind->calls &&
				iv->pair[k].world == p->world &&
				iv->pair[k].begins && iv->pair[k].ends;
		/* the other end of this probe's function has no probe */
		if (p->kind->probes)
			drop = table_find_hash(&ends,
					       intervals_end_hash(r, true)) ==
			       TABLE_NONE;
		if ((p->begins || p->kind->counted) && p->ends && !drop)
			iv->role[n++] = *r;
	}
	table_release(&ends);
	iv->n_role = n;
	sort_items(iv->role, n, intervals_compare_roles);
	for (size_t i = 0; i < n; i++) {
		struct intervals_type *t = &iv->type[iv->role[i].type];

		if (!t->n++)
			t->first = (uint32_t)i;
		t->calls = iv->pair[iv->role[i].pair].kind->counted;
	}
	if (iv->ask->nested &&
	    !any_where(iv->n_role, i, !iv->pair[iv->role[i].pair].kind->calls))
		iv->n_role = 0;
	/* Finds the buffers of each capture, and the own pairs with its
	 * events: its losses count for all of them. */
	for (uint32_t i = 1; i < iv->n_type; i++) {
		const struct intervals_type *t = &iv->type[i];
		struct intervals_capture *c = &iv->capture[t->capture];

		if (t->world == i)
			*mem_add(c->world, c->n_world, c->cap_world) = i;
		for (uint32_t k = 0; k < t->n; k++) {
			uint32_t world =
				iv->pair[iv->role[t->first + k].pair].world;

			if (world >= iv->n_type &&
			    !any_where(c->n_world, w, c->world[w] == world))
				*mem_add(c->world, c->n_world, c->cap_world) =
					world;
			c->pairs = true;
		}
	}
	if (iv->n_role || iv->ask->any)
		return 0;
	return intervals_refuse(iv, err);
}

/* Prepares what the names of --by are read from, if not from fields. */
static int intervals_read_by(struct intervals *iv, struct err *err)
{
	const char *by = iv->ask->by;

	if (any_where(iv->n_role, i, iv->pair[iv->role[i].pair].kind->here)) {
		iv->here = callers_open(iv->db, &iv->names, err);
		if (!iv->here)
			return -1;
	}
	if (!by || !iv->n_role)
		return 0;
	if (!strcmp(by, intervals_by_caller)) {
		iv->callers = callers_open(iv->db, &iv->names, err);
		return iv->callers ? 0 : -1;
	}
	if (by == intervals_by_lock) {
		iv->futexes = futex_locks_open(iv->db, &iv->names, err);
		if (!iv->futexes)
			return -1;
	}
	if (!strcmp(by, weight_cgroup)) {
		struct rows *r = rows_of(iv->db, "event_cgroup", err);

		while (rows_step(r)) {
			int64_t event = rows_int(r, EVENT_CGROUP_EVENT_ID);

			table_add(
				&iv->by_event, hash_u64((uint64_t)event),
				intern_add(&iv->names,
					   rows_text(r, EVENT_CGROUP_CGROUP)));
			iv->by_cgroup = true;
		}
		if (rows_end(r, err))
			return -1;
	}
	if (iv->by_cgroup || iv->by_field)
		return 0;
	/* the error names the fields that can be asked for */
	char names[COMMAND_SHOWN] = "";
	struct text_out text = { .buf = names, .size = sizeof(names) };
	struct intern added = { 0 };

	if (!strcmp(iv->ask->by, weight_cgroup))
		return err_set(err, ERR_USAGE,
			       "--by %s: no event that begins or ends these "
			       "intervals has a cgroup (perf record "
			       "--all-cgroups)",
			       iv->ask->by);
	for (size_t i = 0; i < iv->n_role; i++) {
		size_t n;
		const struct field_def *def =
			payloads_defs(iv->payloads, iv->role[i].type, &n);

		for (size_t k = 0; k < n && added.n < FIELDS_SHOWN; k++) {
			uint32_t before = (uint32_t)added.n;

			if (!def[k].is_blob && strcmp(def[k].name, "text") &&
			    strncmp(def[k].name, "common_", 7) != 0 &&
			    intern_add(&added, def[k].name) == before)
				text_out_add(&text, "%s%s", before ? ", " : "",
					     def[k].name);
		}
	}
	intern_release(&added);
	return err_set(err, ERR_USAGE,
		       "--by %s: no event that begins or ends these intervals "
		       "has such a field; they have %s",
		       iv->ask->by, *names ? names : "none");
}

/* ---- threads, losses, and when CPUs were recorded */

/* Reads the threads, by id; that of 0 is unknown. */
static int intervals_read_threads(struct intervals *iv, struct err *err)
{
	struct rows *r = rows_dense(iv->db, "interval_threads", err);
	uint32_t *same;

	*mem_add(iv->thread, iv->n_thread, iv->cap_thread) =
		(struct intervals_thread){
			.tid = -1, .pid = -1, .comm = "", .born = INT64_MIN
		};
	while (rows_step(r))
		*mem_add(iv->thread, iv->n_thread,
			 iv->cap_thread) = (struct intervals_thread){
			.tid = rows_int(r, INTERVAL_THREADS_TID),
			.pid = rows_int(r, INTERVAL_THREADS_PID),
			.comm = arena_strdup(
				&iv->text, rows_text(r, INTERVAL_THREADS_COMM)),
			.process =
				(uint32_t)rows_int(r, INTERVAL_THREADS_PROCESS),
			.short_code = rows_int(r, INTERVAL_THREADS_SHORT) != 0,
			.born = rows_int(r, INTERVAL_THREADS_BORN),
			.died = rows_int(r, INTERVAL_THREADS_DIED),
		};
	if (rows_end(r, err))
		return -1;
	same = lives_load(iv->db, iv->n_thread, err);
	for (size_t i = 1; same && i < iv->n_thread; i++)
		iv->thread[i].same = same[i];
	free(same);
	return same ? 0 : -1;
}

static struct intervals_cpu *intervals_cpu(struct intervals *iv,
					   uint32_t capture, int32_t cpu)
{
	uint64_t hash = hash_u32s(capture, (uint32_t)cpu);
	uint32_t id = table_find_or_add(&iv->by_cpu, hash, iv->n_cpu);

	if (id == iv->n_cpu)
		*mem_add(iv->cpu, iv->n_cpu, iv->cap_cpu) =
			(struct intervals_cpu){ capture, cpu, INT64_MAX,
						INT64_MIN, INT64_MAX };
	return &iv->cpu[id];
}

/* Adds a loss to all worlds of a capture. */
static void intervals_lose(struct intervals *iv, uint32_t capture,
			   const struct lost_time *t)
{
	const struct intervals_capture *c;

	if (capture >= iv->n_capture)
		return;
	c = &iv->capture[capture];
	for (uint32_t i = 0; i < c->n_world; i++)
		lost_times_add(&iv->lost, c->world[i], t);
}

/* Adds a loss of an unknown number of records. */
static void intervals_lose_any(struct intervals *iv, uint32_t capture,
			       int32_t cpu, int64_t from, int64_t to)
{
	intervals_lose(iv, capture,
		       &(struct lost_time){
			       .from = from, .to = to, .n = -1, .cpu = cpu });
}

/* Adds a loss that no record reports. */
static void intervals_lose_silent(struct intervals *iv, uint32_t capture,
				  const struct timeline_loss *l)
{
	intervals_lose(iv, capture,
		       &(struct lost_time){ .from = l->from,
					    .to = l->to,
					    .n = -1,
					    .cpu = l->cpu,
					    .silent = true,
					    .of_tasks = l->of_task });
}

/* Starts or ends the time in which the threads of a CPU's records are not
 * known: such records are as good as lost. */
static void intervals_blind(struct intervals *iv, struct intervals_cpu *c,
			    int64_t time, bool blind)
{
	if (blind && c->blind == INT64_MAX)
		c->blind = time > INT64_MIN ? time - 1 : time;
	if (blind || c->blind == INT64_MAX)
		return;
	intervals_lose_any(iv, c->capture, c->cpu, c->blind, time);
	c->blind = INT64_MAX;
}

/* Returns the CPU of an event; -1: not known. */
static int32_t intervals_cpu_of(const struct event_row *e)
{
	return e->on_cpu && e->cpu >= 0 && e->cpu <= UINT16_MAX
		       ? (int32_t)e->cpu
		       : -1;
}

/* Finds when the first and the last record of each CPU was made. */
static int intervals_read_times(struct intervals *iv, struct err *err)
{
	struct event_rows rows =
		event_rows_open(iv->db, EVENT_ROWS_TO_THREAD, err);
	struct event_row e;
	int rc;

	while ((rc = event_rows_next(&rows, &e, err)) > 0) {
		const struct intervals_type *t;
		struct intervals_cpu *c;

		if (!e.timed || e.type < 1 || (uint64_t)e.type >= iv->n_type)
			continue;
		t = &iv->type[e.type];
		c = intervals_cpu(iv, t->capture, intervals_cpu_of(&e));
		lower_to(c->first, e.time);
		c->last = e.time;
		if (any_where(
			    t->n, i,
			    iv->pair[iv->role[t->first + i].pair].kind->scope ==
				    PAIR_THREAD))
			intervals_blind(iv, c, e.time, !e.thread);
	}
	rows_close(rows.rows);
	return rc;
}

/* Takes the losses that switches show: `path` uses the same timeline for what
 * it may prove. The timeline is that of the kernel with the most switches, and
 * shows nothing about other recorders. */
static void intervals_take_missing(void *arg, const struct causes *c)
{
	struct intervals *iv = arg;
	const struct timeline *t = c->t;
	bool blind = missing_premise(t) & MISSING_ANYWHERE;
	const char *premise = causes_premise(c).words;
	const struct timeline_loss all = { .from = TIMELINE_START,
					   .to = TIMELINE_END,
					   .cpu = -1,
					   .of_task = c->partial.why };

	for (uint32_t i = 0; i < c->kernel->n; i++) {
		uint32_t k = intervals_line(iv, c->kernel->span[i].capture->id);

		if (k >= iv->n_capture || iv->capture[k].asked)
			continue;
		iv->capture[k].asked = true;
		iv->capture[k].uncounted = !missing_counts(t);
		if (premise && iv->capture[k].pairs)
			iv->sums.premise = arena_strdup(&iv->text, premise);
		if (blind)
			intervals_lose_silent(iv, k, &all);
		for (size_t j = 0; !blind && j < t->n_loss; j++)
			if (t->loss[j].silent)
				intervals_lose_silent(iv, k, &t->loss[j]);
	}
}

/* Reads the losses. If records are missing that were not counted, the counts of
 * the capture prove nothing. */
static int intervals_read_losses(struct intervals *iv, struct err *err)
{
	struct loss_rows *rows = loss_rows_load(iv->db, &filter_none, err);
	size_t n = rows ? rows->n : 0;

	for (size_t i = 0; i < n; i++) {
		rows->row[i].capture = intervals_line(iv, rows->row[i].capture);
		if (!strcmp(rows->row[i].what, "silent") &&
		    rows->row[i].capture < iv->n_capture)
			iv->capture[rows->row[i].capture].uncounted = true;
	}
	for (size_t i = 0; i < n; i++) {
		const struct loss_row *l = &rows->row[i];
		bool counted = l->capture < iv->n_capture &&
			       !iv->capture[l->capture].uncounted &&
			       (!strcmp(l->what, "lost") ||
				!strcmp(l->what, "lost_end"));
		struct lost_time t = {
			.from = l->has_from ? l->from : INT64_MIN,
			.to = l->has_to && (!l->has_from || l->to >= l->from)
				      ? l->to
				      : INT64_MAX,
			.n = counted ? l->n : -1,
			.id = l->id,
			.cpu = l->cpu >= 0 && l->cpu <= UINT16_MAX
				       ? (int32_t)l->cpu
				       : -1,
		};

		/* losses of records that no pair needs do not count */
		if (words_find("filtered aux lost_total read_lost hardware "
			       "throttled",
			       l->what, strlen(l->what)) < 0)
			intervals_lose(iv, l->capture, &t);
	}
	loss_rows_free(rows);
	return rows ? 0 : -1;
}

/* ---- values of fields */

/* Returns the value of a field as a key. The key of a text that is no number is
 * INTERVALS_TEXT and the id of its name. */
static int64_t intervals_value(struct intervals *iv, const struct field *f,
			       size_t at)
{
	const char *text;
	char *end;
	int64_t n;

	if (!at || !f[at - 1].present)
		return 0;
	text = f[at - 1].text;
	if (!text)
		return f[at - 1].num;
	/* digits after a 0 are a pointer's, not an octal number */
	n = (int64_t)strtoull(text, &end, 0);
	const bool octal = text[0] == '0' && text[1] >= '0' && text[1] <= '7';

	return end != text && !*end && !octal && !intervals_is_text(n)
		       ? n
		       : INTERVALS_TEXT | intern_add(&iv->names, text);
}

/* Returns the name of a call. A number means another call in a 32-bit program;
 * those numbers are known for x86-64 only. */
static uint32_t intervals_call_name(struct intervals *iv, uint32_t type,
				    uint32_t thread, int64_t number)
{
	const char *arch = iv->capture[iv->type[type].capture].arch;
	char name[CALLS_NAME];

	if (intervals_thread(iv, thread)->short_code)
		arch = !strcmp(arch, "x86_64") ? "i386" : "";
	/* Linux marks the calls of x32 by a bit */
	if (!strcmp(arch, "x86_64") && (number & 0x40000000))
		number &= ~INT64_C(0x40000000);
	return intern_add(&iv->names, calls_name(arch, number, name));
}

static uint64_t intervals_lock_hash(int64_t capture, int64_t addr)
{
	uint64_t word[2] = { (uint64_t)capture, (uint64_t)addr };

	return hash_u64s(word, 2, 0);
}

static int intervals_read_locks(struct intervals *iv, struct err *err)
{
	struct rows *r = rows_of(iv->db, "lock_names", err);

	while (rows_step(r))
		table_add(
			&iv->by_lock,
			intervals_lock_hash(
				intervals_line(iv,
					       rows_int(r, LOCK_NAMES_CAPTURE)),
				(int64_t)strtoull(rows_text(r, LOCK_NAMES_ADDR),
						  NULL, 16)),
			intern_add(&iv->names, rows_text(r, LOCK_NAMES_NAME)));
	return rows_end(r, err);
}

/* Returns the id of the name of a value of field `at`: of a lock, softirq,
 * device or function, or of its number. */
static uint32_t intervals_value_name(struct intervals *iv, uint32_t type,
				     size_t at, int64_t value)
{
	static const char *const vector[] = { "HI",	 "TIMER", "NET_TX",
					      "NET_RX",	 "BLOCK", "IRQ_POLL",
					      "TASKLET", "SCHED", "HRTIMER",
					      "RCU" };
	size_t n;
	const struct field_def *def = payloads_defs(iv->payloads, type, &n);
	const char *column = def[at].name;
	char text[32];

	if (!strcmp(column, "lock_addr")) {
		uint32_t id = table_find_hash(
			&iv->by_lock,
			intervals_lock_hash(iv->type[type].capture, value));

		if (id != TABLE_NONE)
			return id;
	}
	if (!strcmp(column, "vec") && value >= 0 &&
	    value < (int64_t)ARRAY_SIZE(vector))
		return intern_add(&iv->names, vector[value]);
	/* dev_t of the kernel, include/linux/kdev_t.h */
	if (!strcmp(column, "dev")) {
		snprintf(text, sizeof(text), "%" PRId64 ",%" PRId64,
			 value >> 20, value & 0xfffff);
		return intern_add(&iv->names, text);
	}
	/* a function without a name has its address */
	snprintf(text, sizeof(text),
		 strncmp(column, "func", 4) ? "%" PRId64 : "%#" PRIx64, value);
	return intern_add(&iv->names, payloads_value_text(iv->payloads, type,
							  column, text));
}

/* Returns the id of the name of a field's value. Each value is named once. */
static uint32_t intervals_name_at(struct intervals *iv,
				  const struct intervals_role *role, size_t at,
				  const struct field *f, bool calls,
				  uint32_t thread)
{
	bool shorter = intervals_thread(iv, thread)->short_code;
	int64_t value = intervals_value(iv, f, at);
	const uint64_t word[3] = { role->type, at | (uint64_t)shorter << 32,
				   (uint64_t)value };
	uint64_t hash = hash_u64s(word, 3, 0);
	uint32_t id = table_find_hash(&iv->by_value, hash);

	if (intervals_is_text(value) && f[at - 1].text)
		return (uint32_t)value;
	if (id != TABLE_NONE)
		return id;
	id = calls ? intervals_call_name(iv, role->type, thread, value)
		   : intervals_value_name(iv, role->type, at - 1, value);
	table_add(&iv->by_value, hash, id);
	return id;
}

/* Stores the name of the function in which an event was recorded; 0: it is not
 * known. */
static int intervals_here(struct intervals *iv, const struct event_row *e,
			  uint32_t *name, struct err *err)
{
	uint64_t word[2] = { UINT64_MAX, (uint64_t)e->uraw };
	uint64_t hash = hash_u64s(word, 2, 0);
	struct label_list l = { 0 };
	const struct label *at;
	int rc;

	*name = table_find_hash(&iv->by_value, hash);
	if (*name != TABLE_NONE)
		return 0;
	rc = callers_stack(iv->here, e->id, false, &l, err);
	at = !rc && l.n ? callers_label(iv->here, l.label[l.n - 1]) : NULL;
	*name = at && at->kind == LABEL_USER ? intern_add(&iv->names, at->name)
					     : 0;
	table_add(&iv->by_value, hash, *name);
	free(l.label);
	return rc;
}

/* Stores the name for --by; 0: this record has none. */
static int intervals_by(struct intervals *iv, const struct intervals_role *role,
			const struct field *f, const struct event_row *e,
			uint32_t call, uint32_t *name, struct err *err)
{
	if (role->futex.addr) {
		const struct intervals_thread *t =
			intervals_thread(iv, e->thread);
		const char *arch =
			iv->capture[iv->type[role->type].capture].arch;
		uint64_t addr;
		bool is = futexes_is(intern_get(&iv->names, call)) &&
			  futexes_addr(&role->futex, arch, f, &addr);

		*name = is ? futex_locks_name(iv->futexes, t->process, t->pid,
					      e->time, addr)
			   : 0;
		return 0;
	}
	if (iv->callers)
		return callers_of(iv->callers, e,
				  !intervals_of_program(iv, role->pair), name,
				  err);
	*name = iv->by_cgroup ? table_find_hash(&iv->by_event,
						hash_u64((uint64_t)e->id))
			      : TABLE_NONE;
	if (*name == TABLE_NONE)
		*name = role->by && f[role->by - 1].present
				? intervals_name_at(iv, role, role->by, f,
						    false, e->thread)
				: 0;
	return 0;
}

/* ---- records */

/* Returns what a system call does besides, enum pairing_call. */
static uint8_t intervals_call(const char *name)
{
	static const struct {
		const char *name;
		uint8_t call;
	} calls[] = {
		{ "exit", PAIRING_NEVER_RETURNS },
		{ "exit_group", PAIRING_NEVER_RETURNS },
		{ "execve", PAIRING_EXEC },
		{ "execveat", PAIRING_EXEC },
		{ "clone", PAIRING_CLONE },
		{ "clone3", PAIRING_CLONE },
		{ "fork", PAIRING_CLONE },
		{ "vfork", PAIRING_CLONE },
		{ "rt_sigreturn", PAIRING_SIGRETURN },
		{ "sigreturn", PAIRING_SIGRETURN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (!strcmp(calls[i].name, name))
			return calls[i].call;
	return PAIRING_PLAIN;
}

static bool intervals_has_flag(struct intervals *iv, const struct field *f,
			       size_t at, const struct pair_flag *flag)
{
	int64_t flags = intervals_value(iv, f, at);

	if (intervals_is_text(flags) && f[at - 1].text)
		return strstr(f[at - 1].text, flag->word);
	return flags & flag->bit;
}

/* Returns whether a begin may be a part; EITHER without the field. */
static uint8_t intervals_begins(struct intervals *iv,
				const struct pair_part *part,
				const struct field *f, size_t at)
{
	if (!at)
		return PAIRING_EITHER;
	if (!intervals_has_flag(iv, f, at, &part->may))
		return PAIRING_FIRST;
	return intervals_has_flag(iv, f, at, &part->first) ? PAIRING_EITHER
							   : PAIRING_PART;
}

/* Fills in the keys of a disk request. Returns whether it was ever issued. */
static bool intervals_request(struct intervals *iv,
			      const struct intervals_role *role,
			      const struct field *f, struct pairing_record *r)
{
	int64_t *direction = &r->key[PAIR_KEYS - 1];

	if (role->length)
		r->length = intervals_value(iv, f, role->length);
	if (!role->direction)
		return true;
	*direction = pair_direction(f[role->direction - 1].text,
				    intervals_value(iv, f, role->direction));
	/* for a flush, the begin has sector 0, and the end has -1 */
	if (r->key[1] == -1)
		r->key[1] = 0;
	/* an end without sectors belongs to no request that was issued: it ends
	 * a sequence of flushes */
	return r->length || r->role != PAIRING_END ||
	       !(*direction == 'R' || *direction == 'W' || *direction == 'D' ||
		 (*direction > 0 && *direction <= 7));
}

/* Most ns that the start of a call is late: a text has times in us, and
 * durations with up to three digits more. */
#define INTERVALS_BLUR 2000

/* Takes an event of function_graph or the like. A leaf is begin and end. */
static void intervals_take_call(struct intervals *iv,
				const struct intervals_role *role,
				const struct field *f, struct pairing_record *r)
{
	r->depth = (uint32_t)intervals_value(iv, f, role->depth);
	r->from = intervals_value(iv, f, role->from);
	r->to = intervals_value(iv, f, role->to);
	r->took = interval_span(r->from, r->to);
	if (!role->took) {
		pairing_take(iv->pairing, r);
		return;
	}
	if (r->role == PAIRING_BEGIN)
		pairing_take(iv->pairing, r);
	if (r->role == PAIRING_BEGIN && !intervals_value(iv, f, role->leaf))
		return;
	r->took = intervals_value(iv, f, role->took);
	r->blur = INTERVALS_BLUR;
	r->from = r->to = r->time;
	if (r->role == PAIRING_BEGIN
		    ? __builtin_add_overflow(r->to, r->took, &r->to)
		    : __builtin_sub_overflow(r->from, r->took, &r->from))
		return;
	r->role = PAIRING_END;
	pairing_take(iv->pairing, r);
}

/* Takes a text of trace_marker, if it is the begin or the end of a slice of its
 * kind, or a counter. */
static void intervals_take_mark(struct intervals *iv,
				const struct intervals_role *role,
				const struct field *f, struct pairing_record *r)
{
	const char *text = role->named ? f[role->named - 1].text : NULL;
	struct marker m;

	if (!text || !marker_parse(text, &m))
		return;
	if (m.letter == 'C' && iv->counter && r->role == PAIRING_BEGIN &&
	    r->kind->again == PAIR_NEST) {
		const struct intervals_counter c = {
			.event = r->event,
			.time = r->time,
			.pid = m.pid,
			.value = strtoll(m.cookie.p, NULL, 10),
			.thread = r->thread,
			.name = intern_add_bytes(&iv->names, m.name.p,
						 m.name.n),
		};

		iv->counter(iv->arg, &c);
	}
	if (m.letter != r->kind->marks[r->role == PAIRING_END])
		return;
	if (m.name.n)
		r->name = intern_add_bytes(&iv->names, m.name.p, m.name.n);
	if (r->kind->again != PAIR_NEST) {
		const struct marker_part last = m.track.n ? m.track : m.name;

		r->key[0] = m.pid;
		r->key[1] =
			intern_add_bytes(&iv->names, m.cookie.p, m.cookie.n);
		r->key[2] = intern_add_bytes(&iv->names, last.p, last.n);
	}
	pairing_take(iv->pairing, r);
}

/* Takes an event in one role. f: its fields, or those of `role` are all 0. */
static int intervals_take(struct intervals *iv, const struct event_row *e,
			  const struct intervals_role *role,
			  const struct field *f, struct err *err)
{
	const struct pair_kind *k = iv->pair[role->pair].kind;
	struct pairing_record r = {
		.kind = k,
		.time = e->time,
		.event = e->id,
		.pair = role->pair,
		.world = iv->pair[role->pair].world,
		.thread = e->thread,
		.process = intervals_thread(iv, e->thread)->process,
		.born = intervals_thread(iv, e->thread)->born,
		.cpu = intervals_cpu_of(e),
		.role = role->role,
		.cancels = iv->pair[role->pair].cancels,
		.has_ret = role->ret && f[role->ret - 1].present,
		.untimed = !e->timed,
		.premise = (k->probes ? INTERVAL_IF_PROBED : 0) |
			   (k->here && !role->named ? INTERVAL_IF_RETURNED : 0),
	};

	/* a text of function_graph shows on each CPU when another task comes */
	if (k->scope == PAIR_THREAD && !e->thread && !role->took) {
		iv->sums.no_thread++;
		return 0;
	}
	if (k->marks) {
		intervals_take_mark(iv, role, f, &r);
		return 0;
	}
	for (size_t i = 0; i < PAIR_KEYS; i++)
		r.key[i] = intervals_value(iv, f, role->key[i]);
	/* the idle threads of all CPUs have the tid 0 */
	if (k->scope == PAIR_THREAD && !k->key[PAIR_KEYS - 1] &&
	    (!e->thread || intervals_thread(iv, e->thread)->tid <= 0))
		r.key[PAIR_KEYS - 1] = r.cpu + 1;
	const size_t named = k->calls && role->tag ? role->tag : role->named;

	r.name = role->name;
	if (!r.name && named)
		r.name = intervals_name_at(iv, role, named, f, k->calls,
					   e->thread);
	if (k->here) {
		uint32_t name;
		char hex[32];

		if (intervals_here(iv, e, &name, err))
			return -1;
		r.key[0] = intervals_value(iv, f, role->named);
		if (!name && r.key[0]) {
			snprintf(hex, sizeof(hex), "%#" PRIx64,
				 (uint64_t)r.key[0]);
			name = intern_add(&iv->names, hex);
		}
		r.name = name;
	}
	if (k->probes)
		r.key[0] = r.name;
	if (k->calls) {
		r.tag = role->tag ? intervals_value(iv, f, role->tag) : r.name;
		r.call = intervals_call(intern_get(&iv->names, r.name));
		/* without the machine, calls that no event names are numbers */
		if (!role->name &&
		    !*iv->capture[iv->type[role->type].capture].arch) {
			r.call = PAIRING_UNNAMED;
			r.died = intervals_thread(iv, e->thread)->died;
		}
	}
	if (iv->ask->by && intervals_by(iv, role, f, e, r.name, &r.by, err))
		return -1;
	if (r.has_ret)
		r.ret = intervals_value(iv, f, role->ret);
	r.has_ret &= !intervals_is_text(r.ret); /* "handled" */
	if (k->part.field)
		r.begins = intervals_begins(iv, &k->part, f, role->part);
	if (k->counted) {
		intervals_take_call(iv, role, f, &r);
		return 0;
	}
	if (intervals_request(iv, role, f, &r))
		pairing_take(iv->pairing, &r);
	return 0;
}

/* Takes an event in each of its roles. */
static int intervals_take_event(struct intervals *iv, struct event_row *e,
				struct err *err)
{
	const struct field *f;
	const struct intervals_type *t;
	int rc;

	if (e->type < 1 || (uint64_t)e->type >= iv->n_type)
		return 0;
	t = &iv->type[e->type];
	if (!t->n || (!e->timed && !t->calls))
		return 0;
	/* a text of function_graph may have durations alone, in their order */
	if (!e->timed)
		e->time = e->id;
	e->thread = e->thread < iv->n_thread
			    ? iv->thread[e->thread].same ?: e->thread
			    : 0;
	rc = payloads_fields(iv->payloads, e, &f, err);
	if (rc < 0)
		return -1;
	for (uint32_t i = 0; i < t->n; i++) {
		const struct intervals_role *role = &iv->role[t->first + i];

		/* an event without its fields only shows when it was */
		const struct intervals_role bare = { .pair = role->pair,
						     .type = role->type,
						     .name = role->name,
						     .role = role->role };

		if ((rc || (!role->key[0] && !role->tag && !role->depth)) &&
		    intervals_take(iv, e, rc ? role : &bare, f, err))
			return -1;
	}
	return 0;
}

int intervals_each(struct intervals *iv, pairing_fn *fn, void *arg,
		   struct err *err)
{
	struct event_rows rows =
		event_rows_open(iv->db, EVENT_ROWS_TO_PAYLOAD, err);
	struct event_row e;
	int rc = rows.rows ? 0 : -1;

	iv->arg = arg;
	iv->pairing = pairing_new(&iv->lost, fn, iv->inside, arg);
	while (!rc && iv->n_role && (rc = event_rows_next(&rows, &e, err)) > 0)
		rc = intervals_take_event(iv, &e, err);
	if (!rc)
		pairing_end(iv->pairing);
	iv->sums.doubled = pairing_doubled(iv->pairing);
	/* Adds the premises of proved pairs to the sentence in sums.premise. */
	unsigned int bits = pairing_premise(iv->pairing);

	static const char *const words[INTERVAL_PREMISES] = {
		"no thread waited for a mutex when the recording began",
		"no two of the same key were open where records are missing",
		"no request was merged into another while it waited",
		"no worker was interrupted between taking a work and its start",
		"the kernel missed no hit of a probe",
		"no function was left by longjmp",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const char *to = iv->sums.premise;

		if (bits >> i & 1)
			iv->sums.premise = arena_join(
				&iv->text,
				to ? arena_join(&iv->text, to, ' ', "and")
				   : "if",
				' ', words[i]);
	}
	pairing_free(iv->pairing);
	rows_close(rows.rows);
	return rc;
}

/* ---- opening and closing */

/* Returns whether types are named like both ends of a pair. */
static bool intervals_are_named(const struct intervals *iv)
{
	char probe[PAIR_PROBE_NAME];
	const char *rest;
	size_t len;

	if (iv->ask->nested)
		return any_where(iv->n_type, t, pair_nests(iv->type[t].name));
	for (size_t i = 0; i < pair_kinds_n; i++) {
		bool begins = pair_kinds[i].counted, ends = false;

		for (uint32_t t = 1; t < iv->n_type; t++) {
			const char *name = iv->type[t].name;

			begins |= pair_kinds[i].probes ||
				  pair_name_is(pair_kinds[i].begin, name, &rest,
					       &len);
			ends |= pair_kinds[i].probes
					? pair_probe_name(name, probe)
					: pair_name_is(pair_kinds[i].end, name,
						       &rest, &len);
		}
		if (begins && ends)
			return true;
	}
	return false;
}

/* Finds the pairs that were recorded. Returns NULL and *err on failure. */
static struct intervals *intervals_begin(struct store *db, const char *path,
					 const struct intervals_ask *a,
					 struct err *err)
{
	struct intervals *iv = mem_new(1, sizeof(*iv));

	iv->db = db;
	iv->path = path;
	iv->ask = a;
	intern_add(&iv->names, "");
	intern_add(&iv->names, "[no name]"); /* INTERVAL_NO_NAME */
	if (intervals_read_lines(iv, err))
		goto fail;
	/* the types of events, by id, and the captures that they are in */
	struct rows *r = rows_dense(iv->db, "interval_types", err);

	*mem_add(iv->type, iv->n_type, iv->cap_type) =
		(struct intervals_type){ .name = "", .buffer = "" };
	while (rows_step(r)) {
		struct intervals_type *t =
			mem_add(iv->type, iv->n_type, iv->cap_type);
		struct intervals_capture *c;

		*t = (struct intervals_type){
			.name = arena_strdup(&iv->text,
					     rows_text(r, INTERVAL_TYPES_NAME)),
			.buffer = arena_strdup(
				&iv->text, rows_text(r, INTERVAL_TYPES_BUFFER)),
			.capture = intervals_line(
				iv, rows_int(r, INTERVAL_TYPES_CAPTURE)),
			.sample = rows_int(r, INTERVAL_TYPES_SAMPLE) != 0,
			.sampled = rows_int(r, INTERVAL_TYPES_SAMPLED) != 0,
		};
		/* each buffer of a capture is a world of its own */
		t->world = (uint32_t)iv->n_type - 1;
		for (uint32_t i = 1; i < t->world; i++)
			if (iv->type[i].capture == t->capture &&
			    !strcmp(iv->type[i].buffer, t->buffer)) {
				t->world = iv->type[i].world;
				break;
			}
		while (iv->n_capture <= t->capture)
			*mem_add(iv->capture, iv->n_capture, iv->cap_capture) =
				(struct intervals_capture){ .first = INT64_MAX,
							    .last = INT64_MIN };
		c = &iv->capture[t->capture];
		if (c->format)
			continue;
		c->format = arena_strdup(&iv->text,
					 rows_text(r, INTERVAL_TYPES_FORMAT));
		c->arch = arena_strdup(&iv->text,
				       rows_text(r, INTERVAL_TYPES_ARCH));
		c->by_cpu = !strcmp(c->format, "perf") &&
			    rows_int(r, INTERVAL_TYPES_SYSTEM_WIDE) != 0;
		c->some = !rows_int(r, INTERVAL_TYPES_SYSTEM_WIDE);
		if (rows_int(r, INTERVAL_TYPES_PAUSES))
			iv->sums.premise = "if " MISSING_ON_WORDS;
	}
	if (rows_end(r, err))
		goto fail;
	/* the formats of all events are read only where they are needed */
	if (a->any && !a->n_pair && !intervals_are_named(iv))
		return iv;
	iv->payloads = payloads_open(db, err);
	if (iv->payloads && !intervals_choose(iv, err))
		return iv;
fail:
	intervals_close(iv);
	return NULL;
}

int intervals_any(struct store *db, struct err *err)
{
	const struct intervals_ask all = { .any = true };
	struct intervals *iv = intervals_begin(db, "", &all, err);
	int any = iv ? iv->n_role > 0 : -1;

	intervals_close(iv);
	return any;
}

struct intervals *intervals_open(struct store *db, const char *path,
				 const struct intervals_ask *a, struct err *err)
{
	struct intervals *iv = intervals_begin(db, path, a, err);

	/* each report asks whether there are calls: this must be quick */
	if (!iv || (a->nested && !iv->n_role))
		return iv;
	if (intervals_read_by(iv, err) || intervals_read_locks(iv, err) ||
	    intervals_read_threads(iv, err) || intervals_read_times(iv, err) ||
	    (iv->n_role &&
	     silent_tasks_ask(db, path, intervals_take_missing, iv, err)) ||
	    intervals_read_losses(iv, err)) {
		intervals_close(iv);
		return NULL;
	}
	/* records of tasks that were not recorded are always missing */
	for (uint32_t i = 0; i < iv->n_capture; i++)
		if (iv->capture[i].some)
			intervals_lose_silent(
				iv, i,
				&(struct timeline_loss){ .from = TIMELINE_START,
							 .to = TIMELINE_END,
							 .cpu = -1,
							 .of_task = true });
	for (size_t i = 0; i < iv->n_cpu; i++) {
		struct intervals_capture *of = &iv->capture[iv->cpu[i].capture];

		lower_to(of->first, iv->cpu[i].first);
		raise_to(of->last, iv->cpu[i].last);
	}
	iv->sums.first = INT64_MAX;
	iv->sums.last = INT64_MIN;
	for (size_t i = 0; i < iv->n_cpu; i++) {
		/* Adds the times in which a CPU was not recorded. perf turns
		 * its events on and off CPU by CPU, in their order: a record
		 * shows that all CPUs before it were on, or that those after
		 * it still are. Others turn all of them on at once. A CPU
		 * without records had nothing to record. */
		struct intervals_cpu *c = &iv->cpu[i];

		struct intervals_capture *of = &iv->capture[c->capture];
		int64_t on = of->by_cpu ? c->first : of->first;
		int64_t off = of->by_cpu ? c->last : of->last;

		for (size_t k = 0; of->by_cpu && k < iv->n_cpu; k++) {
			const struct intervals_cpu *o = &iv->cpu[k];

			if (o->capture != c->capture || o->cpu < 0)
				continue;
			if (o->cpu > c->cpu && o->first < on)
				on = o->first;
			if (o->cpu < c->cpu && o->last > off)
				off = o->last;
		}
		intervals_blind(iv, c, INT64_MAX, false);
		intervals_lose_any(iv, c->capture, c->cpu, INT64_MIN, on);
		intervals_lose_any(iv, c->capture, c->cpu, off, INT64_MAX);
		lower_to(iv->sums.first, iv->cpu[i].first);
		raise_to(iv->sums.last, iv->cpu[i].last);
	}
	lost_times_seal(&iv->lost);
	return iv;
}

void intervals_close(struct intervals *iv)
{
	if (!iv)
		return;
	callers_close(iv->callers);
	callers_close(iv->here);
	futex_locks_close(iv->futexes);
	payloads_close(iv->payloads);
	lost_times_release(&iv->lost);
	table_release(&iv->by_cpu);
	table_release(&iv->by_value);
	table_release(&iv->by_lock);
	table_release(&iv->by_event);
	intern_release(&iv->names);
	arena_release(&iv->text);
	for (size_t i = 0; i < iv->n_capture; i++)
		free(iv->capture[i].world);
	free_all(iv->own, iv->line, iv->type, iv->capture, iv->cpu, iv->pair,
		 iv->role, iv->thread, iv);
}

bool intervals_of_program(const struct intervals *iv, uint32_t pair)
{
	const struct pair_kind *k = iv->pair[pair].kind;

	return k->calls || intervals_is_own(iv, k);
}

const struct intervals_thread *intervals_thread(const struct intervals *iv,
						uint32_t thread)
{
	return &iv->thread[thread < iv->n_thread ? thread : 0];
}

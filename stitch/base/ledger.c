/* ledger.c - records everything that was skipped, lost, late or damaged. */
#include "stitch/base/ledger.h"

#include "stitch/base/clock_map.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"

struct skip {
	uint16_t capture;
	const char *what;
	uint64_t key, n, off;
	const char *says;
};

/* Number of waiting entries at which when_many() is called, and of calls for
 * which an empty queue keeps its memory. */
#define MANY 4096
/* Most times of broken records kept for one capture. */
#define BROKEN_MAX 16384

/* The damage of one capture. */
struct damage {
	bool any, end, anywhere;
	uint64_t *time;
	size_t n, cap;
};

/* Equal calls in a queue: of ledger_add(), or of ledger_skip() with its key in
 * e.len. */
struct ledger_call {
	struct ledger_entry e;
	uint64_t times;
	bool skip;
};

struct ledger {
	bool queued; /* the calls are kept, and nothing else is used */
	struct ledger_call *call;
	size_t n_call, cap_call, passed;
	/* Index plus 1 of the queue's newest call of each kind, and of
	 * ledger_skip(). */
	size_t newest[LEDGER_KINDS + 1];
	struct ledger_entry *entry;
	size_t n, cap, taken;
	uint64_t count[LEDGER_KINDS];
	uint64_t kept[LEDGER_KINDS]; /* entries that get a row */
	uint64_t over[LEDGER_KINDS]; /* sum of n of the entries that get no
				      * row */
	struct table by_key;	     /* index of skip[] */
	struct skip *skip;
	size_t n_skip, cap_skip;
	struct damage *damage; /* by capture */
	size_t n_damage, cap_damage;
	struct clock_map *map; /* by capture; zeroed: none */
	size_t n_map, cap_map;
	bool ended;
	bool calling; /* when_many() is running */
	void (*when_many)(void *arg);
	void *arg;
	const char *(*reword)(void *arg, const char *detail);
	void *reword_arg;
};

struct ledger *ledger_new(void)
{
	return mem_new(1, sizeof(struct ledger));
}

struct ledger *ledger_new_queue(void)
{
	struct ledger *lg = ledger_new();

	lg->queued = true;
	return lg;
}

static void ledger_drop_calls(struct ledger *lg)
{
	for (size_t i = 0; i < lg->n_call; i++)
		if (!lg->call[i].skip)
			free((char *)lg->call[i].e.detail);
	lg->n_call = lg->passed = 0;
	memset(lg->newest, 0, sizeof(lg->newest));
	if (lg->cap_call <= MANY)
		return;
	free(lg->call);
	lg->call = NULL;
	lg->cap_call = 0;
}

/* Returns whether a call only adds to the same sum as the newest call of its
 * kind. A page of damaged entries has hundreds of such calls, and a file may
 * have any number of pages before its first record. */
static bool ledger_call_repeats(const struct ledger *lg,
				const struct ledger_call *c,
				const struct ledger_entry *e)
{
	if (c->e.capture != e->capture || strcmp(c->e.what, e->what) != 0)
		return false;
	if (c->skip)
		return c->e.len == e->len;
	return lg->kept[e->kind] > LEDGER_MAX && c->e.n == e->n &&
	       c->e.counts == e->counts &&
	       (e->kind != LEDGER_DAMAGE || (!c->e.t1 && !e->t1));
}

/* Keeps a call in a queue, or counts it with the last equal one. */
static void ledger_queue_call(struct ledger *lg, const struct ledger_entry *e,
			      bool skip)
{
	size_t *newest = &lg->newest[skip ? LEDGER_KINDS : e->kind];
	struct ledger_call *c = *newest ? &lg->call[*newest - 1] : NULL;

	if (c && ledger_call_repeats(lg, c, e)) {
		c->times++;
		return;
	}
	c = mem_add(lg->call, lg->n_call, lg->cap_call);
	*c = (struct ledger_call){ *e, 1, skip };
	*newest = lg->n_call;
	if (skip)
		return;
	lg->kept[e->kind]++;
	c->e.detail = mem_strdup(e->detail);
}

void ledger_free(struct ledger *lg)
{
	if (!lg)
		return;
	ledger_drop_calls(lg);
	free(lg->call);
	for (size_t i = 0; i < lg->n; i++)
		free((char *)lg->entry[i].detail);
	free_all(lg->entry, lg->skip);
	for (size_t i = 0; i < lg->n_damage; i++)
		free(lg->damage[i].time);
	free_all(lg->damage, lg->map);
	table_release(&lg->by_key);
	free(lg);
}

/* Adds a copy of an entry, and calls when_many() if many wait. */
static void ledger_append(struct ledger *lg, const struct ledger_entry *e)
{
	/* entries that were taken are freed before new ones are added */
	if (lg->taken == lg->n) {
		for (size_t i = 0; i < lg->n; i++)
			free((char *)lg->entry[i].detail);
		lg->n = lg->taken = 0;
	}
	struct ledger_entry *own = mem_add(lg->entry, lg->n, lg->cap);

	*own = *e;
	own->detail = mem_strdup(e->detail);
	if (!lg->when_many || lg->calling || lg->n - lg->taken < MANY)
		return;
	lg->calling = true;
	lg->when_many(lg->arg);
	lg->calling = false;
}

void ledger_when_many(struct ledger *lg, void (*fn)(void *arg), void *arg)
{
	lg->when_many = fn;
	lg->arg = arg;
}

static bool is_listed_word(const char *what, const char *const *word)
{
	while (*word && strcmp(what, *word) != 0)
		word++;
	return *word != NULL;
}

bool ledger_is_adjacent(const char *what)
{
	static const char *const beside[] = { "maps", "perf map", "jitdump",
					      NULL };

	return is_listed_word(what, beside);
}

/* Notes which records of the capture may be missing because of an entry. */
static void ledger_note_damage(struct ledger *lg, const struct ledger_entry *e)
{
	static const char *const no_record[] = { "feature", "tracing data",
						 "fields", NULL };
	/* Nothing after these places can be read. */
	static const char *const to_the_end[] = { "truncated", "packed",
						  "compressed", "unreadable",
						  NULL };

	struct damage *d =
		mem_at(lg->damage, lg->n_damage, lg->cap_damage, e->capture);

	d->any = true;
	if (is_listed_word(e->what, no_record) || ledger_is_adjacent(e->what))
		return;
	if (is_listed_word(e->what, to_the_end)) {
		d->end = true;
	} else if (!e->t1 || d->n >= BROKEN_MAX) {
		d->anywhere = true;
	} else {
		*mem_add(d->time, d->n, d->cap) = e->t1;
	}
}

bool ledger_damaged(const struct ledger *lg, uint16_t capture)
{
	return lg && capture < lg->n_damage && lg->damage[capture].any;
}

bool ledger_broken(const struct ledger *lg, uint16_t capture,
		   struct ledger_broken *out)
{
	if (!ledger_damaged(lg, capture))
		return false;
	const struct damage *d = &lg->damage[capture];

	*out = (struct ledger_broken){ d->time, d->n, d->end, d->anywhere };
	return d->n || d->end || d->anywhere;
}

void ledger_align(struct ledger *lg, uint16_t capture,
		  const struct clock_map *map)
{
	*mem_at(lg->map, lg->n_map, lg->cap_map, capture) = *map;
}

uint32_t ledger_add(struct ledger *lg, const struct ledger_entry *e)
{
	struct ledger_entry one = *e;

	if (!lg)
		return 0;
	if (lg->queued) {
		ledger_queue_call(lg, e, false);
		return 0;
	}
	if (!e->on_line && e->capture < lg->n_map) {
		const struct clock_map *map = &lg->map[e->capture];

		one.t0 = e->t0 ? clock_map_time(map, e->t0) : 0;
		one.t1 = e->t1 ? clock_map_time(map, e->t1) : 0;
	}
	lg->count[e->kind]++;
	if (e->kind == LEDGER_DAMAGE)
		ledger_note_damage(lg, &one);
	if (lg->kept[e->kind] >= LEDGER_MAX) {
		if (e->kind != LEDGER_LOSS)
			ledger_add_up(&lg->over[e->kind], e->n ? e->n : 1);
		else if (e->counts)
			ledger_add_up(&lg->over[LEDGER_LOSS], e->n);
		return e->kind == LEDGER_LOSS ? LEDGER_MAX + 1 : 0;
	}
	lg->kept[e->kind]++;
	if (lg->reword && e->detail)
		one.detail = lg->reword(lg->reword_arg, e->detail);
	if (e->kind == LEDGER_LOSS)
		one.id = (uint32_t)lg->kept[e->kind];
	ledger_append(lg, &one);
	return one.id;
}

void ledger_reword(struct ledger *lg, const char *(*fn)(void *, const char *),
		   void *arg)
{
	lg->reword = fn;
	lg->reword_arg = arg;
}

/* Returns an entry about one item, without a CPU or event. */
static struct ledger_entry ledger_entry_of(enum ledger_kind kind,
					   uint16_t capture, const char *what,
					   const char *detail)
{
	return (struct ledger_entry){ .kind = kind,
				      .capture = capture,
				      .what = what,
				      .detail = detail,
				      .n = 1,
				      .cpu = -1,
				      .event = -1 };
}

void ledger_damage(struct ledger *lg, uint16_t capture, const char *what,
		   uint64_t off, uint64_t len, const struct err *err)
{
	struct ledger_entry e = ledger_entry_of(LEDGER_DAMAGE, capture, what,
						err ? err->msg : NULL);

	e.off = off;
	e.len = len;
	ledger_add(lg, &e);
}

SAME_FUNCTION(same_skip, struct ledger, skip[id], struct skip,
	      x->capture == y->capture && x->key == y->key &&
		      !strcmp(x->what, y->what));

void ledger_skip(struct ledger *lg, uint16_t capture, const char *what,
		 uint64_t key, uint64_t off, const char *says)
{
	struct skip s = { capture, what, key, 1, off, says };

	if (!lg)
		return;
	if (lg->queued) {
		const struct ledger_entry e = { .capture = capture,
						.what = what,
						.detail = says,
						.off = off,
						.len = key };

		ledger_queue_call(lg, &e, true);
		return;
	}
	lg->count[LEDGER_SKIPPED]++;
	uint64_t h = hash_pair(key, hash_bytes(what, strlen(what), capture));
	uint32_t id = table_find(&lg->by_key, h, same_skip, lg, &s);

	if (id != TABLE_NONE) {
		lg->skip[id].n++;
		return;
	}
	if (lg->n_skip >= LEDGER_MAX) {
		ledger_add_up(&lg->over[LEDGER_SKIPPED], 1);
		return;
	}
	table_add(&lg->by_key, h, (uint32_t)lg->n_skip);
	*mem_add(lg->skip, lg->n_skip, lg->cap_skip) = s;
}

void ledger_note(struct ledger *lg, uint16_t capture, const char *what,
		 const char *detail)
{
	const struct ledger_entry e =
		ledger_entry_of(LEDGER_NOTE, capture, what, detail);

	ledger_add(lg, &e);
}

void ledger_left_out(struct ledger *lg, uint16_t capture, const char *what,
		     const char *detail, uint64_t n)
{
	struct ledger_entry e =
		ledger_entry_of(LEDGER_SKIPPED, capture, what, detail);

	e.n = n;
	if (n)
		ledger_add(lg, &e);
}

int ledger_take(struct ledger *lg, struct ledger_entry *e)
{
	if (!lg || lg->taken >= lg->n)
		return 0;
	*e = lg->entry[lg->taken++];
	return 1;
}

void ledger_end(struct ledger *lg)
{
	if (!lg || lg->ended)
		return;
	lg->ended = true;
	for (size_t i = 0; i < lg->n_skip; i++) {
		const struct skip *s = &lg->skip[i];
		struct ledger_entry e = {
			.kind = LEDGER_SKIPPED,
			.capture = s->capture,
			.what = s->what,
			.detail = s->says,
			.off = s->off,
			.t0 = 0,
			.n = s->n,
			.len = s->key,
			.cpu = -1,
			.event = -1,
		};

		ledger_append(lg, &e);
	}
	lg->n_skip = 0;
	for (int k = 0; k < LEDGER_KINDS; k++) {
		struct ledger_entry e = {
			.kind = (enum ledger_kind)k,
			.what = "more",
			.detail = "too many to keep a row each",
			.n = lg->over[k],
			.id = k == LEDGER_LOSS ? LEDGER_MAX + 1 : 0,
			.counts = true,
			.cpu = -1,
			.event = -1,
		};

		if (e.n || (e.id && lg->count[k] > lg->kept[k]))
			ledger_append(lg, &e);
	}
}

uint64_t ledger_count(const struct ledger *lg, enum ledger_kind kind)
{
	return lg->count[kind];
}

size_t ledger_queued(const struct ledger *queue)
{
	return queue->n_call;
}

void ledger_pass(struct ledger *queue, struct ledger *to, size_t n)
{
	while (queue->passed < n && queue->passed < queue->n_call) {
		const struct ledger_call *c = &queue->call[queue->passed++];

		for (uint64_t i = 0; i < c->times; i++)
			if (c->skip)
				ledger_skip(to, c->e.capture, c->e.what,
					    c->e.len, c->e.off, c->e.detail);
			else
				ledger_add(to, &c->e);
	}
}

void ledger_swap(struct ledger *a, struct ledger *b)
{
	struct ledger was = *a;

	*a = *b;
	*b = was;
	ledger_drop_calls(b);
	memcpy(b->kept, a->kept, sizeof(b->kept));
}

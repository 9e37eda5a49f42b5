/* cookies.c - a table of cookies, with what the join knows about each. */
#include "stitch/join/cookies.h"

#include "stitch/base/mem.h"
#include "stitch/record.h"

/* Buckets of an empty table. */
#define BUCKETS 64
/* Neighbouring buckets: a cache line of them. */
#define NEAR UINT64_C(16)

void cookies_init(struct cookies *cs)
{
	*cs = (struct cookies){ .n = 1, .n_bucket = BUCKETS };
	cs->bucket = mem_new(BUCKETS, sizeof(*cs->bucket));
	cs->entry = mem_grow_to(NULL, &cs->cap, 1, sizeof(*cs->entry));
}

void cookies_release(struct cookies *cs)
{
	free(cs->bucket);
	table_release(&cs->by_tid);
	free(cs->entry);
}

static uint64_t cookie_tid_hash(const struct cookie_key *k)
{
	return hash_pair(k->cookie, (uint64_t)(uint32_t)k->tid << 32 |
					    (uint64_t)k->nonce << 16 | k->line);
}

static struct cookie_key cookie_key_at(const struct cookie_entry *e)
{
	return (struct cookie_key){ e->cookie, e->tid, e->line, e->nonce,
				    e->hash };
}

static bool cookie_is_same(const void *owner, uint32_t id, const void *key)
{
	const struct cookie_entry *e =
		&((const struct cookies *)owner)->entry[id];
	const struct cookie_key *k = key;

	return e->cookie == k->cookie && e->line == k->line &&
	       e->nonce == k->nonce;
}

static bool cookie_and_tid_are_same(const void *owner, uint32_t id,
				    const void *key)
{
	const struct cookie_entry *e =
		&((const struct cookies *)owner)->entry[id];
	const struct cookie_key *k = key;

	return cookie_is_same(owner, id, key) && e->tid == k->tid;
}

/* Returns the key of a cookie. Consecutive cookies have equal hashes:
 * cookies_bucket() spreads them. hash_u64() mixes the product of hash_pair(),
 * whose low bits alone put cookies that count up into few buckets for one
 * secret key in a hundred. */
struct cookie_key cookie_key_of(uint64_t cookie, int32_t tid, uint16_t line,
				bool nonce)
{
	return (struct cookie_key){
		cookie,
		tid,
		line,
		nonce,
		hash_u64(hash_pair(cookie & ~((NEAR - 1) << 32 | (NEAR - 1)),
				   (uint64_t)nonce << 16 | line)),
	};
}

/* Returns the bucket of a cookie. Cookies count up, in the upper half if the
 * kernel makes them (the lower half has the CPU) and often in the lower if a
 * program does. Consecutive cookies have adjacent buckets, so that one cache
 * miss serves several: without that, misses took 5 % of an ingest with many
 * requests. No more than NEAR cookies of a line have equal hashes. Those that
 * count up by more than NEAR are spread by h >> 60 over all neighbours: a
 * million of them took a quarter longer. */
static uint32_t *cookies_bucket(const struct cookies *cs, uint64_t cookie,
				uint64_t h)
{
	const uint64_t at = cookie ^ cookie >> 32 ^ h >> 60;

	return &cs->bucket[(h * NEAR | at % NEAR) & (cs->n_bucket - 1)];
}

static uint32_t cookies_find_head(const struct cookies *cs,
				  const struct cookie_key *k)
{
	uint32_t i = *cookies_bucket(cs, k->cookie, k->hash);

	while (i && !cookie_is_same(cs, i, k))
		i = cs->entry[i].beside;
	return i;
}

static void cookies_put_head(struct cookies *cs, uint32_t i)
{
	struct cookie_entry *e = &cs->entry[i];
	uint32_t *to = cookies_bucket(cs, e->cookie, e->hash);

	e->beside = *to;
	*to = i;
}

/* Adds a head, and doubles the buckets if there are too few for all heads. */
static void cookies_add_head(struct cookies *cs, uint32_t i)
{
	if (cs->n_head++ * 4 == cs->n_bucket) {
		uint32_t *old OWNED = cs->bucket;
		size_t n = cs->n_bucket;

		cs->n_bucket *= 2;
		cs->bucket = mem_new(cs->n_bucket, sizeof(*cs->bucket));
		for (size_t b = 0; b < n; b++)
			for (uint32_t k = old[b], next; k; k = next) {
				next = cs->entry[k].beside;
				cookies_put_head(cs, k);
			}
	}
	cookies_put_head(cs, i);
}

static uint32_t cookies_find_tid(const struct cookies *cs, struct cookie_key k,
				 int32_t tid)
{
	k.tid = tid;
	uint32_t i = table_find(&cs->by_tid, cookie_tid_hash(&k),
				cookie_and_tid_are_same, cs, &k);

	return i == TABLE_NONE ? 0 : i;
}

/* An unhashed thread has tid -1; then the cookie alone decides. */
uint32_t cookies_find(const struct cookies *cs, const struct cookie_key *key)
{
	uint32_t i = cookies_find_head(cs, key);

	if (!i || key->tid < 0 || cs->entry[i].tid < 0 ||
	    cs->entry[i].tid == key->tid)
		return i;
	if (!cs->entry[i].newer)
		return 0;
	i = cookies_find_tid(cs, *key, key->tid);
	return i ? i : cookies_find_tid(cs, *key, -1);
}

static void cookies_index_tid(struct cookies *cs, uint32_t i, bool add)
{
	const struct cookie_key k = cookie_key_at(&cs->entry[i]);
	uint64_t key = cookie_tid_hash(&k);

	if (add)
		table_add(&cs->by_tid, key, i);
	else
		table_remove(&cs->by_tid, key, i);
}

/* Takes an entry out of its list, bucket and table. */
static void cookies_unindex(struct cookies *cs, uint32_t i)
{
	struct cookie_entry *e = &cs->entry[i];

	if (e->newer)
		cs->entry[e->newer].older = e->older;
	if (e->older) {
		cs->entry[e->older].newer = e->newer;
		cookies_index_tid(cs, i, false);
		return;
	}
	uint32_t *at = cookies_bucket(cs, e->cookie, e->hash);

	while (*at != i)
		at = &cs->entry[*at].beside;
	*at = e->beside;
	cs->n_head--;
	if (!e->newer)
		return;
	cookies_index_tid(cs, e->newer, false);
	cookies_add_head(cs, e->newer);
}

void cookies_set_tid(struct cookies *cs, uint32_t i, int32_t tid)
{
	bool other = cs->entry[i].older != 0;

	if (other)
		cookies_index_tid(cs, i, false);
	cs->entry[i].tid = tid;
	if (other)
		cookies_index_tid(cs, i, true);
}

uint32_t cookies_new(struct cookies *cs, const struct cookie_key *key)
{
	uint32_t i = cs->free;

	if (i) {
		cs->free = cs->entry[i].first;
	} else {
		mem_grow(cs->entry, cs->cap, cs->n + 1);
		i = (uint32_t)cs->n++;
	}
	cs->entry[i] = (struct cookie_entry){
		.cookie = key->cookie,
		.hash = key->hash,
		.tid = key->tid,
		.line = key->line,
		.nonce = key->nonce,
		.closed_at = TIME_NONE,
		.closed_cpu = -1,
		.first_cpu = -1,
		.sample_time = TIME_NONE,
		.last_time = TIME_NONE,
		.before = TIME_NONE,
	};
	/* make it a head, or add it to the list of its cookie */
	struct cookie_entry *e = &cs->entry[i];
	uint32_t head = cookies_find_head(cs, key);

	if (!head) {
		cookies_add_head(cs, i);
		return i;
	}
	e->older = head;
	e->newer = cs->entry[head].newer;
	cs->entry[head].newer = i;
	if (e->newer)
		cs->entry[e->newer].older = i;
	cookies_index_tid(cs, i, true);
	return i;
}

void cookies_drop(struct cookies *cs, uint32_t i)
{
	struct cookie_entry *e = &cs->entry[i];

	if (!e->sealed)
		cookies_unindex(cs, i);
	e->first = cs->free;
	cs->free = i;
}

void cookies_seal(struct cookies *cs, uint32_t i)
{
	struct cookie_entry *e = &cs->entry[i];

	cookies_unindex(cs, i);
	e->sealed = true;
	e->newer = e->older = 0;
}

void cookies_list(struct cookies *cs, struct cookie_list *l, uint32_t i)
{
	struct cookie_entry *e = &cs->entry[i];

	e->listed = true;
	e->before_it = l->last;
	e->behind_it = 0;
	if (l->last)
		cs->entry[l->last].behind_it = i;
	else
		l->first = i;
	l->last = i;
	l->n++;
}

void cookies_unlist(struct cookies *cs, struct cookie_list *l, uint32_t i)
{
	struct cookie_entry *e = &cs->entry[i];

	if (e->before_it)
		cs->entry[e->before_it].behind_it = e->behind_it;
	else
		l->first = e->behind_it;
	if (e->behind_it)
		cs->entry[e->behind_it].before_it = e->before_it;
	else
		l->last = e->before_it;
	e->listed = false;
	l->n--;
}

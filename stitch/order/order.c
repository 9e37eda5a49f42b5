/* order.c - merges the records of many sources into one time-ordered stream.
 *
 * Between two calls, wait[head..n) is sorted, every run in the temporary file
 * is sorted, and no ref that was output is larger than one that waits, unless a
 * source broke its promise (src->floor); then the record is late. */
#include "stitch/order/order.h"

#include <fcntl.h>
#include <unistd.h>

#include "stitch/base/clock_map.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/base/turns.h"
#include "stitch/order/decode_ahead.h"
#include "stitch/source.h"
#include "stitch/files/new_file.h"

/* Least number of refs to read before they are sorted and merged. */
#define BATCH_MIN 2048
/* Most refs of one time that are compared for equal bytes. */
#define GROUP_MAX 64
#define RUN_BUF 1024
/* Most runs before they are merged into one, because each run costs a buffer
 * and a comparison for every record. */
#define RUN_MAX 64
#define LIMIT_DEFAULT ((uint64_t)256 << 20)

/* More than the cycles of a fast processor in one ns: keys of a source that
 * differ by as much keep their order when converted to ns. */
#define KEYS_APART 64

/* The clock of a source that is not on the timeline. */
struct clock {
	bool moved;
	struct clock_map map;
	uint64_t first; /* first time of the source, on its own clock */
};

/* A sorted run of refs in the temporary file. */
struct run {
	off_t at;      /* file position of the next ref */
	uint64_t left; /* refs that were not read yet */
	struct ref *buf;
	size_t head, n;
};

struct order {
	/* The thread uses everything below but the first members, which do not
	 * change; NULL: no thread. */
	struct decode_ahead *thread;
	struct ledger *ledger;
	struct source **src;
	size_t n_src, cap_src;
	bool *done;
	size_t cap_done;
	/* Heap of the sources that are not at their end: no later ref of a
	 * source precedes its time. */
	struct turn *low;
	size_t n_low, cap_low;
	bool has_low;
	struct clock *clock; /* NULL: all sources are on the timeline */

	struct ref *wait;
	size_t head, n, cap;
	struct ref *scratch;
	size_t cap_scratch;

	uint64_t limit; /* most refs that wait in memory */
	char *temp_dir;
	FILE *temp;
	off_t temp_end;
	struct run *run;
	size_t n_run, cap_run;

	struct ref group[GROUP_MAX]; /* refs of one key that were output but
				      * not released */
	size_t n_group;
	uint64_t last_key;
	bool any;
	struct record rec[2]; /* records that order_next() returns in turn,
			       * without a thread */
	bool odd;
};

struct order *order_new(struct ledger *lg, uint64_t limit, const char *temp_dir)
{
	struct order *ord = mem_new(1, sizeof(*ord));

	ord->ledger = lg;
	/* Arrays double as they grow, and sorting needs a second array. */
	ord->limit = (limit ? limit : LIMIT_DEFAULT) / sizeof(struct ref) / 4;
	if (ord->limit < 2 * (uint64_t)BATCH_MIN)
		ord->limit = 2 * (uint64_t)BATCH_MIN;
	ord->temp_dir = mem_strdup(temp_dir ? temp_dir : "/tmp");
	return ord;
}

void order_free(struct order *ord)
{
	if (!ord)
		return;
	decode_ahead_free(ord->thread);
	for (size_t i = 0; i < ord->n_src; i++)
		source_close(ord->src[i]);
	for (size_t i = 0; i < ord->n_run; i++)
		free(ord->run[i].buf);
	if (ord->temp)
		fclose(ord->temp);
	free_all(ord->run, ord->src, ord->done, ord->low, ord->clock, ord->wait,
		 ord->scratch, ord->temp_dir, ord);
}

void order_add(struct order *ord, struct source *src)
{
	size_t i = ord->n_src++;

	mem_grow(ord->src, ord->cap_src, i + 1);
	mem_grow(ord->done, ord->cap_done, i + 1);
	ord->src[i] = src;
	ord->done[i] = false;
	ord->has_low = false;
	src->index = (uint16_t)i;
}

void order_align(struct order *ord, unsigned int i, const struct clock_map *map)
{
	struct source_info *info = &ord->src[i]->info;

	ord->has_low = false;
	if (!ord->clock)
		ord->clock = mem_new(ord->n_src, sizeof(*ord->clock));
	ord->clock[i] = (struct clock){ true, *map, info->first_ns };
	if (!info->first_ns && !info->last_ns)
		return;
	info->first_ns = clock_map_time(map, info->first_ns);
	info->last_ns = clock_map_time(map, info->last_ns);
}

uint64_t order_time(const struct order *ord, uint16_t source, uint64_t t)
{
	return ord->clock && ord->clock[source].moved && t <= INT64_MAX
		       ? clock_map_time(&ord->clock[source].map, t)
		       : t;
}

struct source *order_source(const struct order *ord, unsigned int i)
{
	if (ord->thread)
		return decode_ahead_source(ord->thread, i);
	return i < ord->n_src ? ord->src[i] : NULL;
}

void order_pos(const struct order *ord, uint64_t *done, uint64_t *total)
{
	*done = *total = 0;
	for (unsigned int i = 0; i < ord->n_src; i++) {
		const struct source *src = order_source(ord, i);

		*done += src->pos;
		*total += src->size;
	}
}

/* Converts a key to the timeline. A record without a time counts as one at the
 * start of its source; one that belongs to the end stays there. */
static uint64_t order_key_time(const struct order *ord, uint16_t source,
			       uint64_t key)
{
	const struct clock *c = &ord->clock[source];

	if (!c->moved || key > INT64_MAX)
		return key;
	return clock_map_time(&c->map, key < c->first ? c->first : key);
}

/* Returns the time up to which a source is complete. */
static uint64_t order_source_floor(const struct order *ord, uint16_t source)
{
	uint64_t floor = ord->src[source]->floor;

	return ord->clock ? order_key_time(ord, source, floor) : floor;
}

static inline uint64_t ref_time(const struct order *ord, const struct ref *ref)
{
	return ord->clock ? order_key_time(ord, ref->source, ref->key)
			  : ref->key;
}

/* Refs keep their source's keys, which decode() needs. Refs of one source have
 * the same order on every clock. */
static inline bool ref_before(const struct order *ord, const struct ref *a,
			      const struct ref *b)
{
	uint64_t ka = a->key;
	uint64_t kb = b->key;

	if (__builtin_expect(ord->clock != NULL, 0) &&
	    (a->source != b->source || ka - kb + KEYS_APART < 2 * KEYS_APART)) {
		ka = order_key_time(ord, a->source, ka);
		kb = order_key_time(ord, b->source, kb);
	}
	if (ka != kb)
		return ka < kb;
	if (a->kind != b->kind)
		return a->kind < b->kind;
	if (a->source != b->source)
		return a->source < b->source;
	return a->seq < b->seq;
}

/* Merges the sorted a[0..na) and b[0..nb) into out, which must not overlap
 * them. */
static void merge_refs(const struct order *ord, const struct ref *a, size_t na,
		       const struct ref *b, size_t nb, struct ref *out)
{
	while (na && nb) {
		if (ref_before(ord, b, a)) {
			*out++ = *b++;
			nb--;
		} else {
			*out++ = *a++;
			na--;
		}
	}
	memcpy(out, na ? a : b, (na + nb) * sizeof(*out));
}

/* Returns the length of the ascending run at a[0]. */
static size_t run_length(const struct order *ord, const struct ref *a, size_t n)
{
	size_t i = 1;

	while (i < n && !ref_before(ord, &a[i], &a[i - 1]))
		i++;
	return i;
}

/* Merges pairs of neighbouring ascending runs of a into out. Returns the number
 * of runs left. Recorders write long runs (one ring after another), so few
 * passes are needed; overwrite mode (newest first) is the worst case, n log
 * n. */
static size_t merge_pass(const struct order *ord, const struct ref *a, size_t n,
			 struct ref *out)
{
	size_t runs = 0;

	for (size_t i = 0; i < n; runs++) {
		size_t la = run_length(ord, a + i, n - i);
		size_t lb = i + la < n ? run_length(ord, a + i + la, n - i - la)
				       : 0;

		merge_refs(ord, a + i, la, a + i + la, lb, out + i);
		i += la + lb;
	}
	return runs;
}

/* Returns the source that limits the output, and the time up to which it is
 * complete; NULL: all sources are at their end. */
static const struct turn *lowest_source(struct order *ord)
{
	if (ord->has_low)
		return ord->n_low ? ord->low : NULL;
	ord->has_low = true;
	ord->n_low = 0;
	for (size_t i = 0; i < ord->n_src; i++)
		if (!ord->done[i])
			*mem_add(ord->low, ord->n_low, ord->cap_low) =
				(struct turn){ order_source_floor(ord,
								  (uint16_t)i),
					       (uint32_t)i };
	for (size_t i = ord->n_low / 2; i-- > 0;)
		turns_put(ord->low, ord->n_low, i, ord->low[i]);
	return ord->n_low ? ord->low : NULL;
}

static int open_temp(struct order *ord, struct err *err)
{
	int fd = temp_open(ord->temp_dir);

	ord->temp = fd >= 0 ? fdopen(fd, "w+b") : NULL;
	if (ord->temp)
		return 0;
	err_set(err, ERR_IO,
		"%s: cannot make a temporary file for sorting (%m); "
		"set TMPDIR or raise --memory",
		ord->temp_dir);
	if (fd >= 0)
		close(fd);
	return -1;
}

static int write_temp(struct order *ord, off_t at, const struct ref *ref,
		      size_t n, struct err *err)
{
	if (fseeko(ord->temp, at, SEEK_SET) ||
	    fwrite(ref, sizeof(*ref), n, ord->temp) != n || fflush(ord->temp))
		return err_set(err, ERR_IO,
			       "%s: cannot write the sorting file (%m); set "
			       "TMPDIR or raise --memory",
			       ord->temp_dir);
	return 0;
}

static void order_add_run(struct order *ord, off_t at, uint64_t n)
{
	*mem_add(ord->run, ord->n_run, ord->cap_run) = (struct run){
		.at = at,
		.left = n,
		.buf = mem_new(RUN_BUF, sizeof(struct ref)),
	};
}

/* Returns 1 if the run has a ref, 0 if it is used up, -1 on error. */
static int run_fill(struct order *ord, struct run *run, struct err *err)
{
	size_t n = run->left < RUN_BUF ? (size_t)run->left : RUN_BUF;

	if (run->head < run->n)
		return 1;
	if (!n)
		return 0;
	if (fseeko(ord->temp, run->at, SEEK_SET) ||
	    fread(run->buf, sizeof(struct ref), n, ord->temp) != n)
		return err_set(err, ERR_IO,
			       "%s: cannot read the sorting file back (%m)",
			       ord->temp_dir);
	run->at += (off_t)(n * sizeof(struct ref));
	run->left -= n;
	run->head = 0;
	run->n = n;
	return 1;
}

/* Sets *out to the run with the smallest ref, or NULL. Removes runs that are
 * used up. */
static int smallest_run(struct order *ord, struct run **out, struct err *err)
{
	struct run *low = NULL;

	for (size_t i = 0; i < ord->n_run;) {
		struct run *r = &ord->run[i];
		int got = run_fill(ord, r, err);

		if (got < 0)
			return -1;
		if (!got) {
			free(r->buf);
			*r = ord->run[--ord->n_run];
			continue;
		}
		if (!low ||
		    ref_before(ord, &r->buf[r->head], &low->buf[low->head]))
			low = r;
		i++;
	}
	*out = low;
	return 0;
}

/* Merges all runs into one run at the end of the file. */
static int merge_runs(struct order *ord, struct err *err)
{
	struct ref *buf OWNED = mem_new(RUN_BUF, sizeof(*buf));
	off_t start = ord->temp_end;
	struct run *low;
	uint64_t total = 0;
	size_t n = 0;
	int rc;

	while (!(rc = smallest_run(ord, &low, err)) && low) {
		buf[n++] = low->buf[low->head++];
		total++;
		if (n < RUN_BUF)
			continue;
		if ((rc = write_temp(ord, ord->temp_end, buf, n, err)))
			break;
		ord->temp_end += (off_t)(n * sizeof(*buf));
		n = 0;
	}
	if (!rc && n)
		rc = write_temp(ord, ord->temp_end, buf, n, err);
	ord->temp_end += (off_t)(n * sizeof(*buf));
	if (rc)
		return -1;
	/* Returns the disk space of the old runs, if the file system supports
	 * it. */
	(void)!fallocate(fileno(ord->temp),
			 FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, start);
	order_add_run(ord, start, total);
	return 0;
}

/* Writes all waiting refs as one run. */
static int order_spill(struct order *ord, struct err *err)
{
	size_t n = ord->n - ord->head;

	if (!ord->temp && open_temp(ord, err))
		return -1;
	if (!ord->n_run)
		ord->temp_end = 0;
	if (ord->n_run >= RUN_MAX && merge_runs(ord, err))
		return -1;
	if (write_temp(ord, ord->temp_end, ord->wait + ord->head, n, err))
		return -1;
	order_add_run(ord, ord->temp_end, n);
	ord->temp_end += (off_t)(n * sizeof(struct ref));
	ord->head = ord->n = 0;
	return 0;
}

/* Reads until there are as many new refs as old ones, or no more. */
static int order_refill(struct order *ord, struct err *err)
{
	if (ord->n - ord->head > ord->limit / 2 && order_spill(ord, err))
		return -1;
	/* the refs below head were output */
	ord->n -= ord->head;
	if (ord->head && ord->n)
		memmove(ord->wait, ord->wait + ord->head,
			ord->n * sizeof(struct ref));
	ord->head = 0;
	size_t mid = ord->n;
	size_t want = ord->n;
	const struct turn *low;
	struct err why = { 0 };

	raise_to(want, BATCH_MIN);
	mem_grow(ord->wait, ord->cap, ord->n + want);
	while (ord->n - mid < want && (low = lowest_source(ord)) != NULL) {
		struct source *src = ord->src[low->stream];
		struct ref *ref = &ord->wait[ord->n];
		uint64_t floor = src->floor;
		int got = src->ops->next(src, ref, &why);

		if (got > 0) {
			ref->source = src->index;
			ord->n++;
			if (src->floor == floor)
				continue;
		} else {
			ord->done[src->index] = true;
			if (got < 0)
				ledger_damage(ord->ledger, src->index,
					      "unreadable", src->pos, 0, &why);
		}
		/* The floor of the first source may have risen, or it may have
		 * ended. */
		struct turn first = ord->low[0];

		if (ord->done[first.stream])
			first = ord->low[--ord->n_low];
		else
			first.time =
				order_source_floor(ord, (uint16_t)first.stream);
		turns_put(ord->low, ord->n_low, 0, first);
	}
	/* Sort wait[from..n). */
	size_t n = ord->n - mid;
	struct ref *a = ord->wait + mid;

	if (n >= 2 && run_length(ord, a, n) != n) {
		mem_grow(ord->scratch, ord->cap_scratch, n);
		struct ref *b = ord->scratch;
		while (merge_pass(ord, a, n, b) > 1) {
			struct ref *t = a;

			a = b;
			b = t;
		}
		if (b != ord->wait + mid)
			memcpy(ord->wait + mid, b, n * sizeof(*b));
	}
	/* Merges two sorted parts, [0..mid) and [mid..n). */
	if (mid && mid != ord->n &&
	    ref_before(ord, &ord->wait[mid], &ord->wait[mid - 1])) {
		mem_grow(ord->scratch, ord->cap_scratch, ord->n);
		merge_refs(ord, ord->wait, mid, ord->wait + mid, ord->n - mid,
			   ord->scratch);
		memcpy(ord->wait, ord->scratch, ord->n * sizeof(struct ref));
	}
	return 0;
}

/* Finds the smallest ref; *run is its run, or NULL if it is in memory. Returns
 * 1, 0 (none) or -1. */
static int smallest_ref(struct order *ord, struct ref *ref, struct run **run,
			struct err *err)
{
	bool have = ord->head < ord->n;

	if (smallest_run(ord, run, err))
		return -1;
	if (have)
		*ref = ord->wait[ord->head];
	if (!*run)
		return have;
	const struct ref *low = &(*run)->buf[(*run)->head];

	if (have && !ref_before(ord, low, ref))
		*run = NULL;
	else
		*ref = *low;
	return 1;
}

/* Takes the next ref that no later ref can precede. Returns 1, 0 (end) or
 * -1. */
static int order_next_ref(struct order *ord, struct ref *ref, struct err *err)
{
	for (;;) {
		const struct turn *low = lowest_source(ord);
		struct run *run;
		int got;

		if (!ord->n_run && ord->head < ord->n) {
			*ref = ord->wait[ord->head];
			run = NULL;
			got = 1;
		} else {
			got = smallest_ref(ord, ref, &run, err);
		}
		if (got < 0)
			return -1;
		if (got && (!low || ref_time(ord, ref) < low->time)) {
			if (run)
				run->head++;
			else
				ord->head++;
			return 1;
		}
		if (!low)
			return 0;
		if (order_refill(ord, err))
			return -1;
	}
}

static void release_ref(struct order *ord, const struct ref *ref)
{
	struct source *src = ord->src[ref->source];

	if (!src->ops->release)
		return;
	if (ord->thread)
		decode_ahead_release(ord->thread, ref);
	else
		src->ops->release(src, ref);
}

static void start_group(struct order *ord)
{
	for (size_t i = 0; i < ord->n_group; i++)
		release_ref(ord, &ord->group[i]);
	ord->n_group = 0;
}

/* perf record sometimes writes a chunk twice, so the same bytes occur again.
 * Only records of the same time can be duplicates. */
static bool is_duplicate(struct order *ord, const struct ref *ref)
{
	struct source *src = ord->src[ref->source];
	bool dup = false;

	if (ord->n_group && (ord->group[0].key != ref->key ||
			     ord->group[0].source != ref->source))
		start_group(ord);
	if (ref->untimed || !src->ops->same)
		return false;
	for (size_t i = 0; i < ord->n_group && !dup; i++) {
		const struct ref *g = &ord->group[i];

		dup = g->source == ref->source && g->len == ref->len &&
		      g->kind == ref->kind && src->ops->same(src, g, ref);
	}
	return dup;
}

/* Marks a record that precedes one already output, and adds an entry. */
static void order_note_late(struct order *ord, const struct ref *ref,
			    struct record *rec)
{
	uint64_t key = ref_time(ord, ref);

	if (ref->untimed)
		return;
	if (!ord->any || key >= ord->last_key) {
		ord->any = true;
		ord->last_key = key;
		return;
	}
	rec->flags |= REC_F_LATE;
	struct ledger_entry e = {
		.kind = LEDGER_ORDER,
		.capture = ref->source,
		.what = "late",
		.off = rec->off,
		.t0 = key,
		.t1 = ord->last_key,
		.on_line = true,
		.n = 1,
		.cpu = rec->cpu,
		.event = -1,
	};
	ledger_add(ord->ledger, &e);
}

/* A decode_ahead_fn: order_next() without a thread. */
static int order_decode_next(void *arg, struct record *rec, struct err *err)
{
	struct order *ord = arg;
	struct err why; /* not cleared, which would cost as much as the rest of
			 * this function */
	struct ref ref;
	int got = order_next_ref(ord, &ref, err);

	if (!got)
		start_group(ord);
	if (got <= 0)
		return got;
	struct source *src = ord->src[ref.source];
	/* The thread gives refs back later, with their block. */
	bool later = ord->thread && src->ops->lasting && !src->ops->same;
	/* Does the source need to know when its refs are no longer used? */
	bool kept = (src->ops->same || src->ops->release) && !later;
	bool dup = kept && is_duplicate(ord, &ref);

	why.msg[0] = '\0';
	rec->off = 0;
	int bad = src->ops->decode(src, &ref, rec, &why);

	if (kept) { /* for is_duplicate() */
		if (ord->n_group == GROUP_MAX)
			start_group(ord);
		ord->group[ord->n_group++] = ref;
	} else if (later) {
		release_ref(ord, &ref);
	}
	rec->source = ref.source;
	rec->seq = ref.seq;
	if (bad) {
		/* The record is damaged, but its time is known. */
		uint64_t off = rec->off;
		struct ledger_entry e = {
			.kind = LEDGER_DAMAGE,
			.capture = ref.source,
			.what = "record",
			.detail = why.msg,
			.off = off,
			.len = ref.len,
			.n = 1,
			.cpu = -1,
			.event = -1,
			.on_line = true,
		};

		if (!ref.untimed && ref.key) {
			e.t1 = ref_time(ord, &ref);
			e.t0 = e.t1 - 1;
		}
		ledger_add(ord->ledger, &e);
	}
	if (bad || rec->kind == REC_NONE)
		return DECODED_NOTHING;
	if (ref.untimed)
		rec->flags |= REC_F_UNTIMED;
	if (dup)
		rec->flags |= REC_F_DUPLICATE;
	rec->raw = rec->time;
	if (ord->clock && ord->clock[ref.source].moved) {
		rec->time = order_time(ord, ref.source, rec->time);
		if (rec->kind == REC_LOST && rec->lost.has_since)
			rec->lost.since =
				order_time(ord, ref.source, rec->lost.since);
	}
	order_note_late(ord, &ref, rec);
	/* Hash the list of user addresses here, where it is in the cache, and
	 * in a thread that has more time than the one that resolves it. */
	struct addrs *a = NULL;

	if (rec->kind == REC_SAMPLE)
		a = &rec->sample.user;
	else if (rec->kind == REC_CHAIN)
		a = &rec->chain.user;
	if (a && a->n)
		a->hash = hash_u64s(a->ip, a->n, 0);
	return 1;
}

void order_use_thread(struct order *ord)
{
	struct ledger *queue;

	ord->thread = decode_ahead_new(ord->src, ord->n_src, order_decode_next,
				       ord, ord->ledger, &queue);
	if (ord->thread)
		ord->ledger = queue;
}

bool order_keep(struct order *ord, void (*passed)(void *arg, bool changes),
		void *arg)
{
	if (ord->thread)
		decode_ahead_keep(ord->thread, passed, arg);
	return ord->thread;
}

void order_give_back(struct order *ord)
{
	decode_ahead_give_back(ord->thread);
}

bool order_has_dumps(const struct order *ord)
{
	return ord->thread && any_where(ord->n_src, i, ord->src[i]->info.dumps);
}

int order_next(struct order *ord, struct record **rec, struct err *err)
{
	if (ord->thread)
		return decode_ahead_next(ord->thread, rec, err);
	ord->odd = !ord->odd;
	*rec = &ord->rec[ord->odd];
	int got;

	do
		got = order_decode_next(ord, *rec, err);
	while (got == DECODED_NOTHING);
	return got;
}

const struct record *order_soon(const struct order *ord, size_t n)
{
	return ord->thread ? decode_ahead_soon(ord->thread, n) : NULL;
}

const struct record *order_peek(struct order *ord, uint64_t *number)
{
	return ord->thread ? decode_ahead_peek(ord->thread, number) : NULL;
}

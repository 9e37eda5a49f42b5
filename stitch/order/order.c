/* order.c - many sources in, one time-ordered stream out.
 *
 * Between two calls: wait[head..n) is sorted; every run in the temporary file
 * is sorted; what was given out is not larger than anything still waiting,
 * unless a source broke its floor (then the record is late). */
#include "stitch/order/order.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stitch/base/clock_map.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"
#include "stitch/base/temp.h"

/* Refs read at least before the waiting ones are sorted again. */
#define BATCH_MIN 2048
/* Refs of one instant that a new one is compared with for equal bytes. */
#define GROUP_MAX 64
#define RUN_BUF 1024
/* More runs than this are first merged into one: each costs a buffer, and a
 * comparison for every record. */
#define RUN_MAX 64
#define LIMIT_DEFAULT ((uint64_t)256 << 20)

/* Cycles of a fast processor in one ns: keys of one source that are this far
 * apart keep their order when they become ns. */
#define KEYS_APART 64

/* The clock of a source, where it is not the timeline's. */
struct clock {
	bool moved;
	struct clock_map map;
	uint64_t first; /* of the source's timed records, on its clock */
};

/* A sorted run of refs in the temporary file. */
struct run {
	off_t at;      /* of the next ref to read */
	uint64_t left; /* refs not read yet */
	struct ref *buf;
	size_t head, n;
};

struct order {
	struct ledger *ledger;
	struct source **src;
	size_t n_src, cap_src;
	bool *done;
	size_t cap_done;
	struct clock *clock; /* NULL: all on the timeline's */

	struct ref *wait;
	size_t head, n, cap;
	struct ref *scratch;
	size_t cap_scratch;

	uint64_t limit; /* refs that may wait in memory */
	char *temp_dir;
	FILE *temp;
	off_t temp_end;
	struct run *run;
	size_t n_run, cap_run;

	struct ref group[GROUP_MAX]; /* given out, one key: not released */
	size_t n_group;
	uint64_t last_key;
	bool any;
};

struct order *order_new(struct ledger *lg, uint64_t limit, const char *temp_dir)
{
	struct order *ord = mem_new(1, sizeof(*ord));

	ord->ledger = lg;
	/* Arrays double as they grow, and sorting needs a second one. */
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
	for (size_t i = 0; i < ord->n_src; i++)
		source_close(ord->src[i]);
	for (size_t i = 0; i < ord->n_run; i++)
		free(ord->run[i].buf);
	if (ord->temp)
		fclose(ord->temp);
	free(ord->run);
	free(ord->src);
	free(ord->done);
	free(ord->clock);
	free(ord->wait);
	free(ord->scratch);
	free(ord->temp_dir);
	free(ord);
}

void order_add(struct order *ord, struct source *src)
{
	size_t i = ord->n_src++;

	ord->src = mem_grow(ord->src, &ord->cap_src, i + 1, sizeof(src));
	ord->done = mem_grow(ord->done, &ord->cap_done, i + 1, sizeof(bool));
	ord->src[i] = src;
	ord->done[i] = false;
	src->index = (uint16_t)i;
}

void order_align(struct order *ord, unsigned int i, const struct clock_map *map)
{
	struct source_info *info = &ord->src[i]->info;

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
	return i < ord->n_src ? ord->src[i] : NULL;
}

void order_pos(const struct order *ord, uint64_t *done, uint64_t *total)
{
	*done = *total = 0;
	for (size_t i = 0; i < ord->n_src; i++) {
		*done += ord->src[i]->pos;
		*total += ord->src[i]->size;
	}
}

/* Where a key is on the timeline. What has no time is of the start of its own
 * source, and what belongs to the end stays there. */
static uint64_t moved(const struct order *ord, uint16_t source, uint64_t key)
{
	const struct clock *c = &ord->clock[source];

	if (!c->moved || key > INT64_MAX)
		return key;
	return clock_map_time(&c->map, key < c->first ? c->first : key);
}

static inline uint64_t on_line(const struct order *ord, const struct ref *ref)
{
	return ord->clock ? moved(ord, ref->source, ref->key) : ref->key;
}

/* Refs keep the keys of their source, which decode() wants back; those of one
 * source have the same order on every clock. */
static inline bool before(const struct order *ord, const struct ref *a,
			  const struct ref *b)
{
	uint64_t ka = a->key;
	uint64_t kb = b->key;

	if (__builtin_expect(ord->clock != NULL, 0) &&
	    (a->source != b->source || ka - kb + KEYS_APART < 2 * KEYS_APART)) {
		ka = moved(ord, a->source, ka);
		kb = moved(ord, b->source, kb);
	}
	if (ka != kb)
		return ka < kb;
	if (a->class != b->class)
		return a->class < b->class;
	if (a->source != b->source)
		return a->source < b->source;
	return a->seq < b->seq;
}

/* Merges sorted a[0..na) and b[0..nb) into out, which overlaps neither. */
static void merge(const struct order *ord, const struct ref *a, size_t na,
		  const struct ref *b, size_t nb, struct ref *out)
{
	while (na && nb) {
		if (before(ord, b, a)) {
			*out++ = *b++;
			nb--;
		} else {
			*out++ = *a++;
			na--;
		}
	}
	memcpy(out, na ? a : b, (na + nb) * sizeof(*out));
}

/* Length of the ascending run at a[0]. */
static size_t run_length(const struct order *ord, const struct ref *a, size_t n)
{
	size_t i = 1;

	while (i < n && !before(ord, &a[i], &a[i - 1]))
		i++;
	return i;
}

/* Merges neighbouring ascending runs of a into out; gives how many runs are
 * left. Recorders write long runs (one ring after another), so few passes
 * are needed; overwrite mode (newest first) is the bad case, n log n. */
static size_t merge_pass(const struct order *ord, const struct ref *a, size_t n,
			 struct ref *out)
{
	size_t runs = 0;

	for (size_t i = 0; i < n; runs++) {
		size_t la = run_length(ord, a + i, n - i);
		size_t lb = i + la < n ? run_length(ord, a + i + la, n - i - la)
				       : 0;

		merge(ord, a + i, la, a + i + la, lb, out + i);
		i += la + lb;
	}
	return runs;
}

/* Sorts wait[from..n). */
static void sort_tail(struct order *ord, size_t from)
{
	size_t n = ord->n - from;
	struct ref *a = ord->wait + from;
	struct ref *b;

	if (n < 2 || run_length(ord, a, n) == n)
		return;
	ord->scratch = mem_grow(ord->scratch, &ord->cap_scratch, n,
				sizeof(*ord->scratch));
	b = ord->scratch;
	while (merge_pass(ord, a, n, b) > 1) {
		struct ref *t = a;

		a = b;
		b = t;
	}
	if (b != ord->wait + from)
		memcpy(ord->wait + from, b, n * sizeof(*b));
}

/* Makes wait[0..n) sorted out of two sorted parts, [head..mid) and [mid..n),
 * by merging from the back; what was given out (below head) goes away. */
static void merge_waiting(struct order *ord, size_t mid)
{
	size_t na = mid - ord->head;
	size_t nb = ord->n - mid;

	if (na && nb && before(ord, &ord->wait[mid], &ord->wait[mid - 1])) {
		ord->scratch = mem_grow(ord->scratch, &ord->cap_scratch,
					na + nb, sizeof(*ord->scratch));
		merge(ord, ord->wait + ord->head, na, ord->wait + mid, nb,
		      ord->scratch);
		memcpy(ord->wait, ord->scratch, (na + nb) * sizeof(struct ref));
	} else if (ord->head) {
		memmove(ord->wait, ord->wait + ord->head,
			(na + nb) * sizeof(struct ref));
	}
	ord->n = na + nb;
	ord->head = 0;
}

static inline uint64_t floor_of(const struct order *ord, size_t i)
{
	uint64_t floor = ord->src[i]->floor;

	return ord->clock ? moved(ord, (uint16_t)i, floor) : floor;
}

/* The source that holds everybody up, and until when; NULL when all are at
 * their end. */
static struct source *lowest(const struct order *ord, uint64_t *until)
{
	struct source *low = NULL;

	*until = UINT64_MAX;
	for (size_t i = 0; i < ord->n_src; i++) {
		uint64_t floor;

		if (ord->done[i])
			continue;
		floor = floor_of(ord, i);
		if (!low || floor < *until) {
			low = ord->src[i];
			*until = floor;
		}
	}
	return low;
}

static void source_failed(struct order *ord, struct source *src,
			  const struct err *err)
{
	ord->done[src->index] = true;
	ledger_damage(ord->ledger, src->index, "unreadable", src->pos, 0, err);
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

static void add_run(struct order *ord, off_t at, uint64_t n)
{
	ord->run = mem_grow(ord->run, &ord->cap_run, ord->n_run + 1,
			    sizeof(*ord->run));
	ord->run[ord->n_run++] = (struct run){
		.at = at,
		.left = n,
		.buf = mem_new(RUN_BUF, sizeof(struct ref)),
	};
}

/* 1 when the run has a head, 0 when it is used up. */
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

/* The smallest ref of all runs and its run, or NULL; used-up runs go. */
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
		if (!low || before(ord, &r->buf[r->head], &low->buf[low->head]))
			low = r;
		i++;
	}
	*out = low;
	return 0;
}

/* Makes one run of all runs, behind them in the file. */
static int merge_runs(struct order *ord, struct err *err)
{
	struct ref *buf = mem_new(RUN_BUF, sizeof(*buf));
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
	free(buf);
	if (rc)
		return -1;
	/* Gives the disk space back; where that cannot be done it waits. */
	(void)!fallocate(fileno(ord->temp),
			 FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, start);
	add_run(ord, start, total);
	return 0;
}

/* Writes everything that waits as one run. */
static int spill(struct order *ord, struct err *err)
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
	add_run(ord, ord->temp_end, n);
	ord->temp_end += (off_t)(n * sizeof(struct ref));
	ord->head = ord->n = 0;
	return 0;
}

/* Reads until there are as many new refs as old ones, or all is read. */
static int refill(struct order *ord, struct err *err)
{
	if (ord->n - ord->head > ord->limit / 2 && spill(ord, err))
		return -1;
	size_t mid = ord->n;
	size_t want = ord->n - ord->head;
	uint64_t until;
	struct source *src = lowest(ord, &until);
	struct err why = { 0 };

	if (want < BATCH_MIN)
		want = BATCH_MIN;
	ord->wait = mem_grow(ord->wait, &ord->cap, ord->n + want,
			     sizeof(*ord->wait));
	while (src && ord->n - mid < want) {
		struct ref *ref = &ord->wait[ord->n];
		uint64_t floor = src->floor;
		int got = src->ops->next(src, ref, &why);

		if (got > 0) {
			ref->source = src->index;
			ord->n++;
			if (src->floor == floor)
				continue;
		} else if (got < 0) {
			source_failed(ord, src, &why);
		} else {
			ord->done[src->index] = true;
		}
		src = lowest(ord, &until);
	}
	sort_tail(ord, mid);
	merge_waiting(ord, mid);
	return 0;
}

/* The smallest ref that waits anywhere; *run is its run or NULL. 1, 0, -1. */
static int smallest(struct order *ord, struct ref *ref, struct run **run,
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

	if (have && !before(ord, low, ref))
		*run = NULL;
	else
		*ref = *low;
	return 1;
}

/* The next ref that nothing can come before any more. 1, 0, -1. */
static int next_ref(struct order *ord, struct ref *ref, struct err *err)
{
	for (;;) {
		uint64_t until;
		struct source *low = lowest(ord, &until);
		struct run *run;
		int got;

		if (!ord->n_run && ord->head < ord->n) {
			*ref = ord->wait[ord->head];
			run = NULL;
			got = 1;
		} else {
			got = smallest(ord, ref, &run, err);
		}
		if (got < 0)
			return -1;
		if (got && (!low || on_line(ord, ref) < until)) {
			if (run)
				run->head++;
			else
				ord->head++;
			return 1;
		}
		if (!low)
			return 0;
		if (refill(ord, err))
			return -1;
	}
}

static void release(struct order *ord, const struct ref *ref)
{
	struct source *src = ord->src[ref->source];

	if (src->ops->release)
		src->ops->release(src, ref);
}

static void new_group(struct order *ord)
{
	for (size_t i = 0; i < ord->n_group; i++)
		release(ord, &ord->group[i]);
	ord->n_group = 0;
}

/* perf record writes a chunk twice now and then: byte for byte the same
 * record again. Only records of one instant can be the same. */
static bool is_duplicate(struct order *ord, const struct ref *ref)
{
	struct source *src = ord->src[ref->source];
	bool dup = false;

	if (ord->n_group && (ord->group[0].key != ref->key ||
			     ord->group[0].source != ref->source))
		new_group(ord);
	if (ref->untimed || !src->ops->same)
		return false;
	for (size_t i = 0; i < ord->n_group && !dup; i++) {
		const struct ref *g = &ord->group[i];

		dup = g->source == ref->source && g->len == ref->len &&
		      g->class == ref->class && src->ops->same(src, g, ref);
	}
	return dup;
}

/* Keeps the ref for is_duplicate(), or lets it go. */
static void keep(struct order *ord, const struct ref *ref)
{
	if (ord->n_group == GROUP_MAX)
		new_group(ord);
	ord->group[ord->n_group++] = *ref;
}

static void note_late(struct order *ord, const struct ref *ref,
		      struct record *rec)
{
	uint64_t key = on_line(ord, ref);

	if (ref->untimed)
		return;
	if (!ord->any || key >= ord->last_key) {
		ord->any = true;
		ord->last_key = key;
		return;
	}
	rec->flags |= REC_F_LATE;
	rec->late_ns = ord->last_key - key;
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

/* The record is lost, but not its time. */
static void note_broken(struct order *ord, const struct ref *ref, uint64_t off,
			const struct err *why)
{
	struct ledger_entry e = {
		.kind = LEDGER_DAMAGE,
		.capture = ref->source,
		.what = "record",
		.detail = why->msg,
		.off = off,
		.len = ref->len,
		.n = 1,
		.cpu = -1,
		.event = -1,
		.on_line = true,
	};

	if (!ref->untimed && ref->key) {
		e.t1 = on_line(ord, ref);
		e.t0 = e.t1 - 1;
	}
	ledger_add(ord->ledger, &e);
}

/* The record's times, which are its source's so far. */
static void put_on_line(const struct order *ord, const struct ref *ref,
			struct record *rec)
{
	rec->time = order_time(ord, ref->source, rec->time);
	if (rec->kind == REC_LOST && rec->lost.has_since)
		rec->lost.since = order_time(ord, ref->source, rec->lost.since);
}

int order_next(struct order *ord, struct record *rec, struct err *err)
{
	struct err why; /* clearing it all costs as much as the rest */
	struct ref ref;
	int got;

	why.msg[0] = '\0';
	while ((got = next_ref(ord, &ref, err)) > 0) {
		struct source *src = ord->src[ref.source];
		/* does it want to know what becomes of its refs? */
		bool kept = src->ops->same || src->ops->release;
		bool dup = kept && is_duplicate(ord, &ref);

		rec->off = 0;
		int bad = src->ops->decode(src, &ref, rec, &why);

		if (kept)
			keep(ord, &ref);
		rec->source = ref.source;
		if (bad) {
			note_broken(ord, &ref, rec->off, &why);
			continue;
		}
		if (rec->kind == REC_NONE)
			continue;
		if (ref.untimed)
			rec->flags |= REC_F_UNTIMED;
		if (dup)
			rec->flags |= REC_F_DUPLICATE;
		rec->late_ns = 0;
		rec->raw = rec->time;
		if (ord->clock && ord->clock[ref.source].moved)
			put_on_line(ord, &ref, rec);
		note_late(ord, &ref, rec);
		return 1;
	}
	if (!got)
		new_group(ord);
	return got;
}

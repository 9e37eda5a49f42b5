/* fake.h - a source over an array of records, in place of a capture.
 *
 * fake_new(), then fake_sample() and its like in file order, then order_add()
 * takes it over. The floor is exact (the smallest key not yet handed out), or
 * trusting (the key just handed out: later smaller ones are late). */
#pragma once
#include <string.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"

#define FAKE_IPS 4

struct fake_rec {
	struct ref ref;
	struct record rec;
	uint64_t ip[FAKE_IPS]; /* of the chain */
	bool broken;	       /* decode() fails */
	bool decoded, released;
	uint32_t twin; /* records with the same number have equal bytes;
			* 0: only with itself */
};

struct fake {
	struct source src;
	struct fake_rec *rec;
	uint64_t *floor; /* of the exact kind, made at the first next() */
	size_t n, cap, at;
	bool trusting;
	size_t fail_at; /* next() fails there; SIZE_MAX: never */
	struct event_def event[2];
	size_t *n_released; /* may be NULL */
};

static inline struct fake *fake_of(struct source *src)
{
	return (struct fake *)src;
}

static inline void fake_make_floors(struct fake *f)
{
	uint64_t low = UINT64_MAX;

	f->floor = mem_new(f->n + 1, sizeof(*f->floor));
	f->floor[f->n] = low;
	for (size_t i = f->n; i-- > 0;) {
		if (f->rec[i].ref.key < low)
			low = f->rec[i].ref.key;
		f->floor[i] = low;
	}
}

static inline int fake_next(struct source *src, struct ref *ref,
			    struct err *err)
{
	struct fake *f = fake_of(src);

	if (!f->floor)
		fake_make_floors(f);
	if (f->at == f->fail_at)
		return err_set(err, ERR_IO, "fake: no more");
	if (f->at == f->n)
		return 0;
	*ref = f->rec[f->at].ref;
	ref->handle = f->at++;
	src->pos = f->at;
	if (!f->trusting)
		src->floor = f->floor[f->at];
	else if (f->at == f->n)
		src->floor = UINT64_MAX;
	else if (ref->key > src->floor)
		src->floor = ref->key;
	return 1;
}

static inline int fake_decode(struct source *src, const struct ref *ref,
			      struct record *rec, struct err *err)
{
	struct fake_rec *fr = &fake_of(src)->rec[ref->handle];

	if (fr->released || fr->decoded)
		return err_set(err, ERR_FORMAT, "fake: decoded twice or late");
	fr->decoded = true;
	if (fr->broken)
		return err_set(err, ERR_FORMAT, "fake: broken record");
	*rec = fr->rec;
	rec->off = 100 + ref->handle;
	if (rec->kind == REC_SAMPLE && rec->sample.user.n)
		rec->sample.user.ip = fr->ip;
	if (rec->kind == REC_CHAIN)
		rec->chain.user.ip = fr->ip;
	return 0;
}

static inline bool fake_apart(const struct source *src)
{
	(void)src;
	return true;
}

static inline void fake_release(struct source *src, const struct ref *ref)
{
	struct fake *f = fake_of(src);

	must(!f->rec[ref->handle].released);
	f->rec[ref->handle].released = true;
	if (f->n_released)
		++*f->n_released;
}

static inline bool fake_same(struct source *src, const struct ref *a,
			     const struct ref *b)
{
	const struct fake *f = fake_of(src);

	must(!f->rec[a->handle].released);
	must(!f->rec[b->handle].released);
	return f->rec[a->handle].twin &&
	       f->rec[a->handle].twin == f->rec[b->handle].twin;
}

static inline void fake_close(struct source *src)
{
	struct fake *f = fake_of(src);

	free(f->rec);
	free(f->floor);
	free(f);
}

static inline struct fake *fake_new(void)
{
	static const struct source_ops ops = {
		.name = "fake",
		.next = fake_next,
		.decode = fake_decode,
		.apart = fake_apart,
		.release = fake_release,
		.same = fake_same,
		.close = fake_close,
	};
	struct fake *f = mem_new(1, sizeof(*f));

	f->src.ops = &ops;
	f->src.info.has_time = true;
	f->src.info.dumps = true;
	f->src.info.exact = true;
	f->src.info.system_wide = TRI_YES;
	f->src.info.whole_tasks = true;
	f->src.info.maps_code = true;
	f->src.info.user_mask = UINT64_MAX;
	f->event[0].name = "cpu-clock";
	f->event[0].defer = true;
	f->event[1].name = "plain";
	f->src.events = f->event;
	f->src.n_events = 2;
	f->fail_at = SIZE_MAX;
	return f;
}

/* A record of pid = tid at `time`; time UINT64_MAX: untimed, before all. */
static inline struct fake_rec *fake_add(struct fake *f, enum record_kind kind,
					enum record_class rank, uint64_t time,
					int32_t tid)
{
	mem_grow(f->rec, f->cap, f->n + 1);
	struct fake_rec *fr = &f->rec[f->n];

	memset(fr, 0, sizeof(*fr));
	fr->ref.key = time;
	fr->ref.seq = f->n++;
	fr->ref.kind = rank;
	fr->ref.len = 64;
	if (time == UINT64_MAX) {
		fr->ref.untimed = 1;
		fr->ref.key = 0;
	}
	fr->rec.kind = kind;
	fr->rec.time = time;
	fr->rec.pid = fr->rec.tid = tid;
	fr->rec.cpu = 0;
	return fr;
}

static inline struct fake_rec *fake_sample(struct fake *f, uint64_t time,
					   int32_t tid, uint64_t cookie)
{
	struct fake_rec *fr = fake_add(f, REC_SAMPLE, CLASS_SAMPLE, time, tid);

	fr->rec.sample.weight = 1;
	fr->rec.sample.defer = cookie ? DEFER_COOKIE : DEFER_NONE;
	fr->rec.sample.cookie = cookie;
	return fr;
}

static inline struct fake_rec *fake_chain(struct fake *f, uint64_t time,
					  int32_t tid, uint64_t cookie)
{
	struct fake_rec *fr = fake_add(f, REC_CHAIN, CLASS_CHAIN, time, tid);

	fr->rec.chain.cookie = cookie;
	fr->rec.chain.user.n = 2;
	fr->ip[0] = 0x1000 + cookie;
	fr->ip[1] = 0x2000;
	return fr;
}

static inline struct fake_rec *fake_exit(struct fake *f, uint64_t time,
					 int32_t tid)
{
	return fake_add(f, REC_EXIT, CLASS_EXIT, time, tid);
}

static inline struct fake_rec *fake_fork(struct fake *f, uint64_t time,
					 int32_t tid, int32_t parent)
{
	struct fake_rec *fr = fake_add(f, REC_FORK, CLASS_FORK, time, tid);

	fr->rec.fork.ppid = fr->rec.fork.ptid = parent;
	return fr;
}

static inline struct fake_rec *fake_comm(struct fake *f, uint64_t time,
					 int32_t tid, const char *name,
					 bool exec)
{
	struct fake_rec *fr = fake_add(f, REC_COMM, CLASS_COMM, time, tid);

	fr->rec.comm.name = name;
	if (exec)
		fr->rec.flags = REC_F_EXEC;
	return fr;
}

static inline struct fake_rec *fake_lost(struct fake *f, uint64_t time,
					 int32_t cpu, uint64_t n)
{
	struct fake_rec *fr = fake_add(f, REC_LOST, CLASS_LOST, time, 1);

	fr->rec.cpu = cpu;
	fr->rec.lost.n = n;
	fr->rec.lost.event = -1;
	return fr;
}

static inline struct fake_rec *fake_map(struct fake *f, uint64_t time,
					int32_t tid, uint64_t start,
					uint64_t len, const char *path)
{
	struct fake_rec *fr = fake_add(f, REC_MAP, CLASS_MAP, time, tid);

	fr->rec.map.start = start;
	fr->rec.map.len = len;
	fr->rec.map.path = path;
	return fr;
}

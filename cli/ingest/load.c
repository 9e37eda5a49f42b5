/* load.c - captures into a database: open, order, stitch, store, name. */
#include "cli/ingest/load.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/latency/pair_kinds.h"
#include "cli/ingest/unpacked.h"
#include "cli/ingest/lock_names.h"
#include "cli/output/folder.h"
#include "cli/output/say.h"
#include "cli/process/signals.h"
#include "cli/version.h"
#include "formats/archive.h"
#include "formats/formats.h"
#include "formats/reader/bounds.h"
#include "formats/reader/nonce.h"
#include "schema/maker.h"
#include "schema/store.h"
#include "schema/db/sums_code.h"
#include "schema/write/write.h"
#include "stitch/audit/counters.h"
#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/tasks/late_maps.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/base/now.h"
#include "stitch/base/text_out.h"
#include "stitch/base/thread.h"
#include "stitch/fact.h"
#include "stitch/order/clocks.h"
#include "stitch/order/order.h"
#include "stitch/source.h"
#include "stitch/stitch.h"
#include "stitch/fact_queue.h"
#include "symbolize/files/identity.h"
#include "symbolize/files/mapping_offsets.h"
#include "symbolize/symbolize.h"
#include "symbolize/unwind/unwind.h"
#include "symbolize/unwind/unwind_compare.h"

/* Facts are stored, and the frames of their stacks interned, by a thread of
 * their own if records allow that. The thread takes facts in blocks through a
 * bounded queue, in their order, so the database is the same as without it. It
 * alone uses the store until storing_wait() returns: call that before other
 * uses.
 *
 * Facts point to records, which stay valid while a thread reads ahead: a block
 * of facts ends where a block of records does, and gives these back. Measured:
 * the main thread's share of the processor's time went from 78 to 56 % with
 * stacks of a whole system, and from 57 to 28 % with LTTng events. */

#define FACTS 1024
#define BLOCKS 12
/* The thread is woken once this many blocks wait: waking it costs the main
 * thread as much as some dozen records, and on two processors the woken thread
 * often takes its place for a while. decode_ahead.c has more blocks than this,
 * so that no thread waits for blocks of records that wait here. */
#define WAKE 8
#define STACK_BYTES ((size_t)1 << 20)

struct fact_block {
	struct fact *fact; /* owned */
	size_t n, cap;
	struct arena lists;
	struct frames_late late; /* of raw chains in facts from here on */
	bool passed; /* the last one with facts of a block of records */
};

struct storing {
	struct maker *mk;
	struct frames *frames;
	struct order *order;
	bool no_fields, threaded;
	struct fact_queue *in; /* for the main thread */
	bool broken;	       /* for the main thread: it saw failed */
	pthread_t thread;
	struct fact_block *block; /* a ring */
	/* for the thread */
	struct field *field;
	size_t field_cap;
	struct ledger *queue;
	struct lock_names *locks; /* borrowed */
	pthread_mutex_t lock;
	pthread_cond_t more, less; /* full blocks; empty ones */
	/* protected by lock: */
	size_t made, taken;
	bool waits, stop;
	int failed; /* -1 once err is set */
	struct err err;
};

/* Sets fields that are stacks to the ids of their raw chains. */
static void put_held(const struct fact_event *e, const struct event_def *def,
		     struct field *f)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < def->n_fields; i++) {
		if (!def->fields[i].is_stack)
			continue;
		if (at == e->rec->sample.n_held)
			return;
		uint32_t id = e->held[at++];

		if (id)
			f[i] = (struct field){ .present = true, .num = id };
	}
}

/* Stores the payload of a tracepoint as columns. If it cannot be decoded, that
 * is counted as damage and the event is kept. Returns 0, or -1 and *err. */
static int put_fields(struct storing *s, const struct fact_event *e,
		      struct err *err)
{
	const struct record *rec = e->rec;
	struct err broken; /* fields() fills it, but only when it fails */
	uint32_t n;

	if (s->no_fields || e->type == UINT32_MAX || !rec ||
	    rec->kind != REC_SAMPLE || !rec->sample.raw)
		return 0;
	struct source *src = order_source(s->order, e->source);

	if (!src->ops->fields || e->type >= src->n_events)
		return 0;
	const struct event_def *def = &src->events[e->type];
	bool lock = lock_names_wants(s->locks, src->index, e->type, def);
	bool store = store_wants_fields(s->mk, src, e->type);

	if (lock && !store)
		lock = lock_names_may_wait(s->locks, src, e->type,
					   rec->sample.call);
	n = def->n_fields;
	if (!n || (!lock && !store))
		return 0;
	mem_grow(s->field, s->field_cap, n);
	if (src->ops->fields(src, &rec->sample, s->field, &broken)) {
		ledger_damage(s->queue, src->index, "fields", rec->off, 0,
			      &broken);
		return 0;
	}
	if (lock)
		lock_names_take(s->locks,
				&(struct lock_from){ src->index, e->type,
						     e->thread,
						     src->info.arch },
				def, s->field);
	if (!store)
		return 0;
	if (rec->sample.n_held)
		put_held(e, def, s->field);
	return store_fields(s->mk, src, e->type, e->id, s->field, n, err);
}

static int storing_take(struct storing *s, const struct fact *f,
			struct err *err)
{
	if (store_fact(s->mk, f, err))
		return -1;
	return f->kind == FACT_EVENT ? put_fields(s, &f->event, err) : 0;
}

/* Stores the facts of blocks in their order, until `stop`. */
static void *storing_main(void *arg)
{
	struct storing *s = arg;
	struct err err;
	int failed = 0;

	pthread_mutex_lock(&s->lock);
	for (;;) {
		while (s->taken == s->made && !s->stop)
			pthread_cond_wait(&s->more, &s->lock);
		if (s->stop)
			break;
		struct fact_block *b = &s->block[s->taken % BLOCKS];

		pthread_mutex_unlock(&s->lock);
		frames_intern(s->frames, &b->late);
		for (size_t i = 0; i < b->n && !failed; i++)
			failed = storing_take(s, &b->fact[i], &err);
		arena_clear(&b->lists);
		if (b->passed)
			order_give_back(s->order);
		pthread_mutex_lock(&s->lock);
		if (failed && !s->failed)
			s->err = err;
		s->failed = failed;
		s->taken++;
		if (s->waits && s->made - s->taken <= BLOCKS / 2)
			pthread_cond_signal(&s->less);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* Fills a block with the facts that are due. The memory that facts point to
 * goes with the last one of the queue, as blocks are emptied in their order. */
static void storing_fill(struct fact_queue *q, struct fact_block *b)
{
	size_t left = fact_queue_left(q) - q->due;
	const struct fact_queue was = *q;

	if (q->head || left > q->due) {
		/* more facts are left than are due, as at the end, which
		 * reports all threads at once: those that are due are copied */
		mem_grow(b->fact, b->cap, q->due);
		if (q->due)
			memcpy(b->fact, q->fact + q->head,
			       q->due * sizeof(*q->fact));
		q->head += q->due;
	} else {
		/* exchange the arrays of block and queue, and copy the other
		 * facts to the queue's */
		q->n = was.n - was.due;
		q->fact = mem_grow_to(b->fact, &b->cap, q->n + FACTS,
				      sizeof(*b->fact));
		q->cap = b->cap;
		if (q->n)
			memcpy(q->fact, was.fact + was.due,
			       q->n * sizeof(*q->fact));
		b->fact = was.fact;
		b->cap = was.cap;
	}
	if (!left) {
		q->lists = b->lists;
		b->lists = was.lists;
	}
	b->n = q->due;
	q->gone += q->due;
	q->due = 0;
}

/* Returns when at most `left` blocks are full; call it with the lock held. */
static void storing_await(struct storing *s, size_t left)
{
	if (!left || s->made - s->taken >= WAKE)
		pthread_cond_signal(&s->more);
	s->waits = true;
	while (s->made - s->taken > left)
		pthread_cond_wait(&s->less, &s->lock);
	s->waits = false;
	s->broken = s->failed;
}

/* Passes the facts that are due, and all frames, to the thread. Returns when a
 * block is empty or, with `all`, when all are. */
static void storing_submit(struct storing *s, bool passed, bool all)
{
	struct fact_block *b = &s->block[s->made % BLOCKS];

	storing_fill(s->in, b);
	frames_pass(s->frames, &b->late);
	b->passed = passed;
	pthread_mutex_lock(&s->lock);
	s->made++;
	storing_await(s, all ? 0 : BLOCKS - 1);
	pthread_mutex_unlock(&s->lock);
}

/* A frames_wait_fn. */
static void storing_idle(void *arg)
{
	struct storing *s = arg;

	pthread_mutex_lock(&s->lock);
	storing_await(s, 0);
	pthread_mutex_unlock(&s->lock);
}

/* Ends a block of facts with one of records; a decode_ahead_passed_fn. */
static void storing_passed(void *arg, bool changes)
{
	storing_submit(arg, !changes, changes);
}

/* Returns an object for storing_free(). Call it after order_use_thread(),
 * without which there is no thread here either. locks: gets those of the
 * events; no_fields: no payload is decoded. All are borrowed. The array of the
 * queue is exchanged with those of blocks, so that few facts are copied. */
static struct storing *storing_new(struct maker *mk, struct frames *frames,
				   struct order *order,
				   struct fact_queue *queue,
				   struct lock_names *locks, bool no_fields)
{
	struct storing *s = mem_new(1, sizeof(*s));

	s->mk = mk;
	s->frames = frames;
	s->in = queue;
	s->order = order;
	s->locks = locks;
	s->no_fields = no_fields;
	s->queue = ledger_new_queue();
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->more, NULL);
	pthread_cond_init(&s->less, NULL);
	s->block = mem_new(BLOCKS, sizeof(*s->block));
	s->threaded = order_keep(order, NULL, NULL) &&
		      thread_start(&s->thread, STACK_BYTES, "storing",
				   storing_main, s);
	if (s->threaded) {
		order_keep(order, storing_passed, s);
		frames_defer(frames, storing_idle, s);
	}
	return s;
}

/* Ends the thread, even before it has stored all facts. What s borrows is not
 * freed; NULL is fine. */
static void storing_free(struct storing *s)
{
	if (!s)
		return;
	if (s->threaded) {
		pthread_mutex_lock(&s->lock);
		s->stop = true;
		pthread_cond_signal(&s->more);
		pthread_mutex_unlock(&s->lock);
		pthread_join(s->thread, NULL);
		frames_defer(s->frames, NULL, NULL);
	}
	pthread_cond_destroy(&s->less);
	pthread_cond_destroy(&s->more);
	pthread_mutex_destroy(&s->lock);
	for (size_t i = 0; i < BLOCKS; i++) {
		free(s->block[i].fact);
		arena_release(&s->block[i].lists);
		frames_late_release(&s->block[i].late);
	}
	free_all(s->block, s->field);
	ledger_free(s->queue);
	free(s);
}

/* Returns when all facts that are due are stored: 0, or -1 and *err. */
static int storing_wait(struct storing *s, struct err *err)
{
	if (!s->threaded)
		return 0;
	storing_submit(s, false, true);
	if (s->failed)
		*err = s->err;
	return s->failed;
}

/* Stores the facts that are due, now or later, and the fields of their
 * payloads. Returns 0, or -1 and *err, maybe because of facts before these. */
static int storing_put(struct storing *s, struct err *err)
{
	struct fact_queue *q = s->in;

	if (s->threaded) {
		if (q->due >= FACTS)
			storing_submit(s, false, false);
		return s->broken ? storing_wait(s, err) : 0;
	}
	for (size_t i = 0; i < q->due; i++)
		if (storing_take(s, &q->fact[q->head + i], err))
			return -1;
	q->gone += q->due;
	q->head += q->due;
	q->due = 0;
	if (!fact_queue_left(q))
		arena_clear(&q->lists);
	return 0;
}

/* Number of facts between flushes, which check for Ctrl-C, and between updates
 * of the progress line. For a flush all threads but the writer's wait: with a
 * quarter of the number, ingest of a mixed capture took 6 % longer. SHOW_EVERY
 * is small, as a quiet pipe has few facts. */
#define FLUSH_EVERY 32768
#define SHOW_EVERY 128

struct load {
	const struct load_ask *ask;
	struct frames *frames;
	struct ledger *ledger;
	struct order *order;
	struct stitch *stitch;
	struct mapped *mapped;
	struct jitted *jitted;
	struct symbolizer *symbolizer;
	struct lock_names *locks;
	struct unwinder *unwinder;
	struct maker *mk; /* NULL: it is finished */
	struct store *db; /* NULL: it is not finished */
	struct storing *storing;
	bool no_fields; /* no event has an ev_ table */
	bool failed;	/* load_take_entries() failed, because of why */
	int64_t began;	/* ns since 1970: when reading of a stream began */
	struct err why;
	unsigned int n_sources, layout;
	struct unpacked unpacked;      /* the captures, unpacked */
	struct session_folders chunks; /* the captures, joined */
	struct align_out *align;   /* by source; NULL: each on its own clock */
	const char **nonce_format; /* the templates, ending with NULL */
};

/* Stores the layout that the option names. Returns 0, or -1 and *err. */
static int take_layout(const char *asked, unsigned int *layout, struct err *err)
{
	const char *word = asked ? asked : "auto";
	char words[128] = "";
	struct text_out o = { .buf = words, .size = sizeof(words) };

	if (!cookie_layout_parse(word, layout))
		return 0;
	for (unsigned int i = 0; cookie_layout_name(i); i++)
		text_out_add(&o, "%s%s", i ? ", " : "", cookie_layout_name(i));
	return err_set(err, ERR_USAGE,
		       "no cookie layout '%s'; --cookie-layout is one of %s "
		       "(lowcpu:BITS: so many bits hold the CPU)",
		       asked, words);
}

/* Sets *err to why a path cannot be read, with advice, and returns -1. */
static int cannot_read(const char *path, int error, struct err *err)
{
	struct stat st;
	const struct passwd *pw;

	if (error == ENOENT)
		return err_set(
			err, ERR_IO, "%s: no such file%s", path,
			strcmp(path, "perf.data")
				? ""
				: "; make one with 'perf record -g COMMAND'");
	if (error != EACCES || stat(path, &st))
		return err_set(err, ERR_IO, "%s: %s", path, strerror(error));
	if (!st.st_uid)
		return err_set(err, ERR_IO,
			       "%s: permission denied; it belongs to root: "
			       "use sudo, or 'sudo chown $USER %s'",
			       path, path);
	pw = getpwuid(st.st_uid);
	return err_set(err, ERR_IO, "%s: permission denied; it belongs to %s",
		       path, pw ? pw->pw_name : "somebody else");
}

int load_check(const char *path, bool *is_db, struct err *err)
{
	unsigned char head[STORE_HEAD];
	struct stat st;
	ssize_t n;
	int fd;

	if (is_db)
		*is_db = false;
	if (!strcmp(path, "-")) {
		if (isatty(0))
			return err_set(err, ERR_USAGE,
				       "standard input is a terminal; pipe a "
				       "capture into it");
		return 0;
	}
	const size_t len = archive_in_path(path);

	/* a file in an archive is checked when it is read */
	if (path[len]) {
		char *archive OWNED = mem_dup(path, len + 1);

		archive[len] = '\0';
		return archive_is(archive) ? load_check(archive, NULL, err)
					   : cannot_read(path, ENOTDIR, err);
	}
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return access(path, R_OK) ? cannot_read(path, errno, err) : 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return cannot_read(path, errno, err);
	n = read(fd, head, sizeof(head));
	int error = errno;

	close(fd);
	if (n < 0)
		return cannot_read(path, error, err);
	if (n == 0)
		return err_set(err, ERR_FORMAT,
			       "%s: the file is empty; was the recording "
			       "killed before it wrote anything?",
			       path);
	if (is_db)
		*is_db = store_is_database(head, (size_t)n);
	return 0;
}

static bool is_live(char *const *paths, size_t n)
{
	struct stat st;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(paths[i], "-"))
			return fstat(0, &st) == 0 && !S_ISREG(st.st_mode);
	return false;
}

/* Captures of this size are large. The size of a pipe is not known. */
#define LARGE ((uint64_t)32 << 20)

static uint64_t bytes_seen; /* nftw() has no argument for its function */

static int add_bytes(const char *path UNUSED, const struct stat *st, int what,
		     struct FTW *at UNUSED)
{
	if (what == FTW_F && S_ISREG(st->st_mode))
		bytes_seen += (uint64_t)st->st_size;
	return bytes_seen >= LARGE;
}

/* Opens a capture; lg NULL: for its clock only. NULL and *err on failure. */
static struct source *open_source(struct load *ld, const char *path,
				  unsigned int index, struct ledger *lg,
				  struct err *err)
{
	const struct load_ask *ask = ld->ask;
	struct source_opts o = {
		.index = (uint16_t)index,
		.slack_ns = (uint64_t)ask->slack_ms * 1000000,
		.cpus = (int32_t)ask->cpus,
		.temp_dir = folder_for_temp(),
		.memory_bytes = ask->memory,
		.nonce_format = ask->n_nonce_format ? ld->nonce_format : NULL,
		.clock = ask->clock,
		.formats = ask->formats,
		.stats = ask->stats,
		.kallsyms = ask->name.kallsyms,
		.no_fields = ld->no_fields,
		.request = ask->request,
		.chain = ask->chain,
	};

	for (size_t i = 0; i < ld->chunks.n; i++)
		if (ld->chunks.path[i] == path)
			o.more = ld->chunks.more[i];

	struct source *src = formats_open(path, &o, lg, err);

	if (src)
		unpacked_name(&ld->unpacked, src);
	return src;
}

static int open_for_scan(void *arg, const char *path, struct source **out,
			 struct err *err)
{
	*out = open_source(arg, path, 0, NULL, err);
	return *out ? 0 : -1;
}

/* Stores all facts and the ledger so far. Returns 0, or -1 and *err. */
static int load_flush(struct load *ld, struct err *err)
{
	if (storing_wait(ld->storing, err))
		return -1;
	/* payloads that could not be decoded since the last call are put into
	 * the ledger here, so that no thread decides when that is */
	if (ledger_queued(ld->storing->queue)) {
		ledger_pass(ld->storing->queue, ld->ledger, SIZE_MAX);
		ledger_free(ld->storing->queue);
		ld->storing->queue = ledger_new_queue();
	}
	if (!ld->failed)
		return store_flush(ld->mk, ld->ledger, err);
	*err = ld->why;
	return -1;
}

/* Stores the entries of the ledger; for ledger_when_many(). */
static void load_take_entries(void *arg)
{
	struct load *ld = arg;

	if (!ld->failed && (storing_wait(ld->storing, &ld->why) ||
			    store_entries(ld->mk, ld->ledger, &ld->why)))
		ld->failed = true;
}

/* Reads all records and stores their facts. Returns 0, or -1 and *err. */
static int read_facts(struct load *ld, struct err *err)
{
	struct fact_queue *q = stitch_facts(ld->stitch);
	uint64_t flush = FLUSH_EVERY;
	uint64_t show = SHOW_EVERY;
	int ret = 1;

	while (ret > 0) {
		/* without a thread, a record is valid until the next one */
		ret = stitch_run(ld->stitch,
				 ld->storing->threaded
					 ? show
					 : q->gone + fact_queue_left(q) + 1,
				 err);
		for (; q->gone + fact_queue_left(q) >= flush;
		     flush += FLUSH_EVERY) {
			q->due = flush - q->gone;
			if (storing_put(ld->storing, err))
				return -1;
			if (stop_requested())
				return err_set(err, ERR_STOPPED, "stopped");
			if (load_flush(ld, err))
				return -1;
		}
		q->due = fact_queue_left(q);
		if (storing_put(ld->storing, err))
			return -1;
		if (q->gone + fact_queue_left(q) < show)
			continue;

		uint64_t done = 0;
		uint64_t total = 0;

		order_pos(ld->order, &done, &total);
		progress_update(done, total, stitch_events(ld->stitch),
				"events");
		show += SHOW_EVERY;
	}
	if (ret || storing_wait(ld->storing, err))
		return -1;
	frames_settle(ld->frames);
	return 0;
}

static int put_window(struct load *ld, unsigned int i, int64_t since,
		      int64_t until, struct err *err)
{
	if (store_meta_number(ld->mk, (int)i, "written_since_ns", since, err))
		return -1;
	return store_meta_number(ld->mk, (int)i, "written_until_ns", until,
				 err);
}

static int64_t statx_ns(const struct statx_timestamp *t)
{
	return t->tv_sec * 1000000000LL + (int64_t)t->tv_nsec;
}

/* Stores when the recorder wrote the capture; for a copy, only a time by which
 * it was done. The recorder's own file is written for as long as was recorded,
 * or a little less: of several, perf makes each when the one before it is full,
 * and has records by then. Returns 0, or -1 and *err. */
static int put_written(struct load *ld, const struct source *src,
		       struct err *err)
{
	const struct source_info *info = &src->info;
	struct statx st;

	if (statx(AT_FDCWD, src->path, 0, STATX_BASIC_STATS | STATX_BTIME,
		  &st) ||
	    !S_ISREG(st.stx_mode))
		return 0;
	int64_t since = statx_ns(&st.stx_btime);
	int64_t until = statx_ns(&st.stx_mtime);

	if (store_meta_number(ld->mk, src->index, "written_before_ns", until,
			      err))
		return -1;
	if (!(st.stx_mask & STATX_BTIME) || info->last_ns <= info->first_ns ||
	    until <= since ||
	    (uint64_t)(until - since) <
		    (info->last_ns - info->first_ns) / 8 * 7)
		return 0;
	return put_window(ld, src->index, since, until, err);
}

/* Stores when a stream was written. If it is read while it is recorded, that
 * takes as long, and the last record is made meanwhile. Else it was done when
 * the last record was made: the clock of records, which counts since the
 * machine started, says when or, after a restart, a later time. */
static int put_streamed(struct load *ld, unsigned int i, struct err *err)
{
	const struct source *src = order_source(ld->order, i);
	const struct source_info *info = &src->info;
	int64_t now = now_wall_ns();
	int64_t took = now - ld->began;
	int64_t last = info->last_ns < INT64_MAX ? (int64_t)info->last_ns : 0;
	int64_t age = 0; /* of the last record, if that is known */

	if (!ld->began || strcmp(src->path, "-") != 0)
		return 0;
	if (last && identity_recorded_here(info->host, info->release))
		age = clock_age(info->clock_id, last);
	/* an old stream may come slowly, too */
	if ((uint64_t)took >= info->last_ns - info->first_ns && age <= took &&
	    put_window(ld, i, ld->began, now, err))
		return -1;
	return store_meta_number(ld->mk, (int)i, "written_before_ns",
				 age > 0 ? now - age : now, err);
}

/* Opens all captures and stores them. Returns 0, or -1 and *err. */
static int open_all(struct load *ld, char *const *paths, size_t n,
		    struct err *err)
{
	struct source **src = mem_new(n, sizeof(*src));
	size_t opened = 0;
	size_t passed = 0; /* passed to the order, which owns them */
	int ret = -1;

	for (; opened < n; opened++) {
		src[opened] = open_source(ld, paths[opened], ld->n_sources++,
					  ld->ledger, err);
		if (!src[opened])
			goto out;
	}
	formats_pair(src, n);
	while (passed < n) {
		struct source *s = src[passed];

		if (s->ops->scan && s->ops->scan(s, err))
			goto out;
		order_add(ld->order, s);
		passed++;
		if (store_capture(ld->mk, s, err) || put_written(ld, s, err))
			goto out;
	}
	ret = 0;
out:
	for (; passed < opened; passed++)
		source_close(src[passed]);
	free(src);
	return ret;
}

/* Finds where the parts of a file are in memory, by its headers. */
static size_t file_parts(void *arg, const struct image *img,
			 struct file_part *out, size_t max)
{
	return mapping_offsets_parts(arg, img, out, max);
}

static uint64_t file_written(void *arg, const struct image *img)
{
	return identity_written(arg, img);
}

/* Stores the difference between ns since 1970 and times of the timeline, if the
 * capture has the same moment on both clocks, or uses the real-time clock. */
static int put_wall(struct load *ld, unsigned int i, struct err *err)
{
	const struct source_info *info = &order_source(ld->order, i)->info;
	const struct clock_map *m = ld->align ? &ld->align[i].map : NULL;
	uint64_t wall = info->wall_ns;
	uint64_t at = info->wall_clock_ns;

	if (info->clock_id == CLOCK_ID_REAL)
		wall = at = m && m->drift ? m->at : info->first_ns;
	if (!wall || !at)
		return 0;
	at = m ? clock_map_time(m, at) : at;
	return store_meta_number(ld->mk, (int)i, "wall_offset_ns",
				 (int64_t)(wall - at), err);
}

/* Stores what is known about how a capture was recorded. */
static int put_numbers(struct load *ld, unsigned int i, struct err *err)
{
	const struct source_info *info = &order_source(ld->order, i)->info;
	const struct {
		const char *name;
		bool known;
		int64_t value;
	} number[] = {
		/* where its stream was cut, if it is a piece of one */
		{ "cut_before", info->cut_before, (int64_t)info->cut_before },
		{ "cut_behind", info->cut_behind, (int64_t)info->cut_behind },
		/* samples may have been left out */
		{ "filtered", info->filtered, 1 },
		/* it may have paused, if its command line tells */
		{ "pauses", info->paused || info->unpaused, info->paused },
		/* how much of its stack a sample may have */
		{ "dump_bytes", info->dump_bytes, info->dump_bytes },
		/* how many frames of both halves it has at most */
		{ "max_stack", info->max_stack, info->max_stack },
	};
	int rc = 0;

	for (size_t k = 0; !rc && k < ARRAY_SIZE(number); k++)
		if (number[k].known)
			rc = store_meta_number(ld->mk, (int)i, number[k].name,
					       number[k].value, err);
	return rc;
}

/* Stores only sums of samples, if that is enough. It is not if mappings may
 * come late, as they change the stacks of stored events; nor if files are
 * fetched, in the order of stacks in the database; nor if there may be records
 * of calls, which are made one by one. */
static void load_sums_only(struct load *ld)
{
	if (ld->ask->name.debuginfod)
		return;
	for (unsigned int i = 0; order_source(ld->order, i); i++) {
		const struct source *src = order_source(ld->order, i);

		if (!src->info.exact || src->info.calls ||
		    any_where(src->n_events, e,
			      pair_nests(src->events[e].name)))
			return;
	}
	ld->no_fields = true;
	store_sums_only(ld->mk);
}

/* Reads the captures on one timeline. Returns 0, or -1 and *err. */
static int load_read_all(struct load *ld, char *const *paths, size_t n,
			 struct err *err)
{
	int rc = align_inputs(&ld->ask->align, paths, n, open_for_scan, ld,
			      &ld->align, err);

	if (rc && n > ld->chunks.given && !stop_requested()) {
		say_note("%s: what is next to the capture is left out: %s\n",
			 paths[0], err->msg);
		n = ld->chunks.given;
		rc = align_inputs(&ld->ask->align, paths, n, open_for_scan, ld,
				  &ld->align, err);
	}
	if (rc) {
		unpacked_advise(&ld->unpacked, err);
		return -1;
	}
	if (ld->align)
		progress_start("reading");
	for (size_t i = 0; ld->align && i < n; i++)
		ledger_align(ld->ledger, (uint16_t)i, &ld->align[i].map);
	if (open_all(ld, paths, n, err))
		return -1;
	/* Put each source's clock on the timeline. */
	struct source *src;

	for (unsigned int i = 0;
	     ld->align && (src = order_source(ld->order, i)); i++) {
		uint64_t first = src->info.first_ns;

		order_align(ld->order, i, &ld->align[i].map);
		if (store_capture(ld->mk, src, err) ||
		    store_align(ld->mk, i, &ld->align[i], first, err))
			return -1;
	}
	if (ld->ask->sums)
		load_sums_only(ld);
	/* With --no-symbols, stack dumps are unwound, but files are not asked
	 * for what a recorded stack lacks. */
	const struct load_ask *ask = ld->ask;
	const struct name_ask *name = &ask->name;
	bool look = !ask->no_symbols || name->symfs ||
		    (name->debug_dirs && *name->debug_dirs) || ask->pair;

	ld->symbolizer =
		name_symbolizer(name, maker_read(ld->mk, err), NULL, ask->kept);
	ld->unwinder = ld->ask->pair
			       ? unwind_compare_new(ld->symbolizer, ld->frames,
						    ld->ask->pair)
			       : unwind_new(ld->symbolizer, ld->frames);
	if (!ld->ask->pair && name_jobs(name) > 1) {
		unwind_use_threads(ld->unwinder, name_jobs(name) - 1);
		order_use_thread(ld->order);
		for (unsigned int i = 0; order_source(ld->order, i); i++)
			store_capture_source(ld->mk,
					     order_source(ld->order, i));
	}
	ld->mapped = mapped_new(ask->maps, ask->n_maps, ld->ledger, err);
	ld->jitted = ld->mapped ? jitted_new(&ask->jitted, ld->ledger,
					     folder_for_temp(), err)
				: NULL;
	if (!ld->jitted)
		return -1;
	const struct stitch_opts opts = {
		.unwinder = ld->unwinder,
		.layout = ld->layout,
		.infer = !ask->no_callers,
		.dumps_only = !look,
		.files = look ? file_parts : NULL,
		.files_arg = ld->symbolizer,
		.written = look ? file_written : NULL,
		.written_arg = ld->symbolizer,
		.jit = jitted_find,
		.jit_arg = ld->jitted,
	};

	ld->stitch = stitch_new(ld->order, ld->frames, ld->ledger, &opts);
	for (unsigned int i = 0; ld->align && i < n; i++)
		stitch_together(ld->stitch, (uint16_t)i, ld->align[i].line);
	for (unsigned int i = 0; order_source(ld->order, i); i++)
		if (mapped_add(ld->mapped, ld->stitch,
			       order_source(ld->order, i),
			       look ? ld->symbolizer : NULL, err))
			return -1;
	ld->locks = lock_names_new();
	ld->storing =
		storing_new(ld->mk, ld->frames, ld->order,
			    stitch_facts(ld->stitch), ld->locks, ld->no_fields);
	ledger_when_many(ld->ledger, load_take_entries, ld);
	if (read_facts(ld, err))
		return -1;
	for (unsigned int i = 0; order_source(ld->order, i); i++)
		if (store_capture(ld->mk, order_source(ld->order, i), err) ||
		    put_wall(ld, i, err) || put_numbers(ld, i, err) ||
		    put_streamed(ld, i, err))
			return -1;
	ledger_end(ld->ledger);
	return load_flush(ld, err);
}

/* Names what was stored, with the copies of kallsyms in captures, and checks
 * its call sites. made: for name_check_calls(). Returns 0, or -1 and *err. */
static int load_name_all(struct load *ld, const struct frames *made,
			 struct err *err)
{
	struct symbolize_text *list OWNED =
		mem_new(ld->n_sources + 1, sizeof(*list));
	size_t n = 0;

	for (unsigned int i = 0; order_source(ld->order, i); i++) {
		const struct source *src = order_source(ld->order, i);

		if (!src->info.kallsyms)
			continue;
		list[n++] = (struct symbolize_text){
			.text = src->info.kallsyms,
			.path = src->shown ?: src->path,
			.len = src->info.kallsyms_len,
		};
	}
	/* names of the kernel are not cached where there is a copy */
	const struct symbolize_text *captured = n ? list : NULL;
	int rc = name_images(&ld->ask->name, ld->mk, captured, ld->ask->kept,
			     !ld->ask->sums, err);

	if (!rc)
		rc = name_check_calls(ld->mk, made, ld->symbolizer, err);
	if (!rc && !ld->ask->sums && !stop_requested())
		rc = lock_names_store(ld->locks, &ld->ask->name, ld->mk,
				      captured, err);
	return rc;
}

/* Frees what only reading needs, with its threads, because what follows needs
 * as much memory for itself. */
static void load_end_reading(struct load *ld)
{
	storing_free(ld->storing);
	ld->storing = NULL;
	stitch_free(ld->stitch);
	ld->stitch = NULL;
	if (ld->unwinder)
		ld->unwinder->ops->free(ld->unwinder);
	ld->unwinder = NULL;
}

static uint32_t load_stack_again(void *arg, unsigned int source,
				 uint32_t process, int64_t t, uint32_t raw)
{
	const struct load *ld = arg;
	const struct source *src = order_source(ld->order, source);

	return src ? late_maps_again(stitch_late_maps(ld->stitch), ld->frames,
				     process, t, src->info.user_mask, raw)
		   : raw;
}

/* Corrects the user stacks that were stored before mappings of their processes
 * came; call it after store_groups_end(). A live pipe shows samples before it
 * is certain that no earlier record follows. Waiting longer (--slack) would be
 * exact, but would delay the live view. The recorded addresses are stored with
 * each stack, so that it can be corrected at the end of the stream. The result
 * of a stack dump stays: the dump is gone. */
static int load_stacks_again(struct load *ld, struct err *err)
{
	struct late_maps *late = stitch_late_maps(ld->stitch);

	late_maps_sort(late);
	return late->n ? store_again(ld->mk, late->from, late->until,
				     load_stack_again, ld, err)
		       : 0;
}

/* Reads, names and finishes the database. Returns 0, or -1 and *err. */
static int load_store(struct load *ld, char *const *paths, size_t n,
		      struct err *err)
{
	bool live = is_live(paths, n);
	int ret;

	if (live) {
		ld->began = now_wall_ns();
		progress_start_live("reading", "Ctrl-C ends it");
	} else {
		progress_start("reading");
	}
	signals_live(live);
	ret = load_read_all(ld, paths, n, err);
	signals_live(false);
	progress_clear();
	/* a second Ctrl-C ends the pipe, which is not a clean end */
	if (!ret && stop_requested())
		ret = err_set(err, ERR_STOPPED, "stopped");
	if (ret)
		return -1;
	bool named = !ld->ask->no_symbols && !ld->ask->unnamed;
	/* with late mappings, chains of the database have other stacks */
	const struct frames *made =
		stitch_late_maps(ld->stitch)->n ? NULL : ld->frames;

	if (store_groups_end(ld->mk, err) || load_stacks_again(ld, err))
		return -1;
	load_end_reading(ld);
	if (named ? load_name_all(ld, made, err)
		  : name_check_calls(ld->mk, made, NULL, err))
		return -1;
	if (stop_requested())
		return err_set(err, ERR_STOPPED, "stopped");
	if (store_meta(ld->mk, -1, "backstitch", VERSION, err))
		return -1;
	ld->db = maker_finish(ld->mk, ld->ledger, err);
	ld->mk = NULL;
	return ld->db ? 0 : -1;
}

int load_captures(char *const *paths, size_t n, const struct load_ask *ask,
		  struct store **db, bool *damaged, struct err *err)
{
	struct maker_opts so = { .fields = ask->fields,
				 .temp_dir = folder_for_temp(),
				 .force = ask->force };
	struct load ld = { .ask = ask };
	int ret = -1;

	*db = NULL;
	if (ask->slack_ms > 3600000)
		return err_set(err, ERR_USAGE,
			       "--slack is 0 to 3600000 milliseconds");
	if (ask->cpus > CPU_ID_MAX + 1)
		return err_set(err, ERR_USAGE,
			       "--cpus is at most %d, as in Linux",
			       CPU_ID_MAX + 1);
	if (take_layout(ask->layout, &ld.layout, err))
		return -1;
	for (size_t i = 0; i < ask->n_nonce_format; i++)
		if (nonce_check(ask->nonce_format[i], err))
			return -1;
	if (!ask->no_symbols && name_check(&ask->name, err))
		return -1;
	ld.nonce_format =
		mem_new(ask->n_nonce_format + 1, sizeof(*ld.nonce_format));
	for (size_t i = 0; i < ask->n_nonce_format; i++)
		ld.nonce_format[i] = ask->nonce_format[i];
	ld.no_fields = ask->fields && !strcmp(ask->fields, "none");
	ld.frames = frames_new();
	ld.ledger = ledger_new();
	ledger_reword(ld.ledger, unpacked_show, &ld.unpacked);
	ld.order = order_new(ld.ledger, ask->memory, folder_for_temp());
	if (unpacked_find(&ld.unpacked, paths, n, err))
		goto out;
	/* Add up the sizes of files, and of all files in folders. */
	bytes_seen = 0;
	for (size_t i = 0; i < ld.unpacked.n; i++)
		if (strcmp(ld.unpacked.path[i], "-") != 0)
			nftw(ld.unpacked.path[i], add_bytes, 16, 0);
	so.large = bytes_seen >= LARGE;
	ld.mk = ask->out ? maker_create(ask->out, &so, ld.frames, err)
			 : maker_create_temp(&so, ld.frames, err);
	if (!ld.mk)
		goto out;
	session_folders_join(&ld.chunks, ld.unpacked.path, ld.unpacked.n,
			     align_keeps_apart(&ask->align));
	ret = load_store(&ld, ld.chunks.path, ld.chunks.n, err);
	*damaged = ledger_count(ld.ledger, LEDGER_DAMAGE) > 0;
	if (!ret && !ask->out) {
		*db = ld.db;
		ld.db = NULL;
		if (store_sums_code(*db)) {
			store_sums_own(*db, ld.frames);
			ld.frames = NULL;
		}
	}
out:
	load_end_reading(&ld);
	maker_free(ld.mk);
	store_close(ld.db);
	mapped_free(ld.mapped);
	jitted_free(ld.jitted);
	symbolize_free(ld.symbolizer);
	lock_names_free(ld.locks);
	order_free(ld.order);
	ledger_free(ld.ledger);
	frames_free(ld.frames);
	free_all(ld.align, ld.nonce_format);
	session_folders_release(&ld.chunks);
	if (ret)
		unpacked_say(&ld.unpacked, err);
	unpacked_release(&ld.unpacked);
	return ret;
}

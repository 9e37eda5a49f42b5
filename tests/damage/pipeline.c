/* pipeline.c - cuts a capture and flips its bytes, and takes each of them
 * through the whole program: read, order, join, store, ask.
 *
 * usage: damage-pipeline CAPTURE N SEED. N seeded cuts and N seeded flips, all
 * in this process (run it under sanitizers). Every one must end with a
 * message or with a database that adds up; of a cut inside the records, every
 * sample in front of it must be stored as it is without the cut, and the run
 * must say that something is missing. Prints one line and gives 0, or says
 * what broke. */
#include <inttypes.h>

#include "formats/formats.h"
#include "formats/perf/perf.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"
#include "stitch/base/table.h"
#include "tests/damage.h"
#include "tests/pipeline.h"

/* What the whole capture holds. */
struct whole {
	uint64_t *key; /* of the samples in the database, sorted */
	size_t n, cap;
	uint64_t *end; /* where each sample record ends in the file */
	size_t n_end, cap_end;
	uint64_t first, last; /* a cut in [first, last) leaves a capture */
	bool plain; /* nothing packed: an end is a place in the file */
	bool pipe;  /* no length recorded: the end may be the end */
	bool sound; /* not damaged to begin with */
};

static char saved[] = "/tmp/backstitch-damage-XXXXXX";

static int wrong(const char *what, uint64_t at, const struct pipeline *p)
{
	fprintf(stderr, "%s at 0x%" PRIx64 ": ret %d damaged %d: %s\n", what,
		at, p->ret, p->damaged, p->err.msg);
	return 1;
}

/* ---- the samples of a database */

/* Without what a later record may change: names, and joined user halves; and
 * without those of stack dumps, whose registers need the architecture, which is
 * at the file's end. So are formats, by which a switch without a tid is that of
 * the thread that has ended. */
static const char samples_sql[] =
	"SELECT e.time_ns, e.cpu,"
	" CASE WHEN h.tid >= 0 AND e.time_ns < coalesce(h.end_ns, 1 << 62)"
	" THEN p.pid << 32 | h.tid END, t.type, t.config, e.weight,"
	" k.addrs, CASE WHEN r.event IS NULL AND" /* PERF_SAMPLE_STACK_USER */
	" NOT coalesce(t.sample_type, 0) & 8192 THEN u.addrs END"
	" FROM event e JOIN event_type t ON t.id = e.type"
	" LEFT JOIN thread h ON h.id = e.thread"
	" LEFT JOIN process p ON p.id = h.process"
	" LEFT JOIN raw_chain k ON k.id = e.kraw"
	" LEFT JOIN request r ON r.event = e.id"
	" LEFT JOIN raw_chain u ON u.id = e.uraw WHERE t.kind = 'sample'";

static uint64_t row_key_of(const struct rows *r)
{
	uint64_t h = 0;

	for (size_t i = 0; i < rows_columns(r); i++) {
		struct value v = rows_value(r, i);

		h = hash_u64(h ^ (uint64_t)v.kind ^ (uint64_t)v.num << 8);
		if (v.kind == VALUE_BLOB)
			h = hash_bytes(v.text, v.len, h);
	}
	return h;
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void load_keys(struct store *db, struct whole *w)
{
	struct err err = { 0 };
	struct rows *r = rows_open(db, samples_sql, NULL, 0, &err);
	int got = -1;

	while (r && (got = rows_next(r, &err)) > 0) {
		*mem_add(w->key, w->n, w->cap) = row_key_of(r);
	}
	rows_close(r);
	if (got < 0)
		pipeline_die(err.msg);
	if (w->n)
		qsort(w->key, w->n, sizeof(*w->key), by_key);
}

/* How many of part are not in all; both are sorted. */
static size_t strangers(const struct whole *part, const struct whole *all)
{
	size_t missing = 0;
	size_t j = 0;

	for (size_t i = 0; i < part->n; i++) {
		while (j < all->n && all->key[j] < part->key[i])
			j++;
		if (j < all->n && all->key[j] == part->key[i])
			j++;
		else
			missing++;
	}
	return missing;
}

/* ---- the samples of a file */

static void damage_pipeline_walk(struct source *src, struct whole *w)
{
	struct err err = { 0 };
	struct record rec;
	struct ref ref;

	if (src->ops->scan(src, &err))
		return;
	while (src->ops->next(src, &ref, &err) > 0) {
		if (ref.handle >> 48)
			w->plain = false;
		if (!src->ops->decode(src, &ref, &rec, &err) &&
		    rec.kind == REC_SAMPLE) {
			mem_grow(w->end, w->cap_end, w->n_end + 1);
			w->end[w->n_end++] =
				(ref.handle & (((uint64_t)1 << 48) - 1)) +
				ref.len;
		}
		src->ops->release(src, &ref);
	}
}

static void find_ends(const unsigned char *data, size_t n, struct whole *w)
{
	struct ledger *lg = ledger_new();
	struct err err = { 0 };
	int fd = pipeline_file(data, n);
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	struct source *src = formats_open(path, NULL, lg, &err);

	w->plain = true;
	/* of others only an end is asked for: tests/damage/ftrace.c knows
	 * where their entries are */
	if (src && src->ops != &perf_ops)
		w->sound = false;
	else if (src) {
		w->first = perf_of(src)->file[0].start;
		w->last = perf_of(src)->file[0].end;
		w->pipe = src->info.pipe || src->info.truncated;
		damage_pipeline_walk(src, w);
	}
	source_close(src);
	close(fd);
	ledger_free(lg);
}

/* ---- one try */

/* What must hold however it ended. */
static int damage_pipeline_judge(struct pipeline *p, const char *what,
				 uint64_t at)
{
	struct err err = { 0 };

	if (p->ret && !p->err.msg[0])
		return wrong("no message", at, p);
	if (p->ret && p->err.code != ERR_FORMAT && p->err.code != ERR_LIMIT)
		return wrong("not the input's fault", at, p);
	if (p->db && pipeline_ask(p->db, &err)) {
		p->err = err;
		return wrong(what, at, p);
	}
	return 0;
}

static int judge_cut(struct pipeline *p, uint64_t at, const struct whole *w)
{
	struct whole part = { 0 };
	uint64_t want = 0;
	int bad = 0;

	if (damage_pipeline_judge(p, "cut", at))
		return 1;
	if (!w->sound || at < w->first || at >= w->last)
		return 0;
	if (p->ret)
		return wrong("cut inside the records was refused", at, p);
	if (!p->damaged && !w->pipe)
		return wrong("cut is not told", at, p);
	load_keys(p->db, &part);
	for (size_t i = 0; i < w->n_end; i++)
		want += w->end[i] <= at;
	if (w->plain && w->n == w->n_end && part.n != want)
		bad = wrong("cut loses samples", at, p);
	if (!bad && strangers(&part, w))
		bad = wrong("cut changes samples", at, p);
	if (bad)
		fprintf(stderr, "%zu samples, want %" PRIu64 ", other %zu\n",
			part.n, want, strangers(&part, w));
	free(part.key);
	return bad;
}

static int damage_pipeline_try_cut(const unsigned char *data, uint64_t at,
				   const struct whole *w)
{
	struct pipeline p = pipeline_load(data, at, NULL);
	int bad = judge_cut(&p, at, w);

	store_close(p.db);
	return bad;
}

/* The windows of a live pipe: what is late there is told, nothing is lost. */
static int try_pipe(const unsigned char *data, uint64_t at,
		    const struct whole *w)
{
	struct pipeline p = pipeline_pipe(data, at);
	int bad = judge_cut(&p, at, w);

	store_close(p.db);
	return bad;
}

/* The commands on a database that came from damage. */
static int try_commands(const unsigned char *data, size_t n, uint64_t at)
{
	struct pipeline p = pipeline_load(data, n, saved);

	for (size_t i = 0; !p.ret && pipeline_reads_all[i][0]; i++) {
		p.err.msg[0] = 0;
		if (pipeline_read_all(i, saved, &p.err) < 0 &&
		    p.err.code == ERR_DB)
			return wrong(pipeline_reads_all[i][0], at, &p);
	}
	return damage_pipeline_judge(&p, "commands", at);
}

static int damage_pipeline_try_flip(unsigned char *data, size_t n,
				    bool commands_too)
{
	struct flips fl;

	damage_flip(&fl, data, n, 4);
	struct pipeline p = pipeline_load(data, n, NULL);
	int bad = damage_pipeline_judge(&p, "flip", fl.at[0]);

	store_close(p.db);
	if (!bad && commands_too)
		bad = try_commands(data, n, fl.at[0]);
	damage_flip_back(&fl, data);
	return bad;
}

static int run_whole(const unsigned char *data, size_t n, struct whole *w)
{
	struct pipeline p = pipeline_load(data, n, NULL);
	int bad = damage_pipeline_judge(&p, "whole", 0);

	w->sound = !p.ret && !p.damaged;
	if (w->sound) {
		load_keys(p.db, w);
		find_ends(data, n, w);
	}
	store_close(p.db);
	return bad;
}

int main(int argc, char **argv)
{
	struct whole w = { 0 };
	size_t n;
	uint64_t tries = damage_start(argc, argv, "damage-pipeline CAPTURE");
	int fd = mkstemp(saved);

	if (fd < 0)
		pipeline_die("no temporary file");
	close(fd);
	unlink(saved);
	pipeline_start();
	unsigned char *data = slurp_slurp(argv[1], &n);
	int bad = run_whole(data, n, &w);

	for (uint64_t i = 0; i < tries; i++)
		bad += i % 4 ? damage_pipeline_try_cut(data, random_below(n),
						       &w)
			     : try_pipe(data, random_below(n), &w);
	for (uint64_t i = 0; i < tries; i++)
		bad += damage_pipeline_try_flip(data, n, i % 4 == 0);
	unlink(saved);
	free(data);
	free(w.end);
	free(w.key);
	fprintf(stderr,
		"%s: %zu samples (%zu records), %" PRIu64 " cuts, %" PRIu64
		" flips, %d failures\n",
		argv[1], w.n, w.n_end, tries, tries, bad);
	return bad != 0;
}

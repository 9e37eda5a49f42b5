/* fleet.c - a database as the rows of a fleet need it: its runs, and small
 * numbers for the texts and hashes of its samples. */
#include "analyze/fleet/fleet.h"

#include <inttypes.h>
#include <time.h>

#include "analyze/fleet/fleet_input.h"
#include "analyze/samples/code.h"
#include "analyze/samples/filter.h"
#include "stitch/text/json.h"
#include "schema/columns.h"
#include "schema/merge/merge.h"
#include "stitch/audit/callsite.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/unwinder.h"
#include "stitch/verdict.h"

#define NS_PER_S 1000000000
#define NS_PER_DAY (86400 * (int64_t)NS_PER_S)
#define HASH_SIZE 16

uint32_t fleet_word(struct fleet *f, const char *s, size_t len)
{
	return json_intern(&f->words, s, len);
}

uint32_t fleet_word_of(struct fleet *f, const char *s)
{
	return s ? fleet_word(f, s, strlen(s)) : FLEET_NO_WORD;
}

static void fleet_hash_bytes(const void *data, size_t n, uint8_t out[HASH_SIZE])
{
	for (unsigned int k = 0; k < 2; k++) {
		uint64_t h = hash_content(data, n, k + 1);

		for (unsigned int i = 0; i < 8; i++)
			out[8 * k + i] = (uint8_t)(h >> (56 - 8 * i));
	}
}

/* Sets the ids of the runs: the hash of each capture's content. */
static int fleet_read_contents(struct fleet *f, struct err *err)
{
	struct rows *r = rows_of(f->db, "merge_known", err);

	while (rows_step(r)) {
		int64_t id = rows_int(r, MERGE_KNOWN_ID);
		char key[MERGE_KEY_SIZE];

		merge_content_key(rows_text(r, MERGE_KNOWN_CONTENT), key);
		for (size_t i = 0; i < f->n_capture; i++) {
			uint8_t *out = f->capture[i].run.id;

			if (f->capture[i].id != id)
				continue;
			for (size_t k = 0; k < HASH_SIZE; k++) {
				const char two[] = { key[2 * k], key[2 * k + 1],
						     0 };

				out[k] = (uint8_t)strtoul(two, NULL, 16);
			}
		}
	}
	return rows_end(r, err);
}

/* Writes a text after its length, so that lists of texts cannot look equal. */
static void fleet_put_given(FILE *t, const char *s)
{
	fprintf(t, "|%zu %s", s ? strlen(s) : 0, s ? s : "");
}

/* Sets the hash of all that a run's rows depend on. Returns 0, or -1. */
static int fleet_set_made(struct fleet *f, struct fleet_capture *c,
			  struct err *err)
{
	struct rows *r = ROWS_BY(f->db, "fleet_made", err, c->id);
	char *text = NULL;
	size_t len = 0;
	const struct filter *filter = f->ask->filter;
	FILE *t;

	for (size_t i = 0; i < HASH_SIZE; i++)
		snprintf(c->run.hex + 2 * i, 3, "%02x", c->run.id[i]);
	if (rows_step(r)) {
		t = mem_stream(&text, &len);
		/* runs without the latest column are sent again */
		fprintf(t, "%d|%zu|%" PRIu64, FLEET_VERSION,
			fleet_tables[FLEET_SAMPLE].n_column, f->ask->period);
		fleet_put_given(t, f->ask->version);
		fleet_put_given(t, rows_text(r, FLEET_MADE_MADE));
		for (unsigned int i = 0; i < 6; i++) {
			const char *const given[] = {
				filter->time, filter->cpu,  filter->pid,
				filter->tid,  filter->comm, filter->event
			};

			fleet_put_given(t, given[i]);
		}
		if (filter->cgroup)
			fleet_put_given(t, filter->cgroup);
		for (size_t i = 0; i < f->ask->n_label; i++)
			fleet_put_given(t, f->ask->label[i]);
		mem_stream_end(t);
		fleet_hash_bytes(text, len, c->run.made);
		free(text);
	}
	return rows_end(r, err);
}

enum fleet_frame fleet_bogus(const struct known_code *c, uint32_t frame,
			     uint32_t pos, uint32_t first)
{
	const char *bogus = c->frame[frame].bogus;

	if (!first || pos < first || !bogus)
		return FLEET_FRAME_SOUND;
	return strcmp(bogus, callsite_kind_name(CALLSITE_NO_CODE)) != 0
		       ? FLEET_FRAME_NO_CALL
		       : FLEET_FRAME_NO_CODE;
}

int fleet_load_code(struct fleet *f, struct err *err)
{
	if (f->code)
		return 0;
	f->code = code_load(f->db, (CODE_ALL & ~CODE_ADDRS) | CODE_WRONG, err);
	if (!f->code)
		return -1;
	*mem_add(f->chain, f->n_chain, f->cap_chain) =
		(struct fleet_chain){ FLEET_NO_HASH, FLEET_NO_WORD };
	f->after_exec = fleet_word_of(f, "after exec");
	for (unsigned int i = 0; i < 32; i++)
		f->verdict[i] = fleet_word_of(f, request_verdict_name(i));
	*mem_add(f->stack, f->n_stack, f->cap_stack) = FLEET_NO_HASH;
	struct rows *r = rows_dense(f->db, "fleet_hashes", err);

	while (rows_step(r)) {
		struct value hash = rows_value(r, FLEET_HASHES_HASH);
		uint32_t known = FLEET_NO_HASH;

		if (hash.kind == VALUE_BLOB && hash.len == HASH_SIZE)
			known = intern_add_bytes(&f->hashes, hash.text,
						 hash.len);
		*mem_add(f->stack, f->n_stack, f->cap_stack) = known;
	}
	if (rows_end(r, err))
		return -1;
	/* Stacks with equal frames, of one capture or of captures that were
	 * read where other files are, can have different bogus ones. They are
	 * different stacks, since what is stored once for a stack must be true
	 * for all its samples. */
	const struct known_code *one = f->code;
	uint8_t key[HASH_SIZE + FLEET_FRAMES_MAX];

	for (size_t k = 1; k < one->n_stack && k < f->n_stack; k++) {
		struct fleet_wrong *w;
		uint8_t hash[HASH_SIZE];
		size_t n = HASH_SIZE;

		if (!one->wrong[k])
			continue;
		w = mem_at(f->wrong, f->n_wrong, f->cap_wrong, k);
		w->first = one->wrong[k];
		w->hash = f->stack[k];
		if (w->hash == FLEET_NO_HASH)
			continue;
		for (size_t s = k; s && n < HASH_SIZE + FLEET_FRAMES_MAX;
		     s = one->stack[s].parent) {
			uint32_t pos = (uint32_t)(n - HASH_SIZE);

			key[n++] = (uint8_t)fleet_bogus(
				one, one->stack[s].frame, pos, w->first);
		}
		memcpy(key, intern_get(&f->hashes, w->hash), HASH_SIZE);
		fleet_hash_bytes(key, n, hash);
		w->hash = intern_add_bytes(&f->hashes, hash, sizeof(hash));
	}
	for (size_t i = 1; i < f->code->n_chain; i++) {
		const struct code_chain *from = &f->code->chain[i];
		size_t stack = from->stack;
		struct fleet_chain c = { .stack = FLEET_NO_HASH };

		if (stack < f->n_stack)
			c.stack = f->stack[stack];
		if (from->ended > UNWIND_OUTERMOST)
			c.ended =
				fleet_word_of(f, unwind_end_name(from->ended));
		if (stack < f->n_wrong && f->wrong[stack].first) {
			f->wrong[stack].sound |= from->ended != 0;
			if (!from->ended) {
				c.ended = fleet_word_of(f, FLEET_FABRICATED);
				c.stack = f->wrong[stack].hash;
			}
		}
		*mem_add(f->chain, f->n_chain, f->cap_chain) = c;
	}
	return 0;
}

struct fleet *fleet_open(struct store *db, const struct fleet_ask *ask,
			 struct err *err)
{
	static const char no_hash[HASH_SIZE];
	struct fleet *f = mem_new(1, sizeof(*f));

	f->db = db;
	f->ask = ask;
	intern_add(&f->words, "");
	intern_add_bytes(&f->hashes, no_hash, sizeof(no_hash));
	struct rows *r = rows_of(f->db, "fleet_captures", err);

	while (rows_step(r)) {
		struct value wall = rows_value(r, FLEET_CAPTURES_WALL);
		const char *host = rows_text(r, FLEET_CAPTURES_HOST);
		struct fleet_capture c = {
			.id = rows_int(r, FLEET_CAPTURES_ID),
			.has_wall = wall.kind == VALUE_INT,
			.wall = wall.num,
			.run.samples =
				(uint64_t)rows_int(r, FLEET_CAPTURES_SAMPLES),
		};

		/* Sets the day of a time since 1970. */
		int64_t first = rows_int(r, FLEET_CAPTURES_FIRST_NS);
		int64_t at = fleet_time(&c, first);
		time_t seconds = (time_t)(at / NS_PER_S);
		struct tm tm;

		snprintf(c.run.day, sizeof(c.run.day), "unknown");
		if (c.has_wall && at > 0 && gmtime_r(&seconds, &tm)) {
			c.run.day_number = (uint32_t)(at / NS_PER_DAY);
			strftime(c.run.day, sizeof(c.run.day), "%Y-%m-%d", &tm);
		}
		host = *host ? host : "unknown";
		c.run.host = intern_get(&f->words, fleet_word_of(f, host));
		*mem_add(f->capture, f->n_capture, f->cap_capture) = c;
	}
	bool ok = !rows_end(r, err) && !fleet_read_contents(f, err);
	for (size_t i = 0; ok && i < f->n_capture; i++)
		ok = !fleet_set_made(f, &f->capture[i], err);
	if (ok)
		return f;
	fleet_close(f);
	return NULL;
}

void fleet_close(struct fleet *f)
{
	if (!f)
		return;
	code_free(f->code);
	intern_release(&f->words);
	intern_release(&f->hashes);
	free_all(f->capture, f->stack, f->chain, f->wrong, f);
}

size_t fleet_runs(const struct fleet *f)
{
	return f->n_capture;
}

const struct fleet_run *fleet_run(const struct fleet *f, size_t i)
{
	return &f->capture[i].run;
}

uint64_t fleet_samples_read(const struct fleet *f, uint64_t *rows)
{
	uint64_t kept = 0;

	*rows = 0;
	for (size_t i = 0; i < f->n_capture; i++) {
		kept += f->capture[i].kept;
		*rows += f->capture[i].rows;
	}
	return kept;
}

/* trust.c - how far the user stacks of samples can be trusted: the samples of
 * each class.
 *
 * View internal_trust_class has the class of each kind of samples: those with
 * equal event, fate, judgement of the stack, cause, and number of frames. Here
 * each group of samples finds its kind, so that a sentence can be about any
 * groups. Events that take no user stacks are named only if no event takes any:
 * a recorder of tracepoints is often asked for the stacks of a few of them. */
#include "analyze/stacks/trust.h"

#include <inttypes.h>

#include "analyze/samples/code.h"
#include "analyze/samples/filter.h"
#include "analyze/samples/loss_marks.h"
#include "analyze/stacks/stacks.h"
#include "analyze/stacks/trust_inner.h"
#include "schema/columns.h"
#include "schema/db/groups.h"
#include "schema/store.h"
#include "stitch/audit/callsite.h"
#include "stitch/base/mem.h"
#include "stitch/unwinder.h"
#include "stitch/verdict.h"
#include "symbolize/files/identity.h"
#include "symbolize/unwind/frame_share.h"

#define DEEPEST 200
/* Images with larger ids are ignored. */
#define IMAGES_MAX (1 << 24)

const struct trust_word trust_words[] = {
	TRUST_CLASS_ROWS{ NULL, TRUST_UNCHECKED, "are of an unknown class",
			  NULL },
};

const struct trust_fix trust_fixes[REMEDIES] = { { HOW_NOW, "", "" },
						 TRUST_REMEDY_ROWS };

const struct trust_word *trust_word(const char *name)
{
	const struct trust_word *w = trust_words;

	while (w->name && strcmp(w->name, name))
		w++;
	return w;
}

/* Returns the remedy with that text; REMEDY_NONE: there is none. */
static enum trust_remedy trust_remedy_of(const char *text)
{
	unsigned int i = REMEDIES - 1;

	while (i && strcmp(trust_fixes[i].text, text))
		i--;
	return i;
}

static enum judged trust_judged_of(const char *name)
{
	unsigned int v = JUDGED_OPEN;

	while (judged_name(v) && strcmp(judged_name(v), name))
		v++;
	return judged_name(v) ? (enum judged)v : JUDGED_NONE;
}

/* Reads the kinds of samples, with their classes and remedies. */
static int trust_read_rules(struct trust *t, struct store *db, struct err *err)
{
	struct rows *r = rows_of(db, "trust_classes", err);

	while (rows_step(r)) {
		const char *judged = rows_text(r, TRUST_CLASSES_JUDGED);
		const struct frame_share share = {
			(uint32_t)rows_int(r, TRUST_CLASSES_FUNCTIONS),
			(uint32_t)rows_int(r, TRUST_CLASSES_FRAMED),
		};
		struct trust_rule *rule = mem_add(t->rule, t->n, t->cap);

		t->chains = rows_int(r, TRUST_CLASSES_CHAINS) > 0;
		raise_to(t->buffers, loss_buffer_megabytes(rows_text(
					     r, TRUST_CLASSES_CMDLINE)));
		t->record |= rows_int(r, TRUST_CLASSES_RECORD) > 0;
		/* rows sent by a server of an earlier version have no class */
		t->unknown |= !rows_text(r, TRUST_CLASSES_CLASS)[0];
		*rule = (struct trust_rule){
			.key = {
				.type = rows_int(r, TRUST_CLASSES_TYPE),
				.mark = rows_int(r, TRUST_CLASSES_MARK),
				.judged = trust_judged_of(judged),
				.frames = rows_int(r, TRUST_CLASSES_FRAMES),
				.image = rows_int(r, TRUST_CLASSES_IMAGE),
			},
			.first = (uint32_t)rows_int(r, TRUST_CLASSES_FIRST),
			.word = trust_word(rows_text(r, TRUST_CLASSES_CLASS)),
			.fix = trust_remedy_of(rows_text(r, TRUST_CLASSES_FIX)),
			.path = mem_strdup(rows_text(r, TRUST_CLASSES_PATH)),
			.unframed = frame_share_is_none(&share),
		};
		trust_tally(&rule->all, (uint64_t)rows_int(r, TRUST_CLASSES_N));
	}
	return rows_end(r, err);
}

static void trust_add_end(struct trust *t, const char *function, int64_t all)
{
	*mem_add(t->end, t->n_end, t->cap_end) = (struct trust_end){
		.function = mem_strdup(function),
		.n = all,
	};
}

/* Reads the functions in which stacks end early because they set no frame
 * pointer: by stack or, without code, for all samples. */
static int trust_read_ends(struct trust *t, struct store *db, struct err *err)
{
	int64_t image = 0;
	bool any = false;

	for (size_t i = 0; i < t->n; i++)
		any |= t->rule[i].key.judged == JUDGED_EARLY_FUNCTION;
	if (!any || t->summed)
		return 0;
	struct rows *r;

	if (!t->code) {
		r = rows_of(db, "check_ends_early", err);
		while (rows_step(r))
			if (trust_word(rows_text(r, CHECK_ENDS_EARLY_CLASS)) ==
			    &trust_words[CLASS_ENDS_EARLY_FUNCTION])
				trust_add_end(
					t,
					rows_text(r, CHECK_ENDS_EARLY_FUNCTION),
					rows_int(r, CHECK_ENDS_EARLY_SAMPLES));
		return rows_end(r, err);
	}
	r = rows_of(db, "trust_ends", err);
	t->end_of = mem_new(t->n_stack, sizeof(*t->end_of));
	while (rows_step(r)) {
		int64_t stack = rows_int(r, TRUST_ENDS_STACK);
		const char *function = rows_text(r, TRUST_ENDS_FUNCTION);

		if (!t->n_end || rows_int(r, TRUST_ENDS_IMAGE) != image ||
		    strcmp(t->end[t->n_end - 1].function, function) != 0)
			trust_add_end(t, function, 0);
		image = rows_int(r, TRUST_ENDS_IMAGE);
		if (stack > 0 && (uint64_t)stack < t->n_stack)
			t->end_of[stack] = (uint32_t)t->n_end;
	}
	return rows_end(r, err);
}

/* Reads in which frames a dump would end. Does nothing for a database without
 * such samples, or one that was made before they were counted. */
static int trust_load_dump_ends(struct trust *t, struct store *db,
				struct err *err)
{
	enum {
		FRAME,
		START,
		OPEN,
		BYTES,
		COLUMNS
	};
	static const char *const column[COLUMNS] = { "frame", "start", "open",
						     "bytes" };
	struct int_row row;
	bool any = false;

	for (size_t i = 0; i < t->n; i++)
		any |= t->rule[i].key.frames >= STOP_DUMP &&
		       t->rule[i].key.frames <= STOP_DEEPEST;
	if (!any || !t->code || t->summed)
		return 0;
	struct rows *r = rows_ints_of(db, "internal_end", column, COLUMNS, err);

	bool *leaf = mem_new(t->code->n_frame, sizeof(*leaf));
	bool *switches = mem_new(t->code->n_frame, sizeof(*switches));
	uint32_t *bytes = mem_new(t->code->n_frame, sizeof(*bytes));

	while (rows_step_ints(r, &row)) {
		if (row.v[FRAME] < 1 ||
		    (uint64_t)row.v[FRAME] >= t->code->n_frame)
			continue;
		leaf[row.v[FRAME]] =
			judged_ends_leaf((unsigned int)row.v[START],
					 (unsigned int)row.v[OPEN], false);
		switches[row.v[FRAME]] = row.v[START] == ENDS_SWITCH;
		bytes[row.v[FRAME]] = (uint32_t)row.v[BYTES];
	}
	int rc = rows_end(r, err);

	if (!rc) {
		/* which stacks a dump would end early, and how many bytes
		 * they have */
		const struct known_code *c = t->code;
		bool *passed = mem_new(t->n_stack, sizeof(*passed));

		t->ends = mem_new(t->n_stack, sizeof(*t->ends));
		t->bytes = mem_new(t->n_stack, sizeof(*t->bytes));
		for (size_t i = 1; i < t->n_stack; i++) {
			const uint32_t frame = c->stack[i].frame;
			const uint32_t image = c->frame[frame].image;

			passed[i] =
				passed[c->stack[i].parent] || switches[frame];
			t->bytes[i] =
				t->bytes[c->stack[i].parent] + bytes[frame];
			t->ends[i] = judged_ends_dump(
				t->judged[i],
				leaf[frame] ||
					c->image[image].img.kind == IMAGE_ANON,
				passed[i]);
		}
		free(passed);
	}
	free_all(leaf, switches, bytes);
	return rc;
}

/* Reads by stack how it was judged, why, and how it was walked. */
static int trust_load_stacks(struct trust *t, struct store *db, struct err *err)
{
	const struct known_code *c = t->code;
	enum {
		STACK,
		CLASS,
		IMAGE,
		COLUMNS
	};
	static const char *const column[COLUMNS] = { "stack", "class",
						     "image" };
	struct rows *r =
		rows_ints_of(db, "internal_judged", column, COLUMNS, err);
	struct int_row row;

	t->n_stack = c->n_stack;
	t->judged = mem_new(t->n_stack, sizeof(*t->judged));
	t->image = mem_new(t->n_stack, sizeof(*t->image));
	t->unwound = mem_new(t->n_stack, sizeof(*t->unwound));
	t->depth = mem_new(t->n_stack, sizeof(*t->depth));
	t->walked = mem_new(t->n_stack, sizeof(*t->walked));
	for (size_t i = 1; i < c->n_chain; i++)
		t->unwound[c->chain[i].stack] |= c->chain[i].ended > 0;
	for (size_t i = 1; i < t->n_stack; i++) {
		uint8_t above = t->depth[c->stack[i].parent];

		t->depth[i] = above < DEEPEST ? above + 1 : DEEPEST;
	}
	while (rows_step_ints(r, &row)) {
		int64_t stack = row.v[STACK];
		int64_t judged = row.v[CLASS];

		if (stack < 1 || (uint64_t)stack >= t->n_stack || judged < 0 ||
		    judged > UINT8_MAX)
			continue;
		t->judged[stack] = (uint8_t)judged;
		t->image[stack] = (uint32_t)row.v[IMAGE];
	}
	if (rows_end(r, err))
		return -1;
	static const char *const walks[] = { "stack", "walked" };

	r = rows_ints_of(db, "internal_stack_check", walks, ARRAY_SIZE(walks),
			 err);
	while (rows_step_ints(r, &row))
		if (row.v[0] > 0 && (uint64_t)row.v[0] < t->n_stack &&
		    row.v[1] > 0 && row.v[1] < WALKS)
			t->walked[row.v[0]] = (uint8_t)row.v[1];
	return rows_end(r, err);
}

/* A column of whole numbers, by id: 0 if there is no row. */
struct trust_column {
	uint32_t *at;
	size_t n, cap;
};

/* Reads a column of a table. */
static int trust_read_column(struct store *db, const char *table,
			     const char *name, struct trust_column *c,
			     struct err *err)
{
	enum {
		ID,
		VALUE,
		COLUMNS
	};
	const char *const column[COLUMNS] = { "id", name };
	struct rows *r = rows_ints_dense(db, table, column, COLUMNS, err);
	struct int_row row;

	*mem_add(c->at, c->n, c->cap) = 0;
	while (rows_step_ints(r, &row)) {
		const int64_t v = row.v[VALUE];

		*mem_add(c->at, c->n, c->cap) =
			v > 0 && v < UINT32_MAX ? (uint32_t)v : 0;
	}
	return rows_end(r, err);
}

static uint32_t trust_column_of(const struct trust_column *c, int64_t id)
{
	return id > 0 && (uint64_t)id < c->n ? c->at[id] : 0;
}

/* Where the samples of a database are, to count those in unproved files. */
struct trust_places {
	struct trust *t;
	struct trust_column stack, frame; /* frame by stack, image by frame */
};

static void trust_tally_file(struct trust *t, uint32_t image, uint64_t n)
{
	if (image < t->n_file_of && t->file_of[image])
		trust_tally(t->file_of[image] == TRUST_GONE ? &t->gone
							    : &t->unproved,
			    n);
}

static int trust_place_group(void *arg, const struct store_group *g,
			     struct err *err UNUSED)
{
	struct trust_places *p = arg;
	const uint32_t frame =
		trust_column_of(&p->stack, g->kernel ? g->kernel : g->user);
	const uint32_t image = trust_column_of(&p->frame, frame);

	const uint64_t n = g->n > 0 ? (uint64_t)g->n : 0;

	trust_tally(&p->t->counted, n);
	trust_tally_file(p->t, image, n);
	return 0;
}

/* Looks for a process that still sees the file that ran at its path, as
 * processes of a container do while they live. */
static int trust_find_root(struct trust *t, struct store *db, int64_t image,
			   struct err *err)
{
	struct rows *r = ROWS_BY(db, "image_roots", err, image);
	struct arena text = { 0 };

	while (!t->gone_pid && rows_step(r)) {
		char path[4096 + 32];
		struct image img = { .t0 = 0 };

		if (!identity_recorded_here(rows_text(r, IMAGE_ROOTS_HOST),
					    rows_text(r, IMAGE_ROOTS_RELEASE)))
			continue;
		rows_image(r, IMAGE_ROOTS_KIND, &text, &img);
		snprintf(path, sizeof(path), "/proc/%" PRId64 "/root%s",
			 rows_int(r, IMAGE_ROOTS_PID), img.path);
		img.path = path;
		if (identity_may_be_mapped(&img))
			t->gone_pid = rows_int(r, IMAGE_ROOTS_PID);
	}
	arena_release(&text);
	return rows_end(r, err);
}

/* Reads which files are unproved, or gone. Without code, also counts all
 * samples of the database. */
static int trust_read_unproved(struct trust *t, struct store *db,
			       struct err *err)
{
	struct rows *r = rows_of(db, "unverified_images", err);
	int64_t image = 0;

	while (rows_step(r)) {
		int64_t id = rows_int(r, UNVERIFIED_IMAGES_ID);

		if (id <= 0 || id >= IMAGES_MAX ||
		    (t->code && (uint64_t)id >= t->code->n_image))
			continue;
		bool gone = rows_int(r, UNVERIFIED_IMAGES_GONE) != 0;

		*mem_at(t->file_of, t->n_file_of, t->cap_file_of, id) =
			gone ? TRUST_GONE : TRUST_UNPROVED;
		if (gone && !t->gone_path) {
			t->gone_path = mem_strdup(
				rows_text(r, UNVERIFIED_IMAGES_PATH));
			t->gone_inode = rows_int(r, UNVERIFIED_IMAGES_INODE);
			t->replaced =
				rows_int(r, UNVERIFIED_IMAGES_REPLACED) != 0;
			image = id;
		}
	}
	if (rows_end(r, err) ||
	    (image && !t->replaced && trust_find_root(t, db, image, err)))
		return -1;
	if (t->code)
		return 0;
	/* As a join in SQL, of groups with their stacks, frames and images,
	 * this took 15 % of a first look at stack dumps. */
	struct trust_places p = { .t = t };
	int rc = 0;

	/* the places matter only if some files are unproved */
	if (t->n_file_of &&
	    (trust_read_column(db, "stack", "frame", &p.stack, err) ||
	     trust_read_column(db, "frame", "image", &p.frame, err)))
		rc = -1;
	if (!rc)
		rc = store_groups_each(db, trust_place_group, &p, err);
	free_all(p.stack.at, p.frame.at);
	return rc;
}

struct trust *trust_new(struct store *db, const struct known_code *code,
			struct err *err)
{
	struct trust *t = mem_new(1, sizeof(*t));
	int served = code ? stacks_served(db, err) : 0;

	t->code = code;
	/* sums of a server have the classes of its samples, not the stack of
	 * each one */
	t->summed = served > 0;
	t->kept = served < 0 ? NULL : store_kept_frames(db, &t->n_kept, err);
	if (t->kept && !trust_read_rules(t, db, err) &&
	    !trust_read_unproved(t, db, err) &&
	    (!code || served || !trust_load_stacks(t, db, err)) &&
	    !trust_read_ends(t, db, err) && !trust_load_dump_ends(t, db, err))
		return t;
	trust_free(t);
	return NULL;
}

void trust_free(struct trust *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++)
		free(t->rule[i].path);
	for (size_t i = 0; i < t->n_end; i++)
		free(t->end[i].function);
	free_all(t->rule, t->end, t->end_of, t->judged, t->image, t->unwound,
		 t->ends, t->bytes, t->depth, t->walked, t->file_of,
		 t->gone_path, t->kept, t);
}

/* ---- counting */

static void trust_tally_kernel(struct trust *t, int64_t judged, uint64_t n)
{
	trust_tally(&t->half[judged == JUDGED_FABRICATED ? KERNEL_FALSE
			     : judged == JUDGED_NO_START ? KERNEL_NO_START
			     : judged == JUDGED_FULL	 ? KERNEL_FULL
			     : judged == JUDGED_NO_FILE	 ? KERNEL_NO_FILE
			     : judged == JUDGED_WHOLE	 ? KERNEL_WHOLE
			     : judged == JUDGED_CALLER	 ? KERNEL_CALLER
			     : judged == JUDGED_HOLE	 ? KERNEL_HOLE
							 : KERNEL_UNCHECKED],
		    n);
}

/* Counts the kernel halves of all samples, and how their user halves were
 * walked. */
static int trust_sum_halves(struct trust *t, struct store *db, struct err *err)
{
	struct rows *r = rows_of(db, "trust_kernel", err);

	while (rows_step(r))
		trust_tally_kernel(t, rows_int(r, TRUST_KERNEL_CLASS),
				   (uint64_t)rows_int(r, TRUST_KERNEL_N));
	if (rows_end(r, err))
		return -1;
	r = rows_of(db, "trust_walks", err);
	while (rows_step(r)) {
		const int64_t by = rows_int(r, TRUST_WALKS_WALKED);

		trust_tally(&t->walk[by > 0 && by < WALKS ? by : WALK_UNKNOWN],
			    (uint64_t)rows_int(r, TRUST_WALKS_N));
	}
	return rows_end(r, err);
}

/* Counts all samples of the events that have the name of this event_type.id, or
 * of all events if it is 0. */
static void trust_add_event(struct trust *t, uint32_t first)
{
	for (size_t i = 0; i < t->n; i++)
		if (!t->unknown && (!first || t->rule[i].first == first))
			t->rule[i].n = t->rule[i].all;
}

/* Returns the kind of the samples of a group. */
static struct trust_key trust_key_of(const struct trust *t,
				     const struct stacks_group *g)
{
	const struct known_code *c = t->code;
	const struct code_chain *u = code_chain_at(c, g->uraw);
	struct trust_key key = { .type = g->type };

	if (!u->stack) {
		key.mark = -(int64_t)g->verdict;
		return key;
	}
	if (g->flags & VERDICT_EXEC)
		key.mark = MARK_EXEC;
	else if (u->ended > UNWIND_OUTERMOST)
		key.mark = MARK_ENDED + u->ended;
	const uint32_t user = u->stack;
	const uint32_t kernel = code_chain_at(c, g->kraw)->stack;
	const uint32_t caller = c->stack[c->stack[user].parent].frame;
	uint32_t depth = t->unwound[user] ? 0 : t->depth[user];

	key.judged = t->judged[user] ? t->judged[user] : JUDGED_WHOLE;
	key.image = t->image[user];
	if (!depth)
		return key;
	depth -= (c->frame[caller].flags & FRAME_INFERRED) != 0;
	key.frames = judged_stop(
		depth, t->depth[kernel],
		g->type < t->n_kept ? t->kept[g->type].both : STOP_PERF,
		t->ends && t->ends[user], t->bytes ? t->bytes[user] : 0);
	return key;
}

/* Returns the rule for a group; NULL if its samples have no class. */
static struct trust_rule *trust_rule_of(struct trust *t,
					const struct stacks_group *g)
{
	const struct trust_key key = trust_key_of(t, g);

	for (size_t i = 0; i < t->n; i++) {
		struct trust_rule *r = &t->rule[(t->last + i) % t->n];

		if (r->key.type != key.type || r->key.mark != key.mark ||
		    r->key.judged != key.judged ||
		    r->key.frames != key.frames || r->key.image != key.image)
			continue;
		t->last = (t->last + i) % t->n;
		return r;
	}
	return NULL;
}

void trust_restart(struct trust *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->rule[i].n = 0;
	for (size_t i = 0; i < t->n_end; i++)
		t->end[i].n = 0;
	memset(t->half, 0, sizeof(t->half));
	memset(t->walk, 0, sizeof(t->walk));
	t->bare = t->kernel = t->nested = 0;
	t->counted = t->unproved = t->gone = 0;
}

void trust_add(struct trust *t, const struct stacks_group *g)
{
	const uint32_t kernel = code_chain_at(t->code, g->kraw)->stack;

	const struct known_code *c = t->code;
	uint32_t stack = code_chain_at(c, g->kraw ? g->kraw : g->uraw)->stack;
	uint32_t image = c->frame[c->stack[stack].frame].image;

	trust_tally(&t->counted, g->samples);
	trust_tally_file(t, image, g->samples);
	if (!t->summed && t->depth[kernel] > 1)
		trust_tally_kernel(t, t->judged[kernel], g->samples);
	if (g->nest)
		trust_tally(&t->nested, g->samples);
	if (t->summed) {
		trust_add_event(t, g->type);
		if (g->uraw || g->verdict)
			return;
	} else {
		struct trust_rule *r = trust_rule_of(t, g);
		const uint32_t user = code_chain_at(c, g->uraw)->stack;

		if (r) {
			trust_tally(&r->n, g->samples);
			trust_tally(&t->walk[t->walked[user]], g->samples);
			uint32_t end = 0;

			if (t->end_of &&
			    r->word == &trust_words[CLASS_ENDS_EARLY_FUNCTION])
				end = t->end_of[user];
			if (end)
				trust_tally(&t->end[end - 1].n, g->samples);
			return;
		}
	}
	trust_tally(g->kraw ? &t->kernel : &t->bare, g->samples);
}

const char *trust_class(struct trust *t, const struct stacks_group *g)
{
	const struct trust_rule *r = trust_rule_of(t, g);

	return r ? r->word->name : NULL;
}

struct trust *trust_of(struct store *db, const struct stacks *stacks, int event,
		       struct err *err)
{
	struct trust *t = trust_new(db, stacks->code, err);

	if (!t)
		return NULL;
	stacks_each (g, stacks, event)
		trust_add(t, g);
	return t;
}

struct trust *trust_read(struct store *db, const struct filter *filter,
			 struct err *err)
{
	const struct stacks_opts o = { .filter = filter, .summed = true };
	struct stacks *s = NULL;
	struct trust *t = NULL;

	if (filter_given(filter)) {
		s = stacks_load(db, &o, err);
		t = s ? trust_of(db, s, -1, err) : NULL;
		stacks_free(s);
		return t;
	}
	t = trust_new(db, NULL, err);
	if (t && trust_sum_halves(t, db, err)) {
		trust_free(t);
		return NULL;
	}
	if (t)
		trust_add_event(t, 0);
	return t;
}

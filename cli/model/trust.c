/* trust.c - how far user stacks can be trusted, in one sentence.
 *
 * View internal_trust_class says the class of each kind of samples: those with
 * equal event, fate, judgement of the stack, and number of frames. Here each
 * group of samples finds its kind, so that a sentence can be of any of them.
 * Events that take no user stacks are named only where no event takes any: a
 * recorder of tracepoints is often asked for the stacks of a few of them. */
#include "cli/model/trust.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/code.h"
#include "cli/model/filter.h"
#include "cli/model/stacks.h"
#include "cli/model/trust_words.h"
#include "cli/output/human.h"
#include "cli/output/json.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/audit/callsite.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/text_out.h"
#include "stitch/unwinder.h"
#include "stitch/verdict.h"

/* Classes that the sentence names; the others are added up. */
#define NAMED 3
/* More than there are words. */
#define CLASSES_MAX 48
/* As in user_trust.frames; see tables.sql. */
#define PERF_FRAMES 127
#define FTRACE_FRAMES 8
#define DEEPEST 200
/* A command is named if it mends this part of what is wrong, and one percent of
 * all. */
#define MENDS_OF 4

/* A kind of samples. */
struct trust_key {
	int64_t type, mark, judged, frames;
};

struct trust_rule {
	struct trust_key key;
	uint32_t first; /* the first event_type.id of that name */
	const struct trust_word *word;
	char *fix;   /* "": none is known */
	int64_t all; /* samples in the database */
	int64_t n;   /* that were counted */
};

struct trust {
	const struct known_code *code;
	struct trust_rule *rule;
	size_t n, cap, last; /* last: the one that was found */
	uint8_t *judged;     /* enum judged by stack; NONE: whole */
	bool *unwound;	     /* by stack */
	uint8_t *depth;	     /* by stack: its frames, or DEEPEST */
	size_t n_stack;
	bool chains;	/* some event takes stacks, if only the kernel's */
	bool summed;	/* only all samples of an event can be counted */
	bool unknown;	/* it cannot be told of these samples */
	int64_t bare;	/* counted samples without any stack */
	int64_t kernel; /* and with only that of the kernel */
	/* Samples that were counted, and those in code with names of files that
	 * nothing proves: by image, with code. */
	int64_t counted, unproved;
	bool *unproved_image;
};

static enum judged trust_judged_of(const char *name)
{
	unsigned int v = JUDGED_OPEN;

	while (judged_name(v) && strcmp(judged_name(v), name))
		v++;
	return judged_name(v) ? (enum judged)v : JUDGED_NONE;
}

/* No capture has more samples. The counts of a database from elsewhere stop
 * here, so that a hundred times a sum still is a number. */
#define COUNT_MAX ((int64_t)1 << 56)

static void trust_tally(int64_t *sum, uint64_t n)
{
	uint64_t all = saturating_add((uint64_t)*sum, n);

	*sum = all < COUNT_MAX ? (int64_t)all : COUNT_MAX;
}

static int trust_read_rules(struct trust *t, struct store *db, struct err *err)
{
	struct rows *r = rows_of(db, "trust_classes", err);

	while (rows_step(r)) {
		const char *judged = rows_text(r, TRUST_CLASSES_JUDGED);
		struct trust_rule *rule = mem_add(t->rule, t->n, t->cap);

		t->chains = rows_int(r, TRUST_CLASSES_CHAINS) > 0;
		/* of a server whose rows an earlier version sent */
		t->unknown |= !rows_text(r, TRUST_CLASSES_CLASS)[0];
		*rule = (struct trust_rule){
			.key = {
				.type = rows_int(r, TRUST_CLASSES_TYPE),
				.mark = rows_int(r, TRUST_CLASSES_MARK),
				.judged = trust_judged_of(judged),
				.frames = rows_int(r, TRUST_CLASSES_FRAMES),
			},
			.first = (uint32_t)rows_int(r, TRUST_CLASSES_FIRST),
			.word = trust_word(rows_text(r, TRUST_CLASSES_CLASS)),
			.fix = mem_strdup(rows_text(r, TRUST_CLASSES_FIX)),
		};
		trust_tally(&rule->all, (uint64_t)rows_int(r, TRUST_CLASSES_N));
	}
	return rows_end(r, err);
}

static int trust_load_stacks(struct trust *t, struct store *db, struct err *err)
{
	const struct known_code *c = t->code;
	struct rows *r = rows_of(db, "trust_judged", err);

	t->n_stack = c->n_stack;
	t->judged = mem_new(t->n_stack, sizeof(*t->judged));
	t->unwound = mem_new(t->n_stack, sizeof(*t->unwound));
	t->depth = mem_new(t->n_stack, sizeof(*t->depth));
	for (size_t i = 1; i < c->n_chain; i++)
		t->unwound[c->chain[i].stack] |= c->chain[i].ended > 0;
	for (size_t i = 1; i < t->n_stack; i++) {
		uint8_t above = t->depth[c->stack[i].parent];

		t->depth[i] = above < DEEPEST ? above + 1 : DEEPEST;
	}
	while (rows_step(r)) {
		int64_t stack = rows_int(r, TRUST_JUDGED_STACK);
		int64_t judged = rows_int(r, TRUST_JUDGED_CLASS);

		if (stack > 0 && (uint64_t)stack < t->n_stack && judged > 0 &&
		    judged < JUDGED_WHOLE)
			t->judged[stack] = (uint8_t)judged;
	}
	return rows_end(r, err);
}

struct rows *trust_unproved_files(struct store *db, struct err *err)
{
	const struct sql_gap gap = { "images", store_sql("unverified_images") };
	char *sql = store_sql_fill("unverified_files", &gap, 1);
	struct rows *r = rows_open(db, sql, NULL, 0, err);

	free(sql);
	return r;
}

/* Without code, counts all samples of the database. */
static int trust_read_unproved(struct trust *t, struct store *db,
			       struct err *err)
{
	struct rows *r;

	if (!t->code) {
		r = rows_of(db, "trust_counted", err);
		if (rows_step(r))
			t->counted = rows_int(r, TRUST_COUNTED_N);
		if (rows_end(r, err))
			return -1;
		r = trust_unproved_files(db, err);
		while (rows_step(r))
			trust_tally(&t->unproved,
				    (uint64_t)rows_int(
					    r, UNVERIFIED_FILES_SAMPLES));
		return rows_end(r, err);
	}
	t->unproved_image =
		mem_new(t->code->n_image, sizeof(*t->unproved_image));
	r = rows_of(db, "unverified_images", err);
	while (rows_step(r)) {
		int64_t id = rows_int(r, UNVERIFIED_IMAGES_ID);

		if (id > 0 && (uint64_t)id < t->code->n_image)
			t->unproved_image[id] = true;
	}
	return rows_end(r, err);
}

static void trust_count_unproved(struct trust *t, const struct stacks_group *g)
{
	const struct known_code *c = t->code;
	uint32_t stack = code_chain_at(c, g->kraw ? g->kraw : g->uraw)->stack;
	uint32_t image = c->frame[c->stack[stack].frame].image;

	trust_tally(&t->counted, g->samples);
	if (t->unproved_image[image])
		trust_tally(&t->unproved, g->samples);
}

struct trust *trust_new(struct store *db, const struct known_code *code,
			struct err *err)
{
	struct trust *t = mem_new(1, sizeof(*t));

	t->code = code;
	if (trust_read_rules(t, db, err) || trust_read_unproved(t, db, err))
		goto fail;
	if (code) {
		int served = stacks_served(db, err);

		/* sums of a server tell the classes of its samples, not of
		 * which stack each is */
		t->summed = served > 0;
		if (served < 0 || (!served && trust_load_stacks(t, db, err)))
			goto fail;
	}
	return t;
fail:
	trust_free(t);
	return NULL;
}

void trust_free(struct trust *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++)
		free(t->rule[i].fix);
	free(t->rule);
	free(t->judged);
	free(t->unwound);
	free(t->depth);
	free(t->unproved_image);
	free(t);
}

/* ---- counting */

/* Counts all samples of the events that have the name of this event_type.id; 0:
 * of all. */
static void trust_add_event(struct trust *t, uint32_t first)
{
	for (size_t i = 0; i < t->n; i++)
		if (!t->unknown && (!first || t->rule[i].first == first))
			t->rule[i].n = t->rule[i].all;
}

void trust_add_all(struct trust *t)
{
	trust_add_event(t, 0);
}

static int64_t trust_frames(const struct trust *t, uint32_t user,
			    uint32_t kernel)
{
	int depth = t->unwound[user] ? 0 : t->depth[user];

	if (!depth)
		return 0;
	if (depth + t->depth[kernel] == PERF_FRAMES)
		return PERF_FRAMES;
	return depth == FTRACE_FRAMES ? FTRACE_FRAMES : 0;
}

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
	key.judged = t->judged[u->stack] ? t->judged[u->stack] : JUDGED_WHOLE;
	key.frames =
		trust_frames(t, u->stack, code_chain_at(c, g->kraw)->stack);
	return key;
}

/* Returns NULL if the samples of the group have no class. */
static struct trust_rule *trust_rule_of(struct trust *t,
					const struct stacks_group *g)
{
	const struct trust_key key = trust_key_of(t, g);

	for (size_t i = 0; i < t->n; i++) {
		struct trust_rule *r = &t->rule[(t->last + i) % t->n];

		if (r->key.type != key.type || r->key.mark != key.mark ||
		    r->key.judged != key.judged || r->key.frames != key.frames)
			continue;
		t->last = (t->last + i) % t->n;
		return r;
	}
	return NULL;
}

void trust_add(struct trust *t, const struct stacks_group *g)
{
	struct trust_rule *r = NULL;

	trust_count_unproved(t, g);
	if (t->summed)
		trust_add_event(t, g->type);
	else
		r = trust_rule_of(t, g);
	if (r)
		trust_tally(&r->n, g->samples);
	else if (!t->summed || (!g->uraw && !g->verdict))
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
	struct trust *t = trust_new(db, stacks_code(stacks), err);

	for (size_t i = 0; t && i < stacks_count(stacks); i++) {
		const struct stacks_group *g = stacks_group(stacks, i);

		if (event < 0 || g->event == (uint32_t)event)
			trust_add(t, g);
	}
	return t;
}

struct trust *trust_read(struct store *db, struct err *err)
{
	static const struct stacks_opts o = { .summed = true };
	struct stacks *s = NULL;
	struct trust *t = NULL;

	if (filter_given()) {
		s = stacks_load(db, &o, err);
		t = s ? trust_of(db, s, -1, err) : NULL;
		stacks_free(s);
		return t;
	}
	t = trust_new(db, NULL, err);
	if (t)
		trust_add_all(t);
	return t;
}

/* ---- sums */

struct trust_sum {
	const struct trust_word *word;
	int64_t n;
};

struct trust_sums {
	struct trust_sum sum[CLASSES_MAX]; /* largest first */
	size_t n;
	int64_t kind[TRUST_KINDS];
	int64_t samples; /* of all kinds but TRUST_SILENT */
};

static int trust_compare(const void *pa, const void *pb)
{
	const struct trust_sum *a = pa;
	const struct trust_sum *b = pb;

	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	return a->word < b->word ? -1 : a->word > b->word;
}

static void trust_sum(const struct trust *t, struct trust_sums *s)
{
	memset(s, 0, sizeof(*s));
	for (size_t i = 0; i < t->n; i++) {
		const struct trust_rule *r = &t->rule[i];
		size_t k = 0;

		if (!r->n)
			continue;
		trust_tally(&s->kind[r->word->kind], (uint64_t)r->n);
		while (k < s->n && s->sum[k].word != r->word)
			k++;
		if (k == s->n && s->n < CLASSES_MAX)
			s->sum[s->n++].word = r->word;
		trust_tally(&s->sum[k].n, (uint64_t)r->n);
	}
	for (int i = 0; i < TRUST_KINDS; i++)
		if (i != TRUST_SILENT)
			trust_tally(&s->samples, (uint64_t)s->kind[i]);
	qsort(s->sum, s->n, sizeof(s->sum[0]), trust_compare);
}

/* ---- the remedy */

/* What it costs: 0 what can be done now, 1 another recording, 2 another build.
 */
static int trust_cost(const char *fix)
{
	if (!strncmp(fix, "build ", 6))
		return 2;
	return strncmp(fix, "backstitch ", 11) != 0;
}

struct trust_remedy {
	const char *fix; /* "": none */
	int64_t n;	 /* samples that it is for */
	bool unchecked;	 /* they are only unchecked */
};

/* Returns the cheapest that mends a good part, or else the one that mends most.
 */
static struct trust_remedy trust_remedy(const struct trust *t,
					const struct trust_sums *s)
{
	int64_t wrong = s->samples ? s->samples - s->kind[TRUST_WHOLE]
				   : s->kind[TRUST_SILENT];
	struct trust_remedy best = { .fix = "" };

	for (size_t i = 0; i < t->n; i++) {
		struct trust_remedy m = { .fix = t->rule[i].fix,
					  .unchecked = true };

		/* all that it mends */
		for (size_t k = 0; k < t->n; k++) {
			const struct trust_rule *r = &t->rule[k];

			if (strcmp(r->fix, m.fix) != 0)
				continue;
			trust_tally(&m.n, (uint64_t)r->n);
			m.unchecked &=
				!r->n || r->word->kind == TRUST_UNCHECKED;
		}

		bool good = m.n * MENDS_OF >= wrong;
		bool was = best.n * MENDS_OF >= wrong;
		int cheaper = trust_cost(best.fix) - trust_cost(m.fix);

		if (!m.fix[0] || !m.n || m.n * 100 < s->samples ||
		    (s->samples && t->rule[i].word->kind == TRUST_SILENT))
			continue;
		if (!best.fix[0] || (good && !was) ||
		    (good == was && good && cheaper > 0) ||
		    (good == was && (!good || !cheaper) && m.n > best.n))
			best = m;
	}
	return best;
}

/* ---- the sentence */

/* "3.25 %" */
static void trust_put_share(struct text_out *t, int64_t n, int64_t all)
{
	char share[16];

	text_out_add(
		t, "%s",
		human_percent(share, sizeof(share), (double)n, (double)all));
}

/* Returns the words of the nearest simple fraction. */
static const char *trust_fraction(int64_t n, int64_t all)
{
	static const struct {
		double share;
		const char *words;
	} of[] = {
		{ 0.05, "A few" },
		{ 0.1, "A tenth of the" },
		{ 0.2, "A fifth of the" },
		{ 0.25, "A quarter of the" },
		{ 1 / 3.0, "A third of the" },
		{ 0.4, "Two of five" },
		{ 0.5, "Half of the" },
		{ 0.6, "Three of five" },
		{ 2 / 3.0, "Two of three" },
		{ 0.75, "Three of four" },
		{ 0.8, "Four of five" },
		{ 0.9, "Nine of ten" },
		{ 0.98, "Nearly all" },
	};
	double share = (double)n / (double)all;
	size_t i = 0;

	if (n == all)
		return "All";
	while (i + 1 < ARRAY_SIZE(of) &&
	       share > (of[i].share + of[i + 1].share) / 2)
		i++;
	return of[i].words;
}

/* Returns what the first words are about: whole stacks if they are at least
 * half, or else what is most often wrong. */
static enum trust_kind trust_first(const struct trust_sums *s)
{
	enum trust_kind best = TRUST_WHOLE;

	if (s->kind[TRUST_WHOLE] * 2 >= s->samples)
		return TRUST_WHOLE;
	for (int i = TRUST_WHOLE + 1; i < TRUST_SILENT; i++)
		if (best == TRUST_WHOLE || s->kind[i] > s->kind[best])
			best = (enum trust_kind)i;
	return best;
}

/* Returns the only class of a kind; NULL if there are several. */
static const struct trust_word *trust_only(const struct trust_sums *s,
					   enum trust_kind kind)
{
	const struct trust_word *only = NULL;

	for (size_t i = 0; i < s->n; i++) {
		if (s->sum[i].word->kind != kind)
			continue;
		if (only)
			return NULL;
		only = s->sum[i].word;
	}
	return only;
}

/* Returns what the stacks of a kind are said to be. */
static const char *trust_phrase(const struct trust_sums *s,
				enum trust_kind kind)
{
	const struct trust_word *only = trust_only(s, kind);

	return only ? only->phrase : trust_kind_phrase(kind);
}

struct trust_counts trust_count(const struct trust *t)
{
	struct trust_sums s;
	int64_t silent;

	trust_sum(t, &s);
	/* sums of a server have those without a stack in a class, too */
	silent = s.kind[TRUST_SILENT];
	silent = t->summed && silent ? silent : silent + t->bare;
	return (struct trust_counts){
		.all = s.samples ? s.samples : silent,
		.whole = s.kind[TRUST_WHOLE],
		.wrong = s.kind[TRUST_WRONG],
		.incomplete = s.kind[TRUST_SHORT],
		.unchecked = s.kind[TRUST_UNCHECKED],
		.counted = t->counted,
		.unproved = t->unproved,
		.are_incomplete = trust_phrase(&s, TRUST_SHORT),
		.are_unchecked = trust_phrase(&s, TRUST_UNCHECKED),
	};
}

/* Returns the phrase of a class behind that of its kind: "for want of the file"
 * of "are unchecked for want of the file". */
static const char *trust_after(const struct trust_word *w)
{
	const char *kind = trust_kind_phrase(w->kind);
	size_t n = strlen(kind);

	return strncmp(w->phrase, kind, n) || w->phrase[n] != ' '
		       ? w->phrase
		       : w->phrase + n + 1;
}

/* Finds the largest classes but the one that was said, which may be NULL.
 * Returns the samples of all others. */
static int64_t trust_largest(const struct trust_sums *s,
			     const struct trust_word *said,
			     const struct trust_sum *large[NAMED], size_t *n)
{
	int64_t rest = 0;

	*n = 0;
	for (size_t i = 0; i < s->n; i++) {
		const struct trust_sum *sum = &s->sum[i];

		if (sum->word == said || sum->word->kind == TRUST_SILENT)
			continue;
		if (*n < NAMED)
			large[(*n)++] = sum;
		else
			rest += sum->n;
	}
	return rest;
}

/* ": 54.00 % have one frame only, 13.35 % lack one caller; 32.55 % are whole."
 * kind: that of the first words; its parts come first, if there are several. */
static void trust_put_rest(struct text_out *out, const struct trust_sums *s,
			   enum trust_kind kind)
{
	const struct trust_word *said = trust_only(s, kind);
	const struct trust_sum *large[NAMED];
	const char *sep = said ? ". " : ": ";
	size_t n;
	int64_t rest = trust_largest(s, said, large, &n);

	for (size_t i = 0; i < n; i++) {
		if (large[i]->word->kind != kind)
			continue;
		text_out_add(out, "%s", sep);
		trust_put_share(out, large[i]->n, s->samples);
		text_out_add(out, " %s", trust_after(large[i]->word));
		sep = ", ";
	}
	if (!said)
		sep = "; ";
	for (size_t i = 0; i < n; i++) {
		if (large[i]->word->kind == kind)
			continue;
		text_out_add(out, "%s", sep);
		trust_put_share(out, large[i]->n, s->samples);
		text_out_add(out, " %s", large[i]->word->phrase);
		sep = ", ";
	}
	if (rest) {
		text_out_add(out, ", ");
		trust_put_share(out, rest, s->samples);
		text_out_add(out, " other");
	}
	text_out_add(out, ".");
}

/* The last sentence: " 'backstitch symbolize --symfs DIR' would check 12.00 %."
 */
static void trust_put_last(const struct trust *t, const struct trust_sums *s,
			   struct text_out *out)
{
	const struct trust_remedy m = trust_remedy(t, s);
	bool command =
		strncmp(m.fix, "build ", 6) && strncmp(m.fix, "give ", 5);
	/* whether a stack is whole is seen when it was recorded again */
	const char *verb = m.unchecked ? "would check" : "may mend";

	if (!m.fix[0])
		return;
	if (!s->samples) {
		text_out_add(out, " '%s' records them.", m.fix);
		return;
	}
	text_out_add(out, command ? " '%s' %s " : " To %s %s ", m.fix, verb);
	if (m.n == s->samples)
		text_out_add(out, "all of them");
	else
		trust_put_share(out, m.n, s->samples);
	text_out_add(out, ".");
}

void trust_say(const struct trust *t, char out[TRUST_SENTENCE])
{
	struct text_out text = { .buf = out, .size = TRUST_SENTENCE };
	struct trust_sums s;

	out[0] = '\0';
	trust_sum(t, &s);
	if (s.samples) {
		enum trust_kind first = trust_first(&s);

		text_out_add(&text, "%s user stacks %s",
			     trust_fraction(s.kind[first], s.samples),
			     trust_phrase(&s, first));
		if (s.kind[first] < s.samples) {
			text_out_add(&text, " (");
			trust_put_share(&text, s.kind[first], s.samples);
			text_out_add(&text, ")");
		}
		trust_put_rest(&text, &s, first);
	} else if (t->unknown) {
		text_out_add(&text, "How many user stacks are whole is not "
				    "known of a part of these sums.");
	} else if (!t->counted) {
		text_out_add(&text, "There are no samples.");
	} else if (!s.kind[TRUST_SILENT] && (t->kernel || !t->bare)) {
		text_out_add(&text, "No sample hit user mode.");
	} else {
		text_out_add(&text, "No %sstacks were recorded.",
			     t->chains ? "user " : "");
	}
	trust_put_last(t, &s, &text);
	if (t->unproved && t->unproved >= t->counted / TRUST_UNPROVED_OF) {
		text_out_add(&text, " ");
		trust_put_share(&text, t->unproved, t->counted);
		text_out_add(&text, " of the samples have names of files that "
				    "nothing proves.");
	}
}

void trust_put_json(const struct trust *t, struct json *j)
{
	char sentence[TRUST_SENTENCE];
	struct trust_sums s;

	trust_say(t, sentence);
	trust_sum(t, &s);
	json_text(j, "user_stacks", sentence);
	json_array(j, "user_stacks_by_class");
	for (size_t i = 0; i < s.n; i++) {
		json_object(j, NULL);
		json_text(j, "class",
			  s.sum[i].word->name ? s.sum[i].word->name : "");
		json_int(j, "samples", s.sum[i].n);
		json_end(j);
	}
	json_end(j);
}

int trust_sentence(struct store *db, char out[TRUST_SENTENCE], struct err *err)
{
	struct trust *t = trust_read(db, err);

	if (t)
		trust_say(t, out);
	bool ok = t;

	trust_free(t);
	return ok ? 0 : -1;
}

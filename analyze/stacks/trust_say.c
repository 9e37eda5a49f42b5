/* trust_say.c - writes how far user stacks can be trusted, in one sentence. */
#include <inttypes.h>

#include "analyze/samples/filter.h"
#include "analyze/samples/loss_marks.h"
#include "analyze/stacks/trust.h"
#include "analyze/stacks/trust_inner.h"
#include "stitch/audit/callsite.h"
#include "stitch/base/log.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/text_out.h"
#include "stitch/files/path.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"

/* The sentence fits into this many lines of that many columns, of a terminal
 * with 80 and an indentation. */
#define LINES 3
#define COLUMNS 78
/* Bytes of a file's or function's name in it. */
#define NAME 60
/* More than there are classes. */
#define CLASSES_MAX 48
/* A command is named if it mends at least one in so many wrong samples, and one
 * percent of all. */
#define MENDS_OF 4
/* The largest dumps are named if more than one in so many stacks are deeper
 * than usual dumps, as 'record' takes larger ones then. */
#define DEEP_OF 100

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

COMPARE_LARGEST_BY(trust_compare, struct trust_sum, n, word);

/* Adds up the counted samples by class and by kind. */
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
	sort_items(s->sum, s->n, trust_compare);
}

/* ---- the remedy */

/* Returns the cost of a remedy: to ask for a file is as much as another
 * recording. */
static enum trust_how trust_cost(enum trust_remedy fix)
{
	return trust_fixes[fix].how == HOW_GIVE ? HOW_RECORD
						: trust_fixes[fix].how;
}

struct trust_advice {
	enum trust_remedy fix;
	int64_t n;	/* samples for which it is the remedy */
	bool unchecked; /* all of these are only unchecked */
};

/* Returns how many whole stacks are deeper than the dump of a remedy. */
static int64_t trust_loses(const struct trust *t, enum trust_remedy fix)
{
	int64_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct trust_rule *r = &t->rule[i];

		if (r->word->kind == TRUST_WHOLE &&
		    (r->key.frames == STOP_DEEPEST ||
		     (r->key.frames == STOP_DEEP && fix == REMEDY_DUMP)))
			trust_tally(&n, (uint64_t)r->n);
	}
	return n;
}

void trust_of_waits(struct trust *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->rule[i].fix == REMEDY_DUMP ||
		    t->rule[i].fix == REMEDY_LARGEST_DUMP)
			t->rule[i].fix = REMEDY_FRAMED;
}

/* Returns how many more samples would be whole, of n for which this is the
 * remedy. Larger buffers mend nothing if they were large. If dumps were too
 * small, at least as large a part of them as of the others will end elsewhere,
 * or in code that no table proves: deeper ones come through more code. */
static int64_t trust_mends(const struct trust *t, enum trust_remedy fix,
			   int64_t n)
{
	int64_t whole = 0, ended = 0, unproved = 0, others;

	if (fix == REMEDY_BUFFERS_PERF && !loss_larger_megabytes(t->buffers))
		return 0;
	if (fix != REMEDY_DUMP && fix != REMEDY_LARGEST_DUMP)
		return n;
	for (size_t i = 0; i < t->n; i++) {
		const struct trust_rule *r = &t->rule[i];

		if (r->word->kind == TRUST_ENDED)
			trust_tally(&ended, (uint64_t)r->n);
		if (r->word->kind == TRUST_WHOLE)
			trust_tally(&whole, (uint64_t)r->n);
		if (r->word == &trust_words[CLASS_NOT_JUDGED_NO_TABLE])
			trust_tally(&unproved, (uint64_t)r->n);
	}
	others = whole + ended + unproved;
	/* few others prove nothing about many */
	if (others != whole && others >= TRUST_FEW &&
	    others >= n / TRUST_FEW_OF)
		n = ended > whole ? 0
				  : (int64_t)((double)n * (double)whole /
					      (double)others);
	return n - trust_loses(t, fix);
}

/* Returns the remedy, with the largest dump if stacks are deep. */
static enum trust_remedy trust_sized(enum trust_remedy fix, bool deep)
{
	return fix == REMEDY_DUMP && deep ? REMEDY_LARGEST_DUMP : fix;
}

/* Returns the cheapest remedy that mends a good part, or else the one that
 * mends most. */
static struct trust_advice trust_advise(const struct trust *t,
					const struct trust_sums *s)
{
	int64_t wrong = s->samples ? s->samples - s->kind[TRUST_WHOLE]
				   : s->kind[TRUST_SILENT];
	struct trust_advice best = { .fix = REMEDY_NONE };
	/* one size must do for all */
	bool deep = trust_loses(t, REMEDY_DUMP) * DEEP_OF > s->samples;
	struct trust_advice of[REMEDIES];

	/* sums up what each remedy mends */
	for (int k = 0; k < REMEDIES; k++)
		of[k] = (struct trust_advice){ .fix = (enum trust_remedy)k,
					       .unchecked = true };
	for (size_t i = 0; i < t->n; i++) {
		const struct trust_rule *r = &t->rule[i];
		struct trust_advice *m = &of[trust_sized(r->fix, deep)];

		trust_tally(&m->n, (uint64_t)r->n);
		m->unchecked &= !r->n || r->word->kind == TRUST_UNCHECKED;
	}
	for (int k = 0; k < REMEDIES; k++)
		of[k].n = trust_mends(t, of[k].fix, of[k].n);
	for (size_t i = 0; i < t->n; i++) {
		const struct trust_advice m =
			of[trust_sized(t->rule[i].fix, deep)];
		bool good = m.n * MENDS_OF >= wrong;
		bool was = best.n * MENDS_OF >= wrong;
		int cheaper =
			(int)trust_cost(best.fix) - (int)trust_cost(m.fix);

		if (!m.fix || m.n <= 0 || m.n * 100 < s->samples ||
		    (s->samples && t->rule[i].word->kind == TRUST_SILENT))
			continue;
		if (!best.fix || (good && !was) ||
		    (good == was && good && cheaper > 0) ||
		    (good == was && (!good || !cheaper) && m.n > best.n))
			best = m;
	}
	return best;
}

/* ---- the sentence */

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

struct trust_counts trust_count(const struct trust *t)
{
	struct trust_sums s;
	int64_t silent, cut = 0;

	trust_sum(t, &s);
	for (size_t i = 0; i < s.n; i++)
		if (s.sum[i].word == &trust_words[CLASS_CUT_TRUNCATED_DUMP])
			cut = s.sum[i].n;
	/* sums of a server have those without a stack in a class, too */
	silent = s.kind[TRUST_SILENT];
	silent = t->summed && silent ? silent : silent + t->bare;
	return (struct trust_counts){
		.all = s.samples ? s.samples : silent,
		.whole = s.kind[TRUST_WHOLE],
		.wrong = s.kind[TRUST_WRONG],
		.unchecked = s.kind[TRUST_UNCHECKED],
		.cut = cut,
		.recorded = s.samples,
		.counted = t->counted,
		.unproved = t->unproved,
	};
}

/* Finds the files without frame pointers that are the cause of a class. Returns
 * a rule of the one with most samples, and how many others there are; NULL if
 * they are not the cause of most of it. *all: they are of all its samples. */
static const struct trust_rule *trust_cause(const struct trust *t,
					    const struct trust_word *w,
					    size_t *others, bool *all)
{
	const struct trust_rule *most = NULL;
	int64_t best = 0, of_them = 0, sum = 0;
	size_t files = 0;

	*all = true;
	for (size_t i = 0; i < t->n; i++) {
		const struct trust_rule *r = &t->rule[i];
		int64_t n = 0;
		bool first = true;

		if (r->word != w || !r->n)
			continue;
		trust_tally(&sum, (uint64_t)r->n);
		if (!r->unframed) {
			*all = false;
			continue;
		}
		trust_tally(&of_them, (uint64_t)r->n);
		for (size_t k = 0; k < t->n; k++) {
			const struct trust_rule *o = &t->rule[k];

			if (o->word != w || o->key.image != r->key.image)
				continue;
			first &= k >= i || !o->n;
			trust_tally(&n, (uint64_t)o->n);
		}
		files += first;
		if (n > best) {
			best = n;
			most = r;
		}
	}
	*others = files ? files - 1 : 0;
	return of_them > sum / 2 ? most : NULL;
}

/* Adds a name of a capture, made safe to show. */
static void trust_put_name(struct text_out *out, const char *name)
{
	char text[NAME];

	safe_text_clean_buf(text, sizeof(text), name, strlen(name), NULL);
	text_out_add(out, "%s", text);
}

/* Adds " (libc.so.6 has no frame pointers)", if such samples were counted. */
static void trust_put_cause(const struct trust *t, const struct trust_word *w,
			    struct text_out *out)
{
	size_t others;
	bool all;
	const struct trust_rule *r = trust_cause(t, w, &others, &all);

	if (w == &trust_words[CLASS_ENDS_EARLY_FUNCTION]) {
		/* " (sha256block, for one)": the function in which most stacks
		 * end, of those that set no frame pointer. */
		const struct trust_end *most = NULL;
		size_t ends = 0;

		for (size_t i = 0; i < t->n_end; i++) {
			const struct trust_end *e = &t->end[i];

			ends += e->n > 0;
			if (e->function[0] && e->n > (most ? most->n : 0))
				most = e;
		}
		if (most) {
			text_out_add(out, " (");
			trust_put_name(out, most->function);
			text_out_add(out, "%s)", ends > 1 ? ", for one" : "");
		}
	}
	if (!r)
		return;
	text_out_add(out, " (");
	trust_put_name(out, path_base(r->path));
	if (others && all)
		text_out_add(out,
			     " and %zu other file%s have no frame pointers)",
			     others, others == 1 ? "" : "s");
	else
		text_out_add(out, "%s has no frame pointers)",
			     all ? "" : ", for one,");
}

void trust_say_wrong(const struct trust *t, char out[TRUST_SENTENCE])
{
	struct text_out text = { .buf = out, .size = TRUST_SENTENCE };
	struct trust_sums s;

	trust_sum(t, &s);
	const struct trust_word *only = trust_only(&s, TRUST_WRONG);

	text_out_add(&text, "%s", only ? only->phrase : "are wrong");
	if (only)
		trust_put_cause(t, only, &text);
}

/* For what a sentence has room. */
struct trust_room {
	size_t classes; /* after the whole ones; the others are added up */
	bool causes;
};

/* Returns "30 " if the shares are of so few stacks that users must know this,
 * as in a recording of idle CPUs; "" if not. */
static const char *trust_few(const struct trust *t, const struct trust_sums *s,
			     char buf[32])
{
	if (s->samples < 2 || (s->samples >= TRUST_FEW &&
			       s->samples >= t->counted / TRUST_FEW_OF))
		return "";
	size_t n = strlen(human_grouped(buf, 31, (uint64_t)s->samples));

	memcpy(buf + n, " ", 2);
	return buf;
}

/* Adds the sentences about classes. Returns whether the classes without room
 * are together less than the last one with room: "other" comes last and is
 * small.
 *
 * "40.68 % of the user stacks are whole. 27.81 % lack the innermost caller,
 * 16.48 % are fabricated (libc.so.6 has no frame pointers), 15.04 % have one
 * frame only." */
static bool trust_put_classes(const struct trust *t, const struct trust_sums *s,
			      struct trust_room room, struct text_out *out)
{
	int64_t whole = s->kind[TRUST_WHOLE];
	int64_t left = s->samples - whole;
	int64_t last = 0;
	const struct trust_word *before = NULL;
	const char *sep = " ";
	size_t named = 0;
	char number[32];
	const char *few = trust_few(t, s, number);

	if (!left) {
		text_out_add(out, "All %suser stacks are whole.", few);
		return true;
	}
	if (whole) {
		text_out_add(out, "%s of the %suser stacks are whole.",
			     HUMAN_PERCENT(whole, s->samples), few);
	} else if (s->kind[TRUST_UNCHECKED] == left &&
		   trust_only(s, TRUST_UNCHECKED)) {
		text_out_add(out, "All %suser stacks", few);
		sep = "";
	} else {
		/* unchecked stacks may be whole */
		text_out_add(out,
			     *few ? "None of the %suser stacks"
				  : "No %suser stack",
			     few);
		text_out_add(out, " is %swhole%c",
			     s->kind[TRUST_UNCHECKED] ? "known to be " : "",
			     s->sum[0].n == left ? ':' : '.');
	}
	for (size_t i = 0; i < s->n && named < room.classes; i++) {
		const struct trust_sum *sum = &s->sum[i];

		if (sum->word->kind == TRUST_WHOLE ||
		    sum->word->kind == TRUST_SILENT)
			continue;
		text_out_add(out, "%s", sep);
		if (sum->n < s->samples)
			text_out_add(out, "%s",
				     HUMAN_PERCENT(sum->n, s->samples));
		else if (sep[0])
			text_out_add(out, "all");
		/* "39.39 % are unchecked for want of the file, 9.70 % for want
		 * of mappings": leaves out words that are the same as those of
		 * the class before. */
		static const char same[] = "are unchecked ";
		size_t len = strlen(same);

		if (!before || strncmp(sum->word->phrase, same, len) != 0 ||
		    strncmp(before->phrase, same, len) != 0)
			len = 0;
		text_out_add(out, " %s", sum->word->phrase + len);
		if (room.causes)
			trust_put_cause(t, sum->word, out);
		left -= sum->n;
		last = sum->n;
		before = sum->word;
		sep = ", ";
		named++;
	}
	if (left)
		text_out_add(out, ", %s other",
			     HUMAN_PERCENT(left, s->samples));
	text_out_add(out, ".");
	return left <= last;
}

/* Adds " 'backstitch symbolize --symfs DIR' would check 12.00 %." */
static void trust_put_last(const struct trust *t, const struct trust_sums *s,
			   struct text_out *out)
{
	const struct trust_advice m = trust_advise(t, s);
	const struct trust_fix *fix = &trust_fixes[m.fix];
	/* only another recording shows whether its stacks are whole */
	const char *verb = m.unchecked ? "would check" : "may mend";

	if (!m.fix)
		return;
	if (!s->samples) {
		text_out_add(out, " '%s' records them.", fix->text);
		return;
	}
	if (fix->how == HOW_BUILD)
		text_out_add(out, " Building %s %s ",
			     fix->text + strlen("build "), verb);
	else if (fix->how == HOW_GIVE)
		text_out_add(out, " The %s %s ",
			     fix->text + strlen("give the "), verb);
	else if (t->record && *fix->record)
		text_out_add(out, " '%s' %s ", fix->record, verb);
	else if (m.fix == REMEDY_BUFFERS_PERF)
		text_out_add(out, " '%s %uM' %s ", fix->text,
			     loss_larger_megabytes(t->buffers), verb);
	else
		text_out_add(out, " '%s' %s ", fix->text, verb);
	if (m.n == s->samples)
		text_out_add(out, "all of them");
	else
		text_out_add(out, "%s", HUMAN_PERCENT(m.n, s->samples));
	text_out_add(out, ".");
}

/* Adds "1.20 % of the kernel halves are fabricated (...), 0.40 % end where none
 * is known to begin, 98.40 % are unchecked." */
static void trust_put_kernel(const struct trust *t, struct text_out *out)
{
	static const char *const words[] = {
		[KERNEL_UNCHECKED] = "are unchecked",
		[KERNEL_NO_FILE] = "are unchecked for want of the file",
		[KERNEL_NO_START] = "end where none is known to begin",
		[KERNEL_FULL] = "have as many frames as the kernel keeps",
		[KERNEL_WHOLE] = "are whole",
		[KERNEL_HOLE] = "lack a caller further out",
		[KERNEL_CALLER] = "lack the innermost caller",
		[KERNEL_FALSE] = ("are fabricated (a frame after no call, or "
				  "after a kernel entry)"),
	};
	const char *of = " of the kernel halves";
	int64_t all = 0;

	for (size_t i = 0; i < KERNEL_HALVES; i++)
		trust_tally(&all, (uint64_t)t->half[i]);
	int64_t left = all;

	for (size_t i = KERNEL_HALVES; i-- > 0;) {
		if (!t->half[i])
			continue;
		left -= t->half[i];
		text_out_add(out, "%s%s %s%s", HUMAN_PERCENT(t->half[i], all),
			     of, words[i], left ? ", " : ".");
		of = "";
	}
}

/* Returns how many kernel halves have a frame too many or too few. */
static int64_t trust_kernel_wrong(const struct trust *t)
{
	int64_t n = 0;

	for (size_t i = KERNEL_HOLE; i < KERNEL_HALVES; i++)
		trust_tally(&n, (uint64_t)t->half[i]);
	return n;
}

void trust_add_kernel(const struct trust *t, char out[TRUST_SENTENCE])
{
	const size_t len = strlen(out);
	struct text_out text = { .buf = out + len,
				 .size = TRUST_SENTENCE - len };

	if (trust_kernel_wrong(t) ||
	    (!t->half[KERNEL_NO_START] && !t->half[KERNEL_FULL]))
		return;
	text_out_add(&text, " ");
	trust_put_kernel(t, &text);
}

/* Adds all sentences. Returns whether the classes without room are few. */
static bool trust_put_all(const struct trust *t, const struct trust_sums *s,
			  struct trust_room room, struct text_out *out)
{
	bool small = true;
	/* whether kernel halves are more often wrong than user halves */
	const double user = (double)(s->samples - s->kind[TRUST_WHOLE]);
	double all = 0;

	for (size_t i = 0; i < KERNEL_HALVES; i++)
		all += (double)t->half[i];
	const bool first =
		s->samples &&
		(double)trust_kernel_wrong(t) * (double)s->samples > user * all;

	if (first) {
		trust_put_kernel(t, out);
		text_out_add(out, " ");
	}
	if (t->nested && !s->samples) {
		text_out_add(out, "Stacks are calls that were traced, each on "
				  "those that it is proved to be inside of.");
		return true;
	}
	if (s->samples)
		small = trust_put_classes(t, s, room, out);
	else if (t->unknown)
		text_out_add(out, "How many user stacks are whole is not known "
				  "of a part of these sums.");
	else if (!t->counted)
		text_out_add(out, "There are no samples.");
	else if (!s->kind[TRUST_SILENT] && (t->kernel || !t->bare))
		text_out_add(
			out,
			"No user stack was recorded: no sample hit user mode, "
			"or only stacks of the kernel were asked for.");
	else
		text_out_add(out, "No %sstacks were recorded.",
			     t->chains ? "user " : "");
	trust_put_last(t, s, out);
	if (t->gone && t->gone >= t->counted / TRUST_UNPROVED_OF) {
		text_out_add(out, " ");
		trust_put_name(out, path_base(t->gone_path));
		text_out_add(out,
			     t->replaced ? " was replaced: "
					 : " here is another file than the one "
					   "that ran (replaced, or in a "
					   "container): ");
		text_out_add(out,
			     "%s of the samples have no names; 'backstitch "
			     "symbolize --symfs ",
			     HUMAN_PERCENT(t->gone, t->counted));
		if (t->gone_pid) {
			text_out_add(out, "/proc/%" PRId64 "/root'",
				     t->gone_pid);
		} else if (t->gone_inode) {
			text_out_add(out,
				     "DIR' with the file of inode %" PRId64
				     " as DIR/",
				     t->gone_inode);
			trust_put_name(out, path_base(t->gone_path));
			text_out_add(out, ".%" PRId64, t->gone_inode);
		} else {
			text_out_add(out, "DIR' with %s",
				     t->replaced ? "the old file"
						 : "that file");
		}
		text_out_add(out, " gives them.");
	}
	if (t->unproved && t->unproved >= t->counted / TRUST_UNPROVED_OF)
		text_out_add(out,
			     " Nothing proves the names of %s of the samples.",
			     HUMAN_PERCENT(t->unproved, t->counted));
	const int64_t tables = t->walk[WALK_SFRAME] + t->walk[WALK_BOTH];

	if (tables && s->samples)
		text_out_add(out, " %s were walked by SFrame.",
			     HUMAN_PERCENT(tables, s->samples));
	if (trust_kernel_wrong(t) && !first) {
		text_out_add(out, " ");
		trust_put_kernel(t, out);
	}
	return small;
}

/* Returns whether the words fit into the lines. */
static bool trust_fits(const char *text)
{
	size_t lines = 1, at = 0;

	while (*text) {
		size_t len = strcspn(text, " ");

		if (at && at + 1 + len > COLUMNS) {
			lines++;
			at = 0;
		}
		at += len + (at > 0);
		text += len;
		text += strspn(text, " ");
	}
	return lines <= LINES;
}

void trust_say(const struct trust *t, char out[TRUST_SENTENCE])
{
	static const struct trust_room rooms[] = { { 3, true },	 { 2, true },
						   { 4, false }, { 3, false },
						   { 2, false }, { 1, false } };
	size_t shown = 0; /* classes */
	struct trust_sums s;

	trust_sum(t, &s);
	LOG(LOG_ADVICE, "trust: '%s' of %zu classes",
	    trust_fixes[trust_advise(t, &s).fix].text, s.n);
	for (size_t i = 0; i < ARRAY_SIZE(rooms); i++) {
		char text[TRUST_SENTENCE];
		struct text_out to = { .buf = text, .size = sizeof(text) };

		/* causes are dropped if the rest would be large with them */
		if (shown && rooms[i].classes <= shown)
			continue;

		bool small = trust_put_all(t, &s, rooms[i], &to);

		if (!trust_fits(text) && (shown || i + 1 < ARRAY_SIZE(rooms)))
			continue;
		memcpy(out, text, sizeof(text));
		shown = rooms[i].classes;
		if (small)
			break;
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
	json_array(j, "user_stacks_by_walk");
	for (unsigned int i = 1; i < WALKS; i++) {
		if (!t->walk[i])
			continue;
		json_object(j, NULL);
		json_text(j, "walked", walk_name(i));
		json_int(j, "samples", t->walk[i]);
		json_end(j);
	}
	json_end(j);
	json_array(j, "kernel_stacks_by_class");
	for (size_t i = 0; i < KERNEL_HALVES; i++) {
		static const char *const names[] = {
			[KERNEL_UNCHECKED] = "unchecked",
			[KERNEL_NO_FILE] = "not judged (no file)",
			[KERNEL_NO_START] = "not judged (start)",
			[KERNEL_FULL] = "cut (full)",
			[KERNEL_WHOLE] = "whole",
			[KERNEL_HOLE] = "caller missing (further out)",
			[KERNEL_CALLER] = "caller missing",
			[KERNEL_FALSE] = "fabricated",
		};

		if (!t->half[i])
			continue;
		json_object(j, NULL);
		json_text(j, "class", names[i]);
		json_int(j, "samples", t->half[i]);
		json_end(j);
	}
	json_end(j);
}

int trust_sentence(struct store *db, char out[TRUST_SENTENCE], struct err *err)
{
	struct trust *t = trust_read(db, &filter_none, err);

	if (!t)
		return -1;
	trust_say(t, out);
	trust_free(t);
	return 0;
}

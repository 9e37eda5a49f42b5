/* flame.c - the command that draws flame graphs. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/filter.h"
#include "cli/flame_tree.h"
#include "cli/folded.h"
#include "cli/interpreter.h"
#include "cli/label.h"
#include "cli/label_facts.h"
#include "cli/out.h"
#include "cli/palette.h"
#include "cli/plain.h"
#include "cli/stacks.h"
#include "cli/svg.h"
#include "schema/store.h"
#include "stitch/err.h"
#include "stitch/mem.h"

#define NOTE_MAX 256

static const char *out_path, *title, *subtitle,
	*minwidth = "0.1", *colors, *fonttype = "monospace", *countname;
static long width = 1200, height = 16, fontsize = 12, total;
static bool hash, reverse, inverted, by_pid, by_thread, by_verdict, no_comm,
	as_folded, from_folded, count_samples;
static bool inlined = true;

static const struct opt opts[] = {
	{ .kind = OPT_STRING,
	  .letter = 'o',
	  .name = "output",
	  .arg = "FILE",
	  .help = "write to FILE instead of standard output",
	  .value = &out_path },
	{ .kind = OPT_FLAG,
	  .name = "samples",
	  .help = "widths are numbers of samples, not their weight",
	  .value = &count_samples },
	{ .kind = OPT_FLAG,
	  .name = "folded",
	  .help = "print folded stacks, one a line, instead of a picture",
	  .value = &as_folded },
	{ .kind = OPT_FLAG,
	  .name = "from-folded",
	  .help = "the input is folded stacks, not a capture",
	  .value = &from_folded },
	{ .kind = OPT_STRING,
	  .name = "title",
	  .arg = "TEXT",
	  .help = "above the picture",
	  .value = &title },
	{ .kind = OPT_STRING,
	  .name = "subtitle",
	  .arg = "TEXT",
	  .help = "second line above the picture",
	  .value = &subtitle },
	{ .kind = OPT_NUMBER,
	  .name = "width",
	  .arg = "PX",
	  .help = "of the picture (1200)",
	  .value = &width },
	{ .kind = OPT_NUMBER,
	  .name = "height",
	  .arg = "PX",
	  .help = "of one frame (16)",
	  .value = &height },
	{ .kind = OPT_STRING,
	  .name = "minwidth",
	  .arg = "PX",
	  .help = "leave out frames narrower than this; '0.5%' for a share "
		  "(0.1)",
	  .value = &minwidth },
	{ .kind = OPT_CHOICE,
	  .name = "colors",
	  .arg = "PALETTE",
	  .help = "kind (by kind of code), hot, mem, io, java, js, perl, or a "
		  "color",
	  .value = &colors,
	  .choices = palette_names },
	{ .kind = OPT_FLAG,
	  .name = "hash",
	  .help = "colors by name; they always are",
	  .value = &hash },
	{ .kind = OPT_FLAG,
	  .name = "reverse",
	  .help = "merge stacks from the innermost frame",
	  .value = &reverse },
	{ .kind = OPT_FLAG,
	  .name = "inverted",
	  .help = "icicle: the root on top",
	  .value = &inverted },
	{ .kind = OPT_STRING,
	  .name = "fonttype",
	  .arg = "FONT",
	  .help = "of fixed width, or texts may not fit (monospace)",
	  .value = &fonttype },
	{ .kind = OPT_NUMBER,
	  .name = "fontsize",
	  .arg = "PX",
	  .help = "of all text (12)",
	  .value = &fontsize },
	{ .kind = OPT_STRING,
	  .name = "countname",
	  .arg = "WORD",
	  .help = "the unit to show (by the event)",
	  .value = &countname },
	{ .kind = OPT_NUMBER,
	  .name = "total",
	  .arg = "N",
	  .help = "what the whole width stands for (the sum)",
	  .value = &total },
	{ .kind = OPT_FLAG,
	  .name = "by-pid",
	  .help = "a frame for each process below the names",
	  .value = &by_pid },
	{ .kind = OPT_FLAG,
	  .name = "by-thread",
	  .help = "a frame for each thread below the names",
	  .value = &by_thread },
	{ .kind = OPT_FLAG,
	  .name = "by-verdict",
	  .help = "a frame at the root for each verdict on user stacks",
	  .value = &by_verdict },
	{ .kind = OPT_FLAG,
	  .name = "no-comm",
	  .help = "no frames for thread names",
	  .value = &no_comm },
	{ .kind = OPT_NO,
	  .name = "no-inline",
	  .help = "leave out inlined functions",
	  .value = &inlined },
	{ .kind = OPT_GROUP, .value = (void *)interpreter_opts },
	{ .kind = OPT_GROUP, .value = (void *)filter_opts },
	{ .kind = OPT_GROUP, .value = (void *)ingest_opts },
	{ .kind = OPT_END }
};

/* "0.1" or "0.5%" into thousandths; no strtod(): "0,1" in some locales. */
static int parse_minwidth(struct svg_opts *o, struct err *err)
{
	const char *s = minwidth;
	uint64_t v = 0;
	unsigned int places = 0;
	bool point = false;

	for (; (*s >= '0' && *s <= '9') || (*s == '.' && !point); s++) {
		if (*s == '.') {
			point = true;
		} else if (v < 1000000000 && places < 3) {
			v = v * 10 + (uint64_t)(*s - '0');
			places += point;
		}
	}
	for (; places < 3; places++)
		v *= 10;
	o->min_percent = *s == '%';
	if (s == minwidth || s[o->min_percent])
		return err_set(err, ERR_USAGE,
			       "--minwidth needs a width such "
			       "as 0.1 or 0.5%%, not '%s'",
			       minwidth);
	o->minwidth = v;
	return 0;
}

static int check_range(const char *name, long v, long min, long max,
		       struct err *err)
{
	if (v >= min && v <= max)
		return 0;
	return err_set(err, ERR_USAGE, "--%s must be from %ld to %ld", name,
		       min, max);
}

static int check_options(struct svg_opts *o, struct err *err)
{
	if (check_range("width", width, 100, 100000, err) ||
	    check_range("fontsize", fontsize, 4, 72, err) ||
	    check_range("height", height, 4, 200, err) ||
	    check_range("total", total, 0, LONG_MAX, err) ||
	    parse_minwidth(o, err))
		return -1;
	o->title = title ? title : inverted ? "Icicle graph" : "Flame graph";
	o->subtitle = subtitle;
	o->colors = palette_find(colors ? colors : palette_names[0]);
	o->fonttype = fonttype;
	o->width = (unsigned int)width;
	o->height = (unsigned int)height;
	o->fontsize = (unsigned int)fontsize;
	o->inverted = inverted;
	o->total = (uint64_t)total;
	if (!out_path && !as_folded && isatty(1))
		return err_set(err, ERR_USAGE,
			       "a picture is no text for a "
			       "terminal; add '> flame.svg' or '-o "
			       "flame.svg'");
	return 0;
}

/* What is drawn: one event, and the words about it. */
struct drawing {
	struct stacks *stacks;
	struct labels *labels; /* of stacks, or ours */
	struct flame_tree *tree;
	struct label_facts *facts;
	int event; /* place; -1: all */
	struct svg_opts o;
	char title[200];
	char note[SVG_NOTES][NOTE_MAX];
	size_t n_note;
};

static char *new_note(struct drawing *d)
{
	if (d->n_note + 1 >= SVG_NOTES)
		return NULL;
	d->o.note[d->n_note] = d->note[d->n_note];
	return d->note[d->n_note++];
}

static void add_group_label(struct drawing *d, struct label_list *l,
			    const char *name)
{
	struct label group = { .kind = LABEL_GROUP, .name = name, .image = "" };

	label_list_add(l, labels_add(d->labels, &group));
}

static void add_thread(struct drawing *d, const struct stacks_comm *c,
		       struct label_list *l)
{
	char text[48];

	if (!no_comm)
		add_group_label(d, l, c->name);
	if (by_pid) {
		snprintf(text, sizeof(text), "pid %lld", (long long)c->pid);
		add_group_label(d, l, text);
	}
	if (by_thread) {
		snprintf(text, sizeof(text), "tid %lld", (long long)c->tid);
		add_group_label(d, l, text);
	}
}

static void turn_round(struct label_list *l)
{
	for (size_t i = 0, j = l->n; i + 1 < j; i++) {
		uint32_t x = l->label[i];

		l->label[i] = l->label[--j];
		l->label[j] = x;
	}
}

static int add_groups(struct drawing *d, struct err *err)
{
	struct label_list l = { 0 };
	int rc = 0;

	for (size_t i = 0; !rc && i < stacks_count(d->stacks); i++) {
		const struct stacks_group *g = stacks_group(d->stacks, i);

		if (d->event >= 0 && g->event != (uint32_t)d->event)
			continue;
		l.n = 0;
		if (by_verdict) {
			char text[64];

			snprintf(text, sizeof(text), "[%s]", stacks_verdict(g));
			add_group_label(d, &l, text);
		}
		add_thread(d, stacks_comm(d->stacks, g->comm), &l);
		stacks_get(d->stacks, g, &l);
		if (reverse)
			turn_round(&l);
		rc = flame_tree_add(d->tree, l.label, l.n, g->weight,
				    g->samples, err);
	}
	free(l.label);
	return rc;
}

/* One line of the picture: how much has no user half, and why. */
static void note_missing(struct drawing *d)
{
	uint64_t whole = flame_tree_node(d->tree, 0)->weight;
	struct stacks_event part[16]; /* by word; fewer words than that */
	uint64_t sum = 0;
	size_t n = 0;
	int len;
	char *note;

	for (size_t i = 0; i < stacks_count(d->stacks); i++) {
		const struct stacks_group *g = stacks_group(d->stacks, i);
		const char *word = stacks_missing(g);
		size_t at = 0;

		if (!word || (d->event >= 0 && g->event != (uint32_t)d->event))
			continue;
		while (at < n && strcmp(part[at].name, word))
			at++;
		if (at == 16)
			continue;
		if (at == n)
			part[n++] =
				(struct stacks_event){ .name = (char *)word };
		part[at].weight += g->weight;
		sum += g->weight;
	}
	if (!sum || !whole || !(note = new_note(d)))
		return;
	len = snprintf(note, NOTE_MAX,
		       "%.2f %% of the weight has no user "
		       "half:",
		       100.0 * (double)sum / (double)whole);
	for (size_t i = 0; i < n && len < NOTE_MAX; i++)
		len += snprintf(note + len, NOTE_MAX - (size_t)len,
				"%s %.2f %% %s", i ? "," : "",
				100.0 * (double)part[i].weight / (double)whole,
				part[i].name);
	if (len < NOTE_MAX)
		snprintf(note + len, NOTE_MAX - (size_t)len,
			 " ('backstitch help verdicts')");
}

/* And how much has frames that are none. */
static void note_bogus(struct drawing *d)
{
	uint64_t whole = flame_tree_node(d->tree, 0)->weight;
	uint64_t sum = 0;
	char *note;

	for (size_t i = 0; i < stacks_count(d->stacks); i++) {
		const struct stacks_group *g = stacks_group(d->stacks, i);

		if ((d->event < 0 || g->event == (uint32_t)d->event) &&
		    stacks_bogus(d->stacks, g))
			sum += g->weight;
	}
	if (!sum || !whole || !(note = new_note(d)))
		return;
	snprintf(note, NOTE_MAX,
		 "%.2f %% of the weight has bogus frames: no call returns to "
		 "their addresses ('backstitch check' says whose code made "
		 "them)",
		 100.0 * (double)sum / (double)whole);
}

static void note_event(struct drawing *d)
{
	uint64_t samples = flame_tree_node(d->tree, 0)->samples;
	const char *event =
		d->event < 0 ? "several events"
			     : stacks_event(d->stacks, (size_t)d->event)->name;
	char *note = new_note(d);

	if (!title) {
		snprintf(d->title, sizeof(d->title), "%s graph of %.160s",
			 inverted ? "Icicle" : "Flame", event);
		d->o.title = d->title;
	}
	if (!note)
		return;
	snprintf(note, NOTE_MAX, "%llu sample%s of %.160s%s%s",
		 (unsigned long long)samples, samples == 1 ? "" : "s", event,
		 filter_given() ? ", filtered" : "",
		 reverse ? "; stacks are merged from the innermost frame" : "");
}

/* Where the samples are from, so that the picture can be passed on. */
static int note_capture(void *arg, const struct rows *r, struct err *err)
{
	const char *host = rows_text(r, 2);
	char *note = new_note(arg);

	(void)err;
	if (note)
		snprintf(note, NOTE_MAX, "capture %.120s%s%.60s%s",
			 rows_text(r, 0), *host ? " of " : "", host,
			 rows_value(r, 4).kind != VALUE_NULL && !rows_int(r, 4)
				 ? ", not complete"
				 : "");
	return 0;
}

static struct flame_tree *new_tree(struct labels *labels)
{
	struct label all = { .kind = LABEL_GROUP, .name = "all", .image = "" };

	return flame_tree_new(labels, labels_add(labels, &all));
}

static int build_from_db(struct drawing *d, const char *path, int *status,
			 struct err *err)
{
	struct stacks_opts so = { .by_name = as_folded,
				  .inlined = inlined,
				  .bogus = !as_folded,
				  .samples = count_samples };
	struct store *db = database_open(path, status, err);

	if (!db)
		return -1;
	int rc = rows_each(db, "report_captures", note_capture, d, err);
	if (!rc)
		d->stacks = stacks_load(db, &so, err);
	if (d->stacks && !as_folded)
		d->o.facts = d->facts = label_facts_load(db, d->stacks, err);
	store_close(db);
	if (!d->stacks || (!as_folded && !d->facts))
		return -1;
	d->event = stacks_choose(d->stacks, "drawing");
	if (stacks_heaviest(d->stacks) < 0)
		return err_set(err, ERR_FORMAT, "%s: no samples%s", path,
			       filter_given() ? " that the filters let through"
					      : "");
	d->labels = stacks_labels(d->stacks);
	d->tree = new_tree(d->labels);
	if (add_groups(d, err))
		return -1;
	flame_tree_finish(d->tree);
	if (!flame_tree_node(d->tree, 0)->weight)
		return err_set(err, ERR_FORMAT,
			       "%s: all samples have weight 0; use --samples",
			       path);
	d->o.count_name =
		countname ? countname
			  : stacks_unit(d->stacks, d->event, count_samples);
	d->o.show_samples = !count_samples;
	note_event(d);
	note_missing(d);
	note_bogus(d);
	return 0;
}

static int build_from_text(struct drawing *d, const char *path, int *status,
			   struct err *err)
{
	FILE *in = strcmp(path, "-") ? fopen(path, "re") : stdin;
	uint64_t bad = 0;
	int rc;

	if (!in)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	d->labels = labels_new();
	d->tree = new_tree(d->labels);
	rc = folded_read(in, d->labels, d->tree, reverse, &bad, err);
	if (in != stdin)
		fclose(in);
	if (rc)
		return err_while(err, "reading %s", path);
	flame_tree_finish(d->tree);
	if (!flame_tree_node(d->tree, 0)->weight)
		return err_set(err, ERR_FORMAT, "%s: no folded stacks", path);
	if (bad) {
		fprintf(stderr,
			"backstitch: %llu lines without a count were "
			"skipped\n",
			(unsigned long long)bad);
		*status = STATUS_DAMAGED;
	}
	d->o.count_name = countname ? countname : "samples";
	return 0;
}

static int draw(FILE *out, void *arg, struct err *err)
{
	struct drawing *d = arg;

	if (as_folded)
		return folded_write(out, d->tree, err);
	return svg_write(out, d->tree, &d->o, NULL, err);
}

/* A whole smaller than its parts would draw frames outside the picture. */
static void check_total(const struct drawing *d)
{
	uint64_t sum = flame_tree_node(d->tree, 0)->weight;

	if (d->o.total && d->o.total < sum)
		fprintf(stderr,
			"backstitch: --total is less than the sum, %llu, and "
			"is ignored\n",
			(unsigned long long)sum);
}

static int run(int argc, char **argv, struct err *err)
{
	struct drawing d = { .event = -1 };
	int status = STATUS_OK;
	const char *path;
	int rc = -1;

	if (check_options(&d.o, err))
		return -1;
	path = input_path(argc, argv, err);
	if (!path)
		return -1;
	rc = from_folded ? build_from_text(&d, path, &status, err)
			 : build_from_db(&d, path, &status, err);
	if (!rc) {
		check_total(&d);
		rc = out_write(out_path, draw, &d, err);
	}
	flame_tree_free(d.tree);
	label_facts_free(d.facts);
	if (!d.stacks)
		labels_free(d.labels);
	stacks_free(d.stacks);
	return rc ? -1 : status;
}

static const char *const examples[] = {
	"backstitch flame perf.db > flame.svg",
	"backstitch flame --event cycles --comm nginx -o nginx.svg perf.data",
	"backstitch flame --folded perf.db | grep vfs_read", NULL
};

extern const struct command cmd_flame;
const struct command cmd_flame = {
	.name = "flame",
	.args = "[options] [DB | CAPTURE]",
	.summary = "draw a flame graph",
	.examples = examples,
	.opts = opts,
	.run = run,
};

/* annotate.c - the command that lists the hottest functions, or shows the
 * samples at each instruction of one. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/open/input.h"
#include "cli/commands/option_groups.h"
#include "stitch/text/safe_text.h"
#include "cli/output/say.h"
#include "cli/tables/annotated.h"
#include "cli/args/command.h"
#include "analyze/names/source_text.h"
#include "cli/ingest/name.h"
#include "analyze/names/suffix.h"
#include "analyze/stacks/stacks.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "symbolize/symbolize.h"

#define INSNS 5000
#define FUNCTIONS 20

static const char *dso, *syntax_word;
static bool json, only_inlined;
static bool with_source = true;
static long limit = NUMBER_UNSET;
static long around = NUMBER_UNSET;
static long nth = 1;

static const char *const syntax_words[] = { "att", "intel", NULL };

static const struct opt opts[] = {
	OPT_HEADING("How to show it"),
	OPT_STRING(0, "dso", "NAME", &dso, "only functions of this image"),
	OPT_NUMBER(0, "nth", "N", &nth,
		   "of several functions of this name the Nth, by weight (1)"),
	OPT_CHOICE('M', "disassembler-style", "SYNTAX", &syntax_word,
		   syntax_words,
		   "x86 as objdump writes it, or as Intel does (att)"),
	OPT_GROUP(by_opts),
	OPT_FLAG(0, "inlined", &only_inlined,
		 "where FUNCTION was inlined, even if it has code of its own"),
	OPT_NUMBER(0, "around", "N", &around,
		   "only instructions with samples and N around them"),
	OPT_NUMBER(0, "limit", "N", &limit,
		   "at most N instructions, or functions in the list; 0: all "
		   "(5000, 20)"),
	OPT_NO(0, "no-source", &with_source,
	       "no source lines between the instructions"),
	OPT_HEADING("Output"),
	OPT_GROUP(full_names_opts),
	OPT_FLAG(0, "json", &json, "print one JSON object"),
	OPT_GROUP(filter_opts),
	OPT_GROUP(source_opts),
	OPT_GROUP(ingest_opts),
	{ .kind = OPT_END }
};

/* If several functions have the name, prints which is shown and how to choose
 * another one. */
static void annotate_tell_others(const struct hot *h, const char *path,
				 const struct hot_choice *c, const char *what)
{
	const struct hot_func *f = c->func;
	const char *where = hot_base(h, c->image);
	const char *tier = suffix_tier(f ? f->name : "");

	if (!c->others)
		return;
	say_note("this is %zu of %zu functions of this name, ", c->nth,
		 c->others + 1);
	if (strcmp(f->shown, f->base) != 0)
		say("%s ", f->shown);
	if (tier)
		say("by %s, ", tier);
	say("%s %s, %" PRIu64 " sample%s, ", where[0] == '[' ? "in" : "of",
	    where, f->samples, f->samples == 1 ? "" : "s");
	if (f->size)
		say("%" PRIu64 " bytes, ", f->size);
	char *db OWNED = safe_text_word(path);
	char *func OWNED = safe_text_word(what);
	say("most first; 'backstitch annotate --nth %zu %s %s' chooses another\n",
	    c->nth <= c->others ? c->nth + 1 : 1, db, func);
}

/* Prints one function; in: where functions of its name were inlined. Returns 0,
 * or -1 and *err. */
static int annotate_one(const struct name_ask *names, struct store *db,
			const struct hot *h, const char *path, const char *what,
			const struct hot_choice *c,
			const struct inlined_copies *in, struct err *err)
{
	struct annot_opts o = {
		.intel = syntax_word && !strcmp(syntax_word, "intel"),
		.lines = with_source,
		.limit = limit == NUMBER_UNSET ? INSNS : limit,
		.changed = name_tell_changed,
	};
	struct annot a RELEASED_BY(annot_release) = { .name = NULL };
	struct symbolizer *sy = name_symbolizer(names, db, NULL, NULL);

	annotate_tell_others(h, path, c, what);
	o.sources = with_source ? sources_new(source_dirs.item, source_dirs.n,
					      false)
				: NULL;
	int rc = annot_load(&a, db, sy, h, c, &o, err);
	a.inlined = in;
	if (!rc && json)
		annot_json(&a);
	else if (!rc)
		annot_text(stdout, &a, around);
	symbolize_free(sy);
	sources_free(o.sources);
	return rc;
}

/* Prints where a function was inlined. Returns 0, or -1 and *err if nowhere. */
static int annotate_inlined(const struct inlined_copies *in, const char *path,
			    struct err *err)
{
	if (!in->samples)
		return err_set(err, ERR_USAGE,
			       "no sample was taken in '%s' where it is "
			       "inlined",
			       in->what);
	if (json)
		inlined_json(in);
	else
		inlined_text(in, path);
	return 0;
}

/* Prints the function `what`, or the list of the hottest if it is NULL. */
static int annotate_print(const struct name_ask *names, struct store *db,
			  const struct hot *h, const char *path,
			  const char *what, struct err *err)
{
	struct hot_choice c;
	struct inlined_copies in RELEASED_BY(inlined_release) = { 0 };

	if (!what)
		return annot_list(h, path, dso,
				  limit == NUMBER_UNSET ? FUNCTIONS
							: (size_t)limit,
				  json, err);
	if (inlined_load(&in, db, h, what, dso, err))
		return -1;
	if (only_inlined || (in.samples && !hot_has(h, what, dso)))
		return annotate_inlined(&in, path, err);
	if (hot_choose(h, what, dso, (size_t)nth, &c, err))
		return -1;
	return annotate_one(names, db, h, path, what, &c, &in, err);
}

static int annotate_run(int argc, char **argv, struct err *err)
{
	const struct open_ask ask = open_chosen();
	const char *what = argc > 1 ? argv[1] : NULL;
	const struct stacks_opts so = { .filter = &filter,
					.names = chosen_names,
					.samples = by_samples() };
	struct hot h RELEASED_BY(hot_release) = { .spot = NULL };
	int status = STATUS_OK;
	const char *path;

	if (argc > 2)
		return err_set(err, ERR_USAGE,
			       "annotate takes a database or capture and a "
			       "function, not %d arguments",
			       argc);
	if (around != NUMBER_UNSET && (json || argc < 2))
		return err_set(err, ERR_USAGE,
			       "--around is about the text of one function");
	if (only_inlined && argc < 2)
		return err_set(err, ERR_USAGE,
			       "--inlined is about one function; say which");
	if (nth < 1 || (nth > 1 && argc < 2))
		return err_set(err, ERR_USAGE,
			       "--nth N counts the functions of one name, from "
			       "1; say which name");
	if (name_check(&ask.load.name, err))
		return -1;
	struct store *db OWNED_STORE = database_from_args(
		&ask, argc > 1 ? 1 : argc, argv, NULL, &path, &status, err);
	if (!db)
		return -1;
	struct stacks *s = stacks_load(db, &so, err);
	int rc = -1;
	if (s && !hot_load(&h, db, s, say_choice(s, "counting"), err))
		rc = annotate_print(&ask.load.name, db, &h, path, what, err);
	stacks_free(s);
	return rc ? -1 : status;
}

const struct command cmd_annotate = {
	.name = "annotate",
	.args = "[options] [DB | CAPTURE [FUNCTION | ADDRESS]]",
	.summary = "show the hot instructions of a function",
	.examples = { "backstitch annotate perf.db",
		      "backstitch annotate perf.db my_function",
		      "backstitch annotate --source-dir ~/project perf.db my_function",
		      "backstitch annotate --dso libc.so.6 -M intel perf.db memcpy",
		      "backstitch annotate perf.db cc1+0x7ab010" },
	.opts = opts,
	.common =
		"source-dir dso disassembler-style around limit by no-source json symfs comm time event pid",
	.pages = true,
	.run = annotate_run,
};

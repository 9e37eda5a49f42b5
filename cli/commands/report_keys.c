/* report_keys.c - options that report and its like share. */
#include "cli/commands/report_keys.h"

#include "cli/commands/option_groups.h"
#include "analyze/stacks/interpreter.h"
#include "analyze/names/library.h"
#include "analyze/stacks/report_rows.h"
#include "analyze/names/suffix.h"
#include "analyze/samples/weight.h"
#include "cli/output/output.h"
#include "cli/output/term.h"
#include "cli/server/server.h"
#include "cli/tables/report.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define LIMIT 40
#define LIMIT_MIN 10
#define AROUND 11 /* lines above and below the table on a screen */

static bool inline_rows, inlined = true;

const struct opt report_names_opts[] = {
	OPT_HEADING("Names"),
	OPT_FLAG(0, "inline", &inline_rows,
		 "rows for inlined functions as well"),
	OPT_NO(0, "no-inline", &inlined, "no inlined functions at all"),
	OPT_GROUP(full_names_opts),
	OPT_GROUP(library_opts),
	OPT_GROUP(suffix_opts),
	OPT_GROUP(interpreter_opts),
	{ .kind = OPT_END }
};

static const struct {
	const char *word;
	unsigned int key;
} key_words[] = {
	{ "comm_nodigit", KEY_COMM | KEY_NODIGIT },
	{ "comm", KEY_COMM },
	{ "pid", KEY_PID },
	{ "tid", KEY_TID },
	{ "cpu", KEY_CPU },
	{ "cgroup", KEY_CGROUP },
	{ "sym", KEY_SYM },
	{ "symbol", KEY_SYM },
	{ "srcline", KEY_LINE },
	{ "dso", KEY_DSO },
	{ "image", KEY_DSO },
	{ "verdict", KEY_VERDICT },
	{ "trust", KEY_TRUST },
	{ "parallelism", KEY_FIELD | KEY_PARALLEL },
};

static struct arena field_text; /* of --sort EVENT.FIELD */

/* Reads EVENT.FIELD, or takes the cgroup as a field of all events. Returns its
 * key, or 0 and *err. */
static unsigned int report_take_field(struct report_opts *o, const char *key,
				      size_t len, bool cgroup, struct err *err)
{
	if (o->field) {
		err_set(err, ERR_USAGE,
			"--sort takes one field of an event, or cgroup");
		return 0;
	}
	o->field =
		cgroup ? weight_cgroup
		       : weight_take_field(&filter, key, len, &field_text, err);
	return o->field ? KEY_FIELD : 0;
}

int report_take_keys(struct report_opts *o, const char *sort, struct err *err)
{
	const char *p = sort ? sort : "sym,dso";

	o->keys = 0;
	for (;;) {
		size_t len = strcspn(p, ",");
		unsigned int key = 0;

		for (size_t i = 0; i < ARRAY_SIZE(key_words); i++)
			if (strlen(key_words[i].word) == len &&
			    !strncmp(key_words[i].word, p, len))
				key = key_words[i].key;
		bool latency = len == 7 && !strncmp("latency", p, len);

		o->by_wall |= latency || key & KEY_PARALLEL;
		if (key == KEY_CGROUP || (!key && memchr(p, '.', len))) {
			unsigned int of =
				report_take_field(o, p, len, key, err);

			if (!of)
				return -1;
			key |= of;
		}
		if (!key && !latency)
			return err_set(
				err, ERR_USAGE,
				"--sort knows comm, "
				"comm_nodigit, pid, tid, cpu, cgroup, dso, sym, "
				"srcline, verdict, trust, parallelism, latency "
				"and EVENT.FIELD, not '%.*s'",
				(int)len, p);
		o->keys |= key;
		p += len;
		if (!*p++)
			break;
	}
	o->keys = o->keys ?: KEY_SYM | KEY_DSO;
	return 0;
}

size_t report_limit(long limit, const char *format)
{
	int screen = term_rows(stdout) - AROUND;

	if (limit >= 0)
		return limit ? (size_t)limit : SIZE_MAX;
	if (!output_is_text(format))
		return SIZE_MAX;
	if (screen <= 0 || screen >= LIMIT || !term_is_terminal(stdout))
		return LIMIT;
	return screen > LIMIT_MIN ? (size_t)screen : LIMIT_MIN;
}

unsigned int report_detail(unsigned int keys)
{
	return (keys & (KEY_PID | KEY_TID) ? SERVER_THREADS : 0) |
	       (keys & KEY_CPU ? SERVER_CPUS : 0) |
	       (keys & KEY_VERDICT ? SERVER_VERDICTS : 0);
}

int report_take_inlined(struct report_opts *o, struct err *err)
{
	o->inlined = inlined;
	o->keys |=
		inline_rows || library_folds(&chosen_names) ? KEY_INLINED : 0;
	if (inlined || !(o->keys & KEY_INLINED))
		return 0;
	return err_set(err, ERR_USAGE,
		       "--no-inline leaves inlined functions out: leave out "
		       "--inline, --fold-library");
}

bool report_inline_chosen(void)
{
	return inline_rows;
}

/* export.c - the command that converts a database for other tools. */
#include "cli/export/export.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/args/command.h"
#include "cli/commands/option_groups.h"
#include "cli/open/input.h"
#include "cli/output/folder.h"
#include "cli/output/out.h"
#include "schema/store.h"
#include "stitch/base/err.h"

/* A row for each format: NAME of its struct export_NAME, and its name for
 * users. */
#define EXPORTERS(X)                                                           \
	X(folded, "folded")                                                    \
	X(json, "json")                                                        \
	X(chrome, "chrome")                                                    \
	X(pprof, "pprof")                                                      \
	X(firefox, "firefox")                                                  \
	X(perfdata, "perf.data")                                               \
	X(ctf, "ctf")                                                          \
	X(parquet, "parquet")

#define DECLARE(id, word) extern const struct exporter export_##id;
EXPORTERS(DECLARE)

#define ROW(id, word) &export_##id,
const struct exporter *const exporters[] = { EXPORTERS(ROW) NULL };

#define WORD(id, word) word,
const char *const exporter_names[] = { EXPORTERS(WORD) NULL };

static const char *format, *out_path;
static bool inlined = true, partition, fields;

static const struct opt opts[] = {
	OPT_HEADING("Output"),
	OPT_CHOICE(0, "format", "FORM", &format, exporter_names,
		   "what to write; 'backstitch help exports' describes each"),
	OPT_STRING('o', "output", "FILE", &out_path,
		   "write to FILE instead of standard output; ctf and "
		   "parquet make a folder"),
	OPT_HEADING("What to count"),
	OPT_GROUP(by_opts),
	OPT_HEADING("How to show it"),
	OPT_NO(0, "no-inline", &inlined, "leave out inlined functions"),
	OPT_FLAG(0, "partition", &partition,
		 "parquet: samples in folders host=HOST/day=DAY"),
	OPT_FLAG(0, "event-fields", &fields,
		 "parquet: a table with the fields of events too"),
	OPT_GROUP(fleet_opts),
	OPT_GROUP(interpreter_opts),
	OPT_GROUP(filter_opts),
	OPT_GROUP(ingest_opts),
	OPT_GROUP(server_opts),
	{ .kind = OPT_END }
};

/* Returns the exporter of --format, or NULL and *err if none can be used. */
static const struct exporter *export_choose_form(struct err *err)
{
	bool to_stdout = !out_path || !strcmp(out_path, "-");
	const struct exporter *e = NULL;

	for (size_t i = 0; format && !e && exporters[i]; i++)
		if (!strcmp(exporter_names[i], format))
			e = exporters[i];
	if (!e)
		err_set(err, ERR_USAGE,
			"which form? add '--format' and one of those that "
			"'backstitch help exports' describes");
	else if (e->write_folder && to_stdout)
		err_set(err, ERR_USAGE, "%s is a folder; add '-o DIR'", format);
	else if (e->binary && to_stdout && isatty(1))
		err_set(err, ERR_USAGE,
			"%s is no text for a terminal; add '-o FILE'", format);
	else
		return e;
	return NULL;
}

/* Refuses options that would change nothing. Returns 0, or -1 and *err. */
static int export_check_options(const struct exporter *e, struct err *err)
{
	const struct {
		const char *option;
		bool given;
	} known[] = { { "--by", by_samples() },
		      { "--no-inline", !inlined },
		      { "--interpreter", chosen_names.interpreter != NULL } };

	for (size_t i = 0; e->refused && i < ARRAY_SIZE(known); i++)
		if (known[i].given && strstr(e->refused, known[i].option))
			return err_set(err, ERR_USAGE,
				       "%s changes nothing with --format %s; "
				       "leave it out",
				       known[i].option, format);
	return 0;
}

struct job {
	const struct exporter *e;
	struct export_request x;
};

static int write_it(FILE *out, void *arg, struct err *err)
{
	const struct job *j = arg;

	if (j->e->binary && out == stdout)
		out_bytes();
	return j->e->write(out, &j->x, err);
}

static int write_folder(const char *path, void *arg, struct err *err)
{
	const struct job *j = arg;

	return j->e->write_folder(path, &j->x, err);
}

static int export_run(int argc, char **argv, struct err *err)
{
	struct open_ask ask = open_chosen();
	struct job j = { .e = export_choose_form(err), .x.filter = &filter };
	int status = STATUS_OK;
	struct fleet_ask fleet;
	int rc;

	if (!j.e || export_check_options(j.e, err) ||
	    fleet_opts_read(&fleet, err))
		return -1;
	if (!j.e->apart &&
	    (partition || fields || fleet.n_label || fleet.period))
		return err_set(err, ERR_USAGE,
			       "--partition, --event-fields, --label and "
			       "--weighted are for --format parquet");
	if (j.e->write_folder && folder_check(out_path, err))
		return -1;
	ask.filter = j.e->sums ? &filter : NULL;
	ask.detail = j.e->detail;
	if (j.e->apart) {
		/* This form reads the databases one by one. */
		struct inputs in;
		int ret = -1;

		j.x.fleet = &fleet;
		j.x.partition = partition;
		j.x.fields = fields;
		j.x.inputs = &in;
		if (!inputs_find(&in, &ask, argc, argv, out_path, err))
			ret = folder_write(out_path, write_folder, &j, err);
		inputs_release(&in);
		return ret ? -1 : in.status;
	}
	j.x.db = database_from_args(&ask, argc, argv, out_path, &j.x.path,
				    &status, err);
	if (!j.x.db)
		return -1;
	j.x.inlined = inlined;
	j.x.samples = by_samples();
	j.x.names = chosen_names;
	rc = j.e->write_folder ? folder_write(out_path, write_folder, &j, err)
			       : out_write(out_path, write_it, &j, err);
	store_close(j.x.db);
	return rc ? -1 : status;
}

const struct command cmd_export = {
	.name = "export",
	.args = "--format FORM [options] [DB | CAPTURE | URL]",
	.summary = "convert stacks and events for other tools",
	.examples = { "backstitch export --format folded perf.db | flamegraph.pl > a.svg",
		      "backstitch export --format chrome --time 10%-12% -o trace.json perf.db",
		      "backstitch export --format perf.data -o old.data perf.db",
		      "backstitch export --format ctf -o trace perf.db; babeltrace2 trace",
		      "backstitch export --format parquet --partition -o lake *.db" },
	.opts = opts,
	.common =
		"format output by time comm pid event no-inline interpreter symfs partition label",
	.run = export_run,
};

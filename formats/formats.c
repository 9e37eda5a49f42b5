/* formats.c - the table of capture formats; opens a capture of any format. */
#include "formats/formats.h"

#include <sys/stat.h>

#include "formats/ctf/ctf.h"
#include "formats/ftext/ftext.h"
#include "formats/ftrace/ftrace.h"
#include "formats/ftrace/page.h"
#include "formats/input.h"
#include "formats/perf/perf.h"
#include "formats/ptext/ptext.h"
#include "formats/reader/refuse.h"
#include "stitch/base/err.h"
#include "stitch/base/log.h"
#include "stitch/base/mem.h"
#include "stitch/order/clocks.h"

const struct source_ops *const formats[] = {
	&perf_ops, &ftrace_ops, &ftext_ops, &ctf_ops, &ptext_ops, NULL,
};

static const struct source_ops *formats_probe(const char *path,
					      const void *head, size_t n)
{
	const struct source_ops *best = NULL;
	int most = 0;

	for (size_t i = 0; formats[i]; i++) {
		int sure = formats[i]->probe(path, head, n);

		if (sure > most) {
			most = sure;
			best = formats[i];
		}
	}
	return best;
}

static bool formats_is_folder(const char *path)
{
	struct stat st;

	return strcmp(path, "-") && !stat(path, &st) && S_ISDIR(st.st_mode);
}

struct source *formats_open(const char *path, const struct source_opts *o,
			    struct ledger *lg, struct err *err)
{
	struct source *src = NULL;
	char *head OWNED = mem_new(INPUT_HEAD, 1);
	int64_t n = formats_is_folder(path)
			    ? 0
			    : input_peek(path, head, INPUT_HEAD, err);

	if (n < 0)
		return NULL;
	const char *foreign = formats_foreign(head, (size_t)n);

	if (foreign) {
		err_set(err, ERR_FORMAT, "%s: %s", path, foreign);
		return NULL;
	}
	const struct source_ops *ops = formats_probe(path, head, (size_t)n);
	LOG(LOG_INGEST, "%s: format %s", path, ops ? ops->name : "unknown");
	if (ops)
		src = ops->open(path, o, lg, err);
	else if (formats_is_folder(path))
		err_set(err, ERR_FORMAT,
			"%s: this is a folder, needs a perf.data file (or the "
			"folder of 'perf record --threads', with 'data' in it, "
			"one with per_cpu/cpuN/trace_pipe_raw, or one of an "
			"LTTng session, with 'metadata' in or below it)",
			path);
	else
		formats_refuse(path, head, (size_t)n, err);
	if (src && o && !src->info.clock && o->clock) {
		src->info.clock = o->clock;
		src->info.clock_id = clock_id_of(o->clock);
	}
	/* the number of trace-cmd has CPUs that were off, too */
	if (src && o && o->cpus)
		src->info.cpus_online = o->cpus;
	return src;
}

enum formats_kind formats_kind(const char *path)
{
	const bool folder = formats_is_folder(path);
	char *head OWNED = mem_new(INPUT_HEAD, 1);
	struct err ignored;
	int64_t n = folder ? 0 : input_peek(path, head, INPUT_HEAD, &ignored);
	const struct source_ops *ops =
		n < (folder ? 0 : 1) || formats_foreign(head, (size_t)n)
			? NULL
			: formats_probe(path, head, (size_t)n);

	return !ops					? LOOK_NONE
	       : ops == &ctf_ops			? LOOK_SESSION
	       : ops == &ftext_ops || ops == &ptext_ops ? LOOK_TEXT
							: LOOK_CAPTURE;
}

bool formats_is_capture(const char *path)
{
	char *head OWNED = mem_new(INPUT_HEAD, 1);
	struct err ignored;
	int64_t n = input_peek(path, head, INPUT_HEAD, &ignored);
	const struct source_ops *ops =
		n > 0 ? formats_probe(path, head, (size_t)n) : NULL;
	/* false for folded stacks, and for texts of perf script: they were
	 * printed from a capture */
	return ops && ops != &ptext_ops;
}

char *formats_session(const char *path)
{
	return formats_is_folder(path) ? ctf_session(path) : NULL;
}

void formats_pair(struct source *const *src, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			if (src[i]->ops == &ftrace_ops &&
			    src[k]->ops == &ftrace_ops)
				ft_sync_pair(ft_from_source(src[i]),
					     ft_from_source(src[k]));
}

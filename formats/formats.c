/* formats.c - the table of capture formats, and opening a capture of any of
 * them. */
#include "formats/formats.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/ftext/ftext.h"
#include "formats/ctf/ctf.h"
#include "formats/ftrace/ftrace.h"
#include "formats/input.h"
#include "formats/perf/perf.h"
#include "stitch/order/clocks.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"

const struct source_ops *const formats[] = {
	&perf_ops, &ftrace_ops, &ftext_ops, &ctf_ops, NULL,
};

/* Files that users give by mistake, by their first bytes. */
static const struct {
	const char *magic;
	size_t len;
	const char *is, *hint;
} mistakes[] = {
	{ "SQLite format 3", 16, "this is already a database",
	  "give it to report, flame, script or query" },
	{ "\177ELF", 4, "this is an ELF file (a program or a vmlinux)",
	  "give the capture: perf.data" },
	{ "PERFFILE", 8, "this is a perf.data file of version 1 (before 2009)",
	  "record it again with a newer perf" },
	{ "\x17\x08\x44tracing", 10, "this is a trace.dat file of trace-cmd",
	  "give it by name: it cannot be read from a pipe" },
	{ "\xc1\x1f\xfc\xc1", 4, "this is a stream file of a CTF trace",
	  "give the folder that it is in" },
	{ "\x1f\x8b", 2, "this is a gzip file inside a packed file",
	  "unpack it first" },
	{ "\xfd"
	  "7zXZ",
	  5, "this is an xz file", "unpack it first: xz -d" },
	{ "BZh", 3, "this is a bzip2 file", "unpack it first: bzip2 -d" },
	{ "PK\3\4", 4, "this is a zip file", "unpack it first" },
	{ "<?xml", 5, "this is an XML or SVG file", "give the capture" },
	{ "<svg", 4, "this is an SVG file", "give the capture" },
};

/* perf script prints "comm  pid/tid [cpu] time: event:" and then addresses. */
static bool looks_like_script(const char *s, size_t n)
{
	size_t text = 0;

	for (size_t i = 0; i < n; i++)
		text += isprint((unsigned char)s[i]) ||
			isspace((unsigned char)s[i]);
	if (!n || text < n)
		return false;
	for (size_t i = 1; i + 1 < n; i++)
		if (s[i] == ':' && s[i + 1] == ' ' &&
		    isdigit((unsigned char)s[i - 1]))
			return true;
	return false;
}

static bool is_text(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!s[i])
			return false;
	return n > 0;
}

int formats_refuse(const char *path, const void *head, size_t n,
		   struct err *err)
{
	const char *needs = "needs to be a capture: a perf.data file";

	for (size_t i = 0; i < sizeof(mistakes) / sizeof(*mistakes); i++)
		if (n >= mistakes[i].len &&
		    !memcmp(head, mistakes[i].magic, mistakes[i].len))
			return err_set(err, ERR_FORMAT, "%s: %s; %s", path,
				       mistakes[i].is, mistakes[i].hint);
	if (n < 16)
		return err_set(err, ERR_FORMAT, "%s: %zu bytes are %s, %s",
			       path, n, n ? "too few" : "an empty file", needs);
	if (looks_like_script(head, n))
		return err_set(err, ERR_FORMAT,
			       "%s: this is text, as 'perf script' prints it; "
			       "give the perf.data file itself",
			       path);
	return err_set(err, ERR_FORMAT, "%s: this is %s, %s", path,
		       is_text(head, n) ? "a text file" : "unknown data",
		       needs);
}

static const struct source_ops *probe(const char *path, const void *head,
				      size_t n)
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

static bool is_folder(const char *path)
{
	struct stat st;

	return strcmp(path, "-") && !stat(path, &st) && S_ISDIR(st.st_mode);
}

struct source *formats_open(const char *path, const struct source_opts *o,
			    struct ledger *lg, struct err *err)
{
	struct source *src = NULL;
	char *head = mem_new(INPUT_HEAD, 1);
	int64_t n =
		is_folder(path) ? 0 : input_peek(path, head, INPUT_HEAD, err);
	const struct source_ops *ops = NULL;

	if (n < 0)
		goto out;
	ops = probe(path, head, (size_t)n);
	if (ops)
		src = ops->open(path, o, lg, err);
	else if (is_folder(path))
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
out:
	free(head);
	return src;
}

void formats_pair(struct source *const *src, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			if (src[i]->ops == &ftrace_ops &&
			    src[k]->ops == &ftrace_ops)
				ft_sync_pair(ft_of(src[i]), ft_of(src[k]));
}

/* refuse.c - tells what a file is that no reader accepts. */
#include "formats/reader/refuse.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "stitch/base/err.h"

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
static bool refuse_is_script(const char *s, size_t n)
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

static bool refuse_is_text(const char *s, size_t n)
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
	if (refuse_is_script(head, n))
		return err_set(err, ERR_FORMAT,
			       "%s: this is text, as 'perf script' prints it; "
			       "give the perf.data file itself",
			       path);
	return err_set(err, ERR_FORMAT, "%s: this is %s, %s", path,
		       refuse_is_text(head, n) ? "a text file" : "unknown data",
		       needs);
}

/* refuse.c - recognizes files that no reader accepts, for the message that
 * refuses them. */
#include "formats/reader/refuse.h"

#include <strings.h>

#include "formats/reader/scan.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define REFUSE_JSON                                                            \
	"this is JSON, as systrace, Perfetto and Chrome write traces"
#define REFUSE_BABELTRACE                                                      \
	"this is the text of babeltrace2; give the folder of the trace"
#define REFUSE_TRACE_CMD                                                       \
	"this is a table of trace-cmd (dump, hist, profile, --stat), which "   \
	"has no events; give the trace.dat or the text of 'trace-cmd report'"
#define REFUSE_PERF_TRACE                                                      \
	"this is the text of 'perf trace'; 'perf trace record' writes a "      \
	"perf.data, which is read"
#define REFUSE_PERF_TABLE                                                      \
	"this is a table of perf (stat, annotate, lock, latency), which has "  \
	"sums and no samples; give a perf.data"
#define REFUSE_JSON_HINT                                                       \
	"give the capture it was made of: the trace.dat, the text of ftrace, " \
	"or the perf.data"

/* Files that users give by mistake, by their first bytes. */
static const struct {
	const char *magic;
	size_t len;
	const char *is, *hint;
} mistakes[] = {
	{ "\177ELF", 4, "this is an ELF file (a program or a vmlinux)",
	  "give the capture: perf.data" },
	{ "SIMPLEPERF", 10,
	  "these are samples that 'simpleperf report-sample' wrote",
	  "give the perf.data that simpleperf recorded" },
	{ "\x17\x08\x44tracing", 10, "this is a trace.dat file of trace-cmd",
	  "give it by name: it cannot be read from a pipe" },
	{ "\xc1\x1f\xfc\xc1", 4, "this is a stream file of a CTF trace",
	  "give the folder that it is in" },
	{ "\x1f\x8b", 2, "this is a gzip file inside a packed file",
	  "unpack it first" },
	{ "\x28\xb5\x2f\xfd", 4, "this is a zstd file inside a packed file",
	  "unpack it first" },
	{ "\x04\x22\x4d\x18", 4, "this is an lz4 file",
	  "unpack it first: lz4 -d" },
	{ "\x5d\0\0", 3, "this is an lzma file", "unpack it first: xz -d" },
	{ "DTiJ", 4, "this is a jitdump file, the code of one process",
	  "give the perf.data that was recorded with it" },
	{ "JiTD", 4, "this is a jitdump file, the code of one process",
	  "give the perf.data that was recorded with it" },
	{ "7z\xbc\xaf", 4, "this is a 7z file", "unpack it first: 7z x" },
	{ "\xfd"
	  "7zXZ",
	  5, "this is an xz file inside a packed file", "unpack it first" },
	{ "\xff\xfe", 2, "this is text in UTF-16, as PowerShell writes it",
	  "convert it: iconv -f UTF-16 -t UTF-8" },
	{ "BZh", 3, "this is a bzip2 file inside a packed file",
	  "unpack it first" },
	{ "PK\3\4", 4, "this is a zip file",
	  "unzip it, and give the capture that is in it" },
	{ "<?xml", 5, "this is an XML or SVG file", "give the capture" },
	{ "<svg", 4, "this is an SVG file", "give the capture" },
};

#define SQLITE_MAGIC "SQLite format 3"
/* The offset of the application id in the header of an SQLite file. */
#define SQLITE_APPLICATION 68
/* ELF header: the offsets of the byte order and of the type, and the type of a
 * core dump. */
#define ELF_DATA 5
#define ELF_TYPE 16
#define ELF_CORE 4
#define TAR_USTAR 257 /* offset of the magic in a tar header */

static bool refuse_starts(const char *s, size_t n, const char *text, size_t len)
{
	return n >= len && !memcmp(s, text, len);
}

/* Returns what kind of file this is and what to give instead, for files that
 * need more than a look at their first bytes; NULL if unknown. */
static const char *refuse_special(const char *s, size_t n)
{
	if (refuse_starts(s, n, SQLITE_MAGIC, sizeof(SQLITE_MAGIC)))
		/* backstitch writes "bstc" there. */
		return (n >= SQLITE_APPLICATION + 4 &&
			memcmp(s + SQLITE_APPLICATION, "bstc", 4) != 0)
			       ? "this is an SQLite database of another "
				 "program; give the capture"
			       : "this is already a database; give it to "
				 "report, flame, script or query";
	if (n >= TAR_USTAR + 5 && !memcmp(s + TAR_USTAR, "ustar", 5))
		return "this is a tar archive; give it by name: it is not read "
		       "from a pipe, or in another archive";
	if (refuse_starts(s, n, "\177ELF", 4) && n >= ELF_TYPE + 2 &&
	    s[ELF_TYPE + (s[ELF_DATA] == 2)] == ELF_CORE)
		return "this is a core dump of one process, not a recording "
		       "over time; open it with gdb, or give the capture";
	if ((n >= 9 && !strncasecmp(s, "<!doctype", 9)) ||
	    (n >= 5 && !strncasecmp(s, "<html", 5)))
		return "this is an HTML page, as systrace and catapult write "
		       "them; give the text of ftrace in it, from '# tracer:' "
		       "on, or the capture it was made of";
	return NULL;
}

/* Returns whether a line looks like strace's: "open(...) = 3", after process
 * ids and times. */
static bool refuse_is_strace(struct scan s)
{
	size_t n = 0;

	while (s.n && (scan_is_digit(*s.p) || strchr(".:[]pid ", *s.p)))
		scan_skip(&s, 1);
	while (n < s.n && scan_is_word(s.p[n]))
		n++;
	s = scan_tail(s, n);
	if (!n || !scan_take(&s, "("))
		return false;
	scan_skip(&s, scan_find(s, ") "));
	scan_take(&s, ")");
	scan_blanks(&s);
	return scan_starts(s, "= ");
}

/* Returns whether a line looks like dmesg's: "[ 12.345678] usb 1-1: ..." or
 * "[Sat Nov 28 ...] ...". False if the text has a trace that the kernel dumped
 * there. */
static bool refuse_is_dmesg(struct scan all, struct scan s)
{
	uint64_t n;

	if (!scan_take(&s, "[") || scan_find(all, "ftrace buffer") < all.n)
		return false;
	if (scan_find(s, " 20") == 19 && scan_find_char(s, ']') == 24)
		return true;
	scan_blanks(&s);
	return scan_u64(&s, &n) && scan_take(&s, ".") && scan_u64(&s, &n) &&
	       (scan_starts(s, "] ") || scan_starts(s, "]["));
}

/* Returns whether s begins with a TracePacket, field 1 of Trace, twice
 * (protos/perfetto/trace/trace.proto). */
static bool refuse_is_perfetto(struct scan s)
{
	for (int i = 0; i < 2; i++) {
		uint64_t len = 0;
		unsigned int shift = 0;

		if (!scan_take(&s, "\n"))
			return false;
		do {
			if (!s.n || shift > 28)
				return false;
			len |= (uint64_t)(*s.p & 0x7f) << shift;
			shift += 7;
			scan_skip(&s, 1);
		} while (s.p[-1] & 0x80);
		/* a text may begin with line feeds, but has no control
		 * character here */
		if (len < 2 || !s.n || (unsigned char)*s.p >= ' ')
			return false;
		scan_skip(&s, len);
	}
	return true;
}

static bool refuse_is_json(struct scan s)
{
	while (s.n && (scan_is_blank(*s.p) || *s.p == '\n' || *s.p == '\r'))
		scan_skip(&s, 1);
	if (!scan_take(&s, "{") && !scan_take(&s, "["))
		return false;
	while (s.n && (scan_is_blank(*s.p) || *s.p == '\n' || *s.p == '\r'))
		scan_skip(&s, 1);
	return scan_starts(s, "\"") || scan_starts(s, "{");
}

/* Returns whether a line is a folded stack with two numbers, as difffolded.pl
 * writes. */
static bool refuse_is_difference(struct scan s)
{
	for (int i = 0; i < 2; i++) {
		size_t at;

		scan_trim(&s);
		for (at = s.n; at && scan_is_digit(s.p[at - 1]);)
			at--;
		if (at == s.n || !at || !scan_is_blank(s.p[at - 1]))
			return false;
		s.n = at;
	}
	return scan_find_char(s, ';') < s.n;
}

/* Output of other tools: a string in its first lines, and the message. */
static const struct {
	const char *has, *what;
} tool_texts[] = {
	{ "# To display the perf.data header info, please use",
	  "this is the text of 'perf report', which has sums and no samples; "
	  "give the perf.data, or the text of 'perf script'" },
	{ "[tid/pid]                          (msec)",
	  "this is the text of 'perf sched timehist'; give the perf.data" },
	{ "\n. ... raw event: size ",
	  "this is the text of 'perf script -D'; give the perf.data" },
	{ "] (+\?.\?\?\?\?\?\?\?\?\?) ", REFUSE_BABELTRACE },
	{ ": { cpu_id = ", REFUSE_BABELTRACE },
	{ "stream.packet.context = {", REFUSE_BABELTRACE },
	{ "\n    Supports packets: ", REFUSE_BABELTRACE },
	{ "} Stream beginning\n", REFUSE_BABELTRACE },
	{ " Tracing meta data in file ", REFUSE_TRACE_CMD },
	{ ") Total: ", REFUSE_TRACE_CMD },
	{ "\n         --- *", REFUSE_TRACE_CMD },
	{ "\nKernel buffer statistics:", REFUSE_TRACE_CMD },
	{ "creator: callgrind",
	  "this is a profile of callgrind, which has sums and no samples; "
	  "record with perf" },
	{ " ms): ", REFUSE_PERF_TRACE },
	{ " Summary of events:", REFUSE_PERF_TRACE },
	{ "Performance counter stats for ", REFUSE_PERF_TABLE },
	{ "contended   total wait ", REFUSE_PERF_TABLE },
	{ "Source code & Disassembly of ", REFUSE_PERF_TABLE },
	{ " | Max delay ms ", REFUSE_PERF_TABLE },
	{ "  Kwork Name ", REFUSE_PERF_TABLE },
	{ "(         ): ", REFUSE_PERF_TRACE },
	{ "... Hit Ctrl-C to end.",
	  "this is what a tool of bcc printed; with -f it prints folded stacks, "
	  "which are read" },
	{ "\nPERFILE2",
	  "this begins with messages of perf, which 2>&1 put in front of the "
	  "capture; record again with 2>FILE" },
	{ "# DURATION     TID ",
	  "this is the text of uftrace; 'uftrace dump --flame-graph' writes "
	  "folded stacks, which are read" },
};

const char *formats_foreign(const void *head, size_t n)
{
	const struct scan all = scan_of(head, n);
	const struct scan first = scan_head(all, 400);
	struct scan rest = all;
	const struct scan line = scan_line(&rest);
	const size_t atrace = scan_find(all, "TRACE:\nx");

	if (refuse_is_json(all))
		return REFUSE_JSON "; " REFUSE_JSON_HINT;
	for (size_t i = 0; i < ARRAY_SIZE(tool_texts); i++)
		if (scan_find(first, tool_texts[i].has) < first.n)
			return tool_texts[i].what;
	if (refuse_is_dmesg(all, line))
		return "this is the log of the kernel (dmesg), which has no "
		       "samples; give the perf.data, the trace.dat or the text "
		       "of ftrace";
	if (refuse_is_strace(line))
		return "this is the output of strace, which is not read; the "
		       "same calls with their stacks: perf record -e "
		       "'syscalls:*' -g";
	if (scan_starts(all, "Attaching ") || scan_starts(line, "@[") ||
	    (scan_starts(line, "@") && scan_find_char(line, ':') < line.n))
		return "these are maps that bpftrace printed; their stacks are "
		       "read when stackcollapse-bpftrace.pl has folded them";
	if (refuse_is_difference(line))
		return "these are folded stacks with two numbers each, of "
		       "difffolded.pl; give its two inputs to 'backstitch diff'";
	if (atrace < all.n && atrace < 80)
		return "this is a packed trace of atrace; record it without "
		       "-z: its text is read";
	if (refuse_is_perfetto(all))
		return "this is a trace of Perfetto; 'traceconv systrace' makes "
		       "a text of ftrace of it, which is read";
	return NULL;
}

int formats_refuse(const char *path, const void *head, size_t n,
		   struct err *err)
{
	const char *needs =
		"needs to be a capture: a perf.data, a trace.dat, a folder of "
		"LTTng, or a text of perf script or ftrace";

	const char *special =
		refuse_special(head, n) ?: formats_foreign(head, n);

	if (special)
		return err_set(err, ERR_FORMAT, "%s: %s", path, special);
	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++)
		if (refuse_starts(head, n, mistakes[i].magic, mistakes[i].len))
			return err_set(err, ERR_FORMAT, "%s: %s; %s", path,
				       mistakes[i].is, mistakes[i].hint);
	if (n < 16)
		return err_set(err, ERR_FORMAT, "%s: %zu bytes are %s, %s",
			       path, n, n ? "too few" : "an empty file", needs);
	return err_set(err, ERR_FORMAT, "%s: this is %s, %s", path,
		       memchr(head, 0, n) ? "unknown data" : "a text file",
		       needs);
}

#define MESSAGES_MAX 4096

bool formats_is_messages(const void *text, size_t n)
{
	const struct scan all = scan_of(text, n);

	return scan_starts(all, "[ perf record: ") && n <= MESSAGES_MAX &&
	       !any_where(n, i,
			  (unsigned char)all.p[i] < ' ' && all.p[i] != '\n');
}

/* reader.c - sets up a source, and notes damage, remarks and times that go
 * backwards in the ledger. */
#include "formats/reader/reader.h"

#include <inttypes.h>
#include <stdarg.h>

#include "stitch/base/bytes.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/source.h"

COMPARE_BY(claims_compare, struct claim, off);

void claims_add(struct claims *c, uint64_t off, uint64_t len)
{
	if (len)
		*mem_add(c->claim, c->n, c->cap) = (struct claim){ off, len };
}

void claims_release(struct claims *c)
{
	free(c->claim);
}

void claims_check(struct claims *c, const struct source *src,
		  const struct bytes *file, claims_skip_fn *skip, void *arg)
{
	uint64_t len = bytes_left(file);
	uint64_t end = 0;

	claims_add(c, len, 1);
	sort_items(c->claim, c->n, claims_compare);
	for (size_t i = 0; i < c->n; i++) {
		const struct claim *at = &c->claim[i];

		if (at->off > end) {
			/* zeros are padding: find the first byte that is not
			 * zero */
			uint64_t from = skip ? skip(arg, end, at->off) : end;
			uint8_t v = 0;

			while (from < at->off &&
			       !bytes_peek(file, from, &v, 1) && !v)
				from++;
			if (from < at->off)
				reader_damage_text(
					src, file->path, "unclaimed", from,
					at->off - from,
					"%" PRIu64
					" bytes that no table of the file "
					"describes; a size or a count in front "
					"of them may be too small",
					at->off - from);
		} else if (at->off < end) {
			reader_damage_text(
				src, file->path, "overlap", at->off,
				end - at->off,
				"the bytes up to 0x%" PRIx64
				" belong to what stands in front of them too",
				end);
		}
		raise_to(end, at->off + at->len);
	}
}

void claims_check_rest(const struct source *src, const struct bytes *b,
		       const char *what)
{
	if (bytes_left(b))
		reader_damage_text(
			src, b->path, "rest", bytes_off(b), bytes_left(b),
			"%zu bytes are left of %s; a size or a count in it is wrong",
			bytes_left(b), what);
}

int rest_padding(const struct bytes *b, size_t n, struct err *err)
{
	if (bytes_left(b) <= n)
		return 0;
	return err_at(err, b->path, bytes_off(b),
		      "%zu bytes are left, needs %s%zu; a size or a count is "
		      "wrong",
		      bytes_left(b), n ? "at most " : "", n);
}

int rest_end(const struct bytes *b, struct err *err)
{
	return rest_padding(b, 0, err);
}

int rest_zeros(const struct bytes *b, struct err *err)
{
	uint8_t v = 0;

	for (uint64_t i = 0; !bytes_peek(b, i, &v, 1); i++)
		if (v)
			return err_at(err, b->path, bytes_off(b) + i,
				      "%zu bytes are left that are not 0; a "
				      "size or a count is wrong",
				      bytes_left(b));
	return 0;
}

struct scan trace_clock_chosen(struct scan s)
{
	size_t from = scan_find_char(s, '[');
	struct scan name = scan_tail(s, from < s.n ? from + 1 : s.n);
	size_t n = scan_find_char(name, ']');

	return scan_head(name, n < name.n ? n : 0);
}

const char *trace_clock_name(const char *name)
{
	static const char *const word[][2] = {
		{ "mono", "monotonic" },
		{ "mono_raw", "monotonic_raw" },
		{ "boot", "boottime" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(word); i++)
		if (!strcmp(name, word[i][0]))
			return word[i][1];
	return name;
}

uint64_t trace_stats_number(struct scan stats, const char *key)
{
	while (stats.n) {
		struct scan line = scan_line(&stats);
		uint64_t value;

		if (!scan_take(&line, key))
			continue;
		scan_blanks(&line);
		return scan_u64(&line, &value) ? value : 0;
	}
	return 0;
}

void reader_init(struct source *src, const struct source_ops *ops,
		 const char *path, const struct source_opts *o,
		 struct ledger *lg, struct source_opts *opts)
{
	src->ops = ops;
	src->path = mem_strdup(path);
	src->ledger = lg;
	if (o) {
		src->index = o->index;
		*opts = *o;
	}
	src->info.cpus_online = src->info.cpus_avail = -1;
	src->info.system_wide = TRI_UNKNOWN;
	src->info.user_mask = UINT64_MAX;
}

void reader_damage_packed(struct source *src, const char *path)
{
	struct err why;

	src->info.truncated = true;
	err_set(&why, ERR_FORMAT, "%s: the packed file is damaged or cut off",
		path);
	reader_damage(src, "packed", 0, 0, &why);
}

void reader_damage(const struct source *src, const char *what, uint64_t off,
		   uint64_t len, const struct err *err)
{
	ledger_damage(src->ledger, src->index, what, off, len, err);
}

void reader_damage_text(const struct source *src, const char *path,
			const char *what, uint64_t off, uint64_t len,
			const char *fmt, ...)
{
	char why[sizeof(((struct err *)0)->msg)];
	struct err err;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	err_at(&err, path, off, "%s", why);
	reader_damage(src, what, off, len, &err);
}

void reader_note(const struct source *src, const char *what, const char *detail)
{
	ledger_note(src->ledger, src->index, what, detail);
}

void reader_regress(const struct source *src, uint64_t off, uint64_t time,
		    uint64_t last, int32_t cpu)
{
	struct ledger_entry e = {
		.kind = LEDGER_ORDER,
		.capture = src->index,
		.what = "regress",
		.off = off,
		.t0 = time,
		.t1 = last,
		.n = 1,
		.cpu = cpu,
		.event = -1,
	};

	ledger_add(src->ledger, &e);
}

/* reader.c - what all readers do: setting up a source, and writing damage,
 * notes and times that go back to the ledger. */
#include "formats/reader/reader.h"

#include <stdarg.h>

#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"

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

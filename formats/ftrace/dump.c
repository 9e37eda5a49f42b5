/* dump.c - prints the parts of a capture: sections, pages, entries. */
#include <inttypes.h>
#include <stdarg.h>

#include "formats/ftrace/ftrace.h"
#include "formats/ftrace/page.h"
#include "formats/ftrace/sync.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define LINE 512

struct ft_dump_output {
	int (*fn)(void *arg, const char *text, struct err *err);
	void *arg;
	struct err *err;
};

static int ft_dump_line(const struct ft_dump_output *o, const char *fmt, ...)
	__attribute__((format(__printf__, 2, 3)));
static int ft_dump_line(const struct ft_dump_output *o, const char *fmt, ...)
{
	char text[LINE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* Names from a capture may contain anything; keep one line one line. */
	for (char *s = text; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = '?';
	return o->fn(o->arg, text, o->err);
}

static const char *ft_dump_id_name(uint16_t id)
{
	static const char *const name[] = {
		"OPTIONS",     "DATE",		"CPUSTAT",	 "BUFFER",
		"TRACECLOCK",  "UNAME",		"HOOK",		 "OFFSET",
		"CPUCOUNT",    "VERSION",	"PROCMAPS",	 "TRACEID",
		"TIME_SHIFT",  "GUEST",		"TSC2NSEC",	 "STRINGS",
		"HEADER_INFO", "FTRACE_EVENTS", "EVENT_FORMATS", "KALLSYMS",
		"PRINTK",      "CMDLINES",	"BUFFER_TEXT",	 "BTF_FILE",
		"LAST_BOOT",   "MODULES",
	};

	return id < ARRAY_SIZE(name) ? name[id] : "UNKNOWN";
}

static int ft_dump_options(struct bytes *b, const struct ft_dump_output *o)
{
	struct bytes data;
	uint16_t id;
	uint32_t n;

	while (!bytes_u16(b, &id, NULL) && !bytes_u32(b, &n, NULL) &&
	       !bytes_take(b, n, &data, NULL)) {
		int show = (int)(n < 200 ? n : 200);

		if (ft_dump_line(o, "  option %s(%u) size=%" PRIu32 " %.*s",
				 id ? ft_dump_id_name(id) : "DONE", id, n, show,
				 (const char *)data.pos))
			return -1;
		if (!id)
			break;
	}
	return 0;
}

/* Prints the sections of version 7 in file order. */
static int ft_dump_sections(struct ft *ft, const struct ft_dump_output *o)
{
	uint64_t off = ft->header_end;
	struct err why;

	while (off && off < ft->in.len) {
		unsigned char *owned = NULL;
		struct ft_section s;
		struct bytes b;
		uint16_t id;
		int rc = 0;

		if (ft_section_head(ft, off, &s, NULL))
			break;
		if (ft_dump_line(o,
				 "0x%" PRIx64 " section %s(%u) size=%" PRIu64
				 "%s",
				 off, ft_dump_id_name(s.id), s.id, s.size,
				 s.flags & 1 ? " packed" : ""))
			return -1;
		if (s.id == FT_OPTIONS &&
		    !ft_section_read(ft, off, &id, &b, &owned, &why))
			rc = ft_dump_options(&b, o);
		free(owned);
		if (rc)
			return -1;
		if (s.size > ft->in.len - s.off)
			break;
		off = s.off + s.size;
	}
	return 0;
}

static int ft_dump_page(struct ft *ft, struct ft_stream *s, uint64_t place,
			const struct ft_dump_output *o)
{
	struct ft_entry e;
	struct ft_page pg;
	struct err why;
	char lost[64] = "";
	int got;

	if (ft_page_open(ft, s, place, &pg, &why))
		return ft_dump_line(o, "damaged: %s", why.msg);
	if (pg.lost && pg.has_number)
		snprintf(lost, sizeof(lost), " lost=%" PRIu64, pg.n_lost);
	else if (pg.lost)
		snprintf(lost, sizeof(lost), " lost=?");
	if (ft_dump_line(o,
			 "0x%" PRIx64 "+0x%" PRIx64 " page cpu=%d t=%" PRIu64
			 " size=%zu%s",
			 s->off, place, s->cpu, ft_time(ft, s, pg.time),
			 bytes_left(&pg.b), lost))
		return -1;
	while ((got = ft_page_next(ft, &pg, &e, &why)) > 0) {
		uint16_t id = 0;
		uint32_t pid = 0;

		bytes_peek_u16(&e.b, 0, &id);
		bytes_peek_u32(&e.b, 4, &pid);
		const struct ft_type *t = ft_type_of(ft, id);

		if (ft_dump_line(o,
				 "0x%" PRIx64 "+0x%" PRIx64 " cpu=%d t=%" PRIu64
				 " pid=%d %s:%s(%u) size=%zu",
				 s->off, e.place, s->cpu,
				 ft_time(ft, s, e.time), (int)pid,
				 t ? t->fmt.system : "unknown",
				 t && t->fmt.name ? t->fmt.name : "?", id,
				 bytes_left(&e.b)))
			return -1;
	}
	return got < 0 ? ft_dump_line(o, "damaged: %s", why.msg) : 0;
}

int ft_dump(struct source *src,
	    int (*fn)(void *arg, const char *text, struct err *err), void *arg,
	    struct err *err)
{
	struct ft *ft = ft_from_source(src);
	const struct ft_dump_output o = { fn, arg, err };

	if (ft->version &&
	    ft_dump_line(
		    &o, "0x0 trace.dat version %u, %s endian, long of %d bytes",
		    ft->version, ft->big ? "big" : "little",
		    ft->commit32 ? 4 : 8))
		return -1;
	if (ft->version >= 7 && ft_dump_sections(ft, &o))
		return -1;
	for (size_t i = 0; i < ft->n_stream; i++) {
		struct ft_stream *s = &ft->stream[i];

		if (ft_dump_line(&o,
				 "0x%" PRIx64 " ring '%s' cpu=%d size=%" PRIu64
				 " pages of %" PRIu32 "%s",
				 s->off, ft->inst[s->instance].name, s->cpu,
				 s->len, s->subbuf,
				 s->n_chunk ? " packed" : ""))
			return -1;
		for (uint64_t at = 0; s->len - at >= s->subbuf; at += s->subbuf)
			if (ft_dump_page(ft, s, at, &o))
				return -1;
	}
	return 0;
}

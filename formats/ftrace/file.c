/* file.c - reads what precedes the pages of a trace.dat, and dumps captures.
 *
 * Version 6 is one sequence. Version 7 has sections anywhere in the file, named
 * by options; the options are in sections that form a chain. trace-cmd writes
 * the link to the options that name the buffers last, so a truncated file does
 * not have it. Sections are then found by walking from one to the next. */
#include <inttypes.h>
#include <stdarg.h>

#include "formats/ftrace/ftrace.h"
#include "formats/ftrace/pack.h"
#include "formats/ftrace/page.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define LINE 512

struct ft_dump_output {
	source_text_fn *fn;
	void *arg;
	struct err *err;
};

__attribute__((format(__printf__, 2, 3))) static int
ft_dump_line(const struct ft_dump_output *o, const char *fmt, ...)
{
	char text[LINE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* names from a capture may have control characters; each would break
	 * the line */
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

#define SECTION_MAX ((uint32_t)64 << 20)

#define PACKED 1u

/* Reads the section at off into *out and its id into *id. *owned is the buffer
 * with the unpacked contents, which the caller frees, or NULL if *out is in the
 * file. */
static int ft_section_read(struct ft *ft, uint64_t off, uint16_t *id,
			   struct bytes *out, unsigned char **owned,
			   struct err *err)
{
	struct ft_section s;
	struct bytes b, packed;
	uint32_t n_packed, n;

	*owned = NULL;
	if (ft_section_head(ft, off, &s, err))
		return -1;
	*id = s.id;
	bytes_init(&b, ft->in.data + s.off, ft->in.len - s.off, ft->in.path,
		   s.off, ft->swap);
	if (bytes_take(&b, s.size, out, err))
		return -1;
	if (!(s.flags & PACKED) || s.id == FT_BUFFER)
		return 0;
	b = *out;
	uint64_t at = bytes_off(&b);

	if (bytes_u32(&b, &n_packed, err) || bytes_u32(&b, &n, err) ||
	    bytes_take(&b, n_packed, &packed, err))
		return -1;
	if (n > SECTION_MAX)
		return err_at(err, ft->in.path, at,
			      "a section of %" PRIu32 " bytes, needs %u at "
			      "most",
			      n, SECTION_MAX);
	claims_check_rest(&ft->src, &b, "a compressed section");
	*owned = mem_new(n, 1);
	if (ft_unpack(ft, &packed, *owned, n, err)) {
		free(*owned);
		*owned = NULL;
		return -1;
	}
	bytes_init(out, *owned, n, ft->in.path, at, ft->swap);
	return 0;
}

/* Prints one page of the dump. Returns 0, or -1 if the output failed. */
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

int ft_dump(struct source *src, source_text_fn *fn, void *arg, struct err *err)
{
	struct ft *ft = ft_from_source(src);
	const struct ft_dump_output o = { fn, arg, err };

	if (ft->version &&
	    ft_dump_line(
		    &o, "0x0 trace.dat version %u, %s endian, long of %d bytes",
		    ft->version, ft->big ? "big" : "little",
		    ft->commit32 ? 4 : 8))
		return -1;
	/* the sections of version 7 in file order */
	uint64_t off = ft->header_end;
	struct err why;

	while (ft->version >= 7 && off && off < ft->in.len) {
		unsigned char *owned OWNED = NULL;
		struct ft_section s;
		struct bytes b;
		uint16_t id;

		if (ft_section_head(ft, off, &s, NULL))
			break;
		if (ft_dump_line(&o,
				 "0x%" PRIx64 " section %s(%u) size=%" PRIu64
				 "%s",
				 off, ft_dump_id_name(s.id), s.id, s.size,
				 s.flags & PACKED ? " packed" : ""))
			return -1;
		if (s.id == FT_OPTIONS &&
		    !ft_section_read(ft, off, &id, &b, &owned, &why) &&
		    ft_dump_options(&b, &o))
			return -1;
		if (s.size > ft->in.len - s.off)
			break;
		off = s.off + s.size;
	}
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

#define TAG_LEN 10u

static bool ft_file6_is_tag(const struct bytes *b, const char *tag)
{
	return bytes_left(b) >= TAG_LEN && !memcmp(b->pos, tag, TAG_LEN);
}

/* Reads the table of a buffer: {offset, size} for the ring of each CPU. */
static int ft_file6_rings(struct ft *ft, uint32_t inst, struct bytes *b,
			  struct err *err)
{
	uint64_t off, len;

	for (uint32_t i = 0; i < ft->n_cpus; i++) {
		if (bytes_u64(b, &off, err) || bytes_u64(b, &len, err))
			return -1;
		ft_stream_plain(ft, inst, (int32_t)i, off, len);
	}
	/* Skip the clock of a buffer: trace-cmd 2.9 and later write it after
	 * the table, as u64 size and text. Older ones write zeros up to the
	 * first page. */
	struct bytes after = *b;
	struct bytes text;
	uint64_t n;

	if (!bytes_u64(&after, &n, NULL) && n && n < ft->page_size &&
	    !bytes_take(&after, n, &text, NULL) && *text.pos == '[')
		*b = after;
	/* claim the header and the top table as one range */
	off = ft->inst[inst].section;
	claims_add(&ft->claims, off, bytes_off(b) - off);
	return 0;
}

static int ft_file6_tag(struct ft *ft, struct bytes *b, struct err *err)
{
	uint64_t at = bytes_off(b);

	if (ft_file6_is_tag(b, "flyrecord"))
		return bytes_skip(b, TAG_LEN, err);
	if (ft_file6_is_tag(b, "latency  "))
		return err_at(err, ft->in.path, at,
			      "this file holds the text of a latency tracer, "
			      "not its events");
	return err_at(err, ft->in.path, at,
		      "neither 'options' nor 'flyrecord' here");
}

/* Reads a file of version 6, up to its rings. Returns 0, or -1 and *err. */
static int ft_file6_read(struct ft *ft, struct bytes *b, struct err *err)
{
	static const uint16_t parts[] = { FT_HEADER_INFO,   FT_FTRACE_EVENTS,
					  FT_EVENT_FORMATS, FT_KALLSYMS,
					  FT_PRINTK,	    FT_CMDLINES };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (ft_meta_read(ft, parts[i], b, err))
			return -1;
	if (bytes_u32(b, &ft->n_cpus, err))
		return -1;
	if (ft->n_cpus > CPUS_MAX)
		return err_at(err, ft->in.path, bytes_off(b) - 4,
			      "%" PRIu32 " CPUs, needs %u at most", ft->n_cpus,
			      CPUS_MAX);
	ft->src.info.cpus_online = (int32_t)ft->n_cpus;
	uint32_t top = ft_instance_add(ft, "", NULL, 0, ft->subbuf);

	if (ft_file6_is_tag(b, "options  ")) {
		bytes_skip(b, TAG_LEN, NULL);
		/* each option is id, size, data; id 0 has no size and ends the
		 * list */
		struct bytes data;
		uint16_t id;
		uint32_t n;

		for (;;) {
			if (bytes_u16(b, &id, err))
				return -1;
			if (!id)
				break;
			if (bytes_u32(b, &n, err) ||
			    bytes_take(b, n, &data, err) ||
			    ft_option_read(ft, id, &data, err))
				return -1;
		}
	}
	if (ft_file6_tag(ft, b, err) || ft_file6_rings(ft, top, b, err))
		return -1;
	/* Options name the tables of the other buffers. */
	for (uint32_t i = 0; i < ft->n_inst; i++) {
		struct bytes table;

		if (!ft->inst[i].section)
			continue;
		bytes_init(&table, ft->in.data, ft->in.len, ft->in.path, 0,
			   ft->swap);
		if (bytes_skip(&table, ft->inst[i].section, err) ||
		    ft_file6_tag(ft, &table, err) ||
		    ft_file6_rings(ft, i, &table, err))
			return -1;
	}
	if (!ft->src.info.truncated)
		ft_claims_check(ft);
	return 0;
}

/* Claims a section that was read, and notes the bytes left in it. */
static void ft_section_claim(struct ft *ft, uint64_t off, const struct bytes *b)
{
	struct ft_section s;

	claims_check_rest(&ft->src, b, "a section");
	if (!ft_section_head(ft, off, &s, NULL))
		claims_add(&ft->claims, off, FT_SECTION_HEAD + s.size);
}

/* Reads the section at off unless a section of that kind was read before. */
static int ft_file7_meta(struct ft *ft, uint16_t want, uint64_t off,
			 struct err *err)
{
	unsigned char *owned OWNED = NULL;
	struct bytes b;
	uint16_t id = 0;

	if (ft->have[want])
		return 0;
	if (ft_section_read(ft, off, &id, &b, &owned, err))
		return -1;
	if (id != want)
		return err_at(err, ft->in.path, off, "section %u, needs %u", id,
			      want);
	if (ft_meta_read(ft, want, &b, err))
		return -1;
	ft_section_claim(ft, off, &b);
	return 0;
}
static bool ft_file7_is_meta(uint16_t id)
{
	return id >= FT_HEADER_INFO && id <= FT_CMDLINES;
}

/* Reads the options of the section at off: those of buffers, or all others.
 * Buffers come last since they need the page size. The last option has the
 * offset of the next section, which *next is set to; 0: there is none. */
static int ft_file7_option_section(struct ft *ft, uint64_t off, bool buffers,
				   uint64_t *next, struct err *err)
{
	unsigned char *owned OWNED = NULL;
	struct bytes b, data;
	uint16_t id = 0, kind;
	uint64_t to;
	uint32_t n;

	if (ft_section_read(ft, off, &id, &b, &owned, err))
		return -1;
	if (id != FT_OPTIONS)
		return err_at(err, ft->in.path, off,
			      "section %u, needs the options", id);

	*next = 0;
	while (bytes_left(&b)) {
		if (bytes_u16(&b, &kind, err) || bytes_u32(&b, &n, err) ||
		    bytes_take(&b, n, &data, err))
			return -1;
		if (kind == FT_OPTIONS) {
			if (bytes_u64(&data, next, err))
				return -1;
			claims_check_rest(&ft->src, &data, "the last option");
			if (!buffers)
				ft_section_claim(ft, off, &b);
			return 0;
		}
		if ((kind == FT_BUFFER) != buffers)
			continue;
		if (ft_file7_is_meta(kind)) {
			if (bytes_u64(&data, &to, err) ||
			    ft_file7_meta(ft, kind, to, err))
				return -1;
		} else if (ft_option_read(ft, kind, &data, err)) {
			return -1;
		}
	}
	return err_at(err, b.path, bytes_off(&b),
		      "a section of options without its last option");
}

/* Reads the chain of options twice, buffers the second time. The chain must
 * lead forward, as trace-cmd writes it, so that it ends. */
static int ft_file7_option_chain(struct ft *ft, struct err *err)
{
	for (int buffers = 0; buffers < 2; buffers++) {
		uint64_t off = ft->first_options;
		uint64_t next = 0;

		if (!off)
			return err_at(err, ft->in.path, 0,
				      "the recorder never finished this file: "
				      "no options");
		while (off) {
			if (ft_file7_option_section(ft, off, buffers, &next,
						    err))
				return -1;
			if (next && next <= off)
				return err_at(err, ft->in.path, off,
					      "options lead back to 0x%" PRIx64,
					      next);
			off = next;
		}
	}
	return 0;
}

static void ft_salvage(struct ft *ft);

/* Reads the sections and options of a file of version 7. Returns 0, or -1 and
 * *err. */
static int ft_file7_read(struct ft *ft, struct bytes *b, struct err *err)
{
	uint64_t at = bytes_off(b);
	const char *name, *version;
	struct err why = { 0 };

	if (bytes_str(b, &name, err) || bytes_str(b, &version, err))
		return -1;
	ft->src.info.compressed = strcmp(name, "none") != 0;
	if (!strcmp(name, "none"))
		ft->pack = FT_PACK_NONE;
	else if (!strcmp(name, "zstd"))
		ft->pack = FT_PACK_ZSTD;
	else if (!strcmp(name, "zlib"))
		ft->pack = FT_PACK_ZLIB;
	else
		return err_at(err, ft->in.path, at,
			      "packed by '%.32s', needs zstd, zlib or none",
			      name);
	if (bytes_u64(b, &ft->first_options, err))
		return -1;
	ft->header_end = bytes_off(b);
	bool broken = ft_file7_option_chain(ft, &why) != 0;

	if (!broken && ft->n_inst) {
		claims_add(&ft->claims, 0, ft->header_end);
		if (!ft->src.info.truncated)
			ft_claims_check(ft);
		return 0;
	}
	if (!broken)
		err_at(&why, ft->in.path, ft->in.len,
		       "no buffer is named in the options; the file may be "
		       "cut");
	ft->src.info.truncated = true;
	reader_damage(&ft->src, "truncated", ft->in.len, 0, &why);
	ft_salvage(ft);
	if (ft->n_stream || ft->n_inst)
		return 0;
	struct ft_section s;
	if (ft->first_options &&
	    (ft_section_head(ft, ft->first_options, &s, NULL) ||
	     s.size > ft->in.len - s.off))
		return err_at(err, ft->in.path, ft->in.len,
			      "the file is cut off here, in front of its first "
			      "event; copy or record it again");
	*err = why;
	return -1;
}

int ft_file_read(struct ft *ft, struct err *err)
{
	struct bytes b;

	bytes_init(&b, ft->in.data, ft->in.len, ft->in.path, 0, false);
	const char *version;
	uint8_t big, long_size;

	if (bytes_skip(&b, FT_MAGIC_LEN, err))
		return -1;
	uint64_t at = bytes_off(&b);

	if (bytes_str(&b, &version, err))
		return -1;
	if (strcmp(version, "6") != 0 && strcmp(version, "7") != 0)
		return err_at(err, ft->in.path, at,
			      "version '%.16s' of trace.dat, needs 6 or 7; "
			      "convert it with 'trace-cmd convert'",
			      version);
	ft->version = (unsigned int)(version[0] - '0');
	if (bytes_u8(&b, &big, err) || bytes_u8(&b, &long_size, err))
		return -1;
	ft->big = big != 0;
	ft->swap = bytes_must_swap(ft->big);
	ft->long32 = ft->commit32 = long_size == 4;
	ft->tp.swap = ft->look.swap = b.swap = ft->swap;
	ft->tp.long32 = ft->look.long32 = ft->long32;
	ft->src.info.big_endian = ft->big;
	if (bytes_u32(&b, &ft->page_size, err))
		return -1;
	if (ft->page_size < 64 || ft->page_size > FT_SUBBUF_MAX)
		return err_at(err, ft->in.path, bytes_off(&b) - 4,
			      "pages of %" PRIu32 " bytes, needs 64 to %u",
			      ft->page_size, FT_SUBBUF_MAX);
	ft->subbuf = ft->page_size;
	if (ft->version >= 7)
		return ft_file7_read(ft, &b, err);
	/* a length beyond the end of the file: the file is cut or damaged */
	return ft_file6_read(ft, &b, err)
		       ? err_while(err, "reading what is in front of the first "
					"event")
		       : 0;
}

/* Adds the compressed rings of the CPUs, each from the start of a page: a count
 * of chunks, and the chunks. */
static void ft_salvage_packed(struct ft *ft, uint32_t inst, uint64_t off,
			      uint64_t end)
{
	int32_t cpu = 0;

	while (off < end && cpu < CPUS_MAX) {
		uint64_t rest = off % ft->page_size;
		uint64_t stop = 0;
		size_t had = ft->n_stream;

		off += rest ? ft->page_size - rest : 0;
		if (off < end)
			ft_stream_packed(ft, inst, cpu, off, end - off, &stop);
		cpu += ft->n_stream > had;
		if (stop <= off)
			return;
		off = stop;
	}
}

/* Adds the plain rings of the CPUs, whose pages follow each other: the next CPU
 * begins at the first page with a smaller time. */
static void ft_salvage_plain(struct ft *ft, uint32_t inst, uint64_t off,
			     uint64_t end)
{
	uint64_t rest = off % ft->page_size;
	uint64_t size = ft->inst[inst].subbuf;
	uint64_t from, last = 0;
	int32_t cpu = 0;

	off += rest ? ft->page_size - rest : 0;
	for (from = off; off < end && end - off >= size; off += size) {
		uint64_t t = 0;
		struct bytes b;

		bytes_init(&b, ft->in.data + off, size, ft->in.path, off,
			   ft->swap);
		bytes_u64(&b, &t, NULL);
		if (t && t < last && cpu < CPUS_MAX) {
			ft_stream_plain(ft, inst, cpu++, from, off - from);
			from = off;
		}
		last = t ? t : last;
	}
	if (off > from)
		ft_stream_plain(ft, inst, cpu, from, off - from);
}

static void ft_salvage_buffer(struct ft *ft, const struct ft_section *s,
			      uint64_t end)
{
	uint64_t off = s->off - FT_SECTION_HEAD;

	if (any_where(ft->n_inst, i, ft->inst[i].section == off))
		return;
	uint32_t inst = ft_instance_add(ft, "", NULL, off, ft->subbuf);

	if (s->flags & PACKED)
		ft_salvage_packed(ft, inst, s->off, end);
	else
		ft_salvage_plain(ft, inst, s->off, end);
	reader_note(&ft->src, "salvaged",
		    "the CPUs of a buffer are derived, since the file does not "
		    "name them");
}

enum ft_salvage_pass {
	SALVAGE_META,	 /* formats, names and options of the file */
	SALVAGE_NAMED,	 /* buffers that options name */
	SALVAGE_BUFFERS, /* all other buffers */
	SALVAGES,
};

/* Finds the sections by walking the file from the header on. */
static void ft_salvage(struct ft *ft)
{
	/* all options are read again, so forget what they set */
	ft->shift = 0;
	ft->n_stat = ft->n_map = ft->n_maps = 0;
	ft->stat_buffer = NULL;
	ft->n_boot = 0;
	for (int what = 0; what < SALVAGES; what++) {
		uint64_t off = ft->header_end;
		uint64_t next;
		struct ft_section s;

		while (!ft_section_head(ft, off, &s, NULL)) {
			uint64_t left = ft->in.len - s.off;
			uint64_t n = s.size < left ? s.size : left;
			struct err why = { 0 };
			int rc = 0;

			if (s.id == FT_BUFFER && what == SALVAGE_BUFFERS)
				ft_salvage_buffer(ft, &s, s.off + n);
			else if (s.id == FT_OPTIONS && what != SALVAGE_BUFFERS)
				rc = ft_file7_option_section(
					ft, off, what == SALVAGE_NAMED, &next,
					&why);
			else if (ft_file7_is_meta(s.id) && what == SALVAGE_META)
				rc = ft_file7_meta(ft, s.id, off, &why);
			if (rc)
				reader_damage(&ft->src, "section", off, s.size,
					      &why);
			off = s.off + n;
			if (n < s.size)
				break;
		}
	}
}

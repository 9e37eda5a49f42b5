/* ftrace_write.h - the skeleton of a trace.dat, for tests and for mkftrace.c.
 *
 * Each CPU has a ring: fb_page; fb_begin ... fb_end; fb_page_end. Then
 * fb_file7() or fb_file6() puts the rings into a file. Either byte order. */
#pragma once
#include <assert.h>

#include "formats/ftrace/ftrace.h"
#include "tests/put_bytes.h"

#define FB_LOST ((uint64_t)1 << 31)
#define FB_STORED ((uint64_t)1 << 30)

/* The fields of a page's head; size is that of what follows. */
#define FB_HEADER(size)                                                        \
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"             \
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"            \
	"\tfield: char data;\toffset:16;\tsize:" size ";\tsigned:1;\n"

/* What a file says besides its rings, and how. */
struct fb_form {
	uint32_t page;		    /* bytes of a page */
	const char *header;	    /* FB_HEADER, or NULL */
	const char *const *formats; /* ftrace's own; NULL ends all lists */
	const char *const *const *systems; /* each with its formats behind it */
	const char *kallsyms, *printk, *cmdlines;
	/* puts n bytes packed, behind both lengths; NULL: nothing is packed */
	void (*pack)(struct pb *b, const void *p, size_t n);
};

/* The pages of one CPU; p.rec is where the page at hand begins. */
struct fb_ring {
	struct pb p;
	uint32_t page; /* bytes of each */
	int32_t cpu;
};

static inline void fb_page(struct fb_ring *r, uint64_t time)
{
	r->p.rec = r->p.n;
	pb_u64(&r->p, time);
	pb_u64(&r->p, 0);
}

static inline void fb_word(struct fb_ring *r, uint32_t type, uint32_t delta)
{
	pb_u32(&r->p, r->p.big ? type << 27 | delta : delta << 5 | type);
}

/* An entry whose payload is begun; fb_end() gives it its length. */
static inline size_t fb_begin(struct fb_ring *r, uint32_t delta, uint16_t id,
			      uint8_t flags, int32_t pid)
{
	size_t at = r->p.n;

	fb_word(r, 0, delta);
	pb_u32(&r->p, 0);
	pb_u16(&r->p, id);
	pb_num(&r->p, flags, 1);
	pb_num(&r->p, 0, 1);
	pb_u32(&r->p, (uint32_t)pid);
	return at;
}

static inline void fb_end(struct fb_ring *r, size_t at)
{
	pb_pad(&r->p, 4);
	pb_patch(&r->p, at + 4, r->p.n - at - 4, 4);
}

/* flags: FB_LOST, FB_STORED and then how many. */
static inline void fb_page_end(struct fb_ring *r, uint64_t flags, uint64_t lost)
{
	uint64_t len = r->p.n - r->p.rec - 16;

	pb_patch(&r->p, r->p.rec + 8, len | flags, 8);
	if (flags & FB_STORED)
		pb_u64(&r->p, lost);
	pb_pad(&r->p, r->page);
	assert(r->p.n == r->p.rec + r->page);
}

/* The name of a thread, in a field of 16 bytes. */
static inline void fb_comm(struct pb *b, const char *comm)
{
	char name[16] = "";

	memcpy(name, comm, strnlen(comm, 15));
	pb_raw(b, name, 16);
}

/* A text behind its length, which has len bytes. */
static inline void fb_text(struct pb *b, const char *text, int len)
{
	size_t n = text ? strlen(text) : 0;

	pb_num(b, n, len);
	pb_raw(b, text, n);
}

static inline void fb_formats(struct pb *b, const char *const *text)
{
	size_t at = b->n;
	uint32_t n = 0;

	pb_u32(b, 0);
	for (; text[n]; n++)
		fb_text(b, text[n], 8);
	pb_patch(b, at, n, 4);
}

static inline void fb_systems(struct pb *b, const char *const *const *system)
{
	size_t at = b->n;
	uint32_t n = 0;

	pb_u32(b, 0);
	for (; system[n]; n++) {
		pb_str_to(b, system[n][0], 1);
		fb_formats(b, system[n] + 1);
	}
	pb_patch(b, at, n, 4);
}

/* What both versions have in front of the rings, one part after the other. */
static const uint16_t fb_parts[] = { FT_HEADER_INFO,   FT_FTRACE_EVENTS,
				     FT_EVENT_FORMATS, FT_KALLSYMS,
				     FT_PRINTK,	       FT_CMDLINES };
#define FB_PARTS (sizeof(fb_parts) / sizeof(fb_parts[0]))

static inline void fb_part(struct pb *b, const struct fb_form *form,
			   uint16_t id)
{
	switch (id) {
	case FT_HEADER_INFO:
		pb_str_to(b, "header_page", 1);
		fb_text(b, form->header, 8);
		pb_str_to(b, "header_event", 1);
		fb_text(b, NULL, 8);
		break;
	case FT_FTRACE_EVENTS:
		fb_formats(b, form->formats);
		break;
	case FT_EVENT_FORMATS:
		fb_systems(b, form->systems);
		break;
	case FT_KALLSYMS:
		fb_text(b, form->kallsyms, 4);
		break;
	case FT_PRINTK:
		fb_text(b, form->printk, 4);
		break;
	default:
		fb_text(b, form->cmdlines, 8);
	}
}

static inline void fb_head(struct pb *b, const struct fb_form *form,
			   const char *version)
{
	pb_raw(b, FT_MAGIC, FT_MAGIC_LEN);
	pb_str_to(b, version, 1);
	pb_num(b, b->big, 1);
	pb_num(b, 8, 1);
	pb_u32(b, form->page);
}

/* An option, for a section of them or for version 6. */
static inline void fb_option(struct pb *opts, uint16_t id, const void *data,
			     size_t n)
{
	pb_u16(opts, id);
	pb_u32(opts, (uint32_t)n);
	pb_raw(opts, data, n);
}

static inline size_t fb_section(struct pb *b, uint16_t id, uint16_t flags)
{
	size_t at = b->n;

	pb_u16(b, id);
	pb_u16(b, flags);
	pb_u32(b, 0);
	pb_u64(b, 0);
	return at;
}

static inline void fb_section_end(struct pb *b, size_t at)
{
	pb_patch(b, at + 8, b->n - at - 16, 8);
}

/* A section of options. Returns where the offset of the next one, which may
 * still come, belongs. */
static inline size_t fb_options_section(struct pb *b, const struct pb *opts,
					const struct pb *extra)
{
	size_t at = fb_section(b, FT_OPTIONS, 0);

	pb_raw(b, opts->d, opts->n);
	if (extra)
		pb_raw(b, extra->d, extra->n);
	pb_u16(b, FT_OPTIONS);
	pb_u32(b, 8);
	pb_u64(b, 0);
	fb_section_end(b, at);
	return b->n - 8;
}

/* A part as it is, or packed. Returns where its section begins. */
static inline size_t fb_meta(struct pb *b, const struct fb_form *form,
			     uint16_t id)
{
	struct pb part = { .big = b->big };
	size_t at = fb_section(b, id, form->pack != NULL);

	fb_part(&part, form, id);
	if (form->pack)
		form->pack(b, part.d, part.n);
	else
		pb_raw(b, part.d, part.n);
	fb_section_end(b, at);
	free(part.d);
	return at;
}

/* One chunk for each page. */
static inline void fb_chunks(struct pb *b, const struct fb_form *form,
			     const struct pb *pages)
{
	pb_u32(b, (uint32_t)(pages->n / form->page));
	for (size_t i = 0; i < pages->n; i += form->page)
		form->pack(b, pages->d + i, form->page);
}

/* A buffer's section; its option goes to *opts. */
static inline void fb_buffer(struct pb *b, const struct fb_form *form,
			     struct pb *opts, const char *name,
			     const struct fb_ring *ring, size_t n)
{
	struct pb o = { .big = b->big };
	size_t at = fb_section(b, FT_BUFFER, form->pack != NULL);

	pb_u64(&o, at);
	pb_str_to(&o, name, 1);
	pb_str_to(&o, "mono", 1);
	pb_u32(&o, form->page);
	pb_u32(&o, (uint32_t)n);
	for (size_t i = 0; i < n; i++) {
		pb_pad(b, form->page);
		size_t from = b->n;

		if (form->pack)
			fb_chunks(b, form, &ring[i].p);
		else
			pb_raw(b, ring[i].p.d, ring[i].p.n);
		pb_u32(&o, (uint32_t)ring[i].cpu);
		pb_u64(&o, from);
		pb_u64(&o, b->n - from);
	}
	fb_section_end(b, at);
	fb_option(opts, FT_BUFFER, o.d, o.n);
	free(o.d);
}

/* Version 7, in the order of trace-cmd: parts, options, buffers, options. extra
 * is for the first options. Where the options of buffers begin: b->data. Of
 * several buffers the last is an instance of one ring. */
static inline void fb_put7(struct pb *b, const struct fb_form *form,
			   const struct pb *extra, const struct fb_ring *ring,
			   size_t n, int buffers)
{
	struct pb opts = { .big = b->big };

	fb_head(b, form, "7");
	pb_raw(b, form->pack ? "zstd\0001" : "none\0", form->pack ? 7 : 6);
	size_t first = b->n;

	pb_u64(b, 0);
	for (size_t i = 0; i < FB_PARTS; i++) {
		struct pb off = { .big = b->big };

		pb_u64(&off, fb_meta(b, form, fb_parts[i]));
		fb_option(&opts, fb_parts[i], off.d, 8);
		free(off.d);
	}
	pb_patch(b, first, b->n, 8);
	size_t link = fb_options_section(b, &opts, extra);

	opts.n = 0;
	fb_buffer(b, form, &opts, "", ring, n + 1 - (size_t)buffers);
	if (buffers > 1)
		fb_buffer(b, form, &opts, "two", &ring[n - 1], 1);
	b->data = b->n;
	pb_patch(b, link, b->n, 8);
	fb_options_section(b, &opts, NULL);
	free(opts.d);
}

static inline void fb_put6(struct pb *b, const struct fb_form *form,
			   const struct pb *opts, const struct fb_ring *ring,
			   size_t n)
{
	fb_head(b, form, "6");
	for (size_t i = 0; i < FB_PARTS; i++)
		fb_part(b, form, fb_parts[i]);
	pb_u32(b, (uint32_t)n);
	pb_raw(b, "options  ", 10);
	pb_raw(b, opts->d, opts->n);
	pb_u16(b, 0);
	pb_raw(b, "flyrecord", 10);
	size_t table = b->n;

	pb_zeros(b, 16 * n);
	for (size_t i = 0; i < n; i++) {
		pb_pad(b, form->page);
		pb_patch(b, table + 16 * i, b->n, 8);
		pb_patch(b, table + 16 * i + 8, ring[i].p.n, 8);
		pb_raw(b, ring[i].p.d, ring[i].p.n);
	}
}

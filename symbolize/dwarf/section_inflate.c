/* section_inflate.c - the contents of a compressed section, as far as they are
 * needed. */
#include "symbolize/dwarf/section_inflate.h"

#include <gelf.h>
#include <zlib.h>

#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "symbolize/elf/elf.h"

/* Bytes that are inflated at once. */
#define STEP ((uint64_t)64 << 10)
/* Raw deflate: the checksum after it is over all bytes, and says nothing about
 * a part. */
#define WINDOW (-15)

struct section_inflate {
	Elf_Scn *scn;
	Elf_Data *raw, *data; /* what libelf has of the section */
	unsigned char *buf;   /* has room for size bytes */
	uint64_t size;	      /* as it is stated */
	uint64_t n, shown;    /* bytes inflated so far */
	bool swap;
	bool whole, sound; /* all was inflated; its checksum is right */
	bool ended;	   /* there are no more bytes, or they are damaged */
	z_stream z;
};

/* Reads the two bytes before the data (RFC 1950): deflate, no dictionary. */
static bool section_inflate_begin(struct section_inflate *si, const void *p,
				  size_t n)
{
	struct bytes b;
	uint16_t head = 0;

	bytes_init(&b, p, n, "", 0, bytes_must_swap(true));
	if (bytes_u16(&b, &head, NULL) || head % 31 || head & 0x20 ||
	    (head >> 8 & 15) != Z_DEFLATED || bytes_left(&b) > UINT32_MAX)
		return false;
	si->z.next_in = (unsigned char *)b.pos;
	si->z.avail_in = (unsigned int)bytes_left(&b);
	return inflateInit2(&si->z, WINDOW) == Z_OK;
}

/* libdw reads the size of the data each time. */
static void section_inflate_show(struct section_inflate *si, uint64_t n)
{
	si->shown = n;
	si->raw->d_size = si->data->d_size = (size_t)n;
}

struct section_inflate *section_inflate_open(const struct elf_file *ef,
					     const struct elf_section *s,
					     bool in_order)
{
	size_t head = ef->elf && gelf_getclass(ef->elf) == ELFCLASS64
			      ? sizeof(Elf64_Chdr)
			      : sizeof(Elf32_Chdr);
	Elf_Data *raw = elf_rawdata(s->scn, NULL);
	Elf_Data *data = elf_getdata(s->scn, NULL);
	GElf_Chdr ch;
	GElf_Shdr sh;
	struct bytes b;

	if (!(s->flags & SHF_COMPRESSED) || !raw || !raw->d_buf || !data ||
	    !gelf_getchdr(s->scn, &ch) || ch.ch_type != ELFCOMPRESS_ZLIB ||
	    !ch.ch_size || !gelf_getshdr(s->scn, &sh))
		return NULL;
	bytes_init(&b, raw->d_buf, raw->d_size, "", 0, ef->swap);

	struct section_inflate *si = mem_new(1, sizeof(*si));

	if (bytes_skip(&b, head, NULL) ||
	    !section_inflate_begin(si, b.pos, bytes_left(&b))) {
		free(si);
		return NULL;
	}
	sh.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	sh.sh_size = ch.ch_size;
	gelf_update_shdr(s->scn, &sh);
	si->scn = s->scn;
	si->raw = raw;
	si->data = data;
	si->size = ch.ch_size;
	si->swap = ef->swap;
	/* pages that are not written take no memory */
	si->buf = mem_new(1, (size_t)si->size);
	raw->d_buf = data->d_buf = si->buf;
	section_inflate_show(si, in_order ? 0 : si->size);
	return si;
}

void section_inflate_close(struct section_inflate *si)
{
	GElf_Shdr sh;

	if (!si)
		return;
	si->raw->d_buf = si->data->d_buf = NULL;
	section_inflate_show(si, 0);
	if (gelf_getshdr(si->scn, &sh)) {
		sh.sh_type = SHT_NOBITS;
		gelf_update_shdr(si->scn, &sh);
	}
	inflateEnd(&si->z);
	free(si->buf);
	free(si);
}

/* Inflates at least up to byte `end`. Returns false if there are fewer. */
static bool section_inflate_to(struct section_inflate *si, uint64_t end)
{
	while (si->n < end && !si->ended) {
		uint64_t left = si->size - si->n;
		uint64_t step = left < STEP ? left : STEP;

		si->z.next_out = si->buf + si->n;
		si->z.avail_out = (unsigned int)step;
		int rc = inflate(&si->z, Z_NO_FLUSH);

		si->n += step - si->z.avail_out;
		/* without an error it stops early only at the end */
		si->ended = rc != Z_OK || si->z.avail_out;
	}
	return si->n >= end;
}

/* The sum is after the data, most significant byte first. */
static bool section_inflate_is_sound(const struct section_inflate *si)
{
	uint32_t sum = 0;
	uint64_t done = 0;
	uLong own = adler32(0, NULL, 0);
	struct bytes b;

	bytes_init(&b, si->z.next_in, si->z.avail_in, "", 0,
		   bytes_must_swap(true));
	if (si->n != si->size || bytes_u32(&b, &sum, NULL))
		return false;
	for (uint64_t n; done < si->n; done += n) {
		n = si->n - done < STEP ? si->n - done : STEP;
		own = adler32(own, si->buf + done, (unsigned int)n);
	}
	return own == sum;
}

bool section_inflate_all(struct section_inflate *si)
{
	unsigned char more;

	if (!si->whole) {
		section_inflate_to(si, si->size);
		/* After the last byte comes a mark, of which inflate() may know
		 * only when it has room for more. */
		si->z.next_out = &more;
		si->z.avail_out = sizeof(more);
		if (inflate(&si->z, Z_NO_FLUSH) != Z_STREAM_END ||
		    !si->z.avail_out)
			si->n = 0;
		si->sound = section_inflate_is_sound(si);
		section_inflate_show(si, si->sound ? si->n : 0);
	}
	si->whole = true;
	return si->sound;
}

bool section_inflate_part(struct section_inflate *si, uint64_t off,
			  uint64_t *end)
{
	uint64_t long_len = 0;
	uint32_t len = 0;
	struct bytes b;

	/* 64-bit lengths have 12 bytes */
	if (off > si->size || si->size - off < 12)
		return false;
	section_inflate_to(si, off + 12);
	bytes_init(&b, si->buf, (size_t)si->n, "", 0, si->swap);
	if (bytes_skip(&b, off, NULL) || bytes_u32(&b, &len, NULL) ||
	    (len == UINT32_MAX && bytes_u64(&b, &long_len, NULL)))
		return false;
	uint64_t at = bytes_off(&b);
	if (__builtin_add_overflow(at, len == UINT32_MAX ? long_len : len,
				   end) ||
	    *end > si->size || !section_inflate_to(si, *end))
		return false;
	if (si->n == si->size)
		return section_inflate_all(si);
	if (*end > si->shown)
		section_inflate_show(si, *end);
	return true;
}

/* header.c - the header of a perf.data file: events and sections.
 *
 * If the file is cut inside the header or the events, it cannot be read, as no
 * record can be decoded without them. If it is cut later, the records up to
 * there are used and the missing part is reported. */
#include <inttypes.h>
#include <string.h>

#include "formats/perf/perf.h"
#include "formats/reader/reader.h"
#include "stitch/base/err.h"

#define HEADER_OLD 72
#define HEADER_NOW 104
#define HOSTNAME_BIT 3
#define ATTR_MIN (64 + 16)

struct section {
	uint64_t off, size;
};

static int perf_header_take_section(struct bytes *b, struct section *s,
				    struct err *err)
{
	return bytes_u64(b, &s->off, err) ?: bytes_u64(b, &s->size, err);
}

/* Sets *out to a section, all of which must be in the file. */
static int perf_header_open_section(struct perf *p, const struct section *s,
				    const char *what, struct bytes *out,
				    struct err *err)
{
	const struct input *in = &p->file[0].in;

	if (s->off > in->len || s->size > in->len - s->off)
		return err_at(err, in->path, s->off,
			      "the %s end at 0x%" PRIx64
			      ", the file at 0x%" PRIx64
			      ": it is cut off, copy it again",
			      what, s->off + s->size, in->len);
	bytes_init(out, in->data + s->off, (size_t)s->size, in->path, s->off,
		   p->swap);
	return 0;
}

static int perf_header_take_ids(struct perf *p, const struct section *s,
				struct err *err)
{
	struct bytes b;
	uint64_t id;

	if (perf_header_open_section(p, s, "event ids", &b, err))
		return -1;
	claims_add(&p->claims, s->off, s->size);
	if (s->size % 8)
		return err_at(err, b.path, s->off,
			      "event ids are %" PRIu64
			      " bytes, need a multiple of 8",
			      s->size);
	while (bytes_left(&b) >= 8) {
		if (bytes_u64(&b, &id, err))
			return -1;
		perf_id_add(p, id, (uint32_t)p->n_attr - 1);
	}
	return 0;
}

/* Cuts the attributes to the size that they give for themselves. perf inject of
 * a later version writes its own attr_size around older attributes, and fills
 * up with zeros. */
static void perf_header_cut_attr(struct perf *p, struct bytes *attr)
{
	uint32_t valid = 0;
	struct bytes rest = *attr;
	struct err why;

	bytes_peek_u32(attr, 4, &valid);
	if (!valid)
		valid = 64;
	if (valid < 64 || valid > bytes_left(attr)) {
		err_at(&why, attr->path, bytes_off(attr) + 4,
		       "attributes say they are %" PRIu32
		       " bytes, need 64 to %zu",
		       valid, bytes_left(attr));
		perf_damage(p, "attributes", bytes_off(attr), 0, &why);
		return;
	}
	attr->end = attr->pos + valid;
	bytes_skip(&rest, valid, NULL);
	if (rest_zeros(&rest, &why))
		perf_damage(p, "attributes", bytes_off(&rest),
			    bytes_left(&rest), &why);
}

/* Takes entries of that size: the attributes, then the section of their ids. */
static int perf_header_take_attrs(struct perf *p, const struct section *s,
				  uint64_t size, struct err *err)
{
	struct bytes b, entry, attr;
	struct section ids;

	if (perf_header_open_section(p, s, "event attributes", &b, err))
		return -1;
	claims_add(&p->claims, s->off, s->size);
	if (s->size % size)
		return err_at(err, b.path, s->off,
			      "event attributes are %" PRIu64
			      " bytes, need a multiple of %" PRIu64,
			      s->size, size);
	while (bytes_left(&b)) {
		if (bytes_take(&b, size, &entry, err) ||
		    bytes_take(&entry, size - 16, &attr, err))
			return -1;
		perf_header_cut_attr(p, &attr);
		if (perf_attr_add(p, &attr, err) ||
		    perf_header_take_section(&entry, &ids, err) ||
		    perf_header_take_ids(p, &ids, err))
			return -1;
	}
	if (!p->n_attr)
		return err_at(err, b.path, s->off, "no events in the header");
	return 0;
}

/* Finds the section of records. A killed recorder leaves its size 0. */
static int perf_header_find_records(struct perf *p, const struct section *data,
				    struct err *err)
{
	struct perf_file *f = &p->file[0];
	uint64_t len = f->in.len;

	if (data->off > len)
		return err_at(err, f->in.path, data->off,
			      "the records start here, the file ends at "
			      "0x%" PRIx64 ": it is cut off, copy it again",
			      len);
	f->start = data->off;
	f->end = len;
	if (data->size && data->size <= len - data->off) {
		f->end = data->off + data->size;
		claims_add(&p->claims, data->off, data->size);
		return 0;
	}
	f->open_end = true;
	p->src.info.truncated = true;
	if (!data->size) {
		perf_note(p, "unfinished",
			  "the recorder did not finish this file: read as far "
			  "as it goes");
		return 0;
	}
	perf_damage_text(
		p, f->in.path, "truncated", len, data->size - (len - data->off),
		"file ends here, its records go on for %" PRIu64 " bytes",
		data->size - (len - data->off));
	return 0;
}

/* perf fills the entry of a section from its offset on. If it cannot write the
 * section (seen of perf 3.5 on i686, and of perf 3.14 on armv7, whose
 * /proc/cpuinfo names no model), no size follows, what comes next has the same
 * offset, and the entry is of the bit or, with that cleared, one too many.
 * more: the entries after it. */
static bool perf_header_is_unwritten(const struct perf *p,
				     const struct section *s,
				     const struct bytes *more)
{
	struct bytes b = *more;
	struct section next;

	return !s->size && (s->off == p->file[0].in.len ||
			    (!perf_header_take_section(&b, &next, NULL) &&
			     next.off == s->off));
}

/* After the records comes one {offset, size} for each bit that is set. */
static void perf_header_read_features(struct perf *p)
{
	const struct perf_file *f = &p->file[0];
	struct bytes b, feature;
	struct section s;
	uint64_t last = 0;
	struct err e;

	if (f->open_end)
		return;
	bytes_init(&b, f->in.data + f->end, (size_t)(f->in.len - f->end),
		   f->in.path, f->end, p->swap);
	for (uint32_t bit = 0; bit < 256; bit++) {
		if (!(p->features[bit / 64] >> (bit % 64) & 1))
			continue;
		if (perf_header_take_section(&b, &s, &e)) {
			perf_damage(p, "feature", bytes_off(&b), 0, &e);
			break;
		}
		if (perf_header_is_unwritten(p, &s, &b))
			continue;
		if (perf_header_open_section(p, &s, "feature sections",
					     &feature, &e)) {
			perf_damage(p, "feature", s.off, s.size, &e);
			continue;
		}
		claims_add(&p->claims, s.off, s.size);
		last = s.off + s.size;
		perf_feature_take(p, bit, &feature, 0);
	}
	/* perf seeks back in front of a section that it cannot write: a count
	 * that begins it stays where no other section follows. */
	if (last && f->in.len - last == sizeof(uint32_t))
		claims_add(&p->claims, last, sizeof(uint32_t));
	struct bytes more = b;

	if (!perf_header_take_section(&more, &s, NULL) && s.off == f->in.len &&
	    !s.size)
		b = more;
	claims_add(&p->claims, f->end, bytes_off(&b) - f->end);
}

int perf_read_header(struct perf *p, struct err *err)
{
	const struct input *in = &p->file[0].in;
	struct section attrs, data, types;
	uint64_t size, attr_size;
	struct bytes b;

	bytes_init(&b, in->data, in->len, in->path, 0, p->swap);
	if (bytes_skip(&b, 8, err) || bytes_u64(&b, &size, err) ||
	    bytes_u64(&b, &attr_size, err) ||
	    perf_header_take_section(&b, &attrs, err) ||
	    perf_header_take_section(&b, &data, err) ||
	    perf_header_take_section(&b, &types, err))
		return err_while(err, "reading the header (a cut-off file?)");
	if (size != HEADER_NOW && size != HEADER_OLD)
		return err_at(err, in->path, 8,
			      "header says it is %" PRIu64
			      " bytes, needs 104, 72 or (pipe) 16",
			      size);
	if (!attr_size)
		return err_at(err, in->path, 16,
			      "perf record was killed before it wrote the "
			      "header: nothing can be read; record again");
	if (attr_size < ATTR_MIN || attr_size > 65536)
		return err_at(err, in->path, 16,
			      "event attributes are %" PRIu64
			      " bytes each, need %d to 65536",
			      attr_size, ATTR_MIN);
	if (size == HEADER_NOW) {
		/* perf writes the bitmap as an array of longs, so on big-endian
		 * machines the order of its bytes depends on the size of a
		 * long. The bit of HOSTNAME, which is always set, tells which
		 * size it was. */
		uint64_t w[4] = { 0 };

		for (int i = 0; i < 4; i++)
			bytes_u64(&b, &w[i], NULL);
		if (p->src.info.big_endian && !(w[0] >> HOSTNAME_BIT & 1))
			for (int i = 0; i < 4; i++)
				w[i] = w[i] << 32 | w[i] >> 32;
		memcpy(p->features, w, sizeof(w));
	}
	claims_add(&p->claims, 0, size);
	claims_add(&p->claims, types.off, types.size);
	if (perf_header_take_attrs(p, &attrs, attr_size, err) ||
	    perf_header_find_records(p, &data, err))
		return -1;
	perf_header_read_features(p);
	/* Compare the tables with the file, which is all there if it was
	 * finished. */
	if (!p->file[0].open_end) {
		bytes_init(&b, in->data, in->len, in->path, 0, p->swap);
		claims_check(&p->claims, &p->src, &b, NULL, NULL);
	}
	return 0;
}
